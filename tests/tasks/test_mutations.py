"""Each good scene is spoilt in many ways: every check that claims to see one does, and harmless changes spoil none."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from harness.checks.verdict import Outcome
from tests.harness.checks.judging import outcomes_of_mutations
from tests.tasks.bundles import bundles, with_mutations
from tests.tasks.good_scenes import make_scene

pytestmark = [pytest.mark.blender, pytest.mark.timeout(600)]

_PROGRAM = Path(__file__).with_name("measure_mutations.py").resolve()
Outcomes = Mapping[str, Mapping[str, Outcome]]
"""Mutation -> id of a check -> outcome."""


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcomes]:
    """Measures a bundle when it is asked for first: its good scene as it is, and changed in every way."""

    @cache
    def measured(task_id: str) -> Outcomes:
        bundle, folder = bundles()[task_id], tmp_path_factory.mktemp(task_id)
        good = make_scene(bundle, "right", tmp_path_factory.mktemp(f"{task_id}-good"))
        codes = {name: mutation.code for name, mutation in bundle.mutations.items()}
        (folder / "mutations.json").write_text(json.dumps(codes))
        return outcomes_of_mutations(_PROGRAM, good, bundle.checks, folder, folder / "mutations.json")

    return measured


def test_every_scene_has_mutations() -> None:
    """No bundle of a scene is left out of what follows."""
    assert [id for id, bundle in bundles().items() if bundle.task.kind == "scene"] == with_mutations()


@pytest.mark.parametrize("task_id", with_mutations())
def test_there_are_many_mutations(task_id: str) -> None:
    """At least 30 that spoil something, each seen by some check, and some that are harmless; no check is claimed that
    does not stand in checks.json, and none is left out."""
    bundle = bundles()[task_id]
    mutations, ids = bundle.mutations.values(), {check.id for check in bundle.checks}
    spoiling = [mutation for mutation in mutations if mutation.seen_by]
    assert len(spoiling) >= 30
    assert len(spoiling) < len(mutations)
    assert frozenset().union(*(mutation.seen_by for mutation in spoiling)) == ids


@pytest.mark.parametrize("task_id", with_mutations())
def test_the_good_scene_passes_all(task_id: str, outcomes: Callable[[str], Outcomes]) -> None:
    """The control: what is seen below is the spoiling."""
    assert {id for id, outcome in outcomes(task_id)["nothing"].items() if outcome != "pass"} == set()


@pytest.mark.parametrize("task_id", with_mutations())
def test_every_mutation_is_seen(task_id: str, outcomes: Callable[[str], Outcomes]) -> None:
    """By every check that claims to see it."""
    blind = {
        name: unseen
        for name, mutation in bundles()[task_id].mutations.items()
        if (unseen := {id for id in mutation.seen_by if outcomes(task_id)[name][id] == "pass"})
    }
    assert blind == {}


@pytest.mark.parametrize("task_id", with_mutations())
def test_harmless_changes_spoil_nothing(task_id: str, outcomes: Callable[[str], Outcomes]) -> None:
    """What the brief leaves open is nobody's fault: no check minds it."""
    minded = {
        name: by
        for name, mutation in bundles()[task_id].mutations.items()
        if not mutation.seen_by and (by := {id for id, outcome in outcomes(task_id)[name].items() if outcome != "pass"})
    }
    assert minded == {}
