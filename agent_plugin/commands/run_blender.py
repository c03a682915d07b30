"""`run_blender [script]`: the shell command that runs and judges a script, for agents' shells and for people.

Settings come from `--config` (the `harness:` mapping of a YAML file), else from the JSON in VCSFT_HARNESS.
"""

import io
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer

from agent_plugin.places import SETTINGS_VARIABLE

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def run_blender(
    script: Annotated[str, typer.Argument(help="Script in the current folder.")] = "main.py",
    config: Annotated[
        Path | None, typer.Option("--config", help="YAML or JSON file with a `harness:` mapping (or only its content).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole result as JSON.")] = False,
) -> None:
    """Run a Blender Python script in a fresh headless Blender and judge the video that it renders.

    The current folder is the workspace. Exit status: 0 the run is good, 1 it has problems, 2 the input is wrong.
    """
    from harness.execute import execute
    from harness.report import frames_text, report_text

    settings = _settings(config)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # names of files can hold what UTF-8 cannot
    result = execute(os.path.normpath(script), Path.cwd(), settings)
    if as_json:
        print(json.dumps(result.to_json(), indent=2))
    else:
        print(report_text(result), end="")
        if settings.visual_feedback and not sys.stdout.isatty():  # a person has preview.png
            print(frames_text(result.preview_frames), end="")
    sys.stdout.flush()
    raise typer.Exit(0 if result.ok else 1)


def _settings(config: Path | None) -> Any:
    from pydantic import ValidationError

    from agent_plugin.faults import BadInput, bad_input, faults_of, read_yaml
    from harness.settings import HarnessSettings

    file, content = SETTINGS_VARIABLE, os.environ.get(SETTINGS_VARIABLE) or "{}"
    try:
        raw = read_yaml(config) if config else json.loads(content)
    except ValueError as error:
        raise bad_input(f"not valid JSON ({error})", file=file) from error
    file = str(config) if config else file
    if isinstance(raw, dict) and isinstance(raw.get("environment"), dict):  # a whole config
        raw = raw.get("harness") or raw["environment"].get("harness") or {}
    elif isinstance(raw, dict) and "harness" in raw:
        raw = raw["harness"] or {}
    if not isinstance(raw, dict):
        raise bad_input("must hold a mapping", file=file)
    try:
        return HarnessSettings.model_validate(raw)
    except ValidationError as error:
        raise BadInput(faults_of(error, HarnessSettings, file=file)) from error


def _try_isolation() -> None:
    from harness.sandbox import best_level

    with suppress(Exception):  # said by whoever needs the answer
        best_level()


def main() -> None:
    """Parse the arguments and run; always ends by SystemExit."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins costs 20 ms, and there are none
    from agent_plugin.exit_status import run_app

    run_app(app)


def console_script() -> None:
    """`main`, ended at once: tearing down the video libraries takes longer than reading their frames.

    The isolation is tried (25 ms, most of them waiting) while the rest is imported.
    """
    trial = Thread(target=_try_isolation)
    trial.start()
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else bool(end.code)
    trial.join()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
