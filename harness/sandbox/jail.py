"""What a sandboxed process can see, and how the same thing is called inside and outside.

A `Jail` is plain data. `bwrap_options` turns it into options for bubblewrap; without bubblewrap the same
command runs with the host's own paths (`Jail.outside`), and `landlock_rules` says which of them it may use. A `Path`
in a command or an environment value always means a path of the host; a `str` is taken as it is.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

WORKSPACE = "/workspace"
HOME = "/tmp/home"

_ROOT_FOLDERS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
_LOADER_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
_DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))

Word = str | Path | Sequence[Path]
"""A piece of a command or an environment value; several paths are joined by ':'."""


@dataclass(frozen=True)
class Bind:
    """A file or folder of the host, and its name inside the sandbox."""

    host: Path
    inside: str
    is_writable: bool = False


@dataclass(frozen=True)
class Jail:
    """The file system and environment of one sandboxed process."""

    workspace: Path
    """Folder of the host that is writable and is the working directory."""
    binds: tuple[Bind, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Small read-only files that exist only inside (name inside -> content)."""
    symlinks: Mapping[str, str] = field(default_factory=dict)
    """Name inside -> target inside."""
    aliases: Mapping[Path, str] = field(default_factory=dict)
    """Host paths that have another name inside without a bind of their own (interpreters)."""
    originals: tuple[Path, ...] = ()
    """Of the host, for where its own names are used: what `files`, `symlinks` and `aliases` stand for."""
    listed: tuple[Path, ...] = ()
    """Likewise; names below it may be listed, files not read. An import looks for its package in the folder above."""
    environment: Mapping[str, Word] = field(default_factory=dict)
    tmp_mb: int = 1024

    def inside(self, word: Word) -> str:
        """`word` as the sandboxed process writes it."""
        if isinstance(word, str):
            return word
        if not isinstance(word, Path):
            return ":".join(self.inside(path) for path in word)
        if word in self.aliases:
            return self.aliases[word]
        for bind in (*self.binds, Bind(self.workspace, WORKSPACE)):
            if word == bind.host:
                return bind.inside
            if bind.host in word.parents:
                return f"{bind.inside}/{word.relative_to(bind.host)}"
        return str(word)

    @staticmethod
    def outside(word: Word) -> str:
        """`word` as the host writes it."""
        if isinstance(word, str | Path):
            return str(word)
        return ":".join(str(path) for path in word)


def bwrap_options(
    jail: Jail, data_fd: Mapping[str, int], features: frozenset[str], user_namespace: Sequence[str] = ()
) -> list[str]:
    """Options for bubblewrap; `data_fd` holds an open descriptor for each of the jail's files.

    `user_namespace` are the options that join one which is there, instead of those that make one.
    The order matters: binds before the root is made read-only, `--clearenv` before `--setenv`.
    """
    return [
        *_namespaces(features, user_namespace),
        *_folders("0755", _folders_above(jail), features),
        *system_folders(),
        *_sized_tmpfs("/dev/shm", 64, features),
        *_sized_tmpfs("/tmp", jail.tmp_mb, features),
        *_folders("1777", [HOME, f"{HOME}/.cache"], features),
        *(word for name in jail.files for word in _file(name, data_fd[name], features)),
        *_words("--symlink", ((target, name) for name, target in jail.symlinks.items())),
        *_words("--ro-bind", ((str(b.host), b.inside) for b in jail.binds if not b.is_writable)),
        *_words("--bind", ((str(b.host), b.inside) for b in jail.binds if b.is_writable)),
        *("--bind", str(jail.workspace), WORKSPACE),
        # bubblewrap's own /dev and / are writable, unsized tmpfs until they are remounted. /proc/sys belongs to the
        # machine, and where root runs the harness the kernel lets root's uid write it even without a capability.
        *("--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"),
        *(() if user_namespace else ("--chdir", WORKSPACE)),
        "--clearenv",
        *_words("--setenv", ((name, jail.inside(word)) for name, word in jail.environment.items())),
    ]


def landlock_rules(jail: Jail, home: Path) -> list[str]:
    """What the supervisor's command may use, as words for it. `home` stands for the private /tmp."""
    readable = [
        *(path for path in map(Path, ("/usr", *_ROOT_FOLDERS, *_LOADER_FILES)) if path.exists()),
        # the kernel guards what is secret in it: environments, memory, open files of processes outside
        Path("/proc"),
        *(bind.host for bind in jail.binds if not bind.is_writable),
        *jail.originals,
    ]
    writable = [jail.workspace, home, *(bind.host for bind in jail.binds if bind.is_writable)]
    named = (("READ", readable), ("LIST", jail.listed), ("WRITE", writable), ("DEVICE", _DEVICES))
    return [f"{name}={path}" for name, paths in named for path in paths]


def _namespaces(features: frozenset[str], user_namespace: Sequence[str]) -> list[str]:
    options = [
        "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
        "--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
    ]  # fmt: skip
    if user_namespace:
        return [*options, *user_namespace]
    options += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    # older bubblewrap lacks these two; seccomp refuses new namespaces there all the same
    return options + [o for o in ("--disable-userns", "--assert-userns-disabled") if o in features]


def system_folders() -> list[str]:
    options = ["--ro-bind", "/usr", "/usr"]
    for name in _ROOT_FOLDERS:
        if Path(name).is_symlink():
            options += ["--symlink", f"usr{name}", name]
        elif Path(name).is_dir():
            options += ["--ro-bind", name, name]
    for name in _LOADER_FILES:
        options += ["--ro-bind-try", name, name]
    return [*options, "--symlink", "/proc/self/mounts", "/etc/mtab", "--proc", "/proc", "--dev", "/dev"]


def _sized_tmpfs(name: str, size_mb: int, features: frozenset[str]) -> list[str]:
    size = ["--size", str(size_mb << 20)] if "--size" in features else []
    return [*_mode("1777", features), *size, "--tmpfs", name]


def _mode(mode: str, features: frozenset[str]) -> list[str]:
    """For the option that follows: the sandbox's user need not be the one who mounts."""
    return ["--perms", mode] if "--perms" in features else []


def _file(name: str, descriptor: int, features: frozenset[str]) -> list[str]:
    return [*_mode("0444", features), "--ro-bind-data", str(descriptor), name]


def _folders(mode: str, names: Sequence[str], features: frozenset[str]) -> list[str]:
    return [word for name in names for word in (*_mode(mode, features), "--dir", name)]


def _folders_above(jail: Jail) -> list[str]:
    """Where things are put inside. bubblewrap would make what is missing, but for its own user alone."""
    names = ["/etc/passwd", *jail.files, *jail.symlinks, *(bind.inside for bind in jail.binds)]
    return sorted({str(folder) for name in names for folder in PurePosixPath(name).parents} - {"/"})


def _words(option: str, arguments: Iterable[tuple[str, ...]]) -> list[str]:
    return [word for pair in arguments for word in (option, *pair)]


def identity_files() -> dict[str, bytes]:
    """A passwd and a group file: without them Mesa switches its shader cache off and shells complain."""
    return {
        "/etc/passwd": f"sandbox:x:1000:1000:sandbox:{HOME}:/bin/bash\n".encode(),
        "/etc/group": b"sandbox:x:1000:\n",
    }


def open_data(content: bytes, name: str) -> int:
    """An anonymous file holding `content`, positioned at its start; the caller closes it."""
    descriptor = os.memfd_create(name, 0)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
