"""Workspaces and shared sessions for the tests of a live Blender."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.step_session import StepSession
from tests.harness.sessions import BEGIN, good, open_session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    """Shared by tests that leave the scene as it is, or add to it under names of their own."""
    with open_session(tmp_path_factory.mktemp("shared")) as session:
        good(session, BEGIN)
        yield session


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder for a session of one test."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder
