"""Tables: every malformed one ends with its place, every good one keeps its texts."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest

from auditkit.errors import SourceError, UsageError
from auditkit.importers.sources import Source
from auditkit.importers.table import MAX_FIELD, Table
from auditkit.importers.tables import read_table, read_tables
from tests.importers.scenarios import table

# ------------------------------------------------------------------------------------------------------ CSV


def test_cells_stay_texts_until_asked(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "id,x,n", "007,1e3,3", '"a,""b""\nc",NA,', "", " NA ,-inf,0")
    read = read_table(path)
    assert read.columns == ("id", "x", "n")
    assert read.texts("id") == ["007", 'a,"b"\nc', " NA "]
    np.testing.assert_array_equal(read.numbers("x"), [1000, math.nan, -math.inf])
    assert read.counts("n").tolist() == [3, 0, 0]
    assert list(read.lines) == [2, 3, 6]  # a cell over two lines, and an empty line


@pytest.mark.parametrize("cell", ["", "nan", "NaN", "NA", "n/a", "null", "None", "?", " ? "])
def test_what_is_a_missing_number(tmp_path: Path, cell: str) -> None:
    assert np.isnan(read_table(table(tmp_path / "t.csv", "a,b", f"1,{cell}")).numbers("b")).all()


@pytest.mark.parametrize(
    "cell", ["x", "1,5", "1_000", "0x1F", "1 2", "True", "12:30", "--", "1.2.3"]
)
def test_text_in_a_number_column(tmp_path: Path, cell: str) -> None:
    path = table(tmp_path / "t.csv", "a,b", "1,2", f'1,"{cell}"')
    with pytest.raises(
        SourceError, match=r"t\.csv, line 3, column 'b': text in a number column"
    ) as caught:
        read_table(path).numbers("b")
    assert repr(cell) in str(caught.value)


@pytest.mark.parametrize("text", ["0.1", "5e-324", "1.7976931348623157e308", "0.30000000000000004"])
def test_numbers_read_to_the_nearest_float(tmp_path: Path, text: str) -> None:
    assert read_table(table(tmp_path / "t.csv", "a", text)).numbers("a")[0] == float(text)


@pytest.mark.parametrize("cell", ["1.5", "-1", "inf", "1e30"])
def test_counts_are_whole(tmp_path: Path, cell: str) -> None:
    with pytest.raises(SourceError, match=r"line 2, column 'a': not a count"):
        read_table(table(tmp_path / "t.csv", "a", cell)).counts("a")


def test_an_empty_id_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"t\.csv, line 3, column 'a': empty cell, expected a name"
    ):
        read_table(table(tmp_path / "t.csv", "a,b", "x,1", ",1")).texts("a")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,b", "1,2", "1,2,3"], r"line 3, column 3: ragged row, found 3 cells, expected 2"),
        (["a,b,c", "1,2"], r"line 2, column 'c': ragged row, found 2 cells, expected 3"),
        (["a,b", '1,"2'], r"line 2, column 'b': broken quoting"),
        (["a,b", '1,"2"x'], r"line 2, column 'b': broken quoting"),
        (["a,b,a", "1,2,3"], r"line 1, column 3: a column occurs twice, found 'a'"),
        (["a,b"], r"line 2, column 1: no rows"),
        (["a,b", '"x', 'y",1', "1"], r"line 4, column 'b': ragged row"),
        (["a,b", f"1,{'9' * (MAX_FIELD + 1)}"], r"line 2, column 'b': gigantic field"),
        (["a,b,c", f'"1,""x""",{"9" * (MAX_FIELD + 1)},3'], r"line 2, column 'b': gigantic field"),
        (["a,b", '1,"2', *["3,4"] * 50_000], r"line 2, column 'b': gigantic field"),
        ([",".join(f"c{i}" for i in range(20_001)), "1"], r"line 1, column 1: too many columns"),
    ],
)
def test_malformed_csv(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(SourceError, match=rf"t\.csv, {message}"):
        read_table(table(tmp_path / "t.csv", *lines))


def test_a_column_without_a_name_cannot_be_asked_for(tmp_path: Path) -> None:
    assert read_table(table(tmp_path / "t.csv", ",a,", "0,x,1")).columns == ("a",)


def test_separators(tmp_path: Path) -> None:
    assert read_table(table(tmp_path / "t.tsv", "a\tb", "1,5\t2")).columns == ("a", "b")
    path = table(tmp_path / "t.csv", "a;b", "1;2")
    assert read_table(path, separator=";").columns == ("a", "b")
    for bad in ("", ";;", '"', "\n"):
        with pytest.raises(UsageError, match="bad separator"):
            read_tables(path, bad)


def test_unknown_endings_and_repeated_sources(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"unknown format, found \.xlsx"):
        read_table(table(tmp_path / "t.xlsx", "a"))
    path = table(tmp_path / "t.csv", "a", "1")
    (tmp_path / "link.csv").symlink_to(path)
    with pytest.raises(SourceError, match="given twice"):
        read_tables([path, tmp_path / "link.csv"])
    with pytest.raises(UsageError, match="no source"):
        read_tables([])


# ----------------------------------------------------------------------------------------------- JSON lines


def test_nested_objects_become_columns(tmp_path: Path) -> None:
    path = table(
        tmp_path / "t.jsonl",
        '{"id": 7, "s": {"a.1": 0.5, "b": null}, "tags": [1]}',
        "",
        '{"id": "07", "s": {"b": NaN}, "ok": true, "t": "0.25"}',
    )
    read = read_table(path)
    assert read.columns == ("id", "s.a.1", "s.b", "tags", "ok", "t")
    assert read.texts("id") == ["7", "07"]
    np.testing.assert_array_equal(read.numbers("s.a.1"), [0.5, math.nan])
    np.testing.assert_array_equal(read.numbers("t"), [math.nan, 0.25])
    assert read.texts("ok", empty=True) == ["", "true"]
    assert list(read.lines) == [1, 3]
    with pytest.raises(SourceError, match=r"line 1, column 'tags': wrong type, found list"):
        read.numbers("tags")
    with pytest.raises(SourceError, match=r"line 3, column 'ok': wrong type, found True"):
        read.numbers("ok")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1', r"line 2, column 8: not JSON"),
        ("[1]", r"line 2, column 1: not an object, found list"),
        ('{"a": 1, "a": 2}', r"line 2, column 1: a key occurs twice"),
        ('{"a": {"b": 1}, "a.b": 2}', r"line 2, column 1: a key occurs twice, found 'a.b'"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", r"line 2, column 1: not JSON"),
        ('{"a": ' * 12 + "1" + "}" * 12, r"line 2, column 1: nested too deep"),
        (json.dumps({"a": "x" * (MAX_FIELD + 1)}), r"line 2, column 'a': gigantic field"),
        ('{"a": ' + "9" * 5000 + "}", r"line 2, column 1: not JSON"),
    ],
)
def test_malformed_json_lines(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(SourceError, match=rf"t\.jsonl, {message}"):
        read_table(table(tmp_path / "t.jsonl", '{"a": 1}', line))


def test_compressed_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n'))
    assert read_table(path).columns == ("a",)


# -------------------------------------------------------------------------------------------------- Parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_parquet_keeps_ids_and_flattens_structs(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows = [
        {"id": "007", "n": 2**53 + 1, "x": 0.1, "scores": {"a": 0.5, "b": None}},
        {"id": "é", "n": None, "x": math.nan, "scores": {"a": None, "b": 1.5}},
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    read = read_table(path)
    assert read.columns == ("id", "n", "x", "scores.a", "scores.b")
    assert read.texts("id") == ["007", "é"]
    assert read.texts("n", empty=True) == [str(2**53 + 1), ""]
    np.testing.assert_array_equal(read.numbers("x"), [0.1, math.nan])
    np.testing.assert_array_equal(read.numbers("scores.b"), [math.nan, 1.5])
    with pytest.raises(
        SourceError, match=r"t\.parquet, row 2, column 'id': text in a number column"
    ):
        read.numbers("id")


def test_parquet_texts_that_repeat_are_one_text(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": ["x" * 1000] * 5000, "v": np.arange(5000.0)}), path)
    texts = read_table(path).texts("id")
    assert len(texts) == 5000
    assert len({id(text) for text in texts}) == 1


def test_parquet_that_is_broken_or_gigantic(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 nonsense PAR1")
    with pytest.raises(SourceError, match=r"t\.parquet: not a readable Parquet file"):
        read_table(path)
    bomb = pa.table(
        {"a": pa.array(np.zeros(2**23)), **{f"b{i}": pa.nulls(2**23) for i in range(16)}}
    )
    pq.write_table(bomb, path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(SourceError, match="source too large, found 8,388,608 rows of 17 columns"):
        read_table(path)
    pq.write_table(pa.table({"a": ["x" * (MAX_FIELD + 1)] * 3}), path)
    with pytest.raises(SourceError, match=r"column 'a': gigantic field"):
        read_table(path)


def test_parquet_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": pa.array([], pa.string())}), path)
    with pytest.raises(SourceError, match="no rows"):
        read_table(path)


# --------------------------------------------------------------------------------------------- number columns


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2", ""], True),
        (
            ["1", "x"],
            True,
        ),  # meant as numbers: the text is an error, not a reason to leave the column out
        (["1", "x", "y"], False),
        (["", "nan"], False),
        (["x", "y"], False),
    ],
)
def test_which_columns_are_meant_as_numbers(cells: list[str], expected: bool) -> None:
    read = Table(Source(Path("t.csv"), "", b""), {"a": cells}, range(2, 2 + len(cells)))
    assert read.holds_numbers("a") is expected
