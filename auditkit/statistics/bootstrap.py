"""Joint bootstrap of means, ratios and quantiles: the public entry, and what every audit calls.

The draw of replicate b depends on (seed, b) alone. All columns of one call, and all calls with the same seed and the
same number of units, see the same resamples, so that differences and ratios are paired.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Statistic = Literal["mean", "difference", "ratio", "median"]
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


def bootstrap(
    x: ArrayLike,
    *,
    statistic: Statistic = "mean",
    clusters: Any = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    method: Method = "percentile",
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    missing: Literal["raise", "omit"] = "raise",
) -> BootstrapResult:
    raise NotImplementedError
