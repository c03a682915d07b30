"""Publishes the raw pictures of a scene. Started by `harness/clean_renders.py`, never imported.

    python -I -S publish_renders.py RESULT_FD INPUT_FOLDER OUTPUT_FOLDER PACKAGE_FOLDER...

INPUT_FOLDER holds the raw pictures and `request.json`: `pictures` [{raw, file, caption, strip, bar, may_be_empty}],
`film` ({raws, file, fps} or null) and `sheet`, its file's name. The answers are lines of JSON: `started`, a `picture`
for each (file, state: good, empty, even or unreadable), `film` and `sheet` (file), `finished`. Only what is good is
written; of pictures that may be empty all, where one is good.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

    from harness.in_sandbox.clean_pictures import Clean


def main() -> None:
    result_fd, given, own = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    sys.path += [str(Path(__file__).resolve().parents[2]), *sys.argv[4:]]
    from harness.in_sandbox.clean_pictures import save_png, sheet_of

    _answer(result_fd, "started")
    request = json.loads((given / "request.json").read_bytes())
    pictures = [(picture, _read(given / picture["raw"])) for picture in request["pictures"]]
    moving = [clean for picture, clean in pictures if picture["may_be_empty"]]
    shows_motion = any(clean and clean.state == "good" for clean in moving)
    cells = []
    for picture, clean in pictures:
        is_wanted = clean is not None and (clean.state == "good" or (picture["may_be_empty"] and shows_motion))
        if clean and is_wanted:
            cells.append((_publish(picture, clean, own), picture["caption"]))
        _answer(result_fd, "picture", file=picture["file"], state=clean.state if clean else "unreadable")
    if request["film"] and shows_motion and _film(request["film"], given, own):
        _answer(result_fd, "film", file=request["film"]["file"])
    if cells:
        save_png(sheet_of(cells), own / request["sheet"])
        _answer(result_fd, "sheet", file=request["sheet"])
    _answer(result_fd, "finished")


def _read(raw: Path) -> Clean | None:
    from harness.in_sandbox.clean_pictures import read_raw

    try:
        return read_raw(raw)
    except (OSError, ValueError, SyntaxError):
        return None


def _publish(picture: dict[str, Any], clean: Clean, own: Path) -> Image.Image:
    """Write the clean picture; what stands for it on the sheet."""
    from harness.in_sandbox.clean_pictures import save_png, with_strip

    image = with_strip(clean.image, picture["strip"], picture["bar"]) if picture["strip"] else clean.image
    save_png(image, own / picture["file"])
    return image if picture["bar"] else clean.image


def _film(film: dict[str, Any], given: Path, own: Path) -> bool:
    """Whether it is written: not where a frame cannot be read."""
    from harness.in_sandbox.clean_pictures import read_raw, write_film

    try:
        write_film((read_raw(given / raw).image for raw in film["raws"]), own / film["file"], film["fps"])
    except (OSError, ValueError, SyntaxError) as error:
        print(f"the film: {error}", flush=True)
        return False
    return True


def _answer(descriptor: int, kind: str, **content: object) -> None:
    view = memoryview(json.dumps({"kind": kind, **content}).encode() + b"\n")
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()
    os._exit(0)  # tearing down the video libraries takes longer than they worked
