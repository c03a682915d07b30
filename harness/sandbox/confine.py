"""Takes rights away from the calling process and all that it will start, for good: capabilities, files, system calls.

Needs no right of its own and no namespace: this is what is left where those are forbidden. The supervisor loads it
from beside itself, so it imports nothing of ours.

What Landlock does not look at, whatever its rules say: `stat`, `chdir`, `chmod`, `chown`, extended attributes, times,
and sockets in the file system. `seccomp.program(is_alone=True)` answers those of them that change or reach anything.

Layout of the structures: <linux/landlock.h>, <linux/filter.h>, <linux/capability.h>.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

_libc = ctypes.CDLL(None, use_errno=True)
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on every architecture
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_CAPABILITY_VERSION_3 = 0x20080522
_ASK_VERSION, _PATH_BENEATH = 1, 1

MIN_ABI = 3
"""Before it (Linux 6.2) a file that may only be read can be cut to nothing."""
SIGNALS_ABI = 6
"""From it on (Linux 6.12) no process outside can be signalled."""

_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE, _DEVICE_IOCTL = (1 << bit for bit in (0, 1, 2, 3, 14, 15))
_MAKE_DEVICE = 1 << 6 | 1 << 11
_MAKE_SOCKET = 1 << 9
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE_IOCTL
_RIGHTS = {3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights that Landlock can take away, by the first version that has them."""
_TCP = {4: 0b11}
_SIGNALS_AND_ABSTRACT_SOCKETS = {SIGNALS_ABI: 0b11}


def landlock_abi() -> int:
    """Version of Landlock in this kernel; 0 where it has none, or it is switched off."""
    version: int = _libc.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    return max(0, version)


def confine(
    *,
    readable: Iterable[str],
    listed: Iterable[str],
    writable: Iterable[str],
    devices: Iterable[str],
    program: bytes,
) -> None:
    """Leave only these files, no capability, and the system calls that `program` allows. Raises OSError."""
    _check(_libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _drop_capabilities()
    readable_rights = _EXECUTE | _READ | _LIST
    writable_rights = ~(_MAKE_DEVICE | _MAKE_SOCKET | _DEVICE_IOCTL)
    _restrict_files(
        ((readable, readable_rights), (listed, _LIST), (writable, writable_rights), (devices, _READ | _WRITE))
    )
    _filter_calls(program)


def _drop_capabilities() -> None:
    """Where root runs the harness: with no_new_privs, not even a program of root's gets any back."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _check(_libc.syscall(_CAPSET[os.uname().machine], header, bytes(24)), "capset")


def _restrict_files(allowed: Iterable[tuple[Iterable[str], int]]) -> None:
    abi = landlock_abi()
    everything = _known(_RIGHTS, abi)
    attributes = struct.pack("=QQQ", everything, _known(_TCP, abi), _known(_SIGNALS_AND_ABSTRACT_SOCKETS, abi))
    size = 24 if abi >= SIGNALS_ABI else 16 if abi >= min(_TCP) else 8
    ruleset = _check(_libc.syscall(_CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")
    for paths, rights in allowed:
        for path in paths:
            _allow(ruleset, path, rights & everything)
    _check(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not stat.S_ISDIR(os.fstat(beneath).st_mode):
        rights &= _OF_FILES
    rule = struct.pack("=Qi", rights, beneath)
    _check(_libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), f"landlock_add_rule {path}")
    os.close(beneath)


def _filter_calls(program: bytes) -> None:
    instructions = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(instructions))
    _check(_libc.prctl(_SET_SECCOMP, _FILTER, ctypes.c_char_p(header), 0, 0), "seccomp")


def _known(by_version: dict[int, int], abi: int) -> int:
    return max((bits for version, bits in by_version.items() if version <= abi), default=0)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
