"""Keys planted everywhere a careless machine has them; an episode that looks for them; then every file is searched."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import TINY

pytestmark = pytest.mark.blender

HUNT = r"""
import glob, os, socket
def read(name):
    try:
        with open(name, 'rb') as file: return file.read(1 << 20).decode(errors='replace')
    except OSError: return ''
places = ['/proc/*/environ', '/proc/*/cmdline', '/proc/*/task/*/environ', '/proc/*/root/proc/1/environ', '/etc/*',
          '/proc/*/maps', '/tmp/**/*', '/dev/shm/*', '/opt/blendscribe/**/*', '/workspace/**/*', '<home>/**/.*/*',
          '<home>/.config/**/.*', '/home/*/.*/*', '/var/run/secrets/**/*', '/run/**/*', '<folder>/**/*']
found = ['\n'.join(f'{k}={v}' for k, v in os.environ.items())]
def named(place):
    try: return glob.glob(place, recursive=True)[:3000]
    except RecursionError: return []  # folders that another test has nested without end
found += [read(name) for place in places for name in named(place)]
mark = 'cana' + 'ry-'
lines = sorted({line[:500] for line in '\n'.join(found).replace('\0', '\n').splitlines() if mark in line})
print('HUNT', len(found), 'places')
print('FOU' + 'ND' if lines else 'nothing', lines[:2000])
"""
"""Prints every line with a canary in it that it can read."""

FILM_THAT_HUNTS = """
exec(open('hunt.py').read())
import bpy
scene = bpy.context.scene
scene.render.engine, scene.display.render_aa = 'BLENDER_WORKBENCH', 'OFF'
scene.render.resolution_x, scene.render.resolution_y, scene.render.fps = 64, 36, 24
scene.frame_start, scene.frame_end = 1, 4
scene.render.image_settings.file_format = 'FFMPEG'
scene.render.ffmpeg.format, scene.render.ffmpeg.codec, scene.render.filepath = 'MPEG4', 'H264', 'output.mp4'
bpy.ops.render.render(animation=True)
"""


class Canaries:
    """A machine with keys lying about."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home"
        places = ("env", "config", "home", "dotenv", "process", "provider")
        self.values = {place: f"canary-{place}-{secrets.token_hex(8)}" for place in places}
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh/id_ed25519").write_text(self.values["home"])
        (self.home / ".config/mini-swe-agent").mkdir(parents=True)
        (self.home / ".config/mini-swe-agent/.env").write_text(f"SOME_API_KEY={self.values['dotenv']}\n")
        self.environment = {
            **os.environ,
            "HOME": str(self.home),
            "PLANTED_API_KEY": self.values["env"],
            "PROVIDER_TOKEN": self.values["provider"],
        }
        self.environment.pop("MSWEA_GLOBAL_CONFIG_DIR", None)

    def hunt(self) -> str:
        return HUNT.replace("<home>", str(self.home)).replace("<folder>", str(self.folder))

    def in_bytes(self, content: bytes) -> list[str]:
        return [place for place, value in self.values.items() if value.encode() in content]


@pytest.fixture
def canaries(tmp_path: Path) -> Canaries:
    return Canaries(tmp_path)


def test_the_hunt_finds_what_is_not_hidden(canaries: Canaries) -> None:
    """Outside a sandbox the hunting program does find keys: it can fail."""
    done = subprocess.run(
        [sys.executable, "-c", canaries.hunt()], env=canaries.environment, capture_output=True, timeout=60
    )
    assert {"env", "home", "dotenv"} <= set(canaries.in_bytes(done.stdout)), done.stdout[-2000:]


def test_no_key_reaches_a_model_or_a_record(canaries: Canaries, tmp_path: Path) -> None:
    """Not by bash, a script in Blender, `run_blender` in a shell or a provider's error text; and no data set."""
    heredoc = f"cat > hunt.py <<'END'\n{canaries.hunt()}\nEND\ncat > main.py <<'END'\n{FILM_THAT_HUNTS}\nEND"
    calls = [
        ("bash", {"command": f"{heredoc}\nexport -p; env; set; python3 hunt.py; cat /proc/*/environ; ls -la ~ /"}),
        ("run_blender", {"script": "main.py"}),
        ("bash", {"command": "run_blender main.py"}),
    ]
    turns: list[dict[str, object]] = [
        {"text": "looking", "calls": [{"tool": tool, "arguments": arguments}]} for tool, arguments in calls
    ]
    turns += [{"text": "more", "expect": [canaries.values["provider"]], "calls": []}]
    model = tmp_path / "model.yaml"
    model.write_text(yaml.safe_dump({"model": "hunter", "conversations": [{"when": "film", "turns": turns}]}))
    tasks, config = tmp_path / "tasks.yaml", tmp_path / "config.yaml"
    tasks.write_text(yaml.safe_dump({"tasks": [{"id": "hunt", "brief": "a film", "harness": TINY}]}))
    config.write_text(yaml.safe_dump({"model": {"model_kwargs": {"api_key": canaries.values["config"]}}}))
    blendscribe = Path(sys.executable).with_name("blendscribe")
    other = subprocess.Popen(["sleep", "300"], env={"OTHER_KEY": canaries.values["process"]})
    try:
        done = subprocess.run(
            [blendscribe, "run", tasks, "-m", f"scripted/{model}", "-c", config, "-o", tmp_path / "run"],
            env=canaries.environment,
            capture_output=True,
            timeout=200,
        )
    finally:
        other.kill()
        other.wait()
    assert canaries.in_bytes(done.stdout + done.stderr) == []
    exported = subprocess.run(
        [
            blendscribe,
            "export",
            tmp_path / "run",
            "-o",
            tmp_path / "data",
            "--include",
            "unfinished",
            "--format",
            "traj",
        ],
        env=canaries.environment,
        capture_output=True,
        timeout=60,
    )
    assert exported.returncode == 0, exported.stderr
    assert canaries.in_bytes(exported.stdout + exported.stderr) == []
    files = [path for folder in ("run", "data") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    seen = {str(path): found for path in files if (found := canaries.in_bytes(path.read_bytes()))}
    assert seen == {}
    trajectory, in_data = [path for path in files if path.name == "trajectory.jsonl"]
    assert in_data.read_bytes() == trajectory.read_bytes()
    outputs = [
        execution["output"]
        for line in trajectory.read_text().splitlines()
        for execution in json.loads(line).get("executions", [])
    ]
    assert len(outputs) == len(calls)
    assert all("HUNT" in output for output in outputs)  # it did look
    assert not any("FOUND" in output for output in outputs)  # and saw nothing, not even redacted
