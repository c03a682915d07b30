"""`blendscribe setup`: makes the Blender environment. What is done is `harness.setup`'s; here it is shown."""

from pathlib import Path
from types import TracebackType
from typing import Annotated, Self

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.status import Status

_NAME_WIDTH = 14


def setup(
    into: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the environment. Default: .venv-blender in the project, else the user's data folder."
        ),
    ] = None,
    python: Annotated[
        Path | None, typer.Option(help="Python 3.11 to build it on. Default: this one, or python3.11.")
    ] = None,
    system: Annotated[
        bool, typer.Option(help="As root, install Debian packages; --no-system unpacks them into the folder instead.")
    ] = True,
) -> None:
    """Make the Blender environment: bpy, Mesa, the sandbox and compiled shaders. Can be run again at any time."""
    from harness.errors import HarnessError
    from harness.setup.blender_env import default_place
    from harness.setup.plan import Plan
    from harness.setup.steps import STEPS, locked, take

    plan = Plan(
        into=(into or default_place()).expanduser().absolute(),
        python=python.expanduser().absolute() if python else None,
        may_install_packages=system,
    )
    console = Console(highlight=False, soft_wrap=True, markup=False)
    console.print(f"Blender environment: {plan.into}")
    try:
        with ProgressDisplay(console) as display, locked(plan.into, display):
            for step in STEPS:
                display.begin(step.name)
                display.end(take(step, plan, display))
    except HarnessError as error:
        typer.echo(f"setup failed: {error}", err=True)
        raise typer.Exit(1) from error
    console.print("Ready. Next: `blendscribe doctor`")


class ProgressDisplay:
    """A line for each step that is done; below it a spinner or a bar, or plain lines where there is no terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._name = ""
        self._text = ""
        self._status: Status | None = None
        self._bar: tuple[Progress, TaskID] | None = None
        self._tenths_shown = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()

    def begin(self, name: str) -> None:
        self._name = name

    def end(self, what_was_done: str) -> None:
        self._clear()
        self._console.print(f"{self._name:{_NAME_WIDTH}}{what_was_done}")

    def say(self, text: str) -> None:
        self._clear()
        self._text = text
        if self._console.is_terminal:
            self._status = self._console.status(f"{self._name:{_NAME_WIDTH}}{text}")
            self._status.start()
        else:
            self._console.print(f"{self._name:{_NAME_WIDTH}}{text} ...")

    def downloaded(self, n_bytes: int, n_total: int) -> None:
        if not self._console.is_terminal:
            self._print_tenth(n_bytes, n_total)
            return
        if self._bar is None:
            self._clear()
            progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                DownloadColumn(),
                TransferSpeedColumn(),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._bar = progress, progress.add_task(f"{self._name:{_NAME_WIDTH}}{self._text}", completed=n_bytes)
            progress.start()
        progress, task = self._bar
        progress.update(task, completed=n_bytes, total=n_total)

    def _print_tenth(self, n_bytes: int, n_total: int) -> None:
        tenths = n_bytes * 10 // max(1, n_total)
        if tenths != self._tenths_shown:
            self._tenths_shown = tenths
            self._console.print(f"{self._name:{_NAME_WIDTH}}{n_bytes / 1e6:.0f} of {n_total / 1e6:.0f} MB")

    def _clear(self) -> None:
        if self._status:
            self._status.stop()
            self._status = None
        if self._bar:
            self._bar[0].stop()
            self._bar = None
