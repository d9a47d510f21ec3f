"""Best-of-k curves against brute force, closed forms, rational arithmetic and extended precision."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditkit.kernels import curves
from auditkit.kernels.curves import NEGLIGIBLE

NO_WEIGHTS = (np.empty((0, 0)), np.empty(0, np.int64))
few_costs = st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 7.25, -3.0]), min_size=1, max_size=8)
any_costs = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60)


def steps(costs: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    ordered = np.sort(costs)
    rank, rise = np.empty(len(costs), np.int32), np.empty(len(costs))
    return rank, rise, curves.rises_of_sorted(ordered, len(costs), rank, rise)


def exact(costs: np.ndarray, k: int, weights: tuple[np.ndarray, np.ndarray] = NO_WEIGHTS) -> float:
    return curves.exact_value(float(np.min(costs)), *steps(costs), len(costs), k, *weights)


def gain(costs: np.ndarray, k: int, weights: tuple[np.ndarray, np.ndarray] = NO_WEIGHTS) -> float:
    return curves.exact_gain(*steps(costs), len(costs), k, *weights)


def table(depth: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    weights, reach = np.zeros((rows, depth)), np.zeros(rows, np.int64)
    curves.weight_table(depth, weights, reach)
    return weights, reach


@given(few_costs)
def test_exact_is_the_mean_over_all_subsets(values: list[float]) -> None:
    costs = np.array(values)
    for k in range(1, len(costs) + 1):
        brute = np.mean([min(subset) for subset in combinations(values, k)])
        assert exact(costs, k) == pytest.approx(brute, rel=1e-14, abs=1e-14)


def test_exact_against_rational_arithmetic() -> None:
    costs = np.random.default_rng(1).lognormal(0, 1, 60)
    ordered = [Fraction(x) for x in np.sort(costs).tolist()]
    for k in (1, 2, 7, 30, 59, 60):
        value = sum(x * comb(59 - j, k - 1) for j, x in enumerate(ordered)) / comb(60, k)
        assert exact(costs, k) == pytest.approx(float(value), rel=4e-15)
        if k < 60:
            after = sum(x * comb(59 - j, k) for j, x in enumerate(ordered)) / comb(60, k + 1)
            assert gain(costs, k) == pytest.approx(float(value - after), rel=2e-14)


@pytest.mark.parametrize("depth", [10_000, 100_000])
def test_exact_against_extended_precision_at_depth(depth: int) -> None:
    costs = np.sort(np.random.default_rng(2).normal(25, 6, depth))
    for k in (1, 2, 10, 100, 1000, depth // 2, depth):
        # the sum over the sorted costs as written, with 64-bit mantissas
        j = np.arange(1, depth - k + 1, dtype=np.longdouble)
        ratio = (depth - j - k + 1) / (depth - j)
        weights = np.cumprod(np.concatenate([[np.longdouble(k) / depth], ratio]))
        reference = float(weights @ costs[: depth - k + 1].astype(np.longdouble))
        # the recurrence errs by about three roundings a rank, and ranks beyond 50 depth / k weigh nothing
        ranks = min(depth, 20 + 50 * depth / k)
        assert exact(costs, k) == pytest.approx(reference, rel=3 * 2.0**-53 * ranks)


@pytest.mark.parametrize("depth", [10, 1000, 100_000])
def test_exact_of_the_first_integers_is_known(depth: int) -> None:
    # the expected minimum of k out of 1 .. C without replacement is (C + 1) / (k + 1)
    costs = np.arange(1.0, depth + 1)
    for k in (1, 2, 3, depth // 2, depth - 1, depth):
        assert exact(costs, k) == pytest.approx((depth + 1) / (k + 1), rel=1e-11)
        if k < depth:
            known = (depth + 1) / ((k + 1) * (k + 2))
            assert gain(costs, k) == pytest.approx(known, rel=1e-10)


@given(any_costs)
def test_exact_never_increases_and_its_gains_never_do_after_rounding_too(
    values: list[float],
) -> None:
    costs = np.array(values)
    f = [exact(costs, k) for k in range(1, len(costs) + 1)]
    m = [gain(costs, k) for k in range(1, len(costs))]
    assert all(a >= b for a, b in pairwise(f))
    assert all(a >= b for a, b in pairwise(m))
    assert min(m) >= 0
    assert f[-1] == costs.min()


def test_gains_are_the_differences_of_the_curve() -> None:
    costs = np.random.default_rng(3).normal(0, 1, 300)
    f = np.array([exact(costs, k) for k in range(1, 301)])
    m = np.array([gain(costs, k) for k in range(1, 300)])
    # each value of the curve is rounded to about 2**-52 of the range below it
    np.testing.assert_allclose(m, f[:-1] - f[1:], atol=20 * 2.0**-52 * np.ptp(costs))


def test_dropping_negligible_weights_costs_less_than_the_range_times_the_threshold() -> None:
    # 300 of 1000 costs are enormous: that all 50 samples are among them has probability 4e-27
    costs = np.concatenate([np.linspace(0, 1, 700), np.full(300, 1e12)])
    ordered = [Fraction(x) for x in costs.tolist()]
    value = sum(x * comb(999 - j, 49) for j, x in enumerate(ordered)) / comb(1000, 50)
    assert abs(exact(costs, 50) - float(value)) < 1e12 * NEGLIGIBLE
    below = sum(x * comb(999 - j, 49) for j, x in enumerate(ordered[:700])) / comb(1000, 50)
    assert exact(costs, 50) == pytest.approx(float(below), rel=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 50, 801])
def test_the_table_gives_the_bits_of_the_recurrence(depth: int) -> None:
    costs = np.random.default_rng(4).normal(25, 6, depth)
    weights = table(depth, depth // 2 + 1)
    for k in range(1, depth // 2 + 2):
        if k <= depth:
            assert exact(costs, k, weights) == exact(costs, k)
        if k < depth:
            assert gain(costs, k, weights) == gain(costs, k)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30).filter(any))
def test_counts_over_sorted_costs_stand_for_the_sorted_resample(counts: list[int]) -> None:
    costs = np.sort(np.random.default_rng(len(counts)).normal(0, 1, len(counts)))
    depth = sum(counts)
    rank, rise = np.empty(depth + 1, np.int32), np.empty(depth)
    low, found = curves.rises_of_counts(costs, np.array(counts), rank, rise)
    resample = np.repeat(costs, counts)
    jumps = np.flatnonzero(np.diff(resample) > 0)
    assert low == resample[0]
    np.testing.assert_array_equal(rank[:found], jumps + 1)
    np.testing.assert_array_equal(rise[:found], np.diff(resample)[jumps])


@given(any_costs)
def test_blocks_is_the_mean_of_the_minima_of_consecutive_blocks(values: list[float]) -> None:
    costs = np.array(values)
    depth = len(costs)
    scratch, out = np.empty((8, depth)), np.empty(depth + 1)
    curves.blocks_curve(costs, depth, depth, scratch, out)
    for k in range(1, depth + 1):
        naive = costs[: depth // k * k].reshape(-1, k).min(axis=1).mean()
        assert out[k] == pytest.approx(naive, rel=1e-13, abs=1e-9)  # another order of summation
        assert curves.blocks_value(costs, depth, k) == out[k]


@given(any_costs)
def test_replay_is_the_running_minimum(values: list[float]) -> None:
    costs = np.array(values)
    out = np.empty(len(costs) + 1)
    curves.replay_curve(costs, len(costs), out)
    np.testing.assert_array_equal(out[1:], np.minimum.accumulate(costs))
    assert [curves.replay_value(costs, k) for k in range(1, len(costs) + 1)] == out[1:].tolist()


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=25))
@settings(max_examples=60)
def test_the_minorant_is_the_lower_envelope_of_all_chords(values: list[float]) -> None:
    curve = np.array(values)
    n = len(curve)
    naive = [
        min(
            [curve[k]]
            + [
                curve[i] + (curve[j] - curve[i]) * (k - i) / (j - i)
                for i in range(k)
                for j in range(k + 1, n)
            ]
        )
        for k in range(n)
    ]
    corner, slope = np.empty(n, np.int32), np.empty(n)
    count = curves.convex_minorant(np.concatenate([[np.nan], curve]), n, corner, slope)
    assert corner[0] == 1
    assert corner[count - 1] == n
    assert (np.diff(slope[: count - 1]) <= 0).all()
    at = np.interp(np.arange(1, n + 1), corner[:count], curve[corner[:count] - 1])
    np.testing.assert_allclose(at, naive, atol=1e-10)


def test_jitted_and_not_agree() -> None:
    costs = np.sort(np.random.default_rng(5).normal(25, 6, 40))
    rank, rise, count = steps(costs)
    for k in (1, 5, 39):
        for weights in (NO_WEIGHTS, table(40, 20)):
            arguments = (rank, rise, count, 40, k, *weights)
            assert curves.exact_sums.py_func(*arguments) == curves.exact_sums(*arguments)
    one, other = np.empty(41), np.empty(41)
    corner, slope = np.empty(40, np.int32), np.empty(40)
    curves.blocks_curve(costs[::-1].copy(), 40, 40, np.empty((6, 40)), one)
    curves.blocks_curve.py_func(costs[::-1].copy(), 40, 40, np.empty((6, 40)), other)
    np.testing.assert_array_equal(one[1:], other[1:])
    assert curves.convex_minorant.py_func(one, 40, corner, slope) == curves.convex_minorant(
        one, 40, corner, slope
    )
