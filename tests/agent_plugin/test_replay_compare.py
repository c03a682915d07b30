"""What counts as a difference, and where it is said to be."""

from typing import Any

import pytest

from agent_plugin.replay_compare import Difference, compare_executions, compare_states, first_line, without_chance
from harness.state_diff import Change, diff
from recorder.records import Execution


def step(output: str = "STEP OK\n", returncode: int | None = 0, exception: str = "", **blender: Any) -> Execution:
    whole = {"outcome": "ok", "state_hash": "aaaa", **blender} if blender.pop("is_blender", True) else None
    return Execution(
        tool="run_blender", returncode=returncode, output=output, exception=exception, seconds=0.1, blender=whole
    )


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("took effect (0.3 s)", "took effect (12.7 s)"),
        ("Time: 1.3 s (Blender's start)", "Time: 0.9 s (Blender's start)"),
        ("real\t0m0.003s", "real\t1m12.4s"),
        ("-rw-r--r-- 1 a a 12 Jan  5 09:15 main.py", "-rw-r--r-- 1 a a 12 Dec 31 23:59 main.py"),
        ("2026-01-05T09:15:01Z", "2027-12-31T23:59:59.5Z"),
        ("2026-01-05 09:15", "2026-01-06 10:00"),
        ('<bpy_struct, Object("A") at 0x7f0011223344>', '<bpy_struct, Object("A") at 0x7fffeeddccbb>'),
        ("/tmp/tmpab12cd_9/x", "/tmp/tmpzzzzzzzz/x"),
        ("Video: output.mp4: 4 frames, 0.17 s, h264, 3 kB", "Video: output.mp4: 4 frames, 0.17 s, h264, 4 kB"),
    ],
)
def test_chance_is_left_out(then: str, now: str) -> None:
    """Times, dates, addresses, temporary names, encoded sizes."""
    assert without_chance(then) == without_chance(now)


@pytest.mark.parametrize(
    ("then", "now"),
    [("x = 0.25", "x = 0.35"), ("3 objects", "4 objects"), ("step_01", "step_02"), ("12 kB of it", "13 kB of it")],
)
def test_facts_stay(then: str, now: str) -> None:
    """Numbers that are none of these."""
    assert without_chance(then) != without_chance(now)


def test_the_same_is_no_difference() -> None:
    """But for the time."""
    assert compare_executions(step("OK (0.1 s)\n"), step("OK (0.2 s)\n")) == []


def test_a_line_is_located() -> None:
    """By its number in the record, both values told."""
    (found,) = compare_executions(step("a\nb\nc\n"), step("a\nB\nC\n"))
    assert found == Difference("output line 2", "b", "B")
    assert str(found.inside("step 3, bash")) == "step 3, bash: output line 2: recorded 'b', now 'B'"


def test_lines_that_came_or_went() -> None:
    """Nothing stands in the other's place."""
    assert [*first_line("line", "a\n", "a\nb\n")] == [Difference("line 2", "(nothing)", "b")]
    assert [*first_line("line", "a\nb\n", "a\n")] == [Difference("line 2", "b", "(nothing)")]


def test_the_outcome_comes_first() -> None:
    """With its reason; then what it printed and raised."""
    error = {"type": "KeyError", "message": "'x'", "traceback": "Traceback\n  line 1\n"}
    found = compare_executions(step(), step(returncode=1, outcome="step_error", error=error, state_hash=None))
    assert found[0] == Difference("outcome", "ok", "step_error (KeyError: 'x')")
    assert found[1] == Difference("traceback 1", "(nothing)", "Traceback")
    assert len(found) == 2


def test_a_traceback_is_told_once() -> None:
    """Not again as a line of the output that holds it."""
    then = step("x\n  | line 1\n", error={"traceback": "T\nline 1\n"})
    now = step("x\n  | line 2\n", error={"traceback": "T\nline 2\n"})
    assert compare_executions(then, now) == [Difference("traceback 2", "line 1", "line 2")]


def test_changes_and_state() -> None:
    """What changed in the scene is shown beside the two hashes."""
    then, now = step(changes=["+ A"], state_hash="a" * 64), step(changes=["+ B"], state_hash="b" * 64)
    assert [d.where for d in compare_executions(then, now)] == ["scene change 1", "state"]
    assert compare_states(then, step(state_hash=None)) == []


