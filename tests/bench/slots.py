"""Two Blenders at work instead of one: real scene episodes through the launcher, in pairs of equal work.

Each model call is answered at once by a scripted model, so that Blender is all there is to wait for. What two slots
can give depends on the cores and on Mesa: on two cores 1.3 with Mesa 22, 1.45 with Mesa 25 (each Blender draws in one
thread then, `LP_NUM_THREADS=0`).
"""

import statistics
import tempfile
import time
from pathlib import Path

import yaml

N_EPISODES, N_PAIRS = 4, 3
_TARGET = 1.3
_SUBMIT = "print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')"
_STEPS = [
    "import bpy\nbpy.ops.mesh.primitive_monkey_add(location=(2, 0, 0))\n"
    "bpy.context.object.modifiers.new('smooth', 'SUBSURF').levels = 2",
    "for n in range(24):\n    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3, location=(n % 6 - 3, n // 6 - 2, 1))",
    "bpy.context.object.keyframe_insert('location', frame=1)\nbpy.context.object.location.z += 2\n"
    "bpy.context.object.keyframe_insert('location', frame=40)",
]


def main() -> None:
    """Print the ratio of throughputs."""
    with tempfile.TemporaryDirectory(prefix="blendscribe-bench-") as name:
        folder = Path(name)
        turns = [{"calls": [{"tool": "run_blender", "arguments": {"code": code}}]} for code in [*_STEPS, _SUBMIT]]
        script = {"model": "x", "conversations": [{"when": "", "turns": turns}]}
        (folder / "turns.yaml").write_text(yaml.safe_dump(script))
        _seconds(folder, 1, 0)  # litellm is imported, the isolation measured
        pairs = []
        for number in range(1, N_PAIRS + 1):
            order = (1, 2) if number % 2 else (2, 1)
            pairs.append({n_slots: _seconds(folder, n_slots, number) for n_slots in order})
    ratios = sorted(pair[1] / pair[2] for pair in pairs)
    median = statistics.median(ratios)
    one, two = (statistics.median(pair[n_slots] for pair in pairs) for n_slots in (1, 2))
    print(
        f"two Blender slots, {N_EPISODES} scene episodes of {len(_STEPS)} steps: {median:.2f} times the throughput of "
        f"one (pairs {ratios[0]:.2f} to {ratios[-1]:.2f}, n={N_PAIRS}), target >= {_TARGET}, "
        f"{'holds' if median >= _TARGET else 'MISSED'}; medians "
        f"{one:.1f} s and {two:.1f} s",
        flush=True,
    )


def _seconds(folder: Path, n_slots: int, number: int) -> float:
    """By the clock, for all episodes with so many slots."""
    from agent_plugin.config import load_config
    from agent_plugin.launch_plan import RunPlan
    from agent_plugin.launcher import Watcher, run_all
    from agent_plugin.run_folder import open_run
    from agent_plugin.spending import Stop
    from agent_plugin.tasks import Task

    tasks = tuple(Task(id=f"t{n}", kind="scene", brief=f"task {n}") for n in range(N_EPISODES if number else 1))
    config = load_config([f"launch.blender_slots={n_slots}", "launch.retry.all=0"])
    plan = RunPlan(tasks, (f"scripted/{folder}/turns.yaml",), 1, config)
    paths = open_run(plan, folder / f"run-{number}-{n_slots}")
    began = time.monotonic()
    outcomes = run_all(plan, paths, n_workers=N_EPISODES, watcher=Watcher(), stop=Stop())
    seconds = time.monotonic() - began
    bad = [outcome.error or outcome.summary for outcome in outcomes if not outcome.summary or outcome.error]
    assert not bad, bad
    assert all(outcome.summary and outcome.summary.verdict == "pass" for outcome in outcomes), outcomes[0].summary
    return seconds


if __name__ == "__main__":
    main()
