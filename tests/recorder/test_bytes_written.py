"""What is written for an episode grows with its steps, and is hardly more than its pictures and text once."""

import random
from pathlib import Path
from typing import Any

import pytest

from recorder.paths import EpisodePaths
from recorder.records import Execution, Message, Part, TextPart
from recorder.redaction import Redactor
from recorder.trajectory import TrajectoryWriter
from tests.recorder.test_trajectory import header, step

N_FRAMES = 8
FRAME_BYTES = 60_000
TEXT = "x" * 3000
"""What a model says, and what it is answered, of each step."""


def bytes_written() -> int:
    """By this process so far, to whatever file."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counts["wchar"])


def record(folder: Path, n_steps: int) -> tuple[int, int]:
    """(bytes written, bytes of pictures and text) of an episode."""
    chance = random.Random(n_steps)
    frames = [chance.randbytes(FRAME_BYTES) for _ in range(n_steps * N_FRAMES)]
    before = bytes_written()
    writer = TrajectoryWriter(EpisodePaths(folder), Redactor())
    writer.append(header())
    for number in range(1, n_steps + 1):
        content: list[Part] = [TextPart(text=TEXT)]
        for _ in range(N_FRAMES):
            content.append(writer.store_image(frames.pop(), "image/jpeg"))
        changes: dict[str, Any] = {
            "observations": [Message(role="tool", content=content, tool_call_id="c")],
            "executions": [Execution(tool="run_blender", returncode=0, output=TEXT, seconds=0.0)],
        }
        writer.append(step(number, TEXT, **changes))
    writer.close()
    return bytes_written() - before, n_steps * (N_FRAMES * FRAME_BYTES + 2 * len(TEXT))


@pytest.mark.parametrize("n_steps", [1, 10, 40])
def test_pictures_and_text_are_written_once(tmp_path: Path, n_steps: int) -> None:
    """At most 1.05 times, however many steps there are; so the bytes grow linearly."""
    written, needed = record(tmp_path / "e", n_steps)
    assert needed <= written <= 1.05 * needed
