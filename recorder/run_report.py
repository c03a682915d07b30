"""What one run, or several as one, came to: counts, and figures by model and by task. Pure functions of what was read.

A rate is of episodes with a result; lost and unfinished ones are counted apart and are in no rate. A model's rate is
the mean over tasks of each task's own rate, so that a task that was tried more often does not count for more.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from recorder.events import StepEvent
from recorder.last_launch import Key, LaunchState
from recorder.run_reading import Result, RunContents
from recorder.run_statistics import (
    Estimate,
    Interval,
    PairedDifference,
    mean_over_tasks,
    paired_difference,
    pass_at_k,
    rate_over_tasks,
    wilson,
)


@dataclass(frozen=True)
class Counts:
    """What became of the planned episodes. They add up to `n_planned`."""

    n_planned: int = 0
    n_passed: int = 0
    n_failed: int = 0
    n_running: int = 0
    n_interrupted: int = 0
    """Their launcher was killed or stopped; the same command plays them again."""
    n_lost: int = 0
    """The machine or the provider failed; the same command plays them again."""
    n_damaged: int = 0
    """There is an episode.json that cannot be read."""
    n_not_begun: int = 0

    @property
    def n_finished(self) -> int:
        return self.n_passed + self.n_failed


@dataclass(frozen=True)
class Figures:
    """Of the finished episodes of one model, or of one model at one task."""

    n: int
    n_passed: int
    pass_at: dict[int, Estimate]
    """k -> chance that one of k attempts passes; over the tasks with at least k results. Without those k that no task
    has."""
    score: Estimate | None
    """Weighted score of the declared checks; None where no episode has one."""
    n_scored: int
    n_steps: int
    usd: float
    n_cost_unknown: int
    """Episodes with a call whose cost nobody told."""
    prompt_tokens: int
    completion_tokens: int
    n_tokens_unknown: int
    """Episodes with a call whose tokens nobody told, or from before tokens were counted."""
    seconds: float
    failures: dict[str, int]
    """Why they failed -> how many; one may have failed for several reasons."""


@dataclass(frozen=True)
class ModelReport:
    """One model, over all tasks."""

    model: str
    counts: Counts
    figures: Figures
    pass_rate: Estimate | None
    """Over tasks; None without a result."""


@dataclass(frozen=True)
class TaskReport:
    """One model at one task."""

    task: str
    model: str
    figures: Figures
    interval: Interval | None
    """Wilson's, of the pass rate over attempts at this task, which are independent."""


@dataclass(frozen=True)
class Comparison:
    """Two models on the tasks that both have results of: the first minus the second."""

    first: str
    second: str
    pass_rate: PairedDifference
    score: PairedDifference | None


@dataclass(frozen=True)
class Running:
    """An episode that is being played."""

    run: str
    task_id: str
    model: str
    attempt: int
    since: str
    """UTC; '' where no event tells."""
    step: int
    """0: before the first."""
    what: str
    step_since: str


@dataclass(frozen=True)
class Lost:
    """Attempts without a result, over all launches, that ended alike."""

    why: str
    ended_as: str
    n: int
    last_error: str
    last_folder: str


@dataclass(frozen=True)
class RunState:
    """One folder."""

    run: str
    state: LaunchState | None
    """Of its last launcher; None where no event tells of one."""
    last_event_at: str
    why_ended: str
    held_back: dict[str, str]
    """Model, '' for all -> why, of pauses that last."""


@dataclass(frozen=True)
class RunReport:
    """Everything that `blendscribe status` tells."""

    runs: list[RunState]
    counts: Counts
    models: list[ModelReport]
    tasks: list[TaskReport]
    comparisons: list[Comparison]
    running: list[Running]
    lost: list[Lost]
    damaged: dict[str, str]
    notes: list[str] = field(default_factory=list)


