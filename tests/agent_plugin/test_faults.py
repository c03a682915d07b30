"""What is wrong with a file is said in one line: file, place, value, what is allowed."""

import os
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_plugin.faults import BadInput, Fault, faults_of, read_json, read_yaml
from agent_plugin.scripted_file import load_scripted
from agent_plugin.task_list import load_tasks


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    n: Annotated[int, Field(ge=1)] = 1


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    inner: Inner = Inner()
    many: list[Inner] | None = None


def faults(value: object, place: str = "") -> list[str]:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(value)
    return [str(fault) for fault in faults_of(caught.value, Outer, file="f.yaml", place=place)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "f.yaml: name: missing"),
        ({"name": "x", "nam": 1}, "f.yaml: nam: unknown key. Known here: name, inner, many"),
        ({"name": "x", "inner": {"m": 1}}, "f.yaml: inner.m: unknown key. Known here: n"),
        ({"name": "x", "many": [{}, {"m": 1}]}, "f.yaml: many[1].m: unknown key. Known here: n"),
        ({"name": 5}, "f.yaml: name: Input should be a valid string (it is 5)"),
        ({"name": "x", "inner": 7}, "f.yaml: inner: must be a mapping (it is 7)"),
        ({"name": "x", "inner": {"n": 0}}, "f.yaml: inner.n: Input should be greater than or equal to 1 (it is 0)"),
    ],
)
def test_a_fault_names_place_value_and_what_is_allowed(value: object, text: str) -> None:
    """One line for each sort of fault."""
    assert faults(value) == [text]


def test_all_faults_are_listed() -> None:
    """Not only the first."""
    assert len(faults({"inner": {"n": "x", "m": 1}, "many": [{"m": 1}]})) == 4


def test_places_begin_where_the_value_stands() -> None:
    """The place of the value in its file comes first."""
    assert faults({"name": "x", "inner": {"m": 1}}, place="tasks[2]")[0].startswith("f.yaml: tasks[2].inner.m: ")


def test_long_values_are_cut() -> None:
    """A line stays readable."""
    text = faults({"name": ["x" * 500]})[0]
    assert len(text) < 160
    assert text.endswith("...)")


def test_a_fault_is_one_line() -> None:
    """Whatever is in its texts."""
    assert str(Fault("f", "", "a\nb\r\nc")) == "f: a b c"


def test_bad_input_lists_its_faults() -> None:
    """One line each."""
    assert str(BadInput([Fault("f", "a", "x"), Fault("", "", "y")])) == "f: a: x\ny"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"a: 1\nb:\n  c: 1\n  c: 2\n", "line 4, column 3: not valid YAML (the key 'c' stands here twice)"),
        (b"a: [1\nb: 2\n", "line 2, column 2: not valid YAML ("),
        (b"a: 2024-13-45\n", "not valid YAML (month must be in 1..12"),
        (b"a: \xff\n", "cannot be read (not UTF-8 text)"),
        (b"a: \x00\n", "not valid YAML ("),
        (b"[" * 5000, "not valid YAML ("),
        (b"!!python/object:os.system x", "line 1, column 1: not valid YAML ("),
    ],
)
def test_yaml_that_cannot_be_used(tmp_path: Path, content: bytes, text: str) -> None:
    """The fault is located where the parser can tell."""
    path = tmp_path / "f.yaml"
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}: {text}")
    assert "\n" not in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    """It is named, with the system's reason."""
    with pytest.raises(BadInput, match=r"none\.yaml: cannot be read \(No such file"):
        read_yaml(tmp_path / "none.yaml")


def test_only_plain_files_are_read(tmp_path: Path) -> None:
    """A device never ends, and a pipe to which nobody writes keeps its reader waiting: both are refused at once."""
    os.mkfifo(tmp_path / "pipe")
    for path, reason in ((Path("/dev/zero"), "not a plain file"), (tmp_path / "pipe", "not a plain file")):
        for read in (read_yaml, lambda path: read_json(path, 1 << 20)):
            with pytest.raises(BadInput, match=rf"cannot be read \({reason}\)"):
                read(path)
        with pytest.raises(ValueError, match="not a plain file"):
            load_scripted(path)
    with pytest.raises(BadInput, match="Is a directory"):
        read_json(tmp_path, 1 << 20)
    (tmp_path / "tasks.jsonl").symlink_to("/dev/zero")
    with pytest.raises(BadInput, match="not a plain file"):
        load_tasks(tmp_path / "tasks.jsonl")


def test_a_file_over_the_limit(tmp_path: Path) -> None:
    """It is not read on; one of just that size is."""
    (tmp_path / "f.json").write_text("[" + " " * ((1 << 20) - 2) + "]")
    assert read_json(tmp_path / "f.json", 1 << 20) == []
    (tmp_path / "f.json").write_text("[" + " " * (1 << 20) + "]")
    with pytest.raises(BadInput, match="larger than 1 MiB"):
        read_json(tmp_path / "f.json", 1 << 20)


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    """Editors write it; YAML, JSON and JSONL are read all the same."""
    (tmp_path / "f").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_json(tmp_path / "f", 99) == read_yaml(tmp_path / "f") == {"a": 1}
    line = b'{"id": "one", "brief": "A cube."}\n'
    (tmp_path / "tasks.jsonl").write_bytes(b"\xef\xbb\xbf" + line + line.replace(b"one", b"two"))
    assert [task.id for task in load_tasks(tmp_path / "tasks.jsonl")] == ["one", "two"]


def test_merge_keys_are_no_duplicates(tmp_path: Path) -> None:
    """YAML's `<<` may override what it merges."""
    (tmp_path / "f.yaml").write_text("a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  x: 3\n")
    assert read_yaml(tmp_path / "f.yaml")["b"] == {"x": 3, "y": 2}
