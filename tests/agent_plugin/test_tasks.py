"""A task is known by its hash, which covers everything that it says and every file that it brings."""

import hashlib
import json
from pathlib import Path
from typing import Any

from agent_plugin.tasks import Task, as_file

GOOD: dict[str, Any] = {"id": "good", "brief": "a film"}
CHECK = {"id": "cube", "type": "object_exists", "parameters": {"target": "Cube"}}
RUBRIC = {"criteria": [{"id": "colour", "text": "The cube is red."}]}


def test_the_hash_covers_everything(tmp_path: Path) -> None:
    """Each field changes the hash, the start file by its bytes and not by its place."""
    for folder, content in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "s.obj").write_text(content)
    variants: list[dict[str, Any]] = [
        {},
        {"id": "other"},
        {"brief": "other"},
        {"harness": {"fps": 12}},
        {"limits": {"steps": 1}},
        {"start_file": tmp_path / "a/s.obj"},
        {"start_file": tmp_path / "c/s.obj"},
        {"checks": [CHECK]},
        {"checks": [CHECK | {"weight": 2.0}]},
        {"rubric": RUBRIC},
        {"checks": [CHECK], "rubric": RUBRIC},
    ]
    hashes = [Task.model_validate(GOOD | variant).sha256 for variant in variants]
    assert len(set(hashes)) == len(variants)
    assert Task.model_validate(GOOD | {"start_file": tmp_path / "b/s.obj"}).sha256 == hashes[5]
    assert Task.model_validate(json.loads(json.dumps(GOOD))).sha256 == hashes[0]


def test_a_task_without_hidden_files_has_its_old_hash() -> None:
    """Runs from before there were checks and rubrics are still the same runs."""
    before: dict[str, Any] = {"id": "good", "kind": "video", "brief": "a film", "start": "factory", "harness": {}}
    before["start_file"] = None
    before["limits"] = {"steps": 0, "cost_usd": 0.0, "seconds": 0}
    expected = hashlib.sha256(json.dumps(before, sort_keys=True).encode()).hexdigest()
    assert Task.model_validate(GOOD).sha256 == expected
    assert Task.model_validate(GOOD | {"checks": None, "rubric": None}).sha256 == expected


def test_the_order_of_keys_means_nothing() -> None:
    """The same checks, written down in another way, are the same task."""
    turned = dict(reversed(CHECK.items()))
    hashes = {Task.model_validate(GOOD | {"checks": [check]}).sha256 for check in (CHECK, turned)}
    assert len(hashes) == 1


def test_a_pinned_file_reads_back_as_what_was_declared() -> None:
    """Letters of any script stay readable in it."""
    content = {"criteria": [{"id": "a", "text": "Grün, 緑"}]}
    assert json.loads(as_file(content)) == content
    assert "Grün, 緑".encode() in as_file(content)
