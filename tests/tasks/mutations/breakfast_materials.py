"""How the breakfast table's materials are spoilt."""

ALL = {"every-object", "own-materials", "shapes-kept"}
"""What any missing object is missed by."""
UNPAINTED = {"every-object", "own-materials"}
"""What any object without its material is missed by."""

MUTATIONS = {
    "the glass is gone": ("delete('Glass')", ALL | {"glass-clear", "glass-bends", "smooth"}),
    "the flame is taken out of the scene": ("unlink('Flame')", ALL | {"flame-glows"}),
    "the lemon is hidden in renders": (
        "obj('Lemon').hide_render = True",
        ALL | {"lemon-colour", "lemon-bump", "smooth"},
    ),
    "the mug is hidden in viewports": ("obj('Mug').hide_viewport = True", ALL | {"mug-cream", "mug-band", "mug-coat"}),
    "the candle has another name": ("obj('Candle').name = 'Cylinder'", {"wax", "smooth"}),
    "a cube is added": ("add_cube('Sugar', (0, 0, 0.1), 0.02)", UNPAINTED - {"own-materials"} | {"shapes-kept"}),
    "a vertex of the napkin is gone": ("edit('Napkin', lambda m: m.verts.remove(m.verts[0]))", {"shapes-kept"}),
    "the mug is subdivided": (
        "edit('Mug', lambda m: bmesh.ops.subdivide_edges(m, edges=m.edges[:], cuts=1))",
        {"shapes-kept"},
    ),
    "the kettle has no material": ("unlink_materials('Kettle')", UNPAINTED | {"kettle-colour", "metals"}),
    "the candle has no material": ("unlink_materials('Candle')", UNPAINTED | {"wax"}),
    "the flame's slot is empty": ("obj('Flame').material_slots[0].material = None", UNPAINTED | {"flame-glows"}),
    "the board is of walnut": ("obj('Board').data.materials[0] = material_of('Table top')", {"own-materials"}),
    "the kettle is blue": ("set_socket('Kettle', 'Base Color', (0.1, 0.2, 0.8, 1))", {"kettle-colour"}),
    "the kettle is a little too pale": ("set_socket('Kettle', 'Base Color', (0.8, 0.5, 0.4, 1))", {"kettle-colour"}),
    "the kettle is no metal": ("set_socket('Kettle', 'Metallic', 0.0)", {"metals"}),
    "the blade is half a metal": ("set_socket('Knife blade', 'Metallic', 0.5)", {"metals"}),
    "the kettle is dull": ("set_socket('Kettle', 'Roughness', 0.8)", {"kettle-polished"}),
    "the kettle is a mirror": ("set_socket('Kettle', 'Roughness', 0.0)", {"kettle-polished"}),
    "the kettle's shader is unlinked": (
        "material_of('Kettle').node_tree.links.clear()",
        {"kettle-colour", "metals", "kettle-polished"},
    ),
    "the handle is brown": ("set_socket('Knife handle', 'Base Color', (0.3, 0.15, 0.05, 1))", {"handle-dark"}),
    "the glass is opaque": ("set_socket('Glass', 'Transmission Weight', 0.0)", {"glass-clear"}),
    "the glass is diamond": ("set_socket('Glass', 'IOR', 2.4)", {"glass-bends"}),
    "the mug has no band": (
        "for face in obj('Mug').data.polygons:\n    face.material_index = 0",
        {"mug-band", "own-materials"},
    ),
    "the mug is all blue": ("for face in obj('Mug').data.polygons:\n    face.material_index = 1", {"mug-cream"}),
    "the band is red": ("set_socket('Mug', 'Base Color', (0.6, 0.05, 0.05, 1), slot=1)", {"mug-band"}),
    "the mug is white": ("set_socket('Mug', 'Base Color', (1, 1, 1, 1))", {"mug-cream"}),
    "the band has no coat": ("set_socket('Mug', 'Coat Weight', 0.0, slot=1)", {"mug-coat"}),
    "the board's ramp is unlinked": (
        "set_socket('Board', 'Base Color', (0.5, 0.3, 0.15, 1))",
        {"wood-waves", "wood-ramp"},
    ),
    "the board's waves do not reach the ramp": (
        "tree = material_of('Board').node_tree\ntree.links.remove(tree.nodes['Color Ramp'].inputs['Fac'].links[0])",
        {"wood-waves"},
    ),
    "the table's waves are muted": (
        "next(n for n in material_of('Table top').node_tree.nodes if n.type == 'TEX_WAVE').mute = True",
        {"wood-waves"},
    ),
    "the lemon is green": ("set_socket('Lemon', 'Base Color', (0.2, 0.6, 0.05, 1))", {"lemon-colour"}),
    "the lemon's bump is unlinked": (
        "tree = material_of('Lemon').node_tree\ntree.links.remove(shader('Lemon').inputs['Normal'].links[0])",
        {"lemon-bump"},
    ),
    "the candle is plastic": ("set_socket('Candle', 'Subsurface Weight', 0.0)", {"wax"}),
    "the flame does not glow": ("set_socket('Flame', 'Emission Strength', 0.0)", {"flame-glows"}),
    "the napkin's picture is unlinked": (
        "set_socket('Napkin', 'Base Color', (0.9, 0.4, 0.4, 1))",
        {"napkin-picture"},
    ),
    "the napkin's picture lies outside the file": (
        "picture = D.images['Gingham']\npicture.unpack(method='REMOVE')\n"
        "picture.source, picture.filepath = 'FILE', '//gingham.png'",
        {"napkin-picture"},
    ),
    "the napkin's picture is tiny": (
        "D.images['Gingham'].scale(16, 16); D.images['Gingham'].pack()",
        {"napkin-picture"},
    ),
    "the napkin has no UV map": (
        "obj('Napkin').data.uv_layers.remove(obj('Napkin').data.uv_layers[0])",
        {"napkin-uv"},
    ),
    "the napkin's UV map is one point": (
        "for item in obj('Napkin').data.uv_layers[0].uv:\n    item.vector = (0.5, 0.5)",
        {"napkin-uv"},
    ),
    "the napkin's UV map is too large": (
        "for item in obj('Napkin').data.uv_layers[0].uv:\n    item.vector = item.vector * 3",
        {"napkin-uv-inside"},
    ),
    "the napkin's UV map is folded": (
        "for item in obj('Napkin').data.uv_layers[0].uv:\n    item.vector[0] = abs(item.vector[0] - 0.5)",
        {"napkin-uv-flat"},
    ),
    "the lemon is faceted": ("obj('Lemon').data.shade_flat()", {"smooth"}),
    "a material has Blender's name": ("material_of('Glass').name = 'Material.003'", {"names"}),
    "a material is left over": ("add_orphan()", {"nothing-left-over"}),
}
"""Change -> (its code, ids of the checks that have to see it)."""

HARMLESS = {
    "the wax is redder": "set_socket('Candle', 'Base Color', (0.7, 0.2, 0.1, 1))",
    "the copper is a shade darker": "set_socket('Kettle', 'Base Color', (0.74, 0.34, 0.20, 1))",
    "the meshes have other names": "for mesh in D.meshes:\n    mesh.name = 'thing'",
    "the window is brighter": "D.lights['Window'].energy *= 2",
    "the materials have other names": "for made in D.materials:\n    made.name = f'{made.name} of the table'",
    "the UV map is turned": "for item in obj('Napkin').data.uv_layers[0].uv:\n    item.vector = item.vector.yx",
}
"""Change -> its code. What the brief leaves open."""
