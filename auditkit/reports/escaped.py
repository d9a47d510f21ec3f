"""A document whose texts are safe to look at: on one line, control characters visible, very long names cut."""

from __future__ import annotations

from dataclasses import replace

from auditkit.errors import printable
from auditkit.reports.document import Document, Figure, Point, Section, Table

CELL = 120
PROSE = 2000
_WORD = 160


def escaped(document: Document, *, cell: int = CELL) -> Document:
    """The document with every text as ``errors.printable`` shows it; the formats add only their own escapes.

    Parameters
    ----------
    document
        The report; names in it come from strangers.
    cell
        Longest text in a table.
    """
    return Document(
        prose(document.title),
        tuple((prose(key), prose(fact)) for key, fact in document.facts),
        tuple(_section(section, cell) for section in document.sections),
        printable(document.signature, PROSE),  # whole: it has no words
        tuple(prose(note) for note in document.notes),
    )


def prose(text: str) -> str:
    """A sentence on one line; words no sentence has, such as names of 10,000 characters, are cut in the middle."""
    words = printable(text, max(len(text) * 10, PROSE)).split(" ")
    return printable(" ".join(printable(word, _WORD) for word in words), PROSE)


def _section(section: Section, cell: int) -> Section:
    return Section(
        prose(section.title),
        prose(section.verdict),
        tuple(_table(table, cell) for table in section.tables),
        tuple(_figure(figure) for figure in section.figures),
        tuple(prose(reason) for reason in section.skipped),
        tuple(prose(note) for note in section.notes),
        tuple(Point(prose(p.question), p.status, prose(p.answer)) for p in section.checklist),
    )


def _table(table: Table, cell: int) -> Table:
    return replace(
        table,
        title=prose(table.title),
        columns=tuple(printable(name, cell) for name in table.columns),
        rows=tuple(tuple(printable(text, cell) for text in row) for row in table.rows),
        note=prose(table.note),
    )


def _figure(figure: Figure) -> Figure:
    return replace(figure, title=prose(figure.title), alt=prose(figure.alt))
