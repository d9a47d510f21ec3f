"""Resamples drawn a block at a time, in threads, and reduced at once: nothing of size replicates times n is held.

The counts of replicate b depend on (seed, b) alone, and what is summed are integers: results have the same bits for any
number of threads, size of block and number of columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.statistics.sample import Floats
from auditkit.statistics.threads import run_parts

Counts = NDArray[np.uint8]

_BLOCK = 2**19
"""Counts in a block: it stays in the cache of one core."""

_FEWEST_ROWS = {"fast": 36, "numpy": 4}
"""Of long samples: enough replicates to make use of the data once they are read; the indices of NumPy's draws take
eight bytes each, so fewer of these."""

_WORTH_THREADS = 2**23
"""Counts in all that take longer than it takes to start threads."""

_COARSE = 1e-4
"""The standard error of a resampled sum, relative to it, that is good enough for a standard error."""

_FINEST = 1074
"""All floating-point numbers are integers times two to the power of minus this."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Which resamples to draw, and with how many threads.

    Attributes
    ----------
    units
        How many units there are, and how many of them make a resample.
    replicates, seed, resampler, threads, progress
        As in ``bootstrap``.
    """

    units: int
    replicates: int
    seed: int
    resampler: str
    threads: int | None = None
    progress: Callable[[str, int, int], None] | None = None


@dataclass(frozen=True, slots=True)
class Planes:
    """Data by unit as integers, ready for their products with counts.

    Attributes
    ----------
    halves
        [>= k, >= units] high halves of the k planes, then low halves where they matter, then zeros.
    low_of
        [k] the row of the low half of each plane; -1 where it has none.
    rests
        [k] the sum of the low halves, which stands for that of all resamples where they have no row.
    scales
        [k] the data are the integers times these powers of two.
    """

    halves: NDArray[np.int16]
    low_of: NDArray[np.intp]
    rests: NDArray[np.int64]
    scales: Floats

    @classmethod
    def of(cls, data: Sequence[NDArray[Any]], coarse: int = 0) -> Planes:
        """The integers of k planes [units], rounded to 30 bits of the largest entry of each.

        The last ``coarse`` planes keep 15 bits where this moves their resampled sums by less than 1e-4 of the sum, in
        standard deviations.
        """
        from auditkit.kernels import draws, products

        k, units = len(data), len(data[0])
        shape = _up(2 * k, products.PLANES), _up(units, draws.COLUMNS)
        halves = np.zeros(shape, dtype=np.int16)
        low_of, used = np.full(k, -1), k
        rests, scales = np.zeros(k, dtype=np.int64), np.ones(k)
        for j, row in enumerate(data):
            plane = np.asarray(row, dtype=np.float64)
            largest = max(plane.max(), -plane.min())
            exponent = (
                min(2 * products.HALF - math.frexp(largest)[1], _FINEST) if largest > 0 else 0
            )
            scales[j] = 2.0**-exponent
            # in two steps, since the power may be too large for one
            factors = 2.0 ** (exponent // 2), 2.0 ** (exponent - exponent // 2)
            high, low = halves[j, :units], halves[used, :units]
            rests[j], squares = products.split_halves(plane, factors, high, low)
            # resampled, the low halves vary like their deviations from their mean
            variance = squares - int(rests[j]) ** 2 / units
            negligible = _COARSE * plane.sum() / scales[j] if j >= k - coarse else 0.0
            if variance > negligible**2:
                low_of[j], used = used, used + 1
        return cls(halves[: _up(used, products.PLANES)], low_of, rests, scales)

    def sum(self, counts: Counts, found: Floats) -> None:
        """Fill ``found`` [k, r] with the sums of the data over the first r resamples in ``counts``."""
        from auditkit.kernels import products

        products.sum_halves(self.halves, self.low_of, self.rests, counts, self.scales, found)


def resampled_sums(data: Sequence[Floats], draws: Draws, coarse: int = 0) -> Floats:
    """Sums [k, replicates] of k planes [units] over the resamples, of which the last may be ``coarse``.

    Planes of integers below 2**30 are summed exactly; else a sum is off by some 1e-9 of the largest entry times the
    root of the number of units: less than 1e-6 bootstrap standard errors for any sample, since no entry exceeds that
    root times the standard deviation.
    """
    planes = Planes.of(data, coarse)
    found = np.empty((len(data), draws.replicates))
    reduce_resamples(draws, lambda counts, start, stop: planes.sum(counts, found[:, start:stop]))
    return found


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def reduce_resamples(draws: Draws, reduce: Callable[[Counts, int, int], None]) -> None:
    """Call ``reduce(counts, start, stop)`` for blocks of replicates ``start .. stop - 1``, from several threads.

    ``counts`` [rows, columns] has zeros beyond the replicates and units there are, to fill the tiles of a product.
    """
    from auditkit.kernels import draws as kernels
    from auditkit.kernels import products

    fill, threads = _from_numpy(draws) if draws.resampler == "numpy" else _from_key(draws)
    columns = _up(draws.units, kernels.COLUMNS)
    fewest = _FEWEST_ROWS[draws.resampler]
    rows = min(_up(max(_BLOCK // columns, fewest), products.ROWS), draws.replicates)
    block = local()  # one block a thread: fresh memory for each would cost as much as the draws

    def work(start: int, stop: int) -> None:
        if not hasattr(block, "counts"):
            block.counts = np.empty((_up(rows, products.ROWS), columns), dtype=np.uint8)
        counts: Counts = block.counts[: _up(stop - start, products.ROWS)]
        counts[stop - start :] = 0
        fill(counts[: stop - start], start)
        reduce(counts, start, stop)

    def report(done: int, total: int) -> None:
        if draws.progress is not None:
            draws.progress("bootstrap", done, total)

    run_parts(work, draws.replicates, rows, threads, report)


def _from_key(draws: Draws) -> tuple[Callable[[Counts, int], None], int | None]:
    """Our own draws: any replicate at any time."""
    from auditkit.kernels import draws as kernels

    key = np.random.SeedSequence(draws.seed).generate_state(1, np.uint64)[0]
    # fewer units are drawn singly, and the table is not looked at
    thresholds, rare = kernels.poisson_table(max(draws.units, kernels.SMALLEST_POISSON))

    def fill(counts: Counts, start: int) -> None:
        kernels.draw_counts(key, start, draws.units, thresholds, rare, counts)

    short = draws.units * draws.replicates < _WORTH_THREADS
    return fill, 1 if short else draws.threads


def _from_numpy(draws: Draws) -> tuple[Callable[[Counts, int], None], int]:
    """The stream of ``default_rng(seed).integers(0, n, (B, n))``: one after the other, so in one thread."""
    from auditkit.kernels import draws as kernels

    stream = np.random.default_rng(draws.seed)

    def fill(counts: Counts, start: int) -> None:
        indices = stream.integers(0, draws.units, size=(len(counts), draws.units))
        kernels.count_indices(indices, counts)

    return fill, 1
