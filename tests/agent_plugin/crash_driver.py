"""Plays runs in a process of its own, for tests that take its disk or its life away. Started by test_crash_safety.py.

`disk FOLDER MODEL WHAT`: in a mount namespace, with a small disk below FOLDER; at the third step WHAT happens.
`kill FOLDER MODEL N`: N runs, each in a child that is killed at a random moment, then taken up again.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from agent_plugin.config import load_config
from agent_plugin.episode import EpisodeKey
from agent_plugin.launch_plan import RunPlan
from agent_plugin.launcher import EpisodeOutcome, Watcher, run_all
from agent_plugin.run_folder import lock_run, open_run
from agent_plugin.spending import Stop
from agent_plugin.task_list import load_tasks
from recorder.errors import CorruptEpisode
from recorder.integrity import check_episode
from recorder.paths import RunPaths
from recorder.trajectory import read_trajectory

OPTIONS = ("harness.sandbox=off", "launch.retry.all=0", "launch.min_free_disk_mb=0")


class StepWatcher(Watcher):
    """Calls `on_step` with the number of each step, before its model call."""

    def __init__(self, on_step: Callable[[int], None]) -> None:
        self.on_step = on_step

    def step(self, key: EpisodeKey, number: int, what: str) -> None:
        if what == "model":
            self.on_step(number)


def launch(tasks: Path, model: str, root: Path, on_step: Callable[[int], None]) -> list[EpisodeOutcome]:
    plan = RunPlan(tuple(load_tasks(tasks)), (model,), 1, load_config(OPTIONS))
    paths = open_run(plan, root)
    with lock_run(paths):
        return run_all(plan, paths, n_workers=1, watcher=StepWatcher(on_step), stop=Stop())


def fill(disk: Path) -> None:
    """Not a byte is left."""
    try:
        with (disk / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError:
        pass


def on_a_bad_disk(tasks: Path, model: str, what: str) -> None:
    """Print what a launch on a disk that fails came to, and what is left; then the same on the disk restored."""
    disk = tasks.parent / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=True)
    root = disk / "run"
    episode = RunPaths(root).episode("t1", model, 1).root

    def on_step(number: int) -> None:
        if number != 3:
            return
        if what == "full":
            fill(disk)
        elif what == "read-only":
            subprocess.run(["mount", "--bind", episode, episode], check=True)
            subprocess.run(["mount", "-o", "remount,bind,ro", episode], check=True)
        else:
            shutil.rmtree(episode)

    (outcome,) = launch(tasks, model, root, on_step)
    left = [folder for folder in sorted(episode.parent.glob("*")) if (folder / "trajectory.jsonl").exists()]
    facts = {
        "error": outcome.error,
        "has_result": outcome.summary is not None,
        "kinds": [[line.kind for line in read_trajectory(folder / "trajectory.jsonl")] for folder in left],
        "findings": [str(finding) for folder in left for finding in check_episode(folder)],
        "litter": [str(path) for path in root.rglob("*.tmp")],
    }
    (disk / "filler").unlink(missing_ok=True)
    if what == "read-only":
        subprocess.run(["umount", episode], check=True)
    (outcome,) = launch(tasks, model, root, lambda _number: None)
    print("RESULT", json.dumps(facts | {"completed": outcome.summary.n_steps if outcome.summary else outcome.error}))


def killed_at_random(tasks: Path, model: str, n_runs: int) -> None:
    """Print, for each run, the lines that were left, what cannot be read of them, and what taking it up again gave."""
    seconds = measure(tasks, model)
    chance = random.Random(2026)
    results = [
        kill_one(tasks, model, tasks.parent / f"run-{n}", chance.uniform(0.02, 0.8 * seconds)) for n in range(n_runs)
    ]
    print("RESULT", json.dumps(results))


def measure(tasks: Path, model: str) -> float:
    """Seconds of a whole run, everything imported."""
    launch(tasks, model, tasks.parent / "first", lambda _number: None)
    started = time.monotonic()
    launch(tasks, model, tasks.parent / "second", lambda _number: None)
    return time.monotonic() - started


def kill_one(tasks: Path, model: str, root: Path, seconds: float) -> dict[str, object]:
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        launch(tasks, model, root, lambda _number: None)
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    episode = RunPaths(root).episode("t1", model, 1)
    n_lines, unreadable = 0, ""
    try:
        for _ in read_trajectory(episode.trajectory):
            n_lines += 1
    except FileNotFoundError:
        pass
    except CorruptEpisode as error:
        unreadable = error.why
    findings = [str(f) for f in check_episode(episode.root) if f.code != "torn"] if n_lines else []
    (outcome,) = launch(tasks, model, root, lambda _number: None)
    completed = outcome.summary.n_steps if outcome.summary else outcome.error
    sound = not check_episode(episode.root)
    return {"n_lines": n_lines, "unreadable": unreadable, "findings": findings, "completed": completed, "sound": sound}


if __name__ == "__main__":
    kind, folder, name, argument = sys.argv[1:]
    if kind == "disk":
        on_a_bad_disk(Path(folder) / "tasks.yaml", name, argument)
    else:
        killed_at_random(Path(folder) / "tasks.yaml", name, int(argument))
