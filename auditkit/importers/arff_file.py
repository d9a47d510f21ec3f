"""ARFF tables, through liac-arff.

liac-arff reads the data; the header is read here. It decides the type of each column, ids must stay texts whatever
type they are declared with, and liac-arff's pattern for nominal types takes exponential time on a hostile line.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import arff

from auditkit.errors import SourceError
from auditkit.importers.sources import Source
from auditkit.importers.table import MAX_COLUMNS

MAX_LINE = 2**20
"""The longest line, in characters."""

_ATTRIBUTE = re.compile(
    r"""@attribute\s+("[^"]*"|'[^']*'|[^\s{}%,"']+)\s+(\S.*)""", re.IGNORECASE | re.DOTALL
)
_NUMERIC = {"numeric", "real", "integer"}


@dataclass(frozen=True, slots=True)
class ArffTable:
    """The columns of an ARFF file by name: floats or texts, None where ``?``; and how many rows quote something."""

    source: Source
    columns: Mapping[str, Sequence[Any]]
    quoted: int = 0

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


def read_arff(source: Source, texts: Iterable[str] = ()) -> ArffTable:
    """Read a dense ARFF file.

    Parameters
    ----------
    source
        The file.
    texts
        Columns to keep as texts even where they are declared numeric.

    Raises
    ------
    SourceError
        It is malformed; the line, and where it can be told the column, are named.
    """
    lines = source.text().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if max(map(len, lines)) > MAX_LINE:
        longest = max(range(len(lines)), key=lambda line: len(lines[line]))
        raise SourceError(
            "gigantic field", found=f"a line of {len(lines[longest]):,} characters", expected=f"at most {MAX_LINE:,}",
            where=source.where(longest + 1, _longest_cell(lines[longest])),
        )  # fmt: skip
    names, numeric, start = _header(source, lines, frozenset(texts))
    # names and nominal values are left out: what liac-arff must know is how many columns, and which are numbers
    header = [
        "@RELATION r",
        *(f"@ATTRIBUTE a{i} {'NUMERIC' if n else 'STRING'}" for i, n in enumerate(numeric)),
    ]
    plain = [*header, "@DATA", *lines[start:]]
    offset = start - len(header) - 1
    _refuse_sparse(source, lines, start)
    columns: list[list[Any]] = [[] for _ in names]
    try:
        rows = arff.load(plain, return_type=arff.DENSE_GEN)["data"]
        while block := list(itertools.islice(rows, 4096)):  # few rows at a time: each is a list
            for column, cells in zip(columns, zip(*block, strict=True), strict=True):
                column.extend(cells)
    except Exception:  # liac-arff also lets ValueError and IndexError through
        line = max(_failing_line(plain) + offset, 1)
        raise _malformed(source, lines[line - 1], line, names, numeric) from None
    if not columns[0]:
        raise SourceError(
            "no rows", expected="at least one after @DATA", where=source.where(start + 1, 1)
        )
    quoted = sum('"' in line or "'" in line for line in lines[start:])
    return ArffTable(source, dict(zip(names, columns, strict=True)), quoted)


def _header(
    source: Source, lines: list[str], texts: frozenset[str]
) -> tuple[list[str], list[bool], int]:
    """Names of the columns, which of them are numbers, and how many lines the header takes."""
    names: list[str] = []
    numeric: list[bool] = []
    for line, text in enumerate(lines, 1):
        text = text.strip()
        word = text[:10].lower()
        if word.startswith("@data"):
            if not names:
                raise SourceError(
                    "no attributes", expected="@ATTRIBUTE before @DATA", where=source.where(line, 1)
                )
            return names, numeric, line
        if word == "@attribute":
            match = _ATTRIBUTE.fullmatch(text)
            if match is None:
                raise SourceError(
                    "cannot read an attribute",
                    found=repr(text),
                    expected="@ATTRIBUTE name type",
                    where=source.where(line, 1),
                )
            name, kind = match[1].strip("\"'"), match[2].strip().lower()
            if name in names:
                raise SourceError(
                    "a column occurs twice", found=repr(name), where=source.where(line, name)
                )
            if not kind.startswith("{") and kind not in _NUMERIC | {"string"}:
                raise SourceError(
                    "unknown type",
                    found=repr(kind),
                    expected="numeric, string or {values}",
                    where=source.where(line, name),
                )
            if len(names) == MAX_COLUMNS:
                raise SourceError(
                    "too many columns",
                    expected=f"at most {MAX_COLUMNS}",
                    where=source.where(line, name),
                )
            names.append(name)
            numeric.append(kind in _NUMERIC and name not in texts)
        elif text and not text.startswith("%") and not word.startswith("@relation"):
            raise SourceError(
                "not an ARFF header",
                found=repr(text),
                expected="@RELATION, @ATTRIBUTE or @DATA",
                where=source.where(line, 1),
            )
    raise SourceError(
        "not an ARFF file", expected="a line @DATA", where=source.where(len(lines), 1)
    )


def _refuse_sparse(source: Source, lines: list[str], start: int) -> None:
    """liac-arff fills the cells that a sparse row leaves out with zeros."""
    if "{" not in "".join(lines[start:]):
        return
    for line in range(start, len(lines)):
        if lines[line][:1] in "{ \t" and lines[line].lstrip()[:1] == "{":
            raise SourceError(
                "sparse row", expected="a value for every column", where=source.where(line + 1, 1)
            )


def _failing_line(lines: list[str]) -> int:
    reached = 0

    def counting() -> Iterator[str]:
        nonlocal reached
        for line in lines:
            reached += 1
            yield line

    try:
        arff.load(counting())
    except Exception:
        return reached
    return reached


def _malformed(
    source: Source, text: str, line: int, names: list[str], numeric: list[bool]
) -> SourceError:
    """What is wrong with a line that liac-arff refused."""
    quote = "'" if "'" in text else '"'
    try:
        cells = next(csv.reader([text], skipinitialspace=True, quotechar=quote, strict=True))
    except (csv.Error, StopIteration):
        return SourceError("broken quoting", found=repr(text), where=source.where(line, 1))
    if len(cells) == 1 and len(names) > 1:
        for separator in (";", "\t", "|"):
            if separator in text:
                return SourceError(
                    "wrong delimiter",
                    found=repr(separator),
                    expected="commas",
                    where=source.where(line, names[0]),
                )
    if len(cells) != len(names):
        column = names[len(cells)] if 0 < len(cells) < len(names) else len(names) + 1
        return SourceError(
            "ragged row",
            found=f"{len(cells)} cells",
            expected=f"{len(names)}, as in the header",
            where=source.where(line, column),
        )
    for name, number, cell in zip(names, numeric, cells, strict=True):
        if number and cell.strip() not in {"?", ""}:
            try:
                float(cell)
            except ValueError:
                return SourceError(
                    "text in a number column",
                    found=repr(cell),
                    expected="a number",
                    where=source.where(line, name),
                )
    return SourceError(
        "cannot read a row",
        found=repr(text),
        expected="values separated by commas",
        where=source.where(line, 1),
    )


def _longest_cell(text: str) -> int:
    sizes = [len(cell) for cell in text.split(",")]
    return sizes.index(max(sizes)) + 1
