"""Writes docs/routes.md from what a run of the route suite printed as JUnit XML.

`make routes` does both: the run, and this.
"""

import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.routes.ways import WAYS

_BY_MINI = re.compile(r"test_mini_plays_the_same_episode\[(.*)-(\d+)\]")
_HEAD = """# Routes

Written by `make routes` from its own run: one scene task, played through mini-swe-agent, litellm and a provider on
127.0.0.1 that refuses what the true service refuses (`blendscribe loopback`). The episode has two tools in one turn,
frames, a call that is not JSON, an unknown tool, a missing argument and a call that was cut off
(`tests/routes/episode_script.py`). Every row ended in the same scene and the same script, by one request a step; every
request was made again from the record, and had the recorded digest.

- **frames**: where they were put (`image_placement: auto`); how many the harness made and the provider counted
- **captions**: frames that stood right behind words of their own
- **reasoning**: replies that came back with the reasoning they had, of those before the last request. Some services
  show none (chat completions of OpenAI and Azure); where unknown fields are refused it is left out
- **cache marks**: in the last request
- **cost**: from a list of prices, told by the provider, or unknown

| route | model | class | frames | made → arrived | captions | reasoning | cache marks | cost |
|---|---|---|---|---|---|---|---|---|
"""


def main() -> None:
    """Print the page."""
    failed, rows, by_mini = _read(Path(sys.argv[1]))
    if failed:
        raise SystemExit("Not written: these failed.\n" + "\n".join(failed))
    if missing := {way.name for way in WAYS} - {row["route"] for row in rows}:
        raise SystemExit(f"Not written: nothing was printed by {', '.join(sorted(missing))}.")
    if len(scenes := {row["scene"] for row in rows}) != 1:
        raise SystemExit(f"Not written: the scenes differ ({', '.join(sorted(scenes))}).")
    order = {way.name: number for number, way in enumerate(WAYS)}
    print(_HEAD + "\n".join(_lines(sorted(rows, key=lambda row: order[row["route"]]))))
    print(f"\n{len(rows)} routes. The scene's state: `{scenes.pop()[:16]}…`.")
    print("\nThe same by plain mini-swe-agent (`mini -c configs/blender.yaml -m MODEL -t TASK`), its cache control on:")
    print("".join(f"\n- {name}, {marks} cache marks" for name, marks in by_mini))


def _read(path: Path) -> tuple[list[str], list[dict[str, Any]], list[tuple[str, str]]]:
    """(tests that failed, rows, routes that plain mini-swe-agent took with their cache marks)."""
    failed, rows, by_mini = [], [], []
    for case in ET.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(case.get("name", ""))
        for line in re.findall(r"^ROUTE (.*)$", case.findtext("system-out") or "", re.MULTILINE):
            rows.append(json.loads(line))
        if found := _BY_MINI.fullmatch(case.get("name", "")):
            by_mini.append((found[1], found[2]))
    return failed, rows, by_mini


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        where = " and ".join(row["places"]) or "nowhere; the model is told"
        yield (
            f"| {row['route']} | `{row['model']}` | `{row['class']}` | {where} | {row['made']} → {row['arrived']} "
            f"| {row['captions']} | {row['reasoning']} of {row['replies']} | {row['marks']} | {row['cost']} |"
        )


if __name__ == "__main__":
    main()
