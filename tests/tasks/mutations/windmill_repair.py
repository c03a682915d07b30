"""How the repaired windmill is spoilt again: the faults of the start file one by one, and others."""

SCENE = {"all-there", "nothing-added", "outwards", "closed", "no-doubles", "nothing-loose"}
"""What any missing mesh is missed by."""

MUTATIONS = {
    "the cap is inside out": ("inside_out('Cap')", {"outwards"}),
    "a face of the tower is turned": ("flip_face('Tower', 20)", {"outwards"}),
    "the gallery is inside out": ("inside_out('Gallery')", {"outwards"}),
    "the tower has its hole again": (
        "edit('Tower', lambda m: m.faces.remove(max(m.faces, key=lambda f: len(f.verts))))",
        {"closed"},
    ),
    "the cap is open": ("remove_face('Cap', 5)", {"closed"}),
    "the tower is rebuilt": (
        "edit('Tower', lambda m: bmesh.ops.subdivide_edges(m, edges=m.edges[:], cuts=2))",
        {"tower-kept"},
    ),
    "the tower is empty": ("empty_mesh('Tower')", {"tower-kept", "outwards", "closed", "mill-in-view"}),
    "the door is there twice": ("double('Door')", {"no-doubles"}),
    "the hub is there twice": ("double('Hub')", {"no-doubles"}),
    "a vertex lies loose": ("loose_vertex('Sack 1')", {"nothing-loose"}),
    "an edge lies loose": (
        "edit('Ground', lambda m: m.edges.new((m.verts.new((0, 0, 1)), m.verts.new((0, 0, 2)))))",
        {"nothing-loose", "closed"},
    ),
    "the planks lie outside the file": (
        "next(i for i in D.images if i.packed_file).unpack(method='REMOVE')\n"
        "D.images['Door planks'].source, D.images['Door planks'].filepath = 'FILE', '//textures/planks.png'",
        {"planks", "stands-alone"},
    ),
    "the planks are unlinked": ("set_socket('Door', 'Base Color', (0.1, 0.2, 0.2, 1))", {"planks"}),
    "the planks are tiny": ("D.images['Door planks'].scale(8, 8); D.images['Door planks'].pack()", {"planks"}),
    "the door has no material": ("unlink_materials('Door')", {"planks"}),
    "the door has no UV map": ("obj('Door').data.uv_layers.remove(obj('Door').data.uv_layers[0])", {"planks-mapped"}),
    "the door's UV map is one point": (
        "for item in obj('Door').data.uv_layers[0].uv:\n    item.vector = (0.5, 0.5)",
        {"planks-mapped"},
    ),
    "the array has no offset object": ("modifier('Sails', 'ARRAY').offset_object = None", {"sails-all-round"}),
    "the array has one sail": (
        "modifier('Sails', 'ARRAY').count = 1",
        {"sails-repeated", "four-sails", "sails-all-round"},
    ),
    "the array has three sails": ("modifier('Sails', 'ARRAY').count = 3", {"four-sails"}),
    "the array is off": (
        "modifier('Sails', 'ARRAY').show_viewport = False",
        {"sails-repeated", "sails-all-round"},
    ),
    "the array is gone": ("remove_modifier('Sails', 'ARRAY')", {"sails-repeated", "four-sails", "sails-all-round"}),
    "the array is applied": ("apply_modifier('Sails', 'ARRAY')", {"sails-repeated", "four-sails"}),
    "the step does not turn": ("obj('Sail step').rotation_euler.y = 0", {"sails-all-round"}),
    "the step is gone": ("delete('Sail step')", {"nothing-added", "sails-all-round"}),
    "the driver reads a property that is not there": (
        "driver('Hub', 'rotation_euler').variables[0].targets[0].data_path = '[\"wind\"]'",
        {"driver-works", "quarter-turn"},
    ),
    "the driver needs Python": (
        "driver('Hub', 'rotation_euler').expression = \"frame * wind * __import__('math').tau / 96\"",
        {"driver-works", "quarter-turn"},
    ),
    "the driver has no target": (
        "driver('Hub', 'rotation_euler').variables[0].targets[0].id = None",
        {"driver-works", "quarter-turn"},
    ),
    "the driver is gone": (
        "obj('Hub').driver_remove('rotation_euler', 1); obj('Hub').rotation_euler.y = 0",
        {"driver-works", "quarter-turn"},
    ),
    "the sails turn half as fast": ("obj('Tower')['wind_speed'] = 0.5", {"quarter-turn"}),
    "the driver turns twice as fast": (
        "driver('Hub', 'rotation_euler').expression = 'frame * wind * 0.1309'",
        {"quarter-turn"},
    ),
    "the sails are unparented": ("S.frame_set(1); unparent('Sails')", {"quarter-turn"}),
    "a sack is large": ("scale('Sack 2', 30, 30, 30)", {"sacks-alike"}),
    "a sack is small": ("scale('Sack 3', 0.6, 0.6, 0.6)", {"sacks-alike"}),
    "a sack hovers": ("move('Sack 1', z=0.2)", {"sacks-stand"}),
    "a sack is gone": ("delete('Sack 3')", SCENE | {"sacks-alike", "sacks-stand"}),
    "the fence shoots off": ("obj('Fence').data.vertices[7].co.x += 300", {"fence-straight"}),
    "the fence is bent": ("obj('Fence').data.vertices[7].co.y += 1", {"fence-straight"}),
    "a picket is longer": ("obj('Fence').data.vertices[7].co.z += 1", {"fence-straight"}),
    "the vane hovers": ("move('Weathervane', z=0.35)", {"mill-in-one-piece", "vane-on-top"}),
    "the vane is sunk": ("move('Weathervane', z=-0.4)", {"vane-on-top"}),
    "the hub hovers before the mill": ("move('Hub', y=-0.8)", {"mill-in-one-piece"}),
    "the tree is hidden in renders": ("obj('Tree').hide_render = True", SCENE | {"tree-rendered"}),
    "the tree is behind the mill": ("obj('Tree').location = (-1.1, 2.6, 0)", {"tree-rendered"}),
    "the camera clips the mill": ("S.camera.data.clip_end = 9", {"mill-in-view", "tree-rendered"}),
    "the camera begins behind the mill": ("S.camera.data.clip_start = 15", {"mill-in-view"}),
    "the camera looks away": ("aim('Camera', (5, -30, 3))", {"mill-in-view", "tree-rendered"}),
    "the camera is moved": ("move('Camera', y=-2)", {"camera-stays"}),
    "the camera has another lens": ("S.camera.data.lens = 24", {"same-lens"}),
    "the camera is not active": ("S.camera = None", {"same-lens", "mill-in-view", "tree-rendered"}),
    "the cap is renamed": ("obj('Cap').name = 'Roof'", {"all-there", "mill-in-one-piece"}),
    "the gallery is taken out of the scene": ("unlink('Gallery')", SCENE | {"mill-in-one-piece", "cleared-out"}),
    "a cube is added": ("add_cube('Patch', (0, 1, 2.5), 0.5)", {"nothing-added"}),
    "the old tower is still in the file": (
        "D.objects.new('Tower old', D.meshes.new('Tower old')).use_fake_user = True",
        {"cleared-out"},
    ),
    "a material is left over": ("add_orphan()", {"cleared-out"}),
}
"""Change -> (its code, ids of the checks that have to see it)."""

HARMLESS = {
    "another frame is shown": "S.frame_set(40)",
    "the planks are sharper": "D.images['Door planks'].scale(256, 256); D.images['Door planks'].pack()",
    "the picture has another name": "D.images['Door planks'].name = 'Boards'",
    "the camera sees farther": "S.camera.data.clip_end = 1000",
    "the vane stands a little deeper": "move('Weathervane', z=-0.03)",
    "the meshes have other names": "for mesh in D.meshes:\n    mesh.name = 'part'",
    "the driver counts from frame 1": "driver('Hub', 'rotation_euler').expression = '(frame - 1) * wind * 0.0654498'",
    "the tower's new face is split": (
        "edit('Tower', lambda m: bmesh.ops.triangulate(m, faces=[max(m.faces, key=lambda f: len(f.verts))]))"
    ),
}
"""Change -> its code. What the brief leaves open."""
