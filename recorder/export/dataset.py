"""Makes a data set out of episodes: sample folders, train files, card, manifest. All of it, or nothing.

Everything is written into a folder beside the place it goes to, which is renamed into place at the end. An episode is
read, written and forgotten, so that memory does not grow with their number. The same input gives the same bytes: no
time, no path and no name of this machine goes in.
"""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from harness.folders import remove_folder
from recorder.errors import CorruptEpisode
from recorder.export.card import card
from recorder.export.decontaminate import HeldOut
from recorder.export.formats import Format, Options, add_safely
from recorder.export.history import History, Seen, fate_of
from recorder.export.listing import classes_of
from recorder.export.sample import RefusedEpisode, Sample, has_record, label_of, read_sample
from recorder.export.schemas_page import schemas_page
from recorder.export.sources import Source, find_sources, names_of
from recorder.files import Label, Manifest, ManifestEntry, SampleFile
from recorder.plain_files import copy_plain, hash_plain, list_plain
from recorder.trajectory import sync_folder

_COPIED_FILES = (
    "trajectory.jsonl", "episode.json", "final_script.py", "scene.blend", "output.mp4", "preview.png",
)  # fmt: skip
_COPIED_FOLDERS = ("task", "images", "states", "renders", "verification")


class OutputExists(Exception):
    """The place for the data set is taken; nothing is overwritten."""


@dataclass(frozen=True)
class Request:
    """What is to be exported, and how."""

    sources: tuple[Path, ...]
    output: Path
    formats: tuple[str, ...] = ()
    include: frozenset[Label] = frozenset()
    """Beside `accepted`."""
    held_out: Path | None = None
    options: Options = field(default_factory=Options)


def export(request: Request) -> History:
    """Make the data set. Raises OutputExists, NoSource, CorruptEpisode (for the held-out list), UnknownFormat, OSError.

    Episodes that are damaged are left out and listed; `history.damaged` tells them.
    """
    if request.output.exists() or request.output.is_symlink():
        raise OutputExists(f"{request.output}: exists already; give a new folder")
    classes = classes_of(request.formats)
    held_out = HeldOut.read(request.held_out) if request.held_out else None
    sources = find_sources(request.sources)
    request.output.parent.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix=f".{request.output.name}.", suffix=".tmp", dir=request.output.parent))
    try:
        made = [make(root, request.options) for make in classes]
        history = History(outcomes=[one.outcome for one in made])
        for source, name in zip(sources, names_of(sources), strict=True):
            history.seen.append(_export_one(source, name, request, held_out, root, made, history))
        for one in made:
            one.close()
        _finish(root, request, history)
        root.chmod(0o755)
        root.rename(request.output)
        sync_folder(request.output.parent)
    except BaseException:
        remove_folder(root)
        raise
    return history


def _export_one(
    source: Source,
    name: str,
    request: Request,
    held_out: HeldOut | None,
    root: Path,
    made: Sequence[Format],
    history: History,
) -> Seen:
    label: Label | None = None
    try:
        label, reason = label_of(source.root)
        if label == "unfinished" and ("unfinished" not in request.include or not has_record(source.root)):
            return Seen(source.episode, name, "left out", label, reason)
        sample = read_sample(source.root, name, source.episode, request.options.license)
        if label != "accepted" and label not in request.include:
            return _seen(source, sample, "left out", reason)
        if held_out and (shared := held_out.overlap(sample.task.brief)):
            return _seen(source, sample, "contaminated", f"its brief shares '{shared}' with the held-out list")
        _write_sample(sample, root / "samples" / name)
    except (CorruptEpisode, RefusedEpisode) as error:
        return Seen(source.episode, name, fate_of(error), label, _relative(str(error), source))
    for one in made:
        add_safely(one, sample)
    _compare(history, sample)
    return _seen(source, sample, "exported", reason)


def _seen(source: Source, sample: Sample, fate: str, reason: str) -> Seen:
    costs = [step.cost for step in sample.steps]
    return Seen(
        episode=source.episode,
        name=sample.name,
        fate=fate,  # type: ignore[arg-type]
        label=sample.label,
        reason=reason,
        model=sample.header.model,
        n_steps=len(sample.steps),
        score=sample.score.weighted if sample.score else None,
        cost_usd=sum(cost.usd for cost in costs) if all(cost.is_known for cost in costs) else None,
        versions=tuple(sorted(sample.header.versions.items())),
    )


def _relative(text: str, source: Source) -> str:
    """Without the place of the run, which means nothing elsewhere."""
    return text.replace(str(source.root), source.episode)


def _compare(history: History, sample: Sample) -> None:
    if sample.header.task_sha256 not in history.tasks:
        history.tasks[sample.header.task_sha256] = sample.name
        history.briefs.add(sample.name, sample.task.brief)
    if sample.script:
        history.scripts.add(sample.name, sample.script)


def _write_sample(sample: Sample, folder: Path) -> None:
    """Copy what an episode holds, and say what it is."""
    folder.mkdir(parents=True)
    there = [*(name for name in list_plain(sample.root) if name in _COPIED_FILES)]
    there += [name for kept in _COPIED_FOLDERS for name in list_plain(sample.root, kept) if not name.endswith(".tmp")]
    for name in there:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy_plain(sample.root, name, folder / name)
    facts = SampleFile(
        name=sample.name,
        label=sample.label,
        reason=sample.reason,
        episode=sample.episode,
        task_id=sample.header.task_id,
        model=sample.header.model,
        attempt=sample.header.attempt,
        trajectory_sha256=sample.trajectory_sha256,
        license=sample.license,
    )
    (folder / "sample.json").write_text(facts.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _finish(root: Path, request: Request, history: History) -> None:
    """Card, SCHEMAS.md, and last the manifest of everything."""
    (root / "README.md").write_text(card(history, request.options), encoding="utf-8")
    (root / "SCHEMAS.md").write_text(schemas_page(), encoding="utf-8")
    entries = []
    for name in list_plain(root):
        digest, n_bytes = hash_plain(root, name)
        entries.append(ManifestEntry(path=name, sha256=digest, n_bytes=n_bytes))
    entries.sort(key=lambda entry: entry.path)
    manifest = Manifest(made_by=f"blendscribe {_version()}", files=entries)
    with (root / "manifest.json").open("w", encoding="utf-8") as file:
        file.write(manifest.model_dump_json(indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _version() -> str:
    try:
        return version("blendscribe")
    except PackageNotFoundError:
        return "unknown"
