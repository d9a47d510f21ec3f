"""Resampled sums: products of counts and data, in integers, so that no order of adding can change a bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditkit.kernels.jit import jit

ROWS = 2
PLANES = 4
"""Counts come in multiples of ``ROWS`` rows and data in multiples of ``PLANES``: the tile held in registers."""

_SEGMENT = 4096
"""Units whose data stay in the cache while all replicates of a block pass over them."""


@jit
def sum_products(
    planes: NDArray[np.int32], counts: NDArray[np.uint8], sums: NDArray[np.int64]
) -> None:
    """Fill ``sums`` [k, r] (int64) with ``planes`` [k, n] (int32) times ``counts`` [r, n] (uint8).

    Entries below 2**31 in size and rows of counts that add up to less than 2**32 cannot overflow.
    """
    n = counts.shape[1]
    sums[:] = 0
    for start in range(0, n, _SEGMENT):
        part = slice(start, min(start + _SEGMENT, n))
        for r in range(0, len(counts), ROWS):
            for k in range(0, len(planes), PLANES):
                tile = _tile(
                    counts[r, part],
                    counts[r + 1, part],
                    planes[k, part],
                    planes[k + 1, part],
                    planes[k + 2, part],
                    planes[k + 3, part],
                )
                for j in range(PLANES):
                    sums[k + j, r] += tile[j]
                    sums[k + j, r + 1] += tile[PLANES + j]


@jit
def _tile(
    c0: NDArray[np.uint8],
    c1: NDArray[np.uint8],
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    x2: NDArray[np.int32],
    x3: NDArray[np.int32],
) -> tuple[np.int64, ...]:
    """Two replicates times four planes: eight sums in registers, each input read once."""
    zero = np.int64(0)
    a0, a1, a2, a3 = zero, zero, zero, zero
    b0, b1, b2, b3 = zero, zero, zero, zero
    for i in range(len(c0)):
        first, second = np.int64(c0[i]), np.int64(c1[i])
        y0, y1, y2, y3 = np.int64(x0[i]), np.int64(x1[i]), np.int64(x2[i]), np.int64(x3[i])
        a0 += first * y0
        a1 += first * y1
        a2 += first * y2
        a3 += first * y3
        b0 += second * y0
        b1 += second * y1
        b2 += second * y2
        b3 += second * y3
    return a0, a1, a2, a3, b0, b1, b2, b3
