"""Compares two canonical scene states (what `in_blender/scene_state.py` returns) and words the difference.

Pure functions of the JSON. Floats count as equal within a relative tolerance, arrays that the state holds as a hash
when the hash is equal: a magnitude is then the shift of their bounds and mean, or None where those stayed.
A renamed data-block is one that went and one that came.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

TOLERANCE = 1e-5
"""Relative difference of two floats that counts as none."""
PRINT_NOISE = 4e-6
"""How much a wave of a print may differ by noise in the last bits, times the square root of the vertices."""
PRINT_CELL = 1e-3
"""The same for the state hash, where a border between two cells must hardly ever be met."""
FINEST = 2e-6
"""Absolute difference that counts as none."""
_BAG = re.compile(r"^layers\[.*?\]\.strips\[\d+\]\.channelbags\[.*?\]\.")
"""What stands before `fcurves[...]` in an action; it has one layer and one strip."""
Kind = Literal["added", "removed", "changed"]
_MAX_PARTS = 6
_MAX_NAMES = 8
_MAX_VALUE = 60
_FIRST_KINDS = ("Scene", "Object", "Mesh", "Material")
_TRANSFORMS = ("location", "rotation_euler", "rotation_quaternion", "scale", "parent")


@dataclass(frozen=True)
class Change:
    """One path at which two states differ; a whole data-block that came or went is one change."""

    path: str
    """`Object/Cube.modifiers[Bevel].width`, `Object/Cube.evaluated.n_vertices`, `Material/Red`, `instances.n`."""
    kind: Kind
    before: Any
    after: Any
    """Values as in the state; None for a whole data-block."""
    magnitude: float | None
    """Largest absolute difference of a number in it."""
    block: str
    """`Object/Cube`."""

    @property
    def name(self) -> str:
        """The path inside the block; empty for the block itself."""
        return self.path.removeprefix(self.block).removeprefix(".")


def parse_state(state: Any) -> dict[str, Any] | None:
    """The state, or None when it is none: what comes from Blender is a claim. Diffs rely on this form alone."""
    is_state = (
        isinstance(state, dict)
        and state.keys() >= {"version", "scene", "blocks", "evaluated"}
        and isinstance(state["evaluated"], dict)
        and isinstance(state["blocks"], dict)
        and all(isinstance(block, dict) for block in state["blocks"].values())
    )
    return state if is_state else None


def state_hash(state: Mapping[str, Any]) -> str:
    """SHA-256 of what is hashed of a state; the process in Blender gives the same.

    Evaluated meshes count by their numbers, bounds and a coarse print: what they follow from is hashed in full, and
    their last bits follow the order of elements.
    """
    hashed = {**state, "evaluated": {key: _coarse(value) for key, value in state["evaluated"].items()}}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _coarse(value: Any) -> Any:
    if not isinstance(value, dict) or "print" not in value:
        return value
    cell = PRINT_CELL * max(1, value["n_vertices"]) ** 0.5
    return {**value, "hash": None, "print": [round(wave / cell) for wave in value["print"]]}


def diff(before: Mapping[str, Any], after: Mapping[str, Any], *, tolerance: float = TOLERANCE) -> list[Change]:
    """All differences, in the order of their paths."""
    if before["version"] != after["version"]:
        raise ValueError(f"States of versions {before['version']} and {after['version']} cannot be compared.")
    changes = [*_diff_blocks(before["blocks"], after["blocks"], tolerance)]
    gone_or_new = {change.block for change in changes if not change.name}
    changes += _diff_evaluated(before["evaluated"], after["evaluated"], tolerance, gone_or_new)
    if before["scene"] != after["scene"]:
        changes.append(Change("scene.name", "changed", before["scene"], after["scene"], None, "scene"))
    return sorted(changes, key=lambda change: (change.block, change.path))


def is_same(before: Any, after: Any, tolerance: float = TOLERANCE) -> bool:
    """Equal, floats within the tolerance."""
    if before == after:
        return type(before) is type(after) or (not isinstance(before, bool) and not isinstance(after, bool))
    if _is_number(before) and _is_number(after):
        return bool(abs(before - after) <= max(FINEST, tolerance * max(abs(before), abs(after))))
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return all(is_same(b, a, tolerance) for b, a in zip(before, after, strict=True))
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return all(is_same(before[key], after[key], tolerance) for key in before)
    return False


def magnitude(before: Any, after: Any) -> float | None:
    """The largest difference of two numbers at the same place; None where there is none."""
    if _is_number(before) and _is_number(after):
        return float(abs(before - after))
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = zip(before, after, strict=True)
    elif isinstance(before, dict) and isinstance(after, dict):
        pairs = ((before[key], after[key]) for key in sorted(before.keys() & after.keys()) if key != "n")
    return max((m for pair in pairs if (m := magnitude(*pair))), default=None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _diff_blocks(before: Mapping[str, Any], after: Mapping[str, Any], tolerance: float) -> Iterator[Change]:
    for key in sorted(before.keys() | after.keys()):
        if key not in before:
            yield Change(key, "added", None, None, None, key)
        elif key not in after:
            yield Change(key, "removed", None, None, None, key)
        elif before[key] != after[key]:
            yield from _diff_entries(key, f"{key}.", before[key], after[key], tolerance)


def _diff_evaluated(
    before: Mapping[str, Any], after: Mapping[str, Any], tolerance: float, told: set[str]
) -> Iterator[Change]:
    for key in sorted((before.keys() | after.keys()) - told):
        prefix = "instances." if key == "instances" else f"{key}.evaluated."
        yield from _diff_entries(key, prefix, _entries(before.get(key)), _entries(after.get(key)), tolerance)


def _entries(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {} if value is None else {"state": value}


def _diff_entries(
    block: str, prefix: str, before: Mapping[str, Any], after: Mapping[str, Any], tolerance: float
) -> Iterator[Change]:
    is_noise = _is_noise_alone(before, after)
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        is_in_both = name in before and name in after
        if is_in_both and (is_same(old, new, tolerance) or (is_noise and _differs_by_hash_alone(name, old, new))):
            continue
        kind: Kind = "changed" if name in before and name in after else "added" if name in after else "removed"
        path = f"{prefix.rstrip('.')}{name}" if name.startswith("[") else f"{prefix}{name}"
        yield Change(path, kind, old, new, magnitude(old, new), block)


def _is_noise_alone(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the vertices of a mesh differ in their last bits at most; all that is hashed of it differs then."""
    old, new = (entries.get("attributes[position].data.vector", entries) for entries in (before, after))
    if not (isinstance(old, dict | Mapping) and isinstance(new, dict | Mapping) and "print" in old and "print" in new):
        return False
    counts = [entries.get("n", entries.get("n_vertices")) for entries in (old, new)]
    allowed = PRINT_NOISE * max(1, counts[0] or 0) ** 0.5
    return counts[0] == counts[1] and all(
        abs(o - n) <= allowed for o, n in zip(old["print"], new["print"], strict=True)
    )


