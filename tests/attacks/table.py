"""Writes docs/attacks.md from what a run of the attack suite printed as JUnit XML.

`make attacks` does both: the run, and this.
"""

import re
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.harness.sandbox.test_conformance import HOLDS, LEVELS, promised_at

_NUMBERS = re.compile(
    r"^(?:.*: )?((?:a block of frame|it has \d+ frames|its frames have|nothing to compare).*)$", re.MULTILINE
)
_HEAD = """# Attacks

Written by `make attacks` from its own run; what each row tries is in
`tests/harness/sandbox/test_conformance.py` (the levels) and `tests/attacks/` (the films).

- **holds**: tried on this level, and the attempt failed as it must
- **open**: this level does not promise it (see `docs/reference.md`, Isolation)
"""


@dataclass(frozen=True)
class Case:
    """One test of the run."""

    module: str
    name: str
    parameters: str
    passed: bool
    printed: str


def main() -> None:
    """Print the page."""
    cases = list(_cases(Path(sys.argv[1])))
    failed = [f"{case.module}::{case.name}[{case.parameters}]" for case in cases if not case.passed]
    if failed:
        raise SystemExit("Not written: these failed.\n" + "\n".join(failed))
    print(_HEAD)
    print("\n".join(_levels(cases)))
    print("\n".join(_verdicts(cases)))
    print("\n".join(_others(cases)))


def _cases(path: Path) -> Iterator[Case]:
    for element in ET.parse(path).iter("testcase"):
        name, _, parameters = element.get("name", "").partition("[")
        passed = element.find("failure") is None and element.find("error") is None
        printed = (element.findtext("system-out") or "").strip()
        yield Case(element.get("classname", ""), name, parameters.rstrip("]"), passed, printed)


def _levels(cases: list[Case]) -> Iterator[str]:
    names = list(LEVELS)
    held = {case.parameters for case in cases if case.name == "test_it_holds"}
    yield f"## What code inside tries\n\n| attempt | {' | '.join(names)} |\n|---|{'---|' * len(names)}"
    for what in HOLDS:
        promised = promised_at(what)
        if missing := [name for name in promised if f"{what}-{name}" not in held]:
            raise SystemExit(f"Not written: '{what}' was not tried on {', '.join(missing)}.")
        yield f"| {what} | {' | '.join('holds' if name in promised else 'open' for name in names)} |"


def _verdicts(cases: list[Case]) -> Iterator[str]:
    for title, name in (
        ("Forged films, all caught", "test_a_forgery_is_caught"),
        ("Honest oddities, all passed", "test_an_honest_oddity_passes"),
        ("Ordinary films, none accused", "test_an_ordinary_animation_passes"),
    ):
        yield f"\n## {title}\n\n| film | film and scene compared |\n|---|---|"
        for case in cases:
            if case.name == name:
                found = _NUMBERS.search(case.printed)
                yield f"| {case.parameters} | {found[1] if found else ''} |"


def _others(cases: list[Case]) -> Iterator[str]:
    rest: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        if case.name != "test_it_holds" and "test_verdicts" not in case.module:
            words = case.name.removeprefix("test_").replace("_", " ")
            if words not in rest[case.module]:
                rest[case.module].append(words)
    yield "\n## The rest of the suite, all passed"
    for module, names in rest.items():
        yield f"\n`{module.replace('.', '/')}.py`: {', '.join(names)}."


if __name__ == "__main__":
    main()
