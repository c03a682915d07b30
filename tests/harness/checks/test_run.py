"""Untrusted files: hostile, damaged, old, new, heavy ones each give a verdict or one located error."""

import gzip
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.checks.blend_header import NotABlend, read_header
from harness.checks.declared import DeclaredCheck
from harness.checks.opened_file import Wanted, _start, request_of
from harness.checks.report import CheckReport
from harness.checks.run import LIMITS, _copy, examine, run_checks
from harness.folders import private_folder
from harness.sandbox import Limits
from harness.settings import HarnessSettings
from tests.harness.checks.judging import Case, Judge
from tests.machines import no_user_namespaces

__all__ = ["no_user_namespaces"]

pytestmark = pytest.mark.blender


def declare(**types: dict[str, Any]) -> list[DeclaredCheck]:
    """One check a type, by the type's name."""
    return [
        Case("", name, parameters, "pass").declared.model_copy(update={"id": name})
        for name, parameters in types.items()
    ]


SIMPLE = declare(object_exists={"target": "Seen"}, frame_range={"start": 1})


def check(file: Path, checks: list[DeclaredCheck] | None = None, limits: Limits = LIMITS) -> CheckReport:
    return run_checks(file, checks or SIMPLE, HarnessSettings(), limits)


def messages_of(file: Path, checks: list[DeclaredCheck], limit: Mapping[str, float]) -> list[dict[str, Any]]:
    """What Blender says of a file, with another limit of its state."""
    request = {**request_of(checks, state=True), **limit}
    with private_folder("checked") as folder, private_folder("raw") as raw:
        _copy(file, folder / "scene.blend")
        return list(_start(folder / "scene.blend", request, HarnessSettings(), LIMITS, raw).messages)


@pytest.fixture
def blend(judge: Judge) -> bytes:
    """A sound, uncompressed file."""
    content = (judge.folder / "settings.blend").read_bytes()
    assert content.startswith(b"BLENDER-v405")
    return content


def test_a_hostile_file_runs_nothing(judge: Judge, tmp_path: Path) -> None:
    """Registered text, drivers, Freestyle script and File Output node: all told, none run, the scene still judged."""
    checks = declare(
        object_exists={"target": "Target"},
        value_at_frame={"target": "Target", "frame": 5, "path": "world_location", "value": [0, 0, 0]},
        driver_valid={"target": "Target", "allow_python": True},
        no_embedded_code={},
        render_not_blank={},
    )
    before = sorted(path.name for path in judge.folder.iterdir())
    report = check(judge.folder / "hostile.blend", checks)
    assert [c.outcome for c in report.checks] == ["pass", "pass", "fail", "fail", "pass"]
    assert {f.code for f in report.findings} == {
        "registered_text",
        "scripted_driver",
        "freestyle_script",
        "file_output_node",
    }
    assert sorted(path.name for path in judge.folder.iterdir()) == before
    assert not Path("/workspace").exists()


def test_what_is_outside_the_file_is_told(judge: Judge) -> None:
    """Libraries and absolute paths are findings, whatever the checks ask."""
    linked = check(judge.folder / "linked.blend").findings
    assert [f.code for f in linked] == ["linked_library"]
    messy = check(judge.folder / "messy.blend").findings
    assert [(f.code, "/home/somebody/outside.png" in f.message) for f in messy] == [("absolute_path", True)]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: b"", "is an empty file"),
        (lambda content: b"no blend at all" * 99, "is no .blend file"),
        (lambda content: content[:7], "is no .blend file"),
        (lambda content: content[:12], "cannot open it"),
        (lambda content: content[: len(content) // 2], "cannot open it"),
        (lambda content: b"BLENDER17-01v0501" + content[12:], "cannot open it"),
        (lambda content: b"\x28\xb5\x2f\xfd" + bytes(999), "open it"),
        (lambda content: b"\x1f\x8b\x08" + bytes(9), "is "),
        (lambda content: gzip.compress(content)[:2000], "open it"),
    ],
    ids=["empty", "text", "7 bytes", "header only", "truncated", "format of 5.x", "bad zstd", "bad gzip", "half gzip"],
)
def test_damaged_files_are_one_located_error(
    damage: Callable[[bytes], bytes], words: str, blend: bytes, tmp_path: Path
) -> None:
    """It names the file or says that Blender cannot open it; every check is unknown for that reason."""
    file = tmp_path / "scene.blend"
    file.write_bytes(damage(blend))
    report = check(file)
    assert words in report.error
    assert "\n" not in report.error
    assert "/" not in report.error
    assert not report.ok
    assert [c.outcome for c in report.checks] == ["unknown", "unknown"]
    assert report.checks[0].message == report.error
    assert report.score.weighted is None
    assert report.score.not_judged == ("object_exists", "frame_range")


