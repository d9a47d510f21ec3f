"""From rows of tables to arrays: one row a cell, names in order of appearance, nothing merged silently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import SourceError
from auditkit.importers.table import Table
from auditkit.schema import Floats, Indices

MAX_CELLS = 2**26
"""The most cells of a grid; a long table of names that never meet would ask for far more than its rows."""


class Rows:
    """The rows of several tables as one sequence, which still knows the place of each."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables
        self.starts = np.concatenate([[0], np.cumsum([len(table) for table in tables])])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def where(self, position: int, column: str | None = None) -> str:
        """The place of a row in words."""
        number = int(np.searchsorted(self.starts, position, side="right")) - 1
        table = self.tables[number]
        return table.where(
            position - int(self.starts[number]), column if column in table.columns else None
        )

    def texts(self, column: str, *, empty: bool = False) -> list[str]:
        """A column of all tables as texts."""
        return [text for table in self.tables for text in table.texts(column, empty=empty)]

    def numbers(self, column: str) -> Floats:
        """A column of all tables as numbers."""
        return np.concatenate([table.numbers(column) for table in self.tables])

    def counts(self, column: str) -> Indices:
        """A column of all tables as counts."""
        return np.concatenate([table.counts(column) for table in self.tables])

    def wide(
        self, found: Sequence[dict[str, str]], names: dict[str, int], read: str, empty: Any
    ) -> Any:
        """One column a name: an array [rows, names], ``empty`` where a table has no column for a name.

        Parameters
        ----------
        found
            For each table its columns by name.
        names
            The position of each name; names that it lacks are left out.
        read
            The method of ``Table`` that reads a column.
        empty
            What a cell without a column holds.
        """
        check_cells((len(self), len(names)), self.where(0))
        out = np.full((len(self), len(names)), empty)
        for number, (table, columns) in enumerate(zip(self.tables, found, strict=True)):
            for name, column in columns.items():
                if name in names:
                    out[self.starts[number] : self.starts[number + 1], names[name]] = getattr(
                        table, read
                    )(column)
        return out

    def refuse_repeated(self, key: Sequence[Sequence[Any]], what: str, column: str) -> None:
        """No two rows may have the same key, given as its columns.

        Raises
        ------
        SourceError
            Two have; both places are named.
        """
        combined = np.zeros(len(self), dtype=np.int64)
        for part in key:
            known, index = positions(part)
            combined = np.unique(combined * len(known) + index, return_inverse=True)[1]
        n_keys = int(combined.max()) + 1
        if n_keys == len(self):
            return
        first = np.full(n_keys, len(self))
        np.minimum.at(first, combined, np.arange(len(self)))
        position = int(np.argmax(first[combined] < np.arange(len(self))))
        raise SourceError(
            f"two rows for {what}",
            found=f"{', '.join(repr(part[position]) for part in key)}, "
            f"also at {self.where(int(first[combined[position]]))}",
            expected="one row",
            where=self.where(position, column),
        )

    def constant(
        self,
        values: Sequence[Any] | NDArray[Any],
        index: Indices,
        n: int,
        missing: Any,
        column: str,
    ) -> list[Any]:
        """One value for each of ``n`` names from rows that repeat it.

        Raises
        ------
        SourceError
            Rows of one name hold different values.
        """
        out = [missing] * n
        source = [-1] * n
        for position, (value, name) in enumerate(zip(values, index, strict=True)):
            if value == missing or value != value:
                continue
            if source[name] < 0:
                out[name], source[name] = value, position
            elif out[name] != value:
                raise SourceError(
                    f"two values of {column!r} for one name",
                    found=f"{value!r}, but {out[name]!r} at {self.where(source[name])}",
                    expected="one value",
                    where=self.where(position, column),
                )
        return out


def positions(names: Sequence[Any]) -> tuple[dict[Any, int], Indices]:
    """Each name's position in order of first appearance, and that of every entry."""
    known = {name: position for position, name in enumerate(dict.fromkeys(names))}
    return known, np.fromiter(map(known.__getitem__, names), np.int64, len(names))


def check_cells(shape: tuple[int, ...], where: str) -> None:
    """Refuse a grid that is far too large.

    Raises
    ------
    SourceError
        It is.
    """
    cells = 1
    for length in shape:
        cells *= length
    if cells > MAX_CELLS:
        raise SourceError(
            "too many cells",
            found=" x ".join(f"{length:,}" for length in shape),
            expected=f"at most {MAX_CELLS:,}",
            where=where,
        )
