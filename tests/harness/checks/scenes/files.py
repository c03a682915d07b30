"""Scenes whose files are the matter: render settings, external files, orphans, embedded code, hostile ones."""

import shutil
from pathlib import Path

import bpy

from tests.harness.checks.scenes.looks import camera_at, link, material
from tests.harness.checks.scenes.making import add, cube


def settings() -> None:
    scene = bpy.context.scene
    render = scene.render
    render.resolution_x, render.resolution_y, render.resolution_percentage = 1000, 500, 50
    render.engine = "BLENDER_EEVEE_NEXT"
    scene.eevee.taa_render_samples = 32
    scene.view_settings.view_transform = "Standard"
    render.filepath = "//renders/frame_"
    scene.camera = camera_at("Camera", (0, -6, 0), (90, 0, 0))
    cube("Seen")


def blank() -> None:
    scene = bpy.context.scene
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.camera = camera_at("Camera", (0, -6, 0), (90, 0, 0))
    cube("Unseen", (0, -20, 0))


def clean() -> None:
    """Pixels packed, nothing left over."""
    made = material("Paint")
    node = made.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("paint", 8, 8)
    node.image.pixels = [0.1, 0.5, 0.9, 1.0] * 64
    node.image.pack()
    link(made, ("Image Texture", "Color"))
    cube("Painted").data.materials.append(made)
    text = add("Words", bpy.data.curves.new("Words", "FONT"))  # with the built-in font
    text.data.body = "x"
    bpy.data.texts.new("notes")
    driven = cube("Driven", (5, 0, 0))
    driven.driver_add("location", 2).driver.expression = "frame * 0.1"


def messy() -> None:
    made = material("Loose")
    made.use_fake_user = True
    left = bpy.data.collections.new("Left over")
    left.use_fake_user = True
    left.objects.link(bpy.data.objects.new("Forgotten", bpy.data.meshes.new("ForgottenMesh")))
    textured = material("Textured")
    node = textured.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("outside", 8, 8)
    node.image.source, node.image.filepath = "FILE", "/home/somebody/outside.png"
    link(textured, ("Image Texture", "Color"))
    cube("Textured").data.materials.append(textured)
    generated = material("Generated")
    node = generated.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("generated", 8, 8)
    link(generated, ("Image Texture", "Color"))
    cube("Generated").data.materials.append(generated)
    bpy.data.scenes.new("Second")
    bpy.context.scene.view_layers.new("More")
    bpy.context.scene.render.filepath = "/home/somebody/render"


def library() -> None:
    cube("Lent").asset_mark()


def hostile() -> None:
    """Everything that could run or write when somebody opens, moves or renders it."""
    scene = bpy.context.scene
    touch = "__import__('os').system('touch /workspace/PWNED')"
    text = bpy.data.texts.new("evil.py")
    text.write(f"{touch}\n")
    text.use_module = True
    target = cube("Target")
    target.driver_add("location", 0).driver.expression = touch
    target.driver_add("location", 1).driver.expression = "[c for c in ().__class__.__base__.__subclasses__()][0] and 1"
    scene.use_nodes = True
    output = scene.node_tree.nodes.new("CompositorNodeOutputFile")
    output.base_path = "/workspace/PWNED_by_a_node"
    layers = scene.node_tree.nodes.new("CompositorNodeRLayers")
    scene.node_tree.links.new(layers.outputs[0], output.inputs[0])
    scene.render.use_freestyle = True
    style = bpy.context.view_layer.freestyle_settings
    style.mode = "SCRIPT"
    style.modules.new().script = text
    scene.camera = camera_at("Camera", (0, -6, 0), (90, 0, 0))
    scene.render.filepath = "/workspace/PWNED.png"


def linked() -> None:
    """Written after `library`: it links from that file."""
    with bpy.data.libraries.load("library.blend", link=True) as (_, wanted):
        wanted.objects = ["Lent"]
    for o in wanted.objects:
        bpy.context.scene.collection.objects.link(o)
    bpy.data.libraries[0].filepath = "//library.blend"


def lost() -> None:
    """Links from a library that is not there any more when the file is opened; `Borrower` has its mesh from it."""
    shutil.copyfile("library.blend", "lost_library.blend")
    with bpy.data.libraries.load("lost_library.blend", link=True) as (_, wanted):
        wanted.objects = ["Lent"]
    lent = bpy.data.objects["Lent"]
    bpy.context.scene.collection.objects.link(lent)
    add("Borrower", lent.data)
    bpy.data.libraries[0].filepath = "//lost_library.blend"
    Path("lost_library.blend").unlink()


def dense() -> None:
    """A ball of 49,600 faces: to lay out its UV map takes seconds of Python."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=400, ring_count=124)
    bpy.context.object.name = "Dense"
    cube("Small", (4, 0, 0))


SCENES = {
    "dense": dense,
    "settings": settings,
    "blank": blank,
    "clean": clean,
    "messy": messy,
    "library": library,
    "hostile": hostile,
    "linked": linked,
    "lost": lost,
}