@pytest.mark.parametrize(
    "change",
    [
        gzip.compress,
        lambda content: b"BLENDER-v279" + content[12:],
        lambda content: b"BLENDER-v499" + content[12:],
    ],
    ids=["gzip", "says 2.79", "says 4.99"],
)
def test_other_versions_give_a_verdict(change: Callable[[bytes], bytes], blend: bytes, tmp_path: Path) -> None:
    """Or one error: whatever the header says, and compressed ones too."""
    file = tmp_path / "scene.blend"
    file.write_bytes(change(blend))
    report = check(file)
    assert report.error or report.checks[0].outcome == "pass"


def test_compressed_files_open(judge: Judge, tmp_path: Path) -> None:
    """gzip, as Blender up to 2.93 wrote it."""
    file = tmp_path / "scene.blend"
    file.write_bytes(gzip.compress((judge.folder / "settings.blend").read_bytes()))
    report = check(file)
    assert report.error == ""
    assert [c.outcome for c in report.checks] == ["pass", "pass"]


def test_bytes_flipped_anywhere_are_survived(blend: bytes, tmp_path: Path) -> None:
    """Each damaged copy gives a report: judged, or unknown with a reason."""
    for start in (200, 5_000, 60_000):
        content = bytearray(blend)
        content[start : start + 400] = bytes(0xFF for _ in range(400))
        file = tmp_path / "scene.blend"
        file.write_bytes(content)
        report = check(file, limits=Limits(timeout_seconds=30))
        assert all(c.message for c in report.checks)


def test_a_file_that_is_too_large_is_not_opened(tmp_path: Path) -> None:
    """It is told, with the limit; nothing is copied or started."""
    file = tmp_path / "scene.blend"
    with file.open("wb") as writer:
        writer.write(b"BLENDER-v405")
        writer.truncate(600 << 20)
    report = check(file)
    assert report.error == "'scene.blend' has 600 MiB; the most that is opened is 512 MiB"
    assert [f.code for f in report.findings] == ["large_file"]
    assert report.n_starts == 0


def test_zip_is_told(tmp_path: Path) -> None:
    """A zip archive is named as what it is."""
    file = tmp_path / "scene.blend"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("scene.blend", "x")
    with pytest.raises(NotABlend, match="zip archive"):
        read_header(file)


def test_a_folder_is_told() -> None:
    """By its kind."""
    folder = Path(__file__).parent
    with pytest.raises(NotABlend, match="a folder"):
        read_header(folder)


@pytest.mark.parametrize(
    ("start", "version"),
    [(b"BLENDER_v249", (2, 49)), (b"BLENDER-v279", (2, 79)), (b"BLENDER-v405", (4, 5)), (b"BLENDER17-01v0500", (5, 0))],
)
def test_versions_in_headers(start: bytes, version: tuple[int, int], tmp_path: Path) -> None:
    """Up to 4.x three digits, from 5.0 on four."""
    file = tmp_path / "scene.blend"
    file.write_bytes(start + bytes(100))
    assert read_header(file).version == version


def test_a_file_only_root_may_read_is_judged(blend: bytes, tmp_path: Path) -> None:
    """What Blender opens is a copy that the sandbox's user may read; the report holds its hash."""
    import hashlib

    file = tmp_path / "scene.blend"
    file.write_bytes(blend)
    file.chmod(0o600)
    report = check(file)
    assert report.checks[0].outcome == "pass"
    assert report.sha256 == hashlib.sha256(blend).hexdigest()
    assert file.read_bytes() == blend


def test_a_blender_that_dies_takes_one_check_along(judge: Judge) -> None:
    """The check that it died of is unknown with the cause; another Blender measures what is left."""
    checks = declare(
        object_exists={"target": "Scatter"},
        moves={"target": "Scatter", "max_distance": 0},
        gn_responds={"target": "Scatter", "socket": "Density", "to": 100_000_000, "metric": "instances"},
        modifier_effective={"target": "Scatter"},
    )
    limits = Limits(timeout_seconds=100, memory_mb=900)
    looked = examine(judge.folder / "gn.blend", Wanted(tuple(checks), state=True), HarnessSettings(), limits)
    report = looked.report
    assert report.error == ""
    assert looked.state is not None  # it comes after the checks, so from the second Blender
    assert [c.outcome for c in report.checks] == ["pass", "pass", "unknown", "pass"]
    assert "limit of memory" in report.checks[2].message
    assert report.n_starts == 2


def test_a_slow_check_takes_no_time_from_the_others(judge: Judge) -> None:
    """It is unknown once its seconds are over."""
    checks = declare(object_exists={"target": "Dense"}, uv_overlap={"target": "Dense"}, manifold={"target": "Small"})
    report = run_checks(judge.folder / "dense.blend", checks, HarnessSettings(), seconds=0.4)
    assert [c.outcome for c in report.checks] == ["pass", "unknown", "pass"]
    assert "takes too long" in report.checks[1].message


