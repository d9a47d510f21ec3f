"""JSON lines: one object a line; nested objects become columns ``outer.inner``."""

from __future__ import annotations

import json
from typing import Any

from auditkit.errors import SourceError
from auditkit.importers.sources import Source
from auditkit.importers.table import MAX_COLUMNS, MAX_FIELD, Table

_DEPTH = 8


def read_json_lines(source: Source) -> Table:
    """A table of the objects; a key that an object lacks is a missing cell.

    Raises
    ------
    SourceError
        A line is no object, a key occurs twice, a text is gigantic, nesting is too deep.
    """
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
                raise SourceError(
                    "not an object", found=type(value).__name__, expected="{...} on each line"
                )
            _flatten("", value, record, 0)
        except SourceError as error:
            raise SourceError(
                error.what, found=error.found, expected=error.expected, where=source.where(line, 1)
            ) from None
        except json.JSONDecodeError as error:
            raise SourceError(
                "not JSON",
                found=error.msg,
                expected="one object a line",
                where=source.where(line, error.colno),
            ) from None
        except (ValueError, RecursionError) as error:
            raise SourceError(
                "not JSON",
                found=str(error),
                expected="one object a line",
                where=source.where(line, 1),
            ) from None
        for name, cell in record.items():
            if isinstance(cell, str) and len(cell) > MAX_FIELD:
                raise SourceError(
                    "gigantic field",
                    found=f"{len(cell):,} characters",
                    expected=f"at most {MAX_FIELD:,}",
                    where=source.where(line, name),
                )
        names.update(dict.fromkeys(record))
        if len(names) > MAX_COLUMNS:
            raise SourceError(
                "too many columns", found=f"over {MAX_COLUMNS}", where=source.where(line, 1)
            )
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
