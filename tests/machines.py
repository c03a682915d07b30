"""Machines that this one is not: without user namespaces, without bubblewrap, without Landlock."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox import probe

NO_NAMESPACES = (
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user "
    "namespaces. On e.g. debian this can be enabled with 'sysctl kernel.unprivileged_userns_clone=1'."
)


@pytest.fixture
def no_user_namespaces(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A bubblewrap that ends as the real one does where user namespaces are forbidden; its path."""
    folder = tmp_path_factory.mktemp("bin")
    bwrap = folder / "bwrap"
    bwrap.write_text(f'#!/bin/sh\n[ "$1" = --help ] && exit 0\necho "{NO_NAMESPACES}" >&2\nexit 1\n')
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    probe._best_level.cache_clear()
    yield bwrap
    probe._best_level.cache_clear()


@pytest.fixture
def no_landlock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As a kernel before 6.2, or one that was started without Landlock."""
    monkeypatch.setattr(probe, "landlock_abi", lambda: 0)
    probe._best_level.cache_clear()
    yield
    probe._best_level.cache_clear()
