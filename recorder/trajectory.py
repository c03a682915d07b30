"""Writes and reads `trajectory.jsonl`: append only, one line an event, on disk before the next step begins."""

import errno
import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recorder.documents import parse, read_document
from recorder.errors import CorruptEpisode
from recorder.paths import EpisodePaths
from recorder.records import LINE, End, EpisodeSummary, FileReference, Header, ImagePart, Step
from recorder.redaction import Redactor

MAX_PATCH_BYTES = 64 << 20
"""Of a state patch as JSON. A session's answer, which it is taken from, is no larger."""
_ENDINGS = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}


class TrajectoryWriter:
    """The one way into an episode's record. Not for use by two threads at once."""

    def __init__(self, paths: EpisodePaths, redactor: Redactor) -> None:
        """Raises FileExistsError if there is a trajectory already: nothing is ever overwritten."""
        paths.images.mkdir(parents=True, exist_ok=True)
        self.paths, self.redactor = paths, redactor
        self.n_lines = 0
        self._file = paths.trajectory.open("xb", buffering=0)
        self._n_bytes = 0
        sync_folder(paths.root)

    def append(self, record: Header | Step | End) -> None:
        """Write one line and have it on disk.

        Raises OSError, naming the file, where that cannot be done: the disk is full, the folder is gone. What was
        written before stays whole: no part of the line is left.
        """
        line = json.dumps(self.redactor.clean(record.model_dump(mode="json")), ensure_ascii=False, allow_nan=False)
        # a lone surrogate (from undecodable output) cannot be written as UTF-8
        try:
            self._write(line.encode("utf-8", "replace") + b"\n")
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.paths.trajectory)) from error
        self.n_lines += 1

    def _write(self, line: bytes) -> None:
        descriptor = self._file.fileno()
        # else it would be written to a file that nobody can find any more
        if not os.path.samestat(self.paths.trajectory.stat(), os.fstat(descriptor)):
            raise FileNotFoundError(errno.ENOENT, "The file was replaced by another one")
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, self._n_bytes)
            raise
        self._n_bytes += len(line)

    def store_image(self, content: bytes, media_type: str) -> ImagePart:
        """Keep a picture under its hash (once, however often it is stored) and return the reference to it."""
        digest = hashlib.sha256(content).hexdigest()
        name = f"{digest}.{_ENDINGS.get(media_type, 'bin')}"
        if not (self.paths.images / name).exists():
            write_atomically(self.paths.images / name, content)
        return ImagePart(path=f"images/{name}", sha256=digest, media_type=media_type, n_bytes=len(content))

    def store_state_patch(self, patch: dict[str, Any]) -> FileReference | None:
        """Keep what a step changed in the scene, cleaned, under the hash of its file; equal ones share a file.

        None for one that its reader would refuse: larger than MAX_PATCH_BYTES, or nested without end.
        """
        try:
            content = json.dumps(self.redactor.clean_texts(patch), separators=(",", ":"), allow_nan=False).encode()
        except RecursionError:  # a step's code can forge a state
            return None
        if len(content) > MAX_PATCH_BYTES:
            return None
        packed = gzip.compress(content, mtime=0)
        return self.store_packed_patch(packed)

    def store_packed_patch(self, packed: bytes) -> FileReference:
        """Keep a patch that is a file already."""
        digest = hashlib.sha256(packed).hexdigest()
        name = f"{digest}.json.gz"
        if not (self.paths.states / name).exists():
            self._make_states()
            write_atomically(self.paths.states / name, packed)
        return FileReference(path=f"states/{name}", sha256=digest, n_bytes=len(packed))

    def _make_states(self) -> None:
        """The folder, which only an episode of a scene has."""
        if not self.paths.states.is_dir():
            self.paths.states.mkdir()
            sync_folder(self.paths.root)

    def close(self) -> None:
        self._file.close()


def read_trajectory(path: Path) -> Iterator[Header | Step | End]:
    """The records of a trajectory, in order.

    Raises CorruptEpisode, naming the line, for a line that is not valid JSON or not a known record, for a
    sequence number out of order, for a schema that is newer than this reader, and for a last line without its end
    (a run that was killed while writing).
    """
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.endswith(b"\n"):
                raise CorruptEpisode(path, number, "torn line: the file ends in the middle of it")
            record = parse_line(path, number, raw)
            if record.seq != number - 1:
                raise CorruptEpisode(path, number, f"seq is {record.seq}, expected {number - 1}")
            yield record


def parse_line(path: Path, number: int, raw: bytes) -> Header | Step | End:
    """The record of one line. Raises CorruptEpisode, naming the line."""
    return parse(path, number, raw, LINE.validate_python)


def read_summary(path: Path) -> EpisodeSummary:
    """The content of an `episode.json`. Raises CorruptEpisode."""
    return read_document(path, EpisodeSummary)


def write_atomically(path: Path, content: bytes) -> None:
    """Write under a temporary name, have it on disk, then rename: a reader sees all of it or nothing."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        _remove(temporary)
        raise
    sync_folder(path.parent)


def _remove(path: Path) -> None:
    """As far as it goes: the folder may be read-only, or gone."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        pass


def sync_folder(folder: Path) -> None:
    """Have the folder's own entries on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
