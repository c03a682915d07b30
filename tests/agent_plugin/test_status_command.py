"""`blendscribe status`: what a run came to, in tables and as JSON, finished, broken, or while it is written."""

import json
import os
import pty
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agent_plugin.cli import main
from harness.sandbox.owner import this_process
from recorder.events import EpisodeStarted, EventLog, Paused, RunEnded, RunStarted, StepEvent
from recorder.last_launch import this_machine
from recorder.paths import RunPaths
from recorder.records import Cost, TokenCount
from tests.recorder.made_runs import score, summary, write_plan, write_result

A, B = "openai/a", "ollama_chat/b"


def status(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Exit status of `blendscribe status` with these arguments."""
    monkeypatch.setattr(sys, "argv", ["blendscribe", "status", *map(str, arguments)])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *runs: Path) -> dict[str, Any]:
    assert status(monkeypatch, *runs, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def run_started(**facts: Any) -> RunStarted:
    me = this_process()
    stated: dict[str, Any] = {
        "pid": me.pid, "process_started": me.started, "machine": this_machine(), "n_episodes": 8,
        "n_finished_before": 0, "n_workers": 2,
    }  # fmt: skip
    return RunStarted(**(stated | facts))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two tasks, two models, two attempts. A passes 3 of 4, B 1 of 2; B's other episodes have no result."""
    root = write_plan(tmp_path / "run", ["x", "y"], [A, B], 2)
    tokens = TokenCount(prompt=1000, completion=100)
    for task, attempt, passed in (("x", 1, True), ("x", 2, True), ("y", 1, True), ("y", 2, False)):
        write_result(root, summary(task, A, attempt, passed=passed, tokens=tokens, score=score(0.75)))
    write_result(root, summary("x", B, 1))
    unknown = Cost(usd=0.0, is_known=False)
    write_result(root, summary("x", B, 2, passed=False, exit_status="LimitsExceeded", problems=[], cost=unknown))
    for number in (1, 2):
        aside = RunPaths(root).episode("y", B, 1).root.with_name(f"1.infrastructure-{number}")
        aside.mkdir(parents=True)
        end = {"kind": "end", "seq": 1, "exit_status": "RateLimited", "error": f"429 for the {number}. time"}
        (aside / "trajectory.jsonl").write_text('{"kind": "header"}\n' + json.dumps(end) + "\n")
    return root


def test_everything_is_counted_once(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Planned episodes add up; lost ones are in no rate; figures of each model and task."""
    report = as_json(monkeypatch, capsys, run)
    counts = report["counts"]
    assert {name: n for name, n in counts.items() if n} == {
        "n_planned": 8, "n_passed": 4, "n_failed": 2, "n_lost": 1, "n_not_begun": 1,
    }  # fmt: skip
    a, b = report["models"]
    assert (a["model"], a["figures"]["n"], a["figures"]["n_passed"], a["pass_rate"]["value"]) == (A, 4, 3, 0.75)
    assert a["figures"]["pass_at"]["2"]["value"] == 1.0
    assert a["figures"]["score"]["value"] == 0.75
    assert (a["figures"]["usd"], a["figures"]["n_cost_unknown"]) == (2.0, 0)
    assert (a["figures"]["prompt_tokens"], a["figures"]["n_tokens_unknown"]) == (4000, 0)
    assert a["figures"]["failures"] == {"check_failed": 1}
    assert (b["figures"]["n"], b["pass_rate"]) == (2, {"value": 0.5, "interval": None, "n_tasks": 1})
    assert b["figures"]["failures"] == {"LimitsExceeded": 1}
    assert (b["figures"]["score"], b["figures"]["n_cost_unknown"], b["figures"]["n_tokens_unknown"]) == (None, 1, 2)
    assert [(one["task"], one["model"]) for one in report["tasks"]] == [("x", A), ("x", B), ("y", A)]
    assert report["tasks"][0]["interval"]["low"] == pytest.approx(0.342, abs=1e-3)
    (comparison,) = report["comparisons"]
    assert (comparison["pass_rate"]["estimate"]["value"], comparison["pass_rate"]["better"]) == (0.5, ["x"])
    assert comparison["score"] is None
    (lost,) = report["lost"]
    assert (lost["why"], lost["ended_as"], lost["n"]) == ("infrastructure", "RateLimited", 2)
    assert lost["last_error"] == "429 for the 2. time"


def test_a_person_reads_tables(run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Not on a terminal: aligned text without lines, and no cut at 80 columns."""
    assert status(monkeypatch, run) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[1] == "6 of 8 episodes are finished: 4 passed, 2 failed, 1 lost, 1 not begun."
    assert "─" not in out
    cells = [re.split("  +", line) for line in lines if line.startswith((A, B))]
    a, b, took_a, took_b = cells[:4]
    assert a == [A, "4/4", "75% [1, 100]", "100% [34, 100]", "0.75"]
    assert b == [B, "2/4", "50%", "100%"]
    assert took_a == [A, "5.0", "60", "$2.0000", "4000", "400"]
    assert took_b == [B, "5.0", "60", "$0.5000 + unknown", "unknown", "unknown"]
    assert next(line.split() for line in lines if "LimitsExceeded" in line) == [B, "LimitsExceeded", "1", "50%"]
    assert any("RateLimited" in line and "429 for the 2. time" in line for line in lines)


def test_several_runs_are_taken_as_one(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Attempts at the same task are put together; a task of the same id that is another one is kept apart."""
    other = write_plan(tmp_path / "other", ["x", "y"], [B], 1)
    write_result(other, summary("x", B, 1, passed=False))
    write_result(other, summary("y", B, 1, task_sha256="another"))
    report = as_json(monkeypatch, capsys, run, other)
    assert [(m["model"], m["figures"]["n"]) for m in report["models"]] == [(A, 4), (B, 4)]
    assert [(t["task"], t["model"], t["figures"]["n"]) for t in report["tasks"]] == [
        ("x", A, 2), ("x", B, 3), ("y@sha of y", A, 2), ("y@another", B, 1),
    ]  # fmt: skip
    assert report["counts"]["n_planned"] == 10
    assert any("kept apart, by their hash: y." in note for note in report["notes"])
    assert [state["run"] for state in report["runs"]] == [str(run), str(other)]


def test_what_runs_now_is_told(run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """From the events of a launcher that lives; a folder that an earlier launch left behind does not run."""
    RunPaths(run).episode("y", B, 1).root.mkdir()
    RunPaths(run).episode("y", B, 2).root.mkdir()
    log = EventLog(run / "events.jsonl")
    log.append(run_started())
    log.append(EpisodeStarted(task_id="y", model=B, attempt=1))
    log.append(run_started())
    log.append(EpisodeStarted(task_id="y", model=B, attempt=2))
    log.append(StepEvent(task_id="y", model=B, attempt=2, step=3, what="run_blender"))
    log.append(Paused(model=A, loss="rate_limit", error="429"))
    report = as_json(monkeypatch, capsys, run)
    (running,) = report["running"]
    assert [running[name] for name in ("task_id", "model", "attempt", "step", "what")] == ["y", B, 2, 3, "run_blender"]
    assert running["since"] <= running["step_since"]
    assert (report["counts"]["n_running"], report["counts"]["n_interrupted"]) == (1, 1)
    assert (report["runs"][0]["state"], report["runs"][0]["held_back"]) == ("running", {A: "429"})
    assert status(monkeypatch, run) == 0
    out = capsys.readouterr().out
    assert "running; last event 0 s ago." in out
    assert f"held back: {A}: 429" in out
    assert "3: run_blender" in out


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([run_started(pid=2**22 - 1)], "was killed; the same command goes on"),
        ([run_started(machine="m")], "another machine or container"),
        (
            [run_started(), RunEnded(why="stopped by the user", n_passed=1, n_failed=0, n_lost=0, n_not_begun=1)],
            "its last launcher has ended (stopped by the user).",
        ),
    ],
)
def test_the_launcher_s_end_is_told(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], events: list[Any], words: str
) -> None:
    """What it had begun was interrupted, unless it may go on out of our sight."""
    RunPaths(run).episode("y", B, 2).root.mkdir()
    log = EventLog(run / "events.jsonl")
    log.append(events[0])
    log.append(EpisodeStarted(task_id="y", model=B, attempt=2))
    for event in events[1:]:
        log.append(event)
    assert status(monkeypatch, run) == 0
    out = capsys.readouterr().out
    assert words in out
    assert ("1 running" if "another machine" in words else "1 interrupted") in out


def test_damaged_files_are_listed_and_not_fatal(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Torn, of a later version, of another episode, a link, a folder; and run.json itself."""
    for number, content in enumerate(("{", '{"schema_version": 9}', summary("x", A, 1).model_dump_json()), start=3):
        folder = RunPaths(run).episode("x", A, number).root
        folder.mkdir()
        (folder / "episode.json").write_text(content)
    RunPaths(run).episode("x", A, 6).root.mkdir()
    (RunPaths(run).episode("x", A, 6).root / "episode.json").symlink_to("/nonexistent")
    (RunPaths(run).episode("x", A, 7).root / "episode.json").mkdir(parents=True)
    report = as_json(monkeypatch, capsys, run)
    whys = [report["damaged"][f"{run}/episodes/x/openai--a/{n}/episode.json"] for n in range(3, 8)]
    for why, words in zip(
        whys, ("not valid JSON", "is newer than", f"is of x, {A}, attempt 1", "plain file", "plain file"), strict=True
    ):
        assert words in why
    assert report["counts"]["n_damaged"] == 5
    assert report["models"][0]["figures"]["n"] == 4
    (run / "run.json").write_text("{}")
    report = as_json(monkeypatch, capsys, run)
    assert "missing" in report["damaged"][f"{run}/run.json"].lower() or report["damaged"][f"{run}/run.json"]
    assert report["counts"]["n_not_begun"] == 0


def test_what_is_no_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, every fault in one go."""
    assert status(monkeypatch, tmp_path, tmp_path / "none") == 2
    assert capsys.readouterr().err.splitlines() == [
        f"error: {tmp_path}: is not the folder of a run: it holds neither run.json nor episodes/",
        f"error: {tmp_path / 'none'}: there is no such folder",
    ]


def test_a_run_that_has_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No rate, no table of tasks, no fault."""
    write_plan(tmp_path / "r", ["x"], [A], 1)
    assert status(monkeypatch, tmp_path / "r") == 0
    out = capsys.readouterr().out
    assert "0 of 1 episodes are finished: 0 passed, 0 failed, 1 not begun." in out
    assert "By task" not in out


def test_what_is_left_out_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows beyond forty, and the ends of long texts."""
    root = write_plan(tmp_path / "r", [f"t{n:03}" for n in range(60)], [A], 1)
    for n in range(60):
        write_result(root, summary(f"t{n:03}", A, 1))
    aside = root / "episodes/t000/openai--a/2.infrastructure-1"
    aside.mkdir()
    (aside / "lost.json").write_text(json.dumps({"ended_as": "X", "error": "\x1b[31m" + "long " * 90}))
    assert status(monkeypatch, root) == 0
    out = capsys.readouterr().out
    assert "… and 20 more rows: --json prints all of them." in out
    assert "are cut after 100 characters" in out
    assert "\x1b" not in out


def test_a_terminal_gets_tables_that_fit(run: Path) -> None:
    """On 100 columns every name can be read."""
    main_end, other = pty.openpty()
    environment = os.environ | {"COLUMNS": "100", "TERM": "xterm"}
    command = [sys.executable, "-c", "from agent_plugin.cli import main; main()", "status", str(run)]
    process = subprocess.Popen(command, stdout=other, env=environment)
    os.close(other)
    shown = b""
    try:
        while block := os.read(main_end, 65536):
            shown += block
    except OSError:  # the other end is closed
        pass
    os.close(main_end)
    assert process.wait() == 0
    assert "──".encode() in shown
    assert b"RateLimited" in shown


def test_a_run_that_is_being_written_can_be_read_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Folders appear, are moved aside and get their result while it reads; what it counts only grows."""
    root = write_plan(tmp_path / "r", [f"t{n}" for n in range(150)], [A], 1)
    is_over = threading.Event()

    def write() -> None:
        for n in range(150):
            folder = RunPaths(root).episode(f"t{n}", A, 1).root
            folder.mkdir(parents=True)
            folder.rename(folder.with_name("1.interrupted-1"))
            time.sleep(0.001)
            folder.mkdir()
            temporary = folder / ".episode.json.1.tmp"
            temporary.write_text(summary(f"t{n}", A, 1).model_dump_json())
            temporary.replace(folder / "episode.json")
        is_over.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen = []
    while not is_over.is_set():
        report = as_json(monkeypatch, capsys, root)
        assert report["counts"]["n_planned"] == 150
        assert report["damaged"] == {}
        seen.append(report["counts"]["n_passed"])
    thread.join()
    assert seen == sorted(seen)
    assert as_json(monkeypatch, capsys, root)["counts"]["n_passed"] == 150


def test_it_starts_without_what_it_does_not_need(run: Path) -> None:
    """Neither litellm nor mini-swe-agent nor numpy is imported: it would take seconds."""
    code = (
        "import sys\nfrom agent_plugin.cli import main\ntry: main()\n"
        "finally: print({'litellm', 'minisweagent', 'numpy'} & set(sys.modules), file=sys.stderr)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, "status", str(run)], capture_output=True, text=True, check=True)
    assert ended.stderr == "set()\n"
