"""Task lists in their three forms, and every fault of one in one go."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_plugin.faults import BadInput
from agent_plugin.task_list import load_tasks
from harness.settings import HarnessSettings


def write(folder: Path, *tasks: Any) -> Path:
    path = folder / "tasks.yaml"
    path.write_text(yaml.safe_dump({"tasks": list(tasks)}))
    return path


def faults_of(path: Path, base: HarnessSettings | None = None) -> list[str]:
    """The faults of a list, without its name."""
    with pytest.raises(BadInput) as caught:
        load_tasks(path, base)
    return [str(fault).removeprefix(f"{path}: ").removeprefix(f"{path}") for fault in caught.value.faults]


ROOT = Path(__file__).resolve().parents[2]
GOOD: dict[str, Any] = {"id": "good", "brief": "a film"}
CHECKS = [
    {"id": "cube", "type": "object_exists", "parameters": {"target": "Cube"}},
    {"id": "closed", "type": "manifold", "parameters": {"target": "Cube"}, "weight": 2, "required": False},
]
RUBRIC = {"criteria": [{"id": "colour", "text": "The cube is red."}]}


def test_yaml(tmp_path: Path) -> None:
    """A list below `tasks:`, in its order."""
    tasks = load_tasks(
        write(tmp_path, GOOD, {"id": "b", "brief": " x \n", "harness": {"fps": 12}, "limits": {"steps": 3}})
    )
    assert [task.id for task in tasks] == ["good", "b"]
    assert (tasks[1].brief, tasks[1].limits.steps) == ("x", 3)


def test_yaml_without_a_top_key(tmp_path: Path) -> None:
    """A bare list will do."""
    (tmp_path / "t.yml").write_text("- {id: a, brief: x}")
    assert [task.id for task in load_tasks(tmp_path / "t.yml")] == ["a"]


def test_json_lines(tmp_path: Path) -> None:
    """One task a line; blank lines and other line ends inside strings do not matter."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "a", "brief": "x\u2028y\u0085z"}\r\n\n  \n{"id": "b", "brief": "y"}', encoding="utf-8")
    assert [(task.id, task.brief) for task in load_tasks(path)] == [("a", "x\u2028y\u0085z"), ("b", "y")]


def test_folders(tmp_path: Path) -> None:
    """A folder a task: its name is the id, brief.md may hold the brief, files are beside it."""
    for name, content in (("a", "{}"), ("b", "brief: from yaml\nstart_file: model.obj")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "task.yaml").write_text(content)
        (tmp_path / name / "brief.md").write_text(f"brief of {name}\n")
    (tmp_path / "b/model.obj").write_text("o x")
    (tmp_path / "no-task").mkdir()
    first, second = load_tasks(tmp_path)
    assert (first.id, first.brief) == ("a", "brief of a")
    assert (second.id, second.brief, second.start_file) == ("b", "from yaml", tmp_path / "b/model.obj")


def test_every_fault_is_listed_at_once(tmp_path: Path) -> None:
    """Unknown keys at each level, wrong types and values, missing things, doubles: each with its place."""
    path = write(
        tmp_path,
        GOOD,
        {"id": "b", "brief": "x", "harness": {"fps": "fast", "resolution": [64], "framecount": 3}, "breif": "y"},
        {"id": "good", "brief": "", "kind": "movie", "limits": {"step": 1, "cost_usd": -1}},
        {"id": "Not an id", "brief": "x", "start_file": "none.blend"},
        {"id": "b"},
        "text",
        {"id": "c", "brief": "x", "start_file": "none.blend"},
        {"id": "d", "brief": "x", "harness": None, "limits": 3},
    )
    known = ", ".join(HarnessSettings.model_fields)
    assert faults_of(path) == [
        "tasks[1].harness.resolution[1]: missing",
        "tasks[1].harness.fps: Input should be a valid number, unable to parse string as a number (it is 'fast')",
        f"tasks[1].harness.framecount: unknown key. Known here: {known}",
        "tasks[1].breif: unknown key. Known here: id, kind, brief, start_file, start, harness, limits, checks, rubric",
        "tasks[2].kind: Input should be 'video' or 'scene' (it is 'movie')",
        "tasks[2].brief: String should have at least 1 character (it is '')",
        "tasks[2].limits.cost_usd: Input should be greater than or equal to 0 (it is -1)",
        "tasks[2].limits.step: unknown key. Known here: steps, cost_usd, seconds",
        f"tasks[2].id: 'good' is taken already, by {path} tasks[0]",
        "tasks[3].id: String should match pattern '^[a-z0-9][a-z0-9_-]{0,79}$' (it is 'Not an id')",
        "tasks[4].brief: missing",
        f"tasks[4].id: 'b' is taken already, by {path} tasks[1]",
        "tasks[5]: a task must be a mapping, not str",
        f"tasks[6].start_file: there is no file '{tmp_path}/none.blend'",
        "tasks[7].harness: must be a mapping (it is None)",
        "tasks[7].limits: must be a mapping (it is 3)",
    ]


