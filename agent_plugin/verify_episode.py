"""Verifies one episode: checks, renders, replay and integrity, as files of its own `verification/` and `renders/`.

What is verified anew is removed first: no file of an earlier time, or of somebody else's making, is taken for a result.
A failure of the machine is told and leaves that part without a file. Nothing in the folder is followed out of it.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent_plugin.faults import BadInput
from agent_plugin.final_checks import declared_checks
from agent_plugin.isolation_here import on_this_machine
from agent_plugin.recorded_episode import RecordedEpisode, read_episode
from agent_plugin.verify_replay import Replayed, replay_scene, replay_video
from harness.blender import level_in_force
from harness.checks.opened_file import Wanted
from harness.checks.run import Examination, examine, unjudged
from harness.errors import HarnessError
from harness.folders import private_folder
from harness.renders import RenderRequest
from harness.sandbox.level import LevelName
from harness.workspace import remove_entry
from recorder.decisions import make_folder, verdict_faults
from recorder.declared_checks import Entry, copied
from recorder.errors import CorruptEpisode
from recorder.files import Finding, IntegrityFile
from recorder.integrity import check_episode, integrity_file
from recorder.integrity_verification import anchored_renders
from recorder.plain_files import odd_entries
from recorder.records import EpisodeSummary, Record
from recorder.redaction import Redactor
from recorder.subject import changed_since, hashes_of, subject_of
from recorder.trajectory import read_summary, sync_folder, write_atomically
from recorder.verification import About, ChecksFile, RendersFile, ReplayDiffFile
from recorder.verified import PARTS, Fault, Found, Verification
from recorder.verified import RENDERS as RENDERS_FILE

if TYPE_CHECKING:
    from harness.checks.declared import DeclaredCheck

RENDERS = "renders"
Source = Literal["task", "given", "none"]
Stopped = Callable[[], None]
"""Called between the parts; raises what ends the work."""


@dataclass(frozen=True)
class Wish:
    """What is to be done with each episode."""

    given: "tuple[DeclaredCheck, ...] | None" = None
    """Checks in place of those that the task declares."""
    renders: RenderRequest | None = None
    """What to draw, where files are kept."""
    allowed: LevelName | None = None
    """Weakest isolation to run the script in; None: what the record asks for."""
    keeps: bool = True
    """Write the files. A data set's samples are as they were shipped."""


