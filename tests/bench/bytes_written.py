"""Bytes written for an episode, beside what mini-swe-agent's own agent writes when it saves after each step."""

import base64
import json
import random
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from minisweagent.agents.default import DefaultAgent

from recorder.paths import EpisodePaths
from recorder.records import Execution, Message, Part, TextPart
from recorder.redaction import Redactor
from recorder.trajectory import TrajectoryWriter
from tests.recorder.test_bytes_written import FRAME_BYTES, N_FRAMES, TEXT, bytes_written
from tests.recorder.test_trajectory import header, step

N_STEPS = 40


def main() -> None:
    """Print one line."""
    chance = random.Random(1)
    frames = [[chance.randbytes(FRAME_BYTES) for _ in range(N_FRAMES)] for _ in range(N_STEPS)]
    needed = N_STEPS * (N_FRAMES * FRAME_BYTES + 2 * len(TEXT))
    with tempfile.TemporaryDirectory() as folder:
        ours, minis = recorded(Path(folder) / "e", frames), saved(Path(folder) / "mini.traj.json", frames)
    holds = "holds" if ours <= 1.05 * needed else "MISSED"
    print(
        f"bytes written, {N_STEPS} steps of {N_FRAMES} frames: {ours / needed:.3f} x pictures and text, "
        f"target <= 1.05, {holds}; mini-swe-agent's save {minis / needed:.1f} x ({ours >> 20} and {minis >> 20} MiB)"
    )


def recorded(folder: Path, frames: list[list[bytes]]) -> int:
    """By our writer."""
    before = bytes_written()
    writer = TrajectoryWriter(EpisodePaths(folder), Redactor())
    writer.append(header())
    for number, shown in enumerate(frames, start=1):
        content: list[Part] = [TextPart(text=TEXT), *(writer.store_image(frame, "image/jpeg") for frame in shown)]
        execution = Execution(tool="run_blender", returncode=0, output=TEXT, seconds=0.0)
        answer = Message(role="tool", content=content, tool_call_id="c")
        writer.append(step(number, TEXT, observations=[answer], executions=[execution]))
    writer.close()
    return bytes_written() - before


def saved(path: Path, frames: list[list[bytes]]) -> int:
    """By mini-swe-agent's agent, with the least that it needs around it."""
    part: Any = SimpleNamespace(serialize=dict)
    agent = DefaultAgent(part, part, system_template="", instance_template="")
    before = bytes_written()
    for shown in frames:
        urls = [f"data:image/jpeg;base64,{base64.b64encode(frame).decode()}" for frame in shown]
        pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        agent.messages += [
            {"role": "assistant", "content": TEXT},
            {"role": "tool", "content": [{"type": "text", "text": TEXT}, *pictures]},
        ]
        agent.save(path)
    assert json.loads(path.read_text())["messages"] == agent.messages
    return bytes_written() - before


if __name__ == "__main__":
    main()
