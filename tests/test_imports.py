"""Who may import whom. The first file to read: it is the house in one table."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = {"agent_plugin", "recorder", "harness"}

MAY_IMPORT = {
    "agent_plugin": {"agent_plugin", "recorder", "harness"},
    "recorder": {"recorder", "harness"},
    "harness": {"harness"},
}
"""Package -> which of our packages it may import."""

ONLY_THERE = {
    "bpy": "harness/in_blender",
    "bpy_extras": "harness/in_blender",
    "mathutils": "harness/in_blender",
    "bmesh": "harness/in_blender",
    "gpu": "harness/in_blender",
    "av": "harness/in_sandbox",
    "minisweagent": "agent_plugin",
    "litellm": "agent_plugin",
    "typer": "agent_plugin",
}
"""Foreign package -> the only folder that may import it."""

MODULES = sorted(path for package in OURS for path in (ROOT / package).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Every module name that `path` imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name their package in full"
            names.add(node.module or "")
    return names


def test_table_covers_the_house() -> None:
    """Every folder of Python at the top is in the table, or is not shipped."""
    folders = {path.parent.name for path in ROOT.glob("*/*.py") if not path.parent.name.startswith(".")}
    assert folders - {"tests", "scripts"} == OURS


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    """A module imports only packages below its own, and foreign ones only where they belong."""
    package = path.relative_to(ROOT).parts[0]
    for name in imported(path):
        top = name.split(".")[0]
        if top in OURS:
            assert top in MAY_IMPORT[package], f"{path} imports {name}"
        if top in ONLY_THERE:
            assert path.is_relative_to(ROOT / ONLY_THERE[top]), f"{path} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_border_to_blender_is_a_process(path: Path) -> None:
    """Code in Blender and code outside import nothing of each other: they exchange JSON."""
    inside = ROOT / "harness/in_blender"
    for name in imported(path):
        is_inside = name.startswith("harness.in_blender")
        if path.is_relative_to(inside):
            assert is_inside or name.split(".")[0] not in OURS, f"{path} imports {name}"
        else:
            assert not is_inside, f"{path} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_border_to_the_decoder_is_a_process(path: Path) -> None:
    """Code that reads untrusted videos imports only itself and their records, and nothing imports it."""
    inside = ROOT / "harness/in_sandbox"
    for name in imported(path):
        is_inside = name.startswith("harness.in_sandbox")
        if path.is_relative_to(inside):
            assert is_inside or name == "harness.video" or name.split(".")[0] not in OURS, f"{path} imports {name}"
        else:
            assert not is_inside, f"{path} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_say_what_they_own(path: Path) -> None:
    """Each module opens with a docstring, unless it is empty."""
    text = path.read_text(encoding="utf-8")
    assert not text.strip() or ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
