"""Files of recorded turns for `scripted/<name>` models: their form, and where they are. Imports no litellm."""

from functools import cache
from glob import escape
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_plugin.input_file import read_input
from agent_plugin.places import CONFIGS_DIR

PROVIDER = "scripted"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScriptedCall(_Strict):
    """A tool call of a turn."""

    tool: str
    arguments: dict[str, Any] | None = None
    raw_arguments: str | None = None
    """Sent as it is instead of `arguments`, to play a malformed call."""


class ScriptedTurn(_Strict):
    """One reply."""

    text: str = ""
    reasoning: str = ""
    calls: list[ScriptedCall] = []
    expect: list[str] = []
    """Texts that have to stand in the messages since the last reply."""
    expect_images: int | None = None
    """Pictures that have to be in the messages since the last reply."""
    finish_reason: str | None = None


class Conversation(_Strict):
    """The replies for one task, chosen by a text in the request's first user message."""

    when: str
    turns: Annotated[list[ScriptedTurn], Field(min_length=1)]


class ScriptedFile(_Strict):
    """A file of turns."""

    model: str
    conversations: Annotated[list[Conversation], Field(min_length=1)]


def scripted_model(model_name: str) -> ScriptedFile:
    """What is behind a model name. Raises ValueError for a file that is missing or not valid.

    `scripted/demo` is configs/demo/scripted.yaml, `scripted/tasks/right` every configs/tasks/*/right.yaml in one, and
    `scripted/<path>.yaml` the user's own file.
    """
    name = model_name.removeprefix(f"{PROVIDER}/")
    if name.endswith((".yaml", ".yml")):
        return load_scripted(Path(name))
    folder, _, part = name.partition("/")
    return _merged(folder, part) if part else load_scripted(CONFIGS_DIR / name / "scripted.yaml")


@cache
def load_scripted(path: Path) -> ScriptedFile:
    """Raises ValueError, one line, when the file is missing or not valid."""
    try:
        return ScriptedFile.model_validate(yaml.safe_load(read_input(path)))
    except OSError as error:
        raise ValueError(f"No scripted model at '{path}' ({error.strerror}). Shipped: {_shipped()}.") from error
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _merged(folder: str, part: str) -> ScriptedFile:
    """The conversations of one file in each folder of `configs/<folder>/`."""
    files = sorted(CONFIGS_DIR.glob(f"{escape(folder)}/*/{escape(part)}.yaml"))
    if not files:
        raise ValueError(f"No scripted model: there is no configs/{folder}/*/{part}.yaml. Shipped: {_shipped()}.")
    conversations = [conversation for file in files for conversation in load_scripted(file).conversations]
    return ScriptedFile(model=f"{PROVIDER}/{folder}/{part}", conversations=conversations)


def _shipped() -> str:
    alone = {f"{PROVIDER}/{file.parent.name}" for file in CONFIGS_DIR.glob("*/scripted.yaml")}
    beside_tasks = (file for file in CONFIGS_DIR.glob("*/*/*.yaml") if (file.parent / "task.yaml").is_file())
    models = {f"{PROVIDER}/{file.parts[-3]}/{file.stem}" for file in beside_tasks if file.name != "task.yaml"}
    return ", ".join(sorted(alone | models))
