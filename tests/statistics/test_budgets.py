"""Budgets by rule: rounding, labels, the charged probe."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics.budgets import (
    label_budgets,
    largest_remainder,
    mean_by_label,
    probe_scores,
)
from auditkit.statistics.workload import as_workload, score

shares = st.lists(st.floats(0, 100), min_size=1, max_size=12)


@given(shares, st.data())
def test_largest_remainder_spends_the_budget_within_its_bounds(
    weights: list[float], data: st.DataObject
) -> None:
    n = len(weights)
    low = data.draw(st.integers(0, 2))
    high = np.array(data.draw(st.lists(st.integers(2, 40), min_size=n, max_size=n)))
    budget = data.draw(st.integers(low * n, int(high.sum())))
    found = largest_remainder(weights, budget, low=low, high=high)
    assert found.sum() == budget
    assert ((found >= low) & (found <= high)).all()


@given(shares, st.integers(0, 200))
def test_without_bounds_it_is_the_method_of_hamilton(weights: list[float], budget: int) -> None:
    assume(sum(weights) > 1e-3)
    quota = budget * np.array(weights) / sum(weights)
    assume(np.abs(quota - np.round(quota)).max() > 1e-6)
    remainder = np.sort(quota - np.floor(quota))
    assume(len(weights) < 2 or np.diff(remainder).min() > 1e-6)
    whole = np.floor(quota + 1e-9).astype(int)
    order = np.argsort(-(quota - whole), kind="stable")
    whole[order[: budget - whole.sum()]] += 1
    assert largest_remainder(weights, budget, low=0).tolist() == whole.tolist()


def test_largest_remainder_of_known_cases() -> None:
    # the apportionment example of Balinski and Young: 26 seats over populations of 9061, 7179, 5259, 3319, 1182
    assert largest_remainder([9061, 7179, 5259, 3319, 1182], 26).tolist() == [9, 7, 5, 4, 1]
    assert largest_remainder([0.0, 0.0], 5).tolist() == [3, 2]
    assert largest_remainder([0.0, 1.0], 5, high=[5, 3]).tolist() == [2, 3]
    assert largest_remainder([1e-300, 1.0], 5).tolist() == [1, 4]
    assert largest_remainder([1.0, 1.0, 8.0], 10, high=[10, 10, 4]).tolist() == [3, 3, 4]


@pytest.mark.parametrize(
    ("weights", "budget", "low", "high"),
    [
        ([-1.0, 2.0], 3, 1, None),
        ([np.nan, 1.0], 3, 1, None),
        ([1.0, 1.0], 1, 1, None),
        ([1.0, 1.0], 9, 1, [3, 3]),
    ],
)
def test_largest_remainder_refuses(
    weights: list[float], budget: int, low: int, high: list[int] | None
) -> None:
    with pytest.raises(UsageError):
        largest_remainder(weights, budget, low=low, high=high)


def test_label_budgets_keep_the_ratio() -> None:
    labels = ("a", "b", "a", "b")
    caps = np.full(4, 100)
    assert label_budgets(labels, {"a": 3.0, "b": 1.0}, 80, caps).tolist() == [30, 10, 30, 10]
    assert label_budgets(labels, {"a": 3.0, "b": 1.0}, 81, caps).tolist() == [31, 10, 30, 10]
    assert label_budgets(labels, {"a": 3.0, "b": 1.0}, 80, np.full(4, 25)).tolist() == [
        25,
        15,
        25,
        15,
    ]
    with pytest.raises(UsageError, match="label without a ratio"):
        label_budgets(labels, {"a": 3.0}, 80, caps)
    with pytest.raises(UsageError, match="bad ratio"):
        label_budgets(labels, {"a": 0.0, "b": 1.0}, 80, caps)


def test_mean_by_label() -> None:
    assert mean_by_label(("x", "y", "x"), [1, 5, 2]) == {"x": 1.5, "y": 5.0}


def test_a_probe_is_scored_by_the_expectation_given_the_probe() -> None:
    costs = np.random.default_rng(4).lognormal(2, 0.5, (3, 9))
    workload = as_workload(costs)
    uniform, allocated, taken = probe_scores(workload, costs, 3, 2, repetitions=4, seed=6)
    assert (taken.sum(axis=1) == 9).all()
    assert (taken >= 2).all()
    assert (taken <= 4).all()
    from auditkit.kernels.workload import shuffled_rows

    for r in range(4):
        rows = np.empty_like(costs)
        shuffled_rows(costs, workload.depth, np.uint64(6), r, 0, rows)
        for i in range(3):
            probe, rest = rows[i, :2].tolist(), rows[i, 2:].tolist()
            for k, found in ((3, uniform[r, i]), (int(taken[r, i]), allocated[r, i])):
                brute = np.mean([min(*probe, *more) for more in combinations(rest, k - 2)])
                assert found == pytest.approx(brute, rel=1e-13)


def test_a_probe_follows_its_coefficient_of_variation() -> None:
    # the second instance varies ten times as much, relative to its mean, whatever part of it is probed
    one = 100 + np.tile([-1.0, 1.0], 100)
    two = 5 + np.tile([-0.5, 0.5], 100)
    costs = np.stack([one, two])
    _, _, taken = probe_scores(as_workload(costs), costs, 50, 30, repetitions=3, seed=1)
    rest = taken - 30
    assert (rest.sum(axis=1) == 40).all()
    np.testing.assert_allclose(rest[:, 1] / rest[:, 0], 10, rtol=0.35)


def test_probing_averages_to_the_exact_curve_where_all_get_the_same() -> None:
    costs = np.tile(np.random.default_rng(5).normal(10, 1, 60), (2, 1))
    workload = as_workload(costs)
    uniform, _, _ = probe_scores(workload, costs, 10, 4, repetitions=600, seed=2)
    known = score(np.sort(costs, axis=1), workload, "exact", np.full((2, 1), 10))[:, 0]
    error = uniform.std(axis=0) / np.sqrt(len(uniform))
    assert (np.abs(uniform.mean(axis=0) - known) < 4 * error).all()


def test_a_whole_budget_probed_leaves_nothing_to_decide() -> None:
    costs = np.random.default_rng(6).lognormal(2, 0.5, (3, 20))
    uniform, allocated, taken = probe_scores(as_workload(costs), costs, 5, 5, repetitions=2, seed=1)
    assert (taken == 5).all()
    assert uniform.tolist() == allocated.tolist()


def test_probe_refuses() -> None:
    costs = np.ones((2, 20))
    for probe in (1, 6):
        with pytest.raises(UsageError):
            probe_scores(as_workload(costs), costs, 5, probe, repetitions=1, seed=0)
    zero = np.tile([-1.0, 1.0], (2, 10)) * 0
    with pytest.raises(StatisticsError, match="mean zero"):
        probe_scores(as_workload(zero), zero, 5, 2, repetitions=1, seed=0)
