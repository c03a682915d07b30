"""Ways to spoil the orrery, and which checks have to see each; the words are those of `mutating.py`."""

from tests.tasks.mutations.wording import drifts, each_key


def times(arm: str, factor: float) -> str:
    """The arm turns so many times as often."""
    return each_key(f"{arm} arm", f"k.co.y *= {factor}")


def paint(name: str, r: float, g: float, b: float) -> str:
    """The object's material has another base colour."""
    return f"set_socket({name!r}, 'Base Color', ({r}, {g}, {b}, 1))"


EVERY_ARM = (
    "for arm in ('Mercury arm', 'Earth arm', 'Saturn arm', 'Moon arm'):\n    c = curves(arm)[0]\n    {}\n    c.update()"
)
IN_TIME = {"mercury-in-time", "earth-in-time", "moon-in-time", "saturn-in-time"}

MUTATIONS: dict[str, tuple[str, set[str]]] = {
    # objects
    "no Moon": ("delete('Moon')", {"parts", "balls-apart", "moon-in-time", "row-at-start", "moon-loops"}),
    "no ring": ("delete('Saturn ring')", {"parts", "balls-apart", "all-in-picture"}),
    "no Sun": ("delete('Sun')", {"parts", "sun-size", "sun-yellow", "stands-still", "seen"}),
    "Saturn is called Jupiter": (
        "obj('Saturn').name = 'Jupiter'",
        {"parts", "planet-sizes", "saturn-in-time", "saturn-loops"},
    ),
    "the Earth is hidden": ("obj('Earth').hide_render = True", {"parts", "earth-in-time", "seen"}),
    "the base is in no collection": ("unlink('Base')", {"parts", "stands", "stands-still", "all-in-picture"}),
    "the post is called Pole": ("obj('Post').name = 'Pole'", {"parts"}),
    # colours and sizes
    "all of brass": (
        "for o in D.objects:\n    if o.type == 'MESH': o.data.materials[0] = D.materials['Brass']",
        {"materials"},
    ),
    "no materials": (
        "for o in D.objects:\n    if o.type == 'MESH': o.data.materials.clear()",
        {"materials", "sun-yellow"},
    ),
    "a blue sun": (paint("Sun", 0.1, 0.2, 0.9), {"sun-yellow"}),
    "a black sun": (paint("Sun", 0, 0, 0), {"sun-yellow"}),
    "a giant sun": ("scale('Sun', 2, 2, 2)", {"sun-size", "balls-apart"}),
    "a flat sun": ("stretch('Sun', 1, 1, 0.2)", {"sun-size"}),
    "a giant Mercury": ("scale('Mercury', 4, 4, 4)", {"planet-sizes"}),
    "a tiny Saturn": ("stretch('Saturn', 0.1, 0.1, 0.1)", {"planet-sizes"}),
    # places
    "the base floats": ("move('Base', z=0.2)", {"stands"}),
    "the base is sunk": ("move('Base', z=-0.5)", {"stands"}),
    "the pin misses Mercury": ("obj('Mercury pin').scale.z = 0.4", {"holds-together"}),
    "the post does not reach the Sun": ("move('Post', z=-0.4)", {"holds-together"}),
    "Saturn's arm is too short": (
        "scale('Saturn arm', 0.5, 0.5, 1)",
        {"saturn-in-time", "saturn-eighth", "saturn-loops"},
    ),
    "the Moon hangs on nothing": ("unparent('Moon')", {"moon-in-time", "holds-together"}),
    "the Earth hangs on nothing": ("unparent('Earth')", {"earth-in-time", "holds-together"}),
    "Mercury in the Sun": ("obj('Mercury').location.x = 0.4", {"balls-apart", "mercury-in-time"}),
    "Mercury too far out": ("obj('Mercury').location.x = 1.2", {"mercury-in-time", "mercury-three-turns"}),
    "Saturn too low": ("obj('Saturn').location.z -= 0.3", {"saturn-in-time", "saturn-eighth", "saturn-loops"}),
    "the Moon in the Earth": ("obj('Moon').location.x = 0.1", {"balls-apart", "moon-in-time", "moon-loops"}),
    # time
    "two frames too many": ("S.frame_end = 50", {"time"}),
    "starts at zero": ("S.frame_start = 0", {"time"}),
    "thirty frames a second": ("S.render.fps = 30", {"time"}),
    # pace
    "eased keys": (
        EVERY_ARM.format("for k in c.keyframe_points: k.interpolation = 'BEZIER'"),
        IN_TIME | {"saturn-eighth"},
    ),
    "the last key on frame 48": (EVERY_ARM.format("c.keyframe_points[1].co.x = 48"), IN_TIME),
    "jumps": (
        EVERY_ARM.format("for k in c.keyframe_points: k.interpolation = 'CONSTANT'"),
        IN_TIME | {"mercury-three-turns"},
    ),
    "one key": (EVERY_ARM.format("c.keyframe_points.remove(c.keyframe_points[1])"), IN_TIME | {"saturn-eighth"}),
    "muted curves": (EVERY_ARM.format("c.mute = True"), IN_TIME),
    "clockwise": (EVERY_ARM.format("for k in c.keyframe_points: k.co.y *= -1"), IN_TIME | {"saturn-eighth"}),
    "half as fast": (EVERY_ARM.format("for k in c.keyframe_points: k.co.y /= 2"), IN_TIME | {"saturn-loops"}),
    "all in another place at first": (
        EVERY_ARM.format("for k in c.keyframe_points: k.co.y += 1.5"),
        IN_TIME | {"row-at-start", "saturn-loops", "moon-loops", "saturn-eighth"},
    ),
    "Mercury twice": (times("Mercury", 2 / 3), {"mercury-in-time", "mercury-three-turns"}),
    "Mercury stands": ("obj('Mercury arm').animation_data_clear()", {"mercury-in-time", "mercury-three-turns"}),
    "the Earth once": (times("Earth", 0.5), {"earth-in-time", "moon-in-time"}),
    "Saturn thrice": (times("Saturn", 3), {"saturn-in-time", "saturn-eighth"}),
    "Saturn three quarters": (times("Saturn", 0.75), {"saturn-in-time", "saturn-eighth", "saturn-loops"}),
    "the Moon's arm four times": (times("Moon", 2), {"moon-in-time"}),
    "the Moon is fixed": ("obj('Moon arm').animation_data_clear()", {"moon-in-time"}),
    "an action without a slot": (
        "obj('Saturn arm').animation_data.action_slot = None",
        {"saturn-in-time", "saturn-eighth"},
    ),
    "the arms tilt": (EVERY_ARM.format("c.array_index = 0"), IN_TIME),
    "the Sun wanders": (drifts("Sun", "x", 0.5, 48), {"stands-still"}),
    "the base sinks": (drifts("Base", "z", -0.2, 48), {"stands-still"}),
    # camera and render
    "the camera flies": (drifts("Camera", "x", 1, 48), {"camera-still"}),
    "the camera looks away": ("aim('Camera', (20, 0, 0))", {"all-in-picture", "seen", "not-blank"}),
    "the camera is too near": ("obj('Camera').data.lens = 90", {"all-in-picture"}),
    "no camera": ("delete('Camera')", {"camera-still", "all-in-picture", "seen", "not-blank"}),
    "a wall before the camera": ("add_cube('Screen', (0, -6, 3.6), 3)", {"seen", "holds-together"}),
    "another engine": ("S.render.engine = 'CYCLES'", {"render"}),
    "half the resolution": ("S.render.resolution_percentage = 50", {"render"}),
    "single pictures": ("S.render.image_settings.file_format = 'PNG'", {"render"}),
    "an absolute path": ("S.render.filepath = '/home/someone/output.mp4'", {"output"}),
    "another file": ("S.render.filepath = '//film.mp4'", {"output"}),
}

HARMLESS: dict[str, str] = {
    "another brass": paint("Post", 0.7, 0.5, 0.2),
    "an orange sun": paint("Sun", 1.0, 0.5, 0.1),
    "stars": "for i in range(5): add_cube(f'Star {i}', (i - 2, 12, 5), 0.02).hide_render = True",
    "the ring upright": "obj('Saturn ring').rotation_euler.x = 0.5",
    "a shorter lens": "obj('Camera').data.lens = 40",
    "a key in the middle": (
        "c = curves('Mercury arm')[0]\nc.keyframe_points.insert(25, c.evaluate(25)).interpolation = 'LINEAR'"
    ),
    "a Cycles modifier": "curves('Saturn arm')[0].modifiers.new('CYCLES')",
    "saved in the middle": "S.frame_set(24)",
    "smooth or not": "for p in obj('Sun').data.polygons: p.use_smooth = False",
}
