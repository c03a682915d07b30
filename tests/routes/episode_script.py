"""One conversation for every route: both tools in one turn, frames, two bad calls, a call that is cut off, a scene."""

import json
from typing import Any

from agent_plugin.scripted_file import ScriptedFile

IN_CALLS, IN_WORDS = "Build the scene with tools.", "Build the scene with fenced blocks."
"""Briefs: for models with tool calls, and for those without."""

N_REPLIES_WITH_REASONING = 6

_CUBE = (
    "import bpy\nbpy.ops.mesh.primitive_cube_add(size=2)\ncube = bpy.context.object\ncube.name = 'Cube of the route'"
)
_BALL = "bpy.ops.mesh.primitive_uv_sphere_add(location=(0, 0, 2))"
_LIFT = "cube.location.z = 1"
_HAND_IN = "print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')"


def _bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "arguments": {"command": command}}


def _step(code: str) -> dict[str, Any]:
    return {"tool": "run_blender", "arguments": {"code": code}}


def _cut(code: str) -> dict[str, Any]:
    """A call whose arguments end in the middle."""
    return {"tool": "run_blender", "raw_arguments": json.dumps({"code": code})[:-8]}


TURNS: list[dict[str, Any]] = [
    {"text": "A cube, and a note.", "calls": [_bash("echo a note > note.txt && cat note.txt"), _step(_CUBE)]},
    {
        "text": "A ball, and a call that is not JSON.",
        "expect": ["a note", "STEP OK: step 1"],
        "calls": [_cut("import bpy"), _step(_BALL)],
    },
    {
        "text": "A tool that is not there, and one without its argument.",
        "expect": ["<error>", "STEP OK: step 2"],
        "calls": [{"tool": "paint", "arguments": {"colour": "red"}}, {"tool": "run_blender", "arguments": {}}],
    },
    {"text": "Too long.", "expect": ["<error>"], "finish_reason": "length", "calls": [_cut("cube.location.z = 9")]},
    {"text": "Lift the cube.", "expect": ["output token limit"], "calls": [_step(_LIFT)]},
    {"text": "Done.", "expect": ["STEP OK: step 3"], "calls": [_step(_HAND_IN)]},
]


def script() -> ScriptedFile:
    """The same turns in both forms. Every reply has reasoning."""
    forms = {IN_CALLS: TURNS, IN_WORDS: [_in_words(turn) for turn in TURNS]}
    conversations = [
        {"when": brief, "turns": [{"reasoning": f"Reasoning before: {t['text']}", **t} for t in turns]}
        for brief, turns in forms.items()
    ]
    return ScriptedFile.model_validate({"model": "scripted/routes", "conversations": conversations})


def _in_words(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn whose calls are fenced blocks. A block that is cut off is not closed; a wrong tool is only text."""
    blocks = []
    for call in turn["calls"]:
        if "raw_arguments" in call:
            body = call["raw_arguments"].partition(": ")[2].strip('"')
            closing = "" if turn.get("finish_reason") == "length" else "\n```"
            name = "run_blender" if turn.get("finish_reason") == "length" else "run_blinder"
            blocks.append(f"```{name}\n{body}{closing}")
        else:
            body = next(iter(call["arguments"].values()), "")
            name = call["tool"] if body else "run_nothing"
            blocks.append(f"```{name}\n{body}\n```")
    said = "\n".join([turn["text"], *blocks])
    return {key: value for key, value in turn.items() if key not in ("calls", "text", "expect")} | {"text": said}
