"""Products of counts and data against NumPy's integers."""

from __future__ import annotations

import numpy as np
import pytest

from auditkit.kernels.products import LANES, PLANES, ROWS, sum_products


def product(planes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    sums = np.full((len(planes), len(counts)), -1, np.int64)
    sum_products(planes, counts, sums)
    return sums


@pytest.mark.parametrize("n", [LANES, 2048 - LANES, 2048, 2048 + LANES, 10_000])
@pytest.mark.parametrize(("k", "r"), [(PLANES, ROWS), (2 * PLANES, 3 * ROWS)])
def test_sums_are_exact(n: int, k: int, r: int) -> None:
    rng = np.random.default_rng(n)
    planes = rng.integers(-(2**15), 2**15, (k, n)).astype(np.int16)
    counts = rng.integers(0, 256, (r, n)).astype(np.uint8)
    expected = planes.astype(np.int64) @ counts.T.astype(np.int64)
    np.testing.assert_array_equal(product(planes, counts), expected)


@pytest.mark.parametrize("entry", [-(2**15), 2**15 - 1])
def test_the_largest_entries_do_not_overflow(entry: int) -> None:
    planes = np.full((PLANES, 4096), entry, np.int16)
    counts = np.full((ROWS, 4096), 255, np.uint8)
    assert (product(planes, counts) == entry * 255 * 4096).all()


def test_every_entry_counts_once() -> None:
    planes = np.eye(PLANES, 3 * LANES, dtype=np.int16)
    for shift in range(0, 3 * LANES, PLANES):
        counts = np.zeros((ROWS, 3 * LANES), np.uint8)
        counts[:, shift : shift + PLANES] = np.arange(1, 17).reshape(ROWS, PLANES)
        found = product(np.roll(planes, shift, axis=1), counts)
        np.testing.assert_array_equal(found, np.arange(1, 17).reshape(ROWS, PLANES).T)
