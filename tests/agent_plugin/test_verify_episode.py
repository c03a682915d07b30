"""What `verify` does around its Blenders: with a scene that is no .blend file it needs none."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from agent_plugin.cli import app
from agent_plugin.verify_episode import Wish, verify_episode
from agent_plugin.verify_text import block_of
from recorder.files import IntegrityFile
from recorder.integrity import check_episode
from tests.recorder.made_episodes import make_episode
from tests.recorder.verifications import draw_by_hand, result, verify_by_hand

ROOT = Path(__file__).resolve().parents[2]


def stored(root: Path) -> IntegrityFile:
    return IntegrityFile.model_validate_json((root / "verification/integrity.json").read_text())


def test_one_at_a_time(tmp_path: Path) -> None:
    """Where another command holds the folder, nothing is touched, and it is no verdict."""
    root = verify_by_hand(make_episode(tmp_path / "e"), result())
    before = {path.name: path.read_bytes() for path in (root / "verification").iterdir()}
    holder = os.open(root / "verification", os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        done = verify_episode(root, Wish())
        ended = CliRunner().invoke(app, ["verify", str(root)])
    finally:
        os.close(holder)
    assert (done.ok, done.checks, done.summary, done.faults) == (False, None, None, ())
    assert block_of(done).splitlines()[:2] == [
        f"{root}: NOT VERIFIED",
        f"  error      {root}: another verify or review works on this episode. Try again when it is done",
    ]
    assert (ended.exit_code, "another verify or review" in ended.output) == (1, True)
    assert {path.name: path.read_bytes() for path in (root / "verification").iterdir()} == before


def test_renders_that_were_not_drawn_anew_keep_their_anchor(tmp_path: Path) -> None:
    """What an earlier verification drew is still what it drew; pictures of unknown making get none."""
    root = draw_by_hand(make_episode(tmp_path / "e"))
    assert verify_episode(root, Wish()).n_starts == 0
    assert stored(root).renders_sha256 is None
    anchored = stored(root).model_copy(update={"renders_sha256": "0" * 64})
    (root / "verification/integrity.json").write_text(anchored.model_dump_json())
    verify_episode(root, Wish())
    assert stored(root).renders_sha256 == "0" * 64
    assert [(finding.code, finding.file) for finding in check_episode(root)] == [("hash", "renders/renders.json")]


def test_a_verdict_that_was_turned_is_no_pass(tmp_path: Path) -> None:
    """`--integrity` says how many findings there are, and each."""
    root = make_episode(tmp_path / "e", verdict="fail")
    summary = json.loads((root / "episode.json").read_text())
    (root / "episode.json").write_text(json.dumps(summary | {"verdict": "pass", "problems": ["does_not_replay"]}))
    ended = CliRunner().invoke(app, ["verify", "--integrity", str(root)])
    assert (ended.exit_code, ended.output.splitlines()[0]) == (1, f"{root}: 2 findings")
    (root / "episode.json").write_text(json.dumps(summary | {"n_steps": 9}))
    ended = CliRunner().invoke(app, ["verify", "--integrity", str(root)])
    assert ended.output.splitlines()[0] == f"{root}: 1 finding"


def test_ctrl_c_says_one_line(tmp_path: Path) -> None:
    """Exit status 130, after what was told already."""
    roots = [make_episode(tmp_path / f"e{number}") for number in range(60)]
    command = [sys.executable, "-c", "from agent_plugin.cli import main\nmain()", "verify", *map(str, roots)]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    first = running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert (first, running.returncode) == (f"{roots[0]}: NOT PASSED\n", 130)
    assert [line for line in errors.splitlines() if "stopped: " in line] == errors.splitlines()[-1:]
    assert "Traceback" not in errors
