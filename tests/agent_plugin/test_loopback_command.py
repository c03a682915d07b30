"""`blendscribe loopback` serves until Ctrl-C and says how to reach it; wrong input is told before it serves."""

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from agent_plugin.loopback.routes import ROUTES

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-c", "from agent_plugin.cli import main; main()", "loopback"]


def test_it_serves_until_ctrl_c() -> None:
    """The demo's turns, for each route the model name and what to set; then it ends with status 0."""
    with subprocess.Popen(
        COMMAND,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("What arrived"):
                break
        said = "".join(lines)
        (url,) = set(re.findall(r"http://127\.0\.0\.1:\d+", said))
        body = {"model": "m", "messages": [{"role": "user", "content": "no such task"}]}
        request = urllib.request.Request(
            f"{url}/vllm/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=5)
        with caught.value as error:
            assert "0 conversations fit the task" in error.read().decode()
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=10)
        finally:
            process.kill()  # one that does not end is a failure here, and not left behind
    assert (process.returncode, errors) == (0, "")
    assert [name for name in ROUTES if f"\n{name}\n" not in said] == []
    assert "export OPENAI_BASE_URL=" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--turns", "none.yaml"], "No scripted model at 'none.yaml' (No such file or directory)"),
        (["--faults", "none.yaml"], "none.yaml: cannot be read (No such file or directory)"),
    ],
)
def test_wrong_input_is_told(arguments: list[str], words: str) -> None:
    """With exit status 2, and nothing is served."""
    ended = subprocess.run([*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_port_that_is_taken() -> None:
    """It is named."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run([*COMMAND, "--port", port], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert ended.stderr == f"error: port {port} of 127.0.0.1 cannot be used (Address already in use)\n"
