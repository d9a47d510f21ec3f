"""Products of counts and data against NumPy's integers."""

from __future__ import annotations

import numpy as np
import pytest

from auditkit.kernels import products


def product(planes: np.ndarray, counts: np.ndarray, kernel=products.sum_products) -> np.ndarray:
    sums = np.full((len(planes), len(counts)), -1, np.int64)
    kernel(planes, counts, sums)
    return sums


@pytest.mark.parametrize("n", [1, 7, 4095, 4096, 4097, 10_000])
@pytest.mark.parametrize(("k", "r"), [(4, 2), (8, 6)])
def test_sums_are_exact(n: int, k: int, r: int) -> None:
    rng = np.random.default_rng(n)
    planes = rng.integers(-(2**31), 2**31, (k, n)).astype(np.int32)
    counts = rng.integers(0, 256, (r, n)).astype(np.uint8)
    expected = planes.astype(np.int64) @ counts.T.astype(np.int64)
    np.testing.assert_array_equal(product(planes, counts), expected)


def test_the_largest_entries_do_not_overflow() -> None:
    planes = np.full((4, 300), -(2**31), np.int32)
    counts = np.full((2, 300), 255, np.uint8)
    assert (product(planes, counts) == -(2**31) * 255 * 300).all()


def test_uncompiled_it_is_the_same() -> None:
    rng = np.random.default_rng(1)
    planes = rng.integers(-9, 9, (4, 30)).astype(np.int32)
    counts = rng.integers(0, 4, (2, 30)).astype(np.uint8)
    found = product(planes, counts, products.sum_products.py_func)
    np.testing.assert_array_equal(found, planes.astype(np.int64) @ counts.T.astype(np.int64))
