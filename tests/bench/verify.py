"""What verifying costs: Blender starts and seconds of a scene of ten objects, and one check on the opened file."""

import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

import yaml

from agent_plugin.checks_file import load_checks
from agent_plugin.verify_episode import Verified, Wish, verify_episode
from harness.renders import RenderRequest
from tests.agent_plugin.episodes import play

N = 3
STEPS = (
    "import bpy\n"
    "for number in range(9):\n"
    "    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(number, 0, 0.25))\n"
    "    bpy.context.object.name = f'Brick {number}'\n",
    "bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, location=(4, 0, 1))\nbpy.context.object.name = 'Ball'\n",
    "print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')",
)
CHECKS: list[dict[str, Any]] = [
    {"id": "ball", "type": "object_exists", "parameters": {"target": "Ball"}},
    {"id": "bricks", "type": "object_count", "parameters": {"among": {"glob": "Brick*"}, "min": 9, "max": 9}},
    {"id": "sound", "type": "manifold", "parameters": {"target": {"type": "MESH"}}},
    {"id": "sides", "type": "normals_consistent", "parameters": {"target": {"type": "MESH"}}},
    {"id": "size", "type": "dimensions", "parameters": {"target": "Ball", "z": {"max": 2}}},
    {"id": "whole", "type": "scene_bounds", "parameters": {"max_extent": 1000}},
]
MAX_SECONDS, MAX_STARTS = 20.0, 3


def main() -> None:
    """Print three lines, and then the same with renders. Other load counts in full: it is printed."""
    with tempfile.TemporaryDirectory(prefix="blendscribe-bench-") as place:
        folder = Path(place)
        episode = play(folder, _model(folder), kind="scene", start="empty")
        (folder / "checks.json").write_text(json.dumps(CHECKS))
        checks = tuple(load_checks(folder / "checks.json"))
        verify_episode(episode, Wish(checks))  # so that nothing is new to the machine
        for name, drawing in (("without renders", None), ("with renders", RenderRequest())):
            _print(name, [verify_episode(episode, Wish(checks, drawing)) for _ in range(N)])


def _model(folder: Path) -> str:
    turns = [{"calls": [{"tool": "run_blender", "arguments": {"code": code}}]} for code in STEPS]
    path = folder / "turns.yaml"
    path.write_text(yaml.safe_dump({"model": "scripted/bench", "conversations": [{"when": "", "turns": turns}]}))
    return f"scripted/{path}"


def _print(name: str, runs: list[Verified]) -> None:
    bad = [str(fault) for run in runs for fault in run.faults] + [error for run in runs for error in run.errors]
    load = f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
    print(f"verify {name}, 10 objects, {len(CHECKS)} checks ({load}): {bad or 'all good'}")
    starts, seconds = max(run.n_starts for run in runs), sorted(run.seconds for run in runs)
    print(
        f"  Blender starts: {starts}, target <= {MAX_STARTS}, {_verdict(starts <= MAX_STARTS)}; "
        f"{statistics.median(seconds):.1f} s median ({seconds[0]:.1f} to {seconds[-1]:.1f}, n={len(runs)}), "
        f"target < {MAX_SECONDS:g} s, {_verdict(statistics.median(seconds) < MAX_SECONDS)}"
    )
    opened = statistics.median(1000 * run.open_seconds for run in runs)
    checks = statistics.median(1000 * run.check_seconds / len(CHECKS) for run in runs)
    print(f"  a check on the opened file: {checks:.1f} ms (opening it: {opened:.0f} ms), n={len(runs) * len(CHECKS)}")


def _verdict(holds: bool) -> str:
    return "holds" if holds else "MISSED"


if __name__ == "__main__":
    main()
