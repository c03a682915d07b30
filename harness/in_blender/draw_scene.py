"""Draws the renders of a .blend. Trusted code; nothing in the file runs.

    python -P -s draw_scene.py RESULT_FD SCENE_FILE REQUEST_FILE        (cwd: an empty folder for the raw pictures)

Messages: `opened` or `unreadable` (why), those of `renders/draw.py`, `finished`.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.in_blender.opening import NotOpened, open_untrusted
from harness.in_blender.result_pipe import ResultPipe


def main() -> None:
    pipe = ResultPipe(int(sys.argv[1]))
    scene_file, request_file = sys.argv[2:4]
    with open(request_file, encoding="utf-8") as file:
        request = json.load(file)
    try:
        open_untrusted(scene_file)
    except NotOpened as error:
        pipe.send("unreadable", why=str(error))
        os._exit(0)
    pipe.send("opened")
    from harness.in_blender.renders.draw import draw_renders

    draw_renders(request, os.getcwd(), pipe.send)
    sys.stdout.flush()
    pipe.send("finished")
    os._exit(0)  # Python's own exit may hang (see run_script)


if __name__ == "__main__":
    try:
        main()
    finally:
        sys.stderr.flush()
        if error := sys.exc_info()[1]:
            print(repr(error)[:500], file=sys.stderr, flush=True)
        os._exit(1)
