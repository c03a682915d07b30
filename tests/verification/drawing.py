"""Draws many small scenes in one Blender, and reads their raw pictures."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from harness.blender import run_in_blender
from harness.renders import LIMITS, RenderRequest
from harness.sandbox import Bind
from harness.settings import HarnessSettings

PROGRAM = Path(__file__).with_name("draw_many.py")
SMALL = RenderRequest(width=320, n_turntable=2, n_frames=3, n_film_frames=12)
STILLS = ("hero.png", "shot_high.png", "shot_low.png", "turntable_0.png", "turntable_1.png")


@dataclass(frozen=True)
class Drawn:
    """One scene's raw pictures and messages."""

    folder: Path
    messages: list[dict[str, Any]]

    @property
    def files(self) -> list[str]:
        return [m["file"] for m in self.messages if m["kind"] == "render" and "file" in m]

    @property
    def film(self) -> dict[str, Any] | None:
        return next((m for m in self.messages if m.get("render_kind") == "animation"), None)

    @property
    def notes(self) -> str:
        return "\n".join(m["text"] for m in self.messages if m["kind"] == "render_note")

    def label(self, file: str) -> str:
        return next(str(m["label"]) for m in self.messages if m.get("file") == file)

    def pixels(self, file: str) -> np.ndarray:
        """[row, column, RGBA] of 0 to 255."""
        with Image.open(self.folder / file) as picture:
            return np.asarray(picture.convert("RGBA")).astype(int)

    def figure(self, file: str) -> np.ndarray:
        """Where something is drawn, [row, column]."""
        found: np.ndarray = self.pixels(file)[..., 3] > 16
        return found

    def span(self, file: str) -> float:
        """The longer side of the figure's box, as a share of the picture's side; 0 for none."""
        shown = self.figure(file)
        rows, columns = (np.flatnonzero(shown.any(axis=axis)) for axis in (1, 0))
        if not len(rows):
            return 0.0
        sides = (np.ptp(rows) + 1) / shown.shape[0], (np.ptp(columns) + 1) / shown.shape[1]
        return float(max(sides))

    def is_cut(self, file: str) -> bool:
        """Whether the figure touches the edge of the picture."""
        shown = self.figure(file)
        return bool(shown[0].any() or shown[-1].any() or shown[:, 0].any() or shown[:, -1].any())


def draw_many(
    cases: dict[str, str], folder: Path, requests: dict[str, RenderRequest] | None = None
) -> dict[str, Drawn]:
    """Draw each scene (name -> code) into a folder of its own."""
    raw, asked = folder / "raw", folder / "cases.json"
    raw.mkdir()
    numbers = {name: f"case_{number}" for number, name in enumerate(cases)}
    content = {
        numbers[name]: {
            "code": code,
            "request": (requests or {}).get(name, SMALL).model_dump(mode="json"),
        }
        for name, code in cases.items()
    }
    asked.write_text(json.dumps(content), encoding="utf-8")
    folder.chmod(0o755)
    asked.chmod(0o644)
    run = run_in_blender(
        str(PROGRAM),
        [asked],
        workspace=raw,
        settings=HarnessSettings(),
        limits=LIMITS,
        binds=[Bind(asked, "/cases/cases.json"), Bind(PROGRAM, "/opt/blendscribe/tests/verification/draw_many.py")],
    )
    assert run.message("finished"), run.exit.output.text()[-2000:]
    return {
        name: Drawn(raw / number, [m for m in run.messages if m.get("case") == number])
        for name, number in numbers.items()
    }
