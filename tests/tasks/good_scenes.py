"""Makes a bundle's good scene: its `right` model's steps, run one by one in a real session, and saved."""

import shutil
from pathlib import Path

from harness.settings import HarnessSettings
from harness.step_report import step_text
from harness.step_session import StepSession
from tests.tasks.bundles import Bundle


def make_scene(bundle: Bundle, model: str, workspace: Path) -> Path:
    """Play the model of a scene task in the empty folder `workspace`; the saved scene. Steps that fail are part of it,
    the last one may not be one of them."""
    task = bundle.task
    if task.start_file:
        shutil.copy(task.start_file, workspace)
    settings = task.settings(HarnessSettings(visual_feedback=False))
    with StepSession(workspace, settings, task.step_start) as session:
        for code in bundle.steps(model):
            result = session.step(code)
        assert result.ok, step_text(result)
        return session.save()
