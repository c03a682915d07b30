"""`blendscribe replay`, with real episodes: what was recorded comes out again, and what does not is said where."""

import gzip
import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_plugin.cli import main
from recorder.paths import EpisodePaths
from recorder.records import End, Header, Step
from recorder.trajectory import MAX_PATCH_BYTES, read_summary, read_trajectory
from tests.agent_plugin.conftest import CALLS_LITELLM, SUBMIT, ScriptModel, bash, blender
from tests.agent_plugin.episodes import fingerprints, play
from tests.conftest import FILM, RENDER
from tests.harness.sessions import RENUMBERED
from tests.machines import no_user_namespaces
from tests.recorder.made_episodes import make_episode

__all__ = ["no_user_namespaces"]

pytestmark = [CALLS_LITELLM, pytest.mark.blender]

Replay = Callable[..., tuple[int, str, str]]

DONE = "print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')"
BALL = "import bpy\nball = bpy.data.objects['Cube']\nball.name = 'Ball'\nball.location = (0, 0, 2)"
LIFT = "ball.location.z += 1\nprint('lifted to', ball.location.z)"
CHANCE = "import random\nball.location.x = random.random() * 4"


def code(text: str) -> dict[str, Any]:
    """A call of run_blender in a scene task."""
    return {"calls": [{"tool": "run_blender", "arguments": {"code": text}}]}


