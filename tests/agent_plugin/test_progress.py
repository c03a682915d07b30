"""What a person sees of a run."""

import io
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from agent_plugin.episode import EpisodeKey
from agent_plugin.launcher import EpisodeOutcome
from agent_plugin.live_view import live_view
from agent_plugin.plain_words import about, duration
from agent_plugin.progress import RunProgress, results_table, what_was_lost, where_to_look
from agent_plugin.run_counts import RunCounts
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


KEYS = [key(name) for name in "abc"]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Pause:
    model: str = "m"
    loss: str = "provider_down"
    error: str = "no answer [x]"

    def __str__(self) -> str:
        return f"Paused: episodes of {self.model}"


def test_without_a_terminal_each_ended_episode_is_a_line() -> None:
    """Beginnings and steps would only fill a log file; those from before are told together, damaged ones each."""
    target = console(width=20)
    damaged = EpisodeOutcome(key("b", 2), None, "torn", "CorruptEpisode", is_from_before=True)
    with RunProgress(target, [*KEYS, key("b", 2)]) as progress:
        progress.ended(EpisodeOutcome(key("b"), outcome("b", "fail").summary, is_from_before=True))
        progress.ended(damaged)
        progress.started(key("a"))
        progress.step(key("a"), 1, "model")
        progress.ended(outcome("a"))
        progress.started(key("c"))
        progress.ended(LOST)
    assert shown(target).splitlines() == [
        "lost     b · m/[x] · 2",
        "         torn",
        "2 of 4 episodes are from before.",
        "pass     a · m/[x] · 1 in 0 s",
        "lost     c · m/[x] · 1 in 0 s",
        "         Timeout: no answer [x]",
        "4 of 4 ended: 1 passed, 1 failed, 2 lost; 0 running; cost $1.2500; 0 s",
    ]


def test_a_log_gets_a_summary_now_and_then() -> None:
    """Also while nothing ends."""
    target = console()
    with RunProgress(target, KEYS, seconds_between_summaries=0.01) as progress:
        progress.started(key("a"))
        while shown(target).count("\n") < 3:
            time.sleep(0.01)
    lines = shown(target).splitlines()
    assert set(lines[:-1]) == {"0 of 3 ended: 0 passed, 0 failed, 0 lost; 1 running; cost $0.0000; 0 s"}


def test_on_a_terminal_the_running_step_is_shown() -> None:
    """Names that look like markup are shown as they are."""
    target = console(is_terminal=True)
    with RunProgress(target, KEYS) as progress:
        progress.started(key("a"))
        progress.step(key("a"), 3, "run_blender")
        progress._live.refresh()
    assert "a · m/[x] · 1  step 3: run_blender  0 s" in shown(target)


def test_a_step_after_the_end_is_ignored() -> None:
    """A thread may be late."""
    with RunProgress(console(), KEYS) as progress:
        progress.step(key("a"), 1, "model")
        progress.waiting(key("a"), "a slot")
    assert progress.counts.running == {}


def test_many_threads_and_the_screen_do_not_wait_for_each_other() -> None:
    """Episodes end while the view is drawn over and over."""
    target = console(is_terminal=True)
    keys = [key(f"t{n}") for n in range(400)]
    with RunProgress(target, keys, 8) as progress, ThreadPoolExecutor(8) as pool:

        def play(one: EpisodeKey) -> None:
            progress.started(one)
            progress.step(one, 1, "model")
            progress.ended(EpisodeOutcome(one, outcome("a").summary))
            progress._live.refresh()

        list(pool.map(play, keys, timeout=60))
    assert progress.counts.total.n_passed == 400
    assert shown(target).count("pass     t") == 400


def test_what_is_lost_and_played_again_has_not_ended() -> None:
    """It is told, and leaves the running ones; pauses are told once, and shown for as long as they last."""
    target = console()
    with RunProgress(target, KEYS) as progress:
        progress.started(key("c"))
        progress.retry(LOST, 2, 5.0)
        progress.paused(Pause())
        progress.paused(Pause())
        assert progress.counts.running == {}
        assert progress.counts.total.n_ended == 0
        assert "held back: m: no answer [x]" in str(progress._view())
        progress.resumed(Pause())
        assert "held back" not in str(progress._view())
    assert shown(target).splitlines()[:4] == [
        "again    c · m/[x] · 1: lost (Timeout), retry 2 in 5 s",
        "         Timeout: no answer [x]",
        "Paused: episodes of m",
        "Goes on: episodes of m.",
    ]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 50), (30, 5), (10, 1)])
