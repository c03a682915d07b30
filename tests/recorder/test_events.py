"""`events.jsonl`: whole lines from many threads and launches, torn ones passed over, the last launch found."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.sandbox.owner import this_process
from recorder.events import (
    EVENT,
    EpisodeEnded,
    EpisodeLost,
    EpisodeStarted,
    Event,
    EventLog,
    Paused,
    Resumed,
    Retried,
    RunEnded,
    RunStarted,
    StepEvent,
    line_of,
    parse_event,
    read_events,
)
from recorder.last_launch import read_last_launch, this_machine
from recorder.records import TokenCount


def run_started(pid: int | None = None, process_started: int | None = None, machine: str | None = None) -> RunStarted:
    me = this_process()
    return RunStarted(
        pid=me.pid if pid is None else pid,
        process_started=me.started if process_started is None else process_started,
        machine=machine or this_machine(),
        n_episodes=9,
        n_finished_before=0,
        n_workers=2,
    )


RUN_ENDED = RunEnded(why="", n_passed=1, n_failed=0, n_lost=0, n_not_begun=0)
EVENTS: list[Event] = [
    run_started(),
    EpisodeStarted(task_id="a", model='m/"x"', attempt=1),
    StepEvent(task_id="a", model='m/"x"', attempt=1, step=1, what="model"),
    EpisodeEnded(
        task_id="a",
        model='m/"x"',
        attempt=1,
        verdict="pass",
        exit_status="Submitted",
        n_steps=1,
        seconds=2.5,
        usd=0.1,
        is_cost_known=True,
        tokens=TokenCount(prompt=5, completion=2),
        score=None,
    ),
    EpisodeLost(task_id="b", model="m", attempt=2, ended_as="Timeout", error="no answer\n…", folder="episodes/b"),
    Retried(task_id="b", model="m", attempt=2, loss="provider_down", error="no answer"),
    Paused(model="m", loss="provider_down", error="no answer"),
    Resumed(model="m"),
    RUN_ENDED,
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_every_event_is_one_line_that_reads_as_itself(event: Event) -> None:
    """`kind` first, a time, no line end inside."""
    line = line_of(event)
    assert line.startswith(b'{"kind":"' + event.kind.encode())
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    read = parse_event(line)
    assert read is not None
    assert read.at.endswith("+00:00")
    assert read.model_copy(update={"at": ""}) == event


def test_the_list_of_events_is_tested_whole() -> None:
    """One of each kind."""
    assert {event.kind for event in EVENTS} == set(EVENT.json_schema()["discriminator"]["mapping"])


def test_a_text_that_is_no_text_is_written_all_the_same(tmp_path: Path) -> None:
    """Half a surrogate pair, as undecodable output gives it."""
    log = EventLog(tmp_path / "e")
    log.append(EpisodeLost(task_id="a", model="m", attempt=1, ended_as="X", error="a\udc80b"))
    (event,) = read_events(tmp_path / "e")
    assert isinstance(event, EpisodeLost)
    assert event.error == "a?b"


def test_lines_of_many_threads_and_processes_do_not_mix(tmp_path: Path) -> None:
    """Two processes with four threads each, all on one file."""
    path = tmp_path / "events.jsonl"
    code = (
        "import sys, threading; from pathlib import Path; from recorder.events import *\n"
        "log = EventLog(Path(sys.argv[1]))\n"
        "def write(n):\n"
        "    for i in range(200): log.append(StepEvent(task_id=f't{n}', model='m' * 50, attempt=1, step=i, what='x'))\n"
        "threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    events = list(read_events(path))
    assert len(events) == len(path.read_bytes().splitlines()) == 2 * 4 * 200


def test_a_torn_last_line_spoils_nothing_but_itself(tmp_path: Path) -> None:
    """A launcher was killed in the middle of it; the next one ends it and goes on."""
    path = tmp_path / "e"
    path.write_bytes(line_of(run_started()) + line_of(RUN_ENDED)[:-9])
    assert [event.kind for event in read_events(path)] == ["run_started"]
    log = EventLog(path)
    log.append(run_started())
    log.close()
    assert [event.kind for event in read_events(path)] == ["run_started", "run_started"]
    assert len(path.read_bytes().splitlines()) == 3


def test_lines_that_are_no_events_are_left_out(tmp_path: Path) -> None:
    """Binary waste, another kind, another field, a later version."""
    later = line_of(RUN_ENDED).replace(b'"schema_version":1', b'"schema_version":2')
    lines = [b"\xff\0", b"[]", b'{"kind":"new"}', line_of(RUN_ENDED)[:-2] + b',"x":1}', later.strip(), b""]
    (tmp_path / "e").write_bytes(b"\n".join(lines) + b"\n" + line_of(RUN_ENDED))
    assert len(list(read_events(tmp_path / "e"))) == 1
    assert list(read_events(tmp_path / "none")) == []


def test_a_log_survives_the_kill_of_its_writer(tmp_path: Path) -> None:
    """SIGKILL in the middle of writing: every line but the last can be read, and the next launch goes on."""
    code = (
        "import sys; from pathlib import Path; from recorder.events import *\n"
        "from harness.sandbox.owner import this_process; from recorder.last_launch import this_machine\n"
        "log, me = EventLog(Path(sys.argv[1])), this_process()\n"
        "log.append(RunStarted(pid=me.pid, process_started=me.started, machine=this_machine(), n_episodes=1,\n"
        "    n_finished_before=0, n_workers=1))\n"
        "n = 0\n"
        "while n := n + 1: log.append(StepEvent(task_id='t', model='m' * 500, attempt=1, step=n, what='model'))\n"
    )
    path = tmp_path / "e"
    process = subprocess.Popen([sys.executable, "-c", code, path])
    while not path.exists() or path.stat().st_size < 200_000:
        assert process.poll() is None
    alive = read_last_launch(path)
    assert alive
    assert alive.state == "running"
    process.kill()
    process.wait()
    dead = read_last_launch(path, [("t", "m" * 500, 1)])
    assert dead
    assert dead.state == "killed"
    lines = path.read_bytes().splitlines()
    assert len(lines) - len(list(read_events(path))) <= 1
    EventLog(path).append(run_started())
    again = read_last_launch(path)
    assert again
    assert again.state == "running"


def test_a_disk_that_fails_loses_events_and_not_the_run(tmp_path: Path) -> None:
    """They are counted, with the reason; /dev/full takes nothing."""
    log = EventLog(Path("/dev/full"))
    log.append(RUN_ENDED)
    log.append(RUN_ENDED)
    assert log.n_lost == 2
    assert "No space left" in log.error
    nowhere = EventLog(tmp_path / "no folder" / "e")
    nowhere.append(RUN_ENDED)
    nowhere.close()
    nowhere.append(RUN_ENDED)
    assert nowhere.n_lost == 2
    assert "No such file" in nowhere.error


def written(path: Path, *events: Event) -> Path:
    path.write_bytes(b"".join(map(line_of, events)))
    return path


def test_the_last_launch_tells_what_its_episodes_do(tmp_path: Path) -> None:
    """Its own events alone: not those of the launch before, in which the same episode ran."""
    a, b, c = (("a", "m", 1), ("b", 'm"\\é', 2), ("c", "m", 1))
    started = {key: EpisodeStarted(task_id=key[0], model=key[1], attempt=key[2]) for key in (a, b, c)}
    step = StepEvent(task_id=b[0], model=b[1], attempt=2, step=7, what="run_blender")
    path = written(tmp_path / "e", run_started(), started[c], run_started(), started[a], started[b], step)
    launch = read_last_launch(path, [a, b, c])
    assert launch
    assert launch.state == "running"
    assert {key: event.kind for key, event in launch.newest.items()} == {a: "episode_started", b: "step"}
    newest = launch.newest[b]
    assert isinstance(newest, StepEvent)
    assert (newest.step, newest.what) == (7, "run_blender")
    assert set(launch.begun_at) == {a, b}
    assert launch.last_at == newest.at


def test_pauses_that_last_are_told(tmp_path: Path) -> None:
    """One that ended is not."""
    x, y = Paused(model="x", loss="l", error="e"), Paused(model="y", loss="l", error="e")
    launch = read_last_launch(written(tmp_path / "e", run_started(), x, y, Resumed(model="x")))
    assert launch
    assert [pause.model for pause in launch.pauses] == ["y"]


def test_a_launcher_is_alive_ended_killed_or_elsewhere(tmp_path: Path) -> None:
    """A pid that another process has got meanwhile is not the launcher's."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    states = [
        read_last_launch(written(tmp_path / "e", *events))
        for events in (
            [run_started()],
            [run_started(), RUN_ENDED],
            [run_started(pid=child.pid)],
            [run_started(process_started=1)],
            [run_started(machine="another")],
        )
    ]
    assert [launch.state if launch else None for launch in states] == [
        "running", "ended", "killed", "killed", "elsewhere",
    ]  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"\n\n", b"waste", line_of(RUN_ENDED)])
