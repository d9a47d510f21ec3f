"""A report as tables for a terminal: colour only where the terminal wants it, plain when piped."""

from __future__ import annotations

import io
import os
import sys

from rich.box import Box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from auditkit.errors import printable
from auditkit.reports.document import Document, Section, Table

_WORD = 16  # a longer word in a name may be broken
_RULED = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")


def render_table(document: Document, *, width: int = 100, colour: bool | None = None) -> str:
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
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=colour, color_system="standard" if colour else None,
                      highlight=False, markup=False, emoji=False, legacy_windows=False)  # fmt: skip
    label = max((len(key) for key, _ in document.facts), default=0)
    for key, fact in document.facts:
        console.print(Text(f"{key:<{label}}  {printable(fact)}", style="dim"))
    for section in document.sections:
        _print_section(console, section)
    for note in document.notes:
        console.print(_text(note))
    if document.signature:
        console.print()
        console.print(
            Text(f"signature {printable(document.signature)}", style="dim"), soft_wrap=True
        )
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def _print_section(console: Console, section: Section) -> None:
    console.print()
    console.print(_text(section.title, "bold underline"))
    console.print(Padding(_text(section.verdict, "bold"), (0, 0, 0, 0)))
    for table in section.tables:
        console.print()
        console.print(_table(table))
    if section.notes:
        console.print()
        console.print(Group(*(_item(note) for note in section.notes)))
    if section.skipped:
        console.print()
        console.print(_text("Skipped", "bold"))
        console.print(Group(*(_item(reason) for reason in section.skipped)))


def _table(table: Table) -> Group:
    rich = RichTable(box=_RULED, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for j, (name, numeric) in enumerate(zip(table.columns, table.numeric, strict=True)):
        # numbers stay whole; names fold, between words where they can
        words = [word for row in table.rows for word in row[j].split()]
        rich.add_column(
            _text(name), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold",
            min_width=None if numeric else min(max(map(len, words), default=1), _WORD),
        )  # fmt: skip
    for row in table.rows:
        rich.add_row(*(_text(cell) for cell in row))
    parts: list[RenderableType] = [_text(table.title, "bold"), rich]
    if table.note:
        parts.append(_text(table.note, "dim"))
    return Group(*parts)


def _item(text: str) -> RichTable:
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    grid.add_row("-", _text(text))
    return grid


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text, 2000), style=style, overflow="fold")
