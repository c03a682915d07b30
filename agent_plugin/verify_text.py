"""What `blendscribe verify` prints: a block an episode for a person, everything as JSON for a program."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from agent_plugin.verify_episode import Verified
from harness.checks.report import JudgedCheck
from harness.checks.verdict import plural
from harness.plain_text import plain
from recorder.verification import ChecksFile
from recorder.verified import replay_sentence

_MAX_LINES = 10


def block_of(done: Verified) -> str:
    """A few lines; text of the episode steers no terminal."""
    return "\n".join(plain(line) for line in _lines(done))


def _lines(done: Verified) -> Iterator[str]:
    yield f"{done.root}: {_headline(done)}"
    if done.summary and done.summary.verdict != "pass":
        yield f"  verdict    of the episode itself: {done.summary.verdict}: {_short(done.summary.reason)}"
    if done.checks:
        yield from _check_lines(done.checks)
    if done.replay:
        yield f"  replay     {_short(replay_sentence(done.replay))}"
        if done.replay.problems:
            yield f"             its final check finds now: {', '.join(done.replay.problems)}"
        if done.replay.note:
            yield f"             {_short(done.replay.note)}"
    if done.integrity:
        findings = done.integrity.findings
        yield f"  integrity  {'sound' if not findings else plural(len(findings), 'finding')}"
        yield from _bounded([f"    {finding.code:10} {finding}" for finding in findings])
    if done.renders:
        yield f"  renders    {len(done.renders.renders)}"
        yield from (f"    {note}" for note in done.renders.notes)
    for error in done.errors:
        yield f"  error      {error}"
    measured = f", checks measured in {1000 * done.check_seconds:.0f} ms" if done.check_seconds else ""
    yield f"  {plural(done.n_starts, 'Blender start')}, {done.seconds:.1f} s{measured}"


def _headline(done: Verified) -> str:
    if done.ok:
        return "PASS"
    is_judged = done.summary or done.checks or done.replay or done.integrity
    return "NOT PASSED" if is_judged else "NOT VERIFIED"


def _check_lines(checks: ChecksFile) -> Iterator[str]:
    if checks.error:
        yield f"  checks     the scene cannot be judged: {_short(checks.error)}"
    score = checks.score
    if score is None:
        yield "  checks     none declared; score: none"
    else:
        weighted = "none" if score.weighted is None else f"{score.weighted:.2f}"
        strict = "yes" if checks.is_strict_pass else "no"
        yield (
            f"  checks     {score.n_passed} pass, {score.n_failed} fail, {len(score.not_judged)} not judged; strict "
            f"pass: {strict}; score {weighted} over {score.judged_share:.0%} of the weight"
        )
        yield from _bounded([_result_line(result) for result in checks.results if result.outcome != "pass"])
    for finding in checks.findings:
        yield f"    the file   {finding.message}"


def _result_line(result: JudgedCheck) -> str:
    what = "is not judged" if result.outcome == "unknown" else "fails"
    return f"    {result.id}{'' if result.required else ' (optional)'} {what}: {result.message}"


def _bounded(lines: list[str]) -> list[str]:
    left = len(lines) - _MAX_LINES
    return [*lines[:_MAX_LINES], *([f"    and {left} more"] if left > 0 else [])]


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 600 else f"{one_line[:600]}..."


def json_of(done: Verified) -> dict[str, Any]:
    """Everything, the derived included."""
    score = done.checks.score if done.checks else None
    parts = {part: getattr(done, part) for part in ("checks", "replay", "integrity", "renders")}
    return {
        "ok": done.ok,
        "score": asdict(score) if score else None,
        "faults": [asdict(fault) for fault in done.faults],
        "errors": done.errors,
        **{part: record.model_dump(mode="json") if record else None for part, record in parts.items()},
        "n_starts": done.n_starts,
        "open_seconds": round(done.open_seconds, 4),
        "check_seconds": round(done.check_seconds, 4),
        "seconds": round(done.seconds, 2),
    }
