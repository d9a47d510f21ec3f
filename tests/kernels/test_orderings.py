"""Curves of several orderings at once against those of one, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.kernels import curves
from auditkit.kernels.orderings import LANES, blocks_curves, replay_curves


@given(st.integers(1, 70), st.integers(0, 2**32), st.booleans(), st.data())
def test_every_lane_has_the_bits_of_one_ordering(
    depth: int, seed: int, tied: bool, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    samples = random.normal(0, 5, (depth, LANES))
    samples = np.round(samples) if tied else samples
    largest = data.draw(st.integers(1, depth))
    found, expected = np.empty((2, LANES, largest + 1))
    blocks_curves(samples.copy(), largest, found)
    for lane in range(LANES):
        ordering = samples[:, lane].copy()
        curves.blocks_curve(ordering, depth, largest, np.empty((8, depth)), expected[lane])
    np.testing.assert_array_equal(found[:, 1:], expected[:, 1:])
    replay_curves(samples, largest, found)
    np.testing.assert_array_equal(found[:, 1:], np.minimum.accumulate(samples[:largest]).T)


@pytest.mark.parametrize("depth", [1000, 4097])
def test_deep_orderings(depth: int) -> None:
    samples = np.random.default_rng(1).lognormal(3, 1, (depth, LANES))
    found, expected = np.empty((LANES, depth // 2 + 1)), np.empty(depth // 2 + 1)
    blocks_curves(samples.copy(), depth // 2, found)
    scratch = np.empty((13, depth))
    for lane in range(LANES):
        curves.blocks_curve(samples[:, lane].copy(), depth, depth // 2, scratch, expected)
        np.testing.assert_array_equal(found[lane, 1:], expected[1:])
