"""Tries to leave the sandbox in four plain ways, for `blendscribe doctor`. Needs no Blender.

    python -P -s probe_isolation.py RESULT_FD SECRET_FILE FORBIDDEN_FILE LOOPBACK_PORT PROCESS

Message: `probed`, with what succeeded. Doctor looks for itself whether something was written or connected.
"""

import os
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.in_blender.result_pipe import ResultPipe


def main() -> None:
    pipe = ResultPipe(int(sys.argv[1]))
    secret_file, forbidden_file, port, process = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    pipe.send(
        "probed",
        secret=_read(secret_file),
        has_written=_write(forbidden_file),
        has_connected=_connect(port),
        has_read_environment=bool(_read(f"/proc/{process}/environ")),
    )


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str) -> bool:
    try:
        with open(path, "w") as file:
            file.write("written from inside the sandbox\n")
    except OSError:
        return False
    return True


def _connect(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
