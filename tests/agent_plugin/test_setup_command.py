"""`blendscribe setup` and `blendscribe doctor` as one types them."""

import json
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from agent_plugin.commands.doctor import doctor
from agent_plugin.commands.setup import setup

app = typer.Typer()
app.command()(setup)
app.command()(doctor)


def test_a_second_setup_does_nothing() -> None:
    """Where all is there, every step says 'kept', within two seconds."""
    started = time.monotonic()
    result = CliRunner().invoke(app, ["setup"])
    assert result.exit_code == 0, result.output
    assert time.monotonic() - started < 2
    for step in ("environment", "bpy", "libraries", "shader cache"):
        assert f"{step:14}kept" in result.output
    assert "Ready. Next: `blendscribe doctor`" in result.output


def test_a_failed_setup_says_why(tmp_path: Path) -> None:
    """A folder that is not ours ends setup with exit status 1 and one line."""
    (tmp_path / "thesis.txt").touch()
    result = CliRunner().invoke(app, ["setup", "--into", str(tmp_path)])
    assert result.exit_code == 1
    assert result.stderr == f"setup failed: '{tmp_path}' holds other files. Name a new or empty folder with --into.\n"


def test_doctor_prints_json() -> None:
    """--json is one object: a verdict and the findings, the agent's packages among them."""
    result = CliRunner().invoke(app, ["doctor", "--json"])
    told = json.loads(result.stdout)
    assert told["ok"] is True
    assert result.exit_code == 0
    assert {"name", "status", "detail", "remedy", "facts"} == set(told["findings"][0])
    assert {"render", "sandbox", "mini-swe-agent", "litellm"} <= {finding["name"] for finding in told["findings"]}


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_doctor_fails_where_no_work_can_be_done(tmp_path: Path, options: list[str]) -> None:
    """Without an interpreter the exit status is 1, and the remedy is shown."""
    result = CliRunner().invoke(app, ["doctor", "--python", str(tmp_path / "python"), *options])
    assert result.exit_code == 1
    assert "Run `blendscribe setup`." in result.stdout
