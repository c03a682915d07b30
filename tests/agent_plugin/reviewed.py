"""Episodes to review, made on the spot: a rubric, and pictures of one colour as renders. Starts no Blender."""

import contextlib
import hashlib
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from agent_plugin.cli import main
from recorder.rubric import Criterion, Rubric
from recorder.verification import Render, RendersFile

RUBRIC = Rubric(
    criteria=(
        Criterion(id="lamp", text="A lamp stands on the desk.", weight=3),
        Criterion(id="legs", text="The desk has four legs."),
    )
)
KINDS = ("hero", "turntable", "turntable", "shot", "elevation", "frame", "frame", "sheet", "animation")
N_PICTURES = 7
"""Of KINDS: neither the sheet nor the film."""


@dataclass(frozen=True)
class Ended:
    """What a command came to."""

    returncode: int
    stdout: str
    stderr: str


def blendscribe(*arguments: object) -> Ended:
    """`blendscribe review` in this process, where litellm is imported once."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["blendscribe", "review", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        return Ended(int(ended.code or 0), out.getvalue(), err.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("the command came back without an exit status")


def png(number: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), (40 * (number % 6), 90, 10 + number)).save(buffer, "PNG")
    return buffer.getvalue()


def make_renders(root: Path, kinds: Sequence[str] = KINDS, labels: Sequence[str] = (), first: int = 0) -> RendersFile:
    """Write the pictures and renders.json; `first` makes other pictures."""
    folder = root / "renders"
    folder.mkdir(parents=True, exist_ok=True)
    renders = []
    for number, kind in enumerate(kinds):
        content = b"a film" if kind == "animation" else png(first + number)
        name = f"{number}_{kind}.{'mp4' if kind == 'animation' else 'png'}"
        (folder / name).write_bytes(content)
        label = labels[number] if number < len(labels) else f"{kind} seen from {number}"
        frame = 10 * number if kind == "frame" else None
        facts = {"file": name, "kind": kind, "label": label, "frame": frame, "width": 8, "height": 8}
        renders.append(Render.model_validate(facts | {"sha256": hashlib.sha256(content).hexdigest()}))
    made = RendersFile(scene_sha256="5c", engine="workbench", renders=renders, notes=[])
    (folder / "renders.json").write_text(made.model_dump_json())
    return made


def make_episode(root: Path, rubric: Rubric | None = RUBRIC, **renders: Any) -> Path:
    """An episode's folder, as far as a review looks at it."""
    (root / "task").mkdir(parents=True)
    if rubric:
        (root / "task/rubric.json").write_text(rubric.model_dump_json())
    make_renders(root, **renders)
    return root


def entry(id: str, verdict: str = "met", reason: str = "Picture 1 shows it.") -> dict[str, Any]:
    return {"id": id, "reason": reason, "verdict": verdict}


def answer(**verdicts: str) -> str:
    """An answer as it is asked for, such as `answer(lamp="met", legs="not_met")`."""
    return json.dumps({"criteria": [entry(id, verdict) for id, verdict in verdicts.items()]})