def write_main(source: str) -> dict[str, Any]:
    return bash(f"cat > main.py <<'END'\n{source}END\n")


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Replay:
    """Run `blendscribe replay` with these arguments; gives (exit status, stdout, stderr)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["blendscribe", "replay", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        return int(caught.value.code or 0), *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def scene_model(script_model: ScriptModel) -> str:
    """Steps: 1 good, 2 raises, 3 does not end, 4 no call, 5 good, 6 hands in."""
    return script_model(
        code(BALL),
        code("ball.location.z = 9\nbpy.data.objects['Bal']"),
        code("while True: pass"),
        {"text": "Let me think."},
        code(LIFT),
        code(DONE),
    )


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, scene_model: str) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    return play(folder, scene_model, kind="scene", harness={"resolution": (64, 36), "exec_timeout": 2.0})


@pytest.fixture(scope="module")
def random_scene(tmp_path_factory: pytest.TempPathFactory, script_model: ScriptModel) -> Path:
    """Its third step is left to chance."""
    model = script_model(code(BALL), code(LIFT), code(CHANCE), code(LIFT), code(DONE))
    return play(tmp_path_factory.mktemp("random"), model, kind="scene", harness={"visual_feedback": False})


@pytest.fixture(scope="module")
def knot(tmp_path_factory: pytest.TempPathFactory, script_model: ScriptModel) -> Path:
    """Its first step has another hash whenever it is run."""
    model = script_model(code(RENUMBERED), code(LIFT), code(DONE))
    return play(tmp_path_factory.mktemp("knot"), model, kind="scene", harness={"visual_feedback": False})


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory, script_model: ScriptModel) -> Path:
    """Steps: 1 writes and runs, 2 keeps a picture and breaks it, 3 repairs it, 4 fails thrice, 5 hands in."""
    folder = tmp_path_factory.mktemp("video")
    (folder / "start.txt").write_text("a start")
    model = script_model(
        {"calls": [write_main("print(open('start.txt').read())\n" + FILM + RENDER), blender()]},
        {"calls": [bash("cp preview.png kept.png; sed -i 's/Cube/Kube/' main.py; ls -l"), blender()]},
        {"calls": [bash("sed -i 's/Kube/Cube/' main.py"), blender()]},
        {"calls": [bash("ls; exit 3"), bash("touch late; sleep 30"), blender("none.py")]},
        {"calls": [bash(SUBMIT)]},
    )
    return play(folder, model, "environment.timeout=2", start_file=folder / "start.txt")


@pytest.mark.parametrize("number", [1, 2, 3, 5, 6])
def test_each_step_of_a_scene(scene: Path, replay: Replay, number: int) -> None:
    """Good, raising, endless, and the one that hands in: each comes out as recorded."""
    status, text, _ = replay(scene, "--step", number)
    assert (status, text.split()[:3]) == (0, ["step", str(number), "same"]), text


@pytest.mark.parametrize("number", [2, 3, 4])
def test_steps_of_a_video(video: Path, replay: Replay, number: int) -> None:
    """Files, errors, stopped commands and frames come out as recorded; the state before it too."""
    status, text, _ = replay(video, "--step", number)
    assert (status, text.split()[:3]) == (0, ["step", str(number), "same"]), text
    assert "state before" not in text


def test_all_steps_and_nothing_is_touched(scene: Path, video: Path, replay: Replay) -> None:
    """One line a step, then the sum of it; steps without a call are said to be that."""
    before = fingerprints(scene), fingerprints(video)
    status, text, _ = replay(scene, "--all")
    assert (status, text.splitlines()[-1]) == (0, "All 5 steps came out as recorded."), text
    assert "step 4  no action" in text
    status, text, _ = replay(video, "--all")
    assert (status, text.splitlines()[-1]) == (0, "All 5 steps came out as recorded."), text
    assert (fingerprints(scene), fingerprints(video)) == before


def test_chance_is_found_at_its_step(random_scene: Path, replay: Replay) -> None:
    """The first step that does not reproduce is named, and at which paths two runs here differ."""
    status, text, _ = replay(random_scene, "--all")
    assert status == 1
    assert "step 2  same" in text
    assert "step 3  DIFFERS" in text
    assert "step 3, run_blender: state, Object/Ball.location: recorded '[" in text
    assert "Object 'Ball': location" in text
    assert "something in them is left to chance (unseeded random, time, set order)." in text
    assert text.splitlines()[-1] == "Step 3 is the first that does not reproduce; 2 after it were not run."


def test_chance_before_a_step(random_scene: Path, replay: Replay) -> None:
    """The step after it is run, but in another state: exit 1, naming the step that it comes from."""
    status, text, _ = replay(random_scene, "--step", 4, "--json")
    told = json.loads(text)
    assert (status, told["is_good"], told["first_different"], told["drift"]["step"]) == (1, False, 3, 3)
    assert [step["step"] for step in told["steps"]] == [4]
    assert any("left to chance" in note for note in told["notes"])


def edited(episode: Path, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of an episode, each of whose steps was changed in the record."""
    copy = folder / "copy"
    shutil.copytree(episode, copy)
    header, *lines = (copy / "trajectory.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    for record in records[:-1]:
        change(record)
    (copy / "trajectory.jsonl").write_text("\n".join([header, *map(json.dumps, records)]) + "\n")
    return copy


def another_hash(record: dict[str, Any]) -> None:
    """Of the state, as noise makes one."""
    for execution in record["executions"]:
        if execution["blender"]:
            execution["blender"]["state_hash"] = "0" * 64


def no_patch(record: dict[str, Any]) -> None:
    """As episodes were before there were patches."""
    for execution in record["executions"]:
        del execution["state_patch"]


def test_another_hash_is_no_difference(knot: Path, replay: Replay, tmp_path: Path) -> None:
    """Where the scene is the same but for noise, in a step, before one, and in a branch from there."""
    copy = edited(knot, tmp_path, another_hash)
    status, text, _ = replay(copy, "--all")
    assert (status, text.splitlines()[-1]) == (0, "All 3 steps came out as recorded."), text
    (tmp_path / "edited.py").write_text("ball.location.x = 2")
    status, text, _ = replay(knot, "--step", 2, "--code", tmp_path / "edited.py", "-o", tmp_path / "branch")
    assert (status, "state before" in text) == (0, False), text
    status, text, _ = replay(tmp_path / "branch", "--step", 2)
    assert (status, text.split()[:3]) == (0, ["step", "2", "same"]), text


def test_an_episode_without_patches(scene: Path, knot: Path, replay: Replay, tmp_path: Path) -> None:
    """Is compared by hash: the same, or not, and nothing more can be told."""
    assert replay(edited(scene, tmp_path, no_patch), "--step", 5)[0] == 0
    (tmp_path / "knot").mkdir()
    copy = edited(edited(knot, tmp_path / "knot", no_patch), tmp_path / "knot/again", another_hash)
    status, text, _ = replay(copy, "--step", 1)
    assert status == 1
    assert "step 1, run_blender: state: recorded 'hash 000000000000', now 'hash " in text


def test_another_scene_is_told_by_path_and_values(scene: Path, replay: Replay, tmp_path: Path) -> None:
    """In the step itself, and before one that comes later."""

    def higher(record: dict[str, Any]) -> None:
        for action in record["actions"]:
            action["arguments"]["code"] = action["arguments"]["code"].replace("(0, 0, 2)", "(0, 0, 5)")

    copy = edited(scene, tmp_path, higher)
    status, text, _ = replay(copy, "--all")
    told = "step 1, run_blender: state, Object/Ball.location: recorded '[0.0, 0.0, 2.0]', now '[0.0, 0.0, 5.0]'"
    assert status == 1
    assert told in text
    status, text, _ = replay(copy, "--step", 5)
    assert status == 1
    assert "The state before step 5 is not the recorded one, from step 1 on:\n" in text
    assert told in text


def test_a_damaged_patch(knot: Path, replay: Replay, tmp_path: Path) -> None:
    """One located line, exit 2, nothing run: another file, none, and one that unpacks without end."""
    copy = edited(knot, tmp_path, lambda _record: None)
    path = copy / _first_patch(copy)["path"]
    path.write_bytes(b"another")
    for way in (["--step", 2], ["--all"]):
        status, text, errors = replay(copy, *way)
        assert (status, text) == (2, "")
        assert errors == f"error: {path}: not the state patch of line 2 (its hash differs)\n"
    path.unlink()
    status, text, errors = replay(copy, "--step", 1)
    assert (status, text) == (2, "")
    assert errors.startswith(f"error: {copy}/trajectory.jsonl, line 2: its state patch 'states/")
    packed = gzip.compress(b" " * (MAX_PATCH_BYTES + 1), mtime=0)
    digest = hashlib.sha256(packed).hexdigest()

    def bomb(record: dict[str, Any]) -> None:
        path = f"states/{digest}.json.gz"
        record["executions"][0]["state_patch"] = {"path": path, "sha256": digest, "n_bytes": len(packed)}

    bombed = edited(copy, tmp_path / "bombed", bomb)
    (bombed / f"states/{digest}.json.gz").write_bytes(packed)
    status, text, errors = replay(bombed, "--step", 1)
    assert (status, text) == (2, "")
    assert errors == f"error: {bombed}/states/{digest}.json.gz: cannot be used: it unpacks to more than 64 MiB\n"


def _first_patch(episode: Path) -> dict[str, Any]:
    first = next(line for line in read_trajectory(episode / "trajectory.jsonl") if isinstance(line, Step))
    assert first.executions[0].state_patch is not None
    return first.executions[0].state_patch.model_dump()


def test_edited_code_of_a_scene(scene: Path, replay: Replay, tmp_path: Path) -> None:
    """Its report, and where it differs from the record; a branch that can be replayed names parent and step."""
    (tmp_path / "edited.py").write_text("ball.location.z += 2\nprint('lifted to', ball.location.z)")
    before = fingerprints(scene)
    status, text, _ = replay(scene, "--step", 5, "--code", tmp_path / "edited.py", "-o", tmp_path / "branch")
    assert status == 0, text
    assert "STEP OK: step 4 took effect" in text  # the fourth call of run_blender
    assert "step 5, run_blender: printed line 1: recorded 'lifted to 3.0', now 'lifted to 4.0'" in text
    assert "step 5, run_blender: state, Object/Ball.location: recorded '[0.0, 0.0, 3.0]', now '[0.0, 0.0, 4.0]'" in text
    assert fingerprints(scene) == before
    header, *steps, end = read_trajectory(tmp_path / "branch/trajectory.jsonl")
    assert isinstance(header, Header)
    assert isinstance(end, End)
    assert header.parent is not None
    assert (header.parent.episode, header.parent.step) == ("t/m/1", 5)
    assert header.parent.trajectory_sha256 == before["trajectory.jsonl"][0]
    assert [step.step for step in steps if isinstance(step, Step)] == [1, 2, 3, 4, 5]
    assert steps[:4] == list(read_trajectory(scene / "trajectory.jsonl"))[1:5]
    summary = read_summary(EpisodePaths(tmp_path / "branch").summary)
    assert (end.exit_status, summary.exit_status, summary.verdict) == ("Replayed", "Replayed", "fail")
    assert "ball.location.z += 2" in (tmp_path / "branch/final_script.py").read_text()
    assert replay(tmp_path / "branch", "--step", 5)[0] == 0


def test_edited_code_of_a_video(video: Path, replay: Replay, tmp_path: Path) -> None:
    """It takes the script's place in the workspace of that step; exit 1 if its run is no good."""
    (tmp_path / "good.py").write_text("open('kept.png')\n" + FILM + RENDER)
    status, text, _ = replay(video, "--step", 3, "--code", tmp_path / "good.py", "-o", tmp_path / "branch")
    assert status == 0, text
    assert "RUN OK" in text
    assert (tmp_path / "branch/final_script.py").read_text() == "open('kept.png')\n" + FILM + RENDER
    (tmp_path / "bad.py").write_text("1 / 0")
    status, text, _ = replay(tmp_path / "branch", "--step", 3, "--code", tmp_path / "bad.py")
    assert status == 1
    assert "outcome: recorded 'ok', now 'script_error (ZeroDivisionError: division by zero)'" in text


def test_a_models_answer(
    scene: Path, scene_model: str, script_model: ScriptModel, replay: Replay, tmp_path: Path
) -> None:
    """The recorded conversation goes to it, pictures included, to the byte; what it answers is run and kept."""
    status, text, _ = replay(scene, "--step", 5, "-m", scene_model)
    assert status == 0, text
    assert "The model was sent exactly the recorded request." in text
    other = script_model({}, {}, {}, {}, {"text": "Higher.", "expect": ["no tool call"], **code("ball.location.z = 7")})
    status, text, _ = replay(scene, "--step", 5, "-m", other, "-o", tmp_path / "branch")
    assert status == 0, text
    assert "Higher." in text
    assert "location (0, 0, 2) -> (0, 0, 7)" in text
    header, *_, last, _ = read_trajectory(tmp_path / "branch/trajectory.jsonl")
    assert isinstance(header, Header)
    assert isinstance(last, Step)
    assert (header.model, last.assistant["content"], last.request is not None) == (other, "Higher.", True)


def test_an_answer_without_a_call(scene: Path, scene_model: str, replay: Replay, tmp_path: Path) -> None:
    """Exit 1, with what the model would be told."""
    status, text, _ = replay(scene, "--step", 4, "-m", scene_model, "-o", tmp_path / "branch")
    assert status == 1
    assert "Let me think." in text
    assert "The reply holds no tool call" in text
    *_, last, _ = read_trajectory(tmp_path / "branch/trajectory.jsonl")
    assert isinstance(last, Step)
    assert last.format_error


def test_a_model_that_cannot_be_asked(scene: Path, script_model: ScriptModel, replay: Replay) -> None:
    """One line, exit 2: nothing can be concluded."""
    status, _, errors = replay(scene, "--step", 2, "-m", script_model({"expect": ["never"]}))
    assert status == 2
    (line,) = errors.splitlines()
    assert "could not be asked: RequestRejected" in line


def test_a_read_only_episode(scene: Path, replay: Replay, tmp_path: Path) -> None:
    """Is enough."""
    copy = tmp_path / "copy"
    shutil.copytree(scene, copy)
    for path in [*copy.rglob("*"), copy]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert replay(copy, "--step", 1, "-o", tmp_path / "branch")[0] == 0
    finally:
        for path in [copy, *copy.rglob("*")]:
            path.chmod(0o755)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "give either --step N or --all"),
        (["--step", 1, "--all"], "give either --step N or --all"),
        (["--all", "--code", "x.py"], "--code, -m and -o go with --step N"),
        (["--step", 1, "--code", "x.py", "-m", "a/b"], "give --code or -m, not both"),
        (["--step", 1, "--code", "/nonexistent.py"], "/nonexistent.py: cannot be read (No such file or directory)"),
        (["--step", 9], "there is no step 9: it has the steps 1..6"),
        (["--step", 4], "step 4 has nothing to run: the reply held no usable call"),
        (["--step", 1, "-m", "scripted/none"], "-m scripted/none: No scripted model at"),
        (["--step", 1, "-o", "/"], "/: is there already; give a new folder"),
        (["--step", 1, "-o", "{episode}/replay"], "lies inside the episode"),
    ],
)
def test_wrong_arguments(scene: Path, replay: Replay, arguments: list[object], text: str) -> None:
    """One line on stderr, exit 2, nothing run and nothing written."""
    before = fingerprints(scene)
    given = [str(argument).replace("{episode}", str(scene)) for argument in arguments]
    status, output, errors = replay(scene, *given)
    (line,) = errors.splitlines()
    assert (status, output) == (2, "")
    assert line.startswith("error: ")
    assert text in line
    assert fingerprints(scene) == before


