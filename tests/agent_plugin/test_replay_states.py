"""Recorded states are made again out of patches, compared by difference, and damage is located. Without Blender."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from agent_plugin.recorded_episode import read_episode
from agent_plugin.replay_states import RecordedStates
from harness.state_patch import state_patch
from recorder.errors import CorruptEpisode
from recorder.records import Action, Execution, FileReference
from recorder.redaction import Redactor
from recorder.trajectory import MAX_PATCH_BYTES
from tests.agent_plugin.episodes import ran, written

FAILED = None
UNMEASURED = "unmeasured"


def state(x: float, **values: Any) -> dict[str, Any]:
    return {"version": 1, "scene": "Scene", "blocks": {"Object/Cube": {"x": x, **values}}, "evaluated": {}}


def call(packed: bytes | str | None) -> tuple[Action, Execution]:
    """A step with this patch; one that could not be measured, or failed."""
    action, execution = ran("run_blender", "pass", kind="scene")
    if isinstance(packed, bytes):
        digest = hashlib.sha256(packed).hexdigest()
        reference = FileReference(path=f"states/{digest}.json.gz", sha256=digest, n_bytes=len(packed))
        return action, execution.model_copy(update={"state_patch": reference, "blender": {"state_hash": "aa"}})
    return action, execution.model_copy(update={"returncode": 1 if packed is FAILED else 0, "blender": {}})


def pack(patch: Any) -> bytes:
    return gzip.compress(json.dumps(patch).encode(), mtime=0)


def episode(folder: Path, *steps: list[bytes | str | None]) -> Path:
    """The folder of an episode whose calls have these patches."""
    root = written(folder / "e", *([call(packed) for packed in packs] for packs in steps), kind="scene")
    (root / "states").mkdir()
    for packed in (packed for packs in steps for packed in packs if isinstance(packed, bytes)):
        (root / f"states/{hashlib.sha256(packed).hexdigest()}.json.gz").write_bytes(packed)
    return root


def begun(root: Path, start: dict[str, Any], redactor: Redactor | None = None) -> RecordedStates:
    states = RecordedStates(read_episode(root), (redactor or Redactor()).clean_texts)
    states.begin(start)
    return states


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Step 1 fails, 2 sets x to 1, 3 cannot be measured, 4 sets x to 2 and then to 3."""
    packs = [pack(state_patch(state(x), state(x + 1))) for x in range(3)]
    return episode(tmp_path, [FAILED], [packs[0]], [UNMEASURED], [packs[1], packs[2]])


def test_states_are_made_again(root: Path) -> None:
    """In order, and again from the start when asked for an earlier one; what failed or was not measured has none."""
    states = begun(root, state(0))
    for place, x in [((2, 0), 1), ((4, 0), 2), ((4, 1), 3), ((2, 0), 1)]:
        assert states.changes(place, state(x)) == []
        (change,) = states.changes(place, state(9)) or []
        assert (change.path, change.before, change.after) == ("Object/Cube.x", x, 9)
    for place in [(1, 0), (3, 0), (5, 0)]:
        assert states.changes(place, state(1)) is None
    assert states.changes((2, 0), None) is None
    assert [states.before(number) for number in (1, 2, 3, 4, 5)] == [state(x) for x in (0, 0, 1, 1, 3)]


def test_nothing_is_known_before_the_start(root: Path) -> None:
    """A session that was not started has no start state."""
    states = RecordedStates(read_episode(root), Redactor().clean_texts)
    assert states.before(3) is None
    assert states.changes((2, 0), state(1)) is None


def test_a_chain_that_is_broken(tmp_path: Path) -> None:
    """After a measured step without a patch, as in an older episode, no state is known; those before it are."""
    action, execution = call(UNMEASURED)
    old = action, execution.model_copy(update={"blender": {"state_hash": "aa"}})
    packed = pack(state_patch(state(0), state(1)))
    root = written(tmp_path / "e", [call(packed)], [old], [call(packed)], kind="scene")
    (root / "states").mkdir()
    (root / f"states/{hashlib.sha256(packed).hexdigest()}.json.gz").write_bytes(packed)
    states = begun(root, state(0))
    assert states.changes((1, 0), state(1)) == []
    assert states.changes((2, 0), state(1)) is None
    assert states.changes((3, 0), state(1)) is None
    assert states.before(4) is None


