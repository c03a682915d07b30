"""Plain mini-swe-agent's own command plays the same episode, with its cache control on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from agent_plugin.loopback.server import LoopbackServer
from agent_plugin.places import CONFIGS_DIR
from agent_plugin.recorded_episode import read_episode
from recorder.trajectory import read_summary
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.routes.episode_script import IN_CALLS
from tests.routes.test_routes import KEY, Played, reference, server

__all__ = ["reference", "server"]

pytestmark = [CALLS_LITELLM, pytest.mark.blender]

MINI = Path(sys.executable).with_name("mini")


@pytest.mark.parametrize(("name", "n_marks"), [("anthropic", 2), ("bedrock", 2), ("openai-responses", 0)])
def test_mini_plays_the_same_episode(
    name: str,
    n_marks: int,
    server: LoopbackServer,
    reference: Played,
    tmp_path: Path,
) -> None:
    """The same scene, the same frames at the provider, two cache marks for Claude; no key in what it leaves."""
    route = server.route(name)
    server.forget()
    (tmp_path / "ws").mkdir()
    more = {
        "agent": {"record_dir": str(tmp_path / "records")},
        "environment": {
            "task_kind": "scene",
            "start": {"kind": "empty"},
            "harness": {"resolution": [96, 64]},
        },
        "model": {"task_kind": "scene", "bash": True, "model_kwargs": dict(route.kwargs)},
    }
    (tmp_path / "more.yaml").write_text(yaml.safe_dump(more))
    command = [
        *(str(MINI), "-c", str(CONFIGS_DIR / "blender.yaml"), "-c", str(tmp_path / "more.yaml")),
        *("-m", route.model, "-t", IN_CALLS, "-y", "--exit-immediately", "-o", str(tmp_path / "out.traj.json")),
    ]
    environment = {**os.environ, "MSWEA_CONFIGURED": "true", "MSWEA_GLOBAL_CONFIG_DIR": str(tmp_path / "config")}
    ended = subprocess.run(
        command,
        cwd=tmp_path / "ws",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (folder,) = (tmp_path / "records").iterdir()
    assert read_summary(folder / "episode.json").verdict == "pass"
    records = [e.blender for step in read_episode(folder).steps for e in step.executions if e.blender]
    assert [r["state_hash"] for r in records if r["outcome"] == "ok"] == reference.scene_hashes
    requests = [exchange.request for exchange in server.exchanges if exchange.turn]
    assert [request and len(request.images) for request in requests] == [0, 1, 2, 2, 2, 3]
    assert requests[-1] is not None
    assert requests[-1].n_cache_marks == n_marks
    for file in tmp_path.rglob("*"):
        if file.is_file() and file.name != "more.yaml":
            assert KEY not in file.read_text(errors="replace"), file
