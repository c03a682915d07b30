"""The tools that a model sees, and how its calls become actions. Knows no provider: a call is name, arguments, id."""

import json
from collections.abc import Sequence
from typing import Any, Literal

TaskKind = Literal["video", "scene"]
"""What an agent works on: files whose script renders a video, or a live scene that it sends code to."""

BASH_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Execute a bash command in the workspace. Each command runs in a new shell without network.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The bash command to execute"}},
            "required": ["command"],
            "additionalProperties": False,
        },
    },
}

RUN_BLENDER_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "run_blender",
        "description": (
            "Run a Blender Python script of the workspace in a fresh headless Blender 4.5 and judge the video that it "
            "renders. Answers with a report (problems and how to fix them, traceback, log, video facts, scene summary) "
            "and with frames of the video."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "script": {
                    "type": "string",
                    "description": "File name of the script, relative to the workspace, for example main.py",
                }
            },
            "required": ["script"],
            "additionalProperties": False,
        },
    },
}

STEP_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "run_blender",
        "description": (
            "Run Python code as the next step in a live headless Blender 4.5. Scene and Python names persist between "
            "steps. A step that fails leaves no mark. Answers with the outcome, what was printed, the traceback, what "
            "changed in the scene, a scene summary, and views of the scene."
        ),
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "Python source, run at the top level"}},
            "required": ["code"],
            "additionalProperties": False,
        },
    },
}


def tools_for(kind: TaskKind, *, bash: bool | None = None) -> list[dict[str, Any]]:
    """The tools of a kind of task. `bash` adds or removes the shell; by default only video tasks have one."""
    with_bash = kind == "video" if bash is None else bash
    return [*([BASH_TOOL] if with_bash else []), RUN_BLENDER_TOOL if kind == "video" else STEP_TOOL]


def _required(tools: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Tool -> its one required argument."""
    return {tool["function"]["name"]: tool["function"]["parameters"]["required"][0] for tool in tools}


MAX_ARGUMENT_BYTES = 120_000
"""Linux takes at most 128 KiB in one argument of a command."""


def parse_call(
    name: str,
    raw_arguments: str | None,
    tool_call_id: str | None,
    *,
    is_cut_off: bool,
    tools: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """One tool call as an action for the environment.

    A bad call becomes an action with `error`, which the environment answers without running anything. `command`
    is always there: mini-swe-agent's interactive agent shows it.
    """
    name = _printable(name[:80])
    action: dict[str, Any] = {"tool": name, "tool_call_id": tool_call_id, "arguments": {}, "command": ""}
    required = _required(tools)
    arguments, error = _arguments(name, raw_arguments, required, is_cut_off=is_cut_off)
    if error:
        return action | {"command": f"[not run: {error}]", "error": error}
    return action | {"arguments": arguments, "command": arguments[required[name]]}


def _arguments(name: str, raw: str | None, required: dict[str, str], *, is_cut_off: bool) -> tuple[dict[str, Any], str]:
    """(arguments, '') or ({}, what is wrong)."""
    if name not in required:
        return {}, f"Unknown tool '{name}'. The tools are: {', '.join(required)}."
    if is_cut_off:
        return (
            {},
            "The reply reached the output token limit inside this call, so it was not run. Send it again, shorter.",
        )
    try:
        arguments = json.loads(raw or "{}")
    except (ValueError, RecursionError) as error:
        return {}, f"The arguments of {name} are not valid JSON ({error})."
    wanted = required[name]
    if not isinstance(arguments, dict) or wanted not in arguments:
        return {}, f"{name} needs the argument '{wanted}'."
    if unknown := sorted(set(arguments) - {wanted}):
        return {}, f"{name} has no argument '{unknown[0]}'; it takes only '{wanted}'."
    if not isinstance(arguments[wanted], str):
        return {}, f"'{wanted}' of {name} must be a string."
    if "\0" in arguments[wanted] or arguments[wanted] != _printable(arguments[wanted]):
        return {}, f"'{wanted}' of {name} holds a NUL character or half a surrogate pair, which no command can take."
    if len(arguments[wanted].encode()) > MAX_ARGUMENT_BYTES:
        return {}, f"'{wanted}' of {name} is longer than {MAX_ARGUMENT_BYTES} bytes. Write less in one call."
    return arguments, ""


def _printable(text: str) -> str:
    """JSON can spell characters that UTF-8 cannot."""
    return text.encode(errors="replace").decode()
