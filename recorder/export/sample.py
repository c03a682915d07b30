"""One episode on its way into a data set: read, checked and labelled. At most one is in memory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recorder.decisions import rejection, standing, valid_decision
from recorder.documents import read_document
from recorder.errors import CorruptEpisode
from recorder.export.conversation import Turn, conversation
from recorder.files import Label, PinnedTask
from recorder.integrity import TRAJECTORY, check_episode
from recorder.paths import EpisodePaths
from recorder.plain_files import hash_plain, is_plain, read_plain
from recorder.records import CheckScore, End, EpisodeSummary, Header, Step
from recorder.redaction import Redactor
from recorder.trajectory import parse_line, read_summary

_TEXTS = ("final_script.py", "task/brief.md", "task/task.json", "task/checks.json", "task/rubric.json")
"""What an episode holds in clear text that no redaction went over."""


class RefusedEpisode(Exception):
    """An episode that must not be exported: it holds what looks like a secret, or a path of this machine."""


@dataclass(frozen=True)
class Sample:
    """What every format is made from."""

    name: str
    label: Label
    reason: str
    root: Path
    """Of the episode that it is read from."""
    episode: str
    """`<task>/<model>/<attempt>` of a run, else the folder's name."""
    header: Header
    steps: tuple[Step, ...]
    end: End | None
    summary: EpisodeSummary | None
    task: PinnedTask
    turns: tuple[Turn, ...]
    script: str | None
    trajectory_sha256: str
    license: str

    @property
    def is_success(self) -> bool:
        return self.label == "accepted"

    @property
    def reward(self) -> float:
        return 1.0 if self.is_success else 0.0

    @property
    def score(self) -> CheckScore | None:
        """Of the task's declared checks; None where there are none, and for an episode that never ended."""
        return self.summary.score if self.summary else None

    @property
    def n_images(self) -> int:
        return sum(len(turn.images) for turn in self.turns)

    @property
    def tools(self) -> list[dict[str, Any]]:
        return self.header.tools

    def image_path(self, path: str) -> str:
        """A picture's path from the data set's root."""
        return f"samples/{self.name}/{path}"


def label_of(root: Path) -> tuple[Label, str]:
    """What an episode is worth, and why. Raises CorruptEpisode, also for a pass that its own facts contradict."""
    paths = EpisodePaths(root)
    if not paths.summary.exists() and not paths.summary.is_symlink():
        if rejected := rejection(valid_decision(root)):
            return "failed", rejected
        return "unfinished", "it has no episode.json: it was stopped, or the machine failed"
    return standing(root)


def has_record(root: Path) -> bool:
    """Whether at least a header was written before the episode was stopped."""
    return is_plain(root, TRAJECTORY) and b"\n" in read_plain(root, TRAJECTORY)


def read_sample(root: Path, name: str, episode: str, license_name: str) -> Sample:
    """The episode in a folder. Raises CorruptEpisode with its first finding, and RefusedEpisode."""
    is_finished = EpisodePaths(root).summary.exists()
    findings = [f for f in check_episode(root) if is_finished or f.code not in ("torn", "unlisted")]
    if findings:
        more = f" (and {len(findings) - 1} more findings)" if len(findings) > 1 else ""
        raise CorruptEpisode(root / findings[0].file, findings[0].line, f"{findings[0].message}{more}")
    label, reason = label_of(root)
    header, steps, end = _records(root)
    _check_texts(root)
    return Sample(
        name=name,
        label=label,
        reason=reason,
        root=root,
        episode=episode,
        header=header,
        steps=steps,
        end=end,
        summary=read_summary(root / "episode.json") if is_finished else None,
        task=read_document(root / "task/task.json", PinnedTask),
        turns=conversation(header, steps),
        script=_script(root),
        trajectory_sha256=hash_plain(root, TRAJECTORY)[0],
        license=license_name,
    )


def _records(root: Path) -> tuple[Header, tuple[Step, ...], End | None]:
    """The lines, which were checked already; a torn last one is left out."""
    header, steps, end = None, [], None
    lines = read_plain(root, TRAJECTORY).split(b"\n")[:-1]
    for number, raw in enumerate(lines, start=1):
        line = parse_line(root / TRAJECTORY, number, raw)
        if isinstance(line, Header):
            header = line
        elif isinstance(line, Step):
            steps.append(line)
        else:
            end = line
    if header is None:
        raise CorruptEpisode(root / TRAJECTORY, 1, "the first line is no header")
    for tool in header.tools:
        function = tool.get("function")
        if not isinstance(function, dict) or not {"name", "parameters"} <= function.keys():
            raise CorruptEpisode(root / TRAJECTORY, 1, "a tool without a function's name and parameters")
    return header, tuple(steps), end


def _script(root: Path) -> str | None:
    if not is_plain(root, "final_script.py"):
        return None
    try:
        return read_plain(root, "final_script.py").decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorruptEpisode(root / "final_script.py", None, f"not UTF-8 text ({error.reason})") from error


def _check_texts(root: Path) -> None:
    """Files whose bytes are pinned by hashes cannot be cleaned: what holds a secret stays out as a whole."""
    redactor = Redactor.for_this_machine()
    for name in _TEXTS:
        if not is_plain(root, name):
            continue
        for number, line in enumerate(read_plain(root, name).decode("utf-8", "replace").split("\n"), start=1):
            redactor.clean(line)
            if found := [kind for kind, n in redactor.counts.items() if n]:
                what = "a path of this machine" if found == ["path"] else "a secret"
                raise RefusedEpisode(f"{root / name}, line {number}: holds {what}")
