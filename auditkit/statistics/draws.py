"""Resamples as counts: how often each of n units occurs in replicate b, which depends on (seed, b) alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def count_blocks(
    n: int, replicates: int, seed: int, resampler: str
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Blocks of counts [r, n] with the number of their first replicate."""
    rows = max(1, min(replicates, 2**22 // n))
    numpy_stream = np.random.default_rng(seed)
    for start in range(0, replicates, rows):
        stop = min(start + rows, replicates)
        if resampler == "numpy":
            indices = numpy_stream.integers(0, n, size=(stop - start, n))
        else:
            indices = np.stack(
                [
                    np.random.default_rng([seed, b]).integers(0, n, size=n)
                    for b in range(start, stop)
                ]
            )
        flat = indices + np.arange(stop - start)[:, None] * n
        counts = np.bincount(flat.ravel(), minlength=(stop - start) * n)
        yield start, counts.reshape(stop - start, n)
