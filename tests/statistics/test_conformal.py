"""Conformal rules against explicit quantiles and counts."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics.conformal import (
    Rule,
    benjamini_hochberg,
    check_alpha,
    declared_by_p_value,
    smallest_calibration,
    threshold_rank,
)

ALPHAS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.35, 0.4, 1 / 3]


@pytest.mark.parametrize("percent", range(1, 50))
def test_rank_is_exact(percent):
    """The float 1 - 0.7 is above 0.3: a rank in floats would be one too high at n = 9."""
    for n in range(400):
        exact = Fraction((n + 1) * (100 - percent), 100)
        assert threshold_rank(n, percent / 100) == math.ceil(exact)


@pytest.mark.parametrize("percent", range(1, 50))
def test_smallest_calibration_is_where_a_threshold_becomes_finite(percent):
    alpha = percent / 100
    n = smallest_calibration(alpha)
    assert threshold_rank(n, alpha) <= n
    assert threshold_rank(n - 1, alpha) > n - 1


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 19, 20, 100])
def test_thresholds_are_explicit_order_statistics(alpha, n):
    rng = np.random.default_rng(n)
    scores, centre, scale = rng.normal(size=n), rng.normal(size=n), rng.uniform(0.5, 2, n)
    rule = Rule.calibrate(scores, centre, scale)
    residuals = sorted((scores - centre) / scale)
    rank = math.ceil((n + 1) * (1 - Fraction(repr(alpha))))
    if rank > n:
        assert rule.thresholds(alpha) == (-np.inf, np.inf)
    else:
        mirrored = sorted(-r for r in residuals)
        assert rule.thresholds(alpha) == (-mirrored[rank - 1], residuals[rank - 1])


@pytest.mark.parametrize("alpha", ALPHAS)
def test_winners_are_those_of_the_bounds(alpha):
    """U = centre + scale * upper < 0 declares A, L = centre + scale * lower > 0 declares B (no ties in this sample)."""
    rng = np.random.default_rng(7)
    rule = Rule.calibrate(
        rng.normal(size=120), 0.3 * rng.normal(size=120), rng.uniform(0.5, 2, 120)
    )
    centre, scale = 2 * rng.normal(size=500), rng.uniform(0.5, 2, 500)
    lower, upper = rule.thresholds(alpha)
    wanted = np.where(centre + scale * upper < 0, -1, np.where(centre + scale * lower > 0, 1, 0))
    np.testing.assert_array_equal(rule.winners(centre, scale, alpha), wanted)
    assert {-1, 0, 1} == set(wanted.tolist())


def test_p_values_are_explicit_counts():
    rng = np.random.default_rng(8)
    residuals = np.round(rng.normal(size=40), 1)  # ties among them, and with the points below
    rule = Rule.calibrate(residuals, 0.0, 1.0)
    centre = np.round(rng.normal(size=60), 1)
    p_a, p_b = rule.p_values(centre, np.ones(60))
    for c, a, b in zip(centre, p_a, p_b, strict=True):
        assert a == (1 + sum(r >= -c for r in residuals)) / 41
        assert b == (1 + sum(r <= -c for r in residuals)) / 41


@settings(deadline=None)
@given(
    st.lists(st.integers(-4, 4), min_size=0, max_size=40),
    st.lists(st.integers(-5, 5), min_size=1, max_size=10),
    st.integers(1, 49),
)
def test_thresholds_and_p_values_declare_alike(residuals, centres, percent):
    """By counting and by order statistics, with ties everywhere; and swapping the models mirrors both."""
    alpha = percent / 100
    rule = Rule.calibrate(np.array(residuals, dtype=float), 0.0, 1.0)
    centre, scale = np.array(centres, dtype=float), np.ones(len(centres))
    winners = rule.winners(centre, scale, alpha)
    again = declared_by_p_value(*rule.p_values(centre, scale), len(residuals), alpha)
    np.testing.assert_array_equal(winners, again)
    swapped = Rule.calibrate(-np.array(residuals, dtype=float), 0.0, 1.0)
    np.testing.assert_array_equal(swapped.winners(-centre, scale, alpha), -winners)


def test_a_calibration_score_of_zero_at_the_same_point_is_a_tie():
    """Residual and point go through the same division: no rounding declares a winner at a tie."""
    rng = np.random.default_rng(3)
    for centre, scale in zip(-rng.uniform(0.1, 3, 500), rng.uniform(0.1, 3, 500), strict=True):
        rule = Rule.calibrate(np.zeros(9), np.full(9, centre), np.full(9, scale))
        assert rule.winners([centre], [scale], 0.1).tolist() == [0]
        assert rule.p_values([centre], [scale])[0].tolist() == [1.0]


def test_nothing_is_declared_where_the_calibration_split_is_too_small():
    rule = Rule.calibrate(np.full(8, -5.0), -5.0, 1.0)
    assert rule.winners([-1e9, 1e9], [1.0, 1.0], 0.1).tolist() == [0, 0]
    assert min(rule.p_values([-1e9], [1.0])[0]) == 1 / 9


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("m", [1, 2, 17, 200])
def test_benjamini_hochberg_rejects_what_scipy_adjusts_below_alpha(alpha, m):
    p = np.random.default_rng(m).beta(0.4, 1.0, m)
    np.testing.assert_array_equal(benjamini_hochberg(p, alpha), false_discovery_control(p) <= alpha)


def test_benjamini_hochberg_counts_equality_with_the_line():
    """p = 3/30 is alpha i / m at i = 3 exactly, though not in floats."""
    assert benjamini_hochberg([0.1, 0.1, 0.1], 0.1).all()
    p = np.array([1, 2, 3]) / 30
    assert benjamini_hochberg(p, 0.1).tolist() == [True, True, True]
    assert benjamini_hochberg([], 0.1).tolist() == []
    assert not benjamini_hochberg([0.2, 0.9], 0.1).any()


@pytest.mark.parametrize("alpha", [0.0, -0.1, 0.5, 1.0, float("nan")])
def test_alpha_out_of_range(alpha):
    with pytest.raises(UsageError, match=r"above 0, below 0\.5"):
        check_alpha(alpha)


def test_what_cannot_be_calibrated():
    with pytest.raises(StatisticsError, match="not finite"):
        Rule.calibrate([1.0], [0.0], [0.0])
    with pytest.raises(StatisticsError, match="not finite"):
        Rule.calibrate([np.nan], [0.0], [1.0])
    with pytest.raises(StatisticsError, match="outside"):
        benjamini_hochberg([0.5, 1.5], 0.1)
