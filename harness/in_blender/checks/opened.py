"""The opened scene that checks measure: one evaluation a frame, shared by all of them.

What can be computed once is kept until the frame or the scene changes: evaluated meshes in world space, their search
trees, instances. Objects are found in the active scene's view layer, never in `bpy.data.objects`, where objects
survive that no scene shows.
"""

import fnmatch
import re
from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from harness.in_blender.checks.as_rendered import evaluate_as_rendered
from harness.in_blender.checks.mesh_arrays import MeshArrays, read_mesh
from harness.in_blender.checks.see_through import looks_of
from harness.in_blender.node_time import simulates

GEOMETRY = {"MESH", "CURVE", "SURFACE", "META", "FONT"}
"""Object types that have a mesh, or can be given one."""
MAX_FACES = 2_000_000
"""Of one mesh; a measurement of a larger one is refused."""
MAX_INSTANCES = 20_000
HOLDOUT = "it is a holdout"
_SIMULATED = {"CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM", "DYNAMIC_PAINT", "COLLISION"}


class Unmeasurable(Exception):
    """Why something cannot be measured: its check is then unknown."""


class Part:
    """A piece of shown geometry: an object's own, or an instance of it."""

    def __init__(
        self, name: str, owner: str, is_instance: bool, mesh: MeshArrays, looks: np.ndarray, unseen: str
    ) -> None:
        self.name, self.owner, self.is_instance, self.mesh = name, owner, is_instance, mesh
        """`owner`: the object that draws it; of an object's own geometry, itself."""
        self.looks, self.unseen = looks, unseen
        """The look of each face (see `see_through.py`), and why no camera sees any of it, or ''."""


