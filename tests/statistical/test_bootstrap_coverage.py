"""Do the intervals cover as often as they should? Simulations at fixed seeds against known coverage.

Coverage in finite samples is not the nominal one; the bounds below are binomial error around what is known: the normal
approximation for symmetric data, and the order of methods on skewed data (Efron and Tibshirani 1993, chapter 14;
DiCiccio and Efron 1996, doi:10.1214/ss/1032280214): studentized and BCa closer than percentile.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from auditkit.statistics.bootstrap import bootstrap

pytestmark = pytest.mark.statistical

REPLICATES = 1000


def coverage(
    draw: Callable[[np.random.Generator], np.ndarray],
    truth: float,
    simulations: int,
    **options: object,
) -> float:
    """Share of simulated samples whose interval holds the truth."""
    held = 0
    for simulation in range(simulations):
        x = draw(np.random.default_rng([17, simulation]))
        result = bootstrap(x, replicates=REPLICATES, seed=simulation, **options)  # type: ignore[arg-type]
        low, high = np.squeeze(result.low), np.squeeze(result.high)
        held += bool(low <= truth <= high)
    return held / simulations


def error(simulations: int, nominal: float = 0.95) -> float:
    """Four standard errors of a simulated coverage."""
    return 4 * math.sqrt(nominal * (1 - nominal) / simulations)


@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "exact"])
def test_normal_mean(method: str) -> None:
    n, simulations = 50, 2000
    found = coverage(lambda rng: rng.normal(3, 2, n), 3.0, simulations, method=method)
    # the interval is mean +- 1.96 s sqrt((n - 1) / n) / sqrt(n): its coverage follows from Student's t
    expected = 1 - 2 * stats.t.sf(stats.norm.ppf(0.975) * math.sqrt((n - 1) / n), n - 1)
    assert (
        abs(found - expected) < error(simulations) + 0.003
    )  # Monte-Carlo error of 1000 replicates


def test_normal_mean_studentized_is_nearly_nominal() -> None:
    found = coverage(lambda rng: rng.normal(3, 2, 50), 3.0, 2000, method="studentized")
    assert abs(found - 0.95) < error(2000) + 0.003


def test_skewed_mean_by_method() -> None:
    simulations = 3000

    def draw(rng: np.random.Generator) -> np.ndarray:
        return rng.exponential(size=20)

    found = {
        method: coverage(draw, 1.0, simulations, method=method)
        for method in ("basic", "percentile", "bca", "studentized")
    }
    # percentile and basic fall well short of 95 % for 20 exponential values; BCa and studentized repair most of it
    assert found["basic"] < found["percentile"] < 0.93
    assert found["percentile"] < found["bca"] + 0.005
    assert abs(found["studentized"] - 0.95) < error(simulations) + 0.01
    assert 0.90 < found["bca"] < 0.95


def test_skewed_mean_of_many_values_is_nominal() -> None:
    for method in ("percentile", "bca", "exact"):
        found = coverage(lambda rng: rng.exponential(size=500), 1.0, 2000, method=method)
        assert abs(found - 0.95) < error(2000) + 0.005


@pytest.mark.parametrize("method", ["percentile", "bca", "exact"])
def test_ratio_of_means(method: str) -> None:
    def draw(rng: np.random.Generator) -> np.ndarray:
        below = rng.gamma(4, size=200)
        return np.c_[2 * below + rng.normal(0, 1, 200), below]

    found = coverage(draw, 2.0, 2000, method=method, statistic="ratio")
    assert abs(found - 0.95) < error(2000) + 0.005


def test_clusters_need_the_cluster_bootstrap() -> None:
    labels = np.repeat(np.arange(100), 5)

    def draw(rng: np.random.Generator) -> np.ndarray:
        return rng.normal(size=100)[labels] + rng.normal(size=500)

    simulations = 1000
    clustered = coverage(draw, 0.0, simulations, clusters=labels)
    assert abs(clustered - 0.95) < error(simulations) + 0.01
    # taking the observations for independent understates the variance by (1 + 1/5) / (2/5), a factor of 3
    ignored = coverage(draw, 0.0, simulations)
    expected = 1 - 2 * stats.norm.sf(stats.norm.ppf(0.975) / math.sqrt(3))
    assert abs(ignored - expected) < error(simulations, expected) + 0.01


def test_median() -> None:
    found = coverage(lambda rng: rng.standard_cauchy(101), 0.0, 2000, statistic="median")
    # percentile intervals of a median are conservative order-statistic intervals (Efron 1982, section 10.2)
    assert abs(found - 0.95) < error(2000) + 0.01


def test_exact_intervals_lie_amid_long_runs() -> None:
    """Exact ends against a million resamples, in Monte-Carlo errors, over 40 skewed samples."""
    replicates, gaps = 1_000_000, []
    for simulation in range(40):
        x = np.random.default_rng([3, simulation]).lognormal(size=30 + 5 * simulation)
        exact = bootstrap(x, method="exact")
        drawn = bootstrap(x, replicates=replicates, seed=simulation)
        # the density at the ends from two nearby exact quantiles
        wider, narrower = (bootstrap(x, method="exact", confidence=c) for c in (0.952, 0.948))
        mc = math.sqrt(0.025 * 0.975 / replicates)
        gaps.append((drawn.low - exact.low) / (mc * (narrower.low - wider.low) / 0.002))
        gaps.append((drawn.high - exact.high) / (mc * (wider.high - narrower.high) / 0.002))
    # standard normal, were the interval exact; a bias of a tenth of the error would shift nothing visible
    assert abs(np.mean(gaps)) < 4 / math.sqrt(len(gaps))
    assert stats.kstest(gaps, "norm").pvalue > 1e-3
