"""Losses: columns found by name, every other column of numbers a covariate."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditkit as ak
from auditkit.errors import SourceError, UsageError
from tests.importers.scenarios import table

ROWS = ("id,loss_a,loss_b,x,split,y", "u,1,2,0.5,Test,7", "v,inf,,,calibration,8", "w,3,4,1,fit,9")


def test_columns_are_found(tmp_path: Path) -> None:
    imported = ak.import_losses(
        table(tmp_path / "t.csv", *ROWS), model_a="MLP", model_b="linear", loss="squared"
    )
    m, nan = imported.member, math.nan
    np.testing.assert_array_equal(m.loss_a, [1, nan, 3])
    np.testing.assert_array_equal(m.loss_b, [2, nan, 4])
    np.testing.assert_array_equal(m.covariates, [[0.5, 7], [nan, 8], [1, 9]])
    assert (m.covariate_names, m.split) == (("x", "y"), ("test", "calibration", "fit"))
    assert (m.model_a, m.model_b, m.loss) == ("MLP", "linear", "squared")
    report = imported.report()
    assert "1 infinite loss_a taken as missing" in report
    assert "columns not used: 'id'" in report
    assert "missing covariates: 1 of 6" in report


def test_covariates_by_name_or_star(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *ROWS)
    assert ak.import_losses(path, covariates=["y"]).member.covariate_names == ("y",)
    path = table(tmp_path / "u.csv", "A,B,x.p,x.q,z", "1,2,3,4,5")
    m = ak.import_losses(path, loss_a="A", loss_b="B", covariates="x.*").member
    assert m.covariate_names == ("p", "q")
    assert m.split is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("u,1,2,0.5,train,7", r"line 5, column 'split': unknown split, found 'train'"),
        ("u,1,2,0.5,,7", r"line 5, column 'split': empty cell"),
        ("u,one,2,0.5,test,7", r"line 5, column 'loss_a': text in a number column"),
        ("u,1,2,half,test,7", r"line 5, column 'x': text in a number column"),
        ("u,1,2,0.5,test", r"line 5, column 'y': ragged row"),
    ],
)
def test_malformed(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(SourceError, match=rf"t\.csv, {message}"):
        ak.import_losses(table(tmp_path / "t.csv", *ROWS, line))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss_b": "loss_a"}, "--loss-a and --loss-b name one column, found 'loss_a'"),
        ({"loss_a": "loss_b"}, "no column for --loss-b"),
        ({"covariates": "loss_a"}, "--covariates names a loss or the split, found 'loss_a'"),
        ({"covariates": ["x", "loss_b"]}, "--covariates names a loss or the split, found 'loss_b'"),
        ({"covariates": ["x", "split"]}, "--covariates names a loss or the split, found 'split'"),
        ({"model_a": "MLP", "model_b": "MLP"}, "--model-a and --model-b are one name, found 'MLP'"),
    ],
)
def test_one_thing_for_two_is_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((UsageError, SourceError), match=message):
        ak.import_losses(table(tmp_path / "t.csv", *ROWS), **options)


def test_a_covariate_named_twice_is_one(tmp_path: Path) -> None:
    imported = ak.import_losses(table(tmp_path / "t.csv", *ROWS), covariates=["x", "x", "y"])
    assert imported.member.covariate_names == ("x", "y")


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no column for --loss-b"):
        ak.import_losses(table(tmp_path / "t.csv", "loss_a,x", "1,2"))
    with pytest.raises(SourceError, match="no covariates"):
        ak.import_losses(table(tmp_path / "t.csv", "loss_a,loss_b,id", "1,2,u"))
    with pytest.raises(SourceError, match="no column 'q', which --covariates names"):
        ak.import_losses(table(tmp_path / "t.csv", *ROWS), covariates=["q"])
    with pytest.raises(SourceError, match=r"no column matches 'q\*'"):
        ak.import_losses(table(tmp_path / "t.csv", *ROWS), covariates="q*")
    with pytest.raises(UsageError, match="several sources"):
        ak.import_losses(["a", "b"])


@pytest.mark.parametrize(("name", "n", "d"), [("concrete", 773, 8), ("casp", 9000, 9)])
def test_the_real_losses_in_one_call(shared_data: Path, name: str, n: int, d: int) -> None:
    path = shared_data / "losses" / f"{name}_mlp_vs_linear.csv"
    m = ak.import_losses(path).member
    lines = path.read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    assert m.covariate_names == tuple(lines[0].split(",")[2:-1])
    numbers = np.array([[float(cell) for cell in row[:-1]] for row in rows])
    assert numbers.shape == (n, d + 2)
    np.testing.assert_array_equal(np.column_stack([m.loss_a, m.loss_b, m.covariates]), numbers)
    assert m.split == tuple(row[-1] for row in rows)
