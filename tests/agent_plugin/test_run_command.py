"""`blendscribe run`: all faults before anything starts, one table after everything has ended."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from agent_plugin.cli import main
from agent_plugin.loopback.server import loopback
from agent_plugin.scripted_file import ScriptedFile
from recorder.records import Header
from recorder.trajectory import read_trajectory
from tests.agent_plugin.conftest import CALLS_LITELLM, SUBMIT, ScriptModel, bash, write_tasks
from tests.conftest import FILM, RENDER
from tests.machines import no_landlock, no_user_namespaces

__all__ = ["no_landlock", "no_user_namespaces"]

pytestmark = CALLS_LITELLM


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # for rich


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Exit status of `blendscribe run` with these arguments."""
    monkeypatch.setattr(sys, "argv", ["blendscribe", "run", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        main()
    return int(caught.value.code or 0)


def test_faults_of_all_inputs_are_listed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Config, task list and models, a line each on stderr; exit 2, and no folder is made."""
    tasks = write_tasks(tmp_path, {"id": "a", "colour": "red"}, {"id": "a"})
    config = tmp_path / "c.yaml"
    config.write_text("agent: {stp_limit: 3}\nharness: {fps: fast}")
    output = tmp_path / "run"
    status = run(
        monkeypatch,
        *(tasks, "-c", config, "-c", "model.image_placement=beside", "-o", output),
        *("-m", "scripted/none", "-m", "a model", "-m", "a/b", "-m", "a--b"),
    )
    stdout, stderr = capsys.readouterr()
    assert (status, stdout) == (2, "")
    lines = stderr.splitlines()
    assert all(line.startswith("error: ") for line in lines)
    for start in (
        "-m scripted/none: No scripted model at",
        "-m 'a model': not a model name",
        "-m a--b: has the same folder name as a/b",
        f"{config}: agent.stp_limit: unknown key. Known here: ",
        f"{config}: environment.harness.fps: ",
        "-c model.image_placement: model.image_placement: ",
        f"{tasks}: tasks[0].colour: unknown key. Known here: ",
        f"{tasks}: tasks[1].id: 'a' is taken already",
    ):
        assert [line for line in lines if line.startswith(f"error: {start}")], start
    assert len(lines) == 8
    assert not output.exists()


@pytest.mark.parametrize("where", ["environment", "config", "task"])
def test_a_missing_interpreter_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    """Named by a variable, the config or a single task: exit 2, and no folder is made."""
    if where == "environment":
        monkeypatch.setenv("BLENDSCRIBE_BPY_PYTHON", "/nonexistent")
    tasks = write_tasks(
        tmp_path, {"id": "a"}, {"id": "b", "harness": {"bpy_python": "/nonexistent"} if where == "task" else {}}
    )
    more = ["-c", "harness.bpy_python=/nonexistent"] if where == "config" else []
    assert run(monkeypatch, tasks, "-m", "scripted/demo", "-o", tmp_path / "run", *more) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: No Blender interpreter at '/nonexistent'")
    assert "blendscribe setup" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "arguments", [[], ["t.yaml"], ["t.yaml", "-m", "m"], ["t.yaml", "-m", "m", "-o", "r", "-w", "0"], ["--nonsense"]]
)
def test_wrong_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """Exit 2."""
    assert run(monkeypatch, *arguments) == 2
    assert capsys.readouterr().err


@pytest.mark.blender
def test_the_main_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script_model: ScriptModel
) -> None:
    """Every episode passed: exit 0, a table, where to look; the same command again plays nothing and says so."""
    name = script_model({"calls": [bash(f"cat > main.py <<'END'\n{FILM}{RENDER}END\n"), bash(SUBMIT)]})
    arguments = [write_tasks(tmp_path, {"id": "film"}), "-m", name, "-o", tmp_path / "run"]
    assert run(monkeypatch, *arguments) == 0
    text = capsys.readouterr().out
    assert f"pass     film · {name} · 1 in" in text
    row = next(line for line in text.splitlines() if line.split("│")[0].strip() == "film")
    assert row.count("│") == 7
    assert "│ pass" in row
    assert "$0.0000" in row
    assert "1 of 1 episodes passed." in text
    assert f"Look at {tmp_path}/run/episodes/" in text
    assert run(monkeypatch, *arguments) == 0
    again = capsys.readouterr().out
    assert "1 of 1 episodes are from before." in again
    assert "pass     film" not in again


def test_exit_status_of_a_failed_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script_model: ScriptModel
) -> None:
    """Exit 1: what was handed in was no good, or an episode has no result."""
    bad, lost = script_model({"calls": [bash(SUBMIT)]}), script_model({"expect": ["never"]})
    tasks = write_tasks(tmp_path, {"id": "film"})
    assert run(monkeypatch, tasks, "-m", bad, "-o", tmp_path / "bad") == 1
    assert "script_missing" in capsys.readouterr().out
    assert run(monkeypatch, tasks, "-m", lost, "-m", lost, "-o", tmp_path / "lost") == 1
    text = capsys.readouterr().out
    assert "0 of 1 episodes passed, 1 without a result (the same command plays them again)." in text
    assert "RequestRejected" in text


def test_attempts_and_models_multiply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script_model: ScriptModel
) -> None:
    """Each is an episode of its own."""
    models = [script_model({"calls": [bash(SUBMIT)]}) for _ in range(2)]
    tasks = write_tasks(tmp_path, {"id": "film"})
    arguments = ["-m", models[0], "-m", models[1], "--attempts", 2, "-w", 2, "-o", tmp_path / "run"]
    assert run(monkeypatch, tasks, *arguments) == 1
    assert "0 of 4 episodes passed." in capsys.readouterr().out
    summaries = [json.loads(path.read_text()) for path in (tmp_path / "run").rglob("episode.json")]
    assert sorted((s["model"], s["attempt"]) for s in summaries) == sorted((m, k) for m in models for k in (1, 2))


def test_another_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script_model: ScriptModel
) -> None:
    """Exit 2, one line, what differs; nothing is touched."""
    arguments = [
        write_tasks(tmp_path, {"id": "a"}),
        "-m",
        script_model({"calls": [bash(SUBMIT)]}),
        "-o",
        tmp_path / "run",
    ]
    run(monkeypatch, *arguments)
    before = sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "run").rglob("*.json*"))
    capsys.readouterr()
    assert run(monkeypatch, *arguments, "-c", "agent.step_limit=3") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "is another run. There, then here: config.agent.step_limit: 40, 3." in line
    assert sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "run").rglob("*.json*")) == before


def test_a_list_in_any_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script_model: ScriptModel) -> None:
    """A folder of tasks runs like a file of them."""
    (tmp_path / "tasks/film").mkdir(parents=True)
    (tmp_path / "tasks/film/task.yaml").write_text(yaml.safe_dump({"brief": "a film"}))
    assert (
        run(monkeypatch, tmp_path / "tasks", "-m", script_model({"calls": [bash(SUBMIT)]}), "-o", tmp_path / "run") == 1
    )
    assert (tmp_path / "run/episodes/film").is_dir()


@pytest.mark.parametrize(
    ("model", "what"),
    [("antropic/claude", "litellm knows no such provider"), ("openai/gpt-5", "set OPENAI_API_KEY in the environment")],
)
def test_a_model_that_cannot_be_called_is_told_before_anything_starts(tmp_path: Path, model: str, what: str) -> None:
    """An unknown provider, or a missing key, is one line and exit status 2; no folder is made."""
    (tmp_path / "tasks.yaml").write_text("tasks: [{id: a, brief: x}]")
    command = [str(Path(sys.executable).with_name("blendscribe")), "run", "tasks.yaml", "-m", model, "-o", "run"]
    environment = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.count("error:")) == (2, 1), ended.stderr
    assert what in ended.stderr
    assert not (tmp_path / "run").exists()


# isolation


def header(run_dir: Path) -> Header:
    (trajectory,) = run_dir.rglob("trajectory.jsonl")
    first = next(iter(read_trajectory(trajectory)))
    assert isinstance(first, Header)
    return first


@pytest.mark.usefixtures("no_user_namespaces")
def test_a_run_refuses_less_than_bubblewrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line: what was measured, why, and what to do; exit 2, and no folder is made."""
    tasks = write_tasks(tmp_path, {"id": "a"}, {"id": "b"})
    assert run(monkeypatch, tasks, "-m", "scripted/demo", "-o", tmp_path / "run") == 2
    (line,) = capsys.readouterr().err.splitlines()
    for part in (
        "error: The isolation here is 'landlock+seccomp'; this run asks for 'bwrap' or stronger.",
        "Measured: a script could see another process and its command line.",
        "Why: bubblewrap does not work here (",
        "What to do: make bubblewrap work",
        "accept it with --allow-isolation landlock+seccomp.",
    ):
        assert part in line
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("no_user_namespaces")
@pytest.mark.parametrize("allowed", ["landlock+seccomp", "limits-only"])
def test_a_weaker_isolation_is_allowed_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script_model: ScriptModel, allowed: str
) -> None:
    """What is allowed and what was measured stand in run.json and in the episode's header; the strongest is taken."""
    name = script_model({"calls": [bash(SUBMIT)]})
    arguments = [write_tasks(tmp_path, {"id": "a"}), "-m", name, "-o", tmp_path / "run", "--allow-isolation", allowed]
    assert run(monkeypatch, *arguments) == 1
    described = json.loads((tmp_path / "run/run.json").read_text())
    assert described["isolation"]["allowed"] == allowed
    assert list(described["isolation"]["measured"]) == ["landlock+seccomp"]
    assert described["config"]["environment"]["harness"]["sandbox"] == "auto"
    first = header(tmp_path / "run")
    assert first.isolation is not None
    assert (first.isolation.allowed, first.isolation.measured) == (allowed, "landlock+seccomp")
    assert first.sandbox_level == "landlock+seccomp"
    assert (first.isolation.could["read_file"], first.isolation.could["see_process"]) == (False, True)


@pytest.mark.usefixtures("no_user_namespaces", "no_landlock")
def test_the_flag_allows_no_less_than_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With limits only, Landlock is not enough to name."""
    tasks = write_tasks(tmp_path, {"id": "a"})
    arguments = [tasks, "-m", "scripted/demo", "-o", tmp_path / "run", "--allow-isolation", "landlock+seccomp"]
    assert run(monkeypatch, *arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "The isolation here is 'limits-only'; this run asks for 'landlock+seccomp' or stronger." in line
    assert "read a file outside the workspace" in line


def test_a_config_that_switches_it_off_needs_the_flag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script_model: ScriptModel
) -> None:
    """`off` alone is refused; with the flag it is as it says."""
    name = script_model({"calls": [bash(SUBMIT)]})
    arguments = [write_tasks(tmp_path, {"id": "a"}), "-m", name, "-o", tmp_path / "run", "-c", "harness.sandbox=off"]
    assert run(monkeypatch, *arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "Why: harness.sandbox is 'off'. What to do: leave harness.sandbox away, or accept it with" in line
    assert run(monkeypatch, *arguments, "--allow-isolation", "limits-only") == 1
    assert header(tmp_path / "run").sandbox_level == "limits-only"


@pytest.mark.usefixtures("no_user_namespaces")
def test_required_is_not_weakened_by_the_flag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A config or a task that says `required` means it."""
    tasks = write_tasks(tmp_path, {"id": "a", "harness": {"sandbox": "required"}})
    arguments = [tasks, "-m", "scripted/demo", "-o", tmp_path / "run", "--allow-isolation", "limits-only"]
    assert run(monkeypatch, *arguments) == 2
    assert "set harness.sandbox to 'auto' instead of 'required'" in capsys.readouterr().err


def test_where_bubblewrap_works_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script_model: ScriptModel
) -> None:
    """It is required from then on, and recorded; the flag would start another run."""
    arguments = [write_tasks(tmp_path, {"id": "a"}), "-m", script_model({"calls": [bash(SUBMIT)]})]
    assert run(monkeypatch, *arguments, "-o", tmp_path / "run") == 1
    first = header(tmp_path / "run")
    assert first.isolation is not None
    assert (first.isolation.allowed, first.isolation.measured) == ("bwrap", "bwrap+seccomp")
    assert first.config["environment"]["harness"]["sandbox"] == "required"
    assert not any(first.isolation.could.values())