def report(contents: Sequence[RunContents]) -> RunReport:
    """Several runs are taken as one: attempts at the same task by the same model are put together."""
    versions = _versions(contents)
    results = [result for run in contents for result in run.results]
    models = list(
        dict.fromkeys([*(m for run in contents if run.plan for m in run.plan.models), *(r.model for r in results)])
    )
    by_cell: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        by_cell[_task_name(result, versions), result.model].append(result)
    tasks = list(dict.fromkeys([*_planned_tasks(contents, versions), *(task for task, _ in by_cell)]))
    by_model = {model: {task: by_cell[task, model] for task in tasks if (task, model) in by_cell} for model in models}
    counts = _counts(contents)
    return RunReport(
        runs=[_state(run) for run in contents],
        counts=_sum(counts.values()),
        models=[_model_report(model, by_model[model], counts.get(model, Counts())) for model in models],
        tasks=[_task_report(task, m, by_model[m][task]) for task in tasks for m in models if task in by_model[m]],
        comparisons=[c for first, second in combinations(models, 2) if (c := _compare(first, second, by_model))],
        running=[one for run in contents for one in _running(run)],
        lost=_lost(contents),
        damaged={f"{run.root}/{file}": why for run in contents for file, why in run.damaged.items()},
        notes=_notes(contents, versions),
    )


def figures(by_task: Mapping[str, Sequence[Result]]) -> Figures:
    """Of results, by task."""
    results = [result for of_task in by_task.values() for result in of_task]
    most = max((len(of_task) for of_task in by_task.values()), default=0)
    scored = {task: values for task, of_task in by_task.items() if (values := _scores(of_task))}
    counted = [result.tokens for result in results if result.tokens is not None]
    return Figures(
        n=len(results),
        n_passed=sum(result.passed for result in results),
        pass_at={k: estimate for k in _ks(most) if (estimate := _pass_at(by_task, k))},
        score=mean_over_tasks([_mean(values) for values in scored.values()]),
        n_scored=sum(map(len, scored.values())),
        n_steps=sum(result.n_steps for result in results),
        usd=math.fsum(result.usd for result in results),
        n_cost_unknown=sum(not result.is_cost_known for result in results),
        prompt_tokens=sum(tokens.prompt for tokens in counted),
        completion_tokens=sum(tokens.completion for tokens in counted),
        n_tokens_unknown=sum(result.tokens is None or result.tokens.n_calls_unknown > 0 for result in results),
        seconds=math.fsum(result.seconds for result in results),
        failures=dict(Counter(code for result in results for code in result.failures).most_common()),
    )


def _ks(most: int) -> list[int]:
    """1, 2, 4, … and all."""
    powers = [1 << n for n in range(most.bit_length()) if 1 << n <= most]
    return sorted({*powers, most} - {0})


def _pass_at(by_task: Mapping[str, Sequence[Result]], k: int) -> Estimate | None:
    found = [
        (value, len(of_task))
        for of_task in by_task.values()
        if (value := pass_at_k(len(of_task), sum(result.passed for result in of_task), k)) is not None
    ]
    return rate_over_tasks([value for value, _ in found], sum(n for _, n in found))


def _scores(results: Iterable[Result]) -> list[float]:
    return [result.score for result in results if result.score is not None]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _rates(by_task: Mapping[str, Sequence[Result]]) -> dict[str, float]:
    return {task: sum(result.passed for result in of_task) / len(of_task) for task, of_task in by_task.items()}


def _model_report(model: str, by_task: Mapping[str, Sequence[Result]], counts: Counts) -> ModelReport:
    found = figures(by_task)
    return ModelReport(model, counts, found, rate_over_tasks(list(_rates(by_task).values()), found.n))


def _task_report(task: str, model: str, results: Sequence[Result]) -> TaskReport:
    found = figures({task: results})
    return TaskReport(task, model, found, wilson(found.n_passed, found.n))


def _compare(first: str, second: str, by_model: Mapping[str, Mapping[str, Sequence[Result]]]) -> Comparison | None:
    rates = paired_difference(_rates(by_model[first]), _rates(by_model[second]))
    if rates is None:
        return None
    scores = [
        {task: _mean(values) for task, of_task in by_model[model].items() if (values := _scores(of_task))}
        for model in (first, second)
    ]
    return Comparison(first, second, rates, paired_difference(scores[0], scores[1]))


def _counts(contents: Sequence[RunContents]) -> dict[str, Counts]:
    """Model -> what became of its episodes."""
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    for run in contents:
        state = _what_became(run)
        for key in dict.fromkeys([*run.planned, *state]):
            tallies[key[1]][state.get(key, "n_not_begun")] += 1
    return {model: Counts(n_planned=tally.total(), **tally) for model, tally in tallies.items()}


