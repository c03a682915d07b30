"""Makes scenes and draws each as if it had been opened alone: one Blender for many tests.

    python -P -s draw_many.py RESULT_FD CASES_FILE        (cwd: an empty folder, which gets one folder a case)

CASES_FILE: JSON, {name: {code, request}}. The code makes a scene, which is saved and opened again. Messages: those of
`renders/draw.py`, each with its `case`.
"""

import json
import os
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import bpy

from harness.in_blender.opening import open_untrusted
from harness.in_blender.renders.draw import draw_renders
from harness.in_blender.result_pipe import ResultPipe


def main() -> None:
    pipe = ResultPipe(int(sys.argv[1]))
    cases = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    for name, case in cases.items():
        bpy.ops.wm.read_factory_settings(use_empty=True)
        exec(case["code"], {"bpy": bpy})
        file, folder = Path.cwd() / "scene.blend", Path.cwd() / name
        bpy.ops.wm.save_as_mainfile(filepath=str(file))
        open_untrusted(str(file))
        folder.mkdir()
        begun = time.process_time()

        def send(kind: str, **content: object) -> None:
            pipe.send(kind, case=name, **content)  # noqa: B023 - called before the next turn

        draw_renders(case["request"], str(folder), send)
        pipe.send("drawn", case=name, cpu_seconds=time.process_time() - begun)
    pipe.send("finished")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except Exception:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(1)