# models of configs, and what a run may cost


def test_a_config_may_name_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script_model: ScriptModel
) -> None:
    """Then -m may be left out; without both it is said what to do."""
    name = script_model({"calls": [bash(SUBMIT)]})
    tasks = write_tasks(tmp_path, {"id": "film"})
    assert run(monkeypatch, tasks, "-c", f"model.model_name={name}", "-o", tmp_path / "run") == 1
    assert f"fail     film · {name} · 1 in" in capsys.readouterr().out
    assert run(monkeypatch, tasks, "-o", tmp_path / "other") == 2
    assert "no model: name one with -m, or give a config that does" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_a_ready_config_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`models/NAME.yaml`; here its key is missing, and that is told before anything starts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    tasks = write_tasks(tmp_path, {"id": "film"})
    assert run(monkeypatch, tasks, "-c", "models/mistral.yaml", "-o", tmp_path / "run") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "error: -m mistral/mistral-medium-latest: set MISTRAL_API_KEY in the environment"


def test_a_run_stops_at_its_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1, and it is said how it goes on; the same command with a higher limit completes it."""
    script = ScriptedFile.model_validate(
        {"model": "x", "conversations": [{"when": "", "turns": [{"calls": [bash("true")]}, {"calls": [bash(SUBMIT)]}]}]}
    )
    with loopback(script) as server:
        route = server.route("openrouter")
        given = [part for key, value in route.kwargs.items() for part in ("-c", f"model.model_kwargs.{key}={value}")]
        arguments = [write_tasks(tmp_path, {"id": "film"}), "-m", route.model, "-o", tmp_path / "run", *given]
        assert run(monkeypatch, *arguments, "--cost-limit", "0.000000001") == 1
        text = capsys.readouterr().out
        assert "Stopped: the run's cost limit of $1e-09 is reached" in text
        assert len(server.exchanges) == 1
        assert run(monkeypatch, *arguments, "--cost-limit", "0.000000001") == 1
        text = capsys.readouterr().out
        assert "NotBegun" in text
        assert "0 of 1 episodes passed, 1 without a result" in text
        assert "($0.00 so far)" not in text
        assert len(server.exchanges) == 1
        assert run(monkeypatch, *arguments, "--resume", "--cost-limit", "5") == 1  # nothing good was handed in
        assert "script_missing" in capsys.readouterr().out


def test_resume_begins_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder without a run is refused; a slip in its name starts no run beside it."""
    tasks = write_tasks(tmp_path, {"id": "film"})
    assert run(monkeypatch, tasks, "-m", "scripted/demo", "-o", tmp_path / "rum", "--resume") == 2
    assert "holds no run to continue" in capsys.readouterr().err
    assert not (tmp_path / "rum").exists()
