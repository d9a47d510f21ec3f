"""The null floor: the fast pipeline against full curves, minorants and a heap, bit for bit."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from auditkit.kernels import curves
from auditkit.kernels.floor import null_gains_exact, null_gains_ordered, relative_gain
from auditkit.kernels.streams import below, stream
from tests.kernels.allocation_twins import greedy_steps, minorant_gains

NO_WEIGHTS = (np.empty((0, 0)), np.empty(0, np.int64))
SEED = np.uint64(11)


@numba.njit
def drawn(seed, source, repetition, instance, n, out):  # type: ignore[no-untyped-def]
    state = stream(seed, source, repetition, instance)
    for i in range(len(out)):
        state, out[i] = below(state, n)


def resample(costs: np.ndarray, depth: int, source: int, repetition: int, i: int) -> np.ndarray:
    indices = np.empty(depth, np.int64)
    drawn(SEED, source, repetition, i, len(costs), indices)
    return costs[indices]


def full_curve(sample: np.ndarray, cap: int) -> np.ndarray:
    """All points of the exact curve of a resample, sorted the plain way."""
    depth = len(sample)
    rank, rise = np.empty(depth, np.int32), np.empty(depth)
    ordered = np.sort(sample)
    count = curves.rises_of_sorted(ordered, depth, rank, rise)
    return np.array(
        [
            curves.exact_value(ordered[0], rank, rise, count, depth, k, *NO_WEIGHTS)
            for k in range(1, cap + 1)
        ]
    )


def pipeline(curve_list: list[np.ndarray], per_instance: int, steepest) -> float:  # type: ignore[no-untyped-def]
    """Full curves, minorant, heap of single steps, gain in percent; sums in the order of the instances."""
    n = len(curve_list)
    taken = greedy_steps([steepest(c) for c in curve_list], n * per_instance)
    uniform = allocated = 0.0
    for curve, k in zip(curve_list, taken, strict=True):
        uniform += curve[per_instance - 1]
        allocated += curve[k - 1]
    return 100 * (uniform - allocated) / uniform


def steps_of_hull(curve: np.ndarray) -> list[float]:
    corner, slope = np.empty(len(curve), np.int32), np.empty(len(curve))
    count = curves.convex_minorant(np.concatenate([[np.nan], curve]), len(curve), corner, slope)
    return [float(slope[s]) for s in range(count - 1) for _ in range(corner[s + 1] - corner[s])]


@pytest.mark.parametrize(
    ("depth", "n", "per_instance", "repetitions", "table"),
    [(80, 8, 10, 25, True), (200, 12, 50, 12, False), (800, 50, 100, 2, True)],
)
@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_the_fast_floor_is_full_curves_minorant_and_heap_bit_for_bit(
    depth: int, n: int, per_instance: int, repetitions: int, table: bool, shape: str
) -> None:
    random = np.random.default_rng(12)
    costs = random.normal(25, 6, depth) if shape == "normal" else random.lognormal(2, 0.7, depth)
    costs = np.sort(costs)
    cap = depth // 2
    weights, reach = np.zeros((cap + 1 if table else 0, depth)), np.zeros(cap + 1, np.int64)
    curves.weight_table(depth, weights, reach)
    fast = np.empty(repetitions)
    null_gains_exact(costs, depth, cap, n, per_instance, SEED, 3, 5, 0.0, weights, reach, fast)
    slow = [
        pipeline(
            [full_curve(resample(costs, depth, 3, 5 + r, i), cap) for i in range(n)],
            per_instance,
            steps_of_hull,
        )
        for r in range(repetitions)
    ]
    assert fast.tolist() == slow
    assert min(slow) > 0


@pytest.mark.parametrize("blocks", [True, False])
def test_the_other_estimators_draw_in_order(blocks: bool) -> None:
    depth, n, per_instance, cap = 60, 7, 10, 30
    costs = np.sort(np.random.default_rng(13).normal(25, 6, 45))
    fast = np.empty(6)
    null_gains_ordered(blocks, costs, depth, cap, n, per_instance, SEED, 0, 0, 0.0, fast)

    def curve(sample: np.ndarray) -> np.ndarray:
        if not blocks:
            return np.minimum.accumulate(sample)[:cap]
        return np.array(
            [sample[: depth // k * k].reshape(-1, k).min(axis=1).mean() for k in range(1, cap + 1)]
        )

    slow = [
        pipeline(
            [curve(resample(costs, depth, 0, r, i)) for i in range(n)], per_instance, minorant_gains
        )
        for r in range(6)
    ]
    np.testing.assert_allclose(fast, slow, rtol=1e-11)


def test_repetitions_do_not_depend_on_how_the_work_is_cut() -> None:
    costs = np.sort(np.random.default_rng(14).normal(25, 6, 50))
    whole, part = np.empty(5), np.empty(2)
    null_gains_exact(costs, 50, 25, 6, 8, SEED, 1, 0, 0.0, *NO_WEIGHTS, whole)
    null_gains_exact(costs, 50, 25, 6, 8, SEED, 1, 3, 0.0, *NO_WEIGHTS, part)
    assert part.tolist() == whole[3:].tolist()


def test_sources_and_seeds_draw_apart() -> None:
    costs = np.sort(np.random.default_rng(15).normal(25, 6, 50))
    gains = []
    for seed, source in ((1, 0), (1, 1), (2, 0)):
        out = np.empty(1)
        null_gains_exact(costs, 50, 25, 6, 8, np.uint64(seed), source, 0, 0.0, *NO_WEIGHTS, out)
        gains.append(out[0])
    assert len(set(gains)) == 3


def test_no_gap_left_means_no_gain() -> None:
    assert math.isnan(relative_gain(0.0, 0.0, 0.0))
    assert math.isnan(relative_gain(-1.0, -2.0, 0.0))
    assert relative_gain(4.0, 3.0, 0.0) == 25.0
    out = np.zeros(2)
    null_gains_exact(np.zeros(40), 40, 20, 5, 8, SEED, 0, 0, 0.0, *NO_WEIGHTS, out)
    assert np.isnan(out).all()


def test_alike_costs_gain_nothing() -> None:
    out = np.ones(2)
    null_gains_exact(np.full(40, 3.0), 40, 20, 5, 8, SEED, 0, 0, 0.0, *NO_WEIGHTS, out)
    assert out.tolist() == [0.0, 0.0]
