"""The ready tasks of configs/tasks, with what lies beside each: its checks, its scripted models, its mutations."""

import importlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agent_plugin.checks_file import load_checks
from agent_plugin.places import CONFIGS_DIR
from agent_plugin.scripted_file import load_scripted
from agent_plugin.task_list import load_tasks
from agent_plugin.tasks import Task
from harness.checks.declared import DeclaredCheck

TASKS_DIR = CONFIGS_DIR / "tasks"
_MUTATIONS_DIR = Path(__file__).parent / "mutations"


@dataclass(frozen=True)
class Mutation:
    """One way to change a good scene."""

    code: str
    """Python statements, run in Blender in the names of `mutating.py`."""
    seen_by: frozenset[str]
    """Ids of the checks that have to see it. Others may too; none at all where it is harmless: then none may."""


@dataclass(frozen=True)
class Bundle:
    """A task and its folder."""

    task: Task
    folder: Path

    @property
    def id(self) -> str:
        """The task's."""
        return self.task.id

    @property
    def checks(self) -> list[DeclaredCheck]:
        """Those of checks.json, in order."""
        return load_checks(self.folder / "checks.json")

    def steps(self, model: str) -> list[str]:
        """The code of each step that a scripted model (`right`, `wrong`) sends, in order."""
        (conversation,) = load_scripted(self.folder / f"{model}.yaml").conversations
        calls = [call for turn in conversation.turns for call in turn.calls]
        return [call.arguments["code"] for call in calls if call.tool == "run_blender" and call.arguments]

    @property
    def mutations(self) -> dict[str, Mutation]:
        """Those of `mutations/<id>.py`, by name: the ones that spoil something and the HARMLESS ones."""
        module = importlib.import_module(f"tests.tasks.mutations.{_module_name(self.id)}")
        spoiling = {name: Mutation(code, frozenset(seen_by)) for name, (code, seen_by) in module.MUTATIONS.items()}
        return spoiling | {name: Mutation(code, frozenset()) for name, code in module.HARMLESS.items()}


@cache
def bundles() -> dict[str, Bundle]:
    """All bundles, by id."""
    return {task.id: Bundle(task, TASKS_DIR / task.id) for task in load_tasks(TASKS_DIR)}


def with_mutations() -> list[str]:
    """Ids of the bundles that have mutations."""
    return [id for id in bundles() if (_MUTATIONS_DIR / f"{_module_name(id)}.py").is_file()]


def _module_name(task_id: str) -> str:
    return task_id.replace("-", "_")
