"""Intervals from replicates against NumPy, published formulas and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from auditkit.statistics import intervals


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50),
    st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_quantiles_are_those_of_numpy(values: list[float], levels: list[float]) -> None:
    found = intervals.quantiles(np.array(values), tuple(levels))
    np.testing.assert_array_equal(found, np.quantile(values, levels))


def test_percentile_and_basic_mirror_each_other() -> None:
    replicates = np.arange(101.0)
    assert intervals.percentile(replicates, 0.9) == pytest.approx((5.0, 95.0))
    assert intervals.basic(replicates, 40.0, 0.9) == pytest.approx((-15.0, 75.0))


def test_bca_follows_its_equations() -> None:
    rng = np.random.default_rng(0)
    replicates, jackknife, estimate = rng.gamma(3, size=2001), rng.gamma(2, size=40), 2.5
    low, high = intervals.bca(replicates, estimate, jackknife, 0.9)
    # Efron and Tibshirani (1993), eq. 14.10, 14.14 and 14.15
    z0 = stats.norm.ppf(np.mean(replicates < estimate))
    gap = jackknife.mean() - jackknife
    a = (gap**3).sum() / (6 * (gap**2).sum() ** 1.5)
    for end, tail in ((low, 0.05), (high, 0.95)):
        z = z0 + stats.norm.ppf(tail)
        level = stats.norm.cdf(z0 + z / (1 - a * z))
        assert end == pytest.approx(np.quantile(replicates, level), abs=1e-9)


def test_bca_of_a_symmetric_case_is_the_percentile_interval() -> None:
    replicates = np.linspace(-1, 1, 2001)
    jackknife = np.array([-1.0, 0.0, 1.0])
    expected = intervals.percentile(replicates, 0.95)
    assert intervals.bca(replicates, 0.0, jackknife, 0.95) == pytest.approx(expected, abs=1e-9)


def test_bca_says_why_it_has_no_interval() -> None:
    replicates = np.arange(10.0)
    for estimate in (-1.0, 10.0):
        assert "one side" in str(intervals.bca(replicates, estimate, np.arange(3.0), 0.95))
    assert "without one" in str(intervals.bca(replicates, 5.0, np.array([1.0, np.nan]), 0.95))


def test_bca_takes_an_acceleration_of_zero_from_equal_jackknife_values() -> None:
    replicates = np.linspace(-1, 1, 2001)
    expected = intervals.percentile(replicates, 0.9)
    assert intervals.bca(replicates, 0.0, np.ones(4), 0.9) == pytest.approx(expected, abs=1e-9)


def test_studentized_inverts_the_distribution_of_t() -> None:
    replicates, errors = np.array([1.0, 2.0, 4.0, 7.0]), np.array([1.0, 0.5, 2.0, 3.0])
    t = (replicates - 3.0) / errors
    low, high = intervals.studentized(replicates, errors, 3.0, 1.5, 0.8)
    assert low == pytest.approx(3.0 - 1.5 * np.quantile(t, 0.9))
    assert high == pytest.approx(3.0 - 1.5 * np.quantile(t, 0.1))
