"""`blendscribe verify` on recorded episodes: real Blender, real replays."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agent_plugin.checks_file import load_checks
from agent_plugin.verify_batch import choose, verify_all
from agent_plugin.verify_episode import Verified, Wish, verify_episode
from agent_plugin.verify_text import block_of, json_of
from harness.checks.declared import DeclaredCheck
from harness.renders import RenderRequest
from recorder.decisions import Refused, decide
from recorder.export.dataset import Request, export
from recorder.export.sample import label_of
from recorder.files import IntegrityFile
from recorder.verification import ChecksFile, ReplayDiffFile
from recorder.verified import read_verification
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.agent_plugin.episodes import fingerprints
from tests.conftest import processes_naming
from tests.harness.videos import moving_bars, video
from tests.verification.conftest import CHECKS, Copy

pytestmark = [CALLS_LITELLM, pytest.mark.blender]

ROOT = Path(__file__).resolve().parents[2]
HAS_TO_STAND = {"id": "high", "type": "dimensions", "parameters": {"target": "Ball", "z": {"min": 50}}}


def declared(checks: list[dict[str, Any]], folder: Path) -> tuple[DeclaredCheck, ...]:
    (folder / "given.json").write_text(json.dumps(checks))
    return tuple(load_checks(folder / "given.json"))


def replay_of(root: Path) -> ReplayDiffFile:
    return ReplayDiffFile.model_validate_json((root / "verification/replay_diff.json").read_text())


@pytest.fixture(scope="module")
def verified(scene: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Verified]:
    """The good scene, verified with its three checks, and what was told of it. Not to be changed."""
    root = Path(shutil.copytree(scene, tmp_path_factory.mktemp("verified") / "episode"))
    return root, verify_episode(root, Wish())


def test_a_good_scene_passes(verified: tuple[Path, Verified]) -> None:
    """Identical again, every check passes, three starts, and the files say what was told."""
    root, done = verified
    assert done.ok, block_of(done)
    assert done.n_starts == 3
    assert (replay_of(root).verdict, replay_of(root).first_different_step) == ("identical", None)
    checks = ChecksFile.model_validate_json((root / "verification/checks.json").read_text())
    assert [result.outcome for result in checks.results] == ["pass"] * 3
    assert [check["id"] for check in checks.checks] == ["ball", "bricks", "sound"]
    integrity = IntegrityFile.model_validate_json((root / "verification/integrity.json").read_text())
    assert (integrity.is_sound, checks.about, replay_of(root).about) == (True, integrity.about, integrity.about)
    assert read_verification(root).is_good
    told = json_of(done)
    assert (told["ok"], told["score"]["weighted"], told["n_starts"]) == (True, 1.0, 3)
    assert "strict pass: yes; score 1.00 over 100% of the weight" in block_of(done)
    assert "gives the same scene again" in block_of(done)


def test_verifying_again_gives_the_same_bytes(verified: tuple[Path, Verified], tmp_path: Path) -> None:
    """So that a decision stands; the score and the verdicts hold no time."""
    root = Path(shutil.copytree(verified[0], tmp_path / "episode"))
    decide(root, "accept", reason="fine", by="a reviewer")
    before = {path.name: path.read_bytes() for path in (root / "verification").iterdir()}
    assert verify_episode(root, Wish()).ok
    assert {path.name: path.read_bytes() for path in (root / "verification").iterdir()} == before
    assert label_of(root)[0] == "accepted"


def test_a_scene_that_was_swapped_is_seen(verified: tuple[Path, Verified], unseeded: Path, tmp_path: Path) -> None:
    """First the verification is stale; then the replay differs, though every recorded step comes out as recorded."""
    root = Path(shutil.copytree(verified[0], tmp_path / "episode"))
    shutil.copyfile(unseeded / "scene.blend", root / "scene.blend")
    assert {fault.kind for fault in read_verification(root).faults} == {"stale"}
    done = verify_episode(root, Wish())
    assert not done.ok
    assert done.integrity is not None
    assert [(finding.code, finding.file) for finding in done.integrity.findings] == [("hash", "scene.blend")]
    replay = replay_of(root)
    assert (replay.verdict, replay.first_different_step) == ("differs", None)
    assert replay.state is not None
    assert {change.path for change in replay.state.changes} == {
        "Object/Ball.location",
        "Object/Ball.evaluated.matrix_world",
    }
    assert "the recorded steps come out as recorded" in replay.note
    assert done.n_starts == 4
    with pytest.raises(Refused, match="gives another scene"):
        decide(root, "accept", reason="fine", by="a reviewer")


def test_a_script_that_was_edited_is_seen(scene: Path, copy: Copy) -> None:
    """By its hash, by the steps it is not made of, and by the scene that it makes."""
    root = copy(scene)
    script = root / "final_script.py"
    script.write_text(script.read_text().replace("location=(4, 0, 1)", "location=(4, 0, 3)"))
    done = verify_episode(root, Wish())
    assert done.integrity is not None
    assert {finding.code for finding in done.integrity.findings} == {"hash", "script"}
    replay = replay_of(root)
    assert (replay.verdict, replay.first_different_step) == ("differs", None)
    assert replay.state is not None
    assert replay.state.worst is not None
    assert replay.state.worst.magnitude == 2.0


def test_a_script_that_fails_is_seen(scene: Path, copy: Copy) -> None:
    """The error is told, without any path of this machine."""
    root = copy(scene)
    (root / "final_script.py").write_text("import bpy\nbpy.nothing\n")
    done = verify_episode(root, Wish())
    replay = replay_of(root)
    assert (replay.verdict, "AttributeError" in replay.error) == ("failed", True)
    assert "/tmp" not in replay.error
    assert done.n_starts == 2


def test_chance_is_named_with_its_step(unseeded: Path, copy: Copy) -> None:
    """The first step that does not come out as recorded; four starts."""
    root = copy(unseeded)
    done = verify_episode(root, Wish())
    replay = replay_of(root)
    assert (replay.verdict, replay.first_different_step, done.n_starts) == ("differs", 3, 4)
    assert "step 3 is the first that differs" in block_of(done)
    assert [fault.file for fault in done.faults] == ["episode.json", "verification/replay_diff.json"]
    assert replay.state is not None
    assert replay.state.worst is not None
    assert 0 < replay.state.worst.magnitude < 1


def test_a_check_that_fails_is_told(scene: Path, copy: Copy, tmp_path: Path) -> None:
    """With its sentence; the weighted score counts it, and the episode is labelled failed. Checks that were given are
    made in place of the task's, and do not stand for these."""
    root = copy(scene)
    done = verify_episode(root, Wish(declared([*CHECKS, HAS_TO_STAND], tmp_path)))
    assert [fault.kind for fault in done.faults] == ["stale", "failed"]
    score = read_verification(root).score
    assert score is not None
    assert (score.is_strict_pass, score.weighted) == (False, 0.8)
    assert "high fails: " in block_of(done)
    assert label_of(root)[0] == "failed"


