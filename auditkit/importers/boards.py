"""Records (a dataset in a run) by systems, from wide or long tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from auditkit.errors import SourceError, UsageError, counted
from auditkit.importers.grids import Rows, check_cells, positions
from auditkit.importers.imported import listed
from auditkit.importers.mapping import Columns
from auditkit.importers.table import Table
from auditkit.schema import Flags


class Board:
    """Records (dataset, run), systems, and how the rows of the tables fill them."""

    kind: str
    records: dict[tuple[str, str], int]
    systems: dict[str, int]

    def __init__(
        self, rows: Rows, columns: Columns, ids: list[str], runs: list[str] | None
    ) -> None:
        self.rows = rows
        self.columns = columns
        keys = list(zip(ids, runs if runs is not None else [""] * len(ids), strict=True))
        self.records, self.row_record = positions(keys)

    def constant(self, column: str, read: str, missing: Any) -> list[Any]:
        """A column of the dataset: one value a record."""
        values = (
            self.rows.texts(column, empty=True)
            if read == "texts"
            else getattr(self.rows, read)(column)
        )
        return self.rows.constant(values, self.row_record, len(self.records), missing, column)

    def flags(self, values: Flags) -> Flags:
        """One flag a record, the same on all its rows."""
        out = np.zeros(len(self.records), dtype=bool)
        out[self.row_record[::-1]] = values[::-1]  # the first row of a record decides
        if (out[self.row_record] != values).any():
            position = int(np.argmax(out[self.row_record] != values))
            raise SourceError(
                "two directions for one dataset", expected="one", where=self.rows.where(position)
            )
        return out


class Wide(Board):
    """One row a record, one column a system."""

    kind = "wide"

    def __init__(
        self, rows: Rows, columns: Columns, ids: list[str], runs: list[str] | None
    ) -> None:
        super().__init__(rows, columns, ids, runs)
        matched = columns.matching("score", columns.options["score"], but=columns.used)
        first = columns.options["dataset"]
        rows.refuse_repeated(
            [ids, runs] if runs is not None else [ids],
            "a dataset",
            first if isinstance(first, str) else first[0],
        )
        self.systems = {}
        for found in matched:
            for name in found:
                self.systems.setdefault(name, len(self.systems))

    def has(self, option: str, *aliases: str) -> bool:
        """Whether a column per system is given or found; a plain column of a wide table tells nothing of a system."""
        given = self.columns.pattern(option, *(alias for alias in aliases if "*" in alias))
        if given is not None and "*" not in given and option not in {"status", "info"}:
            raise UsageError(
                f"--{option} without a star in a wide table",
                found=repr(given),
                expected="such as 'times.*'",
            )
        return given is not None

    def cells(self, option: str, read: str) -> Any:
        """An array [records, systems]."""
        pattern = self.columns.options[option]
        empty = {"numbers": np.nan, "counts": 0, "labels": ""}[read]
        if "*" not in pattern:
            self.columns.require(option, pattern)
            one = np.array(
                [read_cell for table in self.rows.tables for read_cell in _labels(table, pattern)],
                dtype=object,
            )
            return np.repeat(one[:, None], len(self.systems), axis=1)
        found = self.columns.matching(option, pattern)
        stray = sorted({name for columns in found for name in columns} - self.systems.keys())
        if stray:
            self.columns.notes.warn(
                f"{option} of {counted(len(stray), 'system')} without scores dropped: {listed(stray)}"
            )
        if read == "labels":
            out = np.full((len(self.rows), len(self.systems)), "", dtype=object)
            for number, (table, columns) in enumerate(zip(self.rows.tables, found, strict=True)):
                for name, column in columns.items():
                    if name in self.systems:
                        span = slice(self.rows.starts[number], self.rows.starts[number + 1])
                        out[span, self.systems[name]] = _labels(table, column)
            return out
        return self.rows.wide(found, self.systems, read, empty)


class Long(Board):
    """One row a record and system."""

    kind = "long"

    def __init__(
        self, rows: Rows, columns: Columns, ids: list[str], runs: list[str] | None
    ) -> None:
        super().__init__(rows, columns, ids, runs)
        column = columns.need("system", "system")
        columns.need("score", "score")
        names = rows.texts(column)
        self.systems, self.row_system = positions(names)
        rows.refuse_repeated([ids, *([runs] if runs is not None else []), names], "a cell", column)

    def has(self, option: str, *aliases: str) -> bool:
        """Whether the column is given or found."""
        given = self.columns.options.get(option)
        if given and "*" in given:
            raise UsageError(
                f"--{option} with a star in a long table", found=repr(given), expected="a column"
            )
        return (
            self.columns.find(option, *(alias for alias in aliases if "*" not in alias)) is not None
        )

    def cells(self, option: str, read: str) -> Any:
        """An array [records, systems]."""
        shape = (len(self.records), len(self.systems))
        check_cells(shape, self.rows.where(0))
        column = self.columns.options[option]
        if read == "labels":
            out = np.full(shape, "", dtype=object)
            out[self.row_record, self.row_system] = [
                text for table in self.rows.tables for text in _labels(table, column)
            ]
            return out
        out = np.full(shape, np.nan if read == "numbers" else 0)
        out[self.row_record, self.row_system] = getattr(self.rows, read)(column)
        return out


def _labels(table: Table, column: str) -> list[str]:
    return [text.strip() for text in table.texts(column, empty=True)]
