"""Scripted models, made on the spot: the one double, played through litellm by the real provider class."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.settings import HarnessSettings
from tests.conftest import TINY

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"

CALLS_LITELLM = pytest.mark.filterwarnings("ignore:Items? '.*' on TypedDict class:UserWarning")
"""For modules that call a model: litellm 1.110 makes pydantic warn of its own types the first time."""

Turn = dict[str, Any]
ScriptModel = Callable[..., str]


def bash(command: str) -> Turn:
    """A call of bash."""
    return {"tool": "bash", "arguments": {"command": command}}


def blender(script: str = "main.py") -> Turn:
    """A call of run_blender."""
    return {"tool": "run_blender", "arguments": {"script": script}}


@pytest.fixture
def tiny() -> HarnessSettings:
    """Settings of a film that renders in a tenth of a second."""
    return HarnessSettings.model_validate(TINY)


@pytest.fixture(scope="session")
def script_model(tmp_path_factory: pytest.TempPathFactory) -> ScriptModel:
    """Writes a scripted model that plays these turns for every task, or for tasks with a text in their brief."""

    def write(*turns: Turn, when: str = "", more: dict[str, list[Turn]] | None = None) -> str:
        conversations = [
            {"when": text, "turns": replies} for text, replies in {when: list(turns), **(more or {})}.items()
        ]
        path = tmp_path_factory.mktemp("model") / "turns.yaml"
        path.write_text(yaml.safe_dump({"model": "scripted/test", "conversations": conversations}))
        return f"scripted/{path}"

    return write


def write_tasks(folder: Path, *tasks: dict[str, Any]) -> Path:
    """A task list of tiny films."""
    path = folder / "tasks.yaml"
    harness = {**TINY, "resolution": list(TINY["resolution"])}  # type: ignore[call-overload]
    path.write_text(yaml.safe_dump({"tasks": [{"harness": harness, "brief": "a film", **task} for task in tasks]}))
    return path
