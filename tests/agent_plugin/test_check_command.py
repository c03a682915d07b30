"""`blendscribe check`: exit status, report, and every fault of a checks file with its place."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_plugin.checks_file import load_checks
from agent_plugin.faults import BadInput
from harness.checks.types import CHECK_TYPES
from harness.interpreter import find_environment
from harness.settings import HarnessSettings

ROOT = Path(__file__).resolve().parents[2]
CUBE = {"id": "cube", "type": "object_exists", "parameters": {"target": "Cube"}}
SAVE = "import bpy, os, sys\nbpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])\nos._exit(0)\n"


def blendscribe(*arguments: object) -> subprocess.CompletedProcess[str]:
    code = "from agent_plugin.cli import main\nmain()"
    words = [sys.executable, "-c", code, "check", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=ROOT, env={"COLUMNS": "200"})


def write(folder: Path, checks: Any) -> Path:
    path = folder / "checks.json"
    path.write_text(checks if isinstance(checks, str) else json.dumps(checks))
    return path


@pytest.fixture(scope="module")
def factory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Blender's own scene."""
    path = tmp_path_factory.mktemp("blend") / "factory.blend"
    python = find_environment(HarnessSettings()).python
    # Blender leaves its temporary folder behind when it is ended by os._exit
    environment = {**os.environ, "TMPDIR": str(path.parent)}
    subprocess.run([python, "-c", SAVE, path], check=True, capture_output=True, timeout=60, env=environment)
    return path


@pytest.mark.blender
def test_all_pass_is_0(factory: Path, tmp_path: Path) -> None:
    """The table names each check, its outcome and what was found; the last line the score and the time."""
    ended = blendscribe(factory, write(tmp_path, [CUBE]))
    assert ended.returncode == 0, ended.stderr
    assert "'Cube' is in the scene (MESH)." in ended.stdout
    assert "PASS: 1 pass, 0 fail, 0 unknown; weighted score 1.00" in ended.stdout


@pytest.mark.blender
def test_a_required_fail_is_1(factory: Path, tmp_path: Path) -> None:
    """And JSON holds the whole report: score, expectation, tolerance, evidence."""
    small = {"id": "small", "type": "dimensions", "parameters": {"target": "Cube", "x": {"max": 1}}, "weight": 3}
    ended = blendscribe(factory, write(tmp_path, [CUBE, small]), "--json")
    assert ended.returncode == 1
    report = json.loads(ended.stdout)
    assert report["ok"] is False
    assert report["score"]["weighted"] == 0.25
    assert report["checks"][1]["expected"] == {"x": {"max": 1.0}, "space": "world", "include_instances": False}
    assert report["checks"][1]["evidence"] == [{"object": "Cube", "index": None, "world_co": None}]


@pytest.mark.blender
def test_an_optional_fail_is_0_and_an_unknown_required_one_is_1(factory: Path, tmp_path: Path) -> None:
    """Only required checks decide, and unknown is no pass."""
    beside = {"id": "x", "type": "in_frame", "parameters": {"target": "NoSuch"}, "required": False}
    assert blendscribe(factory, write(tmp_path, [CUBE, beside])).returncode == 0
    open_ = {"id": "x", "type": "volume", "parameters": {"target": "Camera", "min": 1}}
    ended = blendscribe(factory, write(tmp_path, [CUBE, open_]))
    assert ended.returncode == 1
    assert "unknown" in ended.stdout


@pytest.mark.blender
def test_a_damaged_file_is_1_without_a_traceback(factory: Path, tmp_path: Path) -> None:
    """The error is one line, the checks are unknown."""
    cut = tmp_path / "cut.blend"
    cut.write_bytes(factory.read_bytes()[:40_000])
    ended = blendscribe(cut, write(tmp_path, [CUBE]))
    assert ended.returncode == 1
    assert "error: " in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(("name", "words"), [("", "is a folder"), ("no.blend", "there is no such file")])
def test_no_file_is_2(name: str, words: str, tmp_path: Path) -> None:
    """One line, nothing started."""
    ended = blendscribe(tmp_path / name if name else tmp_path, write(tmp_path, [CUBE]))
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert words in ended.stderr


def test_a_pipe_is_2(tmp_path: Path) -> None:
    """A named pipe does not hang it."""
    os.mkfifo(tmp_path / "pipe.blend")
    ended = blendscribe(tmp_path / "pipe.blend", write(tmp_path, [CUBE]))
    assert ended.returncode == 2
    assert "not a plain file" in ended.stderr


