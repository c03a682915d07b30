"""`blendscribe tasks`: a list examined, a task shown, samples and hashes that can be had again."""

import collections
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_plugin.cli import main
from agent_plugin.faults import BadInput
from agent_plugin.task_export import sample
from agent_plugin.task_index import TaskIndex, list_hash
from agent_plugin.task_list import load_tasks, read_tasks

CHECKS = [{"id": "cube", "type": "object_exists", "parameters": {"target": "Cube"}}]
RUBRIC = {"criteria": [{"id": "colour", "text": "The cube is red."}]}


def tasks(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Exit status of `blendscribe tasks` with these arguments."""
    monkeypatch.setattr(sys, "argv", ["blendscribe", "tasks", *map(str, arguments)])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Three task folders: a film, a scene with all that there is, and an empty scene."""
    for name, task in {
        "film": {"brief": "A film.", "harness": {"fps": 12}},
        "room": {
            "kind": "scene",
            "brief": "A room, “quoted”.",
            "start_file": "room.blend",
            "limits": {"steps": 3},
        },
        "void": {"kind": "scene", "brief": "x", "start": "empty"},
    }.items():
        (tmp_path / "list" / name).mkdir(parents=True)
        (tmp_path / "list" / name / "task.yaml").write_text(yaml.safe_dump(task))
    room = tmp_path / "list/room"
    (room / "room.blend").write_bytes(b"BLENDER")
    (room / "checks.json").write_text(json.dumps(CHECKS))
    (room / "rubric.json").write_text(json.dumps(RUBRIC))
    return tmp_path / "list"


def lines(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def test_a_sound_list_is_counted(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By kind, and by what the tasks bring."""
    assert tasks(monkeypatch, "validate", folders) == 0
    told = capsys.readouterr()
    parts = "1 with checks; 1 with rubric; 1 with start file."
    assert (told.out, told.err) == (f"{folders}: 3 sound tasks: 2 scene, 1 video; {parts}\n", "")


def test_every_fault_of_a_list_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its line; exit 2, and nothing on stdout."""
    path = lines(tmp_path / "t.jsonl", {"id": "a", "brief": "x"}, {"id": "a", "brief": "x"}, {"id": "b"}, [])
    path.write_bytes(path.read_bytes() + b'{"id": "\xff"}\n')
    assert tasks(monkeypatch, "validate", path) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        f"error: {path}:2: id: 'a' is taken already, by {path}:1",
        f"error: {path}:3: brief: missing",
        f"error: {path}:4: a task must be a mapping, not list",
        f"error: {path}:5: not UTF-8 text",
        f"error: {path}: 4 of 5 tasks have faults",
    ]
    assert tasks(monkeypatch, "validate", tmp_path / "none.jsonl") == 2


def test_a_task_is_shown_resolved(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every setting of the harness, the content of its files, its hash; as YAML or JSON."""
    assert tasks(monkeypatch, "show", folders, "room", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["brief"] == "A room, “quoted”."
    assert shown["harness"]["fps"] == 24.0
    assert (shown["checks"], shown["rubric"]) == (CHECKS, RUBRIC)
    assert shown["start_file"] == str(folders / "room/room.blend")
    assert shown["sha256"] == next(task.sha256 for task in load_tasks(folders) if task.id == "room")
    assert tasks(monkeypatch, "show", folders, "film") == 0
    out = capsys.readouterr().out
    assert out.startswith("# fixed by the task: fps; ")
    assert yaml.safe_load(out)["harness"]["fps"] == 12


def test_an_id_that_there_is_not_gets_near_ones(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2; where other tasks have faults, those are told: it may be one of them."""
    assert tasks(monkeypatch, "show", folders, "rom") == 2
    assert f"error: {folders}: there is no task 'rom'. Did you mean 'room'" in capsys.readouterr().err
    (folders / "void/task.yaml").write_text("colour: red")
    assert tasks(monkeypatch, "show", folders, "film") == 0
    capsys.readouterr()
    assert tasks(monkeypatch, "show", folders, "void") == 2
    assert "colour: unknown key" in capsys.readouterr().err


def test_a_sample_is_complete_and_keeps_hashes(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written into another folder, the start file is found from there; nothing is written over."""
    (tmp_path / "far/away").mkdir(parents=True)
    output = tmp_path / "far/away/s.jsonl"
    assert tasks(monkeypatch, "sample", folders, "-n", 9, "-o", output) == 0
    assert capsys.readouterr().out == f"{output}: 3 tasks.\n"
    assert [t.sha256 for t in load_tasks(output)] == [t.sha256 for t in load_tasks(folders)]
    assert '"start_file": "../../list/room/room.blend"' in output.read_text()
    assert tasks(monkeypatch, "sample", folders, "-n", 9, "-o", output) == 2
    assert tasks(monkeypatch, "sample", folders, "-n", 9, "-o", tmp_path / "s.yaml") == 2
    capsys.readouterr()
    assert tasks(monkeypatch, "sample", folders, "-n", 9) == 0
    (tmp_path / "stdout.jsonl").write_text(capsys.readouterr().out)
    assert [t.sha256 for t in load_tasks(tmp_path / "stdout.jsonl")] == [t.sha256 for t in load_tasks(folders)]


def test_a_sample_of_a_list_with_faults_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every fault, and no file."""
    path = lines(tmp_path / "t.jsonl", {"id": "a", "brief": "x"}, {"id": "b"})
    assert tasks(monkeypatch, "sample", path, "-n", 1, "-o", tmp_path / "s.jsonl") == 2
    assert f"{path}:2: brief: missing" in capsys.readouterr().err
    assert not (tmp_path / "s.jsonl").exists()


def test_samples_are_uniform_ordered_and_the_same_again() -> None:
    """Each of 12 items is in about 4 of 12 samples of 4, none twice in one."""
    drawn = collections.Counter[int]()
    for seed in range(3000):
        one = sample(range(12), 4, seed)
        assert one == sorted(set(one))
        assert len(one) == 4
        drawn.update(one)
    assert all(850 < n < 1150 for n in drawn.values())
    assert sample(range(100), 5, 7) == sample(range(100), 5, 7) != sample(range(100), 5, 8)
    assert sample(range(3), 5, 0) == [0, 1, 2]


def test_hashes_do_not_hang_on_order_and_form(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list's hash is the same for folders, JSON lines, and those backwards; another for other tasks."""
    assert tasks(monkeypatch, "hash", folders, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tasks"] == {task.id: task.sha256 for task in load_tasks(folders)}
    assert tasks(monkeypatch, "sample", folders, "-n", 9, "-o", tmp_path / "s.jsonl") == 0
    backwards = "".join(reversed((tmp_path / "s.jsonl").read_text().splitlines(keepends=True)))
    (tmp_path / "b.jsonl").write_text(backwards)
    capsys.readouterr()
    assert tasks(monkeypatch, "hash", tmp_path / "b.jsonl") == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"{told['list']}  (the list, 3 tasks)"
    assert list_hash([("a", "1")]) != list_hash([("a", "2")]) != list_hash([("b", "2")])


def test_an_index_reads_a_task_when_it_is_asked_for(tmp_path: Path) -> None:
    """The same task as in the whole list; one that has changed meanwhile is refused."""
    path = lines(tmp_path / "t.jsonl", *({"id": f"t{n}", "brief": f"é{n}", "kind": "scene"} for n in range(50)))
    index, whole = TaskIndex(path), load_tasks(path)
    assert index.ids == [task.id for task in whole]
    assert [entry.sha256 for entry in index.entries] == [task.sha256 for task in whole]
    assert all(entry.task is None for entry in index.entries)
    assert [index.task(task.id) for task in whole] == whole
    assert index.sha256 == list_hash((task.id, task.sha256) for task in whole)
    path.write_bytes(path.read_bytes().replace(rb"\u00e933", rb"\u00e934"))
    assert index.task("t32") == whole[32]
    with pytest.raises(BadInput, match=r"t\.jsonl:34: the task 't33' has changed"):
        index.task("t33")
    with pytest.raises(KeyError):
        index.task("none")


def test_an_index_of_folders_keeps_their_tasks(folders: Path) -> None:
    """They cannot be read in parts."""
    index = TaskIndex(folders)
    assert [index.task(task_id) for task_id in index.ids] == load_tasks(folders)


def test_a_start_file_that_changes_changes_the_hash(tmp_path: Path) -> None:
    """Also where it was hashed before: it is read again if its size or time is another."""
    (tmp_path / "a.blend").write_bytes(b"one")
    (task,) = load_tasks(lines(tmp_path / "t.jsonl", {"id": "a", "brief": "x", "start_file": "a.blend"}))
    first = task.sha256
    (tmp_path / "a.blend").write_bytes(b"other")
    assert task.sha256 != first
    (tmp_path / "a.blend").write_bytes(b"one")
    assert task.sha256 == first


def test_a_list_is_read_line_by_line(tmp_path: Path) -> None:
    """The first task is there before the second line is looked at; a duplicate is told at its own line."""
    path = lines(tmp_path / "t.jsonl", {"id": "a", "brief": "x"}, {"id": "a", "brief": "y"})
    entries = read_tasks(path)
    first = next(entries)
    assert first.task
    assert (first.task.id, first.line, first.offset) == ("a", 1, 0)
    second = next(entries)
    assert (second.task, second.line, second.offset) == (None, 2, len(path.read_bytes()) // 2)
