"""Searches: TabM against a naive reference, simulated ones against the truth."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditkit.audits.selection import audit_selection
from auditkit.demo import demo_data
from auditkit.results.common import Skipped
from auditkit.results.search import SearchAudit
from auditkit.schema import AuditData, Search
from auditkit.statistics.bootstrap import bootstrap

NAN = np.nan


def search(validation: Any, test: Any, **arrays: Any) -> Search:
    validation = np.array(validation, dtype=float)
    given = {
        "higher_is_better": np.ones(len(validation), dtype=bool),
        "datasets": tuple(f"d{i}" for i in range(len(validation))),
        **arrays,
    }
    return Search(validation_score=validation, test_score=np.array(test, dtype=float), **given)


def audit(member: Search, **options: Any) -> SearchAudit:
    options = {"replicates": 50, **options}
    return audit_selection(AuditData(searches={"search": member}), **options).items[0]


@pytest.fixture(scope="module")
def tabm(shared_data: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Validation and test scores of each dataset's trace, in the order of the steps."""
    traces: dict[str, list[tuple[int, float, float]]] = {}
    with (shared_data / "searches" / "tabm_single_models.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            traces.setdefault(row["dataset"], []).append(
                (int(row["step"]), float(row["validation_score"]), float(row["test_score"]))
            )
    columns = {name: np.array(sorted(trace)).T for name, trace in traces.items()}
    return {name: (x[1], x[2]) for name, x in columns.items()}


def padded(traces: dict[str, tuple[np.ndarray, np.ndarray]]) -> Search:
    depth = max(len(v) for v, _ in traces.values())
    table = np.full((2, len(traces), depth), NAN)
    for i, pair in enumerate(traces.values()):
        table[:, i, : len(pair[0])] = pair
    return search(table[0], table[1], datasets=tuple(traces))


