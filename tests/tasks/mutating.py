"""The words in which mutations are written: short functions that change the opened scene. Each raises where what it
should change is not there, so that no mutation changes nothing."""

import math
from collections.abc import Callable
from typing import Any

import bmesh
import bpy
from mathutils import Vector


def names() -> dict[str, Any]:
    """What the statements of a mutation find: all of this module, `D` (bpy.data) and `S` (the scene)."""
    return {**globals(), "D": bpy.data, "S": bpy.context.scene}


# objects


def obj(name: str) -> Any:
    """The object."""
    return bpy.data.objects[name]


def objects(prefix: str) -> list[Any]:
    """The objects whose names begin so; at least one."""
    found = [o for o in bpy.context.scene.objects if o.name.startswith(prefix)]
    assert found, prefix
    return found


def move(name: str, x: float = 0, y: float = 0, z: float = 0) -> None:
    """Along the world's axes, whatever its parent."""
    bpy.context.view_layer.update()
    matrix = obj(name).matrix_world.copy()
    matrix.translation += Vector((x, y, z))
    obj(name).matrix_world = matrix


def turn(name: str, x: float = 0, y: float = 0, z: float = 0) -> None:
    """Degrees, added to its Euler angles."""
    for axis, degrees in enumerate((x, y, z)):
        obj(name).rotation_euler[axis] += math.radians(degrees)


def scale(name: str, x: float, y: float, z: float) -> None:
    """Factors, not applied."""
    obj(name).scale = Vector(obj(name).scale) * Vector((x, y, z))


def delete(name: str) -> None:
    """From the file, with what it alone used."""
    bpy.data.objects.remove(obj(name))
    bpy.data.orphans_purge(do_recursive=True)


def unlink(name: str) -> None:
    """From every collection: the file keeps it, no scene shows it."""
    obj(name).use_fake_user = True
    for owner in list(obj(name).users_collection):
        owner.objects.unlink(obj(name))


def unparent(name: str) -> None:
    """It stays where it is."""
    assert obj(name).parent
    bpy.context.view_layer.update()
    matrix = obj(name).matrix_world.copy()
    obj(name).parent = None
    obj(name).matrix_world = matrix


def add_cube(name: str, location: tuple[float, float, float], size: float = 1.0) -> Any:
    """A new cube in the scene's own collection."""
    bpy.ops.mesh.primitive_cube_add(size=size, location=location)
    made = bpy.context.object
    made.name = made.data.name = name
    return made


def aim(name: str, at: tuple[float, float, float]) -> None:
    """Turn a camera or light so that its -Z axis goes through a point; its constraints no longer do that."""
    obj(name).constraints.clear()
    bpy.context.view_layer.update()
    way = Vector(at) - obj(name).matrix_world.translation
    matrix = way.to_track_quat("-Z", "Y").to_matrix().to_4x4()
    matrix.translation = obj(name).matrix_world.translation
    obj(name).matrix_world = matrix


# meshes: the mesh itself, under its modifiers


def edit(name: str, change: Callable[[Any], object]) -> None:
    """`change` a bmesh of the object's mesh."""
    made = bmesh.new()
    made.from_mesh(obj(name).data)
    for elements in (made.verts, made.edges, made.faces):
        elements.ensure_lookup_table()
    change(made)
    made.to_mesh(obj(name).data)
    made.free()
    obj(name).data.update()


def inside_out(name: str) -> None:
    """Every face looks the other way."""
    obj(name).data.flip_normals()


def flip_face(name: str, index: int = 0) -> None:
    """One face looks the other way."""
    edit(name, lambda made: made.faces[index].normal_flip())


def remove_face(name: str, index: int = 0) -> None:
    """A hole."""
    edit(name, lambda made: made.faces.remove(made.faces[index]))


def double(name: str) -> None:
    """Every element twice, in the same place."""
    edit(name, lambda m: bmesh.ops.duplicate(m, geom=m.verts[:] + m.edges[:] + m.faces[:]))


def loose_vertex(name: str) -> None:
    """A vertex without an edge, where its first one is."""
    edit(name, lambda made: made.verts.new(made.verts[0].co + Vector((0.001, 0.001, 0.001))))


def empty_mesh(name: str) -> None:
    """Nothing is left of its mesh."""
    obj(name).data.clear_geometry()


def stretch(name: str, x: float, y: float, z: float) -> None:
    """Scale its mesh, about its origin."""
    for vertex in obj(name).data.vertices:
        vertex.co = vertex.co * Vector((x, y, z))


# modifiers


def modifier(name: str, kind: str) -> Any:
    """The object's first modifier of a type."""
    return next(m for m in obj(name).modifiers if m.type == kind)


def remove_modifier(name: str, kind: str) -> None:
    """Takes the first one of the type away."""
    obj(name).modifiers.remove(modifier(name, kind))


def apply_modifier(name: str, kind: str) -> None:
    """Makes it permanent: the shape stays, what can be edited goes."""
    obj(name).data = obj(name).data.copy() if obj(name).data.users > 1 else obj(name).data
    with bpy.context.temp_override(object=obj(name)):
        bpy.ops.object.modifier_apply(modifier=modifier(name, kind).name)


# materials


def material_of(name: str, slot: int = 0) -> Any:
    """The material in a slot of the object."""
    return obj(name).material_slots[slot].material


def shader(name: str, slot: int = 0) -> Any:
    """The Principled BSDF of a material of the object."""
    return next(n for n in material_of(name, slot).node_tree.nodes if n.type == "BSDF_PRINCIPLED")


def set_socket(name: str, socket: str, value: Any, slot: int = 0) -> None:
    """Give a socket of its Principled BSDF a value of its own: what fed it is unlinked."""
    tree, found = material_of(name, slot).node_tree, shader(name, slot).inputs[socket]
    for link in list(found.links):
        tree.links.remove(link)
    found.default_value = value


def unlink_materials(name: str) -> None:
    """No slot is left."""
    assert obj(name).data.materials
    obj(name).data.materials.clear()


# animation


def curves(name: str, data_path: str = "") -> list[Any]:
    """The F-curves of the object's action, of one property if a path is given; at least one."""
    data = obj(name).animation_data
    found = data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves
    chosen = [curve for curve in found if data_path in ("", curve.data_path)]
    assert chosen, data_path
    return chosen


def drop_keys(name: str, data_path: str = "", keep: int = 1) -> None:
    """Only the first `keep` keys of each curve stay."""
    for curve in curves(name, data_path):
        while len(curve.keyframe_points) > keep:
            curve.keyframe_points.remove(curve.keyframe_points[-1])


def driver(name: str, data_path: str) -> Any:
    """The driver of a property of the object."""
    return next(d for d in obj(name).animation_data.drivers if d.data_path == data_path).driver


# what all files have


def add_orphan() -> None:
    """A material that nothing uses, kept by a fake user."""
    bpy.data.materials.new("left over").use_fake_user = True