def test_the_view_is_never_larger_than_the_screen(width: int, height: int) -> None:
    """With 256 workers and 20 models of long names; it says what it leaves out."""
    keys = [key(f"task-{n}", model=f"provider/model-{n % 20}") for n in range(300)]
    counts = RunCounts(keys, 256)
    for one in keys[:256]:
        counts.started(one)
    lines = live_view(counts, width, height).plain.split("\n")
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    if height >= 24:
        assert len(lines) == height
        assert any(re.fullmatch(r"… and \d+ more models", line) for line in lines)
        shown_running = sum(line.startswith("  task-") for line in lines)
        assert lines[-1] == f"  … and {256 - shown_running} more run"


def test_each_model_has_its_bar() -> None:
    """Where there are several; the whole run comes first."""
    counts = RunCounts([key("a"), key("b"), key("a", model="n")], 1)
    counts.ended(outcome("a"))
    first, *others = live_view(counts, 100, 20).plain.split("\n")
    assert " 1/3  1 passed, 0 failed, 0 lost" in first
    assert [line.split(" ", 1)[1] for line in others] == [
        "1/2  1 passed, 0 failed, 0 lost  m/[x]",
        "0/1  0 passed, 0 failed, 0 lost  n",
    ]


def test_the_time_left_follows_the_pace() -> None:
    """Nothing before a few have ended; then what is left at the pace of the last ones; it grows while none ends."""
    clock = Clock()
    counts = RunCounts([key(f"t{n}") for n in range(100)], 2, clock)
    for n in range(40):
        clock.now += 10
        assert (counts.seconds_left is None) == (n < 3)
        counts.ended(EpisodeOutcome(key(f"t{n}"), outcome("a").summary))
    assert counts.seconds_left == pytest.approx(600)
    for n in range(40, 61):  # a faster provider: after 20 episodes the old pace is forgotten
        clock.now += 1
        counts.ended(EpisodeOutcome(key(f"t{n}"), outcome("a").summary))
    assert counts.seconds_left == pytest.approx(39)
    clock.now += 190
    assert counts.seconds_left == pytest.approx(390 + 39, rel=0.03)


def test_what_is_from_before_does_not_set_the_pace() -> None:
    """A thousand results that were there in no time say nothing of the rest; they count for cost."""
    clock = Clock()
    counts = RunCounts([key(f"t{n}") for n in range(1003)], 1, clock, spent_now=lambda: clock.now - 1000)
    for n in range(1000):
        counts.ended(EpisodeOutcome(key(f"t{n}"), outcome("a").summary, is_from_before=True))
    assert counts.seconds_left is None
    assert counts.usd == 1250
    clock.now += 2
    assert counts.usd == 1252
    for n in (1000, 1001, 1002):
        counts.ended(EpisodeOutcome(key(f"t{n}"), None, "x", "X"))
    assert counts.seconds_left == 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9.6, "10 s"), (59.6, "1 min 00 s"), (200, "3 min 20 s"), (7500, "2 h 05 min"), (273_600, "3 d 4 h")],
)
def test_durations_are_told_in_two_units(seconds: float, text: str) -> None:
    """At most."""
    assert duration(seconds) == text


def test_estimates_are_told_to_the_minute() -> None:
    """Rounded up."""
    assert [about(s) for s in (20, 61, 200, 7500)] == [
        "less than a minute", "about 2 min", "about 4 min", "about 2 h 06 min",
    ]  # fmt: skip


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


def test_the_table_of_many_episodes_says_what_it_leaves_out() -> None:
    """What did not pass is worth looking at."""
    target = console()
    many = [EpisodeOutcome(key(f"t{n:03}"), outcome("a", "fail" if n == 90 else "pass").summary) for n in range(100)]
    target.print(results_table(many))
    rows = [line.split("│")[0].strip() for line in shown(target).splitlines() if line.count("│") == 7]
    assert rows == ["task", "t090", *(f"t{n:03}" for n in range(39))]
    assert "40 of 100 episodes. `blendscribe status` counts all of them." in shown(target)


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
    with RunProgress(target, [key("b")]) as progress:
        progress.ended(scored[1])
    assert shown(target).startswith("fail     b · m/[x] · 1, checks 0.50, 2 unknown\n")


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
