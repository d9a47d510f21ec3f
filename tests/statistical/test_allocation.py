"""What the allocation audit says where the truth is known.

Costs a + b E with E standard exponential have the best-of-k curve f(k) = a + b / k exactly, so that the true gain of
any allocation, and the best one (k in proportion to the root of b), are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from auditkit.statistics.bootstrap import bootstrap
from auditkit.statistics.null_floor import null_gains
from auditkit.statistics.workload import Workload, as_workload, held_out


@dataclass(frozen=True)
class Coverage:
    """Counts over simulated workloads: intervals of d_split above zero, below it, that hold the truth."""

    runs: int
    above: int
    below: int
    truth: int

    @property
    def zero(self) -> int:
        return self.runs - self.above - self.below


def simulate(
    runs: int,
    b: np.ndarray,
    a: float,
    depth: int,
    per_instance: int,
    seed: int,
    target: float | None = None,
) -> Coverage:
    """d_split intervals at 95 %; the truth is the true gain of the allocation decided, unless a target is given."""
    random = np.random.default_rng(seed)
    n = len(b)
    above = below = truth = 0
    for run in range(runs):
        gaps = a + b[:, np.newaxis] * random.exponential(1, (n, depth))
        held = held_out(
            as_workload(gaps), per_instance, "exact", repetitions=1, split_seed=run, ordering_seed=0
        )
        uniform, allocated = held.uniform[0], held.allocated[0]
        sample = np.stack([100 * (uniform - allocated), uniform], axis=1)
        found = bootstrap(sample, statistic="ratio", replicates=1000, seed=run)
        low, high = float(np.ravel(found.low)[0]), float(np.ravel(found.high)[0])
        known = target
        if known is None:
            known = (
                100 * (b / per_instance - b / held.taken[0]).mean() / (a + b / per_instance).mean()
            )
        above += low > 0
        below += high < 0
        truth += bool(low <= known <= high)
    return Coverage(runs, above, below, truth)


def at_most(count: int, runs: int, rate: float) -> bool:
    """Whether a count is no more than a rate allows (one-sided exact test at 1e-4)."""
    return bool(stats.binomtest(count, runs, rate, alternative="greater").pvalue > 1e-4)


def two_populations(n: int = 60) -> tuple[np.ndarray, float]:
    """Widths 1 and 9, and the gain of the best allocation: 1 - (mean of roots)**2 / mean = 20 %."""
    b = np.where(np.arange(n) % 2 == 1, 9.0, 1.0)
    return b, 100 * (1 - np.sqrt(b).mean() ** 2 / b.mean())


def sources(count: int, depth: int, seed: int) -> Workload:
    """Exchangeable sources of unlike shape."""
    random = np.random.default_rng(seed)
    shape = random.uniform(0.6, 4, (count, 1))
    return as_workload(5 + random.gamma(shape, 10, (count, depth)))


def floors(
    workload: Workload, per_instance: int, repetitions: int, n: int, depth: int | None = None
) -> np.ndarray:
    """95th percentile of each source."""
    gains = null_gains(workload, per_instance, repetitions=repetitions, n=n, depth=depth, seed=1)
    return np.asarray(np.quantile(gains, 0.95, axis=1))


def test_small_no_gain_is_claimed_where_there_is_none() -> None:
    found = simulate(60, np.full(40, 10.0), 5.0, depth=400, per_instance=40, seed=1)
    assert found.above <= 5  # of 60 at 2.5 %: more than 5 has probability 0.004
    assert found.zero >= 51


def test_small_a_known_gain_is_recovered() -> None:
    b, best = two_populations()
    found = simulate(40, b, 0.0, depth=400, per_instance=40, seed=2, target=best)
    assert best == pytest.approx(20)
    assert found.above == 40
    assert found.truth >= 32  # of 40 at 95 %: fewer has probability 0.0001


def test_small_the_floor_falls_with_depth() -> None:
    few = sources(8, 400, 3)
    levels = [np.median(floors(few, 20, 40, 15, depth)) for depth in (80, 320, 1280)]
    assert levels[0] > 3 * levels[1] > 9 * levels[2] > 0


@pytest.mark.statistical
@pytest.mark.parametrize("depth", [400, 1000])
def test_exchangeable_instances_cover_zero(depth: int) -> None:
    """50 instances at ten budgets of depth: at least 95 %; a gain is claimed in at most 2.5 %."""
    found = simulate(600, np.full(50, 10.0), 5.0, depth, depth // 10, seed=depth + 50)
    assert at_most(found.above, 600, 0.025)
    assert at_most(600 - found.zero, 600, 0.05)
    assert at_most(600 - found.truth, 600, 0.05)


@pytest.mark.statistical
@pytest.mark.parametrize(("depth", "n", "seed"), [(400, 50, 4), (1000, 200, 1200)])
def test_the_price_of_deciding_on_noise_shows(depth: int, n: int, seed: int) -> None:
    """The true held-out gain of exchangeable instances is below zero, as any uneven budget loses on them.

    At the depth guard, or with many instances, intervals are narrow enough to say so: they miss zero from below in
    more than 5 %, never from above, and still cover the true gain of the allocation they judge.
    """
    found = simulate(600, np.full(n, 10.0), 5.0, depth, 100, seed=seed)
    assert found.above == 0
    assert found.below > 0.05 * 600
    assert at_most(600 - found.truth, 600, 0.05)


@pytest.mark.statistical
@pytest.mark.parametrize("a", [0.0, 0.05])
def test_two_populations_recover_the_known_gain(a: float) -> None:
    b, best = two_populations(100)
    diluted = best * (b / 40).mean() / (a + (b / 40).mean())
    found = simulate(400, b, a, depth=800, per_instance=40, seed=5, target=diluted)
    assert found.above == 400
    assert at_most(400 - found.truth, 400, 0.05)


@pytest.mark.statistical
def test_the_median_floor_is_flat_in_the_number_of_sources_and_the_maximum_grows() -> None:
    """Disjoint groups of 10 and of 50 sources against all 200, as the source reports."""
    found = floors(sources(200, 400, 6), 20, 100, 20)
    shuffled = np.random.default_rng(7).permutation(found)
    tens, fifties = shuffled.reshape(20, 10), shuffled.reshape(4, 50)
    error = np.median(tens, axis=1).std(ddof=1) / np.sqrt(20)
    assert abs(np.median(tens, axis=1).mean() - np.median(found)) < 4 * error
    assert tens.max(axis=1).mean() < 0.95 * fifties.max(axis=1).mean()
    assert fifties.max(axis=1).mean() < found.max()


@pytest.mark.statistical
def test_the_floor_of_the_exact_curve_falls_about_by_half_with_each_doubling_of_depth() -> None:
    few = sources(20, 400, 8)
    levels = [float(np.median(floors(few, 50, 100, 30, d))) for d in (200, 400, 800, 1600, 3200)]
    ratio = np.array(levels[:-1]) / np.array(levels[1:])
    assert (ratio > 1.7).all()
    assert (ratio < 4).all()