def _what_became(run: RunContents) -> dict[Key, str]:
    """Of each episode that left anything; what is later in this order is stronger."""
    is_stopped = {True: "n_interrupted", False: "n_lost"}
    state: dict[Key, str] = {}
    for aside in run.asides:
        if aside.why != "changed":  # a result of another task of that name
            state[aside.key] = is_stopped[aside.why == "interrupted"]
    runs_now = {(one.task_id, one.model, one.attempt) for one in _running(run)}
    state |= {one.key: "n_running" if one.key in runs_now else "n_interrupted" for one in run.unfinished}
    state |= dict.fromkeys(run.damaged_keys, "n_damaged")
    return state | {
        (result.task_id, result.model, result.attempt): "n_passed" if result.passed else "n_failed"
        for result in run.results
    }


def _sum(counts: Iterable[Counts]) -> Counts:
    listed = list(counts)
    return Counts(**{name: sum(getattr(one, name) for one in listed) for name in Counts.__dataclass_fields__})


def _running(run: RunContents) -> list[Running]:
    """Folders without a result that the last launch began, where its launcher is not known to be gone."""
    launch = run.launch
    if launch is None or launch.state not in ("running", "elsewhere"):
        return []
    found = []
    for one in run.unfinished:
        newest = launch.newest.get(one.key)
        if newest is None or newest.kind not in ("episode_started", "step"):
            continue
        step = newest if isinstance(newest, StepEvent) else None
        found.append(
            Running(
                str(run.root), *one.key,
                since=launch.begun_at.get(one.key, ""),
                step=step.step if step else 0,
                what=step.what if step else "begins",
                step_since=newest.at,
            )
        )  # fmt: skip
    return sorted(found, key=lambda running: running.since)


def _lost(contents: Sequence[RunContents]) -> list[Lost]:
    """The most frequent first."""
    alike: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for run in contents:
        for aside in run.asides:
            alike[aside.why, aside.ended_as].append((aside.error, f"{run.root}/{aside.folder}"))
    listed = sorted(alike.items(), key=lambda item: -len(item[1]))
    return [Lost(why, ended_as, len(found), *found[-1]) for (why, ended_as), found in listed]


def _state(run: RunContents) -> RunState:
    launch = run.launch
    if launch is None:
        return RunState(str(run.root), None, "", "", {})
    return RunState(
        run=str(run.root),
        state=launch.state,
        last_event_at=launch.last_at,
        why_ended=launch.ended.why if launch.ended else "",
        held_back={pause.model: pause.error for pause in launch.pauses} if launch.state != "ended" else {},
    )


def _versions(contents: Sequence[RunContents]) -> dict[str, set[str]]:
    """Task id -> hashes of the tasks of that name."""
    versions: dict[str, set[str]] = defaultdict(set)
    for run in contents:
        for task_id, sha256 in (run.plan.tasks if run.plan else {}).items():
            versions[task_id].add(sha256)
        for result in run.results:
            versions[result.task_id].add(result.task_sha256)
    return versions


def _task_name(result: Result, versions: Mapping[str, set[str]]) -> str:
    return _name(result.task_id, result.task_sha256, versions)


def _name(task_id: str, sha256: str, versions: Mapping[str, set[str]]) -> str:
    """Its id; with the beginning of its hash where several tasks have it."""
    return task_id if len(versions[task_id]) == 1 else f"{task_id}@{sha256[:8]}"


def _planned_tasks(contents: Sequence[RunContents], versions: Mapping[str, set[str]]) -> list[str]:
    return [_name(task, sha, versions) for run in contents if run.plan for task, sha in run.plan.tasks.items()]


def _notes(contents: Sequence[RunContents], versions: Mapping[str, set[str]]) -> list[str]:
    notes = []
    if several := [task for task, hashes in versions.items() if len(hashes) > 1]:
        shown = ", ".join(several[:5]) + (f", and {len(several) - 5} more" if len(several) > 5 else "")
        notes.append(f"Tasks of the same id that are not the same task are kept apart, by their hash: {shown}.")
    if len({run.plan.fingerprint for run in contents if run.plan}) > 1:
        notes.append("The runs are not of the same plan (tasks, models, config or versions): compare with care.")
    return notes