def _differs_by_hash_alone(name: str, old: Any, new: Any) -> bool:
    if name in {"hash", "print", "topology"}:
        return True
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return False
    rest = [{k: v for k, v in entry.items() if k not in {"hash", "print"}} for entry in (old, new)]
    return "hash" in old and is_same(rest[0], rest[1])


# what a model reads


def summarise(changes: Iterable[Change], max_lines: int = 30) -> list[str]:
    """A few lines: what came, what went, what changed in which data-block, and how much is left out."""
    changes = list(changes)
    lines = [
        *_whole_blocks("+", [c for c in changes if not c.name and c.kind == "added"]),
        *_whole_blocks("-", [c for c in changes if not c.name and c.kind == "removed"]),
    ]
    told = {c.block for c in changes if not c.name}
    inside = sorted((c for c in changes if c.name and not _is_membership(c, told)), key=_order)
    for block, group in groupby(inside, key=lambda c: c.block):
        parts = _parts(list(group))
        if parts:
            shown = "; ".join(parts[:_MAX_PARTS])
            more = f"; and {len(parts) - _MAX_PARTS} more properties" if len(parts) > _MAX_PARTS else ""
            lines.append(f"~ {_titled(block)}: {shown}{more}")
    if len(lines) <= max_lines:
        return lines
    n_more = len(lines) - max_lines + 1
    return [*lines[: max_lines - 1], f"({n_more} more lines of changes are not shown)"]


