"""Differences of two scene states, and how they are worded, without Blender."""

from typing import Any

import pytest

from harness.state_diff import diff, is_same, state_hash, summarise


def state(
    blocks: dict[str, dict[str, Any]] | None = None, evaluated: dict[str, dict[str, Any]] | None = None
) -> dict[str, Any]:
    return {"version": 1, "scene": "Scene", "blocks": blocks or {}, "evaluated": evaluated or {}}


def cube(**values: Any) -> dict[str, Any]:
    return state({"Object/Cube": {"location": [0.0, 0.0, 1.0], "hide_render": False, **values}})


def test_equal_states() -> None:
    """A state differs from itself in nothing, whatever the order of its keys."""
    one = cube(a=1, b=2)
    other = cube(b=2, a=1)
    assert diff(one, other) == []
    assert state_hash(one) == state_hash(other)


def test_changed_value() -> None:
    """A changed value has its path, both values and the largest difference."""
    (change,) = diff(cube(), cube(location=[0.0, 0.0, 3.0]))
    assert (change.path, change.kind, change.magnitude) == ("Object/Cube.location", "changed", 2.0)
    assert (change.before, change.after) == ([0.0, 0.0, 1.0], [0.0, 0.0, 3.0])
    assert summarise([change]) == ["~ Object 'Cube': location (0, 0, 1) -> (0, 0, 3)"]


def test_whole_blocks() -> None:
    """A data-block that came or went is one change, its evaluated geometry included."""
    after = state({"Material/Red": {"a": 1}, "Object/Red": {}}, {"Object/Red": {"n_vertices": 8}})
    changes = diff(state(), after)
    assert [(c.path, c.kind) for c in changes] == [("Material/Red", "added"), ("Object/Red", "added")]
    assert summarise(changes) == ["+ Object 'Red'", "+ Material 'Red'"]
    assert summarise(diff(after, state())) == ["- Object 'Red'", "- Material 'Red'"]


def test_many_blocks_are_counted() -> None:
    """Names beyond the first few are counted."""
    after = state({f"Object/{i:03}": {} for i in range(100)})
    (line,) = summarise(diff(state(), after))
    assert line.startswith("+ Object '000', '001'")
    assert line.endswith("and 92 more")


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (1.0, 1.000001, True),
        (1.0, 1.0001, False),
        (0.0, 1e-6, True),
        (1000.0, 1000.001, True),
        (True, 1, False),
        ([1.0, 2.0], [1.0, 2.0, 3.0], False),
        ({"hash": "a", "low": [0.0]}, {"hash": "b", "low": [0.0]}, False),
        ("nan", "nan", True),
    ],
)
def test_tolerance(before: object, after: object, same: bool) -> None:
    """Floats are equal within the tolerance, everything else when it is equal."""
    assert is_same(before, after) is same


def test_hashed_array() -> None:
    """Of a hashed array the shift of its bounds is the magnitude, None where they stayed."""
    old = {"n": 9, "hash": "a", "low": [0.0, 0.0], "high": [1.0, 1.0]}
    moved = diff(cube(points=old), cube(points={**old, "hash": "b", "high": [1.0, 1.5]}))
    inner = diff(cube(points=old), cube(points={**old, "hash": "c"}))
    assert [c.magnitude for c in (*moved, *inner)] == [0.5, None]


def test_added_modifier_is_told_once() -> None:
    """What belongs to an item that came is not told beside it."""
    after = cube(**{"modifiers": ["Bevel"], "modifiers[Bevel].width": 0.1, "modifiers[Bevel].segments": 2})
    changes = diff(cube(), after)
    assert len(changes) == 3
    assert summarise(changes) == ["~ Object 'Cube': modifiers +'Bevel'"]


def test_order_of_modifiers() -> None:
    """A new order is told as such."""
    changes = diff(cube(modifiers=["A", "B"]), cube(modifiers=["B", "A"]))
    assert summarise(changes) == ["~ Object 'Cube': modifiers in another order"]


def test_counts_of_geometry() -> None:
    """A changed mesh is told by its counts, not array by array."""
    old = {"n_vertices": 8, "n_edges": 12, "n_faces": 6, "attributes[position].data.vector": {"hash": "a"}}
    new = {"n_vertices": 26, "n_edges": 48, "n_faces": 24, "attributes[position].data.vector": {"hash": "b"}}
    changes = diff(state({"Mesh/Cube": old}), state({"Mesh/Cube": new}))
    assert summarise(changes) == ["~ Mesh 'Cube': 6 -> 24 faces; 8 -> 26 vertices"]


def test_moved_by_its_parent() -> None:
    """An object that only its surroundings moved is told by its place in the world."""
    matrix = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    moved = [*matrix[:3], 5.0, *matrix[4:]]
    before, after = ({"Object/Cube": {"matrix_world": m}} for m in (matrix, moved))
    assert summarise(diff(state({}, before), state({}, after))) == [
        "~ Object 'Cube': world place (0, 0, 0) -> (5, 0, 0)"
    ]


def test_instances() -> None:
    """The number of instances is told."""
    before, after = ({"instances": {"n": n, "hash": str(n), "bounds": None}} for n in (3, 5))
    assert summarise(diff(state({}, before), state({}, after))) == ["~ instances: 3 -> 5"]


def test_lines_left_out_are_counted() -> None:
    """No more lines than asked, the last one says how many are missing."""
    before = state({f"Object/{i}": {"a": 1} for i in range(50)})
    after = state({f"Object/{i}": {"a": 2} for i in range(50)})
    lines = summarise(diff(before, after), max_lines=10)
    assert len(lines) == 10
    assert lines[-1] == "(41 more lines of changes are not shown)"


def test_custom_property() -> None:
    """A custom property stands under the path a script would use."""
    (change,) = diff(cube(), cube(**{'["heat"]': 3}))
    assert (change.path, change.name) == ('Object/Cube["heat"]', '["heat"]')
    assert summarise([change]) == ["~ Object 'Cube': [\"heat\"] set to 3"]


def test_collections_of_what_came() -> None:
    """That a new object is in a collection goes without saying; that an old one joined is told."""
    before = state({"Collection/A": {"objects": ["Object/X"]}, "Object/Y": {}})
    new = state({"Collection/A": {"objects": ["Object/X", "Object/Z"]}, "Object/Y": {}, "Object/Z": {}})
    joined = state({"Collection/A": {"objects": ["Object/X", "Object/Y"]}, "Object/Y": {}})
    assert summarise(diff(before, new)) == ["+ Object 'Z'"]
    assert summarise(diff(before, joined)) == ["~ Collection 'A': objects +'Object/Y'"]


def test_keyframes() -> None:
    """A keyframe is told by its curve, without the layers of the action."""
    path = "layers[Layer].strips[0].channelbags[OBCube].fcurves[location[0]].keyframe_points.co"
    before, after = (state({"Action/A": {path: [[1.0, 0.0], [24.0, y]]}}) for y in (5.0, 9.0))
    assert summarise(diff(before, after)) == [
        "~ Action 'A': fcurves[location[0]].keyframe_points.co ((1, 0), (24, 5)) -> ((1, 0), (24, 9))"
    ]


def test_other_scene() -> None:
    """That another scene is the current one is told."""
    assert summarise(diff(state(), {**state(), "scene": "Act 2"})) == ["~ scene: name 'Scene' -> 'Act 2'"]


def test_other_version() -> None:
    """States of different versions are refused."""
    with pytest.raises(ValueError, match="versions 1 and 2"):
        diff(state(), {**state(), "version": 2})
