"""Ways to spoil the spiral staircase, and which checks have to see each; the words are those of `mutating.py`."""


def tree(change: str) -> str:
    """`change` the node group `g`."""
    return f"g = D.node_groups['Spiral staircase']\n{change}"


def given(socket: str, value: object) -> str:
    """The modifier's input has another value."""
    return tree(
        f"i = next(i for i in g.interface.items_tree if i.name == {socket!r})\n"
        f"obj('Staircase').modifiers[0][i.identifier] = {value!r}\nobj('Staircase').update_tag()"
    )


def cut(socket: str) -> str:
    """Nothing leads from an input of the group to the tree; a value node takes its place where one is needed."""
    return tree(
        f"s = next(n for n in g.nodes if n.bl_idname == 'NodeGroupInput').outputs[{socket!r}]\n"
        "for link in list(s.links):\n    to = link.to_socket\n    g.links.remove(link)\n"
        "    to.default_value = type(to.default_value)({'Steps': 15, 'Rise': 0.18, 'Radius': 1.1, 'Turn': 300, "
        f"'Balusters': True}}[{socket!r}])"
    )


def nodes(kind: str, change: str) -> str:
    """`change` every node `n` of a kind."""
    return tree(f"for n in [n for n in g.nodes if n.bl_idname == {kind!r}]:\n    {change}")


OUTPUT = "o = next(n for n in g.nodes if n.bl_idname == 'NodeGroupOutput').inputs[0]\n"
BEFORE_REALIZING = "r = next(n for n in g.nodes if n.bl_idname == 'GeometryNodeRealizeInstances')\n"

