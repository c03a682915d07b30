"""Ways to spoil the cuckoo clock, and which checks have to see each; the words are those of `mutating.py`."""

from tests.tasks.mutations.wording import drifts, each_key

MUTATIONS: dict[str, tuple[str, set[str]]] = {
    # objects and their names
    "no bob": ("delete('Bob boss'); delete('Bob')", {"parts", "bob-swings", "bob-clears-weights", "clock-in-picture"}),
    "the door is gone": (
        "delete('Door knob'); delete('Door')",
        {"parts", "door-opens", "bird-inside", "bird-clears-door"},
    ),
    "the dial is called otherwise": ("obj('Dial').name = 'Clock face'", {"parts", "house-still"}),
    "a hand is hidden": ("obj('Hour hand').hide_render = True", {"parts"}),
    "the weight is in no collection": ("unlink('Weight left')", {"parts", "bob-clears-weights"}),
    "the bird is hidden": ("obj('Cuckoo').hide_viewport = True", {"parts", "bird-seen", "bird-bows"}),
    # the clock as it hangs there
    "the case is scaled": ("scale('Case', 1.6, 1, 1)", {"size"}),
    "the case is a doll's house": ("stretch('Case', 0.5, 1, 1)", {"size"}),
    "a hand floats": ("move('Minute hand', y=-0.08)", {"hangs-together"}),
    "the roof hangs in the air": ("move('Roof left', y=-0.5); move('Roof right', y=-0.5)", {"hangs-together"}),
    "a weight has left its chain": ("move('Weight right', y=-0.1, z=-0.1)", {"hangs-together"}),
    "the wall stands away": ("move('Wall', y=0.3)", {"hangs-together"}),
    "no materials": (
        "for o in D.objects:\n    if o.type == 'MESH': o.data.materials.clear()",
        {"materials"},
    ),
    "everything is walnut": (
        "for o in D.objects:\n    if o.type == 'MESH': o.data.materials[0] = D.materials['Walnut']",
        {"materials"},
    ),
    "the weights are in the bob's way": (
        "for o in objects('Weight') + objects('Chain'): o.location.y = -0.125",
        {"bob-clears-weights"},
    ),
    "the bob is as wide as a plate": ("stretch('Bob', 2.5, 3.5, 2.5)", {"bob-clears-weights"}),
    # time
    "half the film": ("S.frame_end = 48", {"time"}),
    "thirty frames a second": ("S.render.fps = 30", {"time"}),
    "every second frame": ("S.frame_step = 2", {"time"}),
    # the pendulum
    "linear keys": (
        each_key("Pendulum", "k.interpolation = 'LINEAR'"),
        {"slow-at-the-turn", "swing-bezier"},
    ),
    "the pendulum jumps": (
        each_key("Pendulum", "k.interpolation = 'CONSTANT'"),
        {"slow-at-the-turn", "swing-bezier"},
    ),
    "flat handles pulled away": (
        each_key("Pendulum", "k.handle_left_type = k.handle_right_type = 'VECTOR'"),
        {"slow-at-the-turn"},
    ),
    "no cycles": ("c = curves('Pendulum')[0]; c.modifiers.remove(c.modifiers[0])", {"swing-cycles"}),
    "cycles are muted": ("curves('Pendulum')[0].modifiers[0].mute = True", {"swing-cycles"}),
    "one key is left": ("drop_keys('Pendulum')", {"swings-right", "slow-at-the-turn", "bob-swings"}),
    "no keys at all": (
        "obj('Pendulum').animation_data_clear()",
        {"swings-right", "slow-at-the-turn", "bob-swings", "swing-cycles", "swing-bezier"},
    ),
    "it swings half as far": (
        each_key("Pendulum", "k.co.y /= 2"),
        {"swings-left", "swings-right", "slow-at-the-turn"},
    ),
    "it starts to the right": (
        each_key("Pendulum", "k.co.y *= -1"),
        {"swings-left", "swings-right", "slow-at-the-turn", "bob-swings"},
    ),
    "it swings too slowly": (
        each_key("Pendulum", "k.co.x = 1 + 2 * (k.co.x - 1)"),
        {"swings-left", "swings-right"},
    ),
    "its action has no slot": (
        "obj('Pendulum').animation_data.action_slot = None",
        {"swings-right", "bob-swings", "swing-cycles"},
    ),
    "it swings about another axis": (
        "curves('Pendulum')[0].array_index = 0",
        {"swings-right", "slow-at-the-turn", "bob-swings"},
    ),
    "the bob hangs on nothing": ("unparent('Bob')", {"bob-swings"}),
    # the wheel
    "the wheel creeps": (
        "keys = curves('Escape wheel')[0].keyframe_points\nwhile len(keys) > 2:\n    keys.remove(keys[1])",
        {"wheel-jumped"},
    ),
    "the wheel turns back": (
        each_key("Escape wheel", "k.co.y *= -1"),
        {"wheel-jumped", "wheel-still"},
    ),
    "the wheel jumps late": (
        each_key("Escape wheel", "k.co.x += 12"),
        {"wheel-jumped"},
    ),
    "the wheel jumps once": ("drop_keys('Escape wheel', keep=3)", {"wheel-four-teeth"}),
    "the wheel stands": (
        "obj('Escape wheel').animation_data_clear(); obj('Escape wheel').rotation_euler.y = 0",
        {"wheel-jumped", "wheel-still", "wheel-four-teeth"},
    ),
    "the wheel wanders": (
        drifts("Escape wheel", "x", 0.05, 90),
        {"wheel-four-teeth"},
    ),
    # door and bird
    "the door opens inwards": (
        each_key("Door", "k.co.y *= -1"),
        {"door-opens"},
    ),
    "the door opens a crack": (
        each_key("Door", "k.co.y *= 0.2"),
        {"door-opens", "bird-clears-door"},
    ),
    "the door stays shut": (
        "obj('Door').animation_data_clear(); obj('Door').rotation_euler.z = 0",
        {"door-opens", "bird-clears-door"},
    ),
    "the door stays open": ("drop_keys('Door', keep=2)", {"door-shuts-again"}),
    "the door opens too late": (
        each_key("Door", "k.co.x += 30"),
        {"door-opens", "door-shuts-again", "bird-clears-door"},
    ),
    "the hinge is in the middle": (
        "move('Door', x=0.07); edit('Door', lambda m: bmesh.ops.translate(m, verts=m.verts, vec=(-0.07, 0, 0)))",
        {"bird-clears-door"},
    ),
    "the bird stays in": (
        "obj('Cuckoo').animation_data_clear(); obj('Cuckoo').location.y = -0.08",
        {"bird-comes-out", "bird-bows"},
    ),
    "the bird is out from the start": (
        each_key("Cuckoo", "k.co.y = -0.25", "location"),
        {"bird-inside", "bird-comes-out", "bird-back"},
    ),
    "the bird stays out": ("drop_keys('Cuckoo', 'location', keep=3)", {"bird-back"}),
    "the bird does not bow": ("drop_keys('Cuckoo', 'rotation_euler')", {"bird-bows"}),
    "the bird leaves sideways": ("curves('Cuckoo', 'location')[0].array_index = 0", {"bird-comes-out"}),
    "the beak lies outside": ("move('Cuckoo beak', y=-0.2)", {"bird-inside", "bird-back"}),
    # what stands still, and the picture
    "the house shakes": (
        drifts("Case", "z", 0.01, 50),
        {"house-still"},
    ),
    "a weight sinks": (
        drifts("Weight left", "z", -0.02, 96),
        {"house-still"},
    ),
    "the camera looks away": ("aim('Camera', (3, -2, 1.5))", {"clock-in-picture", "bird-seen"}),
    "the camera is too near": ("obj('Camera').data.lens = 90", {"clock-in-picture"}),
    "there is no camera": ("delete('Camera')", {"clock-in-picture", "bird-seen"}),
    "a board hides the bird": ("add_cube('Board', (0.1, -0.8, 1.9), 0.3)", {"bird-seen"}),
}

HARMLESS: dict[str, str] = {
    "a longer bow": each_key("Cuckoo", "k.co.y *= 1.3", "rotation_euler"),
    "another wood": "set_socket('Case', 'Base Color', (0.4, 0.2, 0.1, 1))",
    "a picture on the wall": "add_cube('Picture', (0.8, -0.01, 1.7), 0.02)",
    "a shorter lens": "obj('Camera').data.lens = 37",
    "the swing is a little wider": each_key("Pendulum", "k.co.y *= 1.05"),
    "quaternions for the bird's head": "obj('Cuckoo head').rotation_mode = 'QUATERNION'",
    "the wheel jumps from one frame to the next": each_key("Escape wheel", "k.interpolation = 'CONSTANT'"),
    "saved in the middle": "S.frame_set(40)",
    "the bird's parts are elsewhere in the outliner": (
        "bird = D.collections.new('Bird')\nS.collection.children.link(bird)\n"
        "for o in objects('Cuckoo'):\n    bird.objects.link(o)"
    ),
}
