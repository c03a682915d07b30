"""A model's calls become actions; a bad call becomes an error that says what to send instead."""

import json
from typing import Any

import pytest

from agent_plugin.tools import MAX_ARGUMENT_BYTES, TaskKind, parse_call, tools_for

TOOLS = tools_for("video")


def error_of(name: str, raw: str | None, *, is_cut_off: bool = False) -> str:
    action = parse_call(name, raw, "call_1", is_cut_off=is_cut_off, tools=TOOLS)
    assert action["arguments"] == {}
    assert action["command"] == f"[not run: {action['error']}]"
    return str(action["error"])


@pytest.mark.parametrize(
    ("kind", "tool", "argument"),
    [("video", "bash", "command"), ("video", "run_blender", "script"), ("scene", "run_blender", "code")],
)
def test_a_good_call(kind: TaskKind, tool: str, argument: str) -> None:
    """Name, argument and id arrive; `command` is there for mini-swe-agent's own agents."""
    assert parse_call(tool, json.dumps({argument: "x €"}), "call_7", is_cut_off=False, tools=tools_for(kind)) == {
        "tool": tool,
        "tool_call_id": "call_7",
        "arguments": {argument: "x €"},
        "command": "x €",
    }


@pytest.mark.parametrize("tool", [*TOOLS, *tools_for("scene")], ids=lambda tool: tool["function"]["name"])
def test_schemas_ask_for_what_the_parser_takes(tool: dict[str, Any]) -> None:
    """Each schema has the parser's one argument, required, and allows no other."""
    function = tool["function"]
    parameters = function["parameters"]
    (argument,) = parameters["required"]
    assert set(parameters["properties"]) == {argument}
    assert parameters["additionalProperties"] is False


@pytest.mark.parametrize(
    ("name", "raw", "error"),
    [
        ("blender", "{}", "Unknown tool 'blender'. The tools are: bash, run_blender."),
        ("", "{}", "Unknown tool ''. The tools are: bash, run_blender."),
        ("bash", '{"command": "ls', "The arguments of bash are not valid JSON (Unterminated string"),
        ("bash", "[" * 100_000, "The arguments of bash are not valid JSON (maximum recursion"),
        ("bash", "", "bash needs the argument 'command'."),
        ("bash", None, "bash needs the argument 'command'."),
        ("bash", "null", "bash needs the argument 'command'."),
        ("bash", '["command"]', "bash needs the argument 'command'."),
        ("run_blender", '{"command": "x"}', "run_blender needs the argument 'script'."),
        ("bash", '{"command": "x", "cwd": "/", "a": 1}', "bash has no argument 'a'; it takes only 'command'."),
        ("bash", '{"command": ["ls"]}', "'command' of bash must be a string."),
        ("bash", '{"command": NaN}', "'command' of bash must be a string."),
        ("bash", r'{"command": "a\u0000b"}', "'command' of bash holds a NUL character"),
        (
            "run_blender",
            r'{"script": "\ud800.py"}',
            "'script' of run_blender holds a NUL character or half a surrogate",
        ),
    ],
)
def test_a_bad_call(name: str, raw: str | None, error: str) -> None:
    """What is wrong with it, and what would be right."""
    assert error_of(name, raw).startswith(error)


def test_a_call_that_was_cut_off_is_not_run() -> None:
    """Even where its arguments look whole: a provider may have closed them."""
    assert "output token limit" in error_of("bash", '{"command": "rm x"}', is_cut_off=True)


def test_an_argument_may_be_as_long_as_a_command_line_can_be() -> None:
    """One byte more is refused with the limit; bytes count, not characters."""
    assert "error" not in parse_call(
        "bash", json.dumps({"command": "x" * MAX_ARGUMENT_BYTES}), "c", is_cut_off=False, tools=TOOLS
    )
    assert f"{MAX_ARGUMENT_BYTES} bytes" in error_of(
        "bash", json.dumps({"command": "é" * (MAX_ARGUMENT_BYTES // 2) + "x"})
    )


def test_names_of_unknown_tools_are_shown_short_and_clean() -> None:
    """A model can send any text as a name."""
    error = error_of("x\ud800" * 5000, "{}")
    assert len(error) < 200
    assert error.encode()


@pytest.mark.parametrize(
    ("kind", "bash", "names"),
    [
        ("video", None, ["bash", "run_blender"]),
        ("scene", None, ["run_blender"]),
        ("scene", True, ["bash", "run_blender"]),
        ("video", False, ["run_blender"]),
    ],
)
def test_scene_tasks_have_one_tool_unless_the_config_adds_the_shell(
    kind: TaskKind, bash: bool, names: list[str]
) -> None:
    """A row of training data holds one tool with one required argument."""
    assert [tool["function"]["name"] for tool in tools_for(kind, bash=bash)] == names
