"""Messages from a Blender process to the harness: one JSON object a line on an inherited descriptor."""

import json
import os


class ResultPipe:
    """The writing end. Closed on exec, so that processes started by a script do not hold it open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        os.set_inheritable(descriptor, False)

    def send(self, kind: str, **content: object) -> None:
        line = json.dumps({"kind": kind, **content}, allow_nan=False, default=str) + "\n"
        data = memoryview(line.encode(errors="backslashreplace"))
        while data:
            data = data[os.write(self._descriptor, data) :]
