"""Files of recorded turns for `scripted/<name>` models: their form, and where they are. Imports no litellm."""

from functools import cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

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


def scripted_path(model_name: str) -> Path:
    """The file behind a model name: `scripted/demo` ships with us, `scripted/<path>.yaml` is the user's."""
    name = model_name.removeprefix(f"{PROVIDER}/")
    return Path(name) if name.endswith((".yaml", ".yml")) else CONFIGS_DIR / name / "scripted.yaml"


@cache
def load_scripted(path: Path) -> ScriptedFile:
    """Raises ValueError, one line, when the file is missing or not valid."""
    try:
        return ScriptedFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        known = ", ".join(sorted(f"scripted/{p.parent.name}" for p in CONFIGS_DIR.glob("*/scripted.yaml")))
        raise ValueError(f"No scripted model at '{path}' ({error.strerror}). Shipped: {known}.") from error
    except (yaml.YAMLError, ValidationError) as error:
        raise ValueError(f"{path}: {error}") from error
