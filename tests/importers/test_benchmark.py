"""Benchmarks from tables: long and wide, oriented, with families and repetitions."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.errors import SourceError, UsageError
from tests.importers.scenarios import table

LONG = ("inst,alg,acc,fam", "x,b,0.5,F", "x,a,0.25,G", "01,a,0.75,G", "01,b,,F")
COLUMNS = {"instance": "inst", "algorithm": "alg", "value": "acc"}


def test_a_long_table(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *LONG)
    imported = ak.import_benchmark(path, **COLUMNS, family="fam", higher_is_better=True)
    b = imported.member
    assert (imported.name, b.instances, b.algorithms) == ("t", ("x", "01"), ("b", "a"))
    np.testing.assert_array_equal(b.utility, [[0.5, 0.25], [math.nan, 0.75]])
    assert b.cost is None
    assert b.families == ("F", "G")
    assert b.family_of.tolist() == [0, 1]
    assert b.metric == "acc"
    assert "missing cells: 1 of 4 (25 %)" in imported.report()


def test_the_same_as_a_wide_table(tmp_path: Path) -> None:
    long = ak.import_benchmark(
        table(tmp_path / "t.csv", *LONG), **COLUMNS, higher_is_better=True
    ).member
    path = table(
        tmp_path / "w.tsv", "acc.b\tid\tacc.a\tnote", "0.5\tx\t0.25\tq", "nan\t01\t0.75\tq"
    )
    imported = ak.import_benchmark(path, instance="id", value="acc.*", higher_is_better=True)
    assert (imported.member.instances, imported.member.algorithms) == (
        long.instances,
        long.algorithms,
    )
    np.testing.assert_array_equal(imported.member.utility, long.utility)
    assert "columns not used: 'note'" in imported.report()


def test_a_star_alone_takes_every_other_column(tmp_path: Path) -> None:
    path = table(tmp_path / "w.csv", "instance,a,b", "x,1,2")
    assert ak.import_benchmark(path, value="*", higher_is_better=True).member.algorithms == (
        "a",
        "b",
    )
    path = table(tmp_path / "w2.csv", "instance,a,b", "x,1,oops")
    with pytest.raises(SourceError, match="line 2, column 'b': text in a number column"):
        ak.import_benchmark(path, value="*", higher_is_better=True)


def test_lower_is_better_keeps_the_cost(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "instance,algorithm,value", "x,a,1", "x,b,3", "y,a,2", "y,b,2")
    imported = ak.import_benchmark(path, higher_is_better=False, unit="s")
    np.testing.assert_array_equal(imported.member.cost, [[1, 3], [2, 2]])
    np.testing.assert_array_equal(imported.member.utility, [[1, 0], [math.nan, math.nan]])
    assert (imported.member.transform, imported.member.unit) == ("minmax", "s")
    assert "1 instance without a range" in imported.report()
    b = ak.import_benchmark(path, higher_is_better=False, transform="identity").member
    np.testing.assert_array_equal(b.utility, [[-1, -3], [-2, -2]])


def test_without_an_orientation(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="orientation of the values is unknown"):
        ak.import_benchmark(table(tmp_path / "t.csv", *LONG), **COLUMNS)


def test_two_rows_for_a_cell_name_both(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *LONG, "x,a,0.3,G")
    with pytest.raises(SourceError) as caught:
        ak.import_benchmark(path, **COLUMNS, higher_is_better=True)
    assert "t.csv, line 6, column 'inst': two rows for a cell, found 'x', 'a', also at" in str(
        caught.value
    )
    assert "t.csv, line 3" in str(caught.value)
    wide = table(tmp_path / "w.csv", "instance,a", "x,1", "y,1", "x,2")
    with pytest.raises(SourceError, match="line 4, column 'instance': two rows for an instance"):
        ak.import_benchmark(wide, value="*", higher_is_better=True)


def test_two_rows_for_a_cell_in_two_sources(tmp_path: Path) -> None:
    one = table(tmp_path / "one.csv", "instance,algorithm,value", "x,a,1")
    two = table(tmp_path / "two.csv", "instance,algorithm,value", "x,b,1", "x,a,1")
    with pytest.raises(SourceError, match=r"two\.csv, line 3, .*one\.csv, line 2"):
        ak.import_benchmark([one, two], higher_is_better=True)


REPEATED = (
    "instance,algorithm,value,seed",
    "x,a,1,0",
    "x,a,2,1",
    "x,a,9,2",
    "x,b,4,0",
    "y,a,5,0",
    "y,b,,0",
)


@pytest.mark.parametrize(
    ("how", "expected"), [("mean", [[4, 4], [5, math.nan]]), ("median", [[2, 4], [5, math.nan]])]
)
def test_repetitions_averaged(tmp_path: Path, how: str, expected: list[list[float]]) -> None:
    path = table(tmp_path / "t.csv", *REPEATED)
    b = ak.import_benchmark(path, repetition="seed", aggregate=how, higher_is_better=True).member
    np.testing.assert_array_equal(b.utility, expected)


def test_repetitions_as_rows(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *REPEATED)
    b = ak.import_benchmark(path, repetition="seed", aggregate="each", higher_is_better=True).member
    assert b.instances == ("x#0", "x#1", "x#2", "y#0")
    assert b.clusters == ("x", "x", "x", "y")
    np.testing.assert_array_equal(b.utility, [[1, 4], [2, math.nan], [9, math.nan], [5, math.nan]])


def test_clusters_of_instances_cover_their_repetitions(tmp_path: Path) -> None:
    lines = [f"{line},{'cluster' if i == 0 else 'c'}" for i, line in enumerate(REPEATED)]
    path = table(tmp_path / "t.csv", *lines)
    options = {"repetition": "seed", "higher_is_better": True}
    assert ak.import_benchmark(path, aggregate="each", **options).member.clusters == ("c",) * 4
    assert ak.import_benchmark(path, **options).member.clusters == ("c", "c")


def test_infinite_values_are_missing_and_counted(tmp_path: Path) -> None:
    path = table(
        tmp_path / "t.csv", "instance,algorithm,value", "x,a,inf", "x,b,-Infinity", "x,c,1"
    )
    imported = ak.import_benchmark(path, higher_is_better=True)
    np.testing.assert_array_equal(imported.member.utility, [[math.nan, math.nan, 1]])
    assert "2 infinite values taken as missing" in imported.report()


def test_families(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *LONG)
    with pytest.raises(UsageError, match="families are given twice"):
        ak.import_benchmark(
            path, **COLUMNS, family="fam", families={"F": ["a"]}, higher_is_better=True
        )
    with pytest.raises(SourceError, match="no such algorithm, found 'aa', expected perhaps 'a'"):
        ak.import_benchmark(path, **COLUMNS, families={"F": ["aa"]}, higher_is_better=True)
    bad = table(tmp_path / "u.csv", *LONG, "y,a,1,F")
    with pytest.raises(SourceError, match=r"line 6, column 'fam': two values of 'fam'.*line 3"):
        ak.import_benchmark(bad, **COLUMNS, family="fam", higher_is_better=True)
    wide = table(tmp_path / "w.csv", "instance,a", "x,1")
    with pytest.raises(UsageError, match="--family with a wide table"):
        ak.import_benchmark(wide, value="*", family="a", higher_is_better=True)


def test_no_column_says_which_there_are(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *LONG)
    with pytest.raises(
        SourceError,
        match=r"t\.csv, line 1, column 1: no column for --instance, found columns 'inst'",
    ):
        ak.import_benchmark(path, higher_is_better=True)
    with pytest.raises(
        SourceError, match=r"no column 'algo', which --algorithm names.*perhaps 'alg'"
    ):
        ak.import_benchmark(
            path, instance="inst", algorithm="algo", value="acc", higher_is_better=True
        )


def test_the_wrong_delimiter_is_named(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *(line.replace(",", ";") for line in LONG))
    with pytest.raises(
        SourceError, match=r"t\.csv, line 1, column 1: .*wrong delimiter\? ';' separates"
    ):
        ak.import_benchmark(path, **COLUMNS, higher_is_better=True)
    b = ak.import_benchmark(path, **COLUMNS, higher_is_better=True, separator=";").member
    assert b.instances == ("x", "01")


def test_a_grid_far_larger_than_its_rows_is_refused(tmp_path: Path) -> None:
    lines = ("instance,algorithm,value", *(f"i{k},a{k},1" for k in range(9000)))
    with pytest.raises(SourceError, match="too many cells, found 9,000 x 1 x 9,000"):
        ak.import_benchmark(table(tmp_path / "t.csv", *lines), higher_is_better=True)


def test_tabzilla_imports_with_its_families(shared_data: Path) -> None:
    path = shared_data / "tabzilla" / "final18_tuned_aggregated_results.csv"
    imported = ak.import_benchmark(
        path, instance="dataset_name", algorithm="alg_name", value="Accuracy__test_mean", family="alg_type",
        higher_is_better=True,
    )  # fmt: skip
    b = imported.member
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    cells = {(r["dataset_name"], r["alg_name"]): float(r["Accuracy__test_mean"]) for r in rows}
    expected = [[cells[i, a] for a in b.algorithms] for i in b.instances]
    np.testing.assert_array_equal(b.utility, expected)
    family = {r["alg_name"]: r["alg_type"] for r in rows}
    assert [b.families[k] for k in b.family_of] == [family[name] for name in b.algorithms]
    assert b.utility.shape == (104, 18)
    assert "'gbdt' (3), 'neural' (10), 'baseline' (5)" in imported.report()
