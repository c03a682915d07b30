"""`events.jsonl` of a run: what its launchers did, one JSON line an event, for programs that follow a run.

Appended only, by one launch after another; each line is one write to a file opened for appending, so that lines never
mix. A line is not awaited on disk, as one of a trajectory is: a machine that fails may leave a torn last line, which
the next launch ends and readers skip. Nothing is ever decided by it: what an episode came to is in its `episode.json`.
"""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from recorder.records import SCHEMA_VERSION, Record, TokenCount, Verdict


class EventRecord(Record):
    """What every event has."""

    schema_version: int = SCHEMA_VERSION
    at: str = ""
    """UTC, to the millisecond. The log fills it in."""


class OfEpisode(EventRecord):
    """What every event of an episode has."""

    task_id: str
    model: str
    attempt: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.task_id, self.model, self.attempt


class RunStarted(EventRecord):
    """A launcher begins, or goes on with a run. Events up to the next one of these are its own."""

    kind: Literal["run_started"] = "run_started"
    pid: int
    process_started: int
    """Ticks from the machine's start to the process's (field 22 of /proc/PID/stat): a pid alone is used again."""
    machine: str
    """Hash that tells machine, its boot and pid namespace apart: only there does the pid mean anything."""
    n_episodes: int
    """Of the whole run."""
    n_finished_before: int
    n_workers: int


class EpisodeStarted(OfEpisode):
    kind: Literal["episode_started"] = "episode_started"


class StepEvent(OfEpisode):
    """A step begins its next part."""

    kind: Literal["step"] = "step"
    step: int
    what: str
    """`model`: the model is asked; a tool's name: its call runs; `final execution`."""


class EpisodeEnded(OfEpisode):
    """The episode has a result: its `episode.json` is in place."""

    kind: Literal["episode_ended"] = "episode_ended"
    verdict: Verdict
    exit_status: str
    n_steps: int
    seconds: float
    usd: float
    is_cost_known: bool
    tokens: TokenCount | None
    score: float | None
    """Weighted score of the declared checks; None where there is none."""


class EpisodeLost(OfEpisode):
    """The machine or the provider failed, or the run was stopped: no result."""

    kind: Literal["lost"] = "lost"
    ended_as: str
    """The reason in a word."""
    error: str
    folder: str | None = None
    """Where its record was moved to, relative to the run; None where there is none."""


class Retried(OfEpisode):
    """An episode that was lost is to be played again by the same launch."""

    kind: Literal["retried"] = "retried"
    loss: str
    error: str


class Paused(EventRecord):
    """Episodes are held back because the provider or the machine fails."""

    kind: Literal["paused"] = "paused"
    model: str
    """Whose episodes; '' for those of every model."""
    loss: str
    error: str


class Resumed(EventRecord):
    """They go on."""

    kind: Literal["resumed"] = "resumed"
    model: str


class RunEnded(EventRecord):
    """The launcher ends in order. Where it was killed, there is none."""

    kind: Literal["run_ended"] = "run_ended"
    why: str
    """'' for the end of the work; else why it stopped before."""
    n_passed: int
    n_failed: int
    n_lost: int
    n_not_begun: int


Event = Annotated[
    RunStarted | EpisodeStarted | StepEvent | EpisodeEnded | EpisodeLost | Retried | Paused | Resumed | RunEnded,
    Field(discriminator="kind"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class EventLog:
    """Appends events. Used by several threads. A disk that fails loses events, never the run."""

    def __init__(self, path: Path) -> None:
        """A torn line that a killed launcher left gets its end, so that it spoils no line but itself."""
        self._lock = Lock()
        self._is_torn = False
        self.n_lost = 0
        """Events that could not be written."""
        self.error = ""
        """Why, for the last of them."""
        self._descriptor = -1
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            size = os.fstat(self._descriptor).st_size
            self._is_torn = size > 0 and os.pread(self._descriptor, 1, size - 1) != b"\n"
        except OSError as error:
            self.error = str(error)

    def append(self, event: Event) -> None:
        """Write one event in one write. Never raises for the disk's sake."""
        with self._lock:
            if self._descriptor < 0:
                self.n_lost += 1
                return
            try:
                line = line_of(event)
                whole = b"\n" + line if self._is_torn else line
                n_written = os.write(self._descriptor, whole)
                self._is_torn = n_written != len(whole)
                if self._is_torn:
                    raise OSError("the disk took only part of the line")
            except (OSError, ValueError) as error:
                self.n_lost += 1
                self.error = str(error)

    def close(self) -> None:
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
            self._descriptor = -1


def line_of(event: Event) -> bytes:
    """The event as its line; `kind` comes first, so that a line can be told without being parsed."""
    at = event.at or datetime.now(UTC).isoformat(timespec="milliseconds")
    fields = {"kind": event.kind} | event.model_dump(mode="json") | {"at": at}
    # a lone surrogate (an error's text may hold one) cannot be written as UTF-8
    return (
        json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
        + b"\n"
    )


def episode_fragment(task_id: str, model: str, attempt: int) -> bytes:
    """What the line of every event of this episode holds, and of no other."""
    fields = {"task_id": task_id, "model": model, "attempt": attempt}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))[1:-1].encode("utf-8", "replace")


def parse_event(line: bytes) -> Event | None:
    """The event of a line; None for one that is torn, no event, or of a later version."""
    try:
        event: Event = EVENT.validate_json(line)
    except ValidationError:
        return None
    return event if event.schema_version <= SCHEMA_VERSION else None


def read_events(path: Path) -> Iterator[Event]:
    """Every event that can be read, in order; none where there is no file. Lines that cannot be read are left out."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            if (event := parse_event(line)) is not None:
                yield event
