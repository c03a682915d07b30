"""Makes the scene of a video task: the one that a scripted model's main.py leaves, in the harness's own run of it."""

import subprocess
from pathlib import Path

from agent_plugin.scripted_file import load_scripted
from harness.execute import execute
from harness.report import report_text
from harness.settings import HarnessSettings
from tests.tasks.bundles import Bundle


def make_video_scene(bundle: Bundle, model: str, workspace: Path, destination: Path) -> Path:
    """Play the model's shell commands in the empty folder `workspace`, and run the script that it ran last; the scene
    is kept as `destination`."""
    (conversation,) = load_scripted(bundle.folder / f"{model}.yaml").conversations
    script = ""
    for call in (call for turn in conversation.turns for call in turn.calls):
        assert call.arguments is not None
        if call.tool == "bash":
            subprocess.run(["bash", "-c", call.arguments["command"]], cwd=workspace, check=True, capture_output=True)
        script = call.arguments.get("script", script)
    result = execute(script, workspace, bundle.task.settings(HarnessSettings()), keep_scene=destination)
    assert result.ok, report_text(result)
    return destination
