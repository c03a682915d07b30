"""Opens a .blend, or Blender's factory scene, and sends its canonical state.

    python -P -s dump_state.py RESULT_FD [BLEND_FILE]

Message: `state` with `state` and `hash`. Scripts in the file do not run.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.in_blender.result_pipe import ResultPipe
from harness.in_blender.scene_state import scene_state, state_hash


def main() -> None:
    import bpy

    pipe = ResultPipe(int(sys.argv[1]))
    if len(sys.argv) > 2:
        bpy.ops.wm.open_mainfile(filepath=sys.argv[2], load_ui=False, use_scripts=False)
    state = scene_state()
    pipe.send("state", state=state, hash=state_hash(state))
    os._exit(0)


if __name__ == "__main__":
    main()
