"""`python -m tests.bench.fuzz_blends N [SEED]`: N damaged .blends against `blendscribe check`, and a table.

The files are those of `tests/verification/old_blends/`, each damaged in every way in turn, and checked by its whole
checks file. Exit status 1 where a report broke a promise; the seeds that it prints make the same files again.
"""

import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from agent_plugin.checks_file import load_checks
from harness.checks.declared import DeclaredCheck
from harness.checks.report import CheckReport
from harness.checks.run import run_checks
from harness.sandbox import Limits
from harness.settings import HarnessSettings
from tests.verification.old_blends.damage import DAMAGES

CORPUS = Path(__file__).resolve().parents[1] / "verification/old_blends"
LIMITS = Limits(timeout_seconds=60, max_file_mb=64, disk_mb=64, output_mb=16)
WORST_SECONDS = 3 * LIMITS.timeout_seconds + 20


def main() -> None:
    """Damage, check, and count."""
    n, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    checks = load_checks(CORPUS / "checks.json")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    broken, slowest = 0, 0.0
    for one in range(seed, seed + n):
        name, content = damaged(one)
        begun = time.monotonic()
        report = checked(content, checks)
        slowest = max(slowest, time.monotonic() - begun)
        counts[name][outcome(report)] += 1
        for wrong in broken_promises(report, time.monotonic() - begun):
            broken += 1
            print(f"BROKEN seed {one}, {name}: {wrong}")
    print_table(counts)
    print(f"{n} files, {broken} broken promises, the slowest took {slowest:.1f} s")
    sys.exit(broken > 0)


def damaged(seed: int) -> tuple[str, bytes]:
    """A way of damage, and one of the corpus's files after it."""
    files = sorted(CORPUS.glob("*.blend"))
    dice = random.Random(seed)
    damage = DAMAGES[seed % len(DAMAGES)]
    return damage.__name__, damage(dice.choice(files).read_bytes(), dice)


def checked(content: bytes, checks: Sequence[DeclaredCheck]) -> CheckReport:
    """The report on a file of that content."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "damaged.blend"
        file.write_bytes(content)
        return run_checks(file, checks, HarnessSettings(), LIMITS)


def outcome(report: CheckReport) -> str:
    """In a word: refused before Blender, refused by it, its crash while opening or measuring, or judged."""
    if report.error:
        return "refused" if not report.n_starts else "crash" if "Blender crashed" in report.error else "not opened"
    if any("Blender crashed" in check.message for check in report.checks):
        return "judged, crash"
    return "judged"


def broken_promises(report: CheckReport, seconds: float) -> list[str]:
    """What a report must never be, whatever the file is."""
    outcomes = {check.outcome for check in report.checks}
    promises = {
        "an error of several lines": "\n" not in report.error,
        "a file that is not opened is judged": not report.error or outcomes == {"unknown"},
        "a check says nothing": all(check.message for check in report.checks),
        "Python's words reach the reader": "Traceback" not in report.model_dump_json(),
        "it names a place of this machine": "/checked/" not in report.model_dump_json(),
        f"it took {seconds:.0f} s": seconds < WORST_SECONDS,
    }
    return [words for words, holds in promises.items() if not holds]


def print_table(counts: dict[str, Counter[str]]) -> None:
    """Ways of damage down, outcomes across."""
    columns = ("refused", "not opened", "crash", "judged", "judged, crash")
    total: Counter[str] = sum(counts.values(), Counter())
    print(f"{'':22}" + "".join(f"{column:>15}" for column in columns))
    for name, found in [*sorted(counts.items()), ("all", total)]:
        print(f"{name:22}" + "".join(f"{found[column]:>15}" for column in columns))


if __name__ == "__main__":
    main()
