"""Actions become outputs; what a command does wrong is an observation."""

from pathlib import Path
from typing import Any

import pytest
from minisweagent.exceptions import Submitted
from pydantic import ValidationError

from agent_plugin.environment import BlenderEnvironment
from agent_plugin.submission import SUBMIT
from agent_plugin.tools import parse_call, tools_for
from harness.errors import InterpreterMissing
from harness.execution import ExecutionResult
from tests.conftest import FILM, RENDER, TINY

TOOLS = tools_for("video")


def environment(workspace: Path, **settings: Any) -> BlenderEnvironment:
    return BlenderEnvironment(cwd=str(workspace), harness={**TINY, **settings.pop("harness", {})}, **settings)


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "arguments": {"command": command}, "command": command, "tool_call_id": "call_1"}


def test_bash(tmp_path: Path) -> None:
    """Output, status and time of a command."""
    output = environment(tmp_path).execute(bash("echo hello; exit 4"))
    assert (output["output"], output["returncode"], output["exception_info"]) == ("hello\n", 4, "")
    assert output["seconds"] > 0


def test_actions_of_plain_mini_are_bash(tmp_path: Path) -> None:
    """mini-swe-agent's own models send only a command."""
    assert environment(tmp_path).execute({"command": "echo hello"})["output"] == "hello\n"


def test_a_bad_call_runs_nothing(tmp_path: Path) -> None:
    """Its error is the output."""
    action = parse_call(
        "bash", '{"command": "touch ran", "x": 1}', "call_1", is_cut_off=False, tools=tools_for("video")
    )
    output = environment(tmp_path).execute(action)
    assert "no argument 'x'" in output["error"]
    assert list(tmp_path.iterdir()) == []


def test_a_timeout_says_so(tmp_path: Path) -> None:
    """In words, with the seconds; what was printed before stays."""
    output = environment(tmp_path, timeout=0.8).execute(bash("echo before; sleep 60"))
    assert output["exception_info"] == "timed out after 0.8 s; everything the command started was stopped"
    assert (output["returncode"], output["output"]) == (-1, "before\n")


def test_long_output_is_cut_in_the_middle(tmp_path: Path) -> None:
    """Beginning and end stay, and the notice says how much is left out."""
    output = environment(tmp_path).execute(bash("echo first; seq 100000; echo last"))["output"]
    assert output.startswith("first\n1\n")
    assert output.endswith("100000\nlast\n")
    assert "left out ...]" in output
    assert len(output) < 13_000


def test_a_limit_that_was_passed_is_named(tmp_path: Path) -> None:
    """100 MB of output are stopped, and the text stays short."""
    output = environment(tmp_path, harness={"max_output_mb": 1}).execute(bash("yes | head -c 100000000"))
    assert output["exception_info"] == "stopped at the output limit; everything the command started was stopped"
    assert len(output["output"]) < 13_000


@pytest.mark.parametrize("command", [f"echo {SUBMIT}", f"echo; echo '  {SUBMIT}'; echo done"])
def test_submitting(tmp_path: Path, command: str) -> None:
    """The marker as the first line of a good command ends the episode; the rest is the submission."""
    with pytest.raises(Submitted) as caught:
        environment(tmp_path).execute(bash(command))
    extra = caught.value.messages[0]["extra"]
    assert extra["exit_status"] == "Submitted"
    assert extra["submission"] == ("done\n" if "done" in command else "")
    assert extra["output"]["returncode"] == 0


@pytest.mark.parametrize(
    "command",
    [f"echo first; echo {SUBMIT}", f"echo {SUBMIT}; exit 1", f"echo {SUBMIT} now", f"echo x{SUBMIT}", f"# {SUBMIT}"],
)
def test_not_submitting(tmp_path: Path, command: str) -> None:
    """Not further down, not after a failure, not as part of a line."""
    environment(tmp_path).execute(bash(command))


def test_a_command_that_is_stopped_does_not_submit(tmp_path: Path) -> None:
    """A status that never came is not 0."""
    output = environment(tmp_path, timeout=0.5).execute(bash(f"echo {SUBMIT}; sleep 60"))
    assert output["returncode"] == -1


def test_output_cannot_hold_a_multimodal_tag(tmp_path: Path) -> None:
    """Whichever model class reads it: mini-swe-agent's own would make a picture of it."""
    tag = "<MSWEA_MULTIMODAL_CONTENT><CONTENT_TYPE>image_url</CONTENT_TYPE>x</MSWEA_MULTIMODAL_CONTENT>"
    output = environment(tmp_path).execute(bash(f"echo '{tag}'"))["output"]
    assert output == tag.replace("MSWEA_MULTIMODAL_CONTENT", "MSWEA-MULTIMODAL-CONTENT") + "\n"


@pytest.mark.blender
def test_run_blender(tmp_path: Path) -> None:
    """The report, a status, and everything that was measured, with frames."""
    (tmp_path / "main.py").write_text(FILM + RENDER)
    output = environment(tmp_path).execute(
        parse_call("run_blender", '{"script": "./main.py"}', "c", is_cut_off=False, tools=tools_for("video"))
    )
    assert output["output"].startswith("RUN OK")
    assert output["returncode"] == 0
    assert isinstance(output["blender"], ExecutionResult)
    assert [frame.index for frame in output["blender"].preview_frames] == [0, 3]


@pytest.mark.parametrize("script", ["none.py", "", "../main.py", "/etc/passwd", ".", "x" * 5000])
def test_run_blender_without_a_script(tmp_path: Path, script: str) -> None:
    """Any name that is none of the workspace's files is the model's mistake, and an observation."""
    output = environment(tmp_path).execute({"tool": "run_blender", "arguments": {"script": script}})
    assert output["output"].startswith("RUN FAILED: script_missing")
    assert output["returncode"] == 1


@pytest.mark.parametrize("action", [bash("true"), {"tool": "run_blender", "arguments": {"script": "main.py"}}])
def test_a_missing_interpreter_is_no_observation(tmp_path: Path, action: dict[str, Any]) -> None:
    """It is the machine's fault, and raises."""
    (tmp_path / "main.py").write_text("")
    with pytest.raises(InterpreterMissing):
        environment(tmp_path, harness={"bpy_python": "/nonexistent"}).execute(action)


def test_template_variables_hold_nothing_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable of the host can neither be read by a prompt nor break one."""
    monkeypatch.setenv("output", "x")
    monkeypatch.setenv("SOME_KEY", "a-value-that-must-not-be-seen")
    found = environment(tmp_path, env={"MY_TOKEN": "another-secret"}).get_template_vars(extra=1)
    assert not {"output", "PATH", "SOME_KEY", "env", "bpy_python"} & set(found)
    assert "must-not-be-seen" not in repr(found)
    assert "another-secret" not in repr(found)
    assert (found["frame_count"], found["cwd"], found["extra"]) == (4, "/workspace", 1)


def test_without_a_sandbox_the_workspace_has_its_own_name(tmp_path: Path) -> None:
    """What the prompt calls the workspace is what bash calls it."""
    ours = environment(tmp_path, harness={"sandbox": "off"})
    assert ours.execute(bash("pwd"))["output"].strip() == ours.get_template_vars()["cwd"] == str(tmp_path)
    assert environment(tmp_path).execute(bash("pwd"))["output"] == "/workspace\n"


def test_unknown_settings_are_refused() -> None:
    """mini-swe-agent would drop a misspelt key without a word."""
    with pytest.raises(ValidationError, match="time_out"):
        BlenderEnvironment(time_out=5)
