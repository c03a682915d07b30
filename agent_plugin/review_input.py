"""Finds what is to be reviewed, and reads of each episode the rubric and the harness's renders, nothing else.

Every fault is found before the first model call. Pictures are hashed then, and read again when they are sent.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_plugin.faults import Fault
from agent_plugin.review_request import Picture, media_type
from recorder.documents import parse, read_document
from recorder.errors import CorruptEpisode
from recorder.paths import EpisodePaths, RunPaths
from recorder.plain_files import NotPlain, is_plain, read_plain
from recorder.rubric import Rubric
from recorder.rubric_review import RENDERS, REVIEW, RUBRIC, ReviewedRender, RubricReviewFile, reviewed
from recorder.verification import RendersFile

MAX_PICTURE_BYTES = 20 << 20
_FOLDER = RENDERS.partition("/")[0]
_VERIFY = "run `blendscribe verify` on it first"


@dataclass(frozen=True)
class Reviewable:
    """An episode that can be reviewed."""

    root: Path
    rubric: Rubric
    rubric_sha256: str
    renders: RendersFile

    @property
    def pictures(self) -> list[ReviewedRender]:
        """All that could be sent."""
        return reviewed(self.renders)

    def read(self, render: ReviewedRender) -> Picture:
        """A picture. Raises CorruptEpisode where it is no longer what renders.json names."""
        path = self.root / _FOLDER / render.file
        try:
            content = read_plain(self.root / _FOLDER, render.file)
        except NotPlain as error:
            raise CorruptEpisode(path, None, f"{error}; {_VERIFY}") from error
        if hashlib.sha256(content).hexdigest() != render.sha256:
            raise CorruptEpisode(path, None, f"not the picture that renders.json names; {_VERIFY}")
        if not media_type(content):
            raise CorruptEpisode(path, None, "neither a PNG nor a JPEG, which every model takes")
        if len(content) > MAX_PICTURE_BYTES:
            raise CorruptEpisode(path, None, f"larger than {MAX_PICTURE_BYTES >> 20} MiB, which no model takes")
        return Picture(render, content)


@dataclass
class Found:
    """What the arguments of a command come to."""

    episodes: list[Reviewable] = field(default_factory=list)
    skipped: dict[Path, str] = field(default_factory=dict)
    """Episodes of a run that have nothing to review, and why."""
    faults: list[Fault] = field(default_factory=list)


def find_reviewable(folders: Sequence[Path]) -> Found:
    """The episodes of these folders, each an episode or a run, each episode once.

    Of a run, episodes are passed over that are not finished, whose task has no rubric, or that handed in nothing to
    draw; asked for by name, they are faults.
    """
    found, seen = Found(), set()
    for folder in folders:
        is_run = RunPaths(folder).run_file.is_file()
        roots = [episode.root for episode in RunPaths(folder).episodes()] if is_run else [folder]
        n_before = len(found.episodes) + len(found.faults)
        for root in roots:
            if root.resolve() not in seen:
                seen.add(root.resolve())
                _add(found, root, is_part_of_a_run=is_run)
        if is_run and len(found.episodes) + len(found.faults) == n_before:
            why = next((found.skipped[root] for root in roots if root in found.skipped), "it holds no episode")
            found.faults.append(Fault(str(folder), "", f"nothing in this run can be reviewed: {why}"))
    return found


def read_reviews(root: Path) -> RubricReviewFile:
    """The reviews that an episode has. Raises CorruptEpisode."""
    return read_document(root / REVIEW, RubricReviewFile) if (root / REVIEW).exists() else RubricReviewFile()


def _add(found: Found, root: Path, *, is_part_of_a_run: bool) -> None:
    if is_part_of_a_run and (why := _why_skipped(root)):
        found.skipped[root] = why
        return
    try:
        if not (root / RUBRIC).exists():
            found.faults.append(Fault(str(root), "", _no_rubric(root)))
        elif not (root / RENDERS).exists():
            found.faults.append(Fault(str(root), "", f"holds no renders: {_VERIFY}"))
        else:
            found.episodes.append(_read(root))
    except CorruptEpisode as error:
        found.faults.append(Fault(str(error.path), "", error.why))


def _why_skipped(root: Path) -> str:
    """Of an episode of a run; '' where it is to be reviewed."""
    if not EpisodePaths(root).is_finished:
        return "not finished"
    if not (root / RUBRIC).exists():
        return "its task has no rubric"
    handed_in = (EpisodePaths(root).scene, EpisodePaths(root).output_video, root / RENDERS)
    return "" if any(path.exists() for path in handed_in) else "handed in nothing to draw"


def _no_rubric(root: Path) -> str:
    if not root.is_dir():
        return "there is no such folder"
    if not any((root / name).exists() for name in ("task", "trajectory.jsonl", "episode.json")):
        return "neither an episode nor a run"
    return f"its task has no rubric ({RUBRIC}), so there is nothing to ask"


def _read(root: Path) -> Reviewable:
    if (root / "sample.json").exists():
        why = "a sample of a data set, whose manifest would no longer hold; review the episode it was made from"
        raise CorruptEpisode(root, None, why)
    try:
        raw = read_plain(root, RUBRIC)
    except NotPlain as error:
        raise CorruptEpisode(root / RUBRIC, None, str(error)) from error
    rubric = parse(root / RUBRIC, None, raw, Rubric.model_validate)
    renders = read_document(root / RENDERS, RendersFile)
    episode = Reviewable(root, rubric, hashlib.sha256(raw).hexdigest(), renders)
    if not episode.pictures:
        notes = "; ".join(renders.notes) or "no note says why"
        raise CorruptEpisode(root / RENDERS, None, f"lists no picture to look at ({notes})")
    if not is_plain(root, REVIEW) and (root / REVIEW).is_symlink():
        raise CorruptEpisode(root / REVIEW, None, "a link; nothing is written through one")
    read_reviews(root)
    for render in episode.pictures:
        episode.read(render)
    return episode