def scene_changes(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """From one scene to another, each given by its blocks."""
    return diff(*({"version": 1, "scene": "S", "blocks": blocks, "evaluated": {}} for blocks in (before, after)))


def test_states_decide_over_hashes() -> None:
    """Scenes that are the same but for noise have other hashes, and may have another line of changes."""
    told = "STEP OK\nScene changes:\n  ~ Mesh 'A': moved by {}\n{}\n"
    then = step(told.format("0.1", "x"), changes=["~ Mesh 'A': moved by 0.1"], state_hash="a" * 64)
    now = step(told.format("0.2", "x"), changes=["~ Mesh 'A': moved by 0.2"], state_hash="b" * 64)
    assert compare_executions(then, now, []) == []
    assert [d.where for d in compare_executions(then, now)] == ["scene change 1", "state"]
    other = step(told.format("0.2", "y"), changes=["~ Mesh 'A': moved by 0.2"], state_hash="b" * 64)
    assert [d.where for d in compare_executions(then, other, [])] == ["output line 4"]


def test_a_scene_differs_at_paths() -> None:
    """Each with both values; a data-block that came or went as one."""
    changes = scene_changes({"Object/A": {"x": 1.0, "name": "a"}, "Object/B": {}}, {"Object/A": {"x": 2.0, "y": None}})
    assert compare_states(step(), step(), changes) == [
        Difference("state, Object/A.name", "a", "(nothing)"),
        Difference("state, Object/A.x", "1.0", "2.0"),
        Difference("state, Object/A.y", "(nothing)", "null"),
        Difference("state, Object/B", "is there", "(nothing)"),
    ]


def test_paths_are_bounded() -> None:
    """The first few, causes before what evaluation makes of them; the rest is counted. Long values are cut."""
    old, new = ({"Object/A": {f"x{i:02}": value for i in range(20)}} for value in ([1.0] * 999, [2.0] * 999))
    matrix = Change("Object/A.evaluated.matrix", "changed", 1, 2, 1.0, "Object/A")
    found = compare_states(step(state_hash="a" * 64), step(state_hash="b" * 64), [matrix, *scene_changes(old, new)])
    assert [d.where for d in found] == [*(f"state, Object/A.x0{i}" for i in range(8)), "state, 13 more paths"]
    assert (found[-1].recorded, found[-1].now) == (f"hash {'a' * 12}", f"hash {'b' * 12}")
    assert max(len(d.recorded) for d in found) == 200


def test_problems_of_a_video() -> None:
    """Their codes."""
    then = step(problems=[{"code": "video_static"}])
    (found,) = compare_executions(then, step(problems=[]))
    assert found == Difference("problems", "video_static", "none")


@pytest.mark.parametrize("outcome", ["timeout", "crash", "out_of_memory", "limit", "no_result"])
def test_how_far_a_stopped_run_came_is_chance(outcome: str) -> None:
    """The outcome is compared, not what it had printed."""
    then = step("a\n", 1, outcome=outcome, log={"lines": ["1"]})
    now = step("b\n", 1, outcome=outcome, log={"lines": ["1", "2"]})
    assert compare_executions(then, now) == []
    (found, *_) = compare_executions(then, step())
    assert found.where == "outcome"


def test_a_stopped_command() -> None:
    """bash tells it by its exception."""
    then = step("1\n", -1, "timed out after 2 s; stopped", is_blender=False)
    assert compare_executions(then, step("1\n2\n", -1, "timed out after 2 s; stopped", is_blender=False)) == []
    found = compare_executions(then, step("1\n", 0, is_blender=False))
    assert [d.where for d in found] == ["exit status", "exception"]


def test_measured_pixels_and_rebuilds_are_not_compared() -> None:
    """Frames are compared themselves; a replay leaves out the step that killed the session."""
    then = step("Note: Blender had to be started again; …\n  contrast of 4 sampled frames: 30.1\nx\n")
    assert compare_executions(then, step("  contrast of 4 sampled frames: 30.2\nx\n")) == []
    (found,) = compare_executions(then, step("  contrast of 4 sampled frames: 30.2\ny\n"))
    assert found.where == "output line 3"


def test_long_lines_are_cut() -> None:
    """A difference stays readable."""
    assert len(str(Difference("line 1", "a" * 9000, "b" * 9000))) < 500