def test_a_damaged_episode(scene: Path, replay: Replay, tmp_path: Path) -> None:
    """A located line, exit 2, whether it is the trajectory or a picture."""
    copy = tmp_path / "copy"
    shutil.copytree(scene, copy)
    first = next(line for line in read_trajectory(copy / "trajectory.jsonl") if isinstance(line, Step))
    picture = copy / first.observations[0].images[0].path
    picture.write_bytes(b"another")
    status, _, errors = replay(copy, "--step", 1)
    assert (status, errors) == (2, f"error: {picture}: not the picture of line 2 (its hash differs)\n")
    picture.unlink()
    _, _, errors = replay(copy, "--step", 1)
    assert "trajectory.jsonl, line 2: its picture 'images/" in errors
    (copy / "trajectory.jsonl").write_text("{")
    status, _, errors = replay(copy, "--step", 1)
    assert status == 2
    assert errors.startswith(f"error: {copy}/trajectory.jsonl, line 1: torn line")


def test_less_isolation_than_the_record_asks_for(
    tmp_path: Path, replay: Replay, script_model: ScriptModel, request: pytest.FixtureRequest
) -> None:
    """Refused, with the flag that accepts it; then the step comes out as recorded."""
    settings = {"sandbox": "required", "visual_feedback": False}
    episode = play(tmp_path, script_model(code(BALL), code(DONE)), kind="scene", harness=settings)
    request.getfixturevalue("no_user_namespaces")
    status, text, error = replay(episode, "--step", 1)
    assert (status, text) == (2, "")
    assert "The isolation here is 'landlock+seccomp'; this run asks for 'bwrap' or stronger." in error
    assert "accept it with --allow-isolation landlock+seccomp." in error
    status, text, error = replay(episode, "--step", 1, "--allow-isolation", "landlock+seccomp")
    assert (status, text.split()[:3]) == (0, ["step", "1", "same"]), text + error


def test_an_episode_without_a_step_to_run(tmp_path: Path, replay: Replay) -> None:
    """It is no success: exit 2, and what is wrong."""
    status, out, err = replay(make_episode(tmp_path / "e", []), "--all", "--allow-isolation", "limits-only")
    assert (status, out) == (2, "")
    assert err == f"error: {tmp_path / 'e'}: holds no step with a call to run\n"
