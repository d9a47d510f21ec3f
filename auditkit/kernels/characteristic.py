"""Characteristic functions of sums of draws with replacement, and the quantiles that follow from them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from auditkit.kernels.jit import jit

_QUIET = 4
"""So many frequencies in a row without a contribution end the sum."""

_STEPS = 64
"""Halvings of an interval of some 16 standard errors: to the last bit."""


@jit
def sum_frequencies(
    cosines: NDArray[np.float64],
    sines: NDArray[np.float64],
    weights: NDArray[np.float64],
    draws: int,
    tolerance: float,
    least: int,
    real: NDArray[np.float64],
    imaginary: NDArray[np.float64],
) -> int:
    """The characteristic function of a sum of ``draws`` values drawn with replacement, at frequencies (k + 1/2) step.

    Parameters
    ----------
    cosines, sines
        [n] of half a step times each value.
    weights
        [n] probabilities of the values.
    tolerance
        Stop when the coefficients of Fourier inversion, size / (pi (k + 1/2)), stay below it.
    least
        Do not stop before so many frequencies.
    real, imaginary
        [most] filled with the function, divided by pi (k + 1/2).

    Returns
    -------
    int
        How many frequencies were needed; -1 where the coefficients have not become small.
    """
    # rows of eight, for as many sums at once
    rows, n = (len(cosines) + 7) // 8, len(cosines)
    turn_re, turn_im = np.zeros((rows, 8)), np.zeros((rows, 8))
    point_re, point_im = np.zeros((rows, 8)), np.zeros((rows, 8))
    turn_re.ravel()[:n] = cosines * cosines - sines * sines
    turn_im.ravel()[:n] = 2 * cosines * sines
    point_re.ravel()[:n] = cosines * weights
    point_im.ravel()[:n] = sines * weights
    quiet = 0
    for k in range(len(real)):
        re, im = _turn(point_re, point_im, turn_re, turn_im)
        size = math.hypot(re, im) ** draws / (math.pi * (k + 0.5))
        angle = math.atan2(im, re) * draws
        real[k] = size * math.cos(angle)
        imaginary[k] = size * math.sin(angle)
        quiet = quiet + 1 if size < tolerance else 0
        if quiet >= _QUIET and k + 1 >= least:
            return k + 1
    return len(real) if quiet >= _QUIET else -1


@jit
def _turn(
    point_re: NDArray[np.float64],
    point_im: NDArray[np.float64],
    turn_re: NDArray[np.float64],
    turn_im: NDArray[np.float64],
) -> tuple[float, float]:
    """The sum of the points on their circles, which then move on by their angles."""
    re, im = np.zeros(8), np.zeros(8)
    for row in range(len(point_re)):
        for lane in range(8):
            x, y = point_re[row, lane], point_im[row, lane]
            re[lane] += x
            im[lane] += y
            point_re[row, lane] = x * turn_re[row, lane] - y * turn_im[row, lane]
            point_im[row, lane] = x * turn_im[row, lane] + y * turn_re[row, lane]
    return re.sum(), im.sum()


@jit
def distribution(
    real: NDArray[np.float64], imaginary: NDArray[np.float64], step: float, at: float
) -> float:
    """P(S <= at) from the coefficients of ``sum_frequencies``: 1/2 - sum of Im(coefficient e^(-i t at)).

    Davies (1973), Numerical inversion of a characteristic function, doi:10.1093/biomet/60.2.415, eq. 5; the error is at
    most P(S < at - 2 pi / step) + P(S > at + 2 pi / step).
    """
    cosine, sine = math.cos(0.5 * step * at), math.sin(0.5 * step * at)
    turn_re, turn_im = cosine * cosine - sine * sine, 2 * cosine * sine
    total = 0.5
    for k in range(len(real)):
        total -= imaginary[k] * cosine - real[k] * sine
        cosine, sine = cosine * turn_re - sine * turn_im, cosine * turn_im + sine * turn_re
    return total


@jit
def quantile(
    real: NDArray[np.float64],
    imaginary: NDArray[np.float64],
    step: float,
    level: float,
    low: float,
    high: float,
) -> float:
    """Where the distribution reaches ``level``, between ``low`` and ``high``, by halving."""
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if distribution(real, imaginary, step, middle) < level:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
