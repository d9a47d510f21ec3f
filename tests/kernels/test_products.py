"""Products of counts and data against NumPy's integers."""

from __future__ import annotations

import numpy as np
import pytest

from auditkit.kernels.draws import COLUMNS
from auditkit.kernels.products import (
    HALF,
    PLANES,
    ROWS,
    SEGMENT,
    split_halves,
    sum_halves,
    sum_products,
)


def product(planes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    sums = np.full((len(planes), len(counts)), -1, np.int64)
    sum_products(planes, counts, sums)
    return sums


@pytest.mark.parametrize("n", [COLUMNS, SEGMENT - COLUMNS, SEGMENT, SEGMENT + COLUMNS, 9984])
@pytest.mark.parametrize(("k", "r"), [(PLANES, ROWS), (2 * PLANES, 3 * ROWS)])
def test_sums_are_exact(n: int, k: int, r: int) -> None:
    rng = np.random.default_rng(n)
    planes = rng.integers(-(2**15), 2**15, (k, n)).astype(np.int16)
    counts = rng.integers(0, 256, (r, n)).astype(np.uint8)
    expected = planes.astype(np.int64) @ counts.T.astype(np.int64)
    np.testing.assert_array_equal(product(planes, counts), expected)


@pytest.mark.parametrize("entry", [-(2**15), 2**15 - 1])
def test_the_largest_entries_do_not_overflow(entry: int) -> None:
    planes = np.full((PLANES, 2 * SEGMENT), entry, np.int16)
    counts = np.full((ROWS, 2 * SEGMENT), 255, np.uint8)
    assert (product(planes, counts) == entry * 255 * 2 * SEGMENT).all()


def test_every_entry_counts_once() -> None:
    planes = np.eye(PLANES, COLUMNS, dtype=np.int16)
    weights = np.arange(1, ROWS * PLANES + 1).reshape(ROWS, PLANES)
    for shift in range(0, COLUMNS, PLANES):
        counts = np.zeros((ROWS, COLUMNS), np.uint8)
        counts[:, shift : shift + PLANES] = weights
        found = product(np.roll(planes, shift, axis=1), counts)
        np.testing.assert_array_equal(found, weights.T)


def test_halves_are_put_together_and_scaled() -> None:
    # three planes of 30 bits, one of them without a low half; fewer results than rows; powers of two as scales
    rng = np.random.default_rng(3)
    whole = rng.integers(-(2**30), 2**30, (3, COLUMNS))
    halves = np.zeros((-(-5 // PLANES) * PLANES, COLUMNS), np.int16)
    halves[:3], halves[3:5] = whole >> HALF, whole[::2] & (2**HALF - 1)
    low_of, rests = np.array([3, -1, 4]), np.array([77, 12345, 77])
    whole[1] &= -(2**HALF)
    counts = rng.integers(0, 9, (2 * ROWS, COLUMNS)).astype(np.uint8)
    scales = np.array([1.0, 2.0**-30, 2.0**-1074])
    found = np.full((3, 2 * ROWS - 1), np.nan)
    sum_halves(halves, low_of, rests, counts, scales, found)
    expected = [
        [float(sum(x * int(c) for x, c in zip(plane.tolist(), row, strict=True)) + rest) * scale
         for row in counts[:-1]]
        for plane, rest, scale in zip(whole, (0, 12345, 0), scales, strict=True)
    ]  # fmt: skip
    assert found.tolist() == expected


def test_a_plane_is_split_into_halves() -> None:
    plane = np.array([0.75, -1.0, 2.0**-29, -0.3, 0.0])
    high, low = np.empty(5, np.int16), np.empty(5, np.int16)
    total, squares = split_halves(plane, (2.0**10, 2.0**20), high, low)
    whole = (high.astype(int) << HALF) + low
    assert whole.tolist() == [3 * 2**28, -(2**30), 2, round(-0.3 * 2**30), 0]
    assert (total, squares) == (low.sum(dtype=int), (low.astype(int) ** 2).sum())
    # 2**30 itself has 31 bits: the largest integer of 30 takes its place
    split_halves(np.array([1.0]), (2.0**30, 1.0), high[:1], low[:1])
    assert (high[0], low[0]) == (2**HALF - 1, 2**HALF - 1)
