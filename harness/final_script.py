"""One script out of the steps of a session, after the lines that bring a fresh Blender to where the first one began."""

import ast
from collections.abc import Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

BYTE_ORDER_MARK = "\ufeff"


class StepStart(BaseModel):
    """What the first step finds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["factory", "empty", "file"] = "factory"
    """Blender's default scene, an empty scene, or a .blend file of the workspace."""
    file: str = ""
    """Its name in the workspace, for `file`."""

    @model_validator(mode="after")
    def _file_goes_with_its_kind(self) -> Self:
        if (self.kind == "file") != bool(self.file):
            raise ValueError("kind 'file' needs a file, the others take none")
        return self

    def script(self) -> str:
        """The lines that bring a fresh Blender to this start."""
        if self.kind == "empty":
            return "import bpy\nbpy.ops.wm.read_factory_settings(use_empty=True)\n"
        if self.kind == "file":
            return f"import bpy\nbpy.ops.wm.open_mainfile(filepath={self.file!r}, use_scripts=False)\n"
        return ""


def final_script(start: StepStart, steps: Sequence[tuple[int, str]]) -> str:
    """One script out of good steps (number, code). Runs in a workspace that holds the start file."""
    codes = [(number, code.removeprefix(BYTE_ORDER_MARK)) for number, code in steps]
    # two lines of comment, after which a step's own coding line means nothing
    parts = ["# The steps that took effect, in order.\n# Run it with the Blender interpreter.\n"]
    opening = start.script()
    if opening and codes:
        number, code = codes.pop(0)
        preface, rest = _split_preface(code)
        parts += [_part(f"step {number}", preface)] if preface else []
        parts += [_part("start", opening), _part(f"step {number}", rest)]
    elif opening:
        parts.append(_part("start", opening))
    parts += [_part(f"step {number}", code) for number, code in codes]
    return "\n".join(parts)


def _part(title: str, code: str) -> str:
    return f"# {title}\n{code}" if code.endswith("\n") else f"# {title}\n{code}\n"


def _split_preface(code: str) -> tuple[str, str]:
    """A script's docstring and `from __future__` lines, which must stay at its top, and the rest."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    last = None
    for i, node in enumerate(ast.parse(code).body):
        is_docstring = i == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (is_docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")):
            break
        last = node
    if last is None or last.end_lineno is None or last.end_col_offset is None:
        return "", code
    lines = code.split("\n")
    line = lines[last.end_lineno - 1].encode()
    preface = [*lines[: last.end_lineno - 1], line[: last.end_col_offset].decode()]
    rest = [line[last.end_col_offset :].decode().lstrip(" \t\f;"), *lines[last.end_lineno :]]
    return "\n".join(preface), "\n".join(rest)