def test_a_film_is_rendered_again_and_compared(film: Path, copy: Copy, tmp_path: Path) -> None:
    """Decoded frames, the final check, and checks on the scene that the script leaves; three starts."""
    root = copy(film)
    checks = [{"id": "cube", "type": "moves", "parameters": {"target": "Cube", "min_distance": 1}}]
    drawing = RenderRequest(width=160, n_turntable=1, n_frames=2, n_film_frames=2)
    done = verify_episode(root, Wish(declared(checks, tmp_path), drawing))
    assert done.ok, block_of(done)
    assert done.n_starts == 3
    assert done.renders is not None
    assert {"hero", "frame", "animation"} <= {render.kind for render in done.renders.renders}
    assert read_verification(root).is_good
    replay = replay_of(root)
    assert replay.film is not None
    assert (replay.kind, replay.film.n_frames, replay.problems) == ("video", (4, 4), [])
    assert replay.verdict in ("identical", "within_tolerance")
    assert done.checks is not None
    assert [result.outcome for result in done.checks.results] == ["pass"]
    assert len(done.checks.scene_sha256) == 64
    assert not list(root.rglob("*.blend"))


def test_a_film_that_was_replaced_is_seen(film: Path, copy: Copy) -> None:
    """By its hash, and block by block."""
    root = copy(film)
    (root / "output.mp4").unlink()
    video(root / "output.mp4", moving_bars(4, 64, 36))
    done = verify_episode(root, Wish())
    assert done.integrity is not None
    assert [(finding.code, finding.file) for finding in done.integrity.findings] == [("hash", "output.mp4")]
    assert replay_of(root).verdict == "differs"
    (root / "output.mp4").write_bytes(random.Random(1).randbytes(5000))
    verify_episode(root, Wish())
    assert (replay_of(root).verdict, "cannot be decoded" in replay_of(root).error) == ("failed", True)


