"""Builds every test scene in one Blender: `build.py OUT_FOLDER` writes a .blend for each scene."""

import os
import sys
import traceback
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT))

import bpy  # noqa: E402

MODULES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("*.py")
    if path.stem not in ("build", "making", "measure_mutations")
)


def main() -> None:
    folder = Path(sys.argv[1])
    os.chdir(folder)
    bpy.context.preferences.filepaths.save_version = 0
    for name in MODULES:
        for scene, build in import_module(f"tests.harness.checks.scenes.{name}").SCENES.items():
            bpy.ops.wm.read_factory_settings(use_empty=True)
            build()
            path = str(folder / f"{scene}.blend")
            bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False, relative_remap=False)


if __name__ == "__main__":
    status = 1
    try:
        main()
        status = 0
    finally:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
