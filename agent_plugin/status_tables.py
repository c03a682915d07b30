"""The report of a run in words and tables."""

from collections.abc import Sequence
from datetime import UTC, datetime

from agent_plugin.plain_words import cost, count, duration
from agent_plugin.sheet import MAX_ROWS, Sheet
from recorder.run_report import Comparison, Counts, Figures, ModelReport, RunReport, RunState, TaskReport
from recorder.run_statistics import Estimate, Interval, PairedDifference

_MAX_TASKS = 5
_WORDS = {
    "running": "running",
    "ended": "its last launcher has ended",
    "killed": "its last launcher was killed; the same command goes on",
    "elsewhere": "its last launcher was started on another machine or container, and is not seen from here",
    None: "no event tells of a launcher",
}


def head_lines(report: RunReport) -> list[str]:
    """Where the run is, and what became of its episodes."""
    lines = [_state(state) for state in report.runs]
    for state in report.runs:
        lines += [f"  held back: {model or 'all models'}: {why}" for model, why in state.held_back.items()]
    return [*lines, _counts(report.counts), *(f"Note: {note}" for note in report.notes)]


def sheets(report: RunReport) -> list[Sheet]:
    """All tables, the most wanted first."""
    return [
        _models(report.models),
        _models_took(report.models),
        _comparisons(report.comparisons),
        _differing(report.comparisons),
        _failures(report.models),
        _running(report),
        _lost(report),
        Sheet("Damaged files", ("file", "why"), [*report.damaged.items()]),
        _tasks(report.tasks),
        _tasks_took(report.tasks),
    ]


def _state(state: RunState) -> str:
    why = f" ({state.why_ended})" if state.why_ended else ""
    at = f"; last event {_ago(state.last_event_at)}" if state.last_event_at and state.state != "ended" else ""
    return f"{state.run}: {_WORDS[state.state]}{why}{at}."


def _counts(counts: Counts) -> str:
    parts = {
        "running": counts.n_running,
        "interrupted": counts.n_interrupted,
        "lost": counts.n_lost,
        "damaged": counts.n_damaged,
        "not begun": counts.n_not_begun,
    }
    others = "".join(f", {n} {name}" for name, n in parts.items() if n)
    return (
        f"{counts.n_finished} of {counts.n_planned} episodes are finished: {counts.n_passed} passed, "
        f"{counts.n_failed} failed{others}."
    )


def _models(models: Sequence[ModelReport]) -> Sheet:
    k = max((max(one.figures.pass_at, default=0) for one in models), default=0)
    at_k = (f"pass@{k}",) if k > 1 else ()
    scores = ("score",) if any(one.figures.score for one in models) else ()
    rows = []
    for one in models:
        row = [one.model, f"{one.figures.n}/{one.counts.n_planned}", _rate(one.pass_rate)]
        row += [_rate_at(k, one)] if at_k else []
        row += [_value(one.figures.score)] if scores else []
        rows.append(row)
    headings = ("model", "finished", "passed", *at_k, *scores)
    note = "passed, pass@k, score: mean over tasks [95 % interval over tasks]."
    return Sheet("By model", headings, rows, frozenset(headings[1:]), (note,))


def _models_took(models: Sequence[ModelReport]) -> Sheet:
    rows = [[one.model, *_took(one.figures)] for one in models if one.figures.n]
    return Sheet("What it took, by model", ("model", *_TOOK), rows, _TOOK_RIGHT, (_TOOK_NOTE,))


_TOOK = ("steps", "seconds", "cost", "tokens in", "out")
_TOOK_RIGHT = frozenset(_TOOK)
_TOOK_NOTE = "Steps and seconds: mean of an episode; cost and tokens: of all; +: some are not known."


def _took(found: Figures) -> list[str]:
    known = found.n_tokens_unknown < found.n or found.prompt_tokens
    more = "+" if found.n_tokens_unknown else ""
    return [
        f"{found.n_steps / found.n:.1f}",
        f"{found.seconds / found.n:.0f}",
        cost(found.usd, is_known=not found.n_cost_unknown),
        count(found.prompt_tokens) + more if known else "unknown",
        count(found.completion_tokens) + more if known else "unknown",
    ]


def _rate_at(k: int, one: ModelReport) -> str:
    """With the number of tasks, where not all of them have k results."""
    estimate = one.figures.pass_at.get(k)
    is_of_all = estimate is None or one.pass_rate is None or estimate.n_tasks == one.pass_rate.n_tasks
    return _rate(estimate) if estimate is None or is_of_all else f"{_rate(estimate)} of {estimate.n_tasks} tasks"


def _failures(models: Sequence[ModelReport]) -> Sheet:
    rows = [
        [one.model, reason, f"{n}", f"{n / one.figures.n:.0%}"]
        for one in models
        for reason, n in one.figures.failures.items()
    ]
    note = "In share of finished episodes; one may have failed for several reasons."
    return Sheet("Why episodes failed", ("model", "reason", "n", "share"), rows, frozenset({"n", "share"}), (note,))


