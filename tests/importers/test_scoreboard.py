"""Scoreboards: nested, wide and long; directions, failures and re-runs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.errors import SourceError, UsageError
from tests.importers.scenarios import table

NESTED = (
    '{"id": 7, "task": "c", "n": 12, "scores": {"a": 0.5, "b.1": 0.25}, "times": {"b.1": 2, "a": 1, "z": 3}}',
    '{"id": "07", "task": "r", "n": 15, "scores": {"b.1": 3.5}, "times": {"a": null}}',
)
OPTIONS = {"dataset": "id", "score": "scores.*", "direction": "task=c:max,r:min"}


def test_nested_json_lines(tmp_path: Path) -> None:
    path = table(tmp_path / "run 1.jsonl", *NESTED)
    imported = ak.import_scoreboard(
        path, **OPTIONS, seconds="times.*", size="n", test_fraction=0.2, group="task"
    )
    s = imported.member
    assert (s.datasets, s.systems, s.run) == (("7", "07"), ("a", "b.1"), ("run 1.jsonl",) * 2)
    np.testing.assert_array_equal(s.score, [[0.5, 0.25], [math.nan, 3.5]])
    np.testing.assert_array_equal(s.seconds, [[1, 2], [math.nan, math.nan]])
    assert s.higher_is_better.tolist() == [True, False]
    assert s.size.tolist() == [12, 15]
    assert s.test_size.tolist() == [3, 3]  # 2.4 and exactly 3, which 15 * 0.2 in binary is not
    assert s.group == ("c", "r")
    report = imported.report()
    assert "seconds of 1 system without scores dropped: 'z'" in report
    assert "missing scores: 1 of 4" in report
    assert "higher is better on 1 records, lower on 1" in report


def test_long_and_wide_tables_are_the_same(tmp_path: Path) -> None:
    long = table(
        tmp_path / "r.csv",
        "id,system,score,seconds,task",
        "7,a,0.5,1,c",
        "7,b,0.25,2,c",
        "07,b,3.5,,r",
    )
    wide = table(tmp_path / "w.csv", "id,task,s_a,s_b,t_a,t_b", "7,c,0.5,0.25,1,2", "07,r,,3.5,,")
    direction = {"dataset": "id", "direction": "task=c:max,r:min", "run": ""}
    one = ak.import_scoreboard(long, **direction).member
    two = ak.import_scoreboard(wide, **direction, score="s_*", seconds="t_*").member
    for name in ("score", "seconds", "higher_is_better"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert (one.datasets, one.systems, one.run) == (two.datasets, two.systems, None)


# ----------------------------------------------------------------------------------------------- direction


def test_directions_are_given_once(tmp_path: Path) -> None:
    path = table(tmp_path / "t.jsonl", *NESTED)
    plain = {"dataset": "id", "score": "scores.*"}
    with pytest.raises(UsageError, match="orientation of the scores is unknown"):
        ak.import_scoreboard(path, **plain)
    with pytest.raises(UsageError, match="given twice"):
        ak.import_scoreboard(path, **OPTIONS, higher_is_better=True)
    assert not ak.import_scoreboard(
        path, **plain, higher_is_better=False
    ).member.higher_is_better.any()


def test_an_unknown_direction_names_the_cell(tmp_path: Path) -> None:
    path = table(tmp_path / "t.jsonl", *NESTED)
    with pytest.raises(
        SourceError,
        match=r"t\.jsonl, line 2, column 'task': unknown direction, found 'r', expected c",
    ):
        ak.import_scoreboard(path, dataset="id", score="scores.*", direction="task=c:max")


@pytest.mark.parametrize("text", ["task", "task=c", "task=c:up", "=c:max", "task=c:max,", "c:max"])
def test_a_direction_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="cannot read a direction"):
        ak.import_scoreboard(
            table(tmp_path / "t.jsonl", *NESTED), dataset="id", score="scores.*", direction=text
        )


def test_values_of_a_direction_may_hold_colons(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "dataset,score.a,k", "x,1,acc:top=1")
    s = ak.import_scoreboard(path, direction="k=acc:top=1:max")
    assert s.member.higher_is_better.all()


def test_two_directions_for_one_dataset(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "dataset,system,score,k", "x,a,1,up", "x,b,1,down")
    with pytest.raises(SourceError, match=r"line 3: two directions"):
        ak.import_scoreboard(path, direction="k=up:max,down:min")


# ------------------------------------------------------------------------------------------ runs and re-runs


def test_a_dataset_twice_in_one_source_is_an_error(tmp_path: Path) -> None:
    path = table(tmp_path / "t.jsonl", *NESTED, NESTED[0])
    with pytest.raises(SourceError, match=r"line 3, column 'id': two rows for a dataset.*line 1"):
        ak.import_scoreboard(path, **OPTIONS)
    long = table(tmp_path / "t.csv", "dataset,system,score", "x,a,1", "x,a,2")
    with pytest.raises(SourceError, match=r"line 3, column 'system': two rows for a cell"):
        ak.import_scoreboard(long, higher_is_better=True)


def test_a_dataset_in_two_sources_is_a_rerun(tmp_path: Path) -> None:
    one = table(tmp_path / "one.jsonl", *NESTED)
    two = table(tmp_path / "two.jsonl", NESTED[1])
    imported = ak.import_scoreboard([one, two], **OPTIONS)
    assert imported.member.datasets == ("7", "07", "07")
    assert imported.member.run == ("one.jsonl", "one.jsonl", "two.jsonl")
    assert "1 dataset re-run; the records stay apart (1 again in 'two.jsonl')" in imported.report()
    with pytest.raises(
        SourceError, match=r"two\.jsonl, line 1, column 'id': two rows for a dataset"
    ):
        ak.import_scoreboard([one, two], **OPTIONS, run="")


def test_sources_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(table(tmp_path / folder / "r.jsonl", NESTED[0]))
    assert ak.import_scoreboard(paths, **OPTIONS).member.run == tuple(map(str, paths))


def test_a_run_column_and_joined_ids(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "task,fold,run,score.a", "x,0,1,1", "x,1,1,2", "x,0,2,3")
    s = ak.import_scoreboard(path, dataset=["task", "fold"], higher_is_better=True).member
    assert s.datasets == ("x/0", "x/1", "x/0")
    assert s.clusters == ("x", "x", "x")
    assert s.run == ("1", "1", "2")


# ------------------------------------------------------------------------------------------------ failures


def test_a_status_that_is_not_ok_is_missing(tmp_path: Path) -> None:
    path = table(
        tmp_path / "t.csv",
        "dataset,system,score,status",
        "x,a,1,ok",
        "x,b,2,Timeout",
        "y,a,,crash",
        "y,b,4,SUCCESS",
    )
    imported = ak.import_scoreboard(path, higher_is_better=True)
    np.testing.assert_array_equal(imported.member.score, [[1, math.nan], [math.nan, 4]])
    report = imported.report()
    assert (
        "2 cells failed by status ('Timeout' 1, 'crash' 1): missing; 1 score there dropped"
        in report
    )


def test_a_status_of_a_wide_row_goes_for_all_its_systems(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "dataset,score.a,score.b,status", "x,1,2,ok", "y,3,4,failed")
    s = ak.import_scoreboard(path, higher_is_better=True).member
    np.testing.assert_array_equal(s.score, [[1, 2], [math.nan, math.nan]])
    path = table(tmp_path / "u.csv", "dataset,score.a,score.b,status.a,status.b", "x,1,2,ok,failed")
    s = ak.import_scoreboard(path, higher_is_better=True).member
    np.testing.assert_array_equal(s.score, [[1, math.nan]])


def test_info_texts(tmp_path: Path) -> None:
    lines = (
        "dataset,system,score,info",
        "x,a,1,",
        "x,b,,NoResultError: memory",
        "y,a,3,took long",
        "y,b,4,",
    )
    path = table(tmp_path / "t.csv", *lines)
    imported = ak.import_scoreboard(path, higher_is_better=True)
    np.testing.assert_array_equal(imported.member.score, [[1, math.nan], [3, 4]])
    assert "1 cell failed by info ('NoResultError: memory' 1)" in imported.report()
    assert "1 score kept although 'info' holds a text" in imported.report()
    imported = ak.import_scoreboard(path, higher_is_better=True, info="info")
    np.testing.assert_array_equal(imported.member.score, [[1, math.nan], [math.nan, 4]])
    assert "1 score there dropped" in imported.report()


def test_infinite_scores_are_missing_and_counted(tmp_path: Path) -> None:
    path = table(
        tmp_path / "t.jsonl", '{"dataset": "x", "scores": {"a": Infinity, "b": NaN, "c": 1}}'
    )
    imported = ak.import_scoreboard(path, higher_is_better=True)
    np.testing.assert_array_equal(imported.member.score, [[math.nan, math.nan, 1]])
    assert "1 infinite score taken as missing" in imported.report()


# ------------------------------------------------------------------------------------------------- options


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    wide = table(tmp_path / "w.csv", "dataset,score.a,t", "x,1,2")
    long = table(tmp_path / "l.csv", "dataset,system,score,t", "x,a,1,2")
    up = {"higher_is_better": True}
    with pytest.raises(UsageError, match="--seconds without a star in a wide table"):
        ak.import_scoreboard(wide, **up, seconds="t")
    with pytest.raises(UsageError, match="--seconds with a star in a long table"):
        ak.import_scoreboard(long, **up, seconds="t*")
    with pytest.raises(UsageError, match="a test fraction without sizes"):
        ak.import_scoreboard(long, **up, test_fraction=0.2)
    with pytest.raises(UsageError, match="test fraction out of range"):
        ak.import_scoreboard(long, **up, test_fraction=1)
    with pytest.raises(UsageError, match="two stars in a pattern"):
        ak.import_scoreboard(wide, **up, score="*s*")
    with pytest.raises(SourceError, match=r"no column matches 'x\*', which --score names"):
        ak.import_scoreboard(wide, **up, score="x*")
    with pytest.raises(SourceError, match="no column for --system"):
        ak.import_scoreboard(table(tmp_path / "n.csv", "dataset,score", "x,1"), **up)


def test_two_values_for_one_dataset(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "dataset,system,score,size", "x,a,1,5", "x,b,1,6")
    with pytest.raises(SourceError, match=r"line 3, column 'size': two values of 'size'.*line 2"):
        ak.import_scoreboard(path, higher_is_better=True, size="size")


# ---------------------------------------------------------------------------------------------- real files

SWEEP = ("20260328_1739", "20260328_1841", "20260330_2124")
RERUN = "20260331_1917_regression_only_orcetra_improved"
ORCETRA = {
    "dataset": "dataset_id", "cluster": "name", "group": "task_type", "score": "scores.*", "seconds": "times.*",
    "budget": "budget_sec", "size": "n_samples", "test_fraction": 0.2, "claimed_winner": "winner",
    "direction": "task_type=classification:max,regression:min",
}  # fmt: skip


def orcetra(shared_data: Path, *runs: str) -> list[Path]:
    return [shared_data / "orcetra" / f"multi_framework_{run}.jsonl" for run in runs]


def test_the_sweep_is_513_datasets(shared_data: Path) -> None:
    paths = orcetra(shared_data, *SWEEP)
    imported = ak.import_scoreboard(paths, **ORCETRA)
    s = imported.member
    assert s.score.shape == (513, 3)
    assert len(set(s.datasets)) == 513
    assert len(set(s.run)) == 3
    assert len(set(s.clusters)) == 378
    assert s.higher_is_better.sum() == 382
    records = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    for row, record in enumerate(records):
        assert s.datasets[row] == str(record["dataset_id"])
        assert s.score[row].tolist() == [record["scores"][name] for name in s.systems]
        assert s.seconds[row].tolist() == [record["times"][name] for name in s.systems]
        assert s.claimed_winner[row] == record["winner"]
        assert s.budget_seconds[row] == 60
        assert s.test_size[row] == math.ceil(record["n_samples"] / 5)
    assert "513 datasets in 3 runs" in imported.report()
    assert "re-run" not in imported.report()


def test_the_rerun_is_kept_apart_and_said(shared_data: Path) -> None:
    imported = ak.import_scoreboard(orcetra(shared_data, *SWEEP, RERUN), **ORCETRA)
    assert imported.member.score.shape == (644, 3)
    assert "131 datasets re-run; the records stay apart (131 again in" in imported.report()


def test_tabzilla_as_a_scoreboard(shared_data: Path) -> None:
    s = ak.import_scoreboard(
        shared_data / "tabzilla" / "final18_tuned_aggregated_results.csv", dataset="dataset_name", system="alg_name",
        score="Accuracy__test_mean", seconds="time__train_mean", higher_is_better=True,
    ).member  # fmt: skip
    assert s.score.shape == s.seconds.shape == (104, 18)
    assert not np.isnan(s.score).any()


def test_a_pattern_without_columns_is_told_before_repeated_rows(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "d,system,score", "x,a,1", "x,b,2")
    with pytest.raises(SourceError, match=r"no column matches 'zz\*', which --score names"):
        ak.import_scoreboard(path, dataset="d", score="zz*", higher_is_better=True)