def test_tabm_equals_a_naive_reference(tabm: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    item = audit(padded(tabm))
    assert (item.n_datasets, item.n_used) == (86, 86)
    assert (item.candidates.low, item.candidates.high) == (165, 195)
    inside = {
        "accuracy-like": [p for p in tabm.values() if min(p[0].min(), p[1].min()) >= 0],
        "other, higher is better": [p for p in tabm.values() if min(p[0].min(), p[1].min()) < 0],
    }
    assert set(item.groups) == set(inside)
    for name, traces in inside.items():
        group = item.groups[name]
        best = np.array([t.max() for _, t in traces])
        chosen = np.array([t[v.argmax()] for v, t in traces])
        bias = best - chosen
        assert group.n == len(traces)
        assert group.select_on_test.estimate == pytest.approx(best.mean(), rel=1e-12)
        assert group.select_on_validation.estimate == pytest.approx(chosen.mean(), rel=1e-12)
        assert group.bias.mean == pytest.approx(bias.mean(), rel=1e-12)
        assert group.bias.max == bias.max()
        assert [group.bias.q25, group.bias.q50, group.bias.q75] == pytest.approx(
            np.quantile(bias, [0.25, 0.5, 0.75]), rel=1e-12
        )
        assert group.bias.share_zero == pytest.approx((bias == 0).mean())
        for point in group.curve:
            long = [(v[: point.k], t[: point.k]) for v, t in traces if len(v) >= point.k]
            expected = np.mean([t.max() - t[v.argmax()] for v, t in long])
            assert (point.n, point.undefined) == (len(long), 0)
            assert point.bias == pytest.approx(expected, rel=1e-9, abs=1e-15)
        bound = [t.std(ddof=1) * np.sqrt(2 * np.log(len(t))) for _, t in traces]
        assert group.bound.mean == pytest.approx(np.mean(bound), rel=1e-12)
        assert group.bound.ratio == pytest.approx(np.mean(bound) / bias.mean(), rel=1e-12)
        assert group.bound.ratio > 1
    relative = [(t.max() - t[v.argmax()]) / t.std(ddof=1) for v, t in tabm.values()]
    assert item.relative_bias.mean == pytest.approx(np.mean(relative), rel=1e-12)
    assert item.relative_bound.mean == pytest.approx(
        np.mean([np.sqrt(2 * np.log(len(t))) for _, t in tabm.values()]), rel=1e-12
    )
    # scores of several scales are not averaged
    assert all(isinstance(getattr(item, x), Skipped) for x in ("bias", "curve", "bound"))


def test_interval_is_that_of_the_bootstrap() -> None:
    random = np.random.default_rng(5)
    validation, test = random.random((2, 30, 8))
    item = audit(search(validation, test), replicates=400, seed=9)
    bias = test.max(axis=1) - test[np.arange(30), validation.argmax(axis=1)]
    expected = bootstrap(bias, replicates=400, seed=9)
    assert item.bias.low == pytest.approx(expected.low, rel=1e-12)
    assert item.bias.high == pytest.approx(expected.high, rel=1e-12)
    assert item.curve[-1].low == pytest.approx(expected.low, rel=1e-12)


def test_candidates_that_failed() -> None:
    member = search(
        [[NAN, 0.9, 0.8, NAN], [NAN, NAN, NAN, NAN], [0.5, 0.6, NAN, NAN], [0.5, 0.6, 0.7, 0.1]],
        [[0.9, 0.2, 0.3, NAN], [0.5, NAN, NAN, NAN], [0.4, NAN, NAN, NAN], [NAN, 0.5, 0.4, 0.9]],
    )
    item = audit(member)
    # second: nothing can be chosen; third: the choice has no test score
    assert (item.n_datasets, item.n_used) == (4, 2)
    assert (item.without_validation, item.without_test) == (2, 2)
    assert item.select_on_test.estimate == pytest.approx(0.9)
    assert item.select_on_validation.estimate == pytest.approx((0.2 + 0.4) / 2)
    assert [(p.k, p.n, p.undefined) for p in item.curve] == [(2, 2, 0), (3, 2, 0), (4, 1, 0)]
    assert item.bias.mean == pytest.approx((0.7 + 0.5) / 2)


def test_nothing_can_be_chosen() -> None:
    item = audit(search([[NAN, NAN]], [[0.5, 0.6]]))
    assert item.n_used == 0
    assert isinstance(item.bias, Skipped)
    assert isinstance(item.relative_bias, Skipped)
    assert isinstance(item.relative_curve, Skipped)
    item.to_dict()


def test_lower_is_better() -> None:
    validation, test = [[3.0, 1.0, 2.0]], [[5.0, 4.0, 3.0]]
    item = audit(search(validation, test, higher_is_better=np.array([False])))
    assert item.select_on_test.estimate == 3.0
    assert item.select_on_validation.estimate == 4.0
    assert item.bias.mean == 1.0
    assert item.groups["lower is better"].scale == "lower is better"


def test_groups_and_scales_are_apart() -> None:
    item = audit(
        search(
            [[0.5, 0.6]] * 4,
            [[0.5, 0.4], [0.9, 0.7], [30.0, 10.0], [0.5, 0.4]],
            higher_is_better=np.array([True, True, False, True]),
            group=("x", "x", "x", "y"),
        )
    )
    assert list(item.groups) == ["x, accuracy-like", "x, lower is better", "y"]
    assert item.groups["x, accuracy-like"].bias.mean == pytest.approx(0.15)
    assert item.groups["x, lower is better"].bias.mean == 20.0
    assert isinstance(item.bias, Skipped)
    # all four miss the better of two scores, whose standard deviation is |a - b| / sqrt(2)
    assert item.relative_bias.mean == pytest.approx(np.sqrt(2))


def test_candidates_without_any_spread_have_no_bias() -> None:
    item = audit(search([[0.1, 0.2], [0.3, NAN]], [[0.7, 0.7], [0.8, NAN]]))
    assert item.relative_bias.mean == 0.0
    assert item.relative_bias.share_zero == 1.0
    assert item.relative_bound.ratio == Skipped("no bias was measured")


def test_peeking_is_detected() -> None:
    item = audit(
        search(
            [[0.9, 0.1]] * 4 + [[0.1, 0.9]],
            [[0.5, 0.6]] * 4 + [[0.5, 0.6]],
            reported_score=np.array([0.6 + 1e-9, 0.5, 0.55, NAN, 0.6]),
        )
    )
    found = item.peeking
    assert (found.n, found.best_only, found.choice_only, found.both, found.neither) == (
        4,
        1,
        1,
        1,
        1,
    )
    assert item.peeking_share == 0.25


def test_refit_and_binomial_bound() -> None:
    item = audit(
        search(
            [[0.9, 0.1], [0.9, 0.1]],
            [[0.5, 0.6], [0.8, 0.9]],
            refit_score=np.array([0.55, NAN]),
            test_size=np.array([100, 0]),
        )
    )
    assert (item.refit.estimate, item.refit.n) == (0.55, 1)
    bound = item.groups["accuracy-like"].binomial_bound
    # p is the score of the validation choice, 0.5
    assert (bound.n, bound.sigma) == (1, "binomial")
    assert bound.mean == pytest.approx(0.05 * np.sqrt(2 * np.log(2)))
    assert bound.ratio == pytest.approx(bound.mean / 0.1)


@pytest.mark.parametrize("shared", [0, 300])
def test_simulated_searches_with_known_truth(shared: int) -> None:
    """Candidates of different quality on 400 test rows, ``shared`` of which all see alike.

    The truth is simulated apart: the same process, other seeds, without the audit.
    """
    n, K, rows = 3000, 15, 400

    def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(seed)
        quality = 0.75 + random.normal(0, 0.01, (n, K))
        validation = random.binomial(rows, quality) / rows
        common = random.random((n, 1, shared)) < quality.mean(axis=1)[:, None, None]
        own = random.binomial(rows - shared, quality)
        return validation, (common.sum(axis=2) + own) / rows

    item = audit(search(*draw(1), test_size=np.full(n, rows)), replicates=100)
    validation, test = draw(2)
    truth = test.max(axis=1) - test[np.arange(n), validation.argmax(axis=1)]
    error = 5 * np.sqrt(2) * truth.std() / np.sqrt(n)  # of two means, at five standard errors
    assert abs(item.bias.mean - truth.mean()) < error
    # the interval is at most a few standard errors wide, and the bound holds for both kinds
    assert item.groups["accuracy-like"].binomial_bound.ratio > 1
    assert item.bound.ratio > 1


def test_keys_of_the_contract() -> None:
    item = audit(demo_data().searches["peeking"]).to_dict()
    assert item.keys() >= {
        "search", "n_datasets", "select_on_test", "select_on_validation", "refit", "bias",
        "curve", "bound", "peeking_share",
    }  # fmt: skip
    assert item["bias"].keys() >= {
        "mean", "low", "high", "q25", "q50", "q75", "max", "share_zero",
    }  # fmt: skip
    assert item["curve"][0].keys() >= {"k", "n", "bias", "low", "high"}
    # ten report the best test score; on two of them it is the validation choice's as well
    assert item["peeking_share"] == 8 / 40


def test_threads_do_not_change_a_bit() -> None:
    member = demo_data().searches["peeking"]
    assert audit(member, threads=1) == audit(member, threads=3)
