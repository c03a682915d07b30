"""Messages from a Blender process to the harness: one JSON object a line on an inherited descriptor."""

import json
import os


class ResultPipe:
    """The writing end. Closed on exec, so that processes started by a script do not hold it open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        os.set_inheritable(descriptor, False)

    def send(self, kind: str, **content: object) -> None:
        self.write(encode(kind, **content))

    def write(self, line: bytes) -> None:
        """Send an encoded message."""
        data = memoryview(line)
        while data:
            data = data[os.write(self._descriptor, data) :]


def encode(kind: str, **content: object) -> bytes:
    """A message as one line. Raises ValueError for a number that is not finite."""
    line = json.dumps({"kind": kind, **content}, allow_nan=False, default=str) + "\n"
    return line.encode(errors="backslashreplace")
