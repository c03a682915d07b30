"""What turns one canonical scene state into the next, exactly; `state_diff.py` compares and words with a tolerance.

    {"version": 1, "scene": "Scene",
     "blocks": {"Object/Cube": {"set": {"location": [0, 0, 2]}, "gone": ["modifiers[Bevel].width"]},
                "Material/Red": null},
     "evaluated": {"instances": {"is": "not measured"}}}

A name stands for what was set in it and what went, with `null` for all of it; `is` gives a whole new value. Equal is
what `==` calls equal, so that an unchanged data-block costs one comparison. Pure functions of JSON; the unchanged parts
of a state are shared with the next, never copied. A state may be an empty one: `BLANK`.
"""

from collections.abc import Mapping
from typing import Any

BLANK: Mapping[str, Any] = {"version": 0, "scene": "", "blocks": {}, "evaluated": {}}
"""A state of nothing: the patch from here holds the whole of a state."""
_PARTS = ("blocks", "evaluated")
_MAX_VALUE = 60


def state_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What `patched` makes `after` of `before` with. It shares its values with `after`."""
    changes = {part: _changed(before[part], after[part]) for part in _PARTS}
    return {"version": after["version"], "scene": after["scene"], **changes}


def patched(before: Mapping[str, Any], patch: Any) -> dict[str, Any]:
    """The state after `before`. Raises ValueError for what is no patch.

    What goes need not be there, nor the block in which something is set: another Blender's start scene may lack it.
    """
    check_patch(patch)
    parts = {part: _with_changes(before[part], patch[part]) for part in _PARTS}
    return {"version": patch["version"], "scene": patch["scene"], **parts}


def check_patch(patch: Any) -> None:
    """Raises ValueError, saying what is wrong and where, unless `patched` can use it."""
    keys = {"version", "scene", *_PARTS}
    if not isinstance(patch, dict) or patch.keys() != keys:
        raise _malformed("it", patch, f"an object with the keys {', '.join(sorted(keys))}")
    if type(patch["version"]) is not int:
        raise _malformed("version", patch["version"], "a whole number")
    for part in _PARTS:
        if not isinstance(patch[part], dict):
            raise _malformed(part, patch[part], "an object")
        for name, change in patch[part].items():
            _check_change(f"{part}[{name!r}]", change, is_block=part == "blocks")


def _check_change(where: str, change: Any, *, is_block: bool) -> None:
    if change is None:
        return
    if not isinstance(change, dict) or change.keys() not in ({"is"}, {"set", "gone"}):
        raise _malformed(where, change, "null, or an object with 'is' or with 'set' and 'gone'")
    if is_block and not isinstance(change.get("is", {}), dict):
        raise _malformed(f"{where}['is']", change["is"], "an object")
    if not isinstance(change.get("set", {}), dict):
        raise _malformed(f"{where}['set']", change["set"], "an object")
    gone = change.get("gone", [])
    if not (isinstance(gone, list) and all(isinstance(path, str) for path in gone)):
        raise _malformed(f"{where}['gone']", gone, "a list of paths")


def _malformed(where: str, value: Any, expected: str) -> ValueError:
    text = repr(value) if isinstance(value, str | int | float | None) else f"of type {type(value).__name__}"
    return ValueError(f"not a state patch: {where} is {text[:_MAX_VALUE]}, expected {expected}")


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    gone = dict.fromkeys(name for name in before if name not in after)
    return gone | {
        name: _change(before.get(name), value)
        for name, value in after.items()
        if name not in before or before[name] != value
    }


def _change(before: Any, after: Any) -> dict[str, Any]:
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return {"is": after}
    return {
        "set": {path: value for path, value in after.items() if path not in before or before[path] != value},
        "gone": [path for path in before if path not in after],
    }


def _with_changes(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in before.items() if changes.get(name, name) is not None}
    return kept | {name: _with_change(before.get(name), change) for name, change in changes.items() if change}


def _with_change(before: Any, change: Mapping[str, Any]) -> Any:
    if "is" in change:
        return change["is"]
    gone = set(change["gone"])
    kept = {path: value for path, value in before.items() if path not in gone} if isinstance(before, dict) else {}
    return kept | change["set"]
