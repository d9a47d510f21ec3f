"""Characteristic functions of sums of draws with replacement, and the quantiles that follow from them."""

from __future__ import annotations

import math
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from auditkit.kernels import vectors
from auditkit.kernels.jit import jit
from auditkit.kernels.vectors import Value, Variable

_QUIET = 4
"""So many frequencies in a row without a contribution end the sum."""

_TURNS, _LANES = 4, 8
"""Frequencies for which a point is held in registers, and points at once."""

_C2, _C4, _C6, _C8, _C10, _C12 = ((-1) ** k / math.factorial(2 * k) for k in range(1, 7))
_C3, _C5, _C7, _C9, _C11 = ((-1) ** k / math.factorial(2 * k + 1) for k in range(1, 6))

_STEPS = 64
"""Halvings of an interval of some 16 standard errors: to the last bit."""


@jit
def sum_frequencies(
    angles: NDArray[np.float64],
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
    angles
        [n] half a step times each value, at most 0.2 in size.
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
    # rows of lanes, for as many sums at once
    rows = -(-len(angles) // _LANES)
    turn_re, turn_im = np.zeros((rows, _LANES)), np.zeros((rows, _LANES))
    point_re, point_im = np.zeros((rows, _LANES)), np.zeros((rows, _LANES))
    _start(angles, weights, point_re.ravel(), point_im.ravel(), turn_re.ravel(), turn_im.ravel())
    quiet = 0
    re, im = np.empty(_TURNS), np.empty(_TURNS)
    for k in range(len(real)):
        if k % _TURNS == 0:
            _turn(point_re, point_im, turn_re, turn_im, re, im)
        x, y = re[k % _TURNS], im[k % _TURNS]
        size = math.hypot(x, y) ** draws / (math.pi * (k + 0.5))
        angle = math.atan2(y, x) * draws
        real[k] = size * math.cos(angle)
        imaginary[k] = size * math.sin(angle)
        quiet = quiet + 1 if size < tolerance else 0
        if quiet >= _QUIET and k + 1 >= least:
            return k + 1
    return len(real) if quiet >= _QUIET else -1


@jit
def _start(
    angles: NDArray[np.float64],
    weights: NDArray[np.float64],
    point_re: NDArray[np.float64],
    point_im: NDArray[np.float64],
    turn_re: NDArray[np.float64],
    turn_im: NDArray[np.float64],
) -> None:
    """Points at their angles, weighted, and turns by twice the angles.

    Cosine and sine by their series, whose first terms left out are below 1e-18 for angles of at most 0.2.
    """
    for i in range(len(angles)):
        angle, weight = angles[i], weights[i]
        s = angle * angle
        cosine = 1 + s * (_C2 + s * (_C4 + s * (_C6 + s * (_C8 + s * (_C10 + s * _C12)))))
        sine = angle * (1 + s * (_C3 + s * (_C5 + s * (_C7 + s * (_C9 + s * _C11)))))
        turn_re[i], turn_im[i] = cosine * cosine - sine * sine, 2 * cosine * sine
        point_re[i], point_im[i] = cosine * weight, sine * weight


def _generate_turn(
    typing: Any, point_re: Any, point_im: Any, turn_re: Any, turn_im: Any, re: Any, im: Any
) -> Any:
    """Sum the points [rows, lanes] on their circles and move them on by their angles, some times: ``re``, ``im``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        points_re, points_im, turns_re, turns_im, *found = (
            vectors.Array(context, builder, kind, argument)
            for kind, argument in zip(signature.args, arguments, strict=True)
        )
        lanes = ir.VectorType(ir.DoubleType(), _LANES)
        none = Value(builder, lanes([0.0] * _LANES))
        sums = [(Variable(none), Variable(none)) for _ in range(_TURNS)]
        rows = points_re.rows
        with vectors.loop(rows.like(0), rows, 1) as row:
            x, y = points_re.load(lanes, row, 0), points_im.load(lanes, row, 0)
            cosine, sine = turns_re.load(lanes, row, 0), turns_im.load(lanes, row, 0)
            for sum_x, sum_y in sums:
                sum_x.set(sum_x.get() + x)
                sum_y.set(sum_y.get() + y)
                x, y = x * cosine - y * sine, x * sine + y * cosine
            points_re.store(x, row, 0)
            points_im.store(y, row, 0)
        for step, pair in enumerate(sums):
            for out, total in zip(found, pair, strict=True):
                by_lane = total.get()
                out.store(reduce(add, (by_lane[lane] for lane in range(_LANES))), step)
        return context.get_dummy_value()

    return types.void(point_re, point_im, turn_re, turn_im, re, im), generate


_turn: Any = intrinsic(_generate_turn)


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