@dataclass
class Verified:
    """What came of verifying an episode."""

    root: Path
    checks: ChecksFile | None = None
    replay: ReplayDiffFile | None = None
    integrity: IntegrityFile | None = None
    renders: RendersFile | None = None
    summary: EpisodeSummary | None = None
    """The episode's own outcome, as it was recorded."""
    declared: list[Entry] | None = None
    """The checks that the task declares, as a verification copies them; None where it declares none."""
    errors: list[str] = field(default_factory=list)
    """Why a part is missing: the machine failed, or the record cannot be read."""
    n_starts: int = 0
    """Blenders that were started."""
    open_seconds: float = 0.0
    check_seconds: float = 0.0
    """That measuring all checks took in the opened file."""
    seconds: float = 0.0

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What speaks against the episode: its own verdict, and the parts that came to a result."""
        found = Found(checks=self.checks, replay=self.replay, integrity=self.integrity, renders=self.renders)
        records = [record for record in (self.checks, self.replay, self.integrity) if record]
        subject = records[0].about if records else {}
        verified = Verification(found, subject, self.declared).faults
        own = verdict_faults(self.summary) if self.summary else []
        return (*own, *(fault for fault in verified if fault.kind != "missing"))

    @property
    def ok(self) -> bool:
        return not self.errors and not self.faults


def verify_episode(root: Path, wish: Wish, go_on: Stopped = lambda: None) -> Verified:
    """Do all that is wished. Raises BadInput where the isolation is too weak, and what `go_on` raises.

    Where another command works on the episode, nothing is done, and that is the error.
    """
    began = time.monotonic()
    done = Verified(root)
    episode = _readable(root, done)
    keeps = wish.keeps and episode is not None
    try:
        with _alone_in(root) if keeps else nullcontext():
            anchor = anchored_renders(root)
            if episode is not None:
                _run_parts(episode, wish, done, go_on)
            go_on()
            _integrity(root, wish, done, anchor, is_written=keeps)
            done.summary = read_summary(root / "episode.json")
    except _Busy:
        done.errors.append(f"{root}: another verify or review works on this episode. Try again when it is done")
    except CorruptEpisode as error:
        done.errors.append(str(error))
    except OSError as error:
        done.errors.append(f"{root}: cannot be written ({error.strerror or error})")
    done.seconds = time.monotonic() - began
    return done


class _Busy(Exception):
    """Another command works on the episode."""


@contextmanager
def _alone_in(root: Path) -> Iterator[None]:
    """Nobody else verifies or reviews this episode meanwhile. Raises _Busy, OSError, CorruptEpisode."""
    folder = make_folder(root, "verification")
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _Busy from None
        yield
    finally:
        os.close(descriptor)


def _run_parts(episode: RecordedEpisode, wish: Wish, done: Verified, go_on: Stopped) -> None:
    try:
        level_in_force(episode.environment.harness.model_copy(update={"sandbox": "auto"}))  # is there a Blender?
    except HarnessError as error:
        done.errors.append(f"the machine failed: {error}")
        if wish.keeps:
            _remove_earlier(episode, wish)
        return
    _Parts(on_this_machine(episode, wish.allowed), wish, done, go_on).run()


def _remove_earlier(episode: RecordedEpisode, wish: Wish) -> None:
    """What is going to be verified anew."""
    root = episode.paths.root
    folder = make_folder(root, "verification")
    for name in PARTS.values():
        remove_entry(folder / name)
    for left in root.glob(f".{RENDERS}.*.tmp"):  # by one that was killed
        remove_entry(left)
    if wish.renders or not episode.is_scene:  # a film's scene is another file each time
        remove_entry(root / RENDERS)


def _readable(root: Path, done: Verified) -> RecordedEpisode | None:
    """The episode, or None and the reasons why none of its code is run."""
    odd = list(odd_entries(root))
    if odd:
        done.errors += [f"{root / name}: neither a plain file nor a folder: links are not followed" for name in odd[:5]]
        return None
    try:
        return read_episode(root)
    except CorruptEpisode as error:
        done.errors.append(str(error))
    except BadInput as error:
        done.errors += [str(fault) for fault in error.faults]
    return None


class _Parts:
    """Checks and replay of one episode that can be read."""

    def __init__(self, episode: RecordedEpisode, wish: Wish, done: Verified, go_on: Stopped) -> None:
        self.episode, self.wish, self.done, self.go_on = episode, wish, done, go_on
        self.root = episode.paths.root
        self.about: About = subject_of(self.root)
        self.redactor = Redactor.for_this_machine()
        self.drawn = self.root / f".{RENDERS}.{os.getpid()}.tmp"
        """The renders until all is done."""

    def run(self) -> None:
        """Each part is written when all have come to an end, if the episode is still the same."""
        try:
            if self.wish.keeps:
                _remove_earlier(self.episode, self.wish)
            self._run_all()
        finally:
            remove_entry(self.drawn)

    def _run_all(self) -> None:
        try:
            self._run_both(*self._declared())
        except BadInput as error:
            self.done.errors += [str(fault) for fault in error.faults]
        except (HarnessError, OSError) as error:
            self.done.errors.append(f"the machine failed: {error}")
        self.go_on()
        if changed := changed_since(self.about, subject_of(self.root)):
            what = ", ".join(changed)
            self.done.errors.append(f"{self.root}: changed while it was verified ({what}): nothing was kept")
            self.done.checks = self.done.replay = self.done.renders = None
        if self.wish.keeps:
            self._keep()

    def _keep(self) -> None:
        for part in ("checks", "replay"):
            if record := getattr(self.done, part):
                _write(self.root, PARTS[part], record)
        if self.done.renders:
            self.drawn.rename(self.root / RENDERS)
            sync_folder(self.root)

    def _declared(self) -> "tuple[tuple[DeclaredCheck, ...], Source]":
        declared = tuple(declared_checks(self.episode.task))
        if self.episode.task.checks is not None:
            self.done.declared = [_copied(check) for check in declared]
        if self.wish.given is not None:
            return self.wish.given, "given"
        return declared, "none" if self.done.declared is None else "task"

    def _run_both(self, checks: "tuple[DeclaredCheck, ...]", source: Source) -> None:
        if self.episode.is_scene:
            name = self.episode.paths.scene.name
            looked = self._look(self.episode.paths.scene, checks, f"there is no '{name}'", state=True)
            self.done.checks = self._checks_file(source, checks, looked)
            self.go_on()
            self._count(replay_scene(self.episode, self.about, looked.state, looked.why_no_state, self.redactor))
            return
        with private_folder("left") as folder:
            scene = folder / "scene.blend"
            self._count(replay_video(self.episode, self.about, scene, self.redactor))
            self.go_on()
            looked = self._look(scene, checks, "final_script.py, run again, leaves no scene", state=False)
            self.done.checks = self._checks_file(source, checks, looked)

    def _look(self, scene: Path, checks: "tuple[DeclaredCheck, ...]", why_none: str, *, state: bool) -> Examination:
        """The one start that examines the scene."""
        if not scene.is_file():
            return Examination(unjudged(scene.name, checks, why_none), None, why_none)
        wanted = Wanted(checks, state=state, renders=self.wish.renders if self.wish.keeps else None)
        looked = examine(scene, wanted, self.episode.environment.harness, keep=self.drawn)
        if looked.renders:
            self.done.renders = RendersFile.model_validate(looked.renders.model_dump(mode="json"))
        self.done.n_starts += looked.report.n_starts
        self.done.open_seconds = looked.report.open_seconds
        self.done.check_seconds = sum(result.seconds for result in looked.report.checks)
        return looked

    def _count(self, replayed: Replayed) -> None:
        self.done.replay = replayed.file
        self.done.n_starts += replayed.n_starts

    def _checks_file(self, source: Source, checks: "tuple[DeclaredCheck, ...]", looked: Examination) -> ChecksFile:
        report = looked.report
        results = [result.model_dump(mode="json", exclude={"seconds"}) for result in report.checks]
        findings = [finding.model_dump(mode="json") for finding in report.findings]
        return ChecksFile(
            about=self.about,
            source=source,
            checks=[_copied(check) for check in checks],
            scene_sha256=report.sha256,
            error=self.redactor.clean_texts(report.error),
            blender_version=report.blender_version,
            findings=self.redactor.clean_texts(findings),
            results=self.redactor.clean_texts(results),
            isolation=report.isolation,
        )


def _copied(check: "DeclaredCheck") -> dict[str, Any]:
    """As a checks file holds it."""
    parameters = check.check.model_dump(mode="json", exclude_none=True)
    return copied(check.id, check.type, check.weight, check.required, parameters)


def _integrity(root: Path, wish: Wish, done: Verified, anchor: str | None, *, is_written: bool) -> None:
    """Last, since it looks at the other files too. `anchor`: of the renders that an earlier verification drew, which
    stay where this one draws none."""
    findings: list[Finding] = check_episode(root)
    if wish.keeps and (wish.renders or done.renders):
        anchor = hashes_of(root, [RENDERS_FILE]).get(RENDERS_FILE, "")
    done.integrity = integrity_file(root, findings, renders_sha256=anchor)
    if is_written:
        _write(root, PARTS["integrity"], done.integrity)


def _write(root: Path, name: str, record: Record) -> None:
    folder = make_folder(root, "verification")
    write_atomically(folder / name, (record.model_dump_json(indent=2) + "\n").encode())
