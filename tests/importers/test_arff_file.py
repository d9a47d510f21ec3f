"""ARFF through liac-arff: malformed files end with line and column, hostile ones at once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from auditkit.errors import SourceError
from auditkit.importers.arff_file import MAX_LINE, read_arff
from auditkit.importers.sources import read_source
from tests.importers.scenarios import table

HEAD = (
    "@RELATION r",
    "@ATTRIBUTE id STRING",
    "@ATTRIBUTE x NUMERIC",
    "@ATTRIBUTE s {ok, bad}",
    "@DATA",
)


def read(tmp_path: Path, *lines: str, texts: tuple[str, ...] = ()) -> dict[str, list]:
    columns = read_arff(read_source(table(tmp_path / "t.arff", *lines)), texts).columns
    return {name: list(values) for name, values in columns.items()}


def test_values_of_each_type(tmp_path: Path) -> None:
    lines = [*HEAD, "% comment", "'a, b',1e3,ok", "", "007,?,bad"]
    assert read(tmp_path, *lines) == {
        "id": ["a, b", "007"],
        "x": [1000.0, None],
        "s": ["ok", "bad"],
    }


def test_a_numeric_id_stays_a_text(tmp_path: Path) -> None:
    lines = [HEAD[0], "@ATTRIBUTE 'my id' INTEGER", "@DATA", "007"]
    assert read(tmp_path, *lines, texts=("my id",)) == {"my id": ["007"]}
    assert read(tmp_path, *lines) == {"my id": [7.0]}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*HEAD, "a,1,ok", "b,2"], r"line 7, column 's': ragged row, found 2 cells, expected 3"),
        ([*HEAD, "a,1,ok,3"], r"line 6, column 4: ragged row, found 4 cells"),
        (
            [*HEAD, "a,1,ok", "", "b,two,ok"],
            r"line 8, column 'x': text in a number column, found 'two'",
        ),
        ([*HEAD, "a;1;ok"], r"line 6, column 'id': wrong delimiter, found ';'"),
        ([*HEAD, "a\t1\tok"], r"line 6, column 'id': wrong delimiter"),
        ([*HEAD, "a,1,ok", "{0 b, 1 2}"], r"line 7, column 1: sparse row"),
        ([*HEAD, "'a,1,ok"], r"line 6, column 1: broken quoting"),
        ([*HEAD, "'a\\q',1,ok"], r"line 6, column 1: cannot read a row"),
        ([*HEAD], r"line 6, column 1: no rows"),
        (["@RELATION r", "@DATA", "1"], r"line 2, column 1: no attributes"),
        (["@RELATION r", "@ATTRIBUTE x NUMERIC"], r"line 3, column 1: not an ARFF file"),
        (["a,b", "1,2"], r"line 1, column 1: not an ARFF header"),
        (["@ATTRIBUTE x", "@DATA"], r"line 1, column 1: cannot read an attribute"),
        (["@ATTRIBUTE x DATE", "@DATA"], r"line 1, column 'x': unknown type, found 'date'"),
        (
            ["@ATTRIBUTE x REAL", "@ATTRIBUTE x REAL", "@DATA"],
            r"line 2, column 'x': a column occurs twice",
        ),
        ([*HEAD, f"a,{'9' * MAX_LINE},ok"], r"line 6, column 2: gigantic field"),
    ],
)
def test_malformed(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(SourceError, match=rf"t\.arff, (?:{message})"):
        read(tmp_path, *lines)


def test_integers_that_are_none_do_not_pass_as_texts(tmp_path: Path) -> None:
    # liac-arff alone returns the row unconverted here, and fails outside its own errors on inf
    lines = ["@RELATION r", "@ATTRIBUTE x INTEGER", "@DATA"]
    assert read(tmp_path, *lines, "inf") == {"x": [float("inf")]}
    assert str(read(tmp_path, *lines, "nan")["x"][0]) == "nan"


@pytest.mark.parametrize(
    "line",
    [
        "@ATTRIBUTE s {" + "a, " * 5000,  # exponential in liac-arff's own pattern
        "@ATTRIBUTE " + "x" * 50_000,
        "@ATTRIBUTE " + '"' * 50_000,
        "@ATTRIBUTE" + " " * 50_000,
    ],
)
def test_a_hostile_header_is_refused_at_once(tmp_path: Path, line: str) -> None:
    started = time.perf_counter()
    with pytest.raises(SourceError):
        read(tmp_path, "@RELATION r", line, "@DATA")
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    "cell", ['"' + "\\\\" * 20_000, '"' + "a" * 50_000, '"a" ' * 20_000, "'" * 50_001]
)
def test_a_hostile_row_is_refused_at_once(tmp_path: Path, cell: str) -> None:
    started = time.perf_counter()
    with pytest.raises(SourceError, match="line 6"):
        read(tmp_path, *HEAD, f"{cell},1,ok")
    assert time.perf_counter() - started < 5
