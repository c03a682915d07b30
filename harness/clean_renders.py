"""Has the raw pictures of a scene made into clean ones, by a sandboxed program.

The raw ones were written by a Blender that had opened an untrusted file, and are decoded nowhere else. Of what comes
back only the form is believed: a PNG that holds pixels alone, an MP4, with the names that were asked for.
"""

import json
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.blender import level_in_force, parse_messages
from harness.errors import SandboxFailed
from harness.folders import private_folder
from harness.interpreter import PROJECT_DIR, read_environment
from harness.library_jail import TMP_MB, library_jail, package_folders
from harness.sandbox import RESULT_FD, Limits, launch
from harness.sandbox.jail import Word
from harness.settings import HarnessSettings
from harness.workspace import NotTaken, take_file

PROGRAM = PROJECT_DIR / "harness/in_sandbox/publish_renders.py"
LIMITS = Limits(
    timeout_seconds=120,
    memory_mb=2048,
    max_processes=32,
    output_mb=1,
    result_mb=1,
    max_file_mb=128,
    disk_mb=512,
    max_files=1000,
    tmp_mb=TMP_MB,
)
MAX_RAW_MB = 64
"""Of one raw picture."""
_PNG_START = b"\x89PNG\r\n\x1a\n"
_PNG_CHUNKS = {b"IHDR", b"IDAT", b"IEND"}

PictureState = Literal["good", "empty", "even", "unreadable"]


@dataclass(frozen=True)
class PictureJob:
    """One raw picture to be made clean."""

    raw: str
    file: str
    caption: str
    """On the contact sheet."""
    strip: str = ""
    """A label below the picture; without one it stays as it is."""
    bar: tuple[str, float] | None = None
    """Text and pixels of a scale bar in the strip."""
    may_be_empty: bool = False
    """Whether a picture of nothing is published too."""


@dataclass(frozen=True)
class FilmJob:
    """Raw pictures to be made into a film."""

    raws: tuple[str, ...]
    file: str
    fps: float


@dataclass(frozen=True)
class Cleaned:
    """What came of it."""

    states: dict[str, PictureState]
    """File -> how its raw picture was; one that is missing was not got to."""
    sizes: dict[str, tuple[int, int]]
    """Files that are in the destination, with their width and height; (0, 0) for a film."""
    stopped: str
    """Why something is missing, or ''."""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    kind: Literal["started", "picture", "film", "sheet", "finished"]
    file: Annotated[str, Field(max_length=100)] = ""
    state: PictureState = "good"


def clean_renders(
    pictures: Sequence[PictureJob],
    film: FilmJob | None,
    sheet: str,
    *,
    raw: Path,
    destination: Path,
    settings: HarnessSettings,
    program: Path = PROGRAM,
) -> Cleaned:
    """Make the raw pictures of `raw` clean, in the folder `destination`.

    Raises SandboxFailed where the program did not start; what is wrong with a picture is in the result.
    """
    with private_folder("renders") as folder:
        given, own = folder / "given", folder / "own"
        given.mkdir()
        own.mkdir()
        _take_raw(raw, given, [*(picture.raw for picture in pictures), *(film.raws if film else ())])
        request = {"pictures": [asdict(p) for p in pictures], "film": asdict(film) if film else None, "sheet": sheet}
        (given / "request.json").write_text(json.dumps(request), encoding="utf-8")
        answers, stopped = _run(given, own, settings, program)
        states = {a.file: a.state for a in answers if a.kind == "picture"}
        wanted = [*(p.file for p in pictures), sheet, *([film.file] if film else [])]
        sizes = {}
        for name in wanted:
            if states.get(name, "good") in ("good", "empty", "even") and _is_published(own, name, destination):
                sizes[name] = _size(destination / name)
        return Cleaned(states, sizes, stopped)


def _take_raw(raw: Path, given: Path, names: Sequence[str]) -> None:
    """What cannot be taken is missing there, which the program says of it."""
    for name in dict.fromkeys(names):
        try:
            take_file(raw, name, given / name, max_bytes=MAX_RAW_MB << 20)
        except (FileNotFoundError, NotTaken):
            (given / name).unlink(missing_ok=True)
            continue
        if os.geteuid() == 0:  # the sandbox is another user then
            (given / name).chmod(0o644)


def _run(given: Path, own: Path, settings: HarnessSettings, program: Path) -> tuple[list[_Answer], str]:
    agent, packages = read_environment(Path(sys.executable)), package_folders()
    jail = library_jail(agent, program, packages, given=given, own=own)
    command: list[Word] = [agent.base_python, "-I", "-S", program, RESULT_FD, given, own, *packages]
    ended = launch(command, jail, LIMITS, level_in_force(settings))
    answers = []
    for message in parse_messages(ended.result):
        try:
            answers.append(_Answer.model_validate(message))
        except ValidationError:
            continue
    said = {answer.kind for answer in answers}
    if "started" not in said:
        printed = ended.output.text().strip()[-500:]
        why = ended.stopped_by or ended.signal_name or ended.returncode
        raise SandboxFailed(f"The program that makes pictures clean did not start ({why}): {printed}")
    if "finished" in said:
        return answers, ""
    return answers, f"making them clean stopped ({ended.stopped_by or ended.signal_name or ended.returncode})"


def _is_published(own: Path, name: str, destination: Path) -> bool:
    """Take the file out, if it is what it has to be."""
    place = destination / name
    try:
        take_file(own, name, place, max_bytes=LIMITS.max_file_mb << 20)
    except (FileNotFoundError, NotTaken):
        place.unlink(missing_ok=True)
        return False
    content = place.read_bytes()
    if not (_is_mp4(content) if name.endswith(".mp4") else _is_pixels_alone(content)):
        place.unlink()
        return False
    return True


def _is_mp4(content: bytes) -> bool:
    return content[4:8] == b"ftyp"


def _is_pixels_alone(content: bytes) -> bool:
    """Whether these are a PNG's chunks up to its end, none of which can hold text."""
    if not content.startswith(_PNG_START):
        return False
    at, kind = len(_PNG_START), b""
    while at + 12 <= len(content) and kind != b"IEND":
        kind = content[at + 4 : at + 8]
        if kind not in _PNG_CHUNKS:
            return False
        at += 12 + int.from_bytes(content[at : at + 4], "big")
    return kind == b"IEND" and at == len(content)


def _size(file: Path) -> tuple[int, int]:
    """Of a PNG, from its header."""
    if file.suffix != ".png":
        return (0, 0)
    with file.open("rb") as opened:
        width, height = struct.unpack(">II", opened.read(24)[16:])
    return width, height
