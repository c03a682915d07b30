"""How the nesting box is spoilt."""

PARTS = {"parts", "collection"}
"""What any of the ten objects is missed by."""

MUTATIONS = {
    "the perch is gone": ("delete('Perch')", PARTS | {"perch-in-front", "perch-place"}),
    "the post is taken out of the scene": ("unlink('Post')", PARTS | {"post-stands", "post-size", "rounded-edges"}),
    "the lawn is hidden in renders": ("obj('Lawn').hide_render = True", PARTS),
    "the roof is hidden in viewports": ("obj('Roof').hide_viewport = True", PARTS | {"roof-size", "rounded-edges"}),
    "the back is called Cube": ("obj('Back').name = 'Cube'", PARTS | {"names"}),
    "the floor has another name": ("obj('Floor').name = 'Bottom'", PARTS),
    "the ridge cap is out of the collection": (
        "S.collection.objects.link(obj('Ridge cap')); D.collections['Nesting box'].objects.unlink(obj('Ridge cap'))",
        {"collection"},
    ),
    "the collection is hidden in renders": ("D.collections['Nesting box'].hide_render = True", PARTS),
    "the perch hovers": ("move('Perch', y=-0.03)", {"hangs-together", "perch-in-front"}),
    "the perch sits higher": ("move('Perch', z=0.03)", {"perch-place"}),
    "the perch sits aside": ("move('Perch', x=0.03)", {"perch-place"}),
    "the ridge cap hovers": ("move('Ridge cap', z=0.05)", {"hangs-together"}),
    "the house hovers over its post": (
        "for o in S.objects:\n    if o.name not in ('Post', 'Lawn'):\n        move(o.name, z=0.02)",
        {"hangs-together", "hole-place", "perch-place"},
    ),
    "the post hovers": ("move('Post', z=0.01)", {"post-stands", "hangs-together"}),
    "the post is rammed in": ("move('Post', z=-0.05)", {"post-stands", "hangs-together"}),
    "the post is scaled": ("scale('Post', 1, 1, 1.2)", {"post-size", "scales-applied"}),
    "the post is thinner": ("stretch('Post', 0.5, 0.5, 1)", {"post-size"}),
    "the roof is scaled": ("scale('Roof', 1.4, 1, 1)", {"roof-size", "scales-applied"}),
    "the roof is too short": ("stretch('Roof', 1, 0.6, 1)", {"roof-size"}),
    "the cutter is scaled": ("scale('Hole cutter', 1.5, 1, 1)", {"hole-size", "scales-applied"}),
    "the hole is smaller": ("stretch('Hole cutter', 0.7, 1, 1)", {"hole-size"}),
    "the hole is higher": ("move('Hole cutter', z=0.04)", {"hole-place"}),
    "the hole is beside the middle": ("move('Hole cutter', x=0.02)", {"hole-place"}),
    "the cutter misses the front": ("move('Hole cutter', y=-0.2)", {"hole-cut"}),
    "the cutter is gone": ("delete('Hole cutter')", {"hole-cut", "hole-size", "hole-place"}),
    "the boolean has no object": ("modifier('Front', 'BOOLEAN').object = None", {"hole-cut"}),
    "the boolean is off": ("modifier('Front', 'BOOLEAN').show_viewport = False", {"hole-cut"}),
    "the boolean is applied": ("apply_modifier('Front', 'BOOLEAN')", {"hole-cut"}),
    "the cutter is seen": (
        "obj('Hole cutter').hide_render = obj('Hole cutter').hide_viewport = False",
        {"cutter-unseen"},
    ),
    "the mirror of the sides is gone": (
        "remove_modifier('Sides', 'MIRROR')",
        {"sides-mirrored", "same-left-and-right"},
    ),
    "the sides mirror the wrong axis": (
        "modifier('Sides', 'MIRROR').use_axis = (False, True, False)",
        {"same-left-and-right"},
    ),
    "the mirror of the sides is applied": ("apply_modifier('Sides', 'MIRROR')", {"sides-mirrored"}),
    "the roof has one slope": ("remove_modifier('Roof', 'MIRROR')", {"same-left-and-right", "roof-size", "closed"}),
    "the roof is shifted": ("move('Roof', x=0.02)", {"same-left-and-right"}),
    "the shingles have one row": (
        "modifier('Shingles', 'ARRAY').count = 1",
        {"shingles-array-works", "shingles-cover"},
    ),
    "the shingles run into the air": (
        "modifier('Shingles', 'ARRAY').constant_offset_displace[2] *= -1",
        {"hangs-together"},
    ),
    "the shingles cover one slope": (
        "remove_modifier('Shingles', 'MIRROR')",
        {"same-left-and-right", "shingles-cover"},
    ),
    "the rows of shingles are applied": ("apply_modifier('Shingles', 'ARRAY')", {"shingles-array-works"}),
    "the bevel of the post has no width": ("modifier('Post', 'BEVEL').width = 0", {"rounded-edges"}),
    "the bevel of the sides is gone": ("remove_modifier('Sides', 'BEVEL')", {"rounded-edges"}),
    "the back is inside out": ("inside_out('Back')", {"outwards"}),
    "a face of the floor is turned": ("flip_face('Floor')", {"outwards"}),
    "the post has a hole": ("remove_face('Post')", {"closed"}),
    "the back is there twice": ("double('Back')", {"no-doubles"}),
    "a vertex lies loose": ("loose_vertex('Back')", {"nothing-loose"}),
    "the front is empty": ("empty_mesh('Front')", {"hole-cut", "perch-in-front"}),
    "the front has no material": ("unlink_materials('Front')", {"painted"}),
    "a cube is left": ("add_cube('Cube', (0.3, 0.3, 0.4), 0.2)", {"hangs-together", "names", "painted"}),
    "a material has Blender's name": ("material_of('Post').name = 'Material.001'", {"names"}),
    "a material is left over": ("add_orphan()", {"nothing-left-over"}),
}
"""Change -> (its code, ids of the checks that have to see it)."""

HARMLESS = {
    "the meshes have other names": "for mesh in D.meshes:\n    mesh.name = 'board'",
    "the walls are painted blue": "set_socket('Front', 'Base Color', (0.1, 0.2, 0.7, 1))",
    "a bird sits on the perch": (
        "made = add_cube('Blue tit', (0, -0.14, 0.655), 0.04)\nmade.data.materials.append(material_of('Ridge cap'))"
    ),
    "there is a camera": "S.collection.objects.link(D.objects.new('Camera', D.cameras.new('Camera')))",
    "the lawn is larger": "stretch('Lawn', 1.2, 1.2, 1)",
    "the roof is steeper in depth": "stretch('Roof', 1, 1.05, 1)",
    "the Sides' modifiers are named otherwise": "modifier('Sides', 'MIRROR').name = 'Mirror'",
}
"""Change -> its code. What the brief leaves open."""
