"""Reads an untrusted video, and answers through a pipe. Started by `harness/video_reader.py`, never imported.

    python -I -S read_video.py RESULT_FD REQUEST_FD INPUT_FOLDER OUTPUT_FOLDER PACKAGE_FOLDER...

A request is a line of JSON. An answer is 8 bytes (the length of the rest, little-endian), a line of JSON, and the bytes
that the JSON counts. One comes unasked, when the libraries are loaded; then each request gets one.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

_Answer = tuple[dict[str, Any], list[bytes]]


def main() -> None:
    """Serve requests. What goes wrong beside UnreadableVideo ends the process: a traceback is for the log alone."""
    result_fd, request_fd = int(sys.argv[1]), int(sys.argv[2])
    given, own = Path(sys.argv[3]), Path(sys.argv[4])
    sys.path += [str(Path(__file__).resolve().parents[2]), *sys.argv[5:]]
    from harness.video import UnreadableVideo

    _warm_up()
    _send(result_fd, {"kind": "ready"}, [])
    operations: Mapping[str, Callable[[Path, Path, dict[str, Any]], _Answer]]
    operations = {"analyse": _analyse, "sketch": _sketch, "sheet": _sheet}
    with open(request_fd, "rb") as requests:
        while line := requests.readline():
            request = json.loads(line)
            try:
                answer = operations[request.pop("op")](given, own, request)
            except UnreadableVideo as error:
                answer = {"kind": "unreadable", "code": error.code, "message": error.message}, []
            _send(result_fd, *answer)


def _warm_up() -> None:
    """Load the libraries and have them prepare what they do at first use (40 ms), while nobody waits."""
    from av.video.frame import VideoFrame

    import harness.in_sandbox.video_analysis  # noqa: F401 - for later
    from harness.in_sandbox.contact_sheet import contact_sheet
    from harness.in_sandbox.video_decode import Decoded, Wanted, keep
    from harness.video import Frame

    decoded = Decoded()
    keep(decoded, VideoFrame(640, 360, "yuv420p"), Wanted((0,), (0,), (0,), preview_width=640))
    picture = decoded.pictures[0]
    contact_sheet([Frame(0, 0.0, picture.jpeg, picture.width, picture.height)])


def _analyse(given: Path, _own: Path, request: dict[str, Any]) -> _Answer:
    from harness.in_sandbox.contact_sheet import contact_sheet
    from harness.in_sandbox.video_analysis import analyse_video
    from harness.video import VideoLimits

    limits = VideoLimits(**request.pop("limits"))
    analysis = analyse_video(given / "video", **request, limits=limits)
    previews, sheet = analysis.preview_frames, contact_sheet(analysis.sheet_frames)
    pictures = [
        {"index": f.index, "seconds": f.seconds, "width": f.width, "height": f.height, "n_bytes": len(f.jpeg)}
        for f in previews
    ]
    answer = {"kind": "analysis", "facts": asdict(analysis.facts), "previews": pictures, "n_sheet_bytes": len(sheet)}
    return answer, [*(frame.jpeg for frame in previews), sheet]


def _sketch(given: Path, own: Path, request: dict[str, Any]) -> _Answer:
    from harness.in_sandbox.frame_sketches import write_sketches
    from harness.video import VideoLimits

    limits = VideoLimits(**request["limits"])
    n, shape = write_sketches(given / "video", own / "sketches", request["key"], limits)
    return {"kind": "sketches", "n_frames": n, "shape": asdict(shape)}, []


def _sheet(given: Path, _own: Path, request: dict[str, Any]) -> _Answer:
    from harness.in_sandbox.contact_sheet import contact_sheet
    from harness.video import Frame

    frames = [
        Frame(index, 0.0, (given / f"{position}.jpg").read_bytes(), width, height)
        for position, (index, width, height) in enumerate(request["frames"])
    ]
    sheet = contact_sheet(frames, request["labels"])
    return {"kind": "sheet", "n_sheet_bytes": len(sheet)}, [sheet]


def _send(descriptor: int, header: dict[str, Any], pieces: list[bytes]) -> None:
    content = b"".join([json.dumps(header).encode(), b"\n", *pieces])
    view = memoryview(len(content).to_bytes(8, "little") + content)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()
    os._exit(0)  # tearing down the video libraries takes longer than reading their frames
