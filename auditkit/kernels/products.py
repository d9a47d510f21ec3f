"""Resampled sums: products of counts and data, in integers, so that no order of adding can change a bit.

The inner loop is written in LLVM's vector operations: 16-bit factors, whose neighbouring products are added to 32 bits,
are one instruction on most processors, which compilers do not find by themselves. The tests compare it with NumPy's
integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from auditkit.kernels import vectors
from auditkit.kernels.jit import jit
from auditkit.kernels.vectors import Value, Variable, integers

PLANES, ROWS, _LANES = (4, 6, 32) if vectors.WIDE else (4, 2, 16)
"""The tile held in registers: so many planes times replicates, and units at once."""

HALF = 15
"""Data are integers of 30 bits, in two planes: the high 15 bits, and the low ones."""

SEGMENT = 128 * _LANES
"""Units whose data stay in the cache while all replicates of a block pass over them. A 32-bit lane then adds 256
products of at most 255 * 2**15, which cannot overflow."""


_ROUND = 1.5 * 2.0**52
"""Added and taken away again, it rounds what is below 2**51 to integers, halves to even."""


@jit
def split_halves(
    plane: NDArray[np.float64],
    factors: tuple[float, float],
    high: NDArray[np.int16],
    low: NDArray[np.int16],
) -> tuple[np.int64, np.int64]:
    """The two halves of the integers next to a plane times two factors, of at most 2**30.

    Returns the sum of the low halves and that of their squares.
    """
    largest = np.int32(2 ** (2 * HALF) - 1)
    total = squares = np.int64(0)
    for i in range(len(plane)):
        whole = min(np.int32(plane[i] * factors[0] * factors[1] + _ROUND - _ROUND), largest)
        high[i] = whole >> HALF
        low[i] = whole & (2**HALF - 1)
        total += low[i]
        squares += np.int64(low[i]) * low[i]
    return total, squares


@jit
def sum_products(
    planes: NDArray[np.int16], counts: NDArray[np.uint8], sums: NDArray[np.int64]
) -> None:
    """Fill ``sums`` [k, r] with ``planes`` [k, n] times ``counts`` [r, n].

    k and r are multiples of ``PLANES`` and ``ROWS``, and n of 64.
    """
    sums[:] = 0
    for first in range(0, counts.shape[1], SEGMENT):
        stop = min(first + SEGMENT, counts.shape[1])
        for k in range(0, len(planes), PLANES):
            for r in range(0, len(counts), ROWS):
                _add_tile(planes, k, counts, r, first, stop, sums)


@jit
def sum_halves(
    halves: NDArray[np.int16],
    low_of: NDArray[np.intp],
    rests: NDArray[np.int64],
    counts: NDArray[np.uint8],
    scales: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None:
    """Fill ``found`` [k, r] with the sums of k planes over the first r of the resamples in ``counts``.

    ``halves`` has the high halves of the planes, and in rows ``low_of`` [k] their low halves; where that is -1, their
    sum is ``rests`` [k] in every resample. Times ``scales`` [k] they are the data.
    """
    sums = np.empty((len(halves) + 1, len(counts)), dtype=np.int64)
    sum_products(halves, counts, sums[:-1])
    k, r = found.shape
    for j in range(k):
        sums[-1] = rests[j]
        low, scale = low_of[j], scales[j]
        for b in range(r):
            found[j, b] = float((sums[j, b] << HALF) + sums[low, b]) * scale


def _generate_tile(
    typing: Any, planes: Any, k: Any, counts: Any, r: Any, first: Any, stop: Any, sums: Any
) -> Any:
    """``sums[p, q] += planes[p, first:stop] @ counts[q, first:stop]`` for p from k and q from r, a tile of them."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, drawn, found = (
            vectors.Array(context, builder, signature.args[i], arguments[i]) for i in (0, 2, 6)
        )
        k, r, first, stop = (Value(builder, arguments[i]) for i in (1, 3, 4, 5))
        wide, half = integers(32, _LANES), integers(32, _LANES // 2)
        none = Value(builder, half([0] * (_LANES // 2)))
        totals = {(p, q): Variable(none) for p in range(PLANES) for q in range(ROWS)}
        with vectors.loop(first, stop, _LANES) as unit:
            # as 32-bit integers that fit into 16
            factors = [
                drawn.load(integers(8, _LANES), r + q, unit).to(wide, "zext") for q in range(ROWS)
            ]
            for p in range(PLANES):
                x = data.load(integers(16, _LANES), k + p, unit).to(wide, "sext")
                for q, factor in enumerate(factors):
                    products = x * factor
                    pairs = [products.chosen(range(start, _LANES, 2)) for start in (0, 1)]
                    totals[p, q].set(totals[p, q].get() + (pairs[0] + pairs[1]))
        for (p, q), total in totals.items():
            added = total.get().to(integers(64, _LANES // 2), "sext").total()
            found.store(found.load(ir.IntType(64), k + p, r + q) + added, k + p, r + q)
        return context.get_dummy_value()

    return types.void(planes, k, counts, r, first, stop, sums), generate


_add_tile: Any = intrinsic(_generate_tile)
