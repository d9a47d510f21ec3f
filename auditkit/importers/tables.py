"""Tables from CSV, TSV, JSON lines and Parquet: strict rows, texts kept as texts, and a place for every complaint.

Cells keep the form they have in the file until someone asks for a column as texts or as numbers: an id is a text, so
``007`` stays ``007``; a missing number is NaN. Reading goes through the standard ``csv`` module because it refuses
nothing silently and knows its line; readers that are faster fill short rows in.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditkit.errors import MissingDependencyError, SourceError, UsageError
from auditkit.importers.sources import Source, StrPath, check_expansion, read_source
from auditkit.schema import Floats, Indices, Texts

MAX_FIELD = 131_072
"""The longest cell, in characters."""

MAX_COLUMNS = 20_000
"""The most columns of a table."""

_MAX_CELLS = 2**27
_DEPTH = 8
_SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
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
    cells: dict[str, Sequence[Any]]
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
        out = []
        for position, cell in enumerate(self.cells[column]):
            if cell is None or cell == "":
                if not empty:
                    raise SourceError("empty cell", expected="a name", where=self.where(position, column))
                out.append("")
            elif isinstance(cell, str):
                out.append(cell)
            elif isinstance(cell, bool | np.bool_):
                out.append(str(cell).lower())
            elif isinstance(cell, int | float | np.integer | np.floating):
                out.append(str(cell))
            else:
                raise SourceError(
                    "wrong type", found=type(cell).__name__, expected="a text", where=self.where(position, column)
                )
        return out

    def numbers(self, column: str) -> Floats:
        """A column as numbers, NaN where missing; infinities stay.

        Raises
        ------
        SourceError
            A cell holds something else; the place is named.
        """
        cells = self.cells[column]
        if isinstance(cells, np.ndarray):
            return cells.astype(np.float64)
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
        values = self.numbers(column)
        values[np.isnan(values)] = 0
        wrong = (values < 0) | (values != np.floor(values)) | (values >= 2**63)
        if wrong.any():
            position = int(np.argmax(wrong))
            raise SourceError(
                "not a count", found=values[position], expected="a whole number of at least 0",
                where=self.where(position, column),
            )  # fmt: skip
        return values.astype(np.int64)

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


def read_table(path: StrPath, *, separator: str | None = None) -> Table:
    """Read a table; the ending of its name says the format.

    Parameters
    ----------
    path
        ``.csv``, ``.tsv``, ``.jsonl`` (one object a line; nested keys become ``outer.inner``) or ``.parquet``; text
        formats also with ``.gz``.
    separator
        Between the cells of CSV; a comma (tab for ``.tsv``) unless given.

    Raises
    ------
    SourceError
        It is malformed: ragged rows, broken quotes, a repeated column, a gigantic field, no rows, a bomb.
    MissingDependencyError
        Parquet, and pyarrow is not installed.
    """
    source = read_source(path)
    if source.suffix in _JSON:
        table = _read_json_lines(source)
    elif source.suffix in _PARQUET:
        table = _read_parquet(source)
    elif source.suffix in _SEPARATORS:
        table = _read_csv(source, separator or _SEPARATORS[source.suffix])
    else:
        endings = ", ".join((*_SEPARATORS, *_JSON, *_PARQUET))
        raise SourceError("unknown format", found=source.suffix or "no ending", expected=endings, where=source.where())
    if not len(table):
        raise SourceError("no rows", found="a header alone", expected="at least one row", where=source.where(2, 1))
    return table


def read_tables(sources: StrPath | Sequence[StrPath], separator: str | None = None) -> list[Table]:
    """Read one table or several.

    Raises
    ------
    SourceError
        One is malformed, or a file is given twice.
    UsageError
        None is given, or the separator is not one character.
    """
    paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if not paths:
        raise UsageError("no source", expected="at least one table")
    if separator is not None and (len(separator) != 1 or separator in '\r\n" '):
        raise UsageError("bad separator", found=repr(separator), expected="one character such as ; or a tab")
    seen: dict[str, StrPath] = {}
    for path in paths:
        if seen.setdefault(os.path.realpath(path), path) is not path:
            raise SourceError("a source is given twice", expected="distinct files", where=os.fspath(path))
    return [read_table(path, separator=separator) for path in paths]


# ------------------------------------------------------------------------------------------------------------ CSV


def _read_csv(source: Source, separator: str) -> Table:
    text = source.text()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
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
        raise _csv_error(source, text, separator, start, names, str(error)) from None
    flush()
    # an unnamed column, such as the index that pandas writes, cannot be asked for
    return Table(source, {name: cells for name, cells in zip(names, columns, strict=True) if name}, lines)


def _header(source: Source, row: list[str], line: int) -> list[str]:
    if len(row) > MAX_COLUMNS:
        raise SourceError("too many columns", found=len(row), expected=f"at most {MAX_COLUMNS}", where=source.where(line, 1))
    seen: set[str] = set()
    for position, name in enumerate(row, 1):
        if name and name in seen:
            raise SourceError("a column occurs twice", found=repr(name), expected="distinct names", where=source.where(line, position))
        seen.add(name)
    return row


def _ragged(source: Source, row: list[str], names: list[str], line: int) -> SourceError:
    column: str | int = len(names) + 1
    if len(row) < len(names):
        column = names[len(row)] or len(row) + 1
    return SourceError(
        "ragged row", found=f"{len(row)} cells", expected=f"{len(names)}, as in the header", where=source.where(line, column)
    )


def _csv_error(source: Source, text: str, separator: str, line: int, names: list[str], reason: str) -> SourceError:
    """What the csv module refused, with the column it was in."""
    rest = "".join(itertools.islice(io.StringIO(text, newline=""), line - 1, None))
    position = _column_of_trouble(rest, separator)
    column = names[position] if position < len(names) and names[position] else position + 1
    if "field larger" in reason:
        return SourceError(
            "gigantic field", found=f"over {MAX_FIELD:,} characters", expected="less (is a quote left open?)",
            where=source.where(line, column),
        )  # fmt: skip
    return SourceError("broken quoting", found=reason, expected="CSV", where=source.where(line, column))


def _column_of_trouble(record: str, separator: str) -> int:
    """The column (from 0) in which a record that starts here goes wrong: the gigantic or the last one."""
    column, start, quoted = 0, 0, False
    for position, character in enumerate(record):
        if character == '"':
            quoted = not quoted
        elif not quoted and character == separator:
            column, start = column + 1, position + 1
        elif not quoted and character in "\r\n":
            break
        if position - start > MAX_FIELD:
            break
    return column


# ------------------------------------------------------------------------------------------------------ JSON lines


def _read_json_lines(source: Source) -> Table:
    lines: list[int] = []
    records: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for line, text in enumerate(source.text().split("\n"), 1):
        if not text.strip():
            continue
        record: dict[str, Any] = {}
        try:
            value = json.loads(text, object_pairs_hook=_unique)
            if not isinstance(value, dict):
                raise SourceError("not an object", found=type(value).__name__, expected="{...} on each line")
            _flatten("", value, record, 0)
        except SourceError as error:
            raise SourceError(error.what, found=error.found, expected=error.expected, where=source.where(line, 1)) from None
        except json.JSONDecodeError as error:
            raise SourceError("not JSON", found=error.msg, expected="one object a line", where=source.where(line, error.colno)) from None
        except (ValueError, RecursionError) as error:
            raise SourceError("not JSON", found=str(error), expected="one object a line", where=source.where(line, 1)) from None
        for name, cell in record.items():
            if isinstance(cell, str) and len(cell) > MAX_FIELD:
                raise SourceError("gigantic field", found=f"{len(cell):,} characters", expected=f"at most {MAX_FIELD:,}", where=source.where(line, name))
        names.update(dict.fromkeys(record))
        if len(names) > MAX_COLUMNS:
            raise SourceError("too many columns", found=f"over {MAX_COLUMNS}", where=source.where(line, 1))
        lines.append(line)
        records.append(record)
    return Table(source, {name: [record.get(name) for record in records] for name in names}, lines)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise SourceError("a key occurs twice", expected="distinct keys")
    return out


def _flatten(prefix: str, value: dict[str, Any], out: dict[str, Any], depth: int) -> None:
    """Nested objects as ``outer.inner``; lists stay cells, which no column of names or numbers takes."""
    if depth > _DEPTH:
        raise SourceError("nested too deep", expected=f"at most {_DEPTH} levels")
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, dict):
            _flatten(f"{name}.", inner, out, depth + 1)
        elif name in out:
            raise SourceError("a key occurs twice", found=repr(name), expected="distinct keys")
        else:
            out[name] = inner


# --------------------------------------------------------------------------------------------------------- Parquet


def _read_parquet(source: Source) -> Table:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise MissingDependencyError(
            "pyarrow is not installed", expected="pip install 'auditkit-arrays[parquet]'", where=source.where()
        ) from None
    try:
        file = pq.ParquetFile(io.BytesIO(source.content))
        about = file.metadata
        leaves = [file.schema.column(i) for i in range(len(file.schema))]
        # a text that occurs in a million rows stays one text
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and "list" not in leaf.path]
        file = pq.ParquetFile(io.BytesIO(source.content), read_dictionary=texts)
        if about.num_rows * about.num_columns > _MAX_CELLS or about.num_columns > MAX_COLUMNS:
            raise SourceError(
                "source too large", found=f"{about.num_rows:,} rows of {about.num_columns:,} columns",
                expected=f"at most {_MAX_CELLS:,} cells and {MAX_COLUMNS:,} columns", where=source.where(),
            )  # fmt: skip
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        check_expansion(sum(group.total_byte_size for group in groups), len(source.content), source.where())
        table = file.read(use_threads=False)
        while any(pa.types.is_struct(field.type) for field in table.schema):
            table = table.flatten()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise SourceError("not a readable Parquet file", found=" ".join(str(error).split()), where=source.where()) from None
    columns: dict[str, Sequence[Any]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in columns:
            raise SourceError("a column occurs twice", found=repr(name), where=source.where(1, name, row="row"))
        if pa.types.is_dictionary(column.type):
            cells: Sequence[Any] = _shared_texts(source, name, column)
        elif pa.types.is_floating(column.type) and column.null_count == 0:
            cells = column.to_numpy()
        else:
            cells = column.to_pylist()
        if name and not name.startswith("__index_level_"):
            columns[name] = cells
    return Table(source, columns, range(1, table.num_rows + 1), row="row")


def _shared_texts(source: Source, name: str, column: Any) -> list[Any]:
    out: list[Any] = []
    for chunk in column.chunks:
        values = chunk.dictionary.to_pylist()
        if any(isinstance(value, str) and len(value) > MAX_FIELD for value in values):
            raise SourceError("gigantic field", expected=f"at most {MAX_FIELD:,} characters", where=source.where(1, name, row="row"))
        out.extend(None if index is None else values[index] for index in chunk.indices.to_pylist())
    return out