def test_a_damaged_scene_is_one_error_a_part(scene: Path, copy: Copy) -> None:
    """No replay is run for it, and every check is unknown."""
    root = copy(scene)
    content = (root / "scene.blend").read_bytes()
    (root / "scene.blend").write_bytes(content[: len(content) // 2])
    done = verify_episode(root, Wish(renders=RenderRequest()))
    assert done.checks is not None
    assert not (root / "renders").exists()
    assert "cannot open it" in done.checks.error or "could not open it" in done.checks.error
    assert {result.outcome for result in done.checks.results} == {"unknown"}
    assert (replay_of(root).verdict, replay_of(root).error) == ("failed", done.checks.error)
    assert done.n_starts == 1


@pytest.mark.parametrize("name", ["scene.blend", "final_script.py"])
def test_a_missing_deliverable_is_told(scene: Path, copy: Copy, name: str) -> None:
    """By its name."""
    root = copy(scene)
    (root / name).unlink()
    verify_episode(root, Wish())
    assert replay_of(root).verdict == "failed"
    assert name in replay_of(root).error


@pytest.mark.parametrize("name", ["verification", "task/task.json", "states/more", "scene.blend", "renders/a.png"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_is_no_plain_file_stops_it(scene: Path, copy: Copy, tmp_path: Path, name: str, kind: str) -> None:
    """It is located; nothing is run, waited for, followed or written."""
    root, elsewhere = copy(scene), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).unlink(missing_ok=True)
    if kind == "link":
        (root / name).symlink_to(elsewhere)
    else:
        os.mkfifo(root / name)
    done = verify_episode(root, Wish())
    assert (done.n_starts, done.checks, done.replay) == (0, None, None)
    assert done.errors == [f"{root / name}: neither a plain file nor a folder: links are not followed"]
    assert list(elsewhere.iterdir()) == []
    assert not (root / "verification/integrity.json").exists()


def test_what_lay_there_before_is_no_result(scene: Path, copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted verification is gone, also where the machine fails, which is told and is no verdict."""
    root = copy(scene)
    (root / "verification").mkdir()
    (root / "verification/replay_diff.json").write_text('{"verdict": "identical"}')
    (root / "verification/trust.txt").write_text("me")
    done = verify_episode(root, Wish())
    assert replay_of(root).verdict == "identical"
    assert done.integrity is not None
    assert [finding.file for finding in done.integrity.findings] == ["verification/trust.txt"]
    monkeypatch.setenv("BLENDSCRIBE_BPY_PYTHON", "/nowhere/python")
    failed = verify_episode(root, Wish())
    assert (failed.checks, failed.replay, failed.ok) == (None, None, False)
    assert [error.split(":")[0] for error in failed.errors] == ["the machine failed"]
    assert not (root / "verification/replay_diff.json").exists()


def test_checks_that_were_changed_afterwards_are_not_made(scene: Path, copy: Copy) -> None:
    """They are pinned with the task; nothing of the episode is run."""
    root = copy(scene)
    (root / "task/checks.json").write_text("[]\n")
    done = verify_episode(root, Wish())
    assert (done.checks, done.n_starts, len(done.errors)) == (None, 0, 1)
    assert "task/" in done.errors[0]


def test_renders_are_made_of_the_saved_scene(scene: Path, copy: Copy) -> None:
    """In the same three starts; what lay there is gone, and the folder is whole."""
    root = copy(scene)
    (root / "renders").mkdir()
    (root / "renders/nicer.png").write_bytes(b"")
    (root / ".renders.1.tmp").mkdir()
    done = verify_episode(root, Wish(renders=RenderRequest(width=160, n_turntable=2)))
    assert done.ok, block_of(done)
    assert done.n_starts == 3
    assert done.renders is not None
    listed = {render.file for render in done.renders.renders}
    assert listed | {"renders.json"} == {path.name for path in (root / "renders").iterdir()}
    assert {"hero", "turntable", "elevation", "sheet"} <= {render.kind for render in done.renders.renders}
    assert done.checks is not None
    assert done.renders.scene_sha256 == done.checks.scene_sha256
    assert read_verification(root).is_good
    assert list(root.glob(".renders*")) == []


def test_a_data_set_stays_as_it_is(scene: Path, copy: Copy, tmp_path: Path) -> None:
    """Its samples are verified like episodes, and nothing is written."""
    export(Request((copy(scene),), tmp_path / "data"))
    before = fingerprints(tmp_path / "data")
    (done,) = verify_all(choose([tmp_path / "data"]), Wish(), 1, lambda _done: None)
    assert done.ok, block_of(done)
    assert done.replay is not None
    assert done.replay.verdict == "identical"
    assert fingerprints(tmp_path / "data") == before


def test_the_command_tells_and_counts(scene: Path, unseeded: Path, copy: Copy) -> None:
    """Two at once, each with its block; one differs, so that the exit status is 1."""
    roots = [copy(scene), copy(unseeded)]
    ended = blendscribe("verify", "--no-renders", "-w", "2", *roots)
    assert ended.returncode == 1, ended.stderr
    assert f"{roots[0]}: PASS" in ended.stdout
    assert f"{roots[1]}: NOT PASSED" in ended.stdout
    told = json.loads(blendscribe("verify", "--no-renders", "--json", roots[0]).stdout)
    assert (told[str(roots[0])]["ok"], told[str(roots[0])]["replay"]["verdict"]) == (True, "identical")


def test_an_interruption_leaves_nothing(scene: Path, copy: Copy) -> None:
    """Ctrl-C while the script runs: status 130, no process, no half file."""
    root = copy(scene)
    asleep = f"{os.getpid()}.77"
    (root / "final_script.py").write_text(f"import subprocess\nsubprocess.run(['sleep', '{asleep}'])\n")
    code = "from agent_plugin.cli import main\nmain()"
    running = subprocess.Popen(
        [sys.executable, "-c", code, "verify", "--no-renders", str(root)], cwd=ROOT, stdout=subprocess.PIPE
    )
    until = time.monotonic() + 60
    while not processes_naming(asleep) and time.monotonic() < until:
        time.sleep(0.1)
    assert processes_naming(asleep)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 130
    assert processes_naming(asleep) == []
    assert sorted(path.name for path in (root / "verification").iterdir()) == []


def blendscribe(*arguments: object) -> subprocess.CompletedProcess[str]:
    code = "from agent_plugin.cli import main\nmain()"
    words = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=240, cwd=ROOT)
