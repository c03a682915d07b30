"""Files that Blenders from 2.79 to 5.3 really saved, whole and damaged: a verdict, or one error that says where."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from agent_plugin.checks_file import load_checks
from harness.checks.blend_header import NotABlend, read_header
from harness.checks.check_type import Measured
from harness.checks.declared import DeclaredCheck
from harness.checks.report import CheckReport
from harness.checks.run import run_checks
from harness.checks.selectors import Selector
from harness.checks.types import CHECK_TYPES
from harness.settings import HarnessSettings
from tests.bench.fuzz_blends import broken_promises, checked, damaged
from tests.verification.old_blends.damage import (
    DAMAGES,
    block_starts,
    cut_at_a_block,
    packed_otherwise,
    rewritten_as_text,
    unpacked,
)

FOLDER = Path(__file__).parent / "old_blends"
CHECKS = FOLDER / "checks.json"
VERSIONS = {
    "blender_279": (2, 79),
    "blender_34": (3, 4),
    "blender_42": (4, 2),
    "blender_43": (4, 3),
    "blender_44": (4, 4),
    "blender_45": (4, 5),
    "blender_50": (5, 0),
    "blender_51": (5, 1),
    "blender_53": (5, 3),
}
ALWAYS = {
    "cache_baked": "'Hair' of 'Hairy' is not baked",
    "drum_has_no_nodes": "'Drum' has no geometry nodes modifier",
    "drum_has_no_effects": "'Drum' has no modifier",
}
"""What the scene lacks in every version; the modifier that Blender makes of an old auto smooth is not the file's."""
BEFORE_4 = {"principled_coat": "is 0.15; wanted: "}
"""Blender 4.0 took a quarter of what was called clearcoat."""
IN_279 = {
    "object_count": "8 objects match type MESH",
    "collection_membership": "'Offstage' is in 'Collection 12'",
    **dict.fromkeys(["rigid_body", "sim_result"], "No object matches 'Faller'"),
    **dict.fromkeys(
        ["instance_count", "gn_modifier", "gn_nodes", "gn_input", "gn_output", "gn_responds"],
        "No object matches 'Noded'",
    ),
}
"""It had layers, no geometry nodes, and the build that made the file no rigid bodies."""


@pytest.fixture(scope="module")
def reports() -> dict[str, CheckReport]:
    """Reports by file, made when first asked for."""
    return {}


def report_on(name: str, reports: dict[str, CheckReport]) -> CheckReport:
    """That of all checks, on a file of the corpus."""
    if name not in reports:
        reports[name] = run_checks(FOLDER / f"{name}.blend", load_checks(CHECKS), HarnessSettings())
    return reports[name]


def expected_to_fail(version: tuple[int, int]) -> dict[str, str]:
    """Checks that fail on a file of that version, and words of why."""
    return ALWAYS | (BEFORE_4 if version < (4, 0) else {}) | (IN_279 if version < (3, 0) else {})


def test_the_corpus_is_small_and_asks_of_everything() -> None:
    """All files are told of, under 1.5 MB together; the checks file has every type of check."""
    files = sorted(FOLDER.glob("*.blend"))
    assert [file.stem for file in files] == sorted(VERSIONS)
    assert sum(file.stat().st_size for file in files) < 1_500_000
    assert {declared.type for declared in load_checks(CHECKS)} == set(CHECK_TYPES)
    assert all(name in (FOLDER / "README.md").read_text(encoding="utf-8") for name in VERSIONS)


@pytest.mark.parametrize("name", VERSIONS)
def test_the_header_tells_packing_and_version(name: str) -> None:
    """gzip shows the version behind it, zstd hides it; unpacked, all forms of header are read."""
    content = (FOLDER / f"{name}.blend").read_bytes()
    header = read_header(FOLDER / f"{name}.blend")
    is_old = VERSIONS[name] < (3, 0)
    assert header.packing == ("gzip" if is_old else "zstd")
    assert header.version == (VERSIONS[name] if is_old else None)
    assert block_starts(unpacked(content))[-1] == len(unpacked(content)) - (24 if VERSIONS[name] < (5, 0) else 32)


@pytest.mark.blender
@pytest.mark.parametrize("name", VERSIONS)
def test_a_file_of_each_version_is_judged_right(name: str, reports: dict[str, CheckReport]) -> None:
    """The same scene gives the same verdicts, but for what its version did not have; nothing is left unknown."""
    report = report_on(name, reports)
    assert report.error == ""
    assert report.blender_version is not None
    assert report.blender_version[:2] == VERSIONS[name]
    failed = {check.id: check.message for check in report.checks if check.outcome == "fail"}
    expected = expected_to_fail(VERSIONS[name])
    assert failed.keys() == expected.keys(), failed
    assert all(words in failed[check] for check, words in expected.items()), failed
    assert {check.id: check.message for check in report.checks if check.outcome == "unknown"} == {}


@pytest.mark.blender
@pytest.mark.parametrize("name", VERSIONS)
def test_findings_are_told_of_each_version(name: str, reports: dict[str, CheckReport]) -> None:
    """Python that would run, the library that is gone, and, of newer files, that something may be lost."""
    codes = {finding.code for finding in report_on(name, reports).findings}
    newer = {"newer_version"} if VERSIONS[name] > (4, 5) else set()
    assert codes == {"registered_text", "scripted_driver", "linked_library"} | newer


