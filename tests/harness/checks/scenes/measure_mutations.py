"""Spoils the good scene in every way and measures it: `measure_mutations.py GOOD.blend REQUEST.json OUT.json`."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from tests.harness.checks.measure_spoilt import end_with, measure_spoilt
from tests.harness.checks.scenes.mutated import MUTATIONS


def main() -> None:
    good, request, out = sys.argv[1:4]
    measure_spoilt(good, json.loads(Path(request).read_text()), MUTATIONS, Path(out))


if __name__ == "__main__":
    end_with(main)
