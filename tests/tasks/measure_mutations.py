"""Changes a good scene in every way and measures it: `measure_mutations.py GOOD REQUEST.json OUT.json MUTATIONS.json`.

MUTATIONS.json maps names to Python statements, which find the names of `mutating.py`, `bpy` and `math`.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.harness.checks.measure_spoilt import end_with, measure_spoilt
from tests.tasks import mutating


def statements(name: str, code: str) -> Callable[[], None]:
    """The mutation as a call."""
    compiled = compile(code, f"<{name}>", "exec")
    return lambda: exec(compiled, mutating.names())


def main() -> None:
    good, request, out, mutations = sys.argv[1:5]
    codes = json.loads(Path(mutations).read_text())
    changes = {name: statements(name, code) for name, code in codes.items()}
    measure_spoilt(good, json.loads(Path(request).read_text()), changes, Path(out))


if __name__ == "__main__":
    end_with(main)
