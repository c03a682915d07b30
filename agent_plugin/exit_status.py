"""Runs a typer app and turns what it raises into one clear text and an exit status."""

import os
import sys

import typer


def run_app(app: typer.Typer) -> None:
    """0 done, 1 something failed, 2 the user's input is wrong (each fault a line on stderr), 130 interrupted."""
    from agent_plugin.faults import BadInput
    from harness.errors import HarnessError
    from recorder.errors import CorruptEpisode

    try:
        app()
    except BadInput as error:
        for fault in error.faults:
            print(f"error: {fault}", file=sys.stderr)
        sys.exit(2)
    except (HarnessError, CorruptEpisode) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader left (`| head`); nothing is wrong
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