MUTATIONS: dict[str, tuple[str, set[str]]] = {
    # objects
    "no staircase": ("delete('Staircase')", {"parts", "nodes", "height", "seen", "more-steps"}),
    "it is called Stairs": ("obj('Staircase').name = 'Stairs'", {"parts", "nodes", "realized", "landing"}),
    "it is hidden": ("obj('Staircase').hide_viewport = True", {"parts", "seen"}),
    "no landing": ("delete('Landing')", {"parts", "landing", "landing-height"}),
    "no visitor": ("delete('Visitor')", {"parts", "visitor-clear", "seen", "on-floor"}),
    "one wall is in no collection": ("unlink('Wall rear')", {"parts"}),
    "the staircase is moved": ("move('Staircase', x=0.3)", {"at-origin"}),
    "the staircase floats": ("move('Staircase', z=0.1)", {"at-origin", "on-floor"}),
    "the staircase is sunk": ("move('Staircase', z=-0.1)", {"at-origin", "on-floor"}),
    "the staircase is scaled": ("scale('Staircase', 1.2, 1.2, 1.2)", {"height", "width"}),
    "the staircase is a toy": ("scale('Staircase', 0.1, 0.1, 0.1)", {"height", "width", "landing"}),
    "the landing is too high": ("move('Landing', z=0.3)", {"landing-height"}),
    "the landing is too low": ("move('Landing', z=-0.5)", {"landing-height"}),
    "the landing is away": ("move('Landing', x=0.5)", {"landing"}),
    "the visitor floats": ("move('Visitor', z=0.2)", {"on-floor"}),
    "the visitor stands in the stairs": ("move('Visitor', x=1.1)", {"visitor-clear"}),
    "the visitor is out of the picture": ("move('Visitor', x=-3)", {"seen"}),
    # the modifier
    "no modifier": ("obj('Staircase').modifiers.clear()", {"nodes", "steps-set", "realized", "more-steps"}),
    "the modifier is off": ("modifier('Staircase', 'NODES').show_viewport = False", {"nodes", "realized", "height"}),
    "off in renders": ("modifier('Staircase', 'NODES').show_render = False", {"nodes"}),
    "no group": ("modifier('Staircase', 'NODES').node_group = None", {"nodes", "radius-set", "realized", "steeper"}),
    "another name of the group": (tree("g.name = 'Geometry Nodes'"), {"nodes"}),
    "the output is not linked": (tree(OUTPUT + "g.links.remove(o.links[0])"), {"nodes", "realized", "more-steps"}),
    "the modifier is applied": (
        "apply_modifier('Staircase', 'NODES')",
        {"nodes", "steps-set", "more-steps", "turns-less"},
    ),
    # what the inputs are set to
    "ten steps": (given("Steps", 10), {"steps-set", "height"}),
    "a hundred steps": (given("Steps", 100), {"steps-set", "height", "seen"}),
    "no steps": (given("Steps", 0), {"steps-set", "realized", "landing"}),
    "narrow": (given("Radius", 0.6), {"radius-set", "width"}),
    "wide": (given("Radius", 1.6), {"radius-set", "width"}),
    "half a turn": (given("Turn", 180.0), {"turn-set", "width"}),
    "flat": (given("Rise", 0.02), {"height"}),
    "steep": (given("Rise", 0.3), {"height"}),
    # what the inputs do
    "Steps does nothing": (cut("Steps"), {"more-steps"}),
    "Rise does nothing": (cut("Rise"), {"steeper"}),
    "Radius does nothing": (cut("Radius"), {"wider"}),
    "Turn does nothing": (cut("Turn"), {"turns-less"}),
    "Balusters does nothing": (cut("Balusters"), {"without-balusters"}),
    "Steps is called Count": (tree("g.interface.items_tree['Steps'].name = 'Count'"), {"steps-set", "more-steps"}),
    "Turn is gone": (tree("g.interface.remove(g.interface.items_tree['Turn'])"), {"turn-set", "turns-less"}),
    "the switch is muted": (nodes("GeometryNodeSwitch", "n.mute = True"), {"without-balusters"}),
    "never a rail": (
        nodes("GeometryNodeSwitch", "g.links.remove(n.inputs['True'].links[0])"),
        {"without-balusters"},
    ),
    # what comes out
    "not realized": (
        tree(BEFORE_REALIZING + OUTPUT + "g.links.new(r.inputs[0].links[0].from_socket, o)"),
        {"realized", "no-instances-left"},
    ),
    "realizing is muted": (nodes("GeometryNodeRealizeInstances", "n.mute = True"), {"no-instances-left"}),
    "cylinders of thousands of faces": (
        nodes("GeometryNodeMeshCylinder", "n.inputs['Vertices'].default_value = 3000"),
        {"realized"},
    ),
    "no materials in the nodes": (
        nodes("GeometryNodeSetMaterial", "n.mute = True"),
        {"materials-in-nodes", "three-materials"},
    ),
    "all of oak": (
        nodes("GeometryNodeSetMaterial", "n.inputs['Material'].default_value = D.materials['Oak']"),
        {"three-materials"},
    ),
    "no material chosen": (
        nodes("GeometryNodeSetMaterial", "n.inputs['Material'].default_value = None"),
        {"three-materials"},
    ),
    "treads away from the column": (
        nodes("GeometryNodeSetPosition", "n.inputs['Offset'].default_value = (0.3, 0.3, 0)"),
        {"holds-together"},
    ),
    "balusters float": (
        nodes("GeometryNodeTransform", "n.inputs['Scale'].default_value = (1, 1, 0.7)"),
        {"holds-together"},
    ),
    "treads face inwards": (
        tree(
            "n = next(n for n in g.nodes if n.bl_idname == 'GeometryNodeSetPosition')\n"
            "f = g.nodes.new('GeometryNodeFlipFaces')\nto = n.outputs[0].links[0].to_socket\n"
            "g.links.new(n.outputs[0], f.inputs[0])\ng.links.new(f.outputs[0], to)"
        ),
        {"normals"},
    ),
    "all faces inwards": (
        tree(
            OUTPUT + "f = g.nodes.new('GeometryNodeFlipFaces')\ng.links.new(o.links[0].from_socket, f.inputs[0])\n"
            "g.links.new(f.outputs[0], o)"
        ),
        {"normals"},
    ),
    "the rail is open": (nodes("GeometryNodeCurveToMesh", "n.inputs['Fill Caps'].default_value = False"), {"normals"}),
    # light and picture
    "no light": ("delete('Sun')", {"lit"}),
    "the light is hidden": ("obj('Sun').hide_render = True", {"lit"}),
    "the camera looks away": ("aim('Camera', (-9, -9, 2))", {"seen"}),
    "the camera is too near": ("obj('Camera').data.lens = 70", {"seen"}),
    "a wall stands before it": ("add_cube('Screen', (-1.5, -3.4, 1.5), 3)", {"seen"}),
}

HARMLESS: dict[str, str] = {
    "another name of the modifier": "obj('Staircase').modifiers[0].name = 'GeometryNodes'",
    "a brighter sun": "obj('Sun').data.energy = 8",
    "rounder balusters": nodes("GeometryNodeMeshCylinder", "n.inputs['Vertices'].default_value = 48"),
    "another oak": "D.materials['Oak'].node_tree.nodes['Principled BSDF'].inputs[0].default_value = (0.4, 0.2, 0.1, 1)",
    "a picture on the wall": "add_cube('Picture', (-1, 1.79, 2.5), 0.1)",
    "the visitor turns": "turn('Visitor', z=40)",
    "a frame in the tree": tree("g.nodes.new('NodeFrame').label = 'Treads'"),
    "a node that leads nowhere": tree("g.nodes.new('GeometryNodeMeshCone')"),
    "a taller visitor": "scale('Visitor', 1.02, 1.02, 1.02)",
}