def test_a_bad_line_of_json_hides_no_other(tmp_path: Path) -> None:
    """Faults of all lines are listed, each behind its line's number."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "a", "brief": "x", "harness": {"fps": 0}}\n{"id": \n[]\n{"id": "b"}\n')
    assert faults_of(path) == [
        ":1: harness.fps: Input should be greater than 0 (it is 0)",
        ":2: not valid JSON (Expecting value: line 1 column 8 (char 7))",
        ":3: a task must be a mapping, not list",
        ":4: brief: missing",
    ]


def test_a_bad_folder_hides_no_other(tmp_path: Path) -> None:
    """Each task.yaml is a file of its own."""
    for name, content in (("a", "x: [1"), ("b", "colour: 1\nbrief: x"), ("c", "brief: 1\nbrief: 2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "task.yaml").write_text(content)
    faults = faults_of(tmp_path)
    assert len(faults) == 3
    assert faults[0].startswith("/a/task.yaml: line 1, column 6: not valid YAML")
    assert faults[1].startswith("/b/task.yaml: colour: unknown key.")
    assert faults[2] == "/c/task.yaml: line 2, column 1: not valid YAML (the key 'brief' stands here twice)"


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("t.yaml", "tasks: []", "holds no task"),
        ("t.yaml", "", "must hold a list of tasks"),
        ("t.yaml", "tasks: []\nmore: 1", "must hold a list of tasks, or `tasks:` and nothing beside it"),
        ("t.yaml", "tasks: {a: 1}", "must hold a list of tasks"),
        ("t.yaml", "tasks: [{id: a, id: b}]", "line 1, column 17: not valid YAML (the key 'id' stands here twice)"),
        ("t.yaml", "}{", "line 1, column 1: not valid YAML"),
        ("t.jsonl", "\n", "holds no task"),
        ("t.txt", "x", "not a task list: give a .yaml or .jsonl file, or a folder of task folders"),
        ("none/t.yaml", None, "cannot be read (No such file or directory)"),
        ("none.jsonl", None, "cannot be read ("),
        ("none", None, "there is no such file or folder"),
    ],
)
def test_a_list_that_is_none(tmp_path: Path, name: str, content: str | None, text: str) -> None:
    """One fault that says what to give."""
    if content is not None:
        (tmp_path / name).write_text(content)
    faults = faults_of(tmp_path / name)
    assert len(faults) == 1
    assert faults[0].startswith(text)


def test_a_folder_without_tasks(tmp_path: Path) -> None:
    """It is no empty list."""
    assert faults_of(tmp_path) == ["holds no folder with a task.yaml"]


def test_settings_are_checked_on_top_of_the_config(tmp_path: Path) -> None:
    """What is wrong only together with the config is found, and what is right only with it is let through."""
    base = HarnessSettings(frame_count=24, max_frame_count=48)
    path = write(tmp_path, GOOD | {"harness": {"frame_count": 72}})
    assert faults_of(path, base)[0].startswith("tasks[0].harness: max_frame_count (48) is less than frame_count (72)")
    (task,) = load_tasks(write(tmp_path, GOOD | {"harness": {"max_frame_count": 30}}), base)
    assert task.settings(base).max_frame_count == 30


def test_a_start_file_may_not_hide_the_tasks_own_files(tmp_path: Path) -> None:
    """An episode keeps brief.md and task.json beside it."""
    (tmp_path / "task.json").write_text("{}")
    assert faults_of(write(tmp_path, GOOD | {"start_file": "task.json"})) == [
        "tasks[0].start_file: may not be named 'task.json'"
    ]


def test_a_task_folder_brings_its_hidden_files(tmp_path: Path) -> None:
    """checks.json and rubric.json lie beside task.yaml; what the task says itself goes first, null means none."""
    for name, content in (("a", "{}"), ("b", "rubric: null\nchecks: other.json")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "task.yaml").write_text(content)
        (tmp_path / name / "brief.md").write_text("x")
        (tmp_path / name / "checks.json").write_text(json.dumps(CHECKS))
        (tmp_path / name / "rubric.json").write_text(json.dumps(RUBRIC))
    (tmp_path / "b/other.json").write_text(json.dumps(CHECKS[:1]))
    first, second = load_tasks(tmp_path)
    assert (first.checks, first.rubric) == (tuple(CHECKS), RUBRIC)
    assert (second.checks, second.rubric) == (tuple(CHECKS[:1]), None)


def test_a_link_that_leads_nowhere_takes_no_checks_away(tmp_path: Path) -> None:
    """A task folder whose checks.json is a broken link is a fault, not a task without checks."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/task.yaml").write_text("brief: x")
    (tmp_path / "a/checks.json").symlink_to("none.json")
    assert faults_of(tmp_path) == [f"/a/task.yaml: checks: there is no file '{tmp_path}/a/checks.json'"]


def test_a_line_is_whole_by_itself(tmp_path: Path) -> None:
    """A JSONL of tasks needs no other file: checks and rubric stand in it. A key that stands twice is a fault."""
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(GOOD | {"checks": CHECKS, "rubric": RUBRIC}))
    (task,) = load_tasks(path)
    assert (task.checks, task.rubric) == (tuple(CHECKS), RUBRIC)
    path.write_text('{"id": "a", "brief": "x", "rubric": {"criteria": [], "criteria": []}}')
    assert faults_of(path) == [":1: not valid JSON (the key 'criteria' stands in it twice)"]


def test_a_long_list_without_checks_is_read_fast(tmp_path: Path) -> None:
    """The types of checks, which take a second to import, are not; 20,000 lines take 0.1 ms each, with room."""
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"t{number}", "brief": "x"}) for number in range(20_000)))
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom agent_plugin.task_list import load_tasks\n"
        "begun = time.process_time()\nn = len(load_tasks(Path(sys.argv[1])))\n"
        "print(n, time.process_time() - begun, 'harness.checks.types' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True, cwd=ROOT)
    n, seconds, has_types = done.stdout.split()
    assert (n, has_types) == ("20000", "False")
    assert float(seconds) < 6
