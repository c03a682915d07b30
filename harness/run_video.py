"""The video of one run: taken and read as soon as the script has ended, while its scene is still being measured.

The script's end is a claim, and what it left behind may write on. So the video's stamp is looked at again when no
process is left: one that was changed is taken and read anew. A stamp can be forged, which gains nothing: what was read
is what is kept and judged.
"""

import shutil
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from harness.settings import HarnessSettings
from harness.video import VideoReading
from harness.video_reader import VideoReader
from harness.workspace import FileStamp, NotTaken, stamp_of, take_file


class RunVideo:
    """A context manager around one run. `start` once Blender runs, `begin` at the script's end, `reading` after all."""

    def __init__(self, workspace: Path, settings: HarnessSettings) -> None:
        self._workspace, self._settings = workspace, settings
        self._resources = ExitStack()
        self._taken: FileStamp | None = None

    def __enter__(self) -> Self:
        self._reader = self._resources.enter_context(VideoReader(self._settings))
        return self

    def __exit__(self, *_error: object) -> None:
        self._resources.close()

    def start(self) -> None:
        """Start the reader, whose libraries nobody has to wait for then. Raises HarnessError."""
        self._reader.start()

    def begin(self) -> None:
        """Take the video, if it is there already, and have it read. Never raises for what the script left."""
        with suppress(OSError, NotTaken):  # said by `reading`
            self._take()

    def reading(self, *, keep: Path | None) -> VideoReading:
        """Numbers and pictures of the video, which is kept under `keep`.

        Raises FileNotFoundError if there is none, NotTaken for what is no plain file, UnreadableVideo, HarnessError.
        """
        if self._taken is None or self._taken != self._stamp():
            if self._taken is not None:
                self._read_anew()
            self._take()
        reading = self._reader.analyse()
        if keep is not None:
            shutil.copyfile(self._reader.video, keep)
        return reading

    def _take(self) -> None:
        name, limit = self._settings.output_video, self._settings.max_file_mb << 20
        self._reader.video.unlink(missing_ok=True)  # half of one that could not be taken
        before = self._stamp()  # before the content, so that a change while it is copied is seen
        take_file(self._workspace, name, self._reader.video, max_bytes=limit)
        self._taken = before
        self._reader.begin_analysis()

    def _read_anew(self) -> None:
        """By another reader: this one may be lost in what it was given."""
        self._taken = None
        self._resources.close()
        self._reader = self._resources.enter_context(VideoReader(self._settings))
        self._reader.start()

    def _stamp(self) -> FileStamp | None:
        return stamp_of(self._workspace, self._settings.output_video)
