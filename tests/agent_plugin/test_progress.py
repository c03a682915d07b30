"""What a person sees of a run."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from agent_plugin.episode import EpisodeKey
from agent_plugin.launcher import EpisodeOutcome
from agent_plugin.progress import RunProgress, results_table, where_to_look
from agent_plugin.tasks import Task
from recorder.records import Cost, EpisodeSummary, Verdict


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


LOST = EpisodeOutcome(key("c"), None, error="Timeout: no answer [x]")


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
        ["c", "m/[x]", "1", "", "no result", "Timeout: no answer [x]", "", ""],
        ["d", "m/[x]", "1", "7", "fail", "x, y", "12", "$1.2500"],
    ]
    assert all(name in shown(target) for name in ("task", "model", "attempt", "steps", "verdict", "problems", "cost"))


@pytest.mark.parametrize(
    ("error", "cell"),
    [
        ("stopped by the user", "stopped by the user"),
        ("Timeout: no answer [x]", "Timeout: no answer [x]"),
        (
            "BadRequestError: litellm.BadRequestError: OpenAIException - No such model. See https://x.y/z for a list.",
            "BadRequestError: No such model.",
        ),
        ("Timeout: litellm.Timeout: APITimeoutError - Request timed out. Error_str: x", "Timeout: Request timed out."),
        (
            'AuthenticationError: litellm.AuthenticationError: AnthropicException - {"type":"error","error":'
            '{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_1"}',
            "AuthenticationError: invalid x-api-key",
        ),
        (
            "E: litellm.E: Error code: 400 - {'error': {'message': \"It's full.\", 'type': 'x'}}",
            "E: It's full.",
        ),
        ("APIError: litellm.APIError: " + "many words " * 20, f"APIError: {'many words ' * 4}man..."),
        ("trajectory.jsonl: line 3: torn", "trajectory.jsonl: line 3: torn"),
        ("E: version 4.5 is missing. Install it.", "E: version 4.5 is missing."),
    ],
)
def test_an_error_is_one_short_cell(error: str, cell: str) -> None:
    """The type once, the first sentence, and never more than 60 characters."""
    target = console()
    target.print(results_table([EpisodeOutcome(key("c"), None, error=error)]))
    (row,) = [line.split("│") for line in shown(target).splitlines() if "no result" in line]
    assert row[5].strip() == cell
    assert len(cell) <= 60


def test_the_last_lines_say_where_to_look() -> None:
    """Counts, the folder, and what to do about episodes without a result."""
    text = where_to_look([outcome("a"), outcome("b", "fail"), LOST], Path("runs/x"))
    assert text.startswith("1 of 3 episodes passed, 1 without a result (the same command plays them again).\n")
    assert "runs/x/episodes/<task>/<model>/<attempt>/" in text
    assert "without a result" not in where_to_look([outcome("a")], Path("runs/x"))


def test_names_are_folded_and_not_cut() -> None:
    """On a narrow screen every name can still be read in full."""
    target = console(width=80)
    target.print(
        results_table([outcome("a-long-name-of-a-task-that-needs-room", "fail", problems=["video_frame_count"])])
    )
    text = "".join(line.split("│")[0].strip() for line in shown(target).splitlines() if "│" in line)
    assert "a-long-name-of-a-task-that-needs-room" in text
    assert "…" not in shown(target)
