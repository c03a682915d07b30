"""Shows a run while it goes on, and its table at the end."""

import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from agent_plugin.breaker import Pause
from agent_plugin.episode import EpisodeKey
from agent_plugin.launcher import EpisodeOutcome, Watcher

_MAX_LISTED = 5
_NUMBER = re.compile(r"\d+")


class RunProgress(Watcher):
    """Bars on a terminal, plain lines elsewhere. Called from several threads."""

    def __init__(self, console: Console, n_episodes: int) -> None:
        self._console, self._n_episodes = console, n_episodes
        self._lock = threading.Lock()
        self._rows: dict[str, TaskID] = {}
        self._started: dict[str, float] = {}
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )

    def __enter__(self) -> "RunProgress":
        self._progress.start()
        self._total = self._progress.add_task("episodes", total=self._n_episodes)
        return self

    def __exit__(self, *_error: object) -> None:
        self._progress.stop()

    def started(self, key: EpisodeKey) -> None:
        with self._lock:
            self._started[_name(key)] = time.monotonic()
            self._rows[_name(key)] = self._progress.add_task(escape(_name(key)), total=None)
            if not self._console.is_terminal:
                self._say(f"started  {_name(key)}")

    def step(self, key: EpisodeKey, number: int, what: str) -> None:
        with self._lock:
            if _name(key) in self._rows:
                text = f"{_name(key)}  step {number}: {what}"
                self._progress.update(self._rows[_name(key)], description=escape(text))

    def ended(self, outcome: EpisodeOutcome) -> None:
        with self._lock:
            name = _name(outcome.key)
            if name in self._rows:
                self._progress.remove_task(self._rows.pop(name))
            self._progress.advance(self._total)
            before = " (from before)" if outcome.is_from_before else ""
            took = f" in {time.monotonic() - self._started[name]:.0f} s" if name in self._started else ""
            score = f", checks {told}" if (told := _score(outcome)) else ""
            self._say(f"{_verdict(outcome):8} {name}{took}{score}{before}")
            if outcome.error:
                self._say(f"         {outcome.error}")

    def retry(self, lost: EpisodeOutcome, number: int, wait_seconds: float) -> None:
        with self._lock:
            name = _name(lost.key)
            if name in self._rows:
                self._progress.remove_task(self._rows.pop(name))
            self._say(f"again    {name} (lost: {lost.loss}, retry {number} in {wait_seconds:.0f} s)")
            self._say(f"         {lost.error}")

    def paused(self, pause: Pause) -> None:
        with self._lock:
            self._say(str(pause))

    def resumed(self, pause: Pause) -> None:
        with self._lock:
            self._say(f"Goes on: {f'episodes of {pause.model}' if pause.model else 'all episodes'}.")

    def _say(self, line: str) -> None:
        """One line, also where it is longer than the screen."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def results_table(outcomes: Sequence[EpisodeOutcome]) -> Table:
    """One row an episode."""
    # light, and folding instead of cutting: names stay readable on 80 columns
    table = Table(title="Episodes", title_justify="left", box=box.MINIMAL, pad_edge=False)
    has_scores = any(_score(outcome) for outcome in outcomes)
    checks = ("checks",) if has_scores else ()
    for name in ("task", "model", "attempt", "steps", "verdict", *checks, "problems", "seconds", "cost"):
        is_number = name in ("attempt", "steps", "seconds", "cost")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for outcome in sorted(outcomes, key=lambda o: (o.key.task.id, o.key.model, o.key.attempt)):
        cells = _cells(outcome)
        cells[5:5] = [_score(outcome)] if has_scores else []
        table.add_row(*(escape(cell) for cell in cells))
    return table


def what_was_lost(outcomes: Sequence[EpisodeOutcome]) -> list[str]:
    """Below the table: why episodes have no result, each reason once and in full, with the episodes.

    Two that differ in a number alone (`3 attempts in 14 s`) are one reason.
    """
    reasons: dict[str, list[EpisodeOutcome]] = {}
    for outcome in outcomes:
        if outcome.error:
            reasons.setdefault(_NUMBER.sub("", outcome.error), []).append(outcome)
    return [f"{_listed([_name(o.key) for o in lost], ', ')}:\n    {lost[0].error}" for lost in reasons.values()]


def where_to_look(outcomes: Sequence[EpisodeOutcome], run: Path) -> str:
    """The last lines of a run: counts, and the folders to look at."""
    n_pass = sum(_verdict(outcome) == "pass" for outcome in outcomes)
    n_lost = sum(outcome.summary is None for outcome in outcomes)
    lost = f", {n_lost} without a result (the same command plays them again)" if n_lost else ""
    lines = [f"{n_pass} of {len(outcomes)} episodes passed{lost}."]
    if n_lost < len(outcomes):
        lines.append(
            f"Look at {run}/episodes/<task>/<model>/<attempt>/: output.mp4 or scene.blend, preview.png, "
            "final_script.py, trajectory.jsonl, images/, episode.json"
        )
    if left := [f"    {outcome.folder}" for outcome in outcomes if outcome.summary is None and outcome.folder]:
        lines += ["What was recorded without a result (trajectory.jsonl, images/):", _listed(left, "\n")]
    return "\n".join(lines)


def _listed(texts: Sequence[str], between: str) -> str:
    more = [f"and {len(texts) - _MAX_LISTED} more"] if len(texts) > _MAX_LISTED else []
    return between.join([*texts[:_MAX_LISTED], *more])


def _cells(outcome: EpisodeOutcome) -> list[str]:
    key, summary = outcome.key, outcome.summary
    if summary is None:
        return [key.task.id, key.model, f"{key.attempt}", "", "no result", outcome.ended_as, "", ""]
    cost = f"${summary.cost.usd:.4f}" if summary.cost.is_known else "unknown"
    problems = ", ".join(summary.problems) or ("none" if summary.verdict == "pass" else summary.exit_status)
    return [
        key.task.id, key.model, f"{key.attempt}", f"{summary.n_steps}", summary.verdict, problems,
        f"{summary.seconds:.0f}", cost,
    ]  # fmt: skip


def _score(outcome: EpisodeOutcome) -> str:
    """The weighted score of the declared checks, and how many could not be judged; '' where there are none."""
    score = outcome.summary.score if outcome.summary else None
    if score is None:
        return ""
    unknown = f", {len(score.not_judged)} unknown" if score.not_judged else ""
    return f"{score.weighted:.2f}{unknown}" if score.weighted is not None else "not judged"


def _verdict(outcome: EpisodeOutcome) -> str:
    return outcome.summary.verdict if outcome.summary else "lost"


def _name(key: EpisodeKey) -> str:
    return f"{key.task.id} · {key.model} · {key.attempt}"