def _is_membership(change: Change, told: set[str]) -> bool:
    """A collection that only gained or lost blocks which are told themselves."""
    moved = set(_names(change.before)) ^ set(_names(change.after))
    return bool(moved) and moved <= told and change.name.split(".")[-1] in {"objects", "children"}


def _order(change: Change) -> tuple[int, str, str]:
    kind = change.block.split("/")[0]
    place = _FIRST_KINDS.index(kind) if kind in _FIRST_KINDS else len(_FIRST_KINDS)
    return place, change.block, change.path


def _whole_blocks(sign: str, changes: list[Change]) -> Iterator[str]:
    for kind, group in groupby(sorted(changes, key=_order), key=lambda c: c.block.split("/")[0]):
        names = [_titled(c.block).removeprefix(f"{kind} ") for c in group]
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        yield f"{sign} {kind} {', '.join(names[:_MAX_NAMES])}{more}"


def _titled(block: str) -> str:
    kind, _, name = block.partition("/")
    return f"{kind} '{name}'" if name else kind


def _parts(changes: list[Change]) -> list[str]:
    """The changes of one block, those left out that follow from another."""
    names = {c.name for c in changes}
    covered = tuple(_covered(changes))
    has_counts = any(re.fullmatch(r"n_(vertices|edges|faces)", name) for name in names)
    is_moved = any(name in _TRANSFORMS for name in names)
    parts = []
    for change in changes:
        name = change.name
        follows = (
            name.startswith(covered)
            or (has_counts and (name.startswith("attributes[") or name == "topology"))
            or (is_moved and name == "evaluated.matrix_world")
            or (name == "evaluated.hash" and "evaluated.n_vertices" in names)
            or name in {"evaluated.n_edges", "n_edges", "evaluated.bounds"}
            or (name == "hash" and "n" in names)
        )
        if not follows:
            parts.append(_part(change))
    return parts or [_part(change) for change in changes]


def _covered(changes: list[Change]) -> Iterator[str]:
    """Prefixes of what came or went together with a struct or an item that is told itself."""
    for change in changes:
        if change.kind != "changed" and isinstance(change.before or change.after, str):
            yield f"{change.name}."
        old, new = _names(change.before), _names(change.after)
        for key in set(old) ^ set(new):
            yield f"{change.name}[{key}]"


def _names(value: Any) -> list[str]:
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else []


def _part(change: Change) -> str:
    name, old, new = _BAG.sub("", change.name), change.before, change.after
    count = re.fullmatch(r"(evaluated\.)?n_(\w+)", name)
    if count and _is_number(old) and _is_number(new):
        return f"{old} -> {new} {count[2]}{' evaluated' if count[1] else ''}"
    if change.block == "instances" and name == "n":
        return f"{old or 0} -> {new or 0}"
    if name in {"evaluated.hash", "hash"}:
        return "evaluated geometry differs" if name.startswith("evaluated") else "places differ"
    if name == "evaluated.matrix_world" and old and new:
        places = [f"({', '.join(_text(matrix[i]) for i in (3, 7, 11))})" for matrix in (old, new)]
        return f"world place {places[0]} -> {places[1]}" if places[0] != places[1] else "world rotation or scale"
    if name == "attributes[position].data.vector":
        name = "vertex positions"
    if _names(old) or _names(new):
        return _named_items(name, _names(old), _names(new))
    if isinstance(old, dict | list) and isinstance(new, dict | list) and (len(str(old)) > _MAX_VALUE):
        if change.magnitude is None:
            return f"{name} changed"
        is_hashed = isinstance(old, dict) and "hash" in old
        return f"{name} changed{', bounds or mean' if is_hashed else ''} by up to {_text(change.magnitude)}"
    if change.kind == "added":
        return f"{name} set to {_text(new)}"
    return f"{name} {_text(old)} removed" if change.kind == "removed" else f"{name} {_text(old)} -> {_text(new)}"


def _named_items(name: str, old: list[str], new: list[str]) -> str:
    signs = [f"+'{key}'" for key in new if key not in old] + [f"-'{key}'" for key in old if key not in new]
    if not signs:
        return f"{name} in another order"
    more = f" and {len(signs) - _MAX_NAMES} more" if len(signs) > _MAX_NAMES else ""
    return f"{name} {' '.join(signs[:_MAX_NAMES])}{more}"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        text = f"({', '.join(map(_text, value))})"
    else:
        text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}..."
