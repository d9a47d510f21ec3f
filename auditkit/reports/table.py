"""A report as tables for a terminal: colour only where the terminal wants it, plain when piped.

A table that is too wide puts its intervals on lines of their own, then folds its names, and at last becomes a list of
records; a number is never cut.
"""

from __future__ import annotations

import io
import os
import sys
from dataclasses import replace

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from auditkit.reports.document import Document, Section, Table
from auditkit.reports.escaped import escaped

_CELL = 60  # a longer name is cut in the middle
_WORD = 16  # a longer word in a name may be broken
_SPACE = 2  # between columns
_RULED = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")


def render_table(document: Document, *, width: int = 80, colour: bool | None = None) -> str:
    """Lay a document out in ``width`` columns.

    Parameters
    ----------
    document
        The report.
    width
        Columns of the terminal.
    colour
        Whether to use colour; by default where standard output is a terminal and ``NO_COLOR`` is not set.
    """
    if colour is None:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    document = escaped(document, cell=_CELL)
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=colour, color_system="standard" if colour else None,
                      highlight=False, markup=False, emoji=False, legacy_windows=False)  # fmt: skip
    console.print(_pairs(document.facts, width))
    for section in document.sections:
        _print_section(console, section)
    for note in document.notes:
        console.print(_text(note))
    if document.signature:
        console.print()
        console.print(_text(folded(f"signature {document.signature}", width), "dim"))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def folded(signature: str, width: int) -> str:
    """A signature on as many lines as it needs, broken between its parts only."""
    lines = [""]
    for i, part in enumerate(signature.split("|")):
        piece = part if i == 0 else f"|{part}"
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("  ")
        lines[-1] += piece
    return "\n".join(lines)


def _print_section(console: Console, section: Section) -> None:
    console.print()
    console.print(_text(section.title, "bold underline"))
    console.print(_text(section.verdict, "bold"))
    for table in section.tables:
        console.print()
        console.print(_table(table, console.width))
    if section.checklist:
        console.print()
        console.print(_checklist(section))
    for title, texts in (("Notes", section.notes), ("Skipped", section.skipped)):
        if texts:
            console.print()
            console.print(Group(_text(title, "bold"), *(_item("-", text) for text in texts)))


def _table(table: Table, width: int) -> Group:
    shown = table.rows[: table.brief] if table.brief else table.rows
    parts: list[RenderableType] = [
        _text(table.title, "bold"),
        _layout(replace(table, rows=shown), width),
    ]
    if len(shown) < len(table.rows):
        rest = len(table.rows) - len(shown)
        parts.append(
            _text(f"... and {rest:,} more rows, in --format html, markdown and json.", "dim")
        )
    if table.note:
        parts.append(_text(table.note, "dim"))
    return Group(*parts)


def _layout(table: Table, width: int) -> RenderableType:
    """The widest layout that fits: as it is, intervals broken off, or one record a row."""
    room = width - _SPACE * (len(table.columns) - 1)
    whole = _widths(table, whole=True)
    if sum(whole) <= room:
        return _grid(table, whole)
    broken = tuple(
        tuple(c.replace(" [", "\n[") if n else c for c, n in zip(row, table.numeric, strict=True))
        for row in table.rows
    )
    table = replace(table, rows=broken)
    narrow = _widths(table, whole=False)
    if sum(narrow) <= room:
        return _grid(table, _widened(table, narrow, room))
    return Group(*(_record(table, row, width) for row in table.rows))


def _widths(table: Table, *, whole: bool) -> list[int]:
    """Columns each column needs: its longest line, or its longest word where its texts may fold."""
    found = []
    for j, numeric in enumerate(table.numeric):
        lines = [line for row in table.rows for line in row[j].split("\n")]
        if not numeric and not whole:
            lines = [word[:_WORD] for line in lines for word in line.split()]
        words = [table.columns[j]] if whole else table.columns[j].split()
        found.append(max(map(cell_len, [*lines, *words]), default=1))
    return found


def _widened(table: Table, narrow: list[int], room: int) -> list[int]:
    """The room that is left goes to the names that fold, the narrowest first."""
    widths, whole = list(narrow), _widths(table, whole=True)
    while sum(widths) < room:
        folded = [j for j, n in enumerate(table.numeric) if not n and widths[j] < whole[j]]
        if not folded:
            break
        widths[min(folded, key=widths.__getitem__)] += 1
    return widths


def _grid(table: Table, widths: list[int]) -> RichTable:
    """A table of columns of these widths; numbers stay whole, names fold, between words where they can."""
    rich = RichTable(box=_RULED, pad_edge=False, padding=(0, _SPACE - 1, 0, 0), show_edge=False)
    for name, numeric, width in zip(table.columns, table.numeric, widths, strict=True):
        rich.add_column(
            _text(name if cell_len(name) <= width else _heading(name, width)),
            justify="right" if numeric else "left", no_wrap=numeric, overflow="fold", width=width,
        )  # fmt: skip
    for row in table.rows:
        rich.add_row(*(_text(cell) for cell in row))
    return rich


def _heading(name: str, width: int) -> str:
    """The words of a name on lines of at most ``width`` columns; no word is longer."""
    lines: list[str] = []
    for word in name.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def _record(table: Table, row: tuple[str, ...], width: int) -> RenderableType:
    """A row as lines, its first cell on top."""
    rest = tuple(zip(table.columns[1:], (c.replace("\n[", " [") for c in row[1:]), strict=True))
    return Group(_text(row[0]), _pairs(tuple((f"  {name}", cell) for name, cell in rest), width))


def _checklist(section: Section) -> Group:
    points = [_item(f"{p.status:<8}", f"{p.question} {p.answer}") for p in section.checklist]
    return Group(_text("Reporting checklist", "bold"), *points)


def _pairs(pairs: tuple[tuple[str, str], ...], width: int) -> RichTable:
    """Names and texts beside each other; a name folds where it would take more than half the width."""
    keys = max((cell_len(key) for key, _ in pairs), default=1)
    grid = RichTable.grid(padding=(0, _SPACE, 0, 0))
    grid.add_column(overflow="fold", width=min(keys, width // 2))
    grid.add_column(overflow="fold")
    for key, text in pairs:
        grid.add_row(_text(key, "dim"), _text(text))
    return grid


def _item(mark: str, text: str) -> RichTable:
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(width=len(mark), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(mark, _text(text))
    return grid


def _text(text: str, style: str = "") -> Text:
    return Text(text, style=style, overflow="fold")
