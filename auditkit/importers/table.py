"""A table as it stands in its source: cells by column, and a place in words for every complaint.

Cells keep the form they have in the file until someone asks for a column as texts or as numbers: an id is a text, so
``007`` stays ``007``; a missing number is NaN.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditkit.errors import SourceError
from auditkit.importers.sources import Source
from auditkit.schema import Floats, Indices, Texts

MAX_FIELD = 131_072
"""The longest cell, in characters."""

MAX_COLUMNS = 20_000
"""The most columns of a table."""

_MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "?"})


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it stands in its source.

    Attributes
    ----------
    source
        The file.
    cells
        The cells of each column, by its name, all of one length.
    lines
        The line (of Parquet: the row) each row starts at, from 1.
    row
        What a line is called.
    """

    source: Source
    cells: Mapping[str, Sequence[Any]]
    lines: Sequence[int]
    row: str = "line"

    @property
    def columns(self) -> Texts:
        """Names of the columns, in order."""
        return tuple(self.cells)

    def __len__(self) -> int:
        return len(self.lines)

    def where(self, position: int, column: str | None = None) -> str:
        """The place of a cell in words."""
        return self.source.where(self.lines[position], column, row=self.row)

    def texts(self, column: str, *, empty: bool = False) -> list[str]:
        """A column as texts; numbers of JSON and Parquet are written out.

        Raises
        ------
        SourceError
            A cell is missing and ``empty`` is false, or holds a list.
        """
        cells = self.cells[column]
        if set(map(type, cells)) == {str} and (empty or "" not in cells):
            return list(cells)
        out = []
        for position, cell in enumerate(cells):
            if cell is None or cell == "":
                if not empty:
                    raise SourceError(
                        "empty cell", expected="a name", where=self.where(position, column)
                    )
                out.append("")
            elif isinstance(cell, str):
                out.append(cell)
            elif isinstance(cell, bool | np.bool_):
                out.append(str(cell).lower())
            elif isinstance(cell, int | float | np.integer | np.floating):
                out.append(str(cell))
            else:
                raise SourceError(
                    "wrong type",
                    found=type(cell).__name__,
                    expected="a text",
                    where=self.where(position, column),
                )
        return out

    def numbers(self, column: str) -> Floats:
        """A column as numbers, NaN where missing; infinities stay.

        Raises
        ------
        SourceError
            A cell holds something else; the place is named.
        """
        cells: Any = self.cells[column]
        if isinstance(cells, np.ndarray):
            return np.array(cells, dtype=np.float64)
        if set(map(type, cells)) == {str} and "_" not in "".join(cells):
            with contextlib.suppress(ValueError):  # most columns hold nothing but numbers
                return np.fromiter(map(float, cells), np.float64, len(cells))
        out = np.empty(len(cells))
        for position, cell in enumerate(cells):
            try:
                out[position] = _number(cell)
            except (ValueError, TypeError, OverflowError):
                found = repr(cell) if isinstance(cell, str | bool | int) else type(cell).__name__
                raise SourceError(
                    "text in a number column" if isinstance(cell, str) else "wrong type",
                    found=found, expected="a number", where=self.where(position, column),
                ) from None  # fmt: skip
        return out

    def counts(self, column: str) -> Indices:
        """A column as whole numbers of at least 0, where 0 also stands for a missing one.

        Raises
        ------
        SourceError
            A cell holds something else.
        """
        out = np.zeros(len(self), dtype=np.int64)
        for position, cell in enumerate(self.cells[column]):
            try:
                out[position] = _count(cell)
            except (ValueError, TypeError, OverflowError):
                raise SourceError(
                    "not a count",
                    found=repr(cell),
                    expected="a whole number of at least 0",
                    where=self.where(position, column),
                ) from None
        return out

    def holds_numbers(self, column: str) -> bool:
        """Whether a column is meant as numbers: at least half of its cells that are not missing are."""
        numbers = others = 0
        for cell in self.cells[column]:
            try:
                numbers += not math.isnan(_number(cell))
            except (ValueError, TypeError, OverflowError):
                others += 1
        return numbers > 0 and numbers >= others


def _number(cell: Any) -> float:
    if cell is None:
        return math.nan
    if isinstance(cell, str):
        try:
            value = float(cell)
        except ValueError:
            if cell.strip().lower() in _MISSING:
                return math.nan
            raise
        if "_" in cell:  # Python's own notation, in no table
            raise ValueError
        return value
    if isinstance(cell, bool | np.bool_):
        raise TypeError
    return float(cell)


def _count(cell: Any) -> int:
    if isinstance(cell, str) and cell.isdecimal():
        return int(cell)  # exact, also above 2**53
    value = cell if isinstance(cell, int) and not isinstance(cell, bool) else _number(cell)
    if value != value:
        return 0
    if value < 0 or value != int(value):
        raise ValueError
    return int(value)
