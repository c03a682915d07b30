"""The jail of the programs in `in_sandbox/`, which read what untrusted code made: pictures and videos.

They are Python with av, numpy and PIL, see our package and what they are given, and write in one folder.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from harness.errors import HarnessError
from harness.interpreter import PROJECT_DIR, PythonEnvironment, library_environment, python_mounts
from harness.sandbox import Bind, Jail
from harness.sandbox.jail import HOME

TMP_MB = 16
_LIBRARIES = ("av", "numpy", "PIL")


def library_jail(agent: PythonEnvironment, program: Path, packages: Sequence[Path], *, given: Path, own: Path) -> Jail:
    """What the program sees: Python, its libraries, our package, `given`; it writes in `own` alone."""
    base = python_mounts(replace(agent, prefix=agent.base_prefix), "agent")
    return Jail(
        workspace=own,
        binds=(
            Bind(PROJECT_DIR / "harness", "/opt/blendscribe/harness"),
            *(() if program.is_relative_to(PROJECT_DIR / "harness") else (Bind(program, "/opt/program.py"),)),
            *base.binds,
            *(Bind(folder, f"/opt/packages-{number}") for number, folder in enumerate(packages)),
            Bind(given, "/opt/given"),
        ),
        listed=(PROJECT_DIR,),  # where paths are the host's own, an import looks for `harness` in the folder above
        environment={
            "PATH": "/usr/bin:/bin",
            "HOME": HOME,
            "LANG": "C.UTF-8",
            "OPENBLAS_NUM_THREADS": "1",  # a pool of threads, started at import, for work that is not done here
            **library_environment(base.binds, None),
        },
        tmp_mb=TMP_MB,
    )


@cache
def package_folders() -> tuple[Path, ...]:
    """Where the libraries are installed, found without importing one."""
    folders = []
    for name in _LIBRARIES:
        found = find_spec(name)
        if found is None or found.origin is None:
            raise HarnessError(f"The Python package '{name}' is missing: install blendscribe again.")
        folders.append(Path(found.origin).parent.parent)
    return tuple(dict.fromkeys(folders))
