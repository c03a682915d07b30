"""How an agent hands in: a line that mini-swe-agent's own agents know, printed by the shell or by a step alone."""

import re

SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"

_SUBMITTING_STEP = re.compile(rf"""\s*print\(\s*(['"]){SUBMIT}\1\s*\)\s*;?\s*""")


def is_submitting_output(output: str, returncode: int | None) -> bool:
    """Whether a shell command handed in: its first line is the agreed one, and it succeeded."""
    lines = output.lstrip().splitlines()
    return returncode == 0 and bool(lines) and lines[0].strip() == SUBMIT


def is_submitting_step(code: str) -> bool:
    """Whether a step's code is nothing but the print of the agreed line. It need not be run."""
    return bool(_SUBMITTING_STEP.fullmatch(code))
