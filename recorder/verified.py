"""What an episode's verification comes to: which of its files are there, stale, or tell of something that failed.

Checks, replay and integrity make a verification. Renders are what a reviewer looks at: they need not be there, but must
not be of another scene. The rubric review is a reviewer's own and is not judged here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.checks.score import Score
from recorder.declared_checks import Entry, as_judged, counts_of, pinned_checks
from recorder.documents import Document, read_plain_document
from recorder.errors import CorruptEpisode
from recorder.files import IntegrityFile
from recorder.integrity_verification import check_renders
from recorder.subject import changed_since, subject_of
from recorder.verification import ChecksFile, RendersFile, ReplayDiffFile

PARTS = {"checks": "checks.json", "replay": "replay_diff.json", "integrity": "integrity.json"}
"""Part -> its file in `verification/`."""
RENDERS = "renders/renders.json"
_MAX_TOLD = 5
FaultKind = Literal["missing", "stale", "unreadable", "failed"]


@dataclass(frozen=True)
class Fault:
    """Something that a verification lacks, or found. Its text is one line."""

    file: str
    kind: FaultKind
    why: str

    def __str__(self) -> str:
        return " ".join(f"{self.file}: {self.why}".split())


@dataclass(frozen=True)
class Found:
    """What was read: each file, None where there is none, or why it cannot be read."""

    checks: ChecksFile | str | None = None
    replay: ReplayDiffFile | str | None = None
    integrity: IntegrityFile | str | None = None
    renders: RendersFile | str | None = None
    spoilt_renders: tuple[str, ...] = ()
    """What of `renders/` is not as renders.json lists it."""


@dataclass(frozen=True)
class Verification:
    """Files, and what the episode's are now."""

    found: Found
    subject: Mapping[str, str]
    declared: Sequence[Entry] | None = None
    """The checks that the task declares, with every default; None where there are none."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Everything that keeps an episode from being accepted, in order of the files."""
        return tuple(_faults(self.found, self.subject, self.declared))

    @property
    def is_there(self) -> bool:
        """Whether anything was verified at all."""
        return any((self.found.checks, self.found.replay, self.found.integrity))

    @property
    def is_good(self) -> bool:
        return not self.faults

    @property
    def score(self) -> Score | None:
        """Of the declared checks; None where there are none, or they were not made, or the file contradicts itself."""
        checks = self.found.checks
        if not isinstance(checks, ChecksFile) or checks_contradiction(checks, self.declared):
            return None
        return checks.score


def read_verification(root: Path) -> Verification:
    """What is in an episode's folder. Never raises for what is wrong in it."""
    found = Found(
        checks=_read(root, f"verification/{PARTS['checks']}", ChecksFile),
        replay=_read(root, f"verification/{PARTS['replay']}", ReplayDiffFile),
        integrity=_read(root, f"verification/{PARTS['integrity']}", IntegrityFile),
        renders=_read(root, RENDERS, RendersFile),
        spoilt_renders=tuple(str(finding) for finding in check_renders(root)),
    )
    return Verification(found, subject_of(root), _declared(root))


def _declared(root: Path) -> Sequence[Entry] | None:
    """A task that cannot be read is a finding of the record's; checks that this release does not know equal none."""
    try:
        entries = pinned_checks(root)
        return None if entries is None else as_judged(entries)
    except CorruptEpisode:
        return None
    except (ValueError, RecursionError):
        return ()


def _read(root: Path, name: str, model: type[Document]) -> Document | str | None:
    if not (root / name).exists() and not (root / name).is_symlink():
        return None
    try:
        return read_plain_document(root, name, model)
    except CorruptEpisode as error:
        return error.why


def _faults(found: Found, subject: Mapping[str, str], declared: Sequence[Entry] | None) -> Iterator[Fault]:
    for part, file in PARTS.items():
        name, record = f"verification/{file}", getattr(found, part)
        if record is None:
            yield Fault(name, "missing", "there is none: run `blendscribe verify`")
        elif isinstance(record, str):
            yield Fault(name, "unreadable", record)
        elif changed := changed_since(record.about, subject):
            what = ", ".join(f"'{one}'" for one in changed[:_MAX_TOLD])
            yield Fault(name, "stale", f"is about other files than those there: {what} changed since. Verify again")
        elif isinstance(record, ChecksFile):
            yield from _check_faults(name, record, declared)
        elif isinstance(record, ReplayDiffFile):
            yield from (Fault(name, "failed", why) for why in _replay_words(record))
        elif isinstance(record, IntegrityFile):
            yield from (Fault(name, "failed", str(finding)) for finding in record.findings)
    yield from _render_faults(found, subject)