class OpenedScene:
    """The active scene and its view layer, at one frame at a time."""

    def __init__(self) -> None:
        self.scene = bpy.context.scene
        self.view_layer = bpy.context.view_layer
        self.saved_frame = self.scene.frame_current
        self.has_simulation = _has_simulation(self.scene)
        self._in_layer = {o.name_full for o in self.view_layer.objects}
        self._reached: int | None = None
        self._back: Callable[[], None] | None = None
        self.refresh()

    def show_as_rendered(self, wanted: bool) -> None:
        """Evaluate from now on what a final render would, or again what viewports show."""
        back, self._back = self._back, None
        if back:
            back()
        if wanted:
            self._back = evaluate_as_rendered(self.view_layer.objects)
        if back or self._back:
            self._reached = None
            self.refresh()

    # time

    @property
    def frame(self) -> int:
        return int(self.scene.frame_current)

    def go_to(self, frame: int) -> None:
        """Evaluate a frame. A simulation knows only the frames it was stepped through, from its start on."""
        if self._reached == frame:
            return
        if self.has_simulation:
            start = self.simulation_start
            if self._reached is None or self._reached > frame:
                self.scene.frame_set(start)
                self._reached = start
            for between in range(self._reached + 1, frame + 1):
                self.scene.frame_set(between)
        # also where nothing is simulated: drivers and handlers of the file's frame are evaluated anew
        if self.scene.frame_current != frame or self._reached is None:
            self.scene.frame_set(frame)
        self._reached = frame
        self.refresh()

    @property
    def simulation_start(self) -> int:
        world = self.scene.rigidbody_world
        starts = [self.scene.frame_start, *([world.point_cache.frame_start] if world and world.point_cache else [])]
        return int(min(starts))

    def refresh(self) -> None:
        """Forget what was measured, and evaluate again."""
        self._meshes: dict[tuple[str, str], MeshArrays] = {}
        self._trees: dict[str, BVHTree] = {}
        self._parts: list[Part] | None = None
        self.view_layer.update()

    @property
    def graph(self) -> bpy.types.Depsgraph:
        return bpy.context.evaluated_depsgraph_get()

    # objects

    def is_shown(self, o: bpy.types.Object) -> bool:
        """In the view layer, and hidden neither in viewports nor in renders, by itself or by a collection."""
        return self.is_in_layer(o) and o.visible_get() and not o.hide_render and not self._is_unrendered(o)

    def is_in_layer(self, o: bpy.types.Object) -> bool:
        return o.name_full in self._in_layer

    def unseen(self, o: bpy.types.Object) -> str:
        """Why cameras do not see it, whatever its materials; '' where they do."""
        if not o.visible_camera:
            return "its visibility to cameras is off"
        if o.holdout_get(view_layer=self.view_layer):
            return f"{HOLDOUT}: a hole in the picture"
        if o.indirect_only_get(view_layer=self.view_layer):
            return "the view layer shows it in reflections and bounced light only"
        return ""

    def _is_unrendered(self, o: bpy.types.Object) -> bool:
        """Whether all collections that bring it into the scene are hidden in renders."""
        return o.name_full not in self._rendered_names()

    def _rendered_names(self) -> set[str]:
        if not hasattr(self, "_rendered"):
            found: set[str] = set()
            waiting = [self.view_layer.layer_collection]
            while waiting:
                layer = waiting.pop()
                if layer.exclude or layer.collection.hide_render:
                    continue
                found.update(o.name_full for o in layer.collection.objects)
                waiting += list(layer.children)
            self._rendered = found
        return self._rendered

    def select(self, selector: dict[str, Any]) -> tuple[list[bpy.types.Object], int]:
        """The objects that a selector means, by name, and how many hidden ones would match besides."""
        matching = [o for o in self.scene.objects if _matches(o, selector)]
        shown = [o for o in matching if selector.get("include_hidden") or self.is_shown(o)]
        return sorted(shown, key=lambda o: o.name_full), len(matching) - len(shown)

    def one(self, selector: dict[str, Any], role: str) -> bpy.types.Object:
        """The single object that a selector of a relation means."""
        found, n_hidden = self.select(selector)
        if len(found) != 1:
            hidden = f" ({n_hidden} hidden)" if n_hidden else ""
            raise Unmeasurable(f"{len(found)} objects{hidden} match '{role}', it takes exactly one")
        return found[0]

    def some(self, selector: dict[str, Any], role: str) -> list[bpy.types.Object]:
        """The objects that a selector of a relation means: as many as it allows."""
        found, n_hidden = self.select(selector)
        if len(found) < selector["min"] or (selector["max"] is not None and len(found) > selector["max"]):
            hidden = f" ({n_hidden} hidden)" if n_hidden else ""
            raise Unmeasurable(f"{len(found)} objects{hidden} match '{role}'")
        return found

    # geometry

    def evaluated(self, o: bpy.types.Object) -> bpy.types.Object:
        """The evaluated object. Raises Unmeasurable for one that Blender does not evaluate."""
        if not self.is_in_layer(o):
            raise Unmeasurable("it is not in the view layer, so that Blender does not evaluate it")
        evaluated = o.evaluated_get(self.graph)
        # what the eye hides is evaluated, what is turned off in viewports is not, unless something else needs it
        if not evaluated.is_evaluated:
            raise Unmeasurable("it is hidden in viewports, so that Blender does not evaluate its modifiers")
        return evaluated

    def matrix(self, o: bpy.types.Object) -> np.ndarray:
        """The evaluated world matrix, 4x4."""
        matrix = np.array(o.evaluated_get(self.graph).matrix_world)
        if not np.isfinite(matrix).all():
            raise Unmeasurable("its world matrix holds numbers that are not finite")
        return matrix

    def mesh(self, o: bpy.types.Object, which: str = "evaluated") -> MeshArrays:
        """Its own mesh in world space, `evaluated` (modifiers applied) or `base`; without its instances."""
        key = (o.name_full, which)
        if key not in self._meshes:
            if o.type not in GEOMETRY:
                raise Unmeasurable(f"it has no mesh (its type is {o.type})")
            if which == "base":
                if o.type != "MESH":
                    raise Unmeasurable(f"only meshes have a base mesh (its type is {o.type})")
                self._meshes[key] = _read(o.data, self.matrix(o))
            else:
                self._meshes[key] = self._evaluated_mesh(o, self.matrix(o))
        return self._meshes[key]

    def local_mesh(self, o: bpy.types.Object) -> MeshArrays:
        """Its evaluated mesh in its own space: bit by bit the same for copies, wherever they stand."""
        return self._evaluated_mesh(o, np.eye(4))

    def _evaluated_mesh(self, o: bpy.types.Object, matrix: np.ndarray) -> MeshArrays:
        evaluated = self.evaluated(o)
        try:
            mesh = evaluated.to_mesh()
        except RuntimeError as error:
            raise Unmeasurable(f"it cannot be made a mesh ({error})") from error
        try:
            if mesh is None:
                raise Unmeasurable("it cannot be made a mesh")
            return _read(mesh, matrix)
        finally:
            evaluated.to_mesh_clear()

    def finite_mesh(self, o: bpy.types.Object, which: str = "evaluated") -> MeshArrays:
        """Its mesh, where all coordinates are numbers and there is a vertex at all."""
        mesh = self.mesh(o, which)
        if not len(mesh.points):
            raise Unmeasurable("its mesh has no vertices")
        if not mesh.is_finite:
            raise Unmeasurable("its mesh holds coordinates that are not finite")
        return mesh

    def tree(self, o: bpy.types.Object) -> BVHTree:
        """A search tree of its evaluated mesh, in WORLD space (`BVHTree.FromObject` is in local space)."""
        if o.name_full not in self._trees:
            mesh = self.finite_mesh(o)
            if not len(mesh.triangles):
                raise Unmeasurable("its mesh has no faces")
            self._trees[o.name_full] = tree_of(mesh)
        return self._trees[o.name_full]

    def parts(self) -> list[Part]:
        """All geometry that the scene shows, instances included, in world space."""
        if self._parts is None:
            self._parts = list(self._read_parts())
        return self._parts

    def _read_parts(self) -> Iterator[Part]:
        read: dict[Any, tuple[MeshArrays, np.ndarray]] = {}
        hidden = {o.name_full for o in self.scene.objects if not self.is_shown(o)}
        for n, instance in enumerate(self.graph.object_instances):
            if n > MAX_INSTANCES:
                raise Unmeasurable(f"the scene shows more than {MAX_INSTANCES} instances")
            o = instance.object
            owner = instance.parent.original.name_full if instance.is_instance else o.original.name_full
            if o.type not in GEOMETRY or owner in hidden or not instance.show_self:
                continue
            key = (o.original.name_full, o.data.as_pointer() if o.data else 0)
            if key not in read:
                mesh = o.to_mesh()
                arrays = _read(mesh, np.eye(4)) if mesh else MeshArrays.empty()
                read[key] = arrays, looks_of(o, arrays.materials)
                o.to_mesh_clear()
            arrays, looks = read[key]
            if len(arrays.points):
                moved = arrays.moved(np.array(instance.matrix_world))
                unseen = self.unseen(o.original)
                if instance.is_instance:
                    unseen = unseen or self.unseen(instance.parent.original)
                yield Part(o.original.name_full, owner, bool(instance.is_instance), moved, looks, unseen)

    def points_of(self, o: bpy.types.Object, include_instances: bool) -> np.ndarray:
        """World positions of its evaluated vertices, with those of the instances that it draws, [n, 3]."""
        found = [self.mesh(o).points] if o.type in GEOMETRY else []
        if include_instances:
            found += [part.mesh.points for part in self.parts() if part.is_instance and part.owner == o.name_full]
        points = np.concatenate(found) if found else np.zeros((0, 3))
        if not len(points):
            raise Unmeasurable("it shows no geometry")
        if not np.isfinite(points).all():
            raise Unmeasurable("its mesh holds coordinates that are not finite")
        return points


