"""Reads and merges configs, and resolves them before anything starts. Unknown keys are faults.

The same file serves plain mini-swe-agent (`mini -c configs/blender.yaml`): it reads `agent`, `environment` and
`model` itself. `harness:` at the top is ours, and is the same as `environment.harness`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, FilePath, ValidationError

from agent_plugin.environment import BlenderEnvironmentConfig
from agent_plugin.faults import BadInput, Fault, bad_input, faults_of, read_yaml
from agent_plugin.launch_settings import LaunchSettings
from agent_plugin.models.settings import CallSettings
from agent_plugin.places import CONFIGS_DIR, read_prompt
from agent_plugin.tools import TaskKind
from harness.final_script import StepStart
from harness.sandbox.level import SandboxMode
from harness.settings import HarnessSettings
from recorder.config_secrets import is_secret_setting
from recorder.redaction import KEY_SHAPES, REMOVED

DEFAULT_CONFIG = CONFIGS_DIR / "blender.yaml"


class AgentSettings(BaseModel):
    """`agent:`, as far as a run may set it; see mini-swe-agent's AgentConfig."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agent_class: Literal["agent_plugin.agent.BlenderAgent"] = "agent_plugin.agent.BlenderAgent"
    system_template: str = read_prompt("system")
    instance_template: str = ""
    step_limit: int = Field(default=0, ge=0)
    cost_limit: float = Field(default=3.0, ge=0, allow_inf_nan=False)
    wall_time_limit_seconds: int = Field(default=0, ge=0)
    token_limit: int = Field(default=0, ge=0)
    max_consecutive_format_errors: int = Field(default=3, ge=0)


class ModelSettings(CallSettings):
    """`model:`, without importing litellm to check it; see agent_plugin.models.mixin.BlenderModelConfig."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    model_class: str = "agent_plugin.model.auto_model"
    model_name: str = ""
    model_kwargs: dict[str, Any] = Field(default={})
    litellm_model_registry: FilePath | None = None
    set_cache_control: Literal["default_end"] | None = None
    provider: str = ""
    """Portkey's."""
    litellm_model_name_override: str = ""
    """Portkey's."""

    def for_mini(self, kind: TaskKind) -> dict[str, Any]:
        """What mini-swe-agent's get_model takes: only what was set, since a cache control of null switches it off."""
        chosen = self.model_dump(exclude={"model_name"}, exclude_unset=True)
        return {"model_class": self.model_class, **chosen, "task_kind": kind}


class EnvironmentSettings(BlenderEnvironmentConfig):
    """`environment:`. A run gives each episode a workspace of its own, so `cwd` stays empty."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    environment_class: Literal["agent_plugin.environment.BlenderEnvironment"] = (
        "agent_plugin.environment.BlenderEnvironment"
    )
    cwd: Literal[""] = ""

    def for_episode(
        self, workspace: Path, harness: HarnessSettings, kind: TaskKind, start: StepStart
    ) -> dict[str, Any]:
        """What BlenderEnvironment takes."""
        fixed = {"cwd": str(workspace), "harness": harness, "task_kind": kind, "start": start}
        return self.model_dump(exclude={"environment_class"}) | fixed


class RunConfig(BaseModel):
    """A whole config, resolved."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    ALSO_KNOWN: ClassVar[tuple[str, ...]] = ("harness",)

    agent: AgentSettings
    environment: EnvironmentSettings
    model: ModelSettings
    launch: LaunchSettings = LaunchSettings()
    """How `blendscribe run` carries it out; no part of what an episode is."""


def load_config(specs: Sequence[str]) -> RunConfig:
    """The default config, then each of `specs` (a YAML file, or `a.b.c=value`) merged over it; later wins.

    Raises BadInput with every fault of all of them.
    """
    layers: list[tuple[str, dict[str, Any]]] = []
    faults: list[Fault] = []
    for spec in (str(DEFAULT_CONFIG), *specs):
        try:
            layers.append((spec, _hoist_harness(_read_spec(spec))))
        except BadInput as error:
            faults += error.faults
    merged: dict[str, Any] = {}
    for _, layer in layers:
        merged = merge(merged, layer)
    merged.pop("run", None)  # mini-swe-agent's
    try:
        config = RunConfig.model_validate(merged)
    except ValidationError as error:
        faults += [replace(f, file=_origin(f.place, layers)) for f in faults_of(error, RunConfig, file="")]
    if faults:
        raise BadInput(faults)
    return config


def with_sandbox(config: RunConfig, mode: SandboxMode) -> RunConfig:
    """`config` with this `harness.sandbox`, unless it says one itself."""
    harness = config.environment.harness
    if "sandbox" in harness.model_fields_set:
        return config
    changed = harness.model_copy(update={"sandbox": mode})
    return config.model_copy(update={"environment": config.environment.model_copy(update={"harness": changed})})


def with_launch(config: RunConfig, options: Mapping[str, Any]) -> RunConfig:
    """`config` with these keys of `launch:`, those that are None left out. Raises BadInput."""
    given = {name: value for name, value in options.items() if value is not None}
    merged = merge(config.launch.model_dump(exclude_unset=True), given)
    try:
        return config.model_copy(update={"launch": LaunchSettings.model_validate(merged)})
    except ValidationError as error:
        raise BadInput(faults_of(error, LaunchSettings, file="", place="launch")) from error


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Mappings merge, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merge(result[key], value) if both else value
    return result


def _read_spec(spec: str) -> dict[str, Any]:
    path = Path(spec)
    if not path.is_file() and path.suffix in (".yaml", ".yml") and (CONFIGS_DIR / spec).is_file():
        path = CONFIGS_DIR / spec  # `models/anthropic.yaml`, wherever the user is
    key, equals, value = spec.partition("=")
    if path.is_file() or (not equals and path.suffix in (".yaml", ".yml")):
        return _as_mapping(read_yaml(path), spec)
    if not equals or not all(key.split(".")):
        raise bad_input("neither a YAML file nor `a.b.c=value`", file=_named(spec))
    parts = key.split(".")
    parsed: Any = _parse_value(value)
    if isinstance(parsed, int | float) and not isinstance(parsed, bool) and any(map(is_secret_setting, parts[-2:])):
        parsed = value  # a key of digits, or a header: no client takes a number there
    for part in reversed(parts):
        parsed = {part: parsed}
    return _as_mapping(parsed, _named(spec))


def _named(spec: str) -> str:
    """What a fault calls a spec. Of `a.b.c=value` only the key: a value may be a secret."""
    if Path(spec).suffix in (".yaml", ".yml"):
        return spec
    return f"-c {KEY_SHAPES.sub(REMOVED.format(kind='key'), spec.partition('=')[0])}"


def _parse_value(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _as_mapping(content: Any, name: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise bad_input("must hold a mapping", file=name)
    return content


def _hoist_harness(config: dict[str, Any]) -> dict[str, Any]:
    """`harness:` at the top as `environment.harness`."""
    if "harness" not in config:
        return config
    rest = {key: value for key, value in config.items() if key != "harness"}
    return merge(rest, {"environment": {"harness": config["harness"]}})


def _origin(place: str, layers: Sequence[tuple[str, dict[str, Any]]]) -> str:
    """The last layer that says something at `place` (or at the start of it): it is the one to correct."""
    keys = place.partition("[")[0].split(".")
    for length in range(len(keys), 0, -1):
        for name, layer in reversed(layers):
            if _holds(layer, keys[:length]):
                return _named(name)
    return layers[-1][0] if layers else ""


def _holds(layer: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(layer, dict) or key not in layer:
            return False
        layer = layer[key]
    return True
