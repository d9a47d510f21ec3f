"""Parquet, through pyarrow, with the sizes checked before anything is read."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from auditkit.errors import MissingDependencyError, SourceError
from auditkit.importers.sources import Source, check_expansion
from auditkit.importers.table import MAX_COLUMNS, MAX_FIELD, Table

_MAX_CELLS = 2**27


def read_parquet(source: Source) -> Table:
    """A table of the columns; those of a struct become ``outer.inner``.

    Raises
    ------
    SourceError
        It is no Parquet, or expands beyond the limits.
    MissingDependencyError
        pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise MissingDependencyError(
            "pyarrow is not installed",
            expected="pip install 'auditkit-arrays[parquet]'",
            where=source.where(),
        ) from None
    try:
        file = pq.ParquetFile(io.BytesIO(source.content))
        about = file.metadata
        leaves = [file.schema.column(i) for i in range(len(file.schema))]
        # a text that occurs in a million rows stays one text
        texts = [
            leaf.path
            for leaf in leaves
            if leaf.physical_type == "BYTE_ARRAY" and "list" not in leaf.path
        ]
        file = pq.ParquetFile(io.BytesIO(source.content), read_dictionary=texts)
        if about.num_rows * about.num_columns > _MAX_CELLS or about.num_columns > MAX_COLUMNS:
            raise SourceError(
                "source too large", found=f"{about.num_rows:,} rows of {about.num_columns:,} columns",
                expected=f"at most {_MAX_CELLS:,} cells and {MAX_COLUMNS:,} columns", where=source.where(),
            )  # fmt: skip
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        check_expansion(
            sum(group.total_byte_size for group in groups), len(source.content), source.where()
        )
        table = file.read(use_threads=False)
        while any(pa.types.is_struct(field.type) for field in table.schema):
            table = table.flatten()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise SourceError(
            "not a readable Parquet file", found=" ".join(str(error).split()), where=source.where()
        ) from None
    columns: dict[str, Sequence[Any]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in columns:
            raise SourceError(
                "a column occurs twice", found=repr(name), where=source.where(1, name, row="row")
            )
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
            raise SourceError(
                "gigantic field",
                expected=f"at most {MAX_FIELD:,} characters",
                where=source.where(1, name, row="row"),
            )
        out.extend(None if index is None else values[index] for index in chunk.indices.to_pylist())
    return out