def checks_contradiction(record: ChecksFile, declared: Sequence[Entry] | None) -> str:
    """Why these results cannot be those of the checks that they are said to be of; '' for nothing."""
    if record.source == "task" and record.checks != list(declared or ()):
        return "its checks are not those that the task declares"
    if (record.source == "none") == bool(record.checks) or (record.source == "task" and declared is None):
        return f"it says that its checks are of the source '{record.source}', and holds {len(record.checks)}"
    if [counts_of(result.model_dump()) for result in record.results] != [counts_of(one) for one in record.checks]:
        return f"it does not hold one result for each of its {len(record.checks)} checks"
    scene = record.about.get("scene.blend", record.scene_sha256)
    if not record.error and (record.scene_sha256 != scene or not scene):
        return "the scene that was checked is not the one that it is about"
    return ""


def _check_faults(name: str, record: ChecksFile, declared: Sequence[Entry] | None) -> Iterator[Fault]:
    if why := checks_contradiction(record, declared):
        yield Fault(name, "unreadable", f"contradicts itself: {why}. Verify again")
        return
    if record.source != "task" and declared is not None:
        yield Fault(name, "stale", "other checks were made than the task declares. Verify again without --checks")
    if record.error:
        yield Fault(name, "failed", record.error)
    for result in record.results:
        if result.required and result.outcome != "pass" and not record.error:
            words = "fails" if result.outcome == "fail" else "could not be judged"
            yield Fault(name, "failed", f"check '{result.id}' {words}: {result.message}")


def _replay_words(record: ReplayDiffFile) -> Iterator[str]:
    if record.verdict not in ("identical", "within_tolerance"):
        yield replay_sentence(record)
    if record.problems:
        yield f"run again, final_script.py is found to have: {', '.join(record.problems)}"


def replay_sentence(record: ReplayDiffFile) -> str:
    """The verdict of a replay in a sentence."""
    if record.verdict == "failed":
        return f"final_script.py gives nothing to compare: {record.error}"
    made = "scene" if record.kind == "scene" else "film"
    if record.verdict == "identical":
        return f"final_script.py gives the same {made} again"
    if record.verdict == "within_tolerance":
        return f"final_script.py gives the same {made} again, within tolerance{_worst_words(record)}"
    step = f"; step {record.first_different_step} is the first that differs" if record.first_different_step else ""
    if record.film:
        return f"final_script.py gives another film: {record.film.message}"
    n = record.state.n_changes if record.state else 0
    return f"final_script.py gives another scene ({n} differences{_worst_words(record)}){step}"


def _worst_words(record: ReplayDiffFile) -> str:
    if record.state and record.state.worst:
        return f", the largest {record.state.worst.magnitude:.3g} at {record.state.worst.path}"
    if record.film and record.film.worst_block:
        return f", the worst block by {record.film.worst_block.difference:.2f} grey levels of 255"
    return ""


def _render_faults(found: Found, subject: Mapping[str, str]) -> Iterator[Fault]:
    if isinstance(found.renders, str):
        yield Fault(RENDERS, "unreadable", found.renders)
    if not isinstance(found.renders, RendersFile):
        return
    # a video's scene is no file of the episode: it is the one that was checked
    checked = found.checks.scene_sha256 if isinstance(found.checks, ChecksFile) else None
    scene = subject.get("scene.blend", checked)
    if scene is not None and found.renders.scene_sha256 != scene:
        yield Fault(RENDERS, "stale", "the renders are of another scene. Verify again")
    if found.renders.problem:
        yield Fault(RENDERS, "failed", f"the scene could not be drawn: {found.renders.problem}")
    for spoilt in found.spoilt_renders[:_MAX_TOLD]:
        yield Fault(RENDERS, "stale", f"{spoilt}. Verify again")
