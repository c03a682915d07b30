"""The model classes under the paths that configs name. Importing this module imports litellm (4.5 s).

`agent_plugin.model.auto_model` chooses the class by the model's name; it is what configs/blender.yaml names, for the
launcher and for plain mini-swe-agent alike. Each class can be named by its own path instead (agent_plugin/models/).
"""

from importlib import import_module
from typing import Any

from agent_plugin.models.chat import BlenderLitellmModel
from agent_plugin.models.mixin import CUT_OFF, NO_CALL, BlenderModelConfig
from agent_plugin.models.routes import FAMILY_CLASSES, family_for

__all__ = ["CUT_OFF", "NO_CALL", "BlenderLitellmModel", "BlenderModelConfig", "auto_model"]


def auto_model(**settings: Any) -> Any:
    """A model of the class that fits its name, `model_name` (see agent_plugin/models/routes.py)."""
    module, _, name = FAMILY_CLASSES[family_for(settings.get("model_name", ""))].rpartition(".")
    return getattr(import_module(module), name)(**settings)
