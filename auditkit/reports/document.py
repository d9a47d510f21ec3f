"""What a report consists of, before any format: sections made of a verdict, tables, figures and notes.

``sections`` builds these from results, every number already formatted by ``numbers``; the formats only lay them out
and escape them, so that a new audit needs no change in any format and a new format none in any audit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Attributes
    ----------
    title
        What the table shows.
    columns
        Headings; short, the unit in brackets where there is one.
    rows
        Cells as texts, as many a row as there are columns.
    numeric
        Which columns hold numbers, and are aligned right.
    note
        What a reader must know to read it: the interval, the unit of analysis, what is missing.
    brief
        How many rows a terminal shows, the most telling rows being first; 0 for all. Files show all rows.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    note: str = ""
    brief: int = 0

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in (*self.rows, self.numeric)):
            raise ValueError(f"table {self.title!r}: a row is not as long as the header")


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot: ``draw`` takes a matplotlib Axes; ``alt`` says in words what it shows, numbers included.

    Colours come from ``style.PALETTE`` (the default cycle is set to it), names from ``style.label``; ``size`` is in
    inches.
    """

    title: str
    alt: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (6.4, 3.6)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a source's reporting checklist, judged from the result alone.

    Attributes
    ----------
    question
        What a reader needs to be told.
    status
        ``answered``, ``missing`` (``answer`` says what to add to the file) or ``violated``.
    answer
        What the file says.
    """

    question: str
    status: Literal["answered", "missing", "violated"]
    answer: str


@dataclass(frozen=True, slots=True)
class Section:
    """One audit of one member.

    Attributes
    ----------
    title
        The audit and the member, such as ``fidelity: MAXSAT-PMS-2016``.
    verdict
        One to three sentences: what follows, with the numbers it rests on.
    tables, figures
        In reading order.
    skipped
        What could not be computed, and why; one text each.
    notes
        What else the reader should know.
    checklist
        The reporting checklist of the source, where it has one.
    """

    title: str
    verdict: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    checklist: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report: title, the facts that pin it down (file, SHA-256, settings), its sections, its signature."""

    title: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    signature: str = ""
    notes: tuple[str, ...] = field(default=())
