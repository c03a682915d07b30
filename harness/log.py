"""Cuts what a run printed down to what helps: the last lines, without Blender's chatter, harmless to show."""

import re

from harness.execution import Log
from harness.plain_text import plain

LAST_LINES = 25
_MAX_LINE = 400

_CHATTER = re.compile(
    r"""^\s*$
    | ^Fra:\s*\d | ^Append\ frame | ^\s*Time:\s\d\d: | ^Saving: | ^Saved: | ^Read\ prefs | ^Blender\ quit
    | ^bake:\ frame\ \d+\ ::\ \d+$
    | EGL\ Error | EGL_BAD_MATCH | libEGL\ warning | ^MESA
    | ^Info:\ (Total|Blender)\ """,
    re.VERBOSE,
)


def shorten_log(text: str) -> Log:
    """The last LAST_LINES lines of `text` that the script itself printed."""
    lines = [line for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if not _CHATTER.search(line)]
    return Log(lines=tuple(_plain(line) for line in lines[-LAST_LINES:]), n_lines=len(lines))


def _plain(line: str) -> str:
    line = plain(line).rstrip()
    return line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]} [... {len(line) - _MAX_LINE} characters left out]"
