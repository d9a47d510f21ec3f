"""Greedy allocation against exhaustive search and a step-by-step heap; both kernels, ties included."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.kernels import allocate, curves
from auditkit.kernels.workload import BLOCKS, EXACT, REPLAY, allocate_rows, curve_values
from tests.kernels.allocation_twins import greedy_steps, minorant_gains

NO_WEIGHTS = (np.empty((0, 0)), np.empty(0, np.int64))


def by_minorants(curve_list: list[np.ndarray], budget: int) -> list[int]:
    """The kernel on full curves of any lengths."""
    n, largest = len(curve_list), max(map(len, curve_list))
    corner, slope = np.empty((n, largest), np.int32), np.empty((n, largest))
    corners = np.empty(n, np.int64)
    for i, curve in enumerate(curve_list):
        padded = np.concatenate([[np.nan], curve])
        corners[i] = curves.convex_minorant(padded, len(curve), corner[i], slope[i])
    taken = np.empty(n, np.int64)
    allocate.allocate_minorants(corner, slope, corners, budget, taken)
    return taken.tolist()


def rows_of(costs: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    depth = np.array([len(x) for x in costs])
    rows = np.full((len(costs), depth.max()), np.nan)
    for i, x in enumerate(costs):
        rows[i, : len(x)] = x
    return rows, depth


def exact_gains(row: np.ndarray, cap: int) -> list[float]:
    rank, rise = np.empty(len(row), np.int32), np.empty(len(row))
    count = curves.rises_of_sorted(row, len(row), rank, rise)
    return [curves.exact_gain(rank, rise, count, len(row), k, *NO_WEIGHTS) for k in range(1, cap)]


def exhaustive(curve_list: list[np.ndarray], budget: int) -> float:
    """The smallest sum of curves over all allocations."""
    choices = product(*(range(1, len(c) + 1) for c in curve_list))
    return min(
        sum(c[k - 1] for c, k in zip(curve_list, ks, strict=True))
        for ks in choices
        if sum(ks) == budget
    )


convex = st.lists(st.floats(0, 10), min_size=1, max_size=5).map(
    lambda gains: 50 - np.cumsum([0.0, *sorted(gains, reverse=True)])
)


@given(st.lists(convex, min_size=1, max_size=4), st.data())
def test_on_convex_curves_it_equals_exhaustive_search(
    curve_list: list[np.ndarray], data: st.DataObject
) -> None:
    budget = data.draw(st.integers(len(curve_list), sum(map(len, curve_list))))
    taken = by_minorants(curve_list, budget)
    assert sum(taken) == budget
    assert all(1 <= k <= len(c) for k, c in zip(taken, curve_list, strict=True))
    found = sum(c[k - 1] for c, k in zip(curve_list, taken, strict=True))
    assert found == pytest.approx(exhaustive(curve_list, budget), abs=1e-9)


@given(st.lists(st.integers(2, 9), min_size=1, max_size=4), st.integers(0, 2**32), st.data())
def test_on_exact_curves_it_equals_exhaustive_search(
    depths: list[int], seed: int, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    rows, depth = rows_of([np.sort(random.lognormal(0, 1, d)) for d in depths])
    cap = np.maximum(depth // 2, 1)
    budget = data.draw(st.integers(len(depths), int(cap.sum())))
    taken = np.empty(len(depths), np.int64)
    allocate_rows(EXACT, rows, depth, cap, budget, taken)
    values = np.empty((len(depths), int(cap.max())))
    every = np.minimum(np.arange(1, cap.max() + 1), cap[:, np.newaxis])
    curve_values(EXACT, rows, depth, every, values)
    curve_list = [values[i, : cap[i]] for i in range(len(depths))]
    assert taken.sum() == budget
    found = values[np.arange(len(depths)), taken - 1].sum()
    assert found == pytest.approx(exhaustive(curve_list, budget), rel=1e-12)


# few distinct costs: many equal gains, where the order of ties decides
tied = st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0]), min_size=2, max_size=30)


@given(st.lists(tied, min_size=1, max_size=6), st.data())
def test_aiming_at_a_price_equals_taking_steps_one_by_one(
    costs: list[list[float]], data: st.DataObject
) -> None:
    rows, depth = rows_of([np.sort(np.array(x)) for x in costs])
    cap = np.array([data.draw(st.integers(1, int(d))) for d in depth])
    budget = data.draw(st.integers(len(costs), int(cap.sum())))
    taken = np.empty(len(costs), np.int64)
    allocate_rows(EXACT, rows, depth, cap, budget, taken)
    gains = [exact_gains(rows[i, : depth[i]], int(cap[i])) for i in range(len(costs))]
    assert taken.tolist() == greedy_steps(gains, budget)


@pytest.mark.parametrize("spread", [0.01, 1.0, 3.0])
@pytest.mark.parametrize("tail", ["normal", "pareto", "mostly solved"])
def test_aiming_at_a_price_on_unlike_instances(spread: float, tail: str) -> None:
    random = np.random.default_rng(7)
    scale = random.lognormal(0, spread, 40)
    draws = {
        "normal": lambda d: random.normal(10, 1, d),
        "pareto": lambda d: random.pareto(1.5, d),
        "mostly solved": lambda d: np.where(random.random(d) < 0.9, 0.0, random.random(d)),
    }[tail]
    rows, depth = rows_of([np.sort(s * draws(int(random.integers(60, 200)))) for s in scale])
    cap = depth // 2
    for budget in (40, 41, 800, int(cap.sum()) - 1, int(cap.sum())):
        taken = np.empty(40, np.int64)
        allocate_rows(EXACT, rows, depth, cap, budget, taken)
        gains = [exact_gains(rows[i, : depth[i]], int(cap[i])) for i in range(40)]
        assert taken.tolist() == greedy_steps(gains, budget)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=12), min_size=1, max_size=5),
    st.data(),
)
def test_segments_equal_single_steps_along_the_minorants(
    values: list[list[int]], data: st.DataObject
) -> None:
    curve_list = [np.array(v, dtype=float) for v in values]
    budget = data.draw(st.integers(len(values), sum(map(len, values))))
    steps = greedy_steps([minorant_gains(c) for c in curve_list], budget)
    assert by_minorants(curve_list, budget) == steps


@pytest.mark.parametrize("estimator", [BLOCKS, REPLAY])
def test_rows_of_other_estimators_go_through_their_minorants(estimator: int) -> None:
    random = np.random.default_rng(8)
    rows, depth = rows_of([random.normal(10, 1, d) for d in (40, 61, 52)])
    cap = depth // 2
    taken = np.empty(3, np.int64)
    allocate_rows(estimator, rows, depth, cap, 50, taken)
    curve_list = []
    for i in range(3):
        k = np.arange(1, cap[i] + 1)[np.newaxis]
        out = np.empty(k.shape)
        curve_values(estimator, rows[i : i + 1], depth[i : i + 1], k, out)
        curve_list.append(out[0])
    assert taken.tolist() == greedy_steps([minorant_gains(c) for c in curve_list], 50)


def test_jitted_and_not_agree() -> None:
    random = np.random.default_rng(9)
    rows, depth = rows_of([np.sort(random.normal(10, 1, d)) for d in (12, 20, 16)])
    rank, rise = np.empty(rows.shape, np.int32), np.empty(rows.shape)
    counts = np.array(
        [curves.rises_of_sorted(rows[i], depth[i], rank[i], rise[i]) for i in range(3)]
    )
    one, other = np.empty(3, np.int64), np.empty(3, np.int64)
    arguments = (rank, rise, counts, depth, depth // 2, 15, *NO_WEIGHTS)
    allocate.allocate_exact(*arguments, one)
    allocate.allocate_exact.py_func(*arguments, other)
    assert one.tolist() == other.tolist()
