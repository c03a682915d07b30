"""What `test_mutations.py` tests of tasks that end in a scene, of those that end in a film: on the scene it leaves."""

import importlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from harness.checks.verdict import Outcome
from tests.harness.checks.judging import outcomes_of_mutations
from tests.tasks.bundles import Mutation, bundles
from tests.tasks.video_scenes import make_video_scene

pytestmark = [pytest.mark.blender, pytest.mark.timeout(600)]

_PROGRAM = Path(__file__).with_name("measure_mutations.py").resolve()
_FILMS = [id for id, bundle in bundles().items() if bundle.task.kind == "video"]
Outcomes = Mapping[str, Mapping[str, Outcome]]
"""Mutation -> id of a check -> outcome."""


def mutations_of(task_id: str) -> dict[str, Mutation]:
    """Those of `mutations/video/<id>.py`, by name: the ones that spoil something and the HARMLESS ones."""
    module = importlib.import_module(f"tests.tasks.mutations.video.{task_id.replace('-', '_')}")
    spoiling = {name: Mutation(code, frozenset(seen_by)) for name, (code, seen_by) in module.MUTATIONS.items()}
    return spoiling | {name: Mutation(code, frozenset()) for name, code in module.HARMLESS.items()}


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcomes]:
    """Measures a film's scene when it is asked for first: as it is, and changed in every way."""

    @cache
    def measured(task_id: str) -> Outcomes:
        bundle, folder = bundles()[task_id], tmp_path_factory.mktemp(task_id)
        good = make_video_scene(bundle, "right", tmp_path_factory.mktemp(f"{task_id}-film"), folder / "good.blend")
        codes = {name: mutation.code for name, mutation in mutations_of(task_id).items()}
        (folder / "mutations.json").write_text(json.dumps(codes))
        return outcomes_of_mutations(_PROGRAM, good, bundle.checks, folder, folder / "mutations.json")

    return measured


@pytest.mark.parametrize("task_id", _FILMS)
def test_there_are_many_mutations(task_id: str) -> None:
    """At least 30 that spoil something, each seen by some check, and some that are harmless; no check is claimed that
    does not stand in checks.json, and none is left out."""
    mutations = mutations_of(task_id).values()
    spoiling = [mutation for mutation in mutations if mutation.seen_by]
    assert len(spoiling) >= 30
    assert len(spoiling) < len(mutations)
    assert frozenset().union(*(m.seen_by for m in spoiling)) == {check.id for check in bundles()[task_id].checks}


@pytest.mark.parametrize("task_id", _FILMS)
def test_the_good_scene_passes_all(task_id: str, outcomes: Callable[[str], Outcomes]) -> None:
    """The control: what is seen below is the spoiling."""
    assert {id for id, outcome in outcomes(task_id)["nothing"].items() if outcome != "pass"} == set()


@pytest.mark.parametrize("task_id", _FILMS)
def test_every_mutation_is_seen(task_id: str, outcomes: Callable[[str], Outcomes]) -> None:
    """By every check that claims to see it."""
    blind = {
        name: unseen
        for name, mutation in mutations_of(task_id).items()
        if (unseen := {id for id in mutation.seen_by if outcomes(task_id)[name][id] == "pass"})
    }
    assert blind == {}


@pytest.mark.parametrize("task_id", _FILMS)
def test_harmless_changes_spoil_nothing(task_id: str, outcomes: Callable[[str], Outcomes]) -> None:
    """What the brief leaves open is nobody's fault: no check minds it."""
    minded = {
        name: by
        for name, mutation in mutations_of(task_id).items()
        if not mutation.seen_by and (by := {id for id, outcome in outcomes(task_id)[name].items() if outcome != "pass"})
    }
    assert minded == {}
