"""Search traces: ordered, oriented, one a dataset."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.errors import SourceError, UsageError
from tests.importers.scenarios import table

ROWS = (
    "dataset,step,validation,test,kind",
    "x,2,0.2,0.1,acc",
    "y,1,5,6,mse",
    "x,1,0.3,inf,acc",
    "x,10,,0.5,acc",
)


def test_candidates_in_their_order(tmp_path: Path) -> None:
    imported = ak.import_search(table(tmp_path / "t.csv", *ROWS), direction="kind=acc:max,mse:min")
    s, nan = imported.member, math.nan
    assert s.datasets == ("x", "y")
    np.testing.assert_array_equal(s.validation_score, [[0.3, 0.2, nan], [5, nan, nan]])
    np.testing.assert_array_equal(s.test_score, [[nan, 0.1, 0.5], [6, nan, nan]])
    assert s.higher_is_better.tolist() == [True, False]
    report = imported.report()
    assert "4 rows: 2 datasets with 1 to 3 candidates, in order of 'step'" in report
    assert "missing validation scores: 1 of 4 (25 %)" in report
    assert "1 infinite test score taken as missing" in report


def test_without_an_order_the_rows_decide(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *ROWS)
    s = ak.import_search(path, order="", higher_is_better=True).member
    np.testing.assert_array_equal(s.validation_score[0], [0.2, 0.3, math.nan])


def test_columns_of_the_dataset(tmp_path: Path) -> None:
    path = table(
        tmp_path / "t.csv",
        "dataset,validation,test,reported,refit,test_size,group",
        "x,1,2,3,4,5,g",
        "x,1,2,,4,5,g",
    )
    s = ak.import_search(path, higher_is_better=True).member
    assert (s.reported_score[0], s.refit_score[0], s.test_size[0], s.group[0]) == (3, 4, 5, "g")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x,1,0,0,acc", r"line 6, column 'step': two rows for one step of a search"),
        ("x,,0,0,acc", r"line 6, column 'step': empty cell"),
        ("x,11,no,0,acc", r"line 6, column 'validation': text in a number column"),
        (",11,0,0,acc", r"line 6, column 'dataset': empty cell"),
        ("x,11,0,0,auc", r"line 6, column 'kind': unknown direction, found 'auc'"),
        ("x,11,0,0,mse", r"line 6: two values of 'direction' for one name"),
    ],
)
def test_malformed(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(SourceError, match=rf"t\.csv, {message}"):
        ak.import_search(table(tmp_path / "t.csv", *ROWS, line), direction="kind=acc:max,mse:min")


def test_a_dataset_in_two_sources(tmp_path: Path) -> None:
    one, two = (
        table(tmp_path / name, "dataset,validation,test", "x,1,2") for name in ("a.csv", "b.csv")
    )
    with pytest.raises(
        SourceError, match=r"b\.csv, line 2, column 'dataset': a dataset in two sources.*a\.csv"
    ):
        ak.import_search([one, two], higher_is_better=True)


def test_without_an_orientation(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="orientation of the scores is unknown"):
        ak.import_search(table(tmp_path / "t.csv", *ROWS))


def test_the_real_traces_in_one_call(shared_data: Path) -> None:
    path = shared_data / "searches" / "tabm_single_models.csv"
    s = ak.import_search(path, higher_is_better=True).member
    assert s.test_score.shape == (86, 195)
    traces = defaultdict(dict)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            traces[row["dataset"]][int(row["step"])] = (
                float(row["validation_score"]),
                float(row["test_score"]),
            )
    for name, validation, test in zip(s.datasets, s.validation_score, s.test_score, strict=True):
        steps = sorted(traces[name])
        assert [(v, t) for v, t in zip(validation, test, strict=True)][: len(steps)] == [
            traces[name][k] for k in steps
        ]
        assert np.isnan(validation[len(steps) :]).all()


def test_one_column_for_both_scores_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "dataset,v", "x,1", "x,2")
    with pytest.raises(UsageError, match="--validation and --test name one column, found 'v'"):
        ak.import_search(path, validation="v", test="v", higher_is_better=True)
