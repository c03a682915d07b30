"""The test scenes, built once a session."""

import pytest

from tests.harness.checks.judging import Judge, build_scenes


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """Judges cases on the test scenes."""
    return Judge(build_scenes(tmp_path_factory.mktemp("scenes")))
