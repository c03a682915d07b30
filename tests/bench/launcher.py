"""What the launcher itself costs: a thousand episodes over a loopback provider in another process, without Blender.

Each episode is a scene task whose model calls a tool that is not there a few times and hands in without a step: model
calls, records on disk, verdicts and the launcher's loop are real. The CPU time is that of this process and is divided
by steps; litellm's own share is measured beside it, by the same calls without anything around them.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

N_EPISODES, N_STEPS, N_WORKERS = 1_000, 5, 32
_TARGET_MS, _TARGET_MB = 20.0, 1024
TURNS = [{"text": f"step {n}", "calls": [{"tool": "paint", "arguments": {"n": n}}]} for n in range(N_STEPS - 1)] + [
    {"calls": [{"tool": "run_blender", "arguments": {"code": "print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')"}}]}
]


def main() -> None:
    """Print CPU an episode-step, and the largest memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "turns.yaml"
        script.write_text(yaml.safe_dump({"model": "x", "conversations": [{"when": "", "turns": TURNS}]}))
        with Provider(script) as provider:
            bare = _bare_calls(provider)
            cpu, wall, n_done = _launch(folder, provider)
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    each = 1000 * cpu / (n_done * N_STEPS)
    print(
        f"launcher: {n_done} of {N_EPISODES} episodes of {N_STEPS} steps, {N_WORKERS} workers, {wall:.0f} s; "
        f"{each:.1f} ms CPU an episode-step ({bare:.1f} ms of it litellm's bare call), target < {_TARGET_MS:.0f} ms, "
        f"{'holds' if each < _TARGET_MS else 'MISSED'}; {memory_mb} MiB at most, target < {_TARGET_MB}, "
        f"{'holds' if memory_mb < _TARGET_MB else 'MISSED'}",
        flush=True,
    )


class Provider:
    """A loopback provider in a process of its own, on a port of its own choice."""

    def __init__(self, script: Path, port: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.launch.provider", str(script), str(port)], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def __enter__(self) -> "Provider":
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def specs(self) -> list[str]:
        """What a config needs to reach it."""
        return [
            f"model.model_kwargs.api_base=http://127.0.0.1:{self.port}/openai/v1",
            "model.model_kwargs.api_key=loopback",
        ]


MODEL = "openai/gpt-4o-mini"


def _launch(folder: Path, provider: Provider) -> tuple[float, float, int]:
    """(CPU seconds of this process, seconds by the clock, episodes that are done)."""
    from agent_plugin.config import load_config
    from agent_plugin.launch_plan import RunPlan
    from agent_plugin.launcher import Watcher, run_all
    from agent_plugin.run_folder import lock_run, open_run
    from agent_plugin.spending import Stop
    from agent_plugin.tasks import Task

    tasks = tuple(Task(id=f"t{n}", kind="scene", brief=f"task {n}") for n in range(N_EPISODES))
    config = load_config([*provider.specs, "launch.retry.all=0"])
    warm = RunPlan(tasks[:1], (MODEL,), 1, config)
    run_all(warm, open_run(warm, folder / "warm"), n_workers=1, watcher=Watcher(), stop=Stop())
    plan = RunPlan(tasks, (MODEL,), 1, config)
    began, began_cpu = time.monotonic(), time.process_time()
    paths = open_run(plan, folder / "run")
    with lock_run(paths):
        outcomes = run_all(plan, paths, n_workers=N_WORKERS, watcher=Watcher(), stop=Stop())
    cpu, wall = time.process_time() - began_cpu, time.monotonic() - began
    return cpu, wall, sum(outcome.summary is not None for outcome in outcomes)


def _bare_calls(provider: Provider, n: int = 100) -> float:
    """Milliseconds of CPU for one of litellm's calls with the first request of an episode."""
    import os

    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    from agent_plugin.tools import tools_for

    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "u" * 4000}]
    given = {"api_base": f"http://127.0.0.1:{provider.port}/openai/v1", "api_key": "loopback", "max_retries": 0}
    tools = tools_for("scene", bash=None)
    litellm.completion(MODEL, messages=messages, tools=tools, **given)
    began = time.process_time()
    for _ in range(n):
        litellm.completion(MODEL, messages=messages, tools=tools, **given)
    return 1000 * (time.process_time() - began) / n


if __name__ == "__main__":
    main()
