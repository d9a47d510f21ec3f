"""Curves, halves and gains of a workload against plain NumPy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics.best_of_k import best_of_k, convex_minorant, greedy_allocation
from auditkit.statistics.workload import (
    ESTIMATORS,
    Scores,
    arrange,
    as_workload,
    check_budget,
    decide,
    direct_values,
    halves,
    held_out,
    in_sample,
    part_seeds,
    score,
)


def ragged(seed: int = 1, depths: tuple[int, ...] = (40, 61, 52, 40)) -> np.ndarray:
    random = np.random.default_rng(seed)
    out = np.full((len(depths), max(depths)), np.nan)
    for i, depth in enumerate(depths):
        out[i, :depth] = random.lognormal(2, 0.5, depth)
    return out


def test_best_of_k_by_each_estimator() -> None:
    costs = np.random.default_rng(2).normal(0, 1, 9)
    k = np.arange(1, 10)
    brute = [np.mean([min(s) for s in combinations(costs, j)]) for j in k]
    np.testing.assert_allclose(best_of_k(costs, k), brute, rtol=1e-13)
    blocks = [costs[: 9 // j * j].reshape(-1, j).min(axis=1).mean() for j in k]
    np.testing.assert_allclose(best_of_k(costs, k, estimator="blocks"), blocks, rtol=1e-13)
    replay = best_of_k(costs, k, estimator="replay", seed=3)
    assert set(replay) <= set(costs)
    assert (np.diff(replay) <= 0).all()
    assert replay[-1] == costs.min()


def test_replay_averages_to_exact_over_orderings() -> None:
    costs = np.random.default_rng(3).normal(0, 1, 12)
    replays = np.array(
        [best_of_k(costs, [1, 4, 8], estimator="replay", seed=s) for s in range(4000)]
    )
    error = replays.std(axis=0) / np.sqrt(len(replays))
    assert (np.abs(replays.mean(axis=0) - best_of_k(costs, [1, 4, 8])) < 4 * error).all()


@pytest.mark.parametrize(
    ("costs", "k", "estimator", "error"),
    [
        ([1.0, np.nan, 2.0], [1], "exact", StatisticsError),
        ([1.0, 2.0, np.nan], [1], "exact", StatisticsError),
        ([1.0, np.inf], [1], "exact", StatisticsError),
        ([], [1], "exact", StatisticsError),
        ([1.0, 2.0], [3], "exact", UsageError),
        ([1.0, 2.0], [0], "exact", UsageError),
        ([1.0, 2.0], [1], "median", UsageError),
    ],
)
def test_best_of_k_refuses(costs: list[float], k: list[int], estimator: str, error: type) -> None:
    with pytest.raises(error):
        best_of_k(costs, k, estimator=estimator)  # type: ignore[arg-type]


@pytest.mark.parametrize("costs", [np.ones((3, 8)), np.ones((1, 8)), 2.0])
def test_best_of_k_is_of_one_instance(costs: np.ndarray | float) -> None:
    with pytest.raises(StatisticsError, match=r"found shape \(.*expected one dimension, \[C\],"):
        best_of_k(costs, [1])


@pytest.mark.parametrize("k", [1.9, [1.0, 2.0], [True], "1", [[1, 2]]])
def test_best_of_k_takes_whole_numbers_of_samples(k: object) -> None:
    with pytest.raises(UsageError, match="bad k"):
        best_of_k([3.0, 1.0], k)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [2, np.int32(2), np.array([2], np.uint64)])
def test_best_of_k_takes_any_kind_of_integer(k: int) -> None:
    assert best_of_k([3.0, 1.0], k).tolist() == [1.0]
    assert best_of_k([3.0, 1.0], []).tolist() == []


def test_convex_minorant_keeps_a_convex_curve_and_refuses_nan() -> None:
    curve = 1 / np.arange(1.0, 20)
    np.testing.assert_allclose(convex_minorant(curve), curve, rtol=1e-14)
    with pytest.raises(StatisticsError):
        convex_minorant([1.0, np.nan])


def test_greedy_allocation_keeps_caps_and_budget() -> None:
    curves = [[9, 5, 3, 2.5], [4, 3, 2.5, 2.25], [1, 1, 1, 1]]
    assert greedy_allocation(curves, 12).tolist() == [4, 4, 4]
    assert greedy_allocation(curves, 6, caps=[2, 4, 1]).tolist() == [2, 3, 1]
    # nothing to gain anywhere: the samples left go to the first instances
    assert greedy_allocation(np.ones((3, 4)), 8).tolist() == [4, 3, 1]
    for budget, caps in ((2, None), (13, None), (8, [2, 4, 1])):
        with pytest.raises(UsageError):
            greedy_allocation(curves, budget, caps=caps)
    with pytest.raises(UsageError):
        greedy_allocation(curves, 6, caps=[5, 1, 1])
    with pytest.raises(StatisticsError):
        greedy_allocation([[1.0, np.nan]], 2)
    with pytest.raises(StatisticsError):
        greedy_allocation(np.ones((1, 3, 4)), 2)


def test_greedy_allocation_takes_whole_budgets_and_caps() -> None:
    curves = np.ones((3, 4))
    assert greedy_allocation(curves, np.int32(8)).tolist() == [4, 3, 1]  # type: ignore[arg-type]
    for budget in (8.7, 8.0, "8"):
        with pytest.raises(UsageError, match=r"bad budget.*expected an integer"):
            greedy_allocation(curves, budget)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="bad caps"):
        greedy_allocation(curves, 8, caps=[2.5, 4, 4])


def test_a_budget_must_fit() -> None:
    check_budget(7, np.array([3, 4]))
    check_budget(2, np.array([3, 4]))
    for budget in (1, 8):
        with pytest.raises(UsageError):
            check_budget(budget, np.array([3, 4]))


def test_seeds_of_the_parts_differ_and_fit_json() -> None:
    seeds = [seed for base in range(50) for seed in part_seeds(base).values()]
    assert len(set(seeds)) == 50 * 5
    assert max(seeds) < 2**53
    assert part_seeds(0) == part_seeds(0)


@given(st.lists(st.integers(2, 30), min_size=1, max_size=5), st.integers(0, 1000))
def test_halves_part_the_samples_in_stored_order(depths: list[int], seed: int) -> None:
    workload = as_workload(ragged(seed, tuple(depths)))
    one, other = halves(workload, seed, 3)
    assert (one.depth == workload.depth // 2).all()
    assert (one.depth + other.depth == workload.depth).all()
    assert (one.cap == workload.cap).all()
    for i in range(workload.n):
        stored = workload.gaps[i, : workload.depth[i]].tolist()
        first = one.gaps[i, : one.depth[i]].tolist()
        second = other.gaps[i, : other.depth[i]].tolist()
        assert sorted(first + second) == sorted(stored)
        assert [x for x in stored if x in set(first)] == first
        assert [x for x in stored if x in set(second)] == second
        assert np.isnan(one.gaps[i, one.depth[i] :]).all()


def test_halves_differ_by_repetition_and_instance_and_cover_evenly() -> None:
    workload = as_workload(np.tile(np.arange(20.0), (2, 1)))
    seen = np.zeros(20)
    for r in range(400):
        one, _ = halves(workload, 5, r)
        assert one.gaps[0].tolist() != one.gaps[1].tolist()
        seen[one.gaps[0].astype(int)] += 1
    # each sample is in the first half with probability 1/2: 400 trials, five standard deviations
    assert (np.abs(seen - 200) < 5 * 10).all()


def test_a_half_must_hold_what_an_instance_may_get() -> None:
    with pytest.raises(StatisticsError):
        halves(as_workload([[1.0]]), 0, 0)


def test_the_direct_formula_agrees_with_the_recurrence() -> None:
    workload = as_workload(ragged())
    for k in (1, 10, 20):
        at = np.full((4, 1), k)
        one = score(arrange(workload, "exact", 0), workload, "exact", at)[:, 0]
        np.testing.assert_allclose(one, direct_values(workload, k), rtol=1e-14)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_in_sample_decides_and_scores_on_the_same_curves(estimator: str) -> None:
    workload = as_workload(ragged(6))
    scores = in_sample(workload, 10, estimator, 9)  # type: ignore[arg-type]
    rows = arrange(workload, estimator, 9)  # type: ignore[arg-type]
    curves = score(rows, workload, estimator, np.tile(np.arange(1, 31), (4, 1)))  # type: ignore[arg-type]
    taken = greedy_allocation(curves, 40, caps=workload.cap)
    assert scores.taken[0].tolist() == taken.tolist()
    np.testing.assert_array_equal(scores.uniform[0], curves[:, 9])
    np.testing.assert_array_equal(scores.allocated[0], curves[np.arange(4), taken - 1])
    gain = 100 * (1 - curves[np.arange(4), taken - 1].mean() / curves[:, 9].mean())
    assert scores.gains()[0] == pytest.approx(gain, rel=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_held_out_decides_on_one_half_and_scores_on_the_other(estimator: str) -> None:
    workload = as_workload(ragged(7))
    held = held_out(
        workload, 10, estimator, repetitions=3, split_seed=4, ordering_seed=5,  # type: ignore[arg-type]
        baseline=lambda taken: np.full_like(taken, 10),
    )  # fmt: skip
    for r in range(3):
        one, other = halves(workload, 4, r)
        taken = decide(arrange(one, estimator, 5, 1 + r, 0), one, estimator, 40)  # type: ignore[arg-type]
        rows = arrange(other, estimator, 5, 1 + r, 1)  # type: ignore[arg-type]
        assert held.taken[r].tolist() == taken.tolist()
        expected = score(rows, other, estimator, np.stack([np.full(4, 10), taken], axis=1))  # type: ignore[arg-type]
        np.testing.assert_array_equal(held.uniform[r], expected[:, 0])
        np.testing.assert_array_equal(held.allocated[r], expected[:, 1])
        assert held.baseline is not None
        np.testing.assert_array_equal(held.baseline[r], expected[:, 0])
    later = held_out(
        workload, 10, estimator, repetitions=1, first=2, split_seed=4, ordering_seed=5  # type: ignore[arg-type]
    )  # fmt: skip
    assert later.taken[0].tolist() == held.taken[2].tolist()


def test_replay_orders_the_two_halves_apart() -> None:
    # two halves of one and the same sample: only the orderings tell them apart
    workload = as_workload(np.tile(np.repeat(np.arange(20.0), 2), (3, 1)))
    assert (
        arrange(workload, "replay", 1, 1, 0).tolist()
        != arrange(workload, "replay", 1, 1, 1).tolist()
    )
    assert (
        arrange(workload, "replay", 1, 1, 0).tolist()
        != arrange(workload, "replay", 2, 1, 0).tolist()
    )


def test_a_gain_over_nothing_is_no_number() -> None:
    uniform = np.array([[0.0, 0.0], [1e-6, 0.0], [2.0, 2.0]])
    scores = Scores(uniform, uniform / 2, np.ones((3, 2), np.int64), solved=1e-5)
    gains = scores.gains()
    assert np.isnan(gains[:2]).all()
    assert gains[2] == 50.0


@given(st.floats(0.1, 1000), st.permutations(range(4)))
def test_exact_gains_ignore_units_and_the_order_of_instances(
    scale: float, order: list[int]
) -> None:
    base = in_sample(as_workload(ragged(8)), 10, "exact", 0)
    other = in_sample(as_workload(scale * ragged(8)[order]), 10, "exact", 0)
    assert other.taken[0].tolist() == base.taken[0][order].tolist()
    assert other.gains()[0] == pytest.approx(base.gains()[0], rel=1e-9)


def test_a_workload_must_be_measured() -> None:
    for bad in ([[np.nan, 1.0]], [[1.0, np.nan, 2.0]], [[np.inf, 1.0]], [[np.nan]], []):
        with pytest.raises(StatisticsError):
            as_workload(bad)
    assert as_workload([[1.0, 2.0, 3.0, 4.0]], limit=1).cap.tolist() == [1]
    assert as_workload([[1.0, 2.0, 3.0, 4.0]]).cap.tolist() == [2]
