"""Ways to spoil the soft robot arm, and which checks have to see each; the words are those of `mutating.py`."""

from tests.tasks.mutations.wording import each_key

BONE = "obj('Rig').pose.bones[{!r}]"
REST = "bpy.context.view_layer.objects.active = obj('Rig')\nbpy.ops.object.mode_set(mode='EDIT')\n{}\n"
REST += "bpy.ops.object.mode_set(mode='OBJECT')"


def on_bone(bone: str, change: str) -> str:
    """`change` the pose bone `b`."""
    return f"b = {BONE.format(bone)}\n{change}"


def in_edit_mode(change: str) -> str:
    """`change` the edit bones `e`."""
    return REST.format(f"e = obj('Rig').data.edit_bones\n{change}")


MUTATIONS: dict[str, tuple[str, set[str]]] = {
    # objects, names, places
    "no lemon": ("delete('Lemon')", {"parts", "lemon-in-place", "stands-on-bench", "hand-tracks", "claws-close"}),
    "one claw": ("delete('Claw left')", {"parts", "claws-driven", "open-on-arrival", "claws-close", "grip-seen"}),
    "no goal": ("delete('Goal')", {"parts", "ik", "arm-reaches"}),
    "the rig is called Armature": ("obj('Rig').name = 'Armature'", {"parts", "bones", "skinned", "ik", "palm-on-hand"}),
    "the palm is hidden": ("obj('Palm').hide_render = True", {"parts", "palm-on-hand", "palm-on-sleeve"}),
    "the sleeve is in no collection": ("unlink('Sleeve')", {"parts", "skinned", "sleeve-quads", "sleeve-follows"}),
    "a cube is left over": ("add_cube('Cube', (0.8, 0.2, 0.1), 0.2)", {"named"}),
    "one material for all": (
        "for o in D.objects:\n    if o.type == 'MESH': o.data.materials[0] = D.materials['Steel']",
        {"materials"},
    ),
    "the lemon lies elsewhere": ("move('Lemon', y=0.2)", {"lemon-in-place", "claws-close"}),
    "the lemon floats": ("move('Lemon', z=0.03)", {"lemon-in-place", "stands-on-bench"}),
    "the pedestal is sunk": ("move('Pedestal', z=-0.04)", {"stands-on-bench"}),
    "the lemon is a melon": ("scale('Lemon', 2, 2, 2)", {"stands-on-bench", "claws-close"}),
    "the bench is higher": ("move('Bench', z=0.06)", {"stands-on-bench", "clear-of-bench"}),
    # the sleeve's mesh
    "the sleeve is triangles": (
        "edit('Sleeve', lambda m: bmesh.ops.triangulate(m, faces=m.faces))",
        {"sleeve-quads"},
    ),
    "one face is flipped": ("flip_face('Sleeve', 700)", {"sleeve-normals"}),
    "half the faces are flipped": (
        "edit('Sleeve', lambda m: [f.normal_flip() for f in m.faces if f.calc_center_median().x > 0])",
        {"sleeve-normals"},
    ),
    "the sleeve is empty": ("empty_mesh('Sleeve')", {"skinned", "palm-on-sleeve", "sleeve-quads"}),
    # the armature
    "the rig is moved": ("move('Rig', x=0.2)", {"rig-at-origin"}),
    "the rig is scaled": ("scale('Rig', 0.5, 0.5, 0.5)", {"rig-unscaled"}),
    "the rig is mirrored": ("scale('Rig', -1, 1, 1)", {"rig-unscaled"}),
    "bones have Blender's names": (
        "for i, b in enumerate(obj('Rig').data.bones): b.name = f'Bone.{i:03d}'",
        {"bones", "ik", "hand-tracks", "arm-reaches", "palm-on-hand"},
    ),
    "the hand hangs on the base": (in_edit_mode("e['hand'].parent = e['base']"), {"bones", "palm-on-sleeve"}),
    "the chain is broken": (in_edit_mode("e['arm.3'].parent = None"), {"bones"}),
    "a bone is missing": (in_edit_mode("e.remove(e['arm.2'])"), {"bones", "skinned"}),
    "nothing deforms": ("for b in obj('Rig').data.bones: b.use_deform = False", {"bones", "skinned"}),
    "rest position": ("obj('Rig').data.pose_position = 'REST'", {"arm-reaches", "sleeve-follows", "claws-close"}),
    # skinning
    "no armature modifier": (
        "obj('Sleeve').modifiers.clear()",
        {"skinned", "palm-on-sleeve", "sleeve-follows"},
    ),
    "the modifier is off": (
        "modifier('Sleeve', 'ARMATURE').show_viewport = False",
        {"skinned", "palm-on-sleeve", "sleeve-follows"},
    ),
    "the modifier has no armature": ("modifier('Sleeve', 'ARMATURE').object = None", {"skinned", "sleeve-follows"}),
    "no weights": ("obj('Sleeve').vertex_groups.clear()", {"skinned", "palm-on-sleeve", "sleeve-follows"}),
    "groups with other names": ("for g in obj('Sleeve').vertex_groups: g.name = 'x' + g.name", {"skinned"}),
    "the upper half has no weights": (
        "o = obj('Sleeve')\nfor g in o.vertex_groups: g.remove([v.index for v in o.data.vertices if v.co.z > 0.5])",
        {"skinned", "palm-on-sleeve"},
    ),
    "all weights on one bone": (
        "o = obj('Sleeve')\nfor n in ('arm.2', 'arm.3', 'arm.4'): o.vertex_groups.remove(o.vertex_groups[n])\n"
        "o.vertex_groups['arm.1'].add(range(len(o.data.vertices)), 1.0, 'REPLACE')",
        {"skinned", "palm-on-sleeve"},
    ),
    "six bones pull at a vertex": (
        "o = obj('Sleeve')\nfor b in obj('Rig').data.bones:\n    b.use_deform = True\n"
        "    g = o.vertex_groups.get(b.name) or o.vertex_groups.new(name=b.name)\n    g.add([0], 0.2, 'ADD')",
        {"skinned"},
    ),
    "some vertices are left out": (
        "for g in obj('Sleeve').vertex_groups: g.remove(range(600, 640))",
        {"skinned"},
    ),
    # constraints
    "no IK": (on_bone("arm.4", "b.constraints.remove(b.constraints[0])"), {"ik", "arm-reaches", "sleeve-follows"}),
    "IK is muted": (on_bone("arm.4", "b.constraints[0].mute = True"), {"ik", "arm-reaches"}),
    "IK without influence": (on_bone("arm.4", "b.constraints[0].influence = 0"), {"ik", "arm-reaches"}),
    "IK aims at the lemon": (on_bone("arm.4", "b.constraints[0].target = obj('Lemon')"), {"ik", "arm-reaches"}),
    "IK on another bone": (
        on_bone(
            "arm.4", "b.constraints.remove(b.constraints[0])\nk = obj('Rig').pose.bones['arm.2'].constraints.new('IK')"
        )
        + "\nk.target = obj('Goal')",
        {"ik", "arm-reaches"},
    ),
    "IK chain of one": (on_bone("arm.4", "b.constraints[0].chain_count = 1"), {"arm-reaches"}),
    "no tracking": (on_bone("hand", "b.constraints.remove(b.constraints[0])"), {"hand-tracks", "claws-close"}),
    "tracking is muted": (on_bone("hand", "b.constraints[0].mute = True"), {"hand-tracks", "claws-close"}),
    "the hand tracks the goal": (on_bone("hand", "b.constraints[0].target = obj('Goal')"), {"hand-tracks"}),
    "the hand looks away": (on_bone("hand", "b.constraints[0].track_axis = 'TRACK_NEGATIVE_Y'"), {"claws-close"}),
    # the hand
    "the palm hangs on nothing": ("unparent('Palm')", {"palm-on-hand"}),
    "the palm hangs on the object": ("obj('Palm').parent_type = 'OBJECT'", {"palm-on-hand", "palm-on-sleeve"}),
    "the palm hangs on the base": ("obj('Palm').parent_bone = 'base'", {"palm-on-hand", "palm-on-sleeve"}),
    "the palm is off the sleeve": ("obj('Palm').location.y += 0.12", {"palm-on-sleeve"}),
    "the claws are left behind": ("unparent('Claw left'); unparent('Claw right')", {"claws-close", "open-on-arrival"}),
    "the claws cut into the lemon": (
        "for n in ('Claw left', 'Claw right'): stretch(n, -0.4, 1, 1); inside_out(n)",
        {"claws-close"},
    ),
    # the grip
    "no grip property": (
        "obj('Rig').animation_data_clear(); del obj('Rig')['grip']",
        {"grip-property", "claws-driven"},
    ),
    "no drivers": (
        "for n in ('Claw left', 'Claw right'): obj(n).driver_remove('rotation_euler')",
        {"claws-driven", "claws-close"},
    ),
    "drivers that need Python": (
        "for n in ('Claw left', 'Claw right'):\n"
        "    driver(n, 'rotation_euler').expression = \"bpy.data.objects['Rig']['grip']\"",
        {"claws-driven"},
    ),
    "a driver reads nothing": (
        "driver('Claw left', 'rotation_euler').variables[0].targets[0].data_path = '[\"grasp\"]'",
        {"claws-driven"},
    ),
    "the claws open when they should close": (
        "for n in ('Claw left', 'Claw right'):\n"
        "    d = driver(n, 'rotation_euler')\n    d.expression = d.expression.replace('(1 - grip)', 'grip')",
        {"open-on-arrival", "claws-close"},
    ),
    "the grip has no keys": ("obj('Rig').animation_data_clear(); obj('Rig')['grip'] = 0.0", {"claws-close"}),
    # time and motion
    "no end": ("S.frame_end = 250", {"time"}),
    "another rate": ("S.render.fps = 25", {"time"}),
    "the goal stands": ("drop_keys('Goal')", {"arm-reaches", "sleeve-follows", "claws-close"}),
    "the arm is down from the start": (
        "while len(curves('Goal')[0].keyframe_points) > 1:\n"
        "    for c in curves('Goal'): c.keyframe_points.remove(c.keyframe_points[0])",
        {"arm-up-first", "sleeve-follows"},
    ),
    "the arm comes too late": (each_key("Goal", "k.co.x += 15"), {"arm-reaches"}),
    "the goal is too high": (each_key("Goal", "k.co.y += 0.15"), {"arm-reaches", "claws-close"}),
    "the arm goes through the bench": (
        "for c in curves('Goal'):\n    if c.array_index == 2: c.keyframe_points[-1].co.y = 0.08",
        {"clear-of-bench", "arm-reaches"},
    ),
    # the picture
    "the camera looks away": ("aim('Camera', (0, -6, 0))", {"grip-seen"}),
    "a box stands before the lemon": ("add_cube('Box', (0.55, -0.3, 0.15), 0.3)", {"grip-seen"}),
    "no camera": ("delete('Camera')", {"grip-seen"}),
}

HARMLESS: dict[str, str] = {
    "the goal is drawn larger": "obj('Goal').empty_display_size = 0.2",
    "another orange": "set_socket('Sleeve', 'Base Color', (0.8, 0.2, 0.1, 1))",
    "the whole chain with the base": on_bone("arm.4", "b.constraints[0].chain_count = 5"),
    "one more lemon": "o = obj('Lemon in bowl 1').copy(); o.name = 'Lemon on bench'; o.location = (0.8, 0.2, 0.045)\n"
    "S.collection.objects.link(o)",
    "bones as sticks": "obj('Rig').data.display_type = 'STICK'",
    "the deform flag of the hand": "obj('Rig').data.bones['hand'].use_deform = True",
    "the bowl elsewhere": "move('Bowl', x=0.05); [move(f'Lemon in bowl {n}', x=0.05) for n in (1, 2, 3)]",
    "a wider opening": "for n in ('Claw left', 'Claw right'):\n"
    "    d = driver(n, 'rotation_euler')\n    d.expression = d.expression.replace('0.5', '0.6')",
    "saved at the end": "S.frame_set(48)",
}
