"""How the gallery's picture is spoilt."""

VIEW = {"whole-in-picture", "takes-up-its-share", "nothing-before-it", "plinth-seen", "painting-seen"}
"""What needs a camera that sees something."""

MUTATIONS = {
    "the camera looks away": ("aim('Hero camera', (-1.0, -9, 1.5))", VIEW),
    "the camera looks past the sculpture": (
        "aim('Hero camera', (2.9, 0.2, 1.4))",
        {"whole-in-picture", "nothing-before-it"},
    ),
    "the camera is gone": ("delete('Hero camera')", VIEW | {"camera", "eye-level", "only-lights-and-camera"}),
    "the scene has no active camera": ("S.camera = None", VIEW | {"camera", "soft-background", "camera-is-free"}),
    "the camera is called Camera": ("obj('Hero camera').name = 'Camera'", {"camera", "eye-level"}),
    "another camera is active": (
        "S.camera = D.objects.new('Second', D.cameras.new('Second')); S.collection.objects.link(S.camera)",
        VIEW | {"camera", "only-lights-and-camera"},
    ),
    "the camera is orthographic": ("D.cameras['Hero camera'].type = 'ORTHO'", {"camera"}),
    "the lens is wide": ("D.cameras['Hero camera'].lens = 24", {"camera", "takes-up-its-share"}),
    "the lens is long": ("D.cameras['Hero camera'].lens = 120", {"camera", "whole-in-picture", "takes-up-its-share"}),
    "the camera lies on the floor": ("move('Hero camera', z=-1.2); aim('Hero camera', (0, 0, 1.4))", {"eye-level"}),
    "the camera stands behind the column": (
        "obj('Hero camera').location = (0.1, -3.3, 1.55); aim('Hero camera', (0, 0, 1.4))",
        {"nothing-before-it"},
    ),
    "the camera is in the column": (
        "obj('Hero camera').location = (0.15, -1.7, 1.5)",
        {"camera-is-free", "nothing-before-it"},
    ),
    "the camera is behind the rear wall": (
        "obj('Hero camera').location = (0, 4, 1.5); aim('Hero camera', (0, 0, 1.4))",
        {"nothing-before-it", "plinth-seen", "painting-seen"},
    ),
    "the camera is too near": (
        "obj('Hero camera').location = (-0.45, -1.2, 1.5)",
        {"whole-in-picture"},
    ),
    "the camera is turned upward": ("turn('Hero camera', x=12)", {"whole-in-picture", "plinth-seen"}),
    "the picture is shifted": ("D.cameras['Hero camera'].shift_x = 0.5", {"whole-in-picture"}),
    "depth of field is off": ("D.cameras['Hero camera'].dof.use_dof = False", {"soft-background"}),
    "a wall of light boxes is added": ("add_cube('Box', (-0.5, -1.5, 1.4), 0.8)", {"nothing-before-it", "room-kept"}),
    "the key is gone": (
        "delete('Key light')",
        {"key", "key-warm", "key-front-left", "high-lights", "lights-aim", "three-shadows", "only-lights-and-camera"},
    ),
    "the key is hidden": ("obj('Key light').hide_render = True", {"key", "key-warm", "lights-aim", "three-shadows"}),
    "the key is weak": ("D.lights['Key light'].energy = 20", {"key"}),
    "the key is too strong": ("D.lights['Key light'].energy = 2000", {"key"}),
    "the key is a point": ("D.lights['Key light'].type = 'POINT'", {"key", "lights-aim"}),
    "the key is white": ("D.lights['Key light'].color = (1, 1, 1)", {"key-warm"}),
    "the key is on the right": (
        "obj('Key light').location.x *= -1; aim('Key light', (0, 0, 1.45))",
        {"key-front-left"},
    ),
    "the key is behind": ("obj('Key light').location.y = 1; aim('Key light', (0, 0, 1.45))", {"key-front-left"}),
    "the key is low": ("obj('Key light').location.z = 0.8; aim('Key light', (0, 0, 1.45))", {"high-lights"}),
    "the key looks at the floor": ("aim('Key light', (-2.2, -1.3, 0))", {"lights-aim"}),
    "the fill is as strong as the key": ("D.lights['Fill light'].energy = 280", {"fill"}),
    "the fill is a sun": ("D.lights['Fill light'].type = 'SUN'", {"fill"}),
    "the fill is on the left": (
        "obj('Fill light').location.x *= -1; aim('Fill light', (0, 0, 1.45))",
        {"fill-front-right"},
    ),
    "the fill looks at the bench": ("aim('Fill light', (-2, -0.4, 0.4))", {"lights-aim"}),
    "the rim is another kind": ("D.lights['Rim light'].type = 'AREA'", {"rim"}),
    "the rim is warm": ("D.lights['Rim light'].color = (1, 0.8, 0.6)", {"rim-cool"}),
    "the rim is in front": (
        "obj('Rim light').location.y = -1.9; aim('Rim light', (0, 0, 1.45))",
        {"rim-behind"},
    ),
    "the rim has another name": (
        "obj('Rim light').name = 'Spot'",
        {"rim", "rim-cool", "rim-behind", "high-lights", "lights-aim"},
    ),
    "the rim casts no shadow": ("D.lights['Rim light'].use_shadow = False", {"three-shadows"}),
    "there is a fourth light": (
        "S.collection.objects.link(D.objects.new('Extra', D.lights.new('Extra', 'POINT')))",
        {"three-shadows", "only-lights-and-camera"},
    ),
    "there is no world": ("S.world = None", {"dim-world"}),
    "the world is bright": (
        "S.world.node_tree.nodes['Background'].inputs['Strength'].default_value = 1.0",
        {"dim-world"},
    ),
    "the picture is smaller": ("S.render.resolution_percentage = 50", {"picture-size"}),
    "the picture is square": ("S.render.resolution_x = 720", {"picture-size", "takes-up-its-share"}),
    "the column is gone": ("delete('Column')", {"room-kept", "only-lights-and-camera"}),
    "the column is hidden": ("obj('Column').hide_render = True", {"room-kept", "only-lights-and-camera"}),
    "the sculpture is moved": ("move('Sculpture', x=0.15)", {"sculpture-kept"}),
    "the sculpture is scaled": ("scale('Sculpture', 1, 1, 1.1)", {"sculpture-kept"}),
    "the sculpture is deleted": (
        "delete('Sculpture')",
        VIEW - {"plinth-seen", "painting-seen"} | {"room-kept", "lights-aim", "sculpture-kept"},
    ),
    "the painting is hung elsewhere": ("move('Painting', x=-3.4)", {"painting-seen"}),
}
"""Change -> (its code, ids of the checks that have to see it)."""

HARMLESS = {
    "the lens is a little longer": "D.cameras['Hero camera'].lens = 51",
    "the key is larger": "D.lights['Key light'].size = 1.4",
    "the fill is neutral": "D.lights['Fill light'].color = (1, 1, 1)",
    "the rim is narrower": "D.lights['Rim light'].spot_size = 0.6",
    "the world is warmer": "S.world.node_tree.nodes['Background'].inputs['Color'].default_value = (1, 0.9, 0.8, 1)",
    "the meshes have other names": "for mesh in D.meshes:\n    mesh.name = 'part'",
    "the camera data has another name": "D.cameras['Hero camera'].name = 'Camera'",
    "the aperture is wider": "D.cameras['Hero camera'].dof.aperture_fstop = 1.4",
}
"""Change -> its code. What the brief leaves open."""
