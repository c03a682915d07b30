"""Decides on an episode, and says what a decision is worth now: one about other bytes than those there is not believed.

An accept takes all that speaks against it one by one: a verdict that is no pass, a verification that is missing, stale
or failed. What comes up later was not decided on.
"""

import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from harness.checks.verdict import plural
from harness.plain_text import one_line
from recorder.decision_file import Decided, Decision, Override
from recorder.documents import read_plain_document
from recorder.errors import CorruptEpisode
from recorder.files import Finding, Label
from recorder.integrity import check_episode
from recorder.integrity_outcome import contradiction
from recorder.integrity_verification import FILES
from recorder.paths import EpisodePaths
from recorder.records import EpisodeSummary
from recorder.subject import changed_since, hashes_of, subject_of
from recorder.trajectory import read_summary, sync_folder, write_atomically
from recorder.verified import RENDERS, Fault, read_verification

DECISION = "verification/decision.json"


class Refused(Exception):
    """An episode that cannot be accepted like this. Holds every reason."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("\n".join(faults))


class NothingToOverride(Exception):
    """An override was given, and nothing speaks against the episode."""


class AlreadyDecided(Exception):
    """There is a decision, which is not replaced without a word. Holds it."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        super().__init__(
            f"{decision.decision}ed by {one_line(decision.by)} at {decision.decided_at}: {one_line(decision.reason)}"
        )


def decide(
    root: Path,
    decision: Literal["accept", "reject"],
    *,
    reason: str,
    by: str,
    override: str | None = None,
    again: bool = False,
) -> Decision:
    """Write a decision on a recorded episode. `again` replaces an earlier one, which is kept in the history.

    Raises Refused, NothingToOverride, AlreadyDecided, or CorruptEpisode for files that cannot be read or written over.
    """
    earlier = stored_decision(root)
    if earlier and not again:
        raise AlreadyDecided(earlier)
    against = [str(fault) for fault in obstacles_now(root)] if decision == "accept" else []
    if against and override is None:
        raise Refused(against)
    if override is not None and not against:
        raise NothingToOverride
    made = Decision(
        decision=decision,
        reason=reason,
        by=by,
        decided_at=datetime.now(UTC).isoformat(timespec="seconds"),
        about=_decided_on(root),
        override=Override(reason=override, faults=against) if override is not None else None,
        history=[*earlier.history, _without_history(earlier)] if earlier else [],
    )
    _write(root, made)
    return made


def obstacles(root: Path) -> list[Fault]:
    """Everything that speaks against accepting a finished episode. Raises CorruptEpisode for its episode.json."""
    summary = read_summary(EpisodePaths(root).summary)
    return [*verdict_faults(summary), *read_verification(root).faults]


def obstacles_now(root: Path) -> list[Fault]:
    """The same, and what the record itself shows when it is examined now: integrity.json is a claim of an earlier
    time."""
    told = obstacles(root)
    return [*told, *(_fault(finding) for finding in check_episode(root) if not _is_told(finding, told))]


def _fault(finding: Finding) -> Fault:
    line = f"line {finding.line}: " if finding.line else ""
    return Fault(finding.file, "failed", f"{line}{finding.message}")


def _is_told(finding: Finding, told: list[Fault]) -> bool:
    return any(
        str(finding) in fault.why or (finding.file, finding.message) == (fault.file, fault.why) for fault in told
    )


def verdict_faults(summary: EpisodeSummary) -> list[Fault]:
    """What the episode's own verdict says against it."""
    return [] if summary.verdict == "pass" else [Fault("episode.json", "failed", summary.reason)]


def standing(root: Path) -> tuple[Label, str]:
    """What a finished episode is worth, and why. Raises CorruptEpisode, also for a decision about other bytes, and for
    a verdict of pass that the facts beside it contradict.

    Where nobody decided, a verification that is missing speaks against nothing; one that is there does.
    """
    decision = valid_decision(root)
    if rejected := rejection(decision):
        return "failed", rejected
    if why := contradiction(root, read_summary(EpisodePaths(root).summary)):
        raise CorruptEpisode(EpisodePaths(root).summary, None, f"the verdict is pass, but {why}")
    against = [fault for fault in obstacles(root) if fault.kind != "missing"]
    overruled = set(decision.override.faults) if decision and decision.override else set()
    left = [fault for fault in against if str(fault) not in overruled]
    if left:
        first = left[0].why if left[0].file == "episode.json" else str(left[0])
        return "failed", first + (f" (and {len(left) - 1} more)" if len(left) > 1 else "")
    if decision and decision.override:
        n_faults = plural(len(overruled), "fault")
        why = one_line(decision.override.reason)
        return "accepted", f"accepted by {one_line(decision.by)} in spite of {n_faults}: {why}"
    return "accepted", read_summary(EpisodePaths(root).summary).reason


def rejection(decision: Decision | None) -> str:
    """A rejection in words; '' for none."""
    is_rejected = decision is not None and decision.decision == "reject"
    return f"rejected by {one_line(decision.by)}: {one_line(decision.reason)}" if decision and is_rejected else ""


def stored_decision(root: Path) -> Decision | None:
    """What decision.json holds, whatever it is about. Raises CorruptEpisode."""
    if not (root / DECISION).exists() and not (root / DECISION).is_symlink():
        return None
    return read_plain_document(root, DECISION, Decision)


def valid_decision(root: Path) -> Decision | None:
    """The same. Raises CorruptEpisode too where a file that was decided on is another one now, or gone."""
    decision = stored_decision(root)
    if decision is None:
        return None
    changed = changed_since(decision.about, hashes_of(root, decision.about))
    if changed:
        named = ", ".join(f"'{name}'" for name in changed[:5])
        why = f"stale: {named} changed since it was decided. Decide again (decide --again)"
        raise CorruptEpisode(root / DECISION, None, why)
    return decision


def _decided_on(root: Path) -> dict[str, str]:
    verified = [f"verification/{name}" for name in FILES if name != Path(DECISION).name]
    return subject_of(root) | hashes_of(root, [*verified, RENDERS])


def _without_history(decision: Decision) -> Decided:
    return Decided.model_validate(decision.model_dump(exclude={"history", "schema_version"}))


def _write(root: Path, decision: Decision) -> None:
    folder = make_folder(root, "verification")
    write_atomically(folder / Path(DECISION).name, (decision.model_dump_json(indent=2) + "\n").encode())


def make_folder(root: Path, name: str) -> Path:
    """A folder of the episode, made if it is not there. Raises CorruptEpisode where something else has its name."""
    folder = root / name
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            raise CorruptEpisode(folder, None, "is no folder, or a link: links are not followed")
    except FileNotFoundError:
        folder.mkdir()
        sync_folder(root)
    return folder
