"""What a run consists of, and by what it is known again."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent_plugin.config import RunConfig
from agent_plugin.episode import EpisodeKey
from agent_plugin.places import read_prompt
from agent_plugin.tasks import Task
from agent_plugin.versions import versions
from harness.isolation import Isolation
from harness.sandbox.level import LevelName
from recorder.config_secrets import secrets_in, without_secrets
from recorder.redaction import Redactor

_NOT_PART = ("fingerprint", "isolation", "versions.blendscribe-revision", "config.launch", "history")
"""Places of run.json that do not make another run: the machine, a commit between two launches, how it is launched."""
_MAX_VALUE = 60


@dataclass(frozen=True)
class RunPlan:
    """What a run consists of. Two plans with the same fingerprint are the same run."""

    tasks: tuple[Task, ...]
    models: tuple[str, ...]
    n_attempts: int
    config: RunConfig
    allowed_isolation: LevelName | None = None
    measured_isolation: tuple[Isolation, ...] = ()
    """When the run was started; each episode measures anew."""

    @property
    def keys(self) -> list[EpisodeKey]:
        """Episodes in the order in which they start: every task once before any is tried again."""
        attempts = range(1, self.n_attempts + 1)
        return [EpisodeKey(task, model, k) for k in attempts for task in self.tasks for model in self.models]

    @property
    def n_episodes(self) -> int:
        return len(self.tasks) * len(self.models) * self.n_attempts

    @cached_property
    def task_hashes(self) -> dict[str, str]:
        """Task id -> hash, each computed once: a start file of megabytes would be read for every episode."""
        return {task.id: task.sha256 for task in self.tasks}

    def describe(self) -> dict[str, Any]:
        """The content of run.json, without secrets."""
        settings = self.config.environment.harness
        config = self.config.model_dump(mode="json")
        facts: dict[str, Any] = {
            "schema_version": 1,
            "tasks": self.task_hashes,
            "models": list(self.models),
            "n_attempts": self.n_attempts,
            "config": without_secrets(config),
            "prompts": {kind: _hash(read_prompt(kind)) for kind in sorted({task.kind for task in self.tasks})},
            "versions": versions(settings),
            "isolation": {
                "allowed": self.allowed_isolation,
                "measured": {isolation.level: dict(isolation.could) for isolation in self.measured_isolation},
            },
            "history": [],
        }
        cleaned: dict[str, Any] = Redactor.for_this_machine(secrets=secrets_in(config)).clean(facts)
        return {"fingerprint": fingerprint(cleaned), **cleaned}  # another key for a provider makes no other run


def fingerprint(facts: dict[str, Any]) -> str:
    """Hash of what makes a run this run."""
    relevant = {name: value for name, value in facts.items() if name not in _NOT_PART}
    relevant["versions"] = {k: v for k, v in facts["versions"].items() if f"versions.{k}" not in _NOT_PART}
    relevant["config"] = {k: v for k, v in facts["config"].items() if f"config.{k}" not in _NOT_PART}
    return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()


def differences(there: Any, here: Any, place: str = "") -> Iterator[str]:
    """`place: old, new` for each value that is not the same and is part of the fingerprint."""
    if there == here or place in _NOT_PART:
        return
    if isinstance(there, dict) and isinstance(here, dict):
        for name in dict.fromkeys([*there, *here]):
            yield from differences(there.get(name), here.get(name), f"{place}.{name}".lstrip("."))
    else:
        yield f"{place}: {_short(there)}, {_short(here)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _short(value: Any) -> str:
    """A value of run.json, as it stands there."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 3]}..."
