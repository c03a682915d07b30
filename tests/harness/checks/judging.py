"""Cases of checks against the test scenes: one Blender builds all scenes, one Blender judges all cases of a scene."""

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.checks.declared import DeclaredCheck
from harness.checks.opened_file import OpenedFile, request_of
from harness.checks.report import CheckReport, CheckResult
from harness.checks.run import _result, run_checks
from harness.checks.types import CHECK_TYPES
from harness.checks.verdict import Outcome
from harness.interpreter import find_environment, library_environment, libs_dir
from harness.settings import HarnessSettings

_SCENES = Path(__file__).parent / "scenes"


@dataclass(frozen=True)
class Case:
    """A check on a test scene and what has to come of it."""

    scene: str
    type: str
    parameters: dict[str, Any]
    outcome: Outcome
    words: str = ""
    """That its message must hold."""
    measured: Any = field(default=None, compare=False)
    """Its measured value, where it matters."""

    @property
    def declared(self) -> DeclaredCheck:
        """As a checks.json would declare it, read as strictly."""
        parameters = CHECK_TYPES[self.type].model_validate_json(json.dumps(self.parameters), strict=True)
        return DeclaredCheck(id="case", type=self.type, parameters={}).model_copy(update={"parameters": parameters})


def build_scenes(folder: Path) -> Path:
    """All test scenes, in `folder`."""
    run_in_plain_blender("build.py", folder)
    return folder


def run_in_plain_blender(program: str | Path, *words: Path) -> None:
    """Run a test's own program, of `scenes/` where it is no absolute path, without a sandbox."""
    environment = find_environment(HarnessSettings())
    variables = library_environment((), libs_dir(HarnessSettings(), environment))
    libraries = {k: ":".join(map(str, v)) if isinstance(v, list) else str(v) for k, v in variables.items()}
    # Blender leaves its temporary folder behind when it is ended by os._exit
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            [environment.python, "-P", "-s", _SCENES / program, *words],
            env={
                **os.environ,
                **libraries,
                "TMPDIR": folder,
                "EGL_PLATFORM": "surfaceless",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            timeout=500,  # minutes on a busy machine, for fifty animated scenes
            check=False,
        )
    assert ended.returncode == 0, ended.stderr[-4000:]


def outcomes_of_mutations(
    program: str | Path, good: Path, checks: Sequence[DeclaredCheck], folder: Path, *words: Path
) -> dict[str, dict[str, Outcome]]:
    """Mutation -> id of a check -> its outcome, as `program` measured them: `program GOOD REQUEST OUT words…`."""
    (folder / "request.json").write_text(json.dumps(request_of(checks)["checks"]))
    run_in_plain_blender(program, good, folder / "request.json", folder / "out.json", *words)
    found = {}
    for mutation, messages in json.loads((folder / "out.json").read_text()).items():
        by_id: dict[str, list[dict[str, Any]]] = {}
        for message in messages:
            if message["kind"] == "measured":
                by_id.setdefault(message["id"], []).append(message)
        opened = OpenedFile(messages=by_id)
        found[mutation] = {declared.id: _result(declared, opened, "").outcome for declared in checks}
    return found


class Judge:
    """Judges all cases of a table on one scene at once, and keeps the results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: dict[tuple[int, str], CheckReport] = {}

    def result(self, case: Case, table: Sequence[Case]) -> CheckResult:
        """What the case came to; `table` is the list it stands in."""
        together = [other for other in table if other.scene == case.scene]
        key = (id(table), case.scene)
        if key not in self.reports:
            declared = [other.declared.model_copy(update={"id": f"c{i}"}) for i, other in enumerate(together)]
            self.reports[key] = run_checks(self.folder / f"{case.scene}.blend", declared, HarnessSettings())
        report = self.reports[key]
        assert report.error == ""
        return report.checks[together.index(case)]


def assert_case(case: Case, table: Sequence[Case], judge: Judge) -> None:
    """The case comes to what it has to."""
    result = judge.result(case, table)
    assert result.outcome == case.outcome, f"{result.message} {result.measured}"
    assert case.words in result.message
    assert "\n" not in result.message
    if case.measured is not None:
        assert result.measured == case.measured
