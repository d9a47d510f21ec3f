"""Resamples drawn a block at a time, in threads, and reduced at once: nothing of size replicates times n is held.

The counts of replicate b depend on (seed, b) alone, and what is summed are integers: results have the same bits for any
number of threads, size of block and number of columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditkit.statistics.sample import Floats
from auditkit.statistics.threads import run_parts

Counts = NDArray[np.uint8]

_BLOCK = 2**20
"""Counts in a block: it stays in the cache of one core."""

_MOST_ROWS = 4096
_FEWEST_ROWS = {"fast": 16, "numpy": 2}
"""Of long samples: enough replicates to make use of the data once they are read; the indices of NumPy's draws take
eight bytes each, so fewer of these."""

BITS = 31
"""Data are scaled to integers of so many bits: the resampled sum of n of them is within sqrt(n) of its last bit."""


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

    @property
    def rows(self) -> int:
        """Replicates in a block, an even number."""
        rows = min(max(_BLOCK // self.units, _FEWEST_ROWS[self.resampler]), _MOST_ROWS)
        return min(rows, self.replicates + 1) // 2 * 2


def resampled_sums(planes: Floats, draws: Draws) -> Floats:
    """Sums [k, replicates] of ``planes`` [k, units] over the resamples.

    A plane is scaled by a power of two to integers of 31 bits. Planes of integers below 2**31 are summed exactly; else
    the rounding of a sum is some 1e-9 of the largest entry, less than 1e-6 bootstrap standard errors for any sample.
    """
    from auditkit.kernels import products

    scaled, exponents = to_integers(planes, products.PLANES)
    found = np.empty((len(planes), draws.replicates))

    def reduce(counts: Counts, start: int, stop: int) -> None:
        sums = np.empty((len(scaled), len(counts)), dtype=np.int64)
        products.sum_products(scaled, counts, sums)
        part = sums[: len(planes), : stop - start].astype(np.float64)
        found[:, start:stop] = np.ldexp(part, -exponents[:, None])

    reduce_resamples(draws, reduce)
    return found


def to_integers(planes: Floats, multiple: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Planes as integers, ``planes * 2**exponents``, with planes of zeros added up to a multiple of their number."""
    k = len(planes)
    scaled = np.zeros((-(-k // multiple) * multiple, planes.shape[1]), dtype=np.int32)
    exponents = np.zeros(k, dtype=np.int32)
    for j, plane in enumerate(planes):
        largest = max(plane.max(), -plane.min())
        exponents[j] = BITS - np.frexp(largest)[1] if largest > 0 else 0
        whole = np.rint(np.ldexp(plane, exponents[j]))
        scaled[j] = np.minimum(whole, 2**BITS - 1)
    return scaled, exponents


def reduce_resamples(draws: Draws, reduce: Callable[[Counts, int, int], None]) -> None:
    """Call ``reduce(counts, start, stop)`` for blocks of replicates ``start .. stop - 1``, from several threads.

    ``counts`` [rows, units] has one row more than there are replicates where their number is odd.
    """
    fill, threads = _from_numpy(draws) if draws.resampler == "numpy" else _from_key(draws)

    def work(start: int, stop: int) -> None:
        counts = np.zeros((stop - start + (stop - start) % 2, draws.units), dtype=np.uint8)
        fill(counts[: stop - start], start)
        reduce(counts, start, stop)

    def report(done: int, total: int) -> None:
        if draws.progress is not None:
            draws.progress("bootstrap", done, total)

    run_parts(work, draws.replicates, draws.rows, threads, report)


def _from_key(draws: Draws) -> tuple[Callable[[Counts, int], None], int | None]:
    """Our own draws: any replicate at any time."""
    from auditkit.kernels import draws as kernels

    key = np.random.SeedSequence(draws.seed).generate_state(1, np.uint64)[0]
    # fewer units are drawn singly, and the table is not looked at
    thresholds, rare = kernels.poisson_table(max(draws.units, kernels.SMALLEST_POISSON))

    def fill(counts: Counts, start: int) -> None:
        words = np.empty(-(-draws.units // 4), dtype=np.uint64)
        kernels.draw_counts(key, start, thresholds, rare, words, counts)

    return fill, draws.threads


def _from_numpy(draws: Draws) -> tuple[Callable[[Counts, int], None], int]:
    """The stream of ``default_rng(seed).integers(0, n, (B, n))``: one after the other, so in one thread."""
    from auditkit.kernels import draws as kernels

    stream = np.random.default_rng(draws.seed)

    def fill(counts: Counts, start: int) -> None:
        kernels.count_indices(stream.integers(0, draws.units, size=counts.shape), counts)

    return fill, 1
