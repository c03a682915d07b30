"""What a task is judged by is kept from its agent: a hunt for planted words in everything that it can read."""

import json
import os
import re
import secrets
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.interpreter import PROJECT_DIR
from tests.conftest import FILM, RENDER, TINY
from tests.machines import NO_NAMESPACES

pytestmark = pytest.mark.blender

HAND_IN = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
HUNT = r"""
import os, stat
mark, found, n = b'hidd' + b'en-word-', set(), 0
given, seen = <given>, set()
def look(name):
    global n
    try:
        if stat.S_ISREG(os.stat(name).st_mode):  # what is in a pipe is for another
            with open(name, 'rb', 0) as file:
                n += 1
                found.update([os.fsdecode(name)] if mark in file.read(1 << 20) else [])
    except OSError:
        pass
def is_new(folder):
    try:
        state = os.stat(folder)
    except OSError:
        return False
    known = (state.st_dev, state.st_ino) in seen
    seen.add((state.st_dev, state.st_ino))
    return not known
def walk(folder, depth=0):
    if depth > 12 or not is_new(folder):
        return
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            walk(entry.path, depth + 1)
        else:
            look(entry.path)
processes = [name for name in os.listdir('/proc') if name.isdigit()] if <everywhere> else ['self']
for process in processes:
    for name in ('environ', 'cmdline', 'maps', 'mountinfo', 'comm', *(f'fd/{number}' for number in range(40))):
        look(f'/proc/{process}/{name}')
# what is the same everywhere, and large
large = ['/usr', '/sys', '/proc', *(f'/opt/{name}' for name in ('blender', 'mesa', 'packages', 'agent'))]
[is_new(name) for name in (*large, '/opt/python-agent', '/opt/python-blender', <installed>)]
roots = [*given, '.', *(['..', '../..', '../../..', '/'] if <everywhere> else [])]
for process in processes:
    roots += [f'/proc/{process}/cwd', *(f'/proc/{process}/root{place}' for place in given)]
for root in roots:
    walk(root)
for place in ('..', '../task', *given, *(f'{place}/tasks/{kind}' for place in given for kind in ('video', 'scene'))):
    for name in ('checks.json', 'rubric.json', 'task.json', 'task.yaml'):
        look(f'{place}/{name}')
found.update(['environment'] if any(mark in f'{k}={v}'.encode() for k, v in os.environ.items()) else [])
print('HUNT', n, 'files')
print('FOU' + 'ND' if found else 'nothing', sorted(found)[:50])
"""
"""Reads every file that can be found or guessed, and names those with a planted word in them."""


@dataclass(frozen=True)
class Planted:
    """A folder of two tasks with a word in each hidden place, and a model that looks for it."""

    folder: Path
    words: dict[str, str]

    @property
    def tasks(self) -> Path:
        return self.folder / "tasks"

    def hunt(self, *, everywhere: bool = True) -> str:
        """`everywhere`: not in the planted folder alone. Only for a sandbox: a machine is large."""
        installed = ", ".join(map(repr, (sys.prefix, sys.base_prefix, str(PROJECT_DIR / ".venv-blender"))))
        hunt = HUNT.replace("<given>", repr([str(self.folder)])).replace("<installed>", installed)
        return hunt.replace("<everywhere>", repr(everywhere))

    def within(self, content: bytes) -> list[str]:
        return [place for place, word in self.words.items() if word.encode() in content]


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    words = {place: f"hidden-word-{place}-{secrets.token_hex(8)}" for place in ("id", "parameter", "rubric")}
    checks = [{"id": words["id"], "type": "object_exists", "parameters": {"target": words["parameter"]}}]
    rubric = {"criteria": [{"id": "a", "text": f"It shows {words['rubric']}."}]}
    for kind in ("video", "scene"):
        folder = tmp_path / "tasks" / kind
        folder.mkdir(parents=True)
        task = {"kind": kind, "brief": f"a {kind}", "harness": {**TINY, "resolution": [64, 36]}}
        (folder / "task.yaml").write_text(yaml.safe_dump(task))
        (folder / "checks.json").write_text(json.dumps(checks))
        (folder / "rubric.json").write_text(json.dumps(rubric))
    return Planted(tmp_path, words)