def _comparisons(comparisons: Sequence[Comparison]) -> Sheet:
    rows = []
    for one in comparisons:
        pair = f"{one.first} - {one.second}"
        rows.append([pair, "passed", *_difference(one.pass_rate, percent=True)])
        if one.score:
            rows.append([pair, "score", *_difference(one.score, percent=False)])
    note = (
        "The first minus the second, task by task, over the tasks that both have results of [95 % interval over "
        "tasks]; p of the two-sided sign test over the tasks that differ."
    )
    headings = ("models", "of", "difference", "tasks", "better on", "worse on", "equal", "p")
    return Sheet("Models compared on the same tasks", headings, rows, frozenset(headings[2:]), (note,))


def _difference(found: PairedDifference, *, percent: bool) -> list[str]:
    return [
        _signed(found.estimate, percent=percent),
        f"{found.estimate.n_tasks}",
        f"{len(found.better)}",
        f"{len(found.worse)}",
        f"{found.n_equal}",
        f"{found.p_value:.3f}" if found.p_value >= 0.001 else "< 0.001",
    ]


def _differing(comparisons: Sequence[Comparison]) -> Sheet:
    rows = []
    for one in comparisons:
        for better, worse, tasks in (
            (one.first, one.second, one.pass_rate.better),
            (one.second, one.first, one.pass_rate.worse),
        ):
            if tasks:
                more = f", and {len(tasks) - _MAX_TASKS} more" if len(tasks) > _MAX_TASKS else ""
                rows.append([better, worse, ", ".join(tasks[:_MAX_TASKS]) + more])
    return Sheet("Where they differ", ("passes more often", "than", "on (largest difference first)"), rows)


def _running(report: RunReport) -> Sheet:
    rows = [
        [
            one.task_id, one.model, f"{one.attempt}", _ago(one.since),
            f"{one.step}: {one.what}" if one.step else one.what, _ago(one.step_since),
        ]
        for one in report.running
    ]  # fmt: skip
    return Sheet("Running now", ("task", "model", "attempt", "began", "step", "since"), rows, frozenset({"attempt"}))


def _lost(report: RunReport) -> Sheet:
    rows = [
        [one.why, one.ended_as or "not recorded", f"{one.n}", one.last_error, one.last_folder] for one in report.lost
    ]
    headings = ("why", "ended as", "n", "last error", "last folder")
    return Sheet("Attempts without a result, all launches", headings, rows, frozenset({"n"}))


def _tasks(tasks: Sequence[TaskReport]) -> Sheet:
    k = max((max(one.figures.pass_at, default=0) for one in tasks), default=0)
    at_k = (f"pass@{k}",) if k > 1 else ()
    scores = ("score",) if any(one.figures.score for one in tasks) else ()
    rows = []
    for one in tasks[:MAX_ROWS]:
        found = one.figures
        row = [one.task, one.model, f"{found.n_passed}/{found.n}", _bounds(one.interval)]
        row += [_rate(found.pass_at.get(k))] if at_k else []
        row += [_value(found.score)] if scores else []
        rows.append([*row, ", ".join(f"{reason} {n}" for reason, n in found.failures.items())])
    note = "95 %: Wilson's interval of the pass rate over attempts at this task."
    numbers = ("passed", "95 %", *at_k, *scores)
    headings = ("task", "model", *numbers, "why failed")
    return Sheet("By task", headings, _padded(rows, tasks), frozenset(numbers), (note,))


def _tasks_took(tasks: Sequence[TaskReport]) -> Sheet:
    rows = [[one.task, one.model, *_took(one.figures)] for one in tasks[:MAX_ROWS]]
    headings = ("task", "model", *_TOOK)
    return Sheet("What it took, by task", headings, _padded(rows, tasks), _TOOK_RIGHT, (_TOOK_NOTE,))


def _padded(rows: list[list[str]], tasks: Sequence[TaskReport]) -> list[list[str]]:
    """With rows that are counted and not shown: tens of thousands are not worth their words."""
    return rows + [[]] * (len(tasks) - len(rows))


def _rate(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return f"{estimate.value:.0%} {_bounds(estimate.interval)}".rstrip()


def _bounds(interval: Interval | None) -> str:
    return f"[{100 * interval.low:.0f}, {100 * interval.high:.0f}]" if interval else ""


def _value(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    interval = estimate.interval
    # scores end at 0 and 1, Student's interval does not know
    bounds = f" [{max(0.0, interval.low):.2f}, {min(1.0, interval.high):.2f}]" if interval else ""
    return f"{estimate.value:.2f}{bounds}"


def _signed(estimate: Estimate, *, percent: bool) -> str:
    interval = estimate.interval
    if percent:
        bounds = f" [{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]" if interval else ""
        return f"{100 * estimate.value:+.1f} %{bounds}"
    bounds = f" [{interval.low:+.2f}, {interval.high:+.2f}]" if interval else ""
    return f"{estimate.value:+.3f}{bounds}"


def _ago(at: str) -> str:
    """`2 min 05 s ago`; '' where the time is not known."""
    try:
        seconds = (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    except ValueError:
        return ""
    return f"{duration(max(0.0, seconds))} ago"
