"""Tables from CSV, TSV, JSON lines and Parquet; the ending of the name says which."""

from __future__ import annotations

import os
from collections.abc import Sequence

from auditkit.errors import SourceError, UsageError
from auditkit.importers.delimited import read_delimited
from auditkit.importers.json_lines import read_json_lines
from auditkit.importers.parquet import read_parquet
from auditkit.importers.sources import StrPath, read_source
from auditkit.importers.table import Table

_SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")


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
        table = read_json_lines(source)
    elif source.suffix in _PARQUET:
        table = read_parquet(source)
    elif source.suffix in _SEPARATORS:
        table = read_delimited(source, separator or _SEPARATORS[source.suffix])
    else:
        endings = ", ".join((*_SEPARATORS, *_JSON, *_PARQUET))
        raise SourceError(
            "unknown format",
            found=source.suffix or "no ending",
            expected=endings,
            where=source.where(),
        )
    if not len(table):
        raise SourceError(
            "no rows", found="a header alone", expected="at least one row", where=source.where(2, 1)
        )
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
        raise UsageError(
            "bad separator", found=repr(separator), expected="one character such as ; or a tab"
        )
    seen: dict[str, StrPath] = {}
    for path in paths:
        if seen.setdefault(os.path.realpath(path), path) is not path:
            raise SourceError(
                "a source is given twice", expected="distinct files", where=os.fspath(path)
            )
    return [read_table(path, separator=separator) for path in paths]