def tree_of(mesh: MeshArrays) -> BVHTree:
    """A search tree in the space of the mesh's points."""
    return BVHTree.FromPolygons(mesh.points.tolist(), mesh.triangles.tolist(), all_triangles=True)


def _read(mesh: bpy.types.Mesh, matrix: np.ndarray) -> MeshArrays:
    if len(mesh.polygons) > MAX_FACES or len(mesh.vertices) > MAX_FACES:
        raise Unmeasurable(f"its mesh has more than {MAX_FACES} faces or vertices")
    return read_mesh(mesh, matrix)


def _matches(o: bpy.types.Object, selector: dict[str, Any]) -> bool:
    name = o.name
    return (
        not o.is_missing  # what stands for an object of a library that is not there
        and (selector.get("name") is None or name == selector["name"])
        and (selector.get("glob") is None or fnmatch.fnmatchcase(name, selector["glob"]))
        and (selector.get("regex") is None or re.fullmatch(selector["regex"], name) is not None)
        and (selector.get("type") is None or o.type == selector["type"])
        and (selector.get("collection") is None or _is_in_collection(o, selector["collection"]))
    )


def _is_in_collection(o: bpy.types.Object, name: str) -> bool:
    collection = bpy.data.collections.get(name)
    return collection is not None and o.name in collection.all_objects


def _has_simulation(scene: bpy.types.Scene) -> bool:
    return scene.rigidbody_world is not None or any(
        m.type in _SIMULATED or (m.type == "NODES" and simulates(m)) for o in scene.objects for m in o.modifiers
    )
