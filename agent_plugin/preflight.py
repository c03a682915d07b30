"""What can be known to be wrong before the first model call: models and the machine."""

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from agent_plugin.config import RunConfig
from agent_plugin.faults import BadInput, Fault
from agent_plugin.scripted_file import PROVIDER, scripted_model
from agent_plugin.spending import UNKNOWN_COST
from harness.errors import HarnessError
from harness.isolation import Isolation, measured_isolation
from harness.sandbox import LevelName, is_at_least
from harness.settings import HarnessSettings
from recorder.paths import folder_name

_HAS_DEFAULT = ("OLLAMA_API_BASE",)
"""litellm calls it missing, and does without."""
_TELL_COST = ("openrouter/", "portkey/", "litellm_proxy/")
"""Providers that may say what a call cost."""
_OTHER_NAMES = {
    "GEMINI_API_KEY": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "GOOGLE_API_KEY": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "FIREWORKS_AI_API_KEY": ("FIREWORKS_API_KEY", "FIREWORKSAI_API_KEY", "FIREWORKS_AI_TOKEN"),
    "TOGETHERAI_API_KEY": ("TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_AI_TOKEN"),
}
"""Variables any one of which will do."""


def model_faults(models: Sequence[str]) -> list[Fault]:
    """Faults of model names and of the scripted models behind them."""
    faults = [fault for name in models if (fault := _model_fault(name))]
    folders: dict[str, str] = {}
    for name in dict.fromkeys(models):
        if (other := folders.setdefault(folder_name(name), name)) != name:
            faults.append(Fault(f"-m {name}", "", f"has the same folder name as {other}; give them runs of their own"))
    return faults


def check_isolation(wanted: Sequence[HarnessSettings], allowed: LevelName) -> tuple[Isolation, ...]:
    """What is measured for each of the settings. Raises BadInput when any of it is weaker than `allowed`."""
    measured: dict[HarnessSettings, Isolation] = {}
    faults = []
    for settings in wanted:
        # 'required' is judged here, where it can be said what there is instead
        asked = settings.model_copy(update={"sandbox": "off" if settings.sandbox == "off" else "auto"})
        try:
            measured[asked] = measured_isolation(asked)
        except HarnessError as error:
            faults.append(Fault("", "", str(error)))
            continue
        is_required = settings.sandbox == "required" and not is_at_least(allowed, "bwrap")
        least = "bwrap" if is_required else allowed
        if not is_at_least(measured[asked].level, least):
            faults.append(Fault("", "", _too_weak(measured[asked], least, settings, is_required=is_required)))
    if faults:
        raise BadInput(list(dict.fromkeys(faults)))
    return tuple({isolation.level: isolation for isolation in measured.values()}.values())


def _too_weak(isolation: Isolation, least: LevelName, settings: HarnessSettings, *, is_required: bool) -> str:
    """What was measured, why, and what to do."""
    accept = f"accept it with --allow-isolation {isolation.level}"
    if settings.sandbox == "off":
        way_out = f"leave harness.sandbox away, or {accept}"
    else:
        if is_required:
            accept = "set harness.sandbox to 'auto' instead of 'required'"
        way_out = (
            "make bubblewrap work (`blendscribe doctor` examines it; a container has to allow user namespaces), "
            f"run in a virtual machine made for it, or {accept}"
        )
    return (
        f"The isolation here is '{isolation.level}'; this run asks for '{least}' or stronger. "
        f"Measured: {isolation.in_words}. Why: {isolation.why_not or 'nothing stronger is known'}. "
        f"What to do: {way_out}."
    )


def provider_faults(models: Sequence[str], parameters: Mapping[str, Any]) -> list[Fault]:
    """What litellm knows to be missing for these models: the provider itself, or the variable with its key.

    Imports litellm, which takes seconds: for models that are about to be called.
    """
    called = [name for name in models if not name.startswith(f"{PROVIDER}/")]
    if not called:
        return []
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    return [fault for name in called if (fault := _provider_fault(litellm, name, parameters))]


def cost_faults(models: Sequence[str], config: RunConfig) -> list[Fault]:
    """Models whose calls will be of unknown cost, under a limit in dollars that the user set for the run.

    Nothing is said of those that may tell the cost themselves: their first call shows it, and stops the run.
    """
    launch, settings = config.launch, config.model
    if not launch.cost_limit or launch.allow_unknown_cost:
        return []
    if settings.litellm_model_registry or settings.litellm_model_name_override:
        return []
    called = [name for name in models if not name.startswith((f"{PROVIDER}/", *_TELL_COST))]
    if not called:
        return []
    from agent_plugin.models.cost import has_price

    return [
        Fault(f"-m {name}", "", f"has no known price: {UNKNOWN_COST.format(limit=launch.cost_limit)}")
        for name in called
        if not has_price(name)
    ]


def _provider_fault(litellm: Any, name: str, parameters: Mapping[str, Any]) -> Fault | None:
    if name.startswith("portkey/"):
        return _portkey_fault(name)
    if name.startswith("bedrock/"):
        return _bedrock_fault(name)
    try:
        litellm.get_llm_provider(name, api_base=parameters.get("api_base"))
    except litellm.exceptions.BadRequestError:
        message = "litellm knows no such provider; write it before the model, as in openai/gpt-5 or ollama_chat/qwen3"
        return Fault(f"-m {name}", "", message)
    if "api_key" in parameters or "api_base" in parameters:
        return None
    missing = [key for key in litellm.validate_environment(name).get("missing_keys") or [] if key not in _HAS_DEFAULT]
    if any(key in _OTHER_NAMES for key in missing):
        others = [other for key in missing for other in _OTHER_NAMES.get(key, ())]
        if any(os.environ.get(other) for other in others):
            return None
        missing = missing[:1]
    return Fault(f"-m {name}", "", f"set {' and '.join(missing)} in the environment") if missing else None


def _portkey_fault(name: str) -> Fault | None:
    if find_spec("portkey_ai") is None:
        return Fault(f"-m {name}", "", "it needs a package: pip install portkey-ai (or blendscribe[portkey])")
    is_set = bool(os.environ.get("PORTKEY_API_KEY"))
    return None if is_set else Fault(f"-m {name}", "", "set PORTKEY_API_KEY in the environment")


def _bedrock_fault(name: str) -> Fault | None:
    """Credentials have many sources, which only boto3 knows."""
    if find_spec("boto3") is None:
        return Fault(f"-m {name}", "", "it needs a package: pip install boto3 (or blendscribe[bedrock])")
    return None


def _model_fault(name: str) -> Fault | None:
    if not name.strip("/ ") or any(character.isspace() for character in name):
        return Fault(f"-m {name!r}", "", "not a model name; give one such as openai/gpt-5 or scripted/demo")
    if name.startswith(f"{PROVIDER}/"):
        try:
            scripted_model(name)
        except ValueError as error:
            return Fault(f"-m {name}", "", " ".join(str(error).split()))
    return None