def test_without_a_beginning_there_is_no_launch(tmp_path: Path, content: bytes) -> None:
    """An empty file, waste, or a log whose head is gone."""
    (tmp_path / "e").write_bytes(content)
    assert read_last_launch(tmp_path / "e") is None
    assert read_last_launch(tmp_path / "none") is None


def test_a_long_log_is_read_over_the_borders_of_blocks(tmp_path: Path) -> None:
    """Several MiB after the launch's beginning; lines across blocks stay whole."""
    steps = [StepEvent(task_id=f"t{n % 50}", model="m" * 90, attempt=1, step=n, what="model") for n in range(20_000)]
    path = written(tmp_path / "e", run_started(), EpisodeStarted(task_id="t7", model="m" * 90, attempt=1), *steps)
    assert path.stat().st_size > 3 << 20
    key = ("t7", "m" * 90, 1)
    launch = read_last_launch(path, [key])
    assert launch
    newest = launch.newest[key]
    assert isinstance(newest, StepEvent)
    assert newest.step == 19_957
    assert key in launch.begun_at


def test_a_log_that_grows_can_be_read(tmp_path: Path) -> None:
    """A reader beside a writer sees whole events, never fewer than before."""
    log, ended = EventLog(tmp_path / "e"), threading.Event()
    log.append(run_started())

    def write() -> None:
        for n in range(2000):
            log.append(StepEvent(task_id="t", model="m", attempt=1, step=n, what="model"))
        ended.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen = []
    while not ended.is_set():
        launch = read_last_launch(tmp_path / "e", [("t", "m", 1)])
        assert launch
        step = launch.newest.get(("t", "m", 1))
        seen.append(step.step if isinstance(step, StepEvent) else -1)
    thread.join()
    assert seen == sorted(seen)
    assert os.path.getsize(tmp_path / "e") > 100_000  # noqa: PTH202
