"""Ways to spoil the skittle alley, and which checks have to see each; the words are those of `mutating.py`.

The throw is baked: what is changed plays the old throw, until the cache is freed and the physics takes its new course.
"""

from tests.tasks.mutations.wording import drifts, each_key

CACHE = "with bpy.context.temp_override(point_cache=S.rigidbody_world.point_cache):\n    bpy.ops.ptcache.{}\n"
FREE = CACHE.format("free_bake()")
BAKE = CACHE.format("bake(bake=True)")
PINS = "for p in objects('Pin '):\n    {}"


def anew(change: str) -> str:
    """Free the cache, and `change` something: the throw is simulated anew when it is judged."""
    return FREE + change


def rebaked(change: str) -> str:
    """`change` something, and bake the new throw."""
    return FREE + change + "\n" + BAKE


def no_body(name: str) -> str:
    """The world no longer holds the object."""
    return f"S.rigidbody_world.collection.objects.unlink(obj({name!r}))"


MUTATIONS: dict[str, tuple[str, set[str]]] = {
    # objects
    "five pins": ("delete('Pin 6')", {"parts", "pin-size", "pins-on-lane", "pin-bodies", "pins-fall", "pins-in-alley"}),
    "no ball": ("delete('Ball')", {"parts", "ball-body", "ball-rolls", "ball-arrives", "baked", "seen-at-start"}),
    "no gate": ("delete('Gate')", {"parts", "gate-waits", "gate-opens", "gate-clear", "still-bodies"}),
    "no lane": ("delete('Lane')", {"parts", "lane-size", "lane-at-zero", "pins-in-alley", "ball-arrives"}),
    "a pin is called Skittle": ("obj('Pin 3').name = 'Skittle 3'", {"parts", "pin-bodies", "pins-fall", "rows"}),
    "the backstop is hidden": ("obj('Backstop').hide_render = True", {"parts", "still-bodies", "alley-in-picture"}),
    "a board is in no collection": (
        "S.rigidbody_world.collection.objects.unlink(obj('Board left')); unlink('Board left')",
        {"parts", "still-bodies"},
    ),
    "a seventh pin": (
        "o = obj('Pin 1').copy(); o.name = 'Pin 7'; o.location.x += 0.7\nS.collection.objects.link(o)",
        {"pin-size"},
    ),
    "all of maple": (
        "for o in D.objects:\n    if o.type == 'MESH':\n        for i in range(len(o.data.materials)):\n"
        "            o.data.materials[i] = D.materials['Maple']",
        {"materials"},
    ),
    # sizes and places
    "the lane is short": ("stretch('Lane', 0.4, 1, 1)", {"lane-size"}),
    "the lane is wide": ("stretch('Lane', 1, 2, 1)", {"lane-size"}),
    "the lane is scaled": ("scale('Lane', 1.5, 1, 1)", {"lane-size"}),
    "the lane is too high": ("move('Lane', z=0.2)", {"lane-at-zero", "ball-arrives", "pins-in-alley"}),
    "the lane is too low": ("move('Lane', z=-0.3)", {"lane-at-zero", "ball-arrives"}),
    "pins of half the height": (PINS.format("stretch(p.name, 1, 1, 0.5)"), {"pin-size", "pins-on-lane"}),
    "pins as thick as barrels": (PINS.format("stretch(p.name, 3, 3, 1)"), {"pin-size", "pins-apart"}),
    "pins a man's height": (PINS.format("stretch(p.name, 1, 1, 4)"), {"pin-size", "pins-on-lane"}),
    "a pin hangs in the air": (anew("move('Pin 4', z=0.05)"), {"pins-on-lane", "pins-wait", "baked"}),
    "a pin is sunk": (anew("move('Pin 5', z=-0.08)"), {"pins-on-lane", "baked"}),
    "two pins in one place": (
        anew("obj('Pin 2').location = obj('Pin 3').location"),
        {"pins-apart", "pins-wait", "baked"},
    ),
    "a pin stands before the first": (anew("move('Pin 2', x=-0.6)"), {"rows", "baked"}),
    "the gate cuts into the ball": ("move('Gate', x=-0.1)", {"pins-apart"}),
    # bodies, as they are set
    "the ball is passive": ("obj('Ball').rigid_body.type = 'PASSIVE'", {"ball-body"}),
    "the ball is a feather": ("obj('Ball').rigid_body.mass = 0.1", {"ball-body"}),
    "the ball is a safe": ("obj('Ball').rigid_body.mass = 400", {"ball-body"}),
    "the ball collides as a box": ("obj('Ball').rigid_body.collision_shape = 'BOX'", {"ball-body"}),
    "the ball is turned off": ("obj('Ball').rigid_body.enabled = False", {"ball-body"}),
    "the pins are of lead": (PINS.format("p.rigid_body.mass = 20"), {"pin-bodies"}),
    "one pin is passive": ("obj('Pin 1').rigid_body.type = 'PASSIVE'", {"pin-bodies"}),
    "a pin is no body": (no_body("Pin 4"), {"pin-bodies"}),
    "the lane is active": ("obj('Lane').rigid_body.type = 'ACTIVE'", {"still-bodies"}),
    "the ramp is no body": (no_body("Ramp"), {"still-bodies"}),
    "no world": (
        "bpy.ops.rigidbody.world_remove()",
        {"ball-body", "pin-bodies", "still-bodies", "ball-rolls", "pins-fall"},
    ),
    "the world is off": ("S.rigidbody_world.enabled = False", {"ball-rolls", "pins-fall", "ball-body"}),
    # time
    "too many frames": ("S.frame_end = 250", {"time"}),
    "film's rate": ("S.render.fps_base = 1.001", {"time"}),
    # the gate
    "the gate has no keys": ("obj('Gate').animation_data_clear()", {"gate-opens"}),
    "the gate opens at once": (each_key("Gate", "k.co.x -= 8"), {"gate-waits"}),
    "the gate opens late": (each_key("Gate", "k.co.x += 20"), {"gate-opens"}),
    "the gate opens a little": (
        "c = curves('Gate')[0]; c.keyframe_points[1].co.y = c.keyframe_points[0].co.y + 0.1; c.update()",
        {"gate-opens"},
    ),
    "the gate sinks": (
        "c = curves('Gate')[0]; c.keyframe_points[1].co.y = c.keyframe_points[0].co.y - 0.5; c.update()",
        {"gate-opens"},
    ),
    "the gate slides away": ("curves('Gate')[0].array_index = 1", {"gate-opens"}),
    # the throw, simulated anew
    "not baked": (FREE, {"baked"}),
    "baked for half the time": (rebaked("S.rigidbody_world.point_cache.frame_end = 60"), {"baked"}),
    "the gate is not animated for the physics": (
        anew("obj('Gate').rigid_body.kinematic = False"),
        {"ball-rolls", "ball-arrives", "pins-fall", "baked"},
    ),
    "the gate stays shut": (
        anew("obj('Gate').animation_data_clear(); obj('Gate').location.z = 0.8045"),
        {"gate-opens", "gate-clear", "ball-rolls", "pins-fall", "baked"},
    ),
    "no gate for the physics": (anew(no_body("Gate")), {"still-bodies", "ball-waits", "baked"}),
    "no lane for the physics": (
        anew(no_body("Lane")),
        {"still-bodies", "pins-wait", "pins-fall", "pins-in-alley", "ball-arrives", "baked"},
    ),
    "no gravity": (anew("S.use_gravity = False"), {"ball-rolls", "pins-fall", "baked"}),
    "gravity of the moon": (anew("S.gravity.z = -1.6"), {"pins-fall", "baked"}),
    "the wind blows": (anew("S.gravity.x = 4"), {"pins-wait", "baked"}),
    "all pins are passive": (anew(PINS.format("p.rigid_body.type = 'PASSIVE'")), {"pin-bodies", "pins-fall", "baked"}),
    "passive pins, baked": (rebaked(PINS.format("p.rigid_body.type = 'PASSIVE'")), {"pin-bodies", "pins-fall"}),
    "pins glued to the lane": (
        rebaked(PINS.format("p.rigid_body.use_margin = False; p.rigid_body.angular_damping = 1.0")),
        {"pins-fall"},
    ),
    "the ball starts aside": (rebaked("move('Ball', y=2)"), {"ball-arrives", "pins-fall"}),
    "the ball is feather-light, baked": (rebaked("obj('Ball').rigid_body.mass = 0.02"), {"ball-body", "pins-fall"}),
    "the ball is keyed to its place": (
        rebaked("obj('Ball').rigid_body.kinematic = True"),
        {"ball-rolls", "ball-arrives", "pins-fall"},
    ),
    # the picture
    "the camera looks away": ("aim('Camera', (0, -9, 3))", {"seen-at-start", "in-picture-at-end", "alley-in-picture"}),
    "the camera sees the pins alone": ("obj('Camera').data.lens = 85", {"seen-at-start", "alley-in-picture"}),
    "no camera": ("delete('Camera')", {"seen-at-start", "in-picture-at-end", "alley-in-picture"}),
    "the camera drifts away": (drifts("Camera", "x", 6, 120), {"in-picture-at-end"}),
    "a screen stands before the pins": ("add_cube('Screen', (1.6, -1.6, 0.8), 1.6)", {"seen-at-start"}),
}

HARMLESS: dict[str, str] = {
    "baked once more": rebaked(""),
    "another blue": "set_socket('Ball', 'Base Color', (0.1, 0.1, 0.5, 1))",
    "a scoreboard": "add_cube('Scoreboard', (0, 1.5, 1), 0.5)",
    "the gate rises higher": "c = curves('Gate')[0]; c.keyframe_points[1].co.y += 0.2",
    "saved in the middle": "S.frame_set(60)",
    "a heavier ball": "obj('Ball').rigid_body.mass = 7",
    "more substeps": "S.rigidbody_world.substeps_per_frame = 40",
    "flat shading of the ball": "for p in obj('Ball').data.polygons: p.use_smooth = False",
    "a longer lens by a little": "obj('Camera').data.lens = 37",
}
