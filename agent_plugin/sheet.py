"""A table that a person reads: with lines on a terminal, as aligned text elsewhere. What is left out is said."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.plain_text import one_line

MAX_ROWS = 40
_MAX_CELL = 100
"""Characters of a cell in plain text; on a terminal it is folded instead."""


@dataclass(frozen=True)
class Sheet:
    """Rows of texts below headings."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[str] = frozenset()
    """Headings of columns that stand to the right."""
    notes: tuple[str, ...] = ()


def show(sheet: Sheet, console: Console) -> None:
    """Nothing where there are no rows."""
    if not sheet.rows:
        return
    if console.is_terminal:
        console.print(_on_terminal(sheet))
    else:
        for line in _as_text(sheet):
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _on_terminal(sheet: Sheet) -> RenderableType:
    table = Table(
        title=f"\n{sheet.title}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold"
    )
    for heading in sheet.headings:
        table.add_column(heading, justify="right" if heading in sheet.numbers else "left", overflow="fold")
    for row in sheet.rows[:MAX_ROWS]:
        table.add_row(*(Text(_clean(cell)) for cell in row))
    return Group(table, *(Text(note, "dim") for note in _notes(sheet, is_cut=False)))


def _as_text(sheet: Sheet) -> list[str]:
    cleaned = [[_clean(cell) for cell in row] for row in sheet.rows[:MAX_ROWS]]
    is_cut = any(len(cell) > _MAX_CELL for row in cleaned for cell in row)
    rows = [list(sheet.headings), *([_short(cell) for cell in row] for row in cleaned)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(sheet.headings))]
    is_right = [heading in sheet.numbers for heading in sheet.headings]
    lines = [
        "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, is_right, strict=True)).rstrip()
        for row in rows
    ]
    return ["", sheet.title, *lines, *_notes(sheet, is_cut=is_cut)]


def _notes(sheet: Sheet, *, is_cut: bool) -> list[str]:
    notes = list(sheet.notes)
    if (n := len(sheet.rows) - MAX_ROWS) > 0:
        notes.append(f"… and {n} more rows: --json prints all of them.")
    if is_cut:
        notes.append(f"Texts that end in … are cut after {_MAX_CELL} characters: --json has them whole.")
    return notes


def _clean(cell: str) -> str:
    return one_line(cell)


def _short(cell: str) -> str:
    return cell if len(cell) <= _MAX_CELL else f"{cell[: _MAX_CELL - 1]}…"
