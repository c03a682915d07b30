"""Checks and rubric of a task: inline or by name, and every fault of them with its file and place."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_plugin.hidden_files import HiddenFiles

CHECK = {"id": "cube", "type": "object_exists", "parameters": {"target": "Cube"}}
RUBRIC = {"criteria": [{"id": "colour", "text": "The cube is red."}]}
BAD_CHECKS = [
    CHECK | {"type": "object_exist"},
    {"id": "big", "type": "dimensions", "parameters": {"target": "Cube", "size": "large"}},
    CHECK,
    CHECK | {"wait": 1},
]


def read(folder: Path, **raw: Any) -> tuple[dict[str, Any], list[str]]:
    contents, faults = HiddenFiles().contents(raw, "tasks.yaml", "tasks[3]", folder)
    return contents, [str(fault).removeprefix("tasks.yaml: ").replace(str(folder), "FOLDER") for fault in faults]


def test_inline_and_by_name_are_the_same(tmp_path: Path) -> None:
    """Content, a name beside the task list, or nothing at all."""
    (tmp_path / "c.json").write_text(json.dumps([CHECK]))
    (tmp_path / "r.json").write_text(json.dumps(RUBRIC))
    assert read(tmp_path, checks=[CHECK], rubric=RUBRIC) == ({"checks": [CHECK], "rubric": RUBRIC}, [])
    assert read(tmp_path, checks="c.json", rubric="r.json") == ({"checks": [CHECK], "rubric": RUBRIC}, [])
    assert read(tmp_path, checks=None) == ({}, [])


def test_every_fault_stands_where_it_is(tmp_path: Path) -> None:
    """Unknown type, wrong parameter, unknown key, double id: in the task list, or in the file that it names."""
    (tmp_path / "c.json").write_text(json.dumps(BAD_CHECKS))
    _, inline = read(tmp_path, checks=BAD_CHECKS)
    _, in_file = read(tmp_path, checks="c.json")
    for place, faults in (("tasks[3].checks", inline), ("FOLDER/c.json: ", in_file)):
        assert len(faults) == 5, faults
        assert faults[0].startswith(f"{place}[0] (cube).type: there is no type 'object_exist'. Did you mean 'object_e")
        assert faults[1].startswith(f"{place}[1] (big).parameters.size: ")
        assert faults[2] == f"{place}[2].id: 'cube' is taken already, by {place.removeprefix('FOLDER/c.json: ')}[0]"
        assert faults[3].startswith(f"{place}[3] (cube).wait: unknown key. Known here: id, ")
        assert faults[4].startswith(f"{place}[3].id: 'cube' is taken already")


@pytest.mark.parametrize(
    ("rubric", "fault"),
    [
        ({}, "tasks[3].rubric.criteria: missing"),
        ([], "tasks[3].rubric: must be a mapping (it is [])"),
        ({"criteria": []}, "tasks[3].rubric.criteria: Tuple should have at least 1 item"),
        ({"criteria": [{"id": "a"}]}, "tasks[3].rubric.criteria[0].text: missing"),
        ({"criteria": [{"id": "a", "text": "x", "weight": "2"}]}, "tasks[3].rubric.criteria[0].weight: Input should"),
        ({"criteria": [{"id": "a", "text": "x"}] * 2}, "tasks[3].rubric: criteria ids stand in it more than once: a"),
        ({"criteria": [{"id": "a", "text": float("nan")}]}, "tasks[3].rubric: holds what JSON cannot (Out of range"),
        ({"criteria": [{"id": "a", "text": {1, 2}}]}, "tasks[3].rubric: holds what JSON cannot (Object of type set"),
        ({"criteria": [{"id": "a", "text": "\ud800"}]}, "tasks[3].rubric: holds what JSON cannot ('utf-8' codec"),
        ("none.json", "tasks[3].rubric: there is no file 'FOLDER/none.json'"),
        (".", "tasks[3].rubric: there is no file 'FOLDER'"),
        ("[" * 5000, "tasks[3].rubric: there is no file 'FOLDER/[["),
        ("half.json", "FOLDER/half.json: not valid JSON (Expecting"),
        ("double.json", "FOLDER/double.json: not valid JSON (the key 'criteria' stands in it twice)"),
        ("deep.json", "FOLDER/deep.json: not valid JSON ("),
        ("binary.json", "FOLDER/binary.json: cannot be read (not UTF-8 text)"),
        ("large.json", "FOLDER/large.json: is larger than 4 MiB"),
        ("wrong.json", "FOLDER/wrong.json: criteria: missing"),
    ],
)
def test_a_rubric_that_is_none(tmp_path: Path, rubric: Any, fault: str) -> None:
    """One fault, with its place."""
    for name, content in (
        ("half", b"{"),
        ("double", b'{"criteria": 1, "criteria": 2}'),
        ("deep", b"[" * 100_000),
        ("binary", b"\xff"),
        ("large", b" " * (4 << 20) + b"[]"),
        ("wrong", b"{}"),
    ):
        (tmp_path / f"{name}.json").write_bytes(content)
    contents, faults = read(tmp_path, rubric=rubric)
    assert contents == {"rubric": None}
    assert len(faults) == 1, faults
    assert faults[0].startswith(fault)


@pytest.mark.parametrize("checks", [{}, [], 3, True])
def test_checks_that_are_none(tmp_path: Path, checks: Any) -> None:
    """An empty list is none either: a task without checks does not name them."""
    assert read(tmp_path, checks=checks)[1] == ["tasks[3].checks: must hold a list of checks, at least one"]


def test_a_file_of_many_tasks_is_read_once(tmp_path: Path) -> None:
    """Its faults are told once."""
    (tmp_path / "c.json").write_text(json.dumps([CHECK | {"type": "nope"}]))
    hidden = HiddenFiles()
    told = [hidden.contents({"checks": "c.json"}, "t.jsonl", "", tmp_path)[1] for _ in range(3)]
    assert [len(faults) for faults in told] == [1, 0, 0]
