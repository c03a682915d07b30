"""`blendscribe`: the command line. Each command is a module of `commands/`; heavy imports happen inside them."""

import os
from typing import Annotated

import typer

from agent_plugin.commands.check import check
from agent_plugin.commands.decide import decide
from agent_plugin.commands.doctor import doctor
from agent_plugin.commands.export import export
from agent_plugin.commands.loopback import loopback
from agent_plugin.commands.replay import replay
from agent_plugin.commands.review import review
from agent_plugin.commands.run import run
from agent_plugin.commands.setup import setup
from agent_plugin.commands.status import status
from agent_plugin.commands.tasks import tasks
from agent_plugin.commands.verify import verify
from agent_plugin.exit_status import run_app

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Blender work by language models: run agents, record every step, judge the result.",
)
app.command()(setup)
app.command()(doctor)
app.command()(run)
app.command()(status)
app.add_typer(tasks, name="tasks")
app.command()(replay)
app.command()(check)
app.command()(verify)
app.command()(review)
app.command()(decide)
app.command()(export)
app.command()(loopback)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(version("blendscribe"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


def main() -> None:
    """Console script."""
    os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")  # else mini-swe-agent prints a banner on import
    run_app(app)


if __name__ == "__main__":
    main()
