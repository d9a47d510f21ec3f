"""Error-free sums and products: a sum is carried as two doubles, about 32 digits, so that its order does not matter.

Sources: Knuth, The Art of Computer Programming 2, 4.2.2, Theorem B (two_sum); Dekker, Numerische Mathematik 18 (1971)
224-242 (two_product; it overflows above 1e300, callers keep their values below 1e150).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditkit.kernels.jit import jit

Floats = NDArray[np.float64]

_SPLITTER = 134217729.0  # 2**27 + 1


@jit
def two_sum(a: float, b: float) -> tuple[float, float]:
    """The rounded sum of two numbers and its rounding error, exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@jit
def two_product(a: float, b: float) -> tuple[float, float]:
    """The rounded product of two numbers and its rounding error, exactly."""
    product = a * b
    scaled = _SPLITTER * a
    a_high = scaled - (scaled - a)
    a_low = a - a_high
    scaled = _SPLITTER * b
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    return product, a_low * b_low - (
        ((product - a_high * b_high) - a_low * b_high) - a_high * b_low
    )


@jit
def add(high: float, low: float, other_high: float, other_low: float) -> tuple[float, float]:
    """The sum of two numbers that are carried as two doubles each."""
    total, error = two_sum(high, other_high)
    return two_sum(total, error + (low + other_low))


@jit
def running_sums(values: Floats, squares: bool) -> tuple[Floats, Floats]:
    """Sums of the first 0, 1, .., n values [n], or of their squares, as two doubles each: two arrays [n + 1]."""
    n = values.size
    high = np.zeros(n + 1)
    low = np.zeros(n + 1)
    for i in range(n):
        if squares:
            value, error = two_product(values[i], values[i])
        else:
            value, error = values[i], 0.0
        high[i + 1], low[i + 1] = add(high[i], low[i], value, error)
    return high, low


@jit
def variance_of_sums(
    count: float, first_high: float, first_low: float, second_high: float, second_low: float
) -> float:
    """Uncorrected variance from a count, a sum and a sum of squares, without loss by cancellation."""
    a_high, a_low = two_product(second_high, count)
    a_low += second_low * count
    b_high, b_low = two_product(first_high, first_high)
    b_low += 2.0 * first_high * first_low
    high, low = add(a_high, a_low, -b_high, -b_low)
    return max(high + low, 0.0) / (count * count)
