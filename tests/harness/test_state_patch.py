"""A patch makes the next state out of one, exactly, and what is no patch is refused with the place."""

import json
import random
from itertools import pairwise
from typing import Any

import pytest

from harness.state_patch import BLANK, patched, state_patch

EMPTY: dict[str, Any] = {"version": 1, "scene": "Scene", "blocks": {}, "evaluated": {}}


def state(blocks: dict[str, Any] | None = None, evaluated: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {**EMPTY, "blocks": blocks or {}, "evaluated": evaluated or {}, **more}


CUBE = state({"Object/Cube": {"location": [0.0, 0.0, 1.0], "parent": None}}, {"Object/Cube": {"n_vertices": 8}})


@pytest.mark.parametrize(
    "after",
    [
        CUBE,
        EMPTY,
        state({"Object/Cube": {"location": [0.0, 0.0, 1.0 + 1e-16 + 2e-16]}}),
        state({"Object/Cube": {"location": None, "parent": None}}, {"Object/Cube": {}}),
        state({"Object/Cube": {"parent": "Object/Ball"}, "Object/Ball": {}}, {"Object/Ball": {"bounds": None}}),
        state({"Object/Cube": {}}, {"Object/Cube": "not measured", "instances": None}),
        state({}, {"Object/Cube": ["odd"]}, version=2, scene=None),
    ],
)
@pytest.mark.parametrize("before", [CUBE, EMPTY, dict(BLANK), state({"Object/Cube": {}}, {"Object/Cube": None})])
def test_a_patch_gives_the_next_state(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Exactly, through JSON, forwards and back; None is a value."""
    for one, other in [(before, after), (after, before)]:
        assert patched(one, json.loads(json.dumps(state_patch(one, other)))) == other


def test_a_chain_of_patches_gives_every_state() -> None:
    """Two hundred states at random, each made out of the one before."""
    chance = random.Random(7)
    values = [None, 0, 1.5, "text", [1, 2], {"hash": "a"}, [None]]

    def entries() -> dict[str, Any]:
        return {f"path{i}": chance.choice(values) for i in range(4) if chance.random() < 0.7}

    def some(*odd: Any) -> dict[str, Any]:
        return {f"Object/{i}": chance.choice([entries(), entries(), *odd]) for i in range(4) if chance.random() < 0.7}

    states = [state(some(), some(None, "odd", 3), scene=chance.choice("ab")) for _ in range(200)]
    made = states[0]
    for before, after in pairwise(states):
        made = patched(made, state_patch(before, after))
        assert made == after


def test_what_is_the_same_is_not_in_it() -> None:
    """Only what was set and what went, by data-block and path."""
    after = state({"Object/Cube": {"location": [0.0, 0.0, 2.0]}}, {"Object/Cube": {"n_vertices": 8}})
    assert state_patch(CUBE, after) == {
        **EMPTY,
        "blocks": {"Object/Cube": {"set": {"location": [0.0, 0.0, 2.0]}, "gone": ["parent"]}},
    }
    assert state_patch(CUBE, CUBE) == EMPTY
    assert state_patch(CUBE, EMPTY)["blocks"] == {"Object/Cube": None}


def test_unchanged_blocks_are_shared() -> None:
    """Nothing is copied, and neither the state before nor the patch is changed."""
    before = state({"Object/A": {"a": 1}, "Object/B": {"b": 1}})
    patch = state_patch(before, state({"Object/A": {"a": 1}, "Object/B": {"b": 2}}))
    texts = json.dumps([before, patch])
    after = patched(before, patch)
    assert after["blocks"]["Object/A"] is before["blocks"]["Object/A"]
    assert json.dumps([before, patch]) == texts


def test_a_start_that_lacks_what_is_patched() -> None:
    """Another Blender's start scene: what is set is there, what goes is gone."""
    after = state({"Object/Cube": {"location": [0.0, 0.0, 2.0]}})
    assert patched(EMPTY, state_patch(CUBE, after)) == after
    assert patched(EMPTY, state_patch(CUBE, EMPTY)) == EMPTY


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        (None, "it is None, expected an object with the keys blocks, evaluated, scene, version"),
        ([], "it is of type list"),
        ({"version": 1}, "it is of type dict, expected an object with the keys blocks"),
        ({**EMPTY, "more": {}}, "it is of type dict"),
        ({**EMPTY, "version": "1"}, "version is '1', expected a whole number"),
        ({**EMPTY, "version": True}, "version is True"),
        ({**EMPTY, "blocks": []}, "blocks is of type list, expected an object"),
        ({**EMPTY, "evaluated": None}, "evaluated is None, expected an object"),
        ({**EMPTY, "blocks": {"A/b": "x" * 99}}, r"blocks\['A/b'\] is 'x+, expected null, or an object with 'is' or"),
        ({**EMPTY, "blocks": {"A/b": {}}}, r"blocks\['A/b'\] is of type dict"),
        ({**EMPTY, "blocks": {"A/b": {"set": {}}}}, r"blocks\['A/b'\] is of type dict"),
        ({**EMPTY, "blocks": {"A/b": {"is": 1}}}, r"blocks\['A/b'\]\['is'\] is 1, expected an object"),
        ({**EMPTY, "blocks": {"A/b": {"set": 1, "gone": []}}}, r"blocks\['A/b'\]\['set'\] is 1, expected an object"),
        (
            {**EMPTY, "evaluated": {"A/b": {"set": {}, "gone": [1]}}},
            r"evaluated\['A/b'\]\['gone'\] is of type list, expected a list of paths",
        ),
    ],
)
def test_what_is_no_patch_is_refused(patch: Any, text: str) -> None:
    """With the place, what is there and what was expected."""
    with pytest.raises(ValueError, match=f"^not a state patch: {text}"):
        patched(CUBE, patch)
