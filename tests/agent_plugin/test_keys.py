"""Other processes of the same user cannot read the keys that the launcher's environment holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

READ_EACH_OTHER = """
import ctypes, os, sys, time
from agent_plugin.keys import hide_keys
if os.getuid() == 0:  # root could read it all the same
    os.setgroups([])
    os.setresgid(54321, 54321, 54321)
    os.setresuid(54321, 54321, 54321)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # a change of user has hidden everything already
read, write = os.pipe()
child = os.fork()
if child == 0:
    if sys.argv[1] == 'hidden':
        hide_keys()
    os.write(write, b'.')
    time.sleep(60)
os.read(read, 1)
for name in ('environ', 'maps', 'mem'):
    try:
        open(f'/proc/{child}/{name}', 'rb').read(0 if name == 'mem' else -1)
        print(name, 'read')
    except PermissionError:
        print(name, 'refused')
os.kill(child, 9)
"""


@pytest.mark.parametrize(("how", "answer"), [("hidden", "refused"), ("not hidden", "read")])
def test_environment_and_memory_cannot_be_read(how: str, answer: str) -> None:
    """By a process of the same user, who otherwise could."""
    text = subprocess.run(
        [sys.executable, "-c", READ_EACH_OTHER, how],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "CANARY_API_KEY": "x"},
    ).stdout
    assert text.splitlines() == [f"{name} {answer}" for name in ("environ", "maps", "mem")]


def test_the_launcher_hides_them() -> None:
    """From the moment in which it starts to run episodes."""
    source = """
import ctypes
from pathlib import Path
from agent_plugin.config import load_config
from agent_plugin.launch_plan import RunPlan
from agent_plugin.launcher import run_all
from agent_plugin.spending import Stop
from recorder.paths import RunPaths
prctl = ctypes.CDLL(None).prctl
before = prctl(3, 0, 0, 0, 0)
run_all(RunPlan((), (), 1, load_config([])), RunPaths(Path('run')), n_workers=1, watcher=None, stop=Stop())
print(before, prctl(3, 0, 0, 0, 0))
"""
    ended = subprocess.run([sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.stdout == "1 0\n", ended.stderr
