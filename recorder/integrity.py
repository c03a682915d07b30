"""Is a record what was written? Every hash and every invariant of an episode or a data set; each finding is located.

Covers: order and form of the lines, every call answered, pictures and state patches by hash, the final script of a
scene, sums of cost and usage, the hashes of episode.json, whether its outcome follows from its facts, the pinned task,
renders by hash, the form of what is in `verification/`. A data set: its manifest, then each sample.
Does not cover: whether the work is any good (`verify` without `--integrity`), and a forger who rewrites every hash.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recorder.documents import read_document
from recorder.errors import CorruptEpisode
from recorder.files import Finding, IntegrityFile, Manifest
from recorder.integrity_files import check_pinned_task, check_references, check_script
from recorder.integrity_outcome import check_outcome
from recorder.integrity_verification import check_verification
from recorder.paths import EpisodePaths
from recorder.plain_files import NotPlain, hash_plain, list_plain, open_plain
from recorder.records import End, EpisodeSummary, Header, Step
from recorder.subject import subject_of
from recorder.trajectory import parse_line, read_summary
from recorder.usage import count_tokens

TRAJECTORY = "trajectory.jsonl"
DELIVERABLES = ("final_script.py", "output.mp4", "scene.blend", "preview.png")
"""Named by episode.json whenever they are there."""


@dataclass
class Record:
    """What could be read of a trajectory, with the line of each record."""

    header: Header | None = None
    steps: list[tuple[int, Step]] = field(default_factory=list)
    end: tuple[int, End] | None = None
    n_lines: int = 0


def check_episode(root: Path) -> list[Finding]:
    """Everything that is wrong with an episode, in order of its files; an unfinished one may lack its end."""
    findings: list[Finding] = []
    record = _read_lines(root, findings)
    summary = _summary(root, findings)
    if record.header:
        findings += check_pinned_task(root, record.header)
    for line, step in record.steps:
        findings += _check_calls(line, step, is_last=line == record.n_lines - 1 or record.end is None)
        findings += _check_usage(line, step)
    findings += check_references(root, record.header, record.steps)
    if summary:
        findings += _check_files(root, summary)
    if record.header and summary:
        findings += _check_summary(record.header, record, summary)
        findings += check_outcome(root, record.header, [step for _, step in record.steps], summary)
        findings += check_script(root, record.header, record.steps, record.end[1] if record.end else None)
    findings += check_verification(root)
    return findings


def integrity_file(root: Path, findings: Sequence[Finding], *, renders_sha256: str | None = None) -> IntegrityFile:
    """The findings as the file that is kept."""
    try:
        digest = hash_plain(root, TRAJECTORY)[0]
    except NotPlain:
        digest = ""
    return IntegrityFile(
        trajectory_sha256=digest, about=subject_of(root), findings=list(findings), renders_sha256=renders_sha256
    )


def check_dataset(root: Path) -> list[Finding]:
    """Everything that is wrong with a data set: its files against the manifest, then each sample as an episode."""
    try:
        manifest = read_document(root / "manifest.json", Manifest)
    except CorruptEpisode as error:
        return [Finding(code="manifest", file="manifest.json", message=error.why)]
    findings: list[Finding] = []
    listed = {entry.path: entry for entry in manifest.files}
    for entry in manifest.files:
        findings += _check_hash(root, entry.path, entry.sha256, entry.n_bytes)
    for name in list_plain(root):
        if name not in listed and name != "manifest.json":
            findings.append(Finding(code="unlisted", file=name, message="the manifest does not list this file"))
    for sample in sorted(path for path in (root / "samples").glob("*") if path.is_dir() and not path.is_symlink()):
        for finding in check_episode(sample):
            findings.append(finding.model_copy(update={"file": f"samples/{sample.name}/{finding.file}"}))
    return findings


def _read_lines(root: Path, findings: list[Finding]) -> Record:
    """Every line that can be read. What is wrong with one does not hide the next."""
    record = Record()
    path = root / TRAJECTORY
    try:
        file = open_plain(root, TRAJECTORY)
    except NotPlain as error:
        findings.append(Finding(code="missing", file=TRAJECTORY, message=str(error)))
        return record
    with file:
        expected = 0
        for number, raw in enumerate(file, start=1):
            record.n_lines = number
            if not raw.endswith(b"\n"):
                findings.append(_at(number, "torn", "torn line: the file ends in the middle of it"))
                continue
            try:
                line = parse_line(path, number, raw)
            except CorruptEpisode as error:
                findings.append(_at(number, "line", error.why))
                expected += 1
                continue
            if line.seq != expected:
                findings.append(_at(number, "order", f"seq is {line.seq}, expected {expected}"))
            expected = line.seq + 1
            findings += _place(record, number, line)
    if not record.n_lines:
        findings.append(Finding(code="line", file=TRAJECTORY, message="it holds no line"))
    return record


def _place(record: Record, number: int, line: Header | Step | End) -> Iterator[Finding]:
    """Put a line where it belongs; say so where it stands in the wrong place."""
    if (number == 1) != isinstance(line, Header):
        what = "the first line is no header" if number == 1 else "a second header"
        yield _at(number, "order", what)
    if record.end is not None:
        yield _at(number, "order", f"a {line.kind} line after the end")
    if isinstance(line, Header):
        record.header = record.header or line
    elif isinstance(line, Step):
        expected = record.steps[-1][1].step + 1 if record.steps else 1
        if line.step != expected:
            yield _at(number, "order", f"step {line.step} where step {expected} was expected")
        record.steps.append((number, line))
    else:
        record.end = record.end or (number, line)


def _check_calls(line: int, step: Step, *, is_last: bool) -> Iterator[Finding]:
    """Every tool call has its action and its answer, in order. What the machine cut off is told by the end line."""
    raw = step.assistant.get("tool_calls") or []
    called = [call.get("id") for call in raw if isinstance(call, dict)] if isinstance(raw, list) else []
    acted = [action.tool_call_id for action in step.actions if action.tool_call_id is not None]
    answered = [message.tool_call_id for message in step.observations if message.tool_call_id is not None]
    if step.format_error is None and called and called != acted:
        yield _at(line, "call", f"the reply calls {called}, the actions are for {acted}")
    for call in answered:
        if call not in called:
            yield _at(line, "call", f"an answer to '{call}', which the reply did not call")
    missing = [call for call in acted if call not in answered]
    if missing and not (is_last and not step.observations):
        yield _at(line, "call", f"the call '{missing[0]}' has no answer")
    if len(step.executions) > len(step.actions):
        yield _at(line, "call", f"{len(step.executions)} executions of {len(step.actions)} actions")


def _check_usage(line: int, step: Step) -> Iterator[Finding]:
    """Token counts are counts, and the total holds its parts."""
    usage = step.usage or {}
    counts = {key: usage.get(key) for key in ("prompt_tokens", "completion_tokens", "total_tokens")}
    numbers = {key: value for key, value in counts.items() if isinstance(value, int)}
    if any(value < 0 for value in numbers.values()) or step.cost.usd < 0:
        yield _at(line, "sum", "a negative count of tokens, or a negative cost")
    if len(numbers) == 3 and numbers["total_tokens"] < numbers["prompt_tokens"] + numbers["completion_tokens"]:
        yield _at(line, "sum", f"total_tokens is {numbers['total_tokens']}, less than its parts")


def _summary(root: Path, findings: list[Finding]) -> EpisodeSummary | None:
    paths = EpisodePaths(root)
    if not paths.summary.exists() and not paths.summary.is_symlink():
        return None  # never finished
    try:
        open_plain(root, "episode.json").close()
        return read_summary(paths.summary)
    except NotPlain as error:
        findings.append(Finding(code="missing", file="episode.json", message=str(error)))
    except CorruptEpisode as error:
        findings.append(Finding(code="summary", file="episode.json", message=error.why))
    return None


def _check_summary(header: Header, record: Record, summary: EpisodeSummary) -> Iterator[Finding]:
    """episode.json against the lines."""
    steps = [step for _, step in record.steps]
    if record.end is None:
        yield Finding(
            code="order", file=TRAJECTORY, line=record.n_lines, message="the episode ended, but has no end line"
        )
    usd = sum(step.cost.usd for step in steps)
    is_known = all(step.cost.is_known for step in steps)
    facts: dict[str, tuple[object, object]] = {
        "task_id": (summary.task_id, header.task_id),
        "task_sha256": (summary.task_sha256, header.task_sha256),
        "model": (summary.model, header.model),
        "attempt": (summary.attempt, header.attempt),
        "n_steps": (summary.n_steps, len(steps)),
        "exit_status": (summary.exit_status, record.end[1].exit_status if record.end else summary.exit_status),
        "cost.is_known": (summary.cost.is_known, is_known),
        "cost.usd": (round(summary.cost.usd, 9), round(usd, 9)),
    }
    if summary.tokens is not None:
        facts["tokens"] = (summary.tokens, count_tokens(step.usage for step in steps))
    for name, (stated, found) in facts.items():
        if stated != found:
            yield Finding(
                code="sum", file="episode.json", message=f"{name} is {stated!r}, the trajectory says {found!r}"
            )


def _check_files(root: Path, summary: EpisodeSummary) -> Iterator[Finding]:
    """The files against episode.json."""
    for name, digest in sorted(summary.files.items()):
        yield from _check_hash(root, name, digest)
    for name in (TRAJECTORY, *DELIVERABLES):
        if name not in summary.files and (root / name).exists():
            yield Finding(code="unlisted", file=name, message="episode.json does not list this file")


def _check_hash(root: Path, name: str, digest: str, n_bytes: int | None = None) -> Iterator[Finding]:
    try:
        found, size = hash_plain(root, name)
    except NotPlain as error:
        yield Finding(code="missing", file=name, message=str(error))
        return
    if found != digest:
        n = f", {size} bytes where {n_bytes} were listed" if n_bytes is not None and size != n_bytes else ""
        why = f"not what was recorded: its SHA-256 is {found[:12]}…, not {digest[:12]}…{n}"
        yield Finding(code="hash", file=name, message=why)


def _at(line: int, code: str, message: str) -> Finding:
    return Finding(code=code, file=TRAJECTORY, line=line, message=message)
