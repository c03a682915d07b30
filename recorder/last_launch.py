"""What the last launcher of a run is doing, from the end of its `events.jsonl`; and whether it lives. Takes no lock."""

import hashlib
import os
import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from harness.sandbox.owner import Owner, is_alive
from recorder.events import (
    EpisodeStarted,
    Event,
    OfEpisode,
    Paused,
    Resumed,
    RunEnded,
    RunStarted,
    episode_fragment,
    parse_event,
)

Key = tuple[str, str, int]
"""Task id, model, attempt."""
LaunchState = Literal["running", "ended", "killed", "elsewhere"]
"""running: its process lives; ended: in order; killed: gone without a last word; elsewhere: its process belongs to
another machine or container and cannot be seen from here."""

_BLOCK = 1 << 20
_OF_EPISODE = re.compile(rb'"task_id":"(?:[^"\\]|\\.)*","model":"(?:[^"\\]|\\.)*","attempt":\d+')
_OF_RUN = (b'{"kind":"run_started"', b'{"kind":"run_ended"', b'{"kind":"paused"', b'{"kind":"resumed"')


@dataclass
class LastLaunch:
    """The events of the last launcher, as far as somebody asks for them."""

    started: RunStarted
    ended: RunEnded | None = None
    last_at: str = ""
    """Of its newest event."""
    pauses: list[Paused] = field(default_factory=list)
    """Those that last."""
    newest: dict[Key, Event] = field(default_factory=dict)
    """The last event of each episode that was asked for and began in this launch."""
    begun_at: dict[Key, str] = field(default_factory=dict)

    @property
    def state(self) -> LaunchState:
        if self.ended is not None:
            return "ended"
        if self.started.machine != this_machine():
            return "elsewhere"
        return "running" if is_alive(Owner(self.started.pid, self.started.process_started)) else "killed"


def this_machine() -> str:
    """Tells this machine, since it was started, and this pid namespace from others. Names nothing."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:  # no Linux: the name alone
        boot, namespace = "", 0
    return hashlib.sha256(f"{socket.gethostname()} {boot} {namespace}".encode()).hexdigest()[:16]


def read_last_launch(path: Path, wanted: Iterable[Key] = ()) -> LastLaunch | None:
    """The last launch, with the newest event of the episodes in `wanted`. None where there is no readable event of one.

    Reads backwards up to that launch's beginning; most lines are told by their first bytes and never parsed.
    """
    fragments = {episode_fragment(*key): key for key in wanted}
    later: list[Event] = []
    newest: dict[Key, Event] = {}
    begun: dict[Key, str] = {}
    last_at = ""
    try:
        file = path.open("rb")
    except OSError:
        return None
    with file:
        for line in _backwards(file):
            is_of_run = line.startswith(_OF_RUN)
            if last_at and not is_of_run and not _asks(line, fragments):
                continue
            event = parse_event(line)
            if event is None:
                continue
            last_at = last_at or event.at
            if isinstance(event, RunStarted):
                return _launch(event, later, newest, begun, last_at)
            if isinstance(event, OfEpisode):
                newest.setdefault(event.key, event)
                if isinstance(event, EpisodeStarted):
                    begun[event.key] = event.at
                    fragments.pop(episode_fragment(*event.key), None)
            else:
                later.append(event)
    return None


def _asks(line: bytes, fragments: dict[bytes, Key]) -> bool:
    if not fragments:
        return False
    found = _OF_EPISODE.search(line)
    return found is not None and found[0] in fragments


def _launch(
    started: RunStarted, later: list[Event], newest: dict[Key, Event], begun: dict[Key, str], last_at: str
) -> LastLaunch:
    launch = LastLaunch(started, last_at=last_at, newest=newest, begun_at=begun)
    lasting: dict[str, Paused] = {}
    for event in reversed(later):
        if isinstance(event, RunEnded):
            launch.ended = event
        elif isinstance(event, Paused):
            lasting[event.model] = event
        elif isinstance(event, Resumed):
            lasting.pop(event.model, None)
    launch.pauses = list(lasting.values())
    return launch


def _backwards(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, the last one first. What is appended meanwhile is not seen."""
    position = file.seek(0, os.SEEK_END)
    rest = b""
    while position:
        size = min(_BLOCK, position)
        position -= size
        file.seek(position)
        block = file.read(size) + rest
        rest, *lines = block.split(b"\n")
        yield from reversed([line for line in lines if line])
    if rest:
        yield rest
