"""`python -m tests.launch.fault_driver FOLDER`: fifty episodes, to which everything happens. Prints what is left.

Started by test_faults_at_scale.py in a mount namespace, with a small disk for the run. Four launches of one command:
the launcher is killed; two Blenders and then the provider are killed; the disk is full for a while; and a last one.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import yaml

from recorder.integrity import check_episode
from recorder.paths import RunPaths
from recorder.records import Step
from recorder.trajectory import read_summary, read_trajectory
from tests.bench.launcher import Provider

N_EPISODES = 50
REAL = (14, 17, 36, 44)
"""Episodes with a step in a real Blender; the others hand in nothing, which is a result."""
DISK_MB, FREE_MB = 192, 64
MODEL = "openai/gpt-4o-mini"
SUBMIT = {"calls": [{"tool": "run_blender", "arguments": {"code": "print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')"}}]}
STEP = "import bpy, time\ntime.sleep(1.5)\nbpy.ops.mesh.primitive_cube_add(location=(3, 0, 0))\n"
SCRIPT = {
    "model": "x",
    "conversations": [
        {"when": "real", "turns": [{"calls": [{"tool": "run_blender", "arguments": {"code": STEP}}]}, SUBMIT]},
        {
            "when": "plain",
            "turns": [*({"calls": [{"tool": "paint", "arguments": {"n": n}}]} for n in range(3)), SUBMIT],
        },
    ],
}
OPTIONS = [
    "model.retry_seconds=1",
    "harness.visual_feedback=false",
    "launch.retry.provider_down=1",
    "launch.retry_wait_seconds=0.2",
    "launch.breaker_losses=3",
    "launch.probe_seconds=0.5",
    "launch.max_pause_seconds=4",
]


class Launch:
    """`blendscribe run` of the fifty episodes, under way."""

    def __init__(self, folder: Path, provider: Provider, number: int, *specs: str) -> None:
        self.root = folder / "disk/run"
        self.done_before = stamps(self.root)
        self.log = folder / f"launch-{number}.txt"
        given = [part for spec in [*provider.specs, *OPTIONS, *specs] for part in ("-c", spec)]
        arguments = ["run", str(folder / "tasks.yaml"), "-m", MODEL, "-o", str(self.root), "-w", "4", *given]
        arguments += ["--min-free-disk", str(FREE_MB), "--blender-slots", "2", *(["--resume"] if number > 1 else [])]
        code = "from agent_plugin.cli import main; main()"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, *arguments], stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    def wait_until(self, is_so: Callable[[], Any], seconds: float = 120) -> Any:
        """What `is_so` returns, once that is something."""
        deadline = time.monotonic() + seconds
        while not (found := is_so()):
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            assert time.monotonic() < deadline, self.log.read_text()[-3000:]
            time.sleep(0.02)
        return found

    def end(self, seconds: float = 150) -> int:
        return self.process.wait(seconds)

    def says(self, text: str) -> bool:
        return text in self.log.read_text()

    def sessions(self) -> list[psutil.Process]:
        """Blender's processes in the middle of a step: the session, then the child that runs the step."""
        try:
            tree = psutil.Process(self.process.pid).children(recursive=True)
            found = [one for one in tree if any("session.py" in word for word in one.cmdline()) and _is_python(one)]
        except psutil.NoSuchProcess:
            return []
        return found if len(found) >= 2 else []

    def played_again(self) -> list[str]:
        """Episodes that were done before this launch, and have another result now."""
        now = stamps(self.root)
        return sorted(name for name, stamp in self.done_before.items() if now.get(name) != stamp)


def _is_python(process: psutil.Process) -> bool:
    return process.name().startswith("python")


def stamps(root: Path) -> dict[str, tuple[int, int]]:
    """Id of each task whose episode is finished -> which file its result is, and when it was written."""
    return {
        path.parents[2].name: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in root.glob("episodes/*/*/1/episode.json")
    }


def kill_a_blender(launch: Launch, which: int) -> str:
    """Kill the session (0) or the child that runs a step (-1) while the step sleeps. The name of what was killed."""
    victims = launch.wait_until(launch.sessions)
    victim: psutil.Process = victims[which]
    os.kill(victim.pid, signal.SIGKILL)
    launch.wait_until(lambda: not psutil.pid_exists(victim.pid) or victim.status() == psutil.STATUS_ZOMBIE)
    launch.wait_until(lambda: victim not in launch.sessions())
    return "session" if which == 0 else "step"


def fill(disk: Path) -> None:
    """Not a byte is left."""
    try:
        with (disk / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
    except OSError:
        pass


def main(folder: Path) -> None:
    """Everything happens to the run; then print what is left of it."""
    disk, root = folder / "disk", folder / "disk/run"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", disk], check=True)
    tasks = [
        {"id": f"e{n:02}", "kind": "scene", "brief": f"{'real' if n in REAL else 'plain'} {n}"}
        for n in range(N_EPISODES)
    ]
    (folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    (folder / "turns.yaml").write_text(yaml.safe_dump(SCRIPT))
    provider = Provider(folder / "turns.yaml")

    first = Launch(folder, provider, 1)
    first.wait_until(lambda: len(stamps(root)) >= 8)
    os.kill(first.process.pid, signal.SIGKILL)
    first.end()

    second = Launch(folder, provider, 2)
    killed = [kill_a_blender(second, 0), kill_a_blender(second, -1)]
    second.wait_until(lambda: len(stamps(root)) >= 20)
    provider.__exit__()
    status_without_provider = second.end()

    provider = Provider(folder / "turns.yaml", provider.port)
    third = Launch(folder, provider, 3, "launch.max_pause_seconds=100")
    third.wait_until(lambda: len(stamps(root)) >= 32)
    fill(disk)
    third.wait_until(lambda: third.says("Paused: all episodes"))
    (disk / "filler").unlink()
    third.end()

    fourth = Launch(folder, provider, 4)
    fourth.end()
    provider.__exit__()
    launches = [first, second, third, fourth]
    facts = {
        "n_done": [len(launch.done_before) for launch in launches[1:]] + [len(stamps(root))],
        "killed": killed,
        "status_without_provider": status_without_provider,
        "says_who": second.says(f"Paused: episodes of {MODEL}, because its provider does not answer"),
        "played_again": [name for launch in launches for name in launch.played_again()],
        "results": results(root),
        "lost": sorted({loss["loss"] for loss in losses(root)}),
    }
    print("RESULT", json.dumps(facts))


def results(root: Path) -> dict[str, Any]:
    """What each episode came to, and what is wrong with its record."""
    found = {}
    for n in range(N_EPISODES):
        episode = RunPaths(root).episode(f"e{n:02}", MODEL, 1)
        summary = read_summary(episode.summary)
        steps = [line for line in read_trajectory(episode.trajectory) if isinstance(line, Step)]
        outcomes = [e.blender["outcome"] for step in steps for e in step.executions if e.blender]
        told = [e.output for step in steps for e in step.executions if e.blender and e.blender["outcome"] != "ok"]
        others = [path.name for path in episode.root.parent.iterdir() if path.name != "1"]
        found[f"e{n:02}"] = {
            "exit_status": summary.exit_status,
            "verdict": summary.verdict,
            "problems": summary.problems,
            "n_steps": summary.n_steps,
            "outcomes": outcomes,
            "told": told,
            "findings": [str(finding) for finding in check_episode(episode.root)],
            "others_done": [name for name in others if (episode.root.parent / name / "episode.json").exists()],
        }
    return found


def losses(root: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in root.glob("episodes/*/*/*/lost.json")]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
