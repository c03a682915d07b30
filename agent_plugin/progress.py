"""Shows a run while it goes on, and its table at the end."""

import re
import threading
from collections.abc import Sequence
from pathlib import Path

from minisweagent.models import GLOBAL_MODEL_STATS
from rich import box
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from agent_plugin.episode import EpisodeKey
from agent_plugin.launcher import EpisodeOutcome, Watcher
from agent_plugin.live_view import live_view, summary_line
from agent_plugin.pause import Held
from agent_plugin.plain_words import duration
from agent_plugin.run_counts import RunCounts
from harness.plain_text import plain

_MAX_LISTED = 5
_MAX_ROWS = 40
_NUMBER = re.compile(r"\d+")


class RunProgress(Watcher):
    """A live view on a terminal; elsewhere a line for each episode that ended, and a summary every minute.

    Called from several threads.
    """

    def __init__(
        self,
        console: Console,
        keys: Sequence[EpisodeKey],
        n_workers: int = 1,
        *,
        seconds_between_summaries: float = 60.0,
    ) -> None:
        self._console, self._seconds = console, seconds_between_summaries
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._has_told_before = False
        self.counts = RunCounts(keys, n_workers, spent_now=lambda: GLOBAL_MODEL_STATS.cost)
        self._live = Live(console=console, get_renderable=self._view, transient=True, refresh_per_second=4)
        self._ticker = threading.Thread(target=self._tick, daemon=True, name="progress")

    def __enter__(self) -> "RunProgress":
        if self._console.is_terminal:
            self._live.start()
        else:
            self._ticker.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        if self._console.is_terminal:
            self._live.stop()
        else:
            self._ticker.join()
        with self._lock:
            lines = [*self._from_before(), summary_line(self.counts)]
        self._say(*lines)

    # nothing is printed under the lock: the view is drawn under the console's own, and takes this one

    def started(self, key: EpisodeKey) -> None:
        with self._lock:
            lines = self._from_before()
            self.counts.started(key)
        self._say(*lines)

    def step(self, key: EpisodeKey, number: int, what: str) -> None:
        with self._lock:
            self.counts.step(key, number, what)

    def waiting(self, key: EpisodeKey, what: str) -> None:
        with self._lock:
            self.counts.waiting(key, what)

    def retry(self, lost: EpisodeOutcome, number: int, wait_seconds: float) -> None:
        with self._lock:
            self.counts.put_back(lost.key)
        again = f"again    {_name(lost.key)}: lost ({lost.ended_as}), retry {number} in {wait_seconds:.0f} s"
        self._say(again, f"         {lost.error}")

    def ended(self, outcome: EpisodeOutcome) -> None:
        with self._lock:
            seconds = self.counts.ended(outcome)
        if outcome.is_from_before and outcome.summary:
            return  # thousands may be: they are told together
        took = "" if seconds is None else f" in {duration(seconds)}"
        score = f", checks {told}" if (told := _score(outcome)) else ""
        lines = [f"{_verdict(outcome):8} {_name(outcome.key)}{took}{score}"]
        self._say(*lines, *([f"         {outcome.error}"] if outcome.error else []))

    def paused(self, pause: Held) -> None:
        with self._lock:
            is_new = pause.model not in self.counts.pauses
            self.counts.pauses[pause.model] = pause.error
        if is_new:  # else the view shows it; a log would fill with it
            self._say(str(pause))

    def resumed(self, pause: Held) -> None:
        with self._lock:
            self.counts.pauses.pop(pause.model, None)
        self._say(f"Goes on: {f'episodes of {pause.model}' if pause.model else 'all episodes'}.")

    def _from_before(self) -> list[str]:
        """Told once, when the first episode of this launch begins."""
        if self._has_told_before or not self.counts.n_from_before:
            return []
        self._has_told_before = True
        return [f"{self.counts.n_from_before} of {self.counts.total.n_episodes} episodes are from before."]

    def _tick(self) -> None:
        while not self._is_over.wait(self._seconds):
            with self._lock:
                line = summary_line(self.counts)
            self._say(line)

    def _view(self) -> Text:
        with self._lock:
            return live_view(self.counts, self._console.width, self._console.height - 1)

    def _say(self, *lines: str) -> None:
        """Lines that stay together, also where one is longer than the screen."""
        if lines:
            self._console.print("\n".join(map(plain, lines)), markup=False, highlight=False, soft_wrap=True)


def results_table(outcomes: Sequence[EpisodeOutcome]) -> Table:
    """One row an episode; of many, those that did not pass come first, and it says how many are left out."""
    # light, and folding instead of cutting: names stay readable on 80 columns
    table = Table(title="Episodes", title_justify="left", box=box.MINIMAL, pad_edge=False)
    has_scores = any(_score(outcome) for outcome in outcomes)
    checks = ("checks",) if has_scores else ()
    for name in ("task", "model", "attempt", "steps", "verdict", *checks, "problems", "seconds", "cost"):
        is_number = name in ("attempt", "steps", "seconds", "cost")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    shown = sorted(outcomes, key=lambda o: (o.key.task.id, o.key.model, o.key.attempt))
    if len(shown) > _MAX_ROWS:
        table.caption = f"{_MAX_ROWS} of {len(shown)} episodes. `blendscribe status` counts all of them."
        shown = sorted(shown, key=lambda o: _verdict(o) == "pass")[:_MAX_ROWS]
    for outcome in shown:
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
