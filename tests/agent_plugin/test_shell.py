"""What the agent's bash can and cannot do. The sandbox is attacked, and `run_blender` works inside it."""

import os
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from minisweagent.models.utils.openai_multimodal import DEFAULT_MULTIMODAL_REGEX, expand_multimodal_content

from agent_plugin.shell import run_bash
from agent_plugin.tools import MAX_ARGUMENT_BYTES
from harness.blender import level_in_force
from harness.errors import InterpreterMissing
from harness.sandbox import Exit
from harness.settings import HarnessSettings
from tests.conftest import FILM, RENDER, TINY, processes_naming
from tests.machines import no_user_namespaces

__all__ = ["no_user_namespaces"]

SECRET = "a-value-that-must-not-be-seen"
ROOT = Path(__file__).resolve().parents[2]


def run(command: str, workspace: Path, *, seconds: float = 60, **settings: Any) -> Exit:
    harness = HarnessSettings.model_validate({**TINY, **settings})
    return run_bash(command, workspace, harness, timeout_seconds=seconds, variables={})


def output(command: str, workspace: Path, **settings: Any) -> str:
    return run(command, workspace, **settings).output.text()


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    monkeypatch.setenv("HARMLESS_NAME", SECRET)


def test_rights_taken_away_come_back(tmp_path: Path) -> None:
    """A command that shuts its own folder does not shut out the next one, whoever runs the harness."""
    run("echo kept > file; chmod 0 .", tmp_path)
    assert output("cat file && touch new && ls", tmp_path).split() == ["kept", "file", "new"]


def test_this_machine_has_the_sandbox() -> None:
    """The tests below attack a real sandbox."""
    assert level_in_force(HarnessSettings()).is_bubblewrap


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_command_works_in_the_workspace(tmp_path: Path, sandbox: str) -> None:
    """It reads and writes files there, and its output and status come back."""
    (tmp_path / "in.txt").write_text("hello\n")
    ended = run("cat in.txt; echo more > out.txt; echo error >&2; exit 3", tmp_path, sandbox=sandbox)
    assert (ended.returncode, ended.output.text()) == (3, "hello\nerror\n")
    assert (tmp_path / "out.txt").read_text() == "more\n"


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_the_environment_is_not_inherited(tmp_path: Path, sandbox: str) -> None:
    """No variable of the harness reaches the command, secret by its name or not."""
    text = output("env", tmp_path, sandbox=sandbox)
    assert "VCSFT_HARNESS=" in text
    assert SECRET not in text
    assert "PYTEST" not in text


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_long_command_runs(tmp_path: Path, sandbox: str) -> None:
    """What the tool lets through as an argument, Linux takes as one."""
    command = "echo ${#x}"
    long = f"x={'y' * (MAX_ARGUMENT_BYTES - len(command) - 4)}; {command}"
    assert len(long) == MAX_ARGUMENT_BYTES
    assert int(output(long, tmp_path, sandbox=sandbox)) == MAX_ARGUMENT_BYTES - len(command) - 4


def test_variables_of_the_config_are_set(tmp_path: Path) -> None:
    """`environment.env` is what the agent's shell gets, and all that it gets of ours."""
    ended = run_bash('echo "$A"', tmp_path, HarnessSettings(), timeout_seconds=30, variables={"A": "x y"})
    assert ended.output.text() == "x y\n"


def test_no_process_of_the_host_is_seen(tmp_path: Path) -> None:
    """Not by ps, and no environment in /proc holds the secret."""
    text = output(
        "cat /proc/*/environ | tr '\\0' '\\n'; for p in /proc/[0-9]*; do cat $p/cmdline; echo; done", tmp_path
    )
    assert SECRET not in text
    assert "pytest" not in text


def test_there_is_no_network(tmp_path: Path) -> None:
    """Not even to a server on the host's loopback that does listen."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()
        text = output(
            f"(echo > /dev/tcp/127.0.0.1/{port}) && echo REACHED; (echo > /dev/tcp/192.0.2.1/80) && echo REACHED; "
            "ls /sys/class/net; cat /proc/net/route",
            tmp_path,
        )
    assert "REACHED" not in text
    assert "eth" not in text


def test_only_workspace_and_tmp_can_be_written(tmp_path: Path) -> None:
    """Every other place that exists refuses."""
    opt = "/opt /opt/blendscribe /opt/blendscribe/harness /opt/blendscribe/bin /opt/packages /opt/blender"
    places = f"/ /etc /usr /usr/local/bin {opt} /dev /home"
    text = output(
        f"for p in {places} /proc/sys/kernel; do touch $p/x 2>/dev/null && echo WROTE $p; done; "
        "touch x && echo workspace; touch /tmp/x && echo tmp; echo y > ~/y && echo home",
        tmp_path,
    )
    assert text.split() == ["workspace", "tmp", "home"]
    assert (tmp_path / "x").exists()


def test_homes_and_project_cannot_be_read(tmp_path: Path) -> None:
    """The host's home, this checkout with its .git, and other temporary files are not there."""
    beside = tmp_path.parent / f"beside-{os.getpid()}"
    beside.write_text(SECRET)
    workspace = tmp_path / "ws"
    workspace.mkdir()
    places = [Path.home(), ROOT, ROOT / ".git", beside, Path("/etc/shadow"), Path("/var"), Path("/run")]
    text = output("; ".join(f"ls -a {shlex.quote(str(p))} && echo SEEN {p}" for p in places), workspace)
    assert "SEEN" not in text, text