def test_both_sides_are_cleaned(tmp_path: Path) -> None:
    """A path of this machine is no difference to the sign that the record holds for it."""
    redactor = Redactor(folders={"/work/place": "<workspace>"})
    after = state(1, filepath="/work/place/a.png")
    root = episode(tmp_path, [pack(redactor.clean_texts(state_patch(state(0), after)))])
    states = begun(root, state(0), redactor)
    assert states.changes((1, 0), after) == []
    (change,) = states.changes((1, 0), state(1, filepath="/work/place/b.png")) or []
    assert (change.before, change.after) == ("<workspace>/a.png", "<workspace>/b.png")


def test_another_version_of_states(tmp_path: Path) -> None:
    """Is the difference, since nothing else can be compared."""
    states = begun(episode(tmp_path, [pack(state_patch(state(0), state(1)))]), state(0))
    (change,) = states.changes((1, 0), {**state(1), "version": 2}) or []
    assert (change.path, change.before, change.after) == ("version", 1, 2)


DEEP = '{"version":1,"scene":"","blocks":{"A/b":{"is":{"x":' + "[" * 900 + "]" * 900 + '}}},"evaluated":{}}'


@pytest.mark.parametrize(
    ("packed", "text"),
    [
        (gzip.compress(b" " * (MAX_PATCH_BYTES + 1)), "cannot be used: it unpacks to more than 64 MiB"),
        (pack({})[:-9], "cannot be used: it is not one whole gzip file"),
        (pack({}) + b"more", "cannot be used: it is not one whole gzip file"),
        (b"not gzip", "cannot be used: Error -3"),
        (gzip.compress(b"{"), "cannot be used: Expecting property name"),
        (gzip.compress(b"\xff"), "cannot be used: 'utf-8' codec can't decode"),
        (gzip.compress(b"[" * 99_999), "cannot be used: maximum recursion depth exceeded"),
        (gzip.compress(DEEP.encode()), "maximum recursion depth exceeded"),
        (pack({"version": 1}), "cannot be used: not a state patch: it is of type dict"),
        (
            pack({**state(0), "blocks": {}, "evaluated": {"Object/A": {"is": {"print": 3, "n_vertices": "x"}}}}),
            "gives a state that cannot be compared (TypeError: ",
        ),
    ],
    ids=["bomb", "torn", "longer", "no gzip", "no JSON", "no text", "endless", "deep", "no patch", "no state"],
)
def test_a_file_that_is_no_patch(tmp_path: Path, packed: bytes, text: str) -> None:
    """Though it has the recorded hash: an error that names the file."""
    root = episode(tmp_path, [packed])
    now = state(0) | {"evaluated": {"Object/A": {"print": [3.0], "n_vertices": 3}}}
    with pytest.raises(CorruptEpisode) as caught:
        begun(root, state(0)).changes((1, 0), now)
    assert str(caught.value).startswith(f"{root}/states/{hashlib.sha256(packed).hexdigest()}.json.gz: ")
    assert text in str(caught.value)


def test_damage_is_told_before_anything_is_run(root: Path) -> None:
    """A file that is not the recorded one, or is gone, of any step up to the one that is asked for."""
    read = read_episode(root)
    read.check_states(4)
    reference = read.step(4).executions[1].state_patch
    assert reference is not None
    (root / reference.path).write_bytes(b"another")
    read.check_states(3)
    with pytest.raises(CorruptEpisode, match=r"\.json\.gz: not the state patch of line 5 \(its hash differs\)"):
        read.check_states(4)
    (root / reference.path).unlink()
    with pytest.raises(CorruptEpisode, match=r"trajectory\.jsonl, line 5: its state patch 'states/.* cannot be read"):
        read.check_states(4)


def test_a_name_outside_of_the_folder(root: Path) -> None:
    """Is refused, whatever lies there."""
    outside = FileReference(path="states/../../secret", sha256="", n_bytes=0)
    with pytest.raises(CorruptEpisode, match=r"line 2: 'states/\.\./\.\./secret' is not the name of a state patch"):
        read_episode(root).packed_patch(outside, 2)
