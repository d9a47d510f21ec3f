"""Quantiles of resamples, found from their counts: a short walk along the sorted sample."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from auditkit.kernels.jit import jit


@jit
def resampled_quantiles(
    values: NDArray[np.float64],
    unit_of: NDArray[np.int32],
    start: int,
    below: NDArray[np.int64],
    total: NDArray[np.int64],
    counts: NDArray[np.uint8],
    level: float,
    found: NDArray[np.float64],
) -> None:
    """Fill ``found`` [r] with a quantile of each resample, interpolated linearly as ``numpy.quantile`` does.

    Parameters
    ----------
    values, unit_of
        [n] the sample in ascending order, and the unit of each observation.
    start
        A position in the sample near the quantile.
    below, total
        [r] how many observations of each resample lie before ``start``, and how many there are.
    counts
        [r, units] how often each unit occurs.
    """
    for r in range(len(found)):
        found[r] = _quantile(values, unit_of, start, below[r], total[r], counts[r], level)


@jit
def jackknife_quantiles(
    values: NDArray[np.float64],
    unit_of: NDArray[np.int32],
    start: int,
    below: NDArray[np.int64],
    size: NDArray[np.int64],
    level: float,
    found: NDArray[np.float64],
) -> None:
    """Fill ``found`` [units] with the quantile of the sample without each unit.

    ``below`` and ``size`` [units] are how many observations of each unit lie before ``start``, and how many it has.
    """
    counts = np.ones(len(found), dtype=np.uint8)
    all_below, all_size = below.sum(), size.sum()
    for u in range(len(found)):
        counts[u] = 0
        found[u] = _quantile(
            values, unit_of, start, all_below - below[u], all_size - size[u], counts, level
        )
        counts[u] = 1


@jit
def _quantile(
    values: NDArray[np.float64],
    unit_of: NDArray[np.int32],
    position: int,
    before: int,
    total: int,
    counts: NDArray[np.uint8],
    level: float,
) -> float:
    """The observation of the rank wanted is found by walking from ``position``, before which ``before`` lie."""
    if total == 0:
        return math.nan
    at = (total - 1) * level
    rank = math.floor(at)
    fraction = at - rank
    while before > rank:
        position -= 1
        before -= counts[unit_of[position]]
    while before + counts[unit_of[position]] <= rank:
        before += counts[unit_of[position]]
        position += 1
    low = float(values[position])
    if fraction == 0:
        return low
    while before + counts[unit_of[position]] <= rank + 1:
        before += counts[unit_of[position]]
        position += 1
    high = float(values[position])
    step = high - low
    return low + step * fraction if fraction < 0.5 else high - step * (1 - fraction)