def turns(planted: Planted, kind: str) -> list[dict[str, Any]]:
    """Bash and Blender look, each by every way that there is into it."""
    write = f"cat > hunt.py <<'END'\n{planted.hunt()}\nEND\ncat > main.py <<'END'\n{planted.hunt()}\n{FILM}{RENDER}END"
    bash = {"tool": "bash", "arguments": {"command": f"{write}\nexport -p; set; python3 hunt.py"}}
    inner = {"tool": "bash", "arguments": {"command": "run_blender main.py"}}
    code = {"code": planted.hunt()} if kind == "scene" else {"script": "main.py"}
    hand_in = {"code": f"print('{HAND_IN}')"} if kind == "scene" else {"command": f"echo {HAND_IN}"}
    last = {"tool": "run_blender" if kind == "scene" else "bash", "arguments": hand_in}
    blender = {"tool": "run_blender", "arguments": code}
    return [{"text": "looking", "calls": [call]} for call in (bash, blender, inner, last)]


def no_bubblewrap(folder: Path) -> Path:
    """A folder with a bubblewrap that ends as the real one does where user namespaces are forbidden."""
    folder.mkdir()
    (folder / "bwrap").write_text(f'#!/bin/sh\n[ "$1" = --help ] && exit 0\necho "{NO_NAMESPACES}" >&2\nexit 1\n')
    (folder / "bwrap").chmod(0o755)
    return folder


def test_the_hunt_finds_what_is_not_hidden(planted: Planted) -> None:
    """Outside a sandbox it does find both files: it can fail."""
    done = subprocess.run(
        [sys.executable, "-c", planted.hunt(everywhere=False)],
        cwd=planted.folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "FOUND" in done.stdout, done.stdout + done.stderr
    assert all(f"{kind}/{name}.json" in done.stdout for kind in ("video", "scene") for name in ("checks", "rubric"))


def test_what_is_installed_holds_no_checks() -> None:
    """Installed packages can be read in an agent's shell: ready tasks, with checks and solutions, are none of them."""
    packages = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    held = [PROJECT_DIR / package.replace(".", "/") for package in packages]
    assert [str(folder) for folder in held if list(folder.glob("checks.json"))] == []
    assert not any(package.startswith("configs.tasks") for package in packages)


@pytest.mark.parametrize("level", ["bwrap", "landlock+seccomp"])
def test_no_check_and_no_rubric_reaches_the_agent(planted: Planted, tmp_path: Path, level: str) -> None:
    """Not by bash, a step, a script or `run_blender` in a shell, in neither kind of task; the record has them apart."""
    conversations = [{"when": f"a {kind}", "turns": turns(planted, kind)} for kind in ("video", "scene")]
    model, run = tmp_path / "model.yaml", tmp_path / "run"
    model.write_text(yaml.safe_dump({"model": "hunter", "conversations": conversations}))
    environment = dict(os.environ)
    if level != "bwrap":
        environment["PATH"] = f"{no_bubblewrap(tmp_path / 'bin')}:{environment['PATH']}"
    words = ["run", planted.tasks, "-m", f"scripted/{model}", "-o", run, "--allow-isolation", level, "-w", "2"]
    program = [sys.executable, "-c", "from agent_plugin.cli import main\nmain()"]
    done = subprocess.run(
        [*program, *map(str, words), "-c", "model.bash=true"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=170,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    for kind in ("video", "scene"):
        (trajectory,) = run.glob(f"episodes/{kind}/*/1/trajectory.jsonl")
        assert planted.within(trajectory.read_bytes()) == []
        lines = [json.loads(line) for line in trajectory.read_text().splitlines()]
        assert lines[0]["sandbox_level"].startswith(level)
        outputs = [execution["output"] for line in lines for execution in line.get("executions", [])]
        looked = [int(found[1]) if (found := re.search(r"HUNT (\d+) files", output)) else 0 for output in outputs]
        assert [n > 100 for n in looked] == [True, True, True, False], outputs
        print(f"{kind}: {looked} files read")
        assert not any("FOUND" in output for output in outputs), outputs  # and saw nothing
        summary = json.loads(trajectory.with_name("episode.json").read_text())
        assert summary["problems"] == ["check_failed"]
        assert summary["score"]["failed"] == [planted.words["id"]]
        assert planted.within((trajectory.parent / "task/checks.json").read_bytes()) == ["id", "parameter"]
    assert planted.within((run / "run.json").read_bytes()) == []
