"""Measures modifiers: see `harness/checks/modifiers.py`."""

from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from harness.in_blender.checks import values
from harness.in_blender.checks.mesh_arrays import MeshArrays
from harness.in_blender.checks.opened import OpenedScene, Unmeasurable
from harness.in_blender.checks.own_modifiers import own_modifiers

_INVISIBLE = {
    "WEIGHTED_NORMAL", "NORMAL_EDIT", "DATA_TRANSFER", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX",
    "VERTEX_WEIGHT_PROXIMITY", "COLLISION", "SURFACE", "DYNAMIC_PAINT", "PARTICLE_SYSTEM", "FLUID", "MESH_TO_VOLUME",
}  # fmt: skip
"""Types whose effect may lie in what is not compared."""
_BROUGHT_ALONG = {("BOOLEAN", "uvs")}
"""What comes with a modifier that does nothing: a boolean takes over the UV layers of its cutter, cutting or not."""
_MAX = 100


def modifier_exists(_: OpenedScene, o: bpy.types.Object, __: dict[str, Any]) -> dict[str, Any]:
    return {
        "stack": [
            {"name": m.name, "type": m.type, "show_viewport": m.show_viewport, "show_render": m.show_render}
            for m in own_modifiers(o)
        ]
    }


no_unapplied_modifiers = modifier_exists


def modifier_param(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    modifiers = [m for m in own_modifiers(opened.evaluated(o)) if m.type == parameters["modifier"]]
    found = [values.read(m, parameters["path"]) for m in modifiers]
    return {"labels": [m.name for m in modifiers], "values": found}


def modifier_effective(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    wanted = parameters["modifier"]
    modifiers = [m for m in own_modifiers(o) if wanted in (None, m.type)][:_MAX]
    if not modifiers:
        return {"effects": []}
    whole = _state(opened, o)
    effects = []
    for modifier in modifiers:
        is_on = modifier.show_viewport
        modifier.show_viewport = False
        opened.refresh()
        without = _state(opened, o)
        modifier.show_viewport = is_on
        opened.refresh()
        effects.append(
            {
                "name": modifier.name,
                "type": modifier.type,
                "is_on": is_on,
                "is_rendered": modifier.show_render,
                "changes": [c for c in _changes(whole, without) if (modifier.type, c) not in _BROUGHT_ALONG],
                "is_visible_kind": modifier.type not in _INVISIBLE,
            }
        )
    return {"effects": effects}


def _state(opened: OpenedScene, o: bpy.types.Object) -> tuple[MeshArrays, np.ndarray]:
    """Its mesh, and where what it instances stands."""
    mesh = opened.mesh(o)
    if not np.isfinite(mesh.points).all():
        raise Unmeasurable("its mesh holds coordinates that are not finite")
    places = [p.mesh.points.mean(axis=0) for p in opened.parts() if p.is_instance and p.owner == o.name_full]
    return mesh, np.array(places).reshape(-1, 3)


def _changes(a: tuple[MeshArrays, np.ndarray], b: tuple[MeshArrays, np.ndarray]) -> list[str]:
    one, other = _in_fixed_order(a[0]), _in_fixed_order(b[0])
    reach = 1e-6 * max(one.diagonal, other.diagonal, 1e-6)
    compared = {
        "vertices": len(one.points) == len(other.points),
        "faces": _same(one.corners, other.corners) and _same(one.sizes, other.sizes),
        "positions": len(one.points) != len(other.points) or _near(one.points, other.points, reach),
        "materials": _same(one.materials, other.materials) or len(one.sizes) != len(other.sizes),
        "shading": len(one.sizes) != len(other.sizes)
        or (_same(one.smooth, other.smooth) and _sharp_edges(one) == _sharp_edges(other)),
        "uvs": len(one.corners) != len(other.corners) or _same_uvs(one, other),
        "instances": len(a[1]) == len(b[1]) and _near(a[1], b[1], reach),
    }
    return [name for name, is_same in compared.items() if not is_same]


def _in_fixed_order(mesh: MeshArrays) -> MeshArrays:
    """The same mesh, each face beginning at its lowest vertex: a boolean that cuts nothing turns its faces' corners."""
    lowest = np.lexsort((mesh.corners, mesh.corner_faces))[mesh.starts]
    first, size = mesh.starts[mesh.corner_faces], mesh.sizes[mesh.corner_faces]
    order = first + (np.arange(len(mesh.corners)) - first + (lowest - mesh.starts)[mesh.corner_faces]) % size
    return replace(mesh, corners=mesh.corners[order], uvs={name: uv[order] for name, uv in mesh.uvs.items()})


def _sharp_edges(mesh: MeshArrays) -> set[tuple[int, int]]:
    """As pairs of vertices: such a boolean orders edges anew too."""
    return {(min(pair), max(pair)) for pair in mesh.edges[mesh.sharp.astype(bool)].tolist()}


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool((a == b).all())


def _near(a: np.ndarray, b: np.ndarray, reach: float) -> bool:
    return not len(a) or bool(np.abs(a - b).max() <= reach)


def _same_uvs(a: MeshArrays, b: MeshArrays) -> bool:
    return a.uvs.keys() == b.uvs.keys() and all(_near(a.uvs[name], b.uvs[name], 1e-6) for name in a.uvs)