def test_an_expression_without_end_is_one_unknown_check(judge: Judge) -> None:
    """As a selector and as the pattern of a name, and tried in one frame only; the others are judged."""
    endless, long = "(x+x+)+y", "x" * 63
    checks = declare(
        object_exists={"target": {"regex": endless}},
        name_pattern={"target": {"name": long}, "regex": endless},
        moves={"target": {"regex": endless}, "max_distance": 0},
        object_count={"among": {"name": long}, "min": 1},
    )
    report = run_checks(judge.folder / "long_name.blend", checks, HarnessSettings(), seconds=0.5)
    assert [c.outcome for c in report.checks] == ["unknown", "unknown", "unknown", "pass"]
    assert all("takes too long" in c.message for c in report.checks[:3])
    assert sum(c.seconds for c in report.checks) < 3


def test_verdicts_are_out_before_the_state_is_read(judge: Judge) -> None:
    """A Blender that is stopped while it reads a great scene has judged every check."""
    checks = declare(object_count={"among": {"glob": "Many*"}, "min": 3000}, object_exists={"target": "Many1"})
    looked = examine(judge.folder / "many.blend", Wanted(tuple(checks), state=True), HarnessSettings())
    assert [c.outcome for c in looked.report.checks] == ["pass", "pass"]
    assert looked.state is not None
    for limit in ({"state_seconds": 0.05}, {"state_mb": 0}):
        kinds = [message["kind"] for message in messages_of(judge.folder / "many.blend", checks, limit)]
        assert kinds.index("checked") < kinds.index("no_state") < kinds.index("finished")


def test_a_number_that_is_not_finite_is_told_with_its_object(judge: Judge) -> None:
    """Where it keeps the scene state from being read."""
    looked = examine(judge.folder / "not_finite.blend", Wanted(state=True), HarnessSettings())
    assert looked.state is None
    assert "'Broken'" in looked.why_no_state
    assert "not finite" in looked.why_no_state
    assert "Error" not in looked.why_no_state


def test_without_a_sandbox_it_is_the_same_and_says_so(judge: Judge) -> None:
    """The report names the isolation in force."""
    report = run_checks(judge.folder / "settings.blend", SIMPLE, HarnessSettings(sandbox="off"))
    assert [c.outcome for c in report.checks] == ["pass", "pass"]
    assert report.isolation == "limits-only"


@pytest.mark.usefixtures("no_user_namespaces")
def test_under_landlock_it_is_the_same(judge: Judge) -> None:
    """Where user namespaces are forbidden: the copy is all that Blender may read of ours."""
    report = check(judge.folder / "hostile.blend", declare(object_exists={"target": "Target"}, render_not_blank={}))
    assert [c.outcome for c in report.checks] == ["pass", "pass"]
    assert report.isolation == "landlock+seccomp"


def test_time_that_is_over_is_unknown(judge: Judge) -> None:
    """Blender is stopped at the limit; nothing is judged by default."""
    report = check(judge.folder / "gn.blend", limits=Limits(timeout_seconds=0.3))
    assert "stopped after 0.3 s" in report.error
    assert {c.outcome for c in report.checks} == {"unknown"}


def test_a_failing_measurement_leaves_the_others(judge: Judge) -> None:
    """One check that cannot be measured is unknown; the others are judged in the same Blender."""
    checks = [
        *declare(volume={"target": "NotFinite", "min": 0}, manifold={"target": "Cube"}),
        *declare(value_at_frame={"target": "Cube", "frame": 1, "path": "data.vertices[99999].co", "value": 1}),
    ]
    report = check(judge.folder / "meshes.blend", checks)
    assert [c.outcome for c in report.checks] == ["unknown", "pass", "unknown"]
    assert report.n_starts == 1


def test_a_check_costs_milliseconds(judge: Judge, capsys: pytest.CaptureFixture[str]) -> None:
    """On the opened file; the figures are printed."""
    report = check(
        judge.folder / "meshes.blend",
        declare(
            manifold={"target": "Ball"},
            self_intersection={"target": "Ball"},
            dimensions={"target": "Ball", "x": {"max": 9}},
            normals_consistent={"target": "Ball"},
            scene_bounds={"max_extent": 1000},
            uv_overlap={"target": "Ball"},
        ),
    )
    with capsys.disabled():
        figures = ", ".join(f"{c.type} {1000 * c.seconds:.1f} ms" for c in report.checks)
        print(f"\nopened in {1000 * report.open_seconds:.0f} ms; {figures}")
    assert max(c.seconds for c in report.checks) < 0.5
