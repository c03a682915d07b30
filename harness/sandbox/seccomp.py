"""The system-call filter of the sandbox, as a classic BPF program for `bwrap --seccomp` and for `confine.py`.

A deny list: what Blender, Python, ffmpeg and a shell need stays open; what only helps to escape, to
reach a network or to hide memory from the watchdog is refused. x86_64 only, as the bpy wheels for Linux
are; elsewhere `program()` returns None and the sandbox level says so.

Layout of the data that the filter reads: `struct seccomp_data` in <linux/seccomp.h>
(nr at 0, arch at 4, args[i] at 16 + 8 i). The supervisor loads this file from beside itself: it imports nothing of
ours.
"""

import errno
import os
import struct

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_AUDIT_ARCH_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
_OFFSET_NR, _OFFSET_ARCH, _OFFSET_ARG0, _OFFSET_ARG1 = 0, 4, 16, 24

_SOCKET, _SOCKETPAIR, _CLONE, _CLONE3, _IOCTL, _PRLIMIT = 41, 53, 56, 435, 16, 302
_AF_UNIX, _DATAGRAM_BIT = 1, 0b10  # of SOCK_DGRAM and SOCK_RAW, not of SOCK_STREAM and SOCK_SEQPACKET
_CLONE_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag of <linux/sched.h> but CLONE_NEWTIME
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

DENIED = {
    # looking into or steering other processes
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438, "kcmp": 312,
    # namespaces, mounts, roots
    "unshare": 272, "setns": 308, "chroot": 161, "pivot_root": 155, "mount": 165, "umount2": 166,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442, "open_by_handle_at": 304, "name_to_handle_at": 303,
    # kernel surface with a history of escapes
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "keyctl": 250, "add_key": 248, "request_key": 249, "fanotify_init": 300,
    "lookup_dcookie": 212, "modify_ldt": 154, "personality": 135, "vmsplice": 278,
    # the machine itself
    "init_module": 175, "delete_module": 176, "finit_module": 313, "kexec_load": 246, "kexec_file_load": 320,
    "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "quotactl": 179, "syslog": 103, "uselib": 134,
    "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305, "sethostname": 170,
    "setdomainname": 171, "iopl": 172, "ioperm": 173, "vhangup": 153, "nfsservctl": 180,
    # memory that no watchdog sees
    "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64,
    "msgget": 68, "mq_open": 240, "mbind": 237, "migrate_pages": 256, "move_pages": 279,
}  # fmt: skip
"""System calls answered with EPERM (name -> number on x86_64)."""

DENIED_ALONE = {
    # a socket in the file system may belong to a service that starts programs: D-Bus, Docker, an ssh agent
    "connect": 42, "bind": 49,
    # what Landlock does not look at
    "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
    "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "setxattrat": 463, "removexattrat": 466,
    "file_setattr": 469, "inotify_add_watch": 254,
}  # fmt: skip
"""Those denied besides, where no namespace hides the host's files and services."""

IGNORED_ALONE = {"chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452}
"""Those answered with success and not done there: Landlock does not look at them either, and `cp`, git, and
`shutil.copy` give up over a refusal."""


def program(*, is_alone: bool = False) -> bytes | None:
    """The filter for this machine, or None where there is none for its architecture.

    `is_alone`: no namespace stands behind it. Then there is no socket at all but a connected pair, and what a
    process may do to files and processes that it can name is refused, too.
    """
    if os.uname().machine != "x86_64":
        return None
    code = [
        _load(_OFFSET_ARCH),
        *_unless_equal(_AUDIT_ARCH_X86_64, _KILL),
        _load(_OFFSET_NR),
        _step(_JUMP_AT_LEAST, 0, 1, _X32_BIT),
        _refuse(errno.ENOSYS),
        *(_alone() if is_alone else _on_call(_SOCKET, _only_unix())),
        *_on_call(_CLONE, [_load(_OFFSET_ARG0), *_if_any_bit(_CLONE_NAMESPACES)]),
        # clone3 keeps its flags in memory, where a filter cannot look; libc falls back to clone
        *_on_call(_CLONE3, [_refuse(errno.ENOSYS)]),
        *_on_call(_IOCTL, [_load(_OFFSET_ARG1), *_if_equal(_TIOCSTI), *_if_equal(_TIOCLINUX)]),
    ]
    for number in (*DENIED.values(), *(DENIED_ALONE.values() if is_alone else ())):
        code += [_step(_JUMP_EQUAL, 0, 1, number), _refuse(errno.EPERM)]
    code.append(_step(_RETURN, 0, 0, _ALLOW))
    return b"".join(code)


def _alone() -> list[bytes]:
    """A pair of datagram sockets could still send to any address; a limit can be set so that it kills its process."""
    ignored = [instruction for number in IGNORED_ALONE.values() for instruction in _on_call(number, [_refuse(0)])]
    return [
        *_on_call(_SOCKET, [_refuse(errno.EAFNOSUPPORT)]),
        *_on_call(_SOCKETPAIR, [*_only_unix(), _load(_OFFSET_ARG1), *_if_any_bit(_DATAGRAM_BIT)]),
        *_on_call(_PRLIMIT, [_load(_OFFSET_ARG0), *_unless_equal(0, _error(errno.EPERM))]),
        *ignored,
    ]


def _only_unix() -> list[bytes]:
    return [_load(_OFFSET_ARG0), *_unless_equal(_AF_UNIX, _error(errno.EAFNOSUPPORT))]


def _step(operation: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("=HBBI", operation, if_true, if_false, value)


def _load(offset: int) -> bytes:
    return _step(_LOAD, 0, 0, offset)


def _error(number: int) -> int:
    return 0x00050000 | number


def _refuse(number: int) -> bytes:
    return _step(_RETURN, 0, 0, _error(number))


def _unless_equal(value: int, verdict: int) -> list[bytes]:
    """Go on if the loaded word is `value`, else return `verdict`."""
    return [_step(_JUMP_EQUAL, 1, 0, value), _step(_RETURN, 0, 0, verdict)]


def _if_equal(value: int) -> list[bytes]:
    """Refuse with EPERM if the loaded word is `value`, else go on."""
    return [_step(_JUMP_EQUAL, 0, 1, value), _refuse(errno.EPERM)]


def _if_any_bit(bits: int) -> list[bytes]:
    """Refuse with EPERM if the loaded word has any of `bits`, else go on."""
    return [_step(_JUMP_ANY_BIT, 0, 1, bits), _refuse(errno.EPERM)]


def _on_call(number: int, body: list[bytes]) -> list[bytes]:
    """Run `body`, then allow, if the loaded system call is `number`; else skip it."""
    block = [*body, _step(_RETURN, 0, 0, _ALLOW)]
    return [_step(_JUMP_EQUAL, 0, len(block), number), *block]