def test_types_are_listed() -> None:
    """All of them, with their parameters."""
    ended = blendscribe("--types")
    assert ended.returncode == 0
    assert all(f"{name}: " in ended.stdout for name in CHECK_TYPES)
    schemas = json.loads(blendscribe("--types", "--json").stdout)
    assert set(schemas) == set(CHECK_TYPES)
    assert schemas["volume"]["parameters"]["properties"]["min"]


def test_without_arguments_it_says_what_to_give() -> None:
    """Exit status 2."""
    ended = blendscribe()
    assert ended.returncode == 2
    assert "give a .blend and a checks file" in ended.stderr


def with_parameters(kind: str, **parameters: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "type": kind, "parameters": parameters}]


@pytest.mark.parametrize(
    ("checks", "fault"),
    [
        ("{", "not valid JSON"),
        ('[{"id": "a", "id": "b"}]', "the key 'id' stands in it twice"),
        ("[" * 5000, "not valid JSON"),
        ({}, "must hold a list of checks"),
        ([], "must hold a list of checks"),
        ([7], "[0]: a check must be a mapping, not int"),
        ([{"type": "object_exists", "parameters": {"target": "x"}}], "[0].id: missing"),
        ([{"id": "a"}], "[0] (a).type: missing. The types are: active_camera"),
        ([{"id": "a", "type": "objekt_exists"}], "Did you mean 'object_exists'"),
        ([{"id": "a", "type": ["x"]}], "there is no type"),
        ([CUBE | {"weight": -1}], "[0] (cube).weight: Input should be greater than 0"),
        ([CUBE | {"weight": "2"}], "[0] (cube).weight: Input should be a valid number"),
        ([CUBE | {"wait": 1}], "[0] (cube).wait: unknown key. Known here: id, type, parameters, weight, required"),
        ([CUBE | {"parameters": []}], "[0] (cube).parameters: must be a mapping, not list"),
        ([CUBE, CUBE], "[1].id: 'cube' is taken already, by [0]"),
        ([CUBE | {"id": "no good"}], "[0] (no good).id: String should match pattern"),
        (with_parameters("object_exists"), "[0] (a).parameters.target: missing"),
        (
            with_parameters("object_exists", target="x", size=3),
            "[0] (a).parameters.size: unknown key. Known here: target",
        ),
        (
            with_parameters("object_exists", target={"nme": "x"}),
            "parameters.target.nme: unknown key. Known here: name, g",
        ),
        (with_parameters("object_exists", target={"regex": "("}), "is not a regular expression"),
        (with_parameters("object_exists", target={"min": 3, "max": 1}), "max (1) is less than min (3)"),
        (with_parameters("object_count"), "give min or max"),
        (with_parameters("object_count", min=5, max=2), "the least (5) is greater than the greatest (2)"),
        (with_parameters("dimensions", target="x"), "give bounds for x, y, z or largest"),
        (with_parameters("modifier_exists", target="x", modifier="BEVVEL"), "Input should be 'ARMATURE', 'ARRAY'"),
        (with_parameters("modifier_param", target="x", modifier="BEVEL", path="__class__()", value=1), "should match"),
        (with_parameters("principled_param", target="x", socket="Specular", min=0), "'Specular IOR Level'"),
        (with_parameters("render_setting", engine="BLENDER_EEVEE"), "'BLENDER_EEVEE_NEXT'"),
        (with_parameters("value_at_frame", target="x", path="location", frame=1.5, value=1), "valid integer"),
        (with_parameters("triangle_budget", target="x", max="many"), "Input should be a valid integer"),
        ('[{"id": "a", "type": "volume", "parameters": {"target": "x", "min": 1e999}}]', "[0] (a).parameters"),
    ],
)
def test_faults_name_check_field_and_what_is_allowed(checks: Any, fault: str, tmp_path: Path) -> None:
    """One line each, before anything is opened."""
    with pytest.raises(BadInput) as caught:
        load_checks(write(tmp_path, checks))
    assert fault in str(caught.value)
    assert len(str(caught.value).splitlines()) == len(caught.value.faults)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """Of all checks."""
    with pytest.raises(BadInput) as caught:
        load_checks(write(tmp_path, [CUBE | {"wait": 1}, {"id": "b", "type": "nope"}, {"id": "b", "type": "volume"}]))
    assert len(caught.value.faults) >= 4


def test_a_missing_checks_file_is_2(factory: Path, tmp_path: Path) -> None:
    """With its name."""
    ended = blendscribe(factory, tmp_path / "none.json")
    assert ended.returncode == 2
    assert "none.json: cannot be read (No such file or directory)" in ended.stderr


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    """Weight 1, required, no parameters but those that are asked for."""
    check = load_checks(write(tmp_path, [{"id": "a", "type": "manifold"}]))[0]
    assert (check.weight, check.required, check.check.name) == (1.0, True, "manifold")
