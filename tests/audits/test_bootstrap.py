"""The bootstrap of a stored array: which observations, which columns, what is told."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from auditkit.audits.bootstrap import bootstrap_array
from auditkit.errors import StatisticsError, UsageError
from auditkit.reports.sections.bootstrap import document
from auditkit.results.common import Estimate, Skipped
from auditkit.schema import AuditData, Benchmark, Losses, Pipeline
from auditkit.statistics.bootstrap import bootstrap

RNG = np.random.default_rng(0)
UTILITY = RNG.random((30, 4))
SCORES = RNG.random((3, 30))
CLUSTERS = RNG.integers(0, 9, 30)


def data(utility: np.ndarray = UTILITY, clusters: Any = CLUSTERS) -> AuditData:
    benchmark = Benchmark(
        utility=utility,
        instances=tuple(f"i{i}" for i in range(30)),
        algorithms=("a", "b", "c", "d"),
        families=("f",),
        family_of=np.zeros(4, np.int64),
        clusters=clusters,
        pipelines={
            "p": Pipeline(kind="flat", partition_utility=SCORES, deployed_utility=SCORES)
        },
    )  # fmt: skip
    losses = Losses(
        loss_a=UTILITY[:, 0], loss_b=UTILITY[:, 1], covariates=UTILITY[:, 2:],
        covariate_names=("x", "y"),
    )  # fmt: skip
    return AuditData(benchmarks={"B": benchmark}, losses={"L": losses})


@pytest.mark.parametrize(
    ("path", "x", "names"),
    [
        ("/benchmarks/B/utility", UTILITY, ["a", "b", "c", "d"]),
        ("benchmarks/B/utility", UTILITY, ["a", "b", "c", "d"]),
        ("/benchmarks/B/pipelines/p/partition_utility", SCORES.T, ["0", "1", "2"]),
        ("/losses/L/loss_a", UTILITY[:, :1], ["loss_a"]),
        ("/losses/L/covariates", UTILITY[:, 2:], ["x", "y"]),
    ],
)
def test_observations_are_the_units_of_any_array(
    path: str, x: np.ndarray, names: list[str]
) -> None:
    found = bootstrap_array(data(), path, replicates=200)
    expected = bootstrap(x, replicates=200)
    assert [column.name for column in found.columns] == names
    for j, column in enumerate(found.columns):
        assert column.value == Estimate(expected.estimate[j], expected.low[j], expected.high[j], 30)


def test_columns_are_chosen_and_paired_in_order() -> None:
    found = bootstrap_array(
        data(), "/benchmarks/B/utility", columns=["c", "a"], statistic="ratio", replicates=200
    )
    expected = bootstrap(UTILITY[:, [2, 0]], statistic="ratio", replicates=200)
    (column,) = found.columns
    assert column.name == "c / a"
    assert column.value.low == expected.low[0]


def test_clusters_are_resampled_when_asked_for_and_named_when_not() -> None:
    path = "/benchmarks/B/clusters"
    found = bootstrap_array(data(), "/benchmarks/B/utility", clusters=path, replicates=200)
    expected = bootstrap(UTILITY, clusters=CLUSTERS, replicates=200)
    assert found.columns[0].value.low == expected.low[0]
    assert (found.n_units, found.n_observations) == (len(set(CLUSTERS.tolist())), 30)
    assert found.unused_clusters is None
    assert bootstrap_array(data(), "/benchmarks/B/utility", replicates=20).unused_clusters == path
    bare = bootstrap_array(data(clusters=None), "/benchmarks/B/utility", replicates=20)
    assert bare.unused_clusters is None


def test_missing_cells_are_counted() -> None:
    holes = UTILITY.copy()
    holes[:3, 0], holes[3:5, 1], holes[:, 2] = np.nan, np.nan, np.nan
    with pytest.raises(StatisticsError, match="35 NaN"):
        bootstrap_array(data(holes), "/benchmarks/B/utility")
    found = bootstrap_array(data(holes), "/benchmarks/B/utility", missing="omit", replicates=200)
    assert [column.n_measured for column in found.columns] == [27, 28, 0, 30]
    assert found.columns[2].value == Skipped("no observation")
    pair = bootstrap_array(
        data(holes), "/benchmarks/B/utility", columns=["a", "b"], statistic="difference",
        missing="omit", replicates=200,
    )  # fmt: skip
    assert pair.columns[0].n_measured == 25


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/benchmarks",
        "/benchmarks/B",
        "/benchmarks/B/cost",
        "/benchmarks/C/utility",
        "/benchmarks/B/pipelines/p",
        "/benchmarks/B/pipelines/q/partition_utility",
        "/benchmarks/B/algorithms",
        "/benchmarks/B/family_of",
        "/etc/passwd",
    ],
)
def test_refuses_what_is_no_table_of_numbers(path: str) -> None:
    with pytest.raises(UsageError):
        bootstrap_array(data(), path)


def test_refuses_an_unknown_column() -> None:
    with pytest.raises(UsageError, match="no such column, found e, expected a or b or c or d"):
        bootstrap_array(data(), "/benchmarks/B/utility", columns=["a", "e"])


def test_json_holds_settings_and_intervals() -> None:
    found = bootstrap_array(
        data(), "/benchmarks/B/utility", statistic="quantile", q=0.75, replicates=200, seed=5
    )
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["settings"]["bootstrap"]["q"] == 0.75
    assert "seed:5|replicates:200" in record["signature"]
    assert record["bootstrap"]["statistic"] == "quantile 0.75"
    first = record["bootstrap"]["columns"][0]
    expected = bootstrap(UTILITY, statistic="quantile", q=0.75, replicates=200, seed=5)
    assert first["value"]["high"] == expected.high[0]
    assert list(found.to_frame()["value_high"]) == expected.high.tolist()


def test_the_report_shows_intervals_reasons_and_fallbacks() -> None:
    holes = UTILITY.copy()
    holes[:, 2] = np.nan
    holes[0, 3] = 1e6
    found = bootstrap_array(
        data(holes), "/benchmarks/B/utility", method="exact", missing="omit", replicates=200
    )
    report = document(found)
    (section,) = report.sections
    rows = section.tables[0].rows
    assert rows[0][2] == f"{UTILITY[:, 0].mean():#.6g}"
    assert rows[2][2:] == ("–", "–", "–")
    assert section.skipped == ("c: no observation",)
    assert any(note.startswith("d: not exact: the characteristic") for note in section.notes)
    assert any("--clusters /benchmarks/B/clusters" in note for note in section.notes)
    assert dict(report.facts)["intervals"] == "95% mixed, 200 replicates, seed 0"
