"""The command line is quick, and turns every sort of error into one text and one status."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import typer

from agent_plugin.exit_status import run_app

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("litellm", "minisweagent", "numpy", "av", "PIL")


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, cwd=ROOT
    )


@pytest.mark.parametrize(
    "command",
    [[], ["run"], ["setup"], ["doctor"], ["check"], ["export"], ["verify"], ["decide"], ["loopback"]],
    ids=lambda words: " ".join(words) or "blendscribe",
)
def test_help_imports_nothing_heavy(command: list[str]) -> None:
    """It explains itself without the libraries that cost time, with exit status 0."""
    code = (
        "import sys\n"
        "from agent_plugin.cli import main\n"
        "try:\n    main()\n"
        f"finally:\n    print('heavy:', [name for name in {HEAVY} if name in sys.modules])\n"
    )
    ended = python(code, *command, "--help")
    assert ended.returncode == 0, ended.stderr
    assert "Usage: " in ended.stdout
    assert ended.stdout.splitlines()[-1] == "heavy: []"


def test_help_of_run_blender_imports_no_agent() -> None:
    """It is a command of its own, and knows nothing of models."""
    code = (
        "import sys\n"
        "from agent_plugin.commands.run_blender import main\n"
        "try:\n    main()\n"
        f"finally:\n    print('heavy:', [name for name in {HEAVY} if name in sys.modules])\n"
    )
    ended = python(code, "--help")
    assert ended.returncode == 0
    assert ended.stdout.splitlines()[-1] == "heavy: []"


def test_checking_input_imports_no_model(tmp_path: Path) -> None:
    """A fault is told before litellm (4.5 s) is imported."""
    code = (
        "import sys\n"
        "from agent_plugin.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print('litellm' in sys.modules)\n"
    )
    ended = python(code, "run", str(tmp_path / "none.yaml"), "-m", "openai/x", "-o", str(tmp_path / "run"))
    assert (ended.returncode, ended.stdout) == (2, "False\n")


def test_the_console_scripts_are_installed() -> None:
    """Both names start, and tell the version."""
    scripts = Path(sys.executable).parent
    shown = subprocess.run(
        [scripts / "blendscribe", "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    assert shown.stdout.strip() == version("blendscribe")
    assert (scripts / "run_blender").is_file()


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (
            "BadInput([Fault('f.yaml', 'a', 'is wrong'), Fault('', '', 'so?')])",
            2,
            "error: f.yaml: a: is wrong\nerror: so?\n",
        ),
        ("SandboxFailed('no sandbox')", 2, "error: no sandbox\n"),
        ("typer.Exit(1)", 1, ""),
        ("BrokenPipeError()", 0, ""),
        ("KeyboardInterrupt()", 130, None),
    ],
)
def test_errors_have_a_text_and_a_status(error: str, status: int, text: str | None) -> None:
    """No traceback for what is not a bug."""
    code = (
        "import typer\n"
        "from agent_plugin.exit_status import run_app\n"
        "from agent_plugin.faults import BadInput, Fault\n"
        "from harness.errors import SandboxFailed\n"
        "app = typer.Typer(pretty_exceptions_enable=False)\n"
        "@app.command()\n"
        "def command():\n"
        f"    raise {error}\n"
        "run_app(app)\n"
    )
    ended = python(code)
    assert ended.returncode == status, ended.stderr
    assert "Traceback" not in ended.stderr
    assert text is None or ended.stderr == text


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any other exception keeps its traceback."""
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command()
    def command() -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(sys, "argv", ["x"])
    with pytest.raises(ZeroDivisionError):
        run_app(app)
