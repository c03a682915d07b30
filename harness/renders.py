"""Renders of a saved scene, made by the harness itself: what is asked for, and what is published of what Blender drew.

`render_scene_file` does it all with a Blender of its own. Who has one open anyway calls `in_blender/renders/draw.py`
there, with `RenderRequest.model_dump(mode="json")`, and gives the messages and the folder to `finish_or_redraw`: a
scene too heavy to draw as it is gets one more Blender, which draws it with less subdivision.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.blender import BlenderRun, run_in_blender
from harness.clean_renders import Cleaned, clean_renders
from harness.folders import private_folder, remove_folder
from harness.render_messages import MAX_FILM, SaidRender, Told, short_line
from harness.sandbox import Bind, Limits
from harness.settings import HarnessSettings

RENDERS_FILE, SHEET, FILM = "renders.json", "contact_sheet.png", "animation.mp4"
SCHEMA_VERSION = 1
LIMITS = Limits(timeout_seconds=240, max_file_mb=64, disk_mb=1024, output_mb=16, max_files=2000)
"""Of a Blender that draws."""
_MAX_PROBLEM = 600
_INSIDE = "/drawn/scene.blend"
_WHY_NOT = {
    "empty": "nothing shows in it (not faces seen edge-on, edges without faces, or what is thinner than a pixel)",
    "even": "it is one even colour",
    "unreadable": "the picture that Blender wrote cannot be read",
}

RenderKind = Literal["hero", "turntable", "shot", "elevation", "frame", "animation", "sheet"]


class RenderRequest(BaseModel):
    """What is to be drawn of a scene."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: Literal["workbench", "cycles"] = "workbench"
    """`workbench`: base colours under a fixed light. `cycles`: the scene's own light and materials, for stills."""
    samples: Annotated[int, Field(ge=1, le=4096)] = 16
    """Of Cycles, a pixel."""
    width: Annotated[int, Field(ge=64, le=4096)] = 1280
    """Of the hero picture in pixels; the others have shares of it."""
    n_turntable: Annotated[int, Field(ge=0, le=72)] = 8
    """Views around the scene."""
    n_frames: Annotated[int, Field(ge=2, le=24)] = 6
    """Frames to look at one by one where something moves."""
    n_film_frames: Annotated[int, Field(ge=2, le=MAX_FILM)] = 120
    """The most frames of the film; of a longer range every second, third, ... frame is drawn."""
    seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """What drawing may take in all; what is left out then is noted."""
    simplify: bool = False
    """Draw with at most two levels of subdivision, which a note then says."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Render(_Frozen):
    """One published picture or film; `recorder.verification` has the same form."""

    file: str
    kind: RenderKind
    label: str
    frame: int | None = None
    width: int
    height: int
    sha256: str
    units_per_pixel: float | None = None
    fps: float | None = None
    n_frames: int | None = None


class Renders(_Frozen):
    """What was drawn of a scene: the content of `renders.json`."""

    schema_version: int = SCHEMA_VERSION
    scene_sha256: str
    engine: Literal["workbench", "cycles"]
    renders: list[Render]
    notes: list[str]
    problem: str = ""
    """Why nothing could be drawn of a scene that holds something to draw; '' else."""


def render_scene_file(
    file: Path, settings: HarnessSettings, request: RenderRequest, keep: Path, limits: Limits = LIMITS
) -> Renders:
    """Draw a .blend in a Blender of its own, and publish into the new folder `keep`.

    Raises FileExistsError; OSError where the file cannot be read; InterpreterMissing, SandboxUnavailable or
    SandboxFailed where the machine fails. What is wrong with the file is a note.
    """
    if keep.exists():
        raise FileExistsError(f"'{keep}' exists: renders are never overwritten. Remove it, or name another folder.")
    return _draw(file, settings, request, keep, limits, "")


def _draw(
    file: Path, settings: HarnessSettings, request: RenderRequest, keep: Path, limits: Limits, before: str
) -> Renders:
    """`before`: why this is the second try, or ''."""
    with private_folder("drawn") as folder, private_folder("raw") as raw:
        copy, asked = folder / "scene.blend", folder / "request.json"
        shutil.copyfile(file, copy)
        asked.write_text(request.model_dump_json(), encoding="utf-8")
        if os.geteuid() == 0:  # the sandbox is another user then
            for path in (copy, asked):
                path.chmod(0o644)
            folder.chmod(0o755)
        sha256 = hashlib.sha256(copy.read_bytes()).hexdigest()
        binds = [Bind(copy, _INSIDE), Bind(asked, "/drawn/request.json")]
        run = run_in_blender(
            "draw_scene.py", [copy, asked], workspace=raw, settings=settings, limits=limits, binds=binds
        )
        stopped = why_stopped(run, limits)
        if before or run.message("unreadable"):
            notes = f"on a second try, since at first {before}" if before else ""
            return finish_renders(run.messages, raw, keep, settings, request, sha256, stopped, notes)
        return finish_or_redraw(run.messages, raw, keep, settings, request, sha256, stopped, copy, limits)


def finish_or_redraw(
    messages: Sequence[dict[str, Any]],
    raw: Path,
    keep: Path,
    settings: HarnessSettings,
    request: RenderRequest,
    scene_sha256: str,
    stopped: str,
    scene: Path,
    limits: Limits = LIMITS,
) -> Renders:
    """As `finish_renders`; but where no picture of `scene` came about, draw it once more, simplified, within `limits`.

    Raises what `render_scene_file` raises.
    """
    told = Told(messages)
    if told.renders or told.is_empty or request.simplify:
        return finish_renders(messages, raw, keep, settings, request, scene_sha256, stopped)
    why = stopped or "; ".join(told.notes) or "no picture came about"
    return _draw(scene, settings, request.model_copy(update={"simplify": True}), keep, limits, why)


def why_stopped(run: BlenderRun, limits: Limits) -> str:
    """Why renders may be missing, or '' where Blender came to its end."""
    if unreadable := run.message("unreadable"):
        why = " ".join(str(unreadable.get("why")).split()).removeprefix("Error: ")
        return f"Blender cannot open the scene: {re.sub(r'[^ ]*/scene.blend', 'the file', why)}"
    if run.message("finished"):
        return ""
    if run.exit.stopped_by == "timeout":
        return f"Blender was stopped after {limits.timeout_seconds:g} s, before all was drawn"
    if run.exit.stopped_by:
        return f"Blender was stopped at its limit of {run.exit.stopped_by}, before all was drawn"
    return f"Blender ended early ({run.exit.signal_name or f'status {run.exit.returncode}'}), before all was drawn"


def finish_renders(
    messages: Sequence[dict[str, Any]],
    raw: Path,
    keep: Path,
    settings: HarnessSettings,
    request: RenderRequest,
    scene_sha256: str,
    stopped: str = "",
    first_note: str = "",
) -> Renders:
    """Publish what Blender said it drew into the new folder `keep`, with `renders.json`.

    `stopped` says why drawing ended early; `first_note` comes before the notes. Messages of other kinds are left aside,
    as is what has another form.
    Raises FileExistsError, or SandboxFailed.
    """
    keep.mkdir(parents=True)
    try:
        return _publish(Told(messages), raw, keep, settings, request, scene_sha256, stopped, first_note)
    except BaseException:
        remove_folder(keep)
        raise


def _publish(
    told: Told,
    raw: Path,
    keep: Path,
    settings: HarnessSettings,
    request: RenderRequest,
    scene_sha256: str,
    stopped: str,
    first_note: str,
) -> Renders:
    cleaned = Cleaned({}, {}, "")
    if told.renders:
        film = told.film_job(FILM)
        cleaned = clean_renders(told.jobs(), film, SHEET, raw=raw, destination=keep, settings=settings)
    renders = [_published(render, keep, cleaned) for render in told.renders if render.file in cleaned.sizes]
    renders += _film_and_sheet(told, keep, cleaned)
    around = [[short_line(note)] if note else [] for note in (first_note, stopped)]
    notes = [*around[0], *told.notes, *around[1], *_losses(told, cleaned)]
    problem = (
        ""
        if renders or told.is_empty
        else "; ".join(notes) or "Blender says neither of a picture nor why there is none"
    )
    drawn = Renders(
        scene_sha256=scene_sha256, engine=request.engine, renders=renders, notes=notes, problem=problem[:_MAX_PROBLEM]
    )
    text = json.dumps(drawn.model_dump(mode="json"), indent=1, ensure_ascii=False)
    (keep / RENDERS_FILE).write_text(text + "\n", encoding="utf-8")
    return drawn


def _published(render: SaidRender, keep: Path, cleaned: Cleaned) -> Render:
    width, height = cleaned.sizes[render.file]
    return Render(
        file=render.file,
        kind=render.render_kind,
        label=short_line(render.label),
        frame=render.frame,
        width=width,
        height=height,
        sha256=_sha256(keep / render.file),
        units_per_pixel=render.units_per_pixel,
    )


def _film_and_sheet(told: Told, keep: Path, cleaned: Cleaned) -> list[Render]:
    found = []
    if (film := told.film) and FILM in cleaned.sizes:
        found.append(
            Render(
                file=FILM,
                kind="animation",
                label=short_line(film.label),
                width=film.width,
                height=film.height,
                sha256=_sha256(keep / FILM),
                fps=film.fps,
                n_frames=len(film.files),
            )
        )
    if SHEET in cleaned.sizes:
        width, height = cleaned.sizes[SHEET]
        sha256 = _sha256(keep / SHEET)
        found.append(Render(file=SHEET, kind="sheet", label="all pictures", width=width, height=height, sha256=sha256))
    return found


def _losses(told: Told, cleaned: Cleaned) -> list[str]:
    """Why pictures that were drawn are not published."""
    lost: dict[str, list[str]] = {}
    for render in told.renders:
        if render.file not in cleaned.sizes:
            why = _WHY_NOT.get(cleaned.states.get(render.file, ""), cleaned.stopped or "it is missing")
            lost.setdefault(why, []).append(render.file)
    notes = [f"left out: {', '.join(files)}: {why}" for why, files in lost.items()]
    if told.film and FILM not in cleaned.sizes:
        notes.append(f"left out: {FILM}: {cleaned.stopped or 'a frame of it cannot be read'}")
    return notes


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
