"""Joint bootstrap of means, ratios and quantiles: the public entry, and what every audit calls.

The draw of replicate b depends on (seed, b) alone. All columns of one call, and all calls with the same seed and the
same number of units, see the same resamples, so that differences and ratios are paired.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics import intervals
from auditkit.statistics.draws import count_blocks
from auditkit.statistics.sample import Floats, Sample, read_sample, sum_by_unit

Statistic = Literal["mean", "difference", "ratio", "median", "quantile"]
Method = Literal["percentile", "basic", "bca", "studentized", "exact"]
Resampler = Literal["fast", "numpy"]
Progress = Callable[[str, int, int], None]
"""Told what is being computed, how many steps are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How the intervals of one audit are made: every call of ``bootstrap`` in it shares these.

    Attributes
    ----------
    replicates, confidence, seed, method, resampler, threads
        As in ``bootstrap``.
    progress
        Called while a long computation runs.
    """

    replicates: int = 10_000
    confidence: float = 0.95
    seed: int = 0
    method: Method = "percentile"
    resampler: Resampler = "fast"
    threads: int | None = None
    progress: Progress | None = None

    def intervals(self, x: ArrayLike, **options: Any) -> BootstrapResult:
        """``bootstrap`` of a sample with these settings; ``options`` are its other arguments."""
        settings = {f.name: getattr(self, f.name) for f in fields(self)}
        return bootstrap(x, **{**settings, **options})


@dataclass(frozen=True, slots=True)
class BootstrapResult:
    """Estimates and intervals of the columns of one sample.

    Attributes
    ----------
    estimate, low, high
        Scalars for a sample of shape [n], else one entry a statistic; low and high are NaN where there is no interval.
    reason
        Why there is no interval, per statistic; empty where there is one.
    n
        Units resampled: observations, or clusters.
    replicates, seed, confidence, method, statistic, resampler
        How the interval was made. ``method`` is the one really used, where ``exact`` had to decline.
    """

    estimate: float | NDArray[np.float64]
    low: float | NDArray[np.float64]
    high: float | NDArray[np.float64]
    reason: str | tuple[str, ...]
    n: int
    replicates: int
    seed: int
    confidence: float
    method: str
    statistic: str
    resampler: str


MOST_LEFT_OUT = 0.01
"""The largest share of replicates without a value that an interval may rest on."""


def bootstrap(
    x: ArrayLike,
    *,
    statistic: Statistic = "mean",
    q: float = 0.5,
    weights: ArrayLike | None = None,
    clusters: Any = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    method: Method = "percentile",
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    missing: Literal["raise", "omit"] = "raise",
    progress: Progress | None = None,
) -> BootstrapResult:
    """Bootstrap intervals of the columns of a sample, which share the draws.

    Parameters
    ----------
    x
        [n] or [n, m] observations.
    statistic
        ``mean``, ``median`` and ``quantile`` of each column; ``difference`` and ``ratio`` of the means of columns
        (0, 1), (2, 3), ...
    q
        Level of ``quantile``.
    weights
        [n] or [n, m], not negative: means are weighted means, sum(w x) / sum(w).
    clusters
        [n] labels: clusters are resampled whole, and means are resampled sums over resampled counts.
    missing
        ``raise`` on NaN, or ``omit``: NaN cells do not count (their weight is zero), and a replicate in which a
        column has no observation is left out.

    Raises
    ------
    StatisticsError
        The sample is empty, infinite, holds NaN that are not to be omitted, or has an odd number of columns where
        they go in pairs.
    UsageError
        An option is out of its range.
    """
    for name, given, allowed in (
        ("statistic", statistic, get_args(Statistic)),
        ("method", method, get_args(Method)),
        ("resampler", resampler, get_args(Resampler)),
        ("missing", missing, ("raise", "omit")),
    ):
        if given not in allowed:
            raise UsageError(f"unknown {name}", found=repr(given), expected=", ".join(allowed))
    if replicates < 1:
        raise UsageError("too few replicates", found=replicates, expected="at least 1")
    if not 0 < confidence < 1:
        raise UsageError("confidence out of range", found=confidence, expected="between 0 and 1")
    sample = read_sample(x, clusters, weights, missing)
    m = sample.values.shape[1]
    if statistic in {"difference", "ratio"} and (m % 2 or sample.scalar):
        raise StatisticsError(
            f"a {statistic} takes columns in pairs", found=m, expected="an even number"
        )
    level = 0.5 if statistic == "median" else q
    if statistic in {"median", "quantile"}:
        ones = np.ones((1, sample.units), dtype=np.int64)
        estimate = _quantiles(sample, ones, level)[0]
        drawn = np.concatenate(
            [
                _quantiles(sample, c, level)
                for _, c in count_blocks(sample.units, replicates, seed, resampler)
            ]
        )
        bottoms = None
    else:
        centre, numerators, denominators = _sums(sample)
        means = _means(centre, numerators.sum(axis=0), denominators.sum(axis=0))
        drawn_means = np.concatenate(
            [
                _means(centre, c @ numerators, c @ denominators)
                for _, c in count_blocks(sample.units, replicates, seed, resampler)
            ]
        )
        estimate, drawn = _combine(statistic, means), _combine(statistic, drawn_means)
        bottoms = (means[1::2], drawn_means[:, 1::2]) if statistic == "ratio" else None
    k = len(estimate)
    low, high, reasons = np.full(k, np.nan), np.full(k, np.nan), [""] * k
    for j in range(k):
        if sample.units == 1:
            reasons[j] = "only one unit to resample"
            continue
        if bottoms is not None:
            wrong = np.mean(~(bottoms[1][:, j] * np.sign(bottoms[0][j]) > 0))
            if wrong >= (1 - confidence) / 2:
                reasons[j] = "the denominator's interval holds zero: the ratio is unbounded"
                continue
        values = drawn[np.isfinite(drawn[:, j]), j]
        if not np.isfinite(estimate[j]):
            reasons[j] = "no observation"
        elif len(values) < (1 - MOST_LEFT_OUT) * replicates:
            reasons[j] = f"{1 - len(values) / replicates:.1%} of the resamples hold no observation"
        else:
            low[j], high[j] = intervals.percentile(values, confidence)
    return BootstrapResult(
        estimate=float(estimate[0]) if sample.scalar else estimate,
        low=float(low[0]) if sample.scalar else low,
        high=float(high[0]) if sample.scalar else high,
        reason=reasons[0] if sample.scalar else tuple(reasons),
        n=sample.units,
        replicates=replicates,
        seed=seed,
        confidence=confidence,
        method="percentile",
        statistic=statistic,
        resampler=resampler,
    )


def _sums(sample: Sample) -> tuple[Floats, Floats, Floats]:
    total = sample.weights.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (sample.weights * sample.values).sum(axis=0) / total
    centre = np.where(np.isfinite(centre), centre, 0.0)
    numerators = sum_by_unit(sample, sample.weights * (sample.values - centre))
    return centre, numerators, sum_by_unit(sample, sample.weights)


def _means(centre: Floats, numerators: Floats, denominators: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominators > 0, centre + numerators / denominators, np.nan)


def _combine(statistic: str, means: Floats) -> Floats:
    if statistic == "difference":
        return means[..., ::2] - means[..., 1::2]
    if statistic == "ratio":
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return means[..., ::2] / means[..., 1::2]
    return means


def _quantiles(sample: Sample, counts: NDArray[np.int64], level: float) -> Floats:
    of = counts if sample.unit_of is None else counts[:, sample.unit_of]
    present = np.broadcast_to(sample.weights > 0, sample.values.shape)
    found = np.full((len(counts), sample.values.shape[1]), np.nan)
    for b, row in enumerate(of):
        for j in range(found.shape[1]):
            resample = np.repeat(sample.values[:, j], row * present[:, j])
            if len(resample):
                found[b, j] = np.quantile(resample, level)
    return found
