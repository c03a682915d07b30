"""Scripts made on the spot. Imports no litellm."""

from typing import Any

from agent_plugin.scripted_file import ScriptedFile


def script(*turns: dict[str, Any], more: dict[str, list[dict[str, Any]]] | None = None) -> ScriptedFile:
    """A script of one conversation for every brief, or of one for each text in `more`."""
    plan = more or {"": [*turns]}
    conversations = [{"when": when, "turns": replies} for when, replies in plan.items()]
    return ScriptedFile.model_validate({"model": "scripted/test", "conversations": conversations})
