"""Ranks against SciPy, the noise bound against exact expectations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from auditkit.statistics.selection import (
    binomial_sigma,
    count_wins,
    follow_traces,
    noise_bound,
    rank_records,
    tied,
)


@given(arrays(np.float64, (5, 4), elements=st.integers(0, 3).map(float)))
@settings(deadline=None)
def test_ranks_equal_scipy_where_ties_are_transitive(score: np.ndarray) -> None:
    expected = [scipy.stats.rankdata(-row) for row in score]
    np.testing.assert_array_equal(rank_records(score, 0.5)[1], expected)


@given(arrays(np.float64, (5, 4), elements=st.integers(0, 3).map(float)), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_rounding_noise_breaks_no_tie(score: np.ndarray, seed: int) -> None:
    noise = np.random.default_rng(seed).uniform(-1e-13, 1e-13, score.shape)
    for exact, noisy in zip(
        rank_records(score, 1e-6), rank_records(score + noise, 1e-6), strict=True
    ):
        np.testing.assert_array_equal(exact, noisy)
    rows = np.arange(len(score))
    np.testing.assert_array_equal(
        count_wins(score, rows, 1e-6), count_wins(score + noise, rows, 1e-6)
    )


def test_ties_that_are_not_transitive_are_decided_pair_by_pair() -> None:
    winner, rank = rank_records(np.array([[0.0, 0.8, 1.6]]), 1.0)
    # 1.6 beats 0 but not 0.8, so nobody beats everybody
    assert winner.tolist() == [3]
    assert rank.tolist() == [[2.5, 2.0, 1.5]]


@given(arrays(np.float64, (20, 4), elements=st.floats(-2, 2)))
@settings(deadline=None)
def test_mean_ranks_are_head_to_head_counts(score: np.ndarray) -> None:
    wins = count_wins(score, np.arange(20), 0.5)
    lost, won = wins.sum(axis=0), wins.sum(axis=1)
    expected = 20 + lost + (3 * 20 - won - lost) / 2
    np.testing.assert_array_equal(rank_records(score, 0.5)[1].sum(axis=0), expected)


def test_equal_within_the_tolerance() -> None:
    a, b = np.array([0.5, 0.5, 1e12, np.nan]), np.array([0.5 + 1e-7, 0.6, 1e12 + 2e-4, 0.5])
    assert tied(a, b, 1e-6).tolist() == [True, False, True, False]


def test_sigma_and_bound_by_hand() -> None:
    sigma = binomial_sigma(np.array([0.8, 0.8, 1.2]), np.array([100.0, 0.0, 100.0]))
    assert sigma[0] == pytest.approx(0.04, rel=1e-15)
    assert np.isnan(sigma[1:]).all()
    bound = noise_bound(np.array([0.04, 0.04, 0.04]), np.array([1.0, 40.0, 0.0]))
    assert bound[0] == 0
    assert bound[1] == pytest.approx(0.04 * np.sqrt(2 * np.log(40)), rel=1e-15)
    assert np.isnan(bound[2])


def expected_maximum(candidates: int, rows: int, p: float) -> float:
    """Exact mean of the largest of independent binomial counts, from their distribution."""
    k = np.arange(rows)
    return float((1 - scipy.stats.binom.cdf(k, rows, p) ** candidates).sum())


@pytest.mark.parametrize("candidates", [2, 10, 40, 200])
@pytest.mark.parametrize("p", [0.5, 0.7, 0.9])
def test_the_bound_bounds_the_exact_expectation(candidates: int, p: float) -> None:
    rows = 200
    gain = expected_maximum(candidates, rows, p) / rows - p
    bound = noise_bound(binomial_sigma(np.array(p), np.array(rows)), np.array(candidates))
    assert 0 < gain < bound


@pytest.mark.parametrize("shared", [0, 150])
def test_measured_bias_is_the_exact_one_where_all_candidates_are_equally_good(shared: int) -> None:
    """On ``shared`` of 200 test rows all candidates err alike, on the others each for itself.

    Validation tells nothing, so the choice by validation is a candidate at random, and the bias
    has mean (E max of K binomials on the other rows - their mean) / 200: the closed form above.
    """
    random = np.random.default_rng(4)
    n, K, rows, p = 4000, 20, 200, 0.7
    own = rows - shared
    common = random.binomial(shared, p, (n, 1))
    test = (common + random.binomial(own, p, (n, K))) / rows
    traces = follow_traces(random.random((n, K)), test)
    measured = traces.best - traces.chosen
    expected = (expected_maximum(K, own, p) - own * p) / rows
    # five standard errors: a false alarm in two million seeds
    assert abs(measured.mean() - expected) < 5 * measured.std() / np.sqrt(n)
    bound = noise_bound(binomial_sigma(np.array(p), np.array(rows)), np.array(K))
    assert measured.mean() < bound
    np.testing.assert_allclose(measured, traces.bias[:, -1], rtol=0)
