"""Has an untrusted video read by a process of its own, which holds no keys and gives no verdict.

Owns the jail and the limits of `in_sandbox/read_video.py`, its requests and the distrust of its answers: FFmpeg runs
there, so a crafted video may speak through it. Whatever comes back in another form than asked, or does not come, is a
problem of the video (UnreadableVideo); only a program that could not be started is ours (SandboxFailed). Numbers and
pictures of the right form are believed: they describe the video that would have to be forged.
"""

import json
import math
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.blender import level_in_force
from harness.errors import SandboxFailed
from harness.folders import private_folder
from harness.interpreter import PROJECT_DIR, read_environment
from harness.library_jail import TMP_MB, library_jail, package_folders
from harness.plain_text import one_line
from harness.problems import UNREADABLE_FIXES
from harness.sandbox import REQUEST_FD, RESULT_FD, Limits, SandboxedProcess
from harness.sandbox.process import WatchEnd
from harness.settings import HarnessSettings
from harness.video import (
    SKETCH_BYTES,
    SUMS,
    Frame,
    Shape,
    Sketches,
    UnreadableVideo,
    VideoFacts,
    VideoLimits,
    VideoReading,
)
from harness.workspace import NotTaken, take_file

PROGRAM = PROJECT_DIR / "harness/in_sandbox/read_video.py"
MEMORY_MB = 2048
"""Of the reader. The largest picture that is accepted takes 64 MB in 8-bit RGBA, and a codec keeps up to 20 of them."""
_RESULT_MB = 128
_START_SECONDS = 60.0
_GRACE_SECONDS = 10.0
"""What it may take longer than it allows itself."""
_SPARE_SECONDS = 600.0
_N_COLOUR_TAGS = 8
_NAME = re.compile(r"[\w.,+()-]{0,60}", re.ASCII)
_JPEG = (b"\xff\xd8\xff", b"\xff\xd9")
_PNG = (b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82")

Count = Annotated[int, Field(ge=0, le=1 << 40)]


class _Said(BaseModel):
    """The JSON of one answer."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )  # built while Blender runs


class _Ready(_Said):
    kind: Literal["ready"]


class _Unreadable(_Said):
    kind: Literal["unreadable"]
    code: str
    message: str


class _Picture(_Said):
    index: Count
    seconds: float
    width: Annotated[int, Field(ge=1, le=65_535)]
    height: Annotated[int, Field(ge=1, le=65_535)]
    n_bytes: Count


class _Analysis(_Said):
    kind: Literal["analysis"]
    facts: VideoFacts
    previews: tuple[_Picture, ...]
    n_sheet_bytes: Count


class _Sketches(_Said):
    kind: Literal["sketches"]
    n_frames: Annotated[int, Field(ge=1)]
    shape: Shape


class _Sheet(_Said):
    kind: Literal["sheet"]
    n_sheet_bytes: Count


_Form = TypeVar("_Form", bound=_Said)


class VideoReader:
    """One sandboxed program for one video. A context manager; the methods belong in one thread.

    `start` it early (it loads its libraries, 0.25 s), put the video at `video`, ask.
    """

    def __init__(
        self, settings: HarnessSettings, *, limits: VideoLimits | None = None, program: Path = PROGRAM
    ) -> None:
        self._settings, self._program = settings, program
        self._limits = limits or VideoLimits(max_bytes=settings.max_file_mb << 20)
        self._resources = ExitStack()
        self._process: SandboxedProcess | None = None
        self._is_ready = False
        self._is_analysing = False

    def __enter__(self) -> Self:
        self._folder = self._resources.enter_context(private_folder("video"))
        for folder in (self._given, self._own):
            folder.mkdir()
        return self

    def __exit__(self, *_error: object) -> None:
        self._resources.close()

    @property
    def video(self) -> Path:
        """Where the video has to be put before anything is asked. The program cannot change it."""
        return self._given / "video"

    @property
    def _given(self) -> Path:
        return self._folder / "given"

    @property
    def _own(self) -> Path:
        return self._folder / "own"

    def start(self) -> None:
        """Start the program, without waiting for it. Raises HarnessError."""
        packages = package_folders()
        agent = read_environment(Path(sys.executable))
        jail = library_jail(agent, self._program, packages, given=self._given, own=self._own)
        limits = _process_limits(self._settings, self._limits)
        self._process = SandboxedProcess(jail, limits, level_in_force(self._settings))
        self._resources.callback(self._process.close)
        folders = (self._given, self._own, *packages)
        self._process.start([agent.base_python, "-I", "-S", self._program, RESULT_FD, REQUEST_FD, *folders])

    def begin_analysis(self) -> None:
        """Have the analysis made, without waiting for it; `analyse` gives what comes of it."""
        self._send(
            op="analyse",
            n_content_samples=self._settings.content_samples,
            n_preview_frames=self._n_previews,
            preview_width=self._settings.preview_width,
            limits=asdict(self._limits),
        )
        self._is_analysing = True

    def analyse(self) -> VideoReading:
        """Numbers, preview frames and contact sheet. Raises UnreadableVideo, or SandboxFailed if it did not start."""
        if not self._is_analysing:
            self._await_ready()
            self.begin_analysis()
        self._is_analysing = False
        said, content = self._answer(_Analysis)
        pieces = _split(content, [*(picture.n_bytes for picture in said.previews), said.n_sheet_bytes])
        if not (pieces and self._are_facts(said.facts) and self._are_previews(said, pieces[:-1])):
            raise _malformed()
        if not _is_whole(pieces[-1], _PNG):
            raise _malformed()
        frames = zip(said.previews, pieces, strict=False)
        previews = tuple(Frame(p.index, p.seconds, jpeg, p.width, p.height) for p, jpeg in frames)
        return VideoReading(said.facts, previews, pieces[-1])

    def sketches(self, destination: Path, key: int) -> Sketches:
        """Every frame's sums in the new file `destination`; `key` chooses the signs.

        Ends the program. Raises as `analyse` does.
        """
        said, _ = self._ask(_Sketches, op="sketch", key=key, limits=asdict(self._limits))
        shape = said.shape
        is_possible = min(shape.width, shape.height) > 0 and shape.width * shape.height <= self._limits.max_pixels
        if not (is_possible and _NAME.fullmatch(shape.pixel_format) and len(shape.colours) == _N_COLOUR_TAGS):
            raise _malformed()
        self._take("sketches", destination, said.n_frames, math.prod(shape.grid) * SUMS * 2)
        return Sketches(destination, said.n_frames, shape)

    def _take(self, name: str, destination: Path, n_frames: int, frame_bytes: int) -> None:
        """The file that the program wrote; the program is ended first, so that nobody writes meanwhile."""
        self._running.kill()
        if n_frames > self._limits.max_frames:
            raise _malformed()
        n_bytes = n_frames * frame_bytes
        try:
            if take_file(self._own, name, destination, max_bytes=n_bytes) != n_bytes:
                raise _malformed()
        except (FileNotFoundError, NotTaken) as error:
            raise _malformed() from error

    def contact_sheet(self, frames: Sequence[Frame], labels: Sequence[str]) -> bytes:
        """A PNG of these frames, each under its label. No video is needed. Raises as `analyse` does."""
        for position, frame in enumerate(frames):
            (self._given / f"{position}.jpg").write_bytes(frame.jpeg)
        sizes = [(f.index, f.width, f.height) for f in frames]
        said, content = self._ask(_Sheet, op="sheet", frames=sizes, labels=list(labels))
        if said.n_sheet_bytes != len(content) or not _is_whole(content, _PNG):
            raise _malformed()
        return content

    @property
    def _n_previews(self) -> int:
        return self._settings.preview_frames if self._settings.visual_feedback else 1

    def _are_facts(self, facts: VideoFacts) -> bool:
        """Whether these numbers can be those of the video that was given."""
        samples, differences = facts.content_samples, facts.neighbour_differences
        greys = [*differences, *(v for sample in samples for v in (sample.mean, sample.standard_deviation))]
        names = (facts.container, facts.codec, facts.pixel_format)
        return (
            all(_NAME.fullmatch(name) for name in names)
            and min(facts.width, facts.height) > 0
            and facts.width * facts.height <= self._limits.max_pixels
            and 0 < facts.n_frames <= self._limits.max_frames
            and abs(facts.n_frames_claimed or 0) < 1 << 63
            and facts.size_bytes == self.video.stat().st_size
            and all(math.isfinite(value) and value > 0 for value in (facts.fps, facts.duration_seconds))
            and _are_spread([sample.index for sample in samples], self._settings.content_samples, facts.n_frames)
            and len(differences) == len(samples) - 1
            and all(0 <= grey <= 255 for grey in greys)
        )

    def _are_previews(self, said: _Analysis, jpegs: Sequence[bytes]) -> bool:
        return (
            _are_spread([picture.index for picture in said.previews], self._n_previews, said.facts.n_frames)
            and all(picture.width <= self._settings.preview_width for picture in said.previews)
            and all(_is_whole(jpeg, _JPEG) for jpeg in jpegs)
        )

    # the process

    @property
    def _running(self) -> SandboxedProcess:
        assert self._process is not None, "start() comes first"
        return self._process

    def _ask(self, form: type[_Form], **request: Any) -> tuple[_Form, bytes]:
        """The answer in its form, and the bytes behind it."""
        self._await_ready()
        self._send(**request)
        return self._answer(form)

    def _send(self, **request: Any) -> None:
        """The program reads it when its libraries are loaded."""
        with suppress(BrokenPipeError):  # it has ended, as is seen when the answer does not come
            self._running.send(json.dumps(request).encode() + b"\n")

    def _answer(self, form: type[_Form]) -> tuple[_Form, bytes]:
        process = self._running
        self._await_ready()
        end, message = _await_message(process, self._limits.decode_seconds + _GRACE_SECONDS)
        if message is None:
            _raise_lost(end, process, self._limits)
        header, _, content = message.partition(b"\n")
        try:
            return _parse(header, form), content
        except ValidationError:
            raise _malformed() from None

    def _await_ready(self) -> None:
        if self._is_ready:
            return
        process = self._running
        end, message = _await_message(process, _START_SECONDS)
        try:
            _Ready.model_validate_json((message or b"").strip())
        except ValidationError:
            heard, printed = (message or b"")[:200], process.output.text().strip()[-500:]
            why = f"{end}, it said {heard!r}"
            raise SandboxFailed(f"The program that reads videos did not start ({why}): {printed}") from None
        self._is_ready = True


def _parse(header: bytes, form: type[_Form]) -> _Form:
    """The answer, or what the program itself says against the video, raised. ValidationError: it is neither."""
    try:
        said = _Unreadable.model_validate_json(header)
    except ValidationError:
        return form.model_validate_json(header)
    if said.code not in UNREADABLE_FIXES:
        raise _malformed()
    raise UnreadableVideo(said.code, one_line(said.message[:2000])[:500])


def _await_message(process: SandboxedProcess, seconds: float) -> tuple[WatchEnd, bytes | None]:
    """Why waiting ended, and the next message if it is whole."""

    def is_there() -> bool:
        stop = _end_of_message(process.result)
        return stop <= len(process.result) or stop > _RESULT_MB << 20

    end = process.watch(timeout_seconds=seconds, until=is_there)
    process.drain()
    if not is_there():
        return end, None
    stop = _end_of_message(process.result)
    if stop > _RESULT_MB << 20:
        raise UnreadableVideo("video_too_large", f"The video's pictures take more than {_RESULT_MB} MiB.")
    message = bytes(process.result[8:stop])
    del process.result[:stop]
    return end, message


def _end_of_message(received: bytearray) -> int:
    return 8 + int.from_bytes(received[:8], "little") if len(received) >= 8 else 8


def _raise_lost(end: WatchEnd, process: SandboxedProcess, limits: VideoLimits) -> NoReturn:
    """The program did not answer: what that says of the video."""
    if end == "timeout":
        message = f"The video cannot be decoded within {limits.decode_seconds:g} s."
        raise UnreadableVideo("video_decode_timeout", message)
    if end == "memory":
        message = f"The video cannot be decoded with {MEMORY_MB} MiB of memory."
        raise UnreadableVideo("video_too_large", message)
    if end == "ended":
        process.kill()
        why = f"the decoder ended with status {process.returncode}, without an answer"
    else:
        why = f"the decoder was stopped at the {end} limit"
    raise UnreadableVideo("video_corrupt", f"The video cannot be decoded: {why}.")


def _malformed() -> UnreadableVideo:
    return UnreadableVideo("video_corrupt", "The video cannot be decoded: the decoder's answer makes no sense.")


def _split(content: bytes, sizes: Sequence[int]) -> list[bytes]:
    """The pieces of these sizes, or none at all where they are not exactly the content."""
    if sum(sizes) != len(content):
        return []
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    return [content[start : start + size] for start, size in zip(starts, sizes, strict=True)]


def _is_whole(picture: bytes, form: tuple[bytes, bytes]) -> bool:
    return picture.startswith(form[0]) and picture.endswith(form[1])


def _are_spread(indexes: list[int], most: int, n_frames: int) -> bool:
    """Whether these are up to `most` frames in order, at least one, of a video of `n_frames`."""
    return 1 <= len(indexes) <= most and indexes == sorted({*indexes}) and indexes[0] >= 0 and indexes[-1] < n_frames


def _process_limits(settings: HarnessSettings, video: VideoLimits) -> Limits:
    """Limits of the program. Its time is that of Blender, for which it waits, and of its own work."""
    frames_mb = (video.max_frames * SKETCH_BYTES >> 20) + 1
    return Limits(
        timeout_seconds=2 * settings.exec_timeout + video.decode_seconds + _SPARE_SECONDS,
        memory_mb=MEMORY_MB,
        max_processes=32,
        output_mb=1,
        result_mb=_RESULT_MB,
        max_file_mb=frames_mb,
        disk_mb=frames_mb,
        max_files=100,
        tmp_mb=TMP_MB,
    )
