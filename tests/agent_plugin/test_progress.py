"""What a person sees of a run."""

import io
from pathlib import Path

from rich.console import Console

from agent_plugin.episode import EpisodeKey
from agent_plugin.launcher import EpisodeOutcome
from agent_plugin.progress import RunProgress, results_table, what_was_lost, where_to_look
from agent_plugin.tasks import Task
from recorder.records import CheckScore, Cost, EpisodeSummary, Verdict


def key(task: str, attempt: int = 1, model: str = "m/[x]") -> EpisodeKey:
    return EpisodeKey(Task(id=task, brief="x"), model, attempt)


def outcome(
    task: str, verdict: Verdict = "pass", *, is_known: bool = True, problems: list[str] | None = None
) -> EpisodeOutcome:
    summary = EpisodeSummary(
        task_id=task,
        task_sha256="",
        model="m/[x]",
        attempt=1,
        exit_status="LimitsExceeded",
        verdict=verdict,
        reason="",
        problems=problems or [],
        final_execution=None,
        n_steps=7,
        cost=Cost(usd=1.25, is_known=is_known),
        seconds=12.4,
        files={},
        finished_at="",
    )
    return EpisodeOutcome(key(task), summary)


LOST = EpisodeOutcome(
    key("c"), None, error="Timeout: no answer [x]", ended_as="Timeout", folder=Path("runs/x/c/1.interrupted-1")
)


def console(width: int = 200, *, is_terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=is_terminal)


def shown(target: Console) -> str:
    assert isinstance(target.file, io.StringIO)
    return target.file.getvalue()


def test_without_a_terminal_each_event_is_a_line() -> None:
    """Beginning and end of an episode; steps would only fill a log file."""
    target = console(width=20)
    with RunProgress(target, 3) as progress:
        progress.started(key("a"))
        progress.step(key("a"), 1, "model")
        progress.ended(outcome("a"))
        progress.ended(EpisodeOutcome(key("b"), outcome("b", "fail").summary, is_from_before=True))
        progress.started(key("c"))
        progress.ended(LOST)
    assert shown(target).splitlines() == [
        "started  a · m/[x] · 1",
        "pass     a · m/[x] · 1 in 0 s",
        "fail     b · m/[x] · 1 (from before)",
        "started  c · m/[x] · 1",
        "lost     c · m/[x] · 1 in 0 s",
        "         Timeout: no answer [x]",
    ]


def test_on_a_terminal_the_running_step_is_shown() -> None:
    """Names that look like markup are shown as they are."""
    target = console(is_terminal=True)
    with RunProgress(target, 1) as progress:
        progress.started(key("a"))
        progress.step(key("a"), 3, "run_blender")
        progress._progress.refresh()
    assert "a · m/[x] · 1  step 3: run_blender" in shown(target)


def test_a_step_after_the_end_is_ignored() -> None:
    """A thread may be late."""
    with RunProgress(console(), 1) as progress:
        progress.step(key("a"), 1, "model")


def test_the_table_has_a_row_an_episode() -> None:
    """Sorted by task; problems, or how it ended; an unknown cost is not 0."""
    target = console()
    target.print(
        results_table(
            [LOST, outcome("b", "fail", is_known=False), outcome("a"), outcome("d", "fail", problems=["x", "y"])]
        )
    )
    _header, *rows = [
        [cell.strip() for cell in line.split("│")] for line in shown(target).splitlines() if line.count("│") == 7
    ]
    assert rows == [
        ["a", "m/[x]", "1", "7", "pass", "none", "12", "$1.2500"],
        ["b", "m/[x]", "1", "7", "fail", "LimitsExceeded", "12", "unknown"],
        ["c", "m/[x]", "1", "", "no result", "Timeout", "", ""],
        ["d", "m/[x]", "1", "7", "fail", "x, y", "12", "$1.2500"],
    ]
    assert all(name in shown(target) for name in ("task", "model", "attempt", "steps", "verdict", "problems", "cost"))


def test_scores_have_a_column_where_there_are_any() -> None:
    """With how many checks could not be judged; an episode of a task without checks has an empty cell."""
    scored = []
    cases: list[tuple[str, float | None, list[str]]] = [("a", 0.756, []), ("b", 0.5, ["x", "y"]), ("c", None, ["x"])]
    for task, weighted, unknown in cases:
        score = CheckScore(
            is_strict_pass=False, weighted=weighted, judged_share=0.5, n_passed=1, failed=[], not_judged=unknown
        )
        ended = outcome(task, "fail")
        assert ended.summary
        scored.append(EpisodeOutcome(ended.key, ended.summary.model_copy(update={"score": score})))
    target = console()
    target.print(results_table([*scored, outcome("d")]))
    rows = [[cell.strip() for cell in line.split("│")] for line in shown(target).splitlines() if line.count("│") == 8]
    assert [row[5] for row in rows] == ["checks", "0.76", "0.50, 2 unknown", "not judged", ""]
    target = console()
    with RunProgress(target, 1) as progress:
        progress.ended(scored[1])
    assert shown(target) == "fail     b · m/[x] · 1, checks 0.50, 2 unknown\n"


def test_a_reason_is_told_once_below_the_table() -> None:
    """In full, with the episodes that it cost; the table only names it."""
    long = "ProviderUnreachable: " + "many words " * 30
    lost = [EpisodeOutcome(key(f"t{n}"), None, error=long, ended_as="ProviderUnreachable") for n in range(7)]
    first, second = what_was_lost([*lost, outcome("a"), LOST])
    names = ", ".join(f"t{n} · m/[x] · 1" for n in range(5))
    assert first == f"{names}, and 2 more:\n    {long}"
    slow = [EpisodeOutcome(key(f"t{n}"), None, error=f"Timeout: {n} s", ended_as="Timeout") for n in (1, 2)]
    assert what_was_lost(slow) == ["t1 · m/[x] · 1, t2 · m/[x] · 1:\n    Timeout: 1 s"]
    assert second == "c · m/[x] · 1:\n    Timeout: no answer [x]"
    target = console(width=80)
    target.print(results_table(lost))
    assert "words" not in shown(target)
    assert len(shown(target).splitlines()) < 30


def test_the_last_lines_say_where_to_look() -> None:
    """Counts, the folder, and what to do about episodes without a result."""
    text = where_to_look([outcome("a"), outcome("b", "fail"), LOST], Path("runs/x"))
    assert text.startswith("1 of 3 episodes passed, 1 without a result (the same command plays them again).\n")
    assert "runs/x/episodes/<task>/<model>/<attempt>/" in text
    assert text.endswith(":\n    runs/x/c/1.interrupted-1")
    assert "without a result" not in where_to_look([outcome("a")], Path("runs/x"))


def test_folders_that_are_not_there_are_not_named() -> None:
    """Where every episode was lost, there is no video to look at; of one that was not begun there is nothing."""
    text = where_to_look([LOST, EpisodeOutcome(key("d"), None, error="not begun: x", ended_as="NotBegun")], Path("r"))
    assert "output.mp4" not in text
    assert text.splitlines()[1:] == [
        "What was recorded without a result (trajectory.jsonl, images/):",
        "    runs/x/c/1.interrupted-1",
    ]


def test_names_are_folded_and_not_cut() -> None:
    """On a narrow screen every name can still be read in full."""
    target = console(width=80)
    target.print(
        results_table([outcome("a-long-name-of-a-task-that-needs-room", "fail", problems=["video_frame_count"])])
    )
    text = "".join(line.split("│")[0].strip() for line in shown(target).splitlines() if "│" in line)
    assert "a-long-name-of-a-task-that-needs-room" in text
    assert "…" not in shown(target)
