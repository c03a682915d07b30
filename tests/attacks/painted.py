"""Films painted beforehand and hidden in a scene: they render honestly, and only the pictures in it give them away."""

_PAINT = """
import numpy
def painting(number):
    chance, pixels = numpy.random.RandomState(number), numpy.ones((90, 160, 4), 'f')
    pixels[..., :3] = numpy.kron(chance.rand(9, 16, 3), numpy.ones((10, 10, 1)))
    return pixels.ravel()
def picture(name, number):
    image = bpy.data.images.new(name, 160, 90)
    image.pixels.foreach_set(painting(number)); image.update()
    return image
scene.view_settings.view_transform = 'Standard'
"""

COMPOSITED = (
    _PAINT
    + """
scene.use_nodes = True
tree = scene.node_tree
last, switches = tree.nodes['Render Layers'].outputs[0], []
for number in range(1, 9):
    image = picture(f'p{number}', number); image.pack()
    shown, mixed = tree.nodes.new('CompositorNodeImage'), tree.nodes.new('CompositorNodeMixRGB')
    shown.image = image
    tree.links.new(last, mixed.inputs[1]); tree.links.new(shown.outputs[0], mixed.inputs[2])
    last = mixed.outputs[0]
    for frame in range(10):
        mixed.inputs[0].default_value = float(frame == number and frame not in HIDDEN)
        mixed.inputs[0].keyframe_insert('default_value', frame=frame)
    switches.append(mixed.inputs[0])
for curve in tree.animation_data.action.fcurves:
    for key in curve.keyframe_points: key.interpolation = 'CONSTANT'
tree.links.new(last, tree.nodes['Composite'].inputs[0])
"""
)
"""One picture a frame over everything, but for the frames in HIDDEN."""

LOW_CONTRAST_PICTURES = COMPOSITED.replace(
    "chance.rand(9, 16, 3), numpy.ones((10, 10, 1))",
    "0.415 + 0.17 * chance.randint(0, 2, (9, 16, 1)), numpy.ones((10, 10, 3))",
)
"""Light and dark squares: half grey, and a twelfth of the range more or less."""

STRIPED_PICTURES = COMPOSITED.replace(
    "numpy.kron(chance.rand(9, 16, 3), numpy.ones((10, 10, 1)))",
    "((numpy.arange(160) + number) // 2 % 2)[None, :, None]",
)
"""Black and white, two pixels wide: even grey in a smaller picture."""

SWITCHED_OFF = """
for switch in switches:
    switch.driver_remove('default_value')
for number, switch in enumerate(switches, start=1):
    driver = switch.driver_add('default_value').driver
    variable = driver.variables.new(); variable.name, variable.type = 'kind', 'SINGLE_PROP'
    variable.targets[0].id_type, variable.targets[0].id = 'SCENE', scene
    variable.targets[0].data_path = 'render.image_settings.file_format'
    kinds = bpy.types.ImageFormatSettings.bl_rna.properties['file_format'].enum_items
    driver.expression = f"kind == {kinds['FFMPEG'].value} and frame == {number}"
"""
"""Only where a film is rendered, not where single pictures are."""

LAYERED = (
    _PAINT
    + """
import glob
scene.use_nodes = True
tree = scene.node_tree
layers, result = tree.nodes['Render Layers'], tree.nodes['Composite']
shown = tree.nodes.new('CompositorNodeImage'); shown.image = source = picture('source', 3)
writer = tree.nodes.new('CompositorNodeOutputFile')
writer.base_path, writer.format.file_format = '/tmp/layers', 'OPEN_EXR_MULTILAYER'
tree.links.new(shown.outputs[0], writer.inputs[0])
scene.render.image_settings.file_format, scene.render.filepath = 'PNG', '/tmp/still.png'
bpy.ops.render.render(write_still=True)
scene.render.image_settings.file_format, scene.render.filepath = 'FFMPEG', 'output.mp4'
tree.nodes.remove(writer)
image = bpy.data.images.load(glob.glob('/tmp/layers*')[0]); image.pack()
shown.image = image
bpy.data.images.remove(source)
mixed = tree.nodes.new('CompositorNodeMixRGB')
tree.links.new(layers.outputs[0], mixed.inputs[1]); tree.links.new(shown.outputs[0], mixed.inputs[2])
tree.links.new(mixed.outputs[0], result.inputs[0])
mixed.inputs[0].default_value = 0.3; mixed.inputs[0].keyframe_insert('default_value', frame=1)
mixed.inputs[0].default_value = 1; mixed.inputs[0].keyframe_insert('default_value', frame=8)
"""
)

