"""Intervals from bootstrap replicates: percentile, basic, bias-corrected and accelerated, studentized.

References
----------
Efron, Tibshirani (1993), An introduction to the bootstrap: percentile, section 13.3; BCa, section 14.3, eq. 14.9 to
14.15; studentized ("bootstrap-t"), section 12.5.
Davison, Hinkley (1997), Bootstrap methods and their application: basic, section 5.2.1, eq. 5.6.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from auditkit.statistics.sample import Floats

_NORMAL = NormalDist()


def quantiles(values: Floats, levels: tuple[float, ...]) -> Floats:
    """Quantiles of finite values [B] by linear interpolation, as ``numpy.quantile`` gives them, but faster."""
    at = (len(values) - 1) * np.array(levels)
    rank = np.floor(at).astype(np.intp)
    after = np.minimum(rank + 1, len(values) - 1)
    ordered = np.sort(values)  # vectorised in NumPy, unlike a partition at several ranks
    low, fraction = ordered[rank], at - rank
    step = ordered[after] - low
    # the form of numpy.quantile, whose ends are exact
    found: Floats = np.where(
        fraction < 0.5, low + step * fraction, ordered[after] - step * (1 - fraction)
    )
    return found


def percentile(replicates: Floats, confidence: float) -> tuple[float, float]:
    """The quantiles of the replicates [B]."""
    tail = (1 - confidence) / 2
    low, high = quantiles(replicates, (tail, 1 - tail))
    return float(low), float(high)


def basic(replicates: Floats, estimate: float, confidence: float) -> tuple[float, float]:
    """The percentile interval reflected at the estimate."""
    low, high = percentile(replicates, confidence)
    return 2 * estimate - high, 2 * estimate - low


def bca(
    replicates: Floats, estimate: float, jackknife: Floats, confidence: float
) -> tuple[float, float] | str:
    """Quantiles of the replicates [B] at levels corrected for bias and skewness, or why there are none.

    ``jackknife`` [units] holds the statistic without each unit. Resamples equal to the estimate count half as below it.
    """
    below = (np.mean(replicates < estimate) + np.mean(replicates <= estimate)) / 2
    if not 0 < below < 1:
        return "all resamples lie on one side of the estimate: no bias correction"
    if not np.isfinite(jackknife).all():
        return "the statistic is not defined without one of the units: no acceleration"
    bias = _NORMAL.inv_cdf(float(below))
    gaps = jackknife.mean() - jackknife
    largest = np.abs(gaps).max()
    scaled = gaps / largest if largest > 0 else gaps
    spread = float(np.sum(scaled**2)) ** 1.5
    acceleration = float(np.sum(scaled**3)) / (6 * spread) if spread > 0 else 0.0

    def level(normal: float) -> float:
        z = bias + normal
        return _NORMAL.cdf(bias + z / (1 - acceleration * z)) if acceleration * z < 1 else 1.0

    end = _NORMAL.inv_cdf((1 - confidence) / 2)
    low, high = quantiles(replicates, (level(end), level(-end)))
    return float(low), float(high)


def studentized(
    replicates: Floats, errors: Floats, estimate: float, error: float, confidence: float
) -> tuple[float, float]:
    """The estimate less quantiles of (replicate - estimate) / its standard error, in standard errors of the sample."""
    low, high = percentile((replicates - estimate) / errors, confidence)
    return estimate - high * error, estimate - low * error
