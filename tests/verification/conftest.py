"""Recorded episodes to verify, each played once; a test that changes one takes a copy."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agent_plugin.conftest import SUBMIT, ScriptModel, bash, blender, script_model
from tests.agent_plugin.episodes import play
from tests.conftest import FILM, RENDER

__all__ = ["script_model"]

HAND_IN = "print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')"
CUBES = """import bpy
for number in range(9):
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(number, 0, 0.25))
    bpy.context.object.name = f'Brick {number}'
"""
TOP = """bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, location=(4, 0, 1))
bpy.context.object.name = 'Ball'
"""
CHECKS: list[dict[str, Any]] = [
    {"id": "ball", "type": "object_exists", "parameters": {"target": "Ball"}, "weight": 2},
    {"id": "bricks", "type": "object_count", "parameters": {"among": {"glob": "Brick*"}, "min": 9, "max": 9}},
    {"id": "sound", "type": "manifold", "parameters": {"target": {"type": "MESH"}}},
]
"""Which the good scene passes."""

Copy = Callable[[Path], Path]


def step(code: str) -> dict[str, object]:
    """A call of the scene's run_blender."""
    return {"tool": "run_blender", "arguments": {"code": code}}


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory, script_model: ScriptModel) -> Path:
    """Ten objects in two good steps, with checks that they pass."""
    model = script_model(
        {"calls": [step(CUBES)]}, {"calls": [step("1 / 0")]}, {"calls": [step(TOP)]}, {"calls": [step(HAND_IN)]}
    )
    return play(tmp_path_factory.mktemp("scene"), model, kind="scene", start="empty", checks=CHECKS)


@pytest.fixture(scope="session")
def unseeded(tmp_path_factory: pytest.TempPathFactory, script_model: ScriptModel) -> Path:
    """Its third reply leaves a place to chance."""
    moved = "import random\nbpy.context.object.location.x = 1 + random.random()"
    model = script_model(
        {"calls": [step(CUBES)]}, {"calls": [step(TOP)]}, {"calls": [step(moved)]}, {"calls": [step(HAND_IN)]}
    )
    return play(tmp_path_factory.mktemp("unseeded"), model, kind="scene", start="empty")


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory, script_model: ScriptModel) -> Path:
    """Four frames of a cube that crosses the view."""
    source = f"{FILM}{RENDER}"
    model = script_model(
        {"calls": [bash(f"cat > main.py <<'EOF'\n{source}\nEOF")]}, {"calls": [blender()]}, {"calls": [bash(SUBMIT)]}
    )
    return play(tmp_path_factory.mktemp("film"), model)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Makes a copy of an episode to spoil."""

    def make(episode: Path) -> Path:
        return Path(shutil.copytree(episode, tmp_path / "copy" / episode.parents[3].name))

    return make