def test_commands_share_nothing_but_the_workspace(tmp_path: Path) -> None:
    """/tmp is fresh for each."""
    output("touch /tmp/left", tmp_path)
    assert output("ls /tmp/left 2>&1 | grep -c cannot", tmp_path) == "1\n"


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_background_processes_do_not_survive(tmp_path: Path, sandbox: str) -> None:
    """Neither a job nor a daemon that called setsid, and the command does not wait for them."""
    name = f"3{os.getpid()}.{'1' if sandbox == 'auto' else '2'}"
    started = time.monotonic()
    run(
        f"sleep {name} & (setsid nohup sleep {name} >/dev/null 2>&1 &) ; sleep 0.2; echo done",
        tmp_path,
        sandbox=sandbox,
    )
    assert time.monotonic() - started < 20
    assert processes_naming(f"sleep {name}") == []


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_timeout_ends_the_whole_tree(tmp_path: Path, sandbox: str) -> None:
    """What was printed before is kept."""
    name = f"4{os.getpid()}.{'1' if sandbox == 'auto' else '2'}"
    ended = run(f"echo before; trap '' TERM; sleep {name} & sleep {name}", tmp_path, seconds=1, sandbox=sandbox)
    assert (ended.stopped_by, ended.returncode) == ("timeout", None)
    assert ended.output.text() == "before\n"
    assert processes_naming(f"sleep {name}") == []


def test_settings_limit_a_command(tmp_path: Path) -> None:
    """100 MB of output are cut at the limit and named."""
    ended = run("head -c 100000000 /dev/zero | tr '\\0' x", tmp_path, max_output_mb=1)
    assert ended.stopped_by == "output"
    assert len(ended.output.text()) < 1 << 20
    assert "bytes left out" in ended.output.text()


def test_a_missing_interpreter_is_ours(tmp_path: Path) -> None:
    """It is an error of the machine, with the way out, not an observation."""
    with pytest.raises(InterpreterMissing, match="blendscribe setup"):
        run("true", tmp_path, bpy_python="/nonexistent/python")


@pytest.mark.blender
@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_run_blender_in_the_shell(tmp_path: Path, sandbox: str) -> None:
    """A good script, one that raises, one that is not there: report, status, JSON; no tag, no path of the host."""
    (tmp_path / "main.py").write_text(FILM + "print('<MSWEA_MULTIMODAL_CONTENT>')\n" + RENDER)
    (tmp_path / "bad.py").write_text("import bpy\nbpy.nothing\n")
    calls = ("run_blender main.py", "run_blender bad.py", "run_blender --json none.py | head -2")
    text = output("; echo status $?; ".join(calls), tmp_path, sandbox=sandbox)
    good, bad, json_text = text.split("status ")
    assert good.startswith("RUN OK: script executed and rendered a valid video\n")
    assert bad.startswith("0\nRUN FAILED: script_error")
    assert 'File "bad.py", line 2' in bad
    assert json_text == '1\n{\n  "ok": false,\n'
    assert expand_multimodal_content(text, pattern=DEFAULT_MULTIMODAL_REGEX) == [{"type": "text", "text": text}]
    assert "MSWEA_MULTIMODAL_CONTENT" not in text
    assert "base64" not in text
    assert str(ROOT) not in text
    assert [p for p in psutil.process_iter(["cwd"]) if p.info["cwd"] == str(tmp_path)] == []


def test_run_blender_explains_itself_quickly(tmp_path: Path) -> None:
    """`--help` works in the sandbox, without Blender."""
    text = output("run_blender --help", tmp_path)
    assert "Usage: " in text
    assert "--json" in text


def test_python_is_there(tmp_path: Path) -> None:
    """Models edit files with it."""
    assert output("python3 -c 'print(6 * 7)'", tmp_path) == "42\n"


def test_no_temporary_folder_is_left(tmp_path: Path) -> None:
    """Shader caches, homes and tool folders of a command are gone after it."""
    code = (
        "import os, sys, tempfile\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "from pathlib import Path\n"
        "from agent_plugin.shell import run_bash\n"
        "from harness.settings import HarnessSettings\n"
        "workspace = Path(sys.argv[1]) / 'ws'\n"
        "workspace.mkdir()\n"
        "for sandbox in ('auto', 'off'):\n"
        "    run_bash('true', workspace, HarnessSettings(sandbox=sandbox), timeout_seconds=30, variables={})\n"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, check=True, timeout=120)
    assert [path.name for path in tmp_path.iterdir()] == ["ws"]


@pytest.mark.blender
@pytest.mark.usefixtures("no_user_namespaces")
def test_with_landlock(tmp_path: Path) -> None:
    """Where namespaces are forbidden: `run_blender`, Python and git work; secrets, homes, network, /tmp are closed."""
    assert level_in_force(HarnessSettings()).name == "landlock+seccomp"
    beside, workspace = tmp_path / "beside", tmp_path / "ws"
    beside.write_text(SECRET)
    workspace.mkdir()
    (workspace / "main.py").write_text(FILM + RENDER)
    text = output("run_blender main.py; python3 -c 'print(6 * 7)'; git init -q . && echo git; echo x > ~/x", workspace)
    assert text.startswith("RUN OK: script executed and rendered a valid video\n")
    assert text.endswith("42\ngit\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        places = [beside, ROOT / "README.md", "/etc/shadow", f"/dev/tcp/127.0.0.1/{server.getsockname()[1]}"]
        reads = "; ".join(f"(: < {shlex.quote(str(place))}) && echo OPENED" for place in places)
        text = output(f"{reads}; touch /tmp/x{os.getpid()} && echo OPENED; cat /proc/[0-9]*/environ", workspace)
    assert "OPENED" not in text
    assert SECRET not in text
