"""The scene that a final script makes: run whole, alone with the start file, in a clean Blender, and saved."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.final_script import StepStart
from harness.folders import private_folder
from harness.settings import HarnessSettings
from harness.step_report import step_text
from harness.step_session import StepSession

_MAX_SECONDS = 86_400.0


@dataclass(frozen=True)
class ScriptScene:
    """What running a final script gave."""

    saved: Path | None
    """The .blend, made by untrusted code; gone at the end of the context. None where the script failed."""
    failure: str
    """How it failed, as a model reads it; '' where it did not."""
    n_starts: int
    """Blenders that were started."""


@contextmanager
def script_scene(
    script: str, start_file: Path | None, settings: HarnessSettings, n_steps: int
) -> Iterator[ScriptScene]:
    """Run the script, which opens the start file itself. It may take as long as its `n_steps` steps together.

    Raises HarnessError when the machine fails.
    """
    seconds = min(_MAX_SECONDS, settings.exec_timeout * max(1, n_steps))
    with private_folder("replay") as folder:
        if start_file:
            shutil.copyfile(start_file, folder / start_file.name)
        with StepSession(folder, settings.model_copy(update={"exec_timeout": seconds}), StepStart()) as fresh:
            result = fresh.step(script, views=False)
            failure = "" if result.ok else step_text(result)
            saved = None if failure else fresh.save()
        yield ScriptScene(saved, failure, fresh.n_starts)
