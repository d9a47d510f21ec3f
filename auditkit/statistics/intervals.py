"""Intervals from bootstrap replicates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def percentile(replicates: Floats, confidence: float) -> tuple[float, float]:
    """The percentile interval: quantiles of the replicates [B], by linear interpolation."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return float(low), float(high)
