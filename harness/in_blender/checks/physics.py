"""Measures physics: see `harness/checks/physics.py`. The frames were stepped by `opened.go_to`."""

from collections.abc import Iterator
from typing import Any

import bpy

from harness.in_blender.checks.opened import GEOMETRY, OpenedScene

_MODIFIERS = {"CLOTH", "SOFT_BODY", "FLUID", "COLLISION", "DYNAMIC_PAINT", "PARTICLE_SYSTEM"}


def rigid_body(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    body = o.rigid_body
    if body is None:
        return {"exists": False}
    world = opened.scene.rigidbody_world
    members = world.collection.objects if world and world.enabled and world.collection else []
    return {
        "exists": True,
        "type": body.type,
        "mass": body.mass,
        "shape": body.collision_shape,
        "is_in_world": o.name in members,
        "is_enabled": bool(body.enabled),
    }


def sim_result(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    if o.type in GEOMETRY:
        return {"place": opened.points_of(o, False).mean(axis=0)}
    return {"place": opened.matrix(o)[:3, 3]}


def physics_modifier(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    return {"systems": list(_systems(opened, o))[:100]}


cache_baked = physics_modifier


def _systems(opened: OpenedScene, o: bpy.types.Object) -> Iterator[dict[str, Any]]:
    for modifier in o.modifiers:
        if modifier.type in _MODIFIERS:
            is_on = bool(modifier.show_viewport and modifier.show_render)
            yield {"kind": modifier.type, "name": modifier.name, "is_on": is_on, **_cache(modifier)}
    if o.rigid_body:
        world = opened.scene.rigidbody_world
        is_on = bool(world and world.enabled)
        yield {"kind": "RIGID_BODY", "name": "rigid body world", "is_on": is_on, **_point_cache(world)}


def _cache(modifier: Any) -> dict[str, Any]:
    if modifier.type == "PARTICLE_SYSTEM":
        return _point_cache(modifier.particle_system)
    if modifier.type == "FLUID":
        domain = modifier.domain_settings if modifier.fluid_type == "DOMAIN" else None
        if domain is None:
            return _NO_CACHE
        return {
            "has_cache": True,
            "is_baked": bool(domain.has_cache_baked_data),
            "start": domain.cache_frame_start,
            "end": domain.cache_frame_end,
            "is_external": True,
        }
    return _point_cache(modifier)


_NO_CACHE = {"has_cache": False, "is_baked": False, "start": 0, "end": 0, "is_external": False}


def _point_cache(owner: Any) -> dict[str, Any]:
    cache = getattr(owner, "point_cache", None)
    if cache is None:
        return _NO_CACHE
    return {
        "has_cache": True,
        "is_baked": bool(cache.is_baked),
        "start": cache.frame_start,
        "end": cache.frame_end,
        "is_external": bool(cache.use_disk_cache or cache.use_external),
    }