@pytest.mark.blender
@pytest.mark.parametrize("seed", range(2 * len(DAMAGES)))
def test_a_damaged_file_breaks_no_promise(seed: int) -> None:
    """A verdict or one error, every check with its reason. `python -m tests.bench.fuzz_blends` tries many more."""
    name, content = damaged(seed)
    report = checked(content, load_checks(CHECKS))
    assert broken_promises(report, report.seconds) == [], name
    assert name not in {cut_at_a_block.__name__} or not report.ok


@pytest.mark.blender
def test_a_name_that_is_no_text_leaves_the_rest(tmp_path: Path) -> None:
    """Blocks named in Latin-1 get another name; the other objects are judged as ever."""
    file = tmp_path / "latin.blend"
    raw = unpacked((FOLDER / "blender_279.blend").read_bytes())
    file.write_bytes(raw.replace(b"OBDrum\0", b"OBDr\xfcm\0").replace(b"MARed\0", b"MAR\xf6d\0"))
    outcomes = {c.id: c for c in run_checks(file, load_checks(CHECKS), HarnessSettings()).checks}
    assert outcomes["object_exists"].outcome == "pass"
    assert outcomes["base_color"].outcome == "pass"
    assert outcomes["shading"].message == "No object matches 'Drum'; wanted: at least 1."
    assert outcomes["material_assigned"].outcome == "fail"


@pytest.mark.parametrize("declared", load_checks(CHECKS), ids=lambda declared: declared.id)
def test_a_file_without_objects_is_judged(declared: DeclaredCheck) -> None:
    """Where a target may be nothing, and nothing is there: no type passes, each says why."""
    allowed = {"target": Selector(min=0)} if hasattr(declared.check, "target") else {}
    check = declared.check.model_copy(update=allowed)
    verdict = check.judge(Measured(rows=[], unmeasured=[], n_matched=0, n_hidden=0, n_frames=2))
    assert verdict.outcome == ("fail" if check.name in {"distinct_meshes", "light"} else "unknown")
    assert verdict.message


def test_what_else_is_named_blend_is_called_by_its_name(tmp_path: Path) -> None:
    """Archives, other compressions, pointers: each error says what to do, or what is missing."""
    file, told = tmp_path / "x.blend", set()
    content = (FOLDER / "blender_279.blend").read_bytes()
    for seed in range(40):
        for damage in (packed_otherwise, rewritten_as_text):
            file.write_bytes(damage(content, random.Random(seed)))
            try:
                read_header(file)
            except NotABlend as error:
                told.add(str(error).split(":")[0])
    assert told == {
        "a zip archive",
        "a tar archive",
        "an xz file",
        "a bzip2 file",
        "a Git LFS pointer",
        "compressed twice",
        "no .blend file",
    }


@pytest.mark.blender
def test_any_name_of_a_file_is_taken(tmp_path: Path) -> None:
    """Spaces, line ends, bytes that are no text, a dash in front, a link, a backup's ending: judged by the command."""
    content = (FOLDER / "blender_45.blend").read_bytes()
    names = ["with space.blend", "-dash.blend", "süß\nline.blend", "scene.blend1", os.fsdecode(b"bad\xff.blend")]
    for name in names:
        (tmp_path / name).write_bytes(content)
    (tmp_path / "link.blend").symlink_to(tmp_path / names[0])
    for name in [*names, "link.blend"]:
        ended = command(tmp_path, name)
        assert ended.returncode == 0, ended.stderr
        assert "'Cube' is in the scene" in ended.stdout


def test_what_is_no_file_is_2(tmp_path: Path) -> None:
    """A folder, a pipe, a device, a link to nowhere or to itself: one line, nothing started, nothing hangs."""
    (tmp_path / "folder.blend").mkdir()
    os.mkfifo(tmp_path / "pipe.blend")
    (tmp_path / "device.blend").symlink_to("/dev/zero")
    (tmp_path / "nowhere.blend").symlink_to(tmp_path / "gone")
    (tmp_path / "loop.blend").symlink_to(tmp_path / "loop.blend")
    for file in sorted(tmp_path.iterdir()):
        ended = command(tmp_path, file.name)
        assert ended.returncode == 2, file.name
        assert ended.stderr.startswith(f"error: {file.name}: ")
        assert ended.stderr.count("\n") == 1


def command(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """`blendscribe check -- NAME`, in that folder; whatever comes of it, no traceback."""
    checks = folder.parent / "cube.json"
    checks.write_text('[{"id": "cube", "type": "object_exists", "parameters": {"target": "Cube"}}]')
    words = [sys.executable, "-c", "from agent_plugin.cli import main\nmain()", "check", "--", name, str(checks)]
    root = str(Path(__file__).resolve().parents[2])
    environment = {"COLUMNS": "300", "PYTHONPATH": root}
    ended = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False, cwd=folder, env=environment)
    assert "Traceback" not in ended.stdout + ended.stderr
    return ended
