"""Quantiles found from counts against numpy.quantile of the written-out resamples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.kernels.quantiles import jackknife_quantiles, resampled_quantiles


def by_counts(x: np.ndarray, unit_of: np.ndarray, counts: np.ndarray, level: float, start: int):
    order = np.argsort(x, kind="stable")
    values, of = x[order], unit_of[order]
    below = np.array([row[of[:start]].sum() for row in counts.astype(np.int64)])
    total = np.array([row[of].sum() for row in counts.astype(np.int64)])
    found = np.empty(len(counts))
    resampled_quantiles(values, of, start, below, total, counts, level, found)
    return found


def written_out(x: np.ndarray, unit_of: np.ndarray, row: np.ndarray, level: float) -> float:
    resample = np.repeat(x, row[unit_of])
    return float(np.quantile(resample, level)) if len(resample) else np.nan


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=30),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_equals_numpy_from_any_start(x: list[int], level: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.array(x) * 0.1
    units = int(rng.integers(1, len(x) + 1))
    unit_of = rng.integers(0, units, len(x))
    counts = rng.poisson(1, (6, units)).astype(np.uint8)
    start = int(rng.integers(0, len(x) + 1))
    found = by_counts(values, unit_of, counts, level, start)
    expected = [written_out(values, unit_of, row, level) for row in counts]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("level", [0.0, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [2, 3, 10, 11])
def test_jackknife_equals_leaving_out(n: int, level: float) -> None:
    rng = np.random.default_rng(n)
    x = np.sort(rng.normal(size=n).round(1))
    start = round((n - 1) * level)
    unit_of = np.arange(n)
    below = (np.arange(n) < start).astype(np.int64)
    found = np.empty(n)
    jackknife_quantiles(x, unit_of, start, below, np.ones(n, np.int64), level, found)
    np.testing.assert_array_equal(found, [np.quantile(np.delete(x, i), level) for i in range(n)])


def test_jackknife_leaves_out_whole_clusters() -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    unit_of = np.array([0, 1, 0, 2, 2])
    start = 2
    below, size = np.array([1, 1, 0]), np.array([2, 1, 2])
    found = np.empty(3)
    jackknife_quantiles(x, unit_of, start, below, size, 0.5, found)
    assert found.tolist() == [8.0, 6.0, 2.0]
