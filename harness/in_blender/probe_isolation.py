"""Tries to leave the sandbox in every way that `harness.isolation` asks about. Needs no Blender.

    python -P -s probe_isolation.py RESULT_FD

What to attack stands in `targets.json` in the working folder (a command line would be seen by every process).
Message: `probed`, with what each attempt found. The harness believes none that it can look up for itself.
"""

import json
import os
import signal
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.in_blender.result_pipe import ResultPipe


def main() -> None:
    pipe = ResultPipe(int(sys.argv[1]))
    with open("targets.json") as file:
        targets = json.load(file)
    found = {
        "read": _read(targets["secret_file"]).decode(errors="replace"),
        "seen": _is_in_proc("cmdline", targets["command"]),
        "environment": _is_in_proc("environ", targets["secret"]),
        "network_socket": _can_make(socket.AF_INET),
    }
    _write(targets["forbidden_file"])
    _change(targets["secret_file"])
    _connect(socket.AF_INET, ("127.0.0.1", targets["port"]))
    _connect(socket.AF_UNIX, "\0" + targets["abstract_socket"])
    _connect_in(targets["folder"])
    pipe.send("probed", **found)
    _kill(targets["process"], targets["command"])


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""


def _is_in_proc(name: str, text: str) -> bool:
    """Whether that file of any process holds `text`."""
    try:
        processes = [entry for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return False
    return any(text.encode() in _read(f"/proc/{process}/{name}") for process in processes)


def _can_make(family: int) -> bool:
    try:
        socket.socket(family, socket.SOCK_DGRAM).close()
    except OSError:
        return False
    return True


def _write(path: str) -> None:
    try:
        with open(path, "w") as file:
            file.write("written from inside the sandbox\n")
    except OSError:
        pass


def _change(path: str) -> None:
    try:
        os.chmod(path, 0o640)
    except OSError:
        pass


def _connect(family: int, address: tuple[str, int] | str) -> None:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            tried.settimeout(2)
            tried.connect(address)
    except OSError:
        pass


def _connect_in(folder: str) -> None:
    """By a descriptor, since the address of a socket is cut at 108 bytes."""
    try:
        descriptor = os.open(folder, os.O_PATH)
    except OSError:
        return
    _connect(socket.AF_UNIX, f"/proc/self/fd/{descriptor}/socket")


def _kill(process: int, command: str) -> None:
    """Not a process of the sandbox that happens to have the same number."""
    command_line = _read(f"/proc/{process}/cmdline")
    if command_line and command.encode() not in command_line:
        return
    try:
        os.kill(process, signal.SIGKILL)
    except OSError:
        pass


if __name__ == "__main__":
    main()
