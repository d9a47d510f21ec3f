"""CSV and TSV, read with the standard ``csv`` module: it fills nothing in and knows its line.

Readers that are faster fill short rows in.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Sequence
from typing import TextIO

from auditkit.errors import SourceError
from auditkit.importers.sources import Source
from auditkit.importers.table import MAX_COLUMNS, MAX_FIELD, Table


def read_delimited(source: Source, separator: str) -> Table:
    """A table whose first line is its header.

    Raises
    ------
    SourceError
        Rows are ragged, quotes are broken, a column occurs twice, a field is gigantic.
    """
    source.text()  # refuses what is no text
    plain = _read_plain(source, separator)
    return plain if plain is not None else _read_with_care(source, separator)


def _lines(source: Source) -> TextIO:
    """The lines of a source with their ends, decoded as they are read."""
    return io.TextIOWrapper(io.BytesIO(source.content), encoding="utf-8-sig", newline="")


def _read_plain(source: Source, separator: str) -> Table | None:
    """The table where every line is one full row, read in blocks; None where it is not."""
    reader = csv.reader(_lines(source), delimiter=separator, strict=True)
    n = 0
    try:
        names = _header(source, next(reader), 1)
        columns: list[list[str]] = [[] for _ in names]
        while rows := list(itertools.islice(reader, 4096)):
            if set(map(len, rows)) != {len(names)}:
                return None
            n += len(rows)
            for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
                column.extend(cells)
    except csv.Error:
        return None
    return _table(source, names, columns, range(2, n + 2)) if reader.line_num == n + 1 else None


def _table(
    source: Source, names: list[str], columns: list[list[str]], lines: Sequence[int]
) -> Table:
    """The named columns; an unnamed one, such as the index that pandas writes, cannot be asked for."""
    named = {name: cells for name, cells in zip(names, columns, strict=True) if name}
    return Table(source, named, lines)


def _read_with_care(source: Source, separator: str) -> Table:
    """The table row by row, with the line of each: cells over several lines, empty lines, and what is wrong."""
    reader = csv.reader(_lines(source), delimiter=separator, strict=True)
    lines: list[int] = []
    columns: list[list[str]] = []
    names: list[str] = []
    block: list[list[str]] = []
    start = 1

    def flush() -> None:
        for column, cells in zip(columns, zip(*block, strict=True), strict=False):
            column.extend(cells)
        block.clear()

    try:
        for row in reader:
            if row:
                if not names:
                    names = _header(source, row, start)
                    columns = [[] for _ in names]
                elif len(row) != len(names):
                    raise _ragged(source, row, names, start)
                else:
                    lines.append(start)
                    block.append(row)
                    if len(block) == 4096:
                        flush()
            start = reader.line_num + 1
    except csv.Error as error:
        raise _csv_error(source, separator, start, names, str(error)) from None
    flush()
    return _table(source, names, columns, lines)


def _header(source: Source, row: list[str], line: int) -> list[str]:
    if len(row) > MAX_COLUMNS:
        raise SourceError(
            "too many columns",
            found=len(row),
            expected=f"at most {MAX_COLUMNS}",
            where=source.where(line, 1),
        )
    seen: set[str] = set()
    for position, name in enumerate(row, 1):
        if name and name in seen:
            raise SourceError(
                "a column occurs twice",
                found=repr(name),
                expected="distinct names",
                where=source.where(line, position),
            )
        seen.add(name)
    return row


def _ragged(source: Source, row: list[str], names: list[str], line: int) -> SourceError:
    column: str | int = len(names) + 1
    if len(row) < len(names):
        column = names[len(row)] or len(row) + 1
    return SourceError(
        "ragged row",
        found=f"{len(row)} cells",
        expected=f"{len(names)}, as in the header",
        where=source.where(line, column),
    )


def _csv_error(
    source: Source, separator: str, line: int, names: list[str], reason: str
) -> SourceError:
    """What the csv module refused, with the column it was in."""
    rest = "".join(itertools.islice(_lines(source), line - 1, None))
    position = _column_of_trouble(rest, separator)
    column = names[position] if position < len(names) and names[position] else position + 1
    if "field larger" in reason:
        return SourceError(
            "gigantic field", found=f"over {MAX_FIELD:,} characters", expected="less (is a quote left open?)",
            where=source.where(line, column),
        )  # fmt: skip
    return SourceError(
        "broken quoting", found=reason, expected="CSV", where=source.where(line, column)
    )


def _column_of_trouble(record: str, separator: str) -> int:
    """The column (from 0) in which a record that starts here goes wrong: the gigantic or the last one."""
    column, start, quoted = 0, 0, False
    for position, character in enumerate(record):
        if position - start >= MAX_FIELD:
            break
        if character == '"':
            quoted = not quoted
        elif not quoted and character == separator:
            column, start = column + 1, position + 1
        elif not quoted and character in "\r\n":
            break
    return column
