"""Utilities from costs and PAR-k, against loops written from the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats  # noqa: F401  # its import would count against the first example
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics.utilities import penalised, utilities

costs = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    elements=st.one_of(st.just(math.nan), st.integers(0, 5).map(float), st.floats(0, 1e6)),
)


def minmax_of_one(row: list[float]) -> list[float]:
    measured = [p for p in row if not math.isnan(p)]
    if not measured or max(measured) == min(measured):
        return [math.nan] * len(row)
    low, high = min(measured), max(measured)
    return [1 - min(max((p - low) / (high - low), 0.0), 1.0) for p in row]


def rank_of_one(row: list[float]) -> list[float]:
    measured = [p for p in row if not math.isnan(p)]
    out = []
    for p in row:
        if math.isnan(p) or len(measured) < 2:
            out.append(math.nan)
            continue
        better = sum(q < p for q in measured)
        tied = sum(q == p for q in measured)
        out.append(1 - (better + (tied - 1) / 2) / (len(measured) - 1))
    return out


@given(costs)
def test_minmax_is_its_definition(cost: np.ndarray) -> None:
    expected = [minmax_of_one(row) for row in cost.tolist()]
    np.testing.assert_array_equal(utilities(cost, "minmax"), expected)


@given(costs)
def test_rank_is_its_definition(cost: np.ndarray) -> None:
    # the same fraction, divided once here and once there: two roundings of values up to 1
    expected = [rank_of_one(row) for row in cost.tolist()]
    np.testing.assert_allclose(utilities(cost, "rank"), expected, rtol=0, atol=4e-16)


@given(costs)
def test_identity_turns_the_sign(cost: np.ndarray) -> None:
    np.testing.assert_array_equal(utilities(cost, "identity"), -cost)


@given(costs)
def test_a_lower_cost_never_has_the_lower_utility(cost: np.ndarray) -> None:
    for transform in ("minmax", "rank", "identity"):
        u = utilities(cost, transform)
        for p, v in zip(cost, u, strict=True):
            for a in range(len(p)):
                for b in range(len(p)):
                    if p[a] < p[b] and not math.isnan(v[a]) and not math.isnan(v[b]):
                        assert v[a] >= v[b]


def test_an_instance_without_a_range_is_all_nan() -> None:
    assert np.isnan(
        utilities(np.array([[3.0, 3.0], [3.0, math.nan], [math.nan] * 2]), "minmax")
    ).all()


def test_an_infinite_cost_and_an_unknown_transform_are_refused() -> None:
    with pytest.raises(StatisticsError, match="infinite cost"):
        utilities(np.array([[1.0, math.inf]]), "minmax")
    with pytest.raises(UsageError, match="unknown transform"):
        utilities(np.ones((1, 2)), "log")


def test_penalty_of_each_kind_of_run() -> None:
    stored = np.array([5.0, 60.0, 60.5, 600.0, 1.0, math.nan, math.nan])
    failed = np.array([False, False, False, True, True, True, False])
    cost, late = penalised(stored, failed, 60.0, 10.0)
    np.testing.assert_array_equal(cost, [5, 60, 600, 600, 600, 600, math.nan])
    np.testing.assert_array_equal(late, [False, False, True, True, True, True, False])
