"""Which episodes a user means, and verifying several of them at once. Ctrl-C ends every Blender and writes no more."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from agent_plugin.faults import BadInput, Fault
from agent_plugin.verify_episode import Verified, Wish, verify_episode
from harness.sandbox.watchdog import process_tree
from recorder.export.sources import NoSource, find_sources
from recorder.plain_files import is_plain

_TICK_SECONDS = 0.1


class Stopped(Exception):
    """The user wants no more."""


@dataclass(frozen=True)
class Chosen:
    """What is to be verified."""

    episodes: tuple[Path, ...]
    """Finished ones."""
    samples: tuple[Path, ...]
    """Finished ones of data sets: nothing is written there."""
    datasets: tuple[Path, ...]


def choose(paths: Sequence[Path]) -> Chosen:
    """The finished episodes of these episodes, runs and data sets. Raises BadInput with every fault."""
    faults: list[Fault] = []
    episodes: list[Path] = []
    samples: list[Path] = []
    datasets: list[Path] = []
    for path in paths:
        if is_plain(path, "manifest.json"):
            datasets.append(path)
            samples += [folder for folder in _folders(path / "samples") if is_plain(folder, "episode.json")]
            continue
        try:
            found = [source.root for source in find_sources([path])]
        except NoSource:
            faults.append(Fault(str(path), "", "neither an episode nor a run nor a data set"))
            continue
        finished = [root for root in found if is_plain(root, "episode.json")]
        if not finished:
            what = "holds no finished episode" if is_plain(path, "run.json") else "has no episode.json: never finished"
            faults.append(Fault(str(path), "", f"{what}. `verify --integrity` looks at unfinished records"))
        episodes += finished
    if faults:
        raise BadInput(faults)
    return Chosen(tuple(dict.fromkeys(episodes)), tuple(dict.fromkeys(samples)), tuple(dict.fromkeys(datasets)))


def verify_all(chosen: Chosen, wish: Wish, n_workers: int, tell: Callable[[Verified], None]) -> list[Verified]:
    """Verify every episode and tell of each as it ends. Raises BadInput, KeyboardInterrupt."""
    stop = threading.Event()

    def go_on() -> None:
        if stop.is_set():
            raise Stopped

    work = [
        *((root, wish) for root in chosen.episodes),
        *((root, replace(wish, keeps=False)) for root in chosen.samples),
    ]
    done: list[Verified] = []
    with ThreadPoolExecutor(max_workers=n_workers, thread_name_prefix="verify") as pool:
        running = {pool.submit(verify_episode, root, one, go_on) for root, one in work}
        try:
            for future in _ended(running):
                done.append(future.result())
                tell(done[-1])
        except BaseException:
            stop.set()
            _end(running)
            raise
    return done


def _ended(running: "set[Future[Verified]]") -> "Iterator[Future[Verified]]":
    """Each as it ends; the main thread wakes often enough to take Ctrl-C."""
    while running:
        ended, running = wait(running, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
        yield from ended


def _end(running: "set[Future[Verified]]") -> None:
    """No worker begins anything more, and what runs for one is killed until none is left."""
    for future in running:
        future.cancel()
    while not all(future.done() for future in running):
        for pid in process_tree(os.getpid())[1:]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        wait(running, timeout=_TICK_SECONDS)


def _folders(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return [Path(e.path) for e in sorted(entries, key=lambda e: e.name) if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
