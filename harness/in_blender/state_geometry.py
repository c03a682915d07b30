"""What evaluation makes of the scene: world matrices, evaluated meshes and instances, at the current frame.

Of the active view layer of the context's scene. Objects that its depsgraph leaves out (hidden in viewports, excluded
collections) are not here. Normals are left out: their last bit differs between processes.
"""

import bpy
import numpy as np

from harness.in_blender.state_mesh import bag, bag_with, keys_of, material_indexes
from harness.in_blender.state_plans import float_list, unreadable
from harness.in_blender.state_rna import block_key, column
from harness.in_blender.state_values import Value, array_value, digest, quantised, rounded

MAX_INSTANCES = 100_000
_BY_CONVERSION = {"CURVE", "SURFACE", "FONT", "META"}


def evaluated_state() -> dict[str, Value]:
    graph = bpy.context.evaluated_depsgraph_get()
    found: dict[str, Value] = {}
    for o in sorted(graph.view_layer.objects, key=lambda o: o.name_full):
        evaluated = o.evaluated_get(graph)
        if evaluated.is_evaluated:
            found[block_key(o)] = object_state(evaluated)
    instances = instances_state(graph)
    if instances:
        found["instances"] = instances
    return found


def object_state(o: bpy.types.Object) -> Value:
    try:
        state: dict[str, Value] = {"matrix_world": float_list(o.matrix_world)}
        state.update(geometry_state(o))
        state.update(particles_state(o))
        if o.pose:
            matrices = np.array([bone.matrix for bone in o.pose.bones], dtype=np.float32)
            state["pose"] = array_value(matrices.reshape(-1, 16), inline=False)
    except Exception as error:  # noqa: BLE001 - one odd object must not hide the rest
        return unreadable(error)
    return state


def geometry_state(o: bpy.types.Object) -> dict[str, Value]:
    if o.type == "MESH":
        return mesh_state(o.data)
    if o.type in _BY_CONVERSION:
        mesh = o.to_mesh()
        state = mesh_state(mesh) if mesh else {}
        o.to_mesh_clear()
        return state
    if o.type in {"CURVES", "POINTCLOUD"} and "position" in o.data.attributes:
        positions = column(o.data.attributes["position"].data, "vector", "FLOAT", 3)
        return {"n_points": len(positions), "bounds": bounds(positions), "hash": digest(quantised(positions))}
    return {}


def mesh_state(mesh: bpy.types.Mesh) -> dict[str, Value]:
    keys = keys_of(mesh)
    materials = material_indexes(mesh)
    return {
        "n_vertices": len(keys.vertex),
        "n_edges": len(mesh.edges),
        "n_faces": len(mesh.polygons),
        "bounds": bounds(keys.positions),
        "materials": [block_key(m.original) if m else None for m in mesh.materials],
        "hash": f"{bag(keys.vertex, keys.edge)}{bag_with(keys.face, materials)}",
        "print": keys.print,
    }


def bounds(positions: np.ndarray) -> Value:
    """[lowest corner, highest corner] in the object's own space; None for nothing."""
    if not len(positions):
        return None
    columns = [positions[:, i] for i in range(3)]
    return [[rounded(float(f(c))) for c in columns] for f in (np.min, np.max)]


def particles_state(o: bpy.types.Object) -> dict[str, Value]:
    return {
        f"particles[{system.name}]": array_value(column(system.particles, "location", "FLOAT", 3), inline=False)
        for system in o.particle_systems
        if len(system.particles)
    }


def instances_state(graph: bpy.types.Depsgraph) -> Value | None:
    """Copies that instancers draw (nodes, particles, collections): what and where, in no order."""
    rows: list[tuple[str, str, list[tuple[float, ...]]]] = []
    n_left_out = 0
    for instance in graph.object_instances:
        if not instance.is_instance or _is_own_mesh(instance):
            continue
        if len(rows) >= MAX_INSTANCES:
            n_left_out += 1
            continue
        rows.append((instance.object.name_full, instance.parent.name_full, list(map(tuple, instance.matrix_world))))
    if not rows:
        return None
    matrices = quantised(np.array([row[2] for row in rows], dtype=np.float32).reshape(-1, 16))
    lines = sorted(f"{row[0]}\0{row[1]}\0".encode() + m.tobytes() for row, m in zip(rows, matrices, strict=True))
    places = matrices[:, [3, 7, 11]]
    state = {"n": len(rows) + n_left_out, "bounds": bounds(places), "hash": digest(b"".join(lines))}
    return {**state, "n_left_out": n_left_out} if n_left_out else state


def _is_own_mesh(instance: bpy.types.DepsgraphObjectInstance) -> bool:
    """Blender lists the mesh of a curve or text as an instance of it, in its place."""
    parent = instance.parent
    return parent.type in _BY_CONVERSION and bool(instance.matrix_world == parent.matrix_world)