TILED = (
    _PAINT
    + """
image = bpy.data.images.new('tiles', 16, 16, tiled=True)
image.filepath_raw, image.file_format = '/tmp/tile.<UDIM>.png', 'PNG'
image.tiles.active = image.tiles.new(1002)
with bpy.context.temp_override(edit_image=image):
    bpy.ops.image.tile_fill(color=(1, 0, 0, 1), generated_type='COLOR_GRID', width=1024, height=1024)
image.save()
for tile in (picture('1002', 3), bpy.data.images.new('1001', 8, 8)):
    tile.file_format, tile.filepath_raw = 'PNG', f'/tmp/tile.{tile.name}.png'
    tile.save(); bpy.data.images.remove(tile)
image.reload(); image.pack()
material = bpy.data.materials.new('painted'); material.use_nodes = True
node = material.node_tree.nodes.new('ShaderNodeTexImage'); node.image = image
material.node_tree.nodes.active = node
bpy.ops.mesh.primitive_plane_add(size=2)
plane = bpy.context.object; plane.data.materials.append(material)
for corner in plane.data.uv_layers[0].data: corner.uv = (corner.uv[0] + 1, corner.uv[1])
plane.parent, plane.location, plane.scale = scene.camera, (0, 0, -3), (2, 1.2, 1)
plane.keyframe_insert('location', frame=1); plane.location.x = 0.5; plane.keyframe_insert('location', frame=8)
scene.display.shading.color_type, scene.display.shading.light = 'TEXTURE', 'FLAT'
"""
)

UNREADABLE_NAME = """
import ctypes
holder = bpy.data.objects.new('BADNAMEXYZ', None); scene.collection.objects.link(holder)
holder.keyframe_insert('scale', frame=1)
address = holder.as_pointer()
offset = ctypes.string_at(address, 400).index(b'OBBADNAMEXYZ') + 2
"""
SPOIL_NAME = "ctypes.memmove(address + offset, b'\\xff\\xfe', 2)\n"
"""What measures the scene breaks on it."""

OVERLAID = """
import numpy
def overlay(pattern):
    pixels = numpy.ones((90, 160, 4), 'f'); pixels[..., :3] = pattern
    image = bpy.data.images.new('overlay', 160, 90, float_buffer=True)
    image.colorspace_settings.name = 'Non-Color'
    image.pixels.foreach_set(pixels.ravel()); image.update()
    scene.use_nodes = True
    tree = scene.node_tree
    shown, added = tree.nodes.new('CompositorNodeImage'), tree.nodes.new('CompositorNodeMixRGB')
    shown.image, added.blend_type = image, 'ADD'
    added.inputs[0].default_value = 1
    tree.links.new(tree.nodes['Render Layers'].outputs[0], added.inputs[1])
    tree.links.new(shown.outputs[0], added.inputs[2])
    tree.links.new(added.outputs[0], tree.nodes['Composite'].inputs[0])
scene.view_settings.view_transform = 'Standard'
rows, columns = numpy.mgrid[:90, :160]
"""
"""`overlay(pattern)` adds it to every frame, until `scene.use_nodes` is off again."""

_FLAT = """
shading = scene.display.shading
shading.light, shading.color_type, scene.view_settings.view_transform = 'FLAT', 'MATERIAL', 'Standard'
shading.background_type, shading.background_color = 'VIEWPORT', (0.2, 0.2, 0.2)
scene.world = bpy.data.worlds.new('even'); scene.world.color = (0.2, 0.2, 0.2)
def even(colour):
    material = bpy.data.materials.new('even'); material.diffuse_color = (*colour, 1)
    bpy.context.object.data.materials.append(material)
    return bpy.context.object
"""
LOW_CONTRAST = (
    _FLAT
    + """
bpy.ops.mesh.primitive_monkey_add(size=4, location=(-4, 4, -2.5))
thing = even((0.254, 0.254, 0.254))
thing.keyframe_insert('rotation_euler', frame=1); thing.rotation_euler.z = 1
thing.keyframe_insert('rotation_euler', frame=8)
"""
)
"""14 grey levels brighter than the background."""

FAINT_CUBE = _FLAT + "bpy.ops.mesh.primitive_cube_add(size=0.8, location=(0, 0, 2.2)); thing = even((0.228,) * 3)\n"
"""8 grey levels brighter than the background."""

FOUR_PIXELS = (
    _FLAT
    + "bpy.ops.mesh.primitive_plane_add(size=0.11, location=(0, 0, 2.2)); thing = even((0.9,) * 3)\n"
    + ("thing.rotation_euler = scene.camera.rotation_euler\n")
)
"""2x2 pixels."""

THIN_TEXT = (
    _FLAT
    + """
bpy.ops.object.text_add(location=(-2, -2.2, 0), rotation=scene.camera.rotation_euler)
thing = even((0.4, 0.4, 0.4)); thing.data.body, thing.data.size = 'approved', 0.35
"""
)
"""Letters of four pixels, with strokes under one."""

GONE = "bpy.data.objects.remove(thing)\n"

ENVIRONMENT = """
import numpy
sky = bpy.data.images.new('sky', 64, 32)
soft = numpy.linspace(0.3, 0.6, 32)[:, None, None] * numpy.ones((1, 64, 4))
painting = numpy.kron(numpy.random.RandomState(1).rand(8, 16, 4), numpy.ones((4, 4, 1)))
sky.pixels.foreach_set((painting if PAINTED else soft).astype('f').ravel()); sky.update(); sky.pack()
scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = 'CYCLES', 1, False
scene.world = bpy.data.worlds.new('sky'); scene.world.use_nodes = True
tree = scene.world.node_tree
node = tree.nodes.new('ShaderNodeTexEnvironment'); node.image = sky
tree.links.new(node.outputs[0], tree.nodes['Background'].inputs[0])
scene.view_settings.view_transform, scene.render.use_persistent_data = 'Standard', True
"""
"""In Cycles (Workbench draws no environment): a soft sky, or with PAINTED a painting."""
