"""The kernels of the local moments, piece by piece, compiled and not."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditkit.kernels import line, neighbours
from auditkit.kernels.compensated import add, running_sums, two_product, two_sum, variance_of_sums

floats = st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-100)


@settings(deadline=None)
@given(floats, floats)
def test_sum_and_product_lose_nothing(a, b):
    total, error = two_sum(a, b)
    assert total == a + b
    assert Fraction(total) + Fraction(error) == Fraction(a) + Fraction(b)
    product, error = two_product(a, b)
    assert product == a * b
    assert Fraction(product) + Fraction(error) == Fraction(a) * Fraction(b)


@settings(deadline=None)
@given(st.lists(floats, min_size=1, max_size=30))
def test_running_sums_carry_their_error(values):
    """Two doubles hold about 2**-104 of what was added; a plain sum loses 2**-53 a step."""
    for squares in (False, True):
        terms = [Fraction(v) ** (1 + squares) for v in values]
        high, low = running_sums(np.array(values), squares)
        for j in range(len(values) + 1):
            error = Fraction(high[j]) + Fraction(low[j]) - sum(terms[:j])
            assert abs(error) <= len(values) * sum(map(abs, terms)) * Fraction(1, 2**100)


def test_order_of_a_sum_does_not_matter():
    values = np.array([1e16, 1.0, -1e16, 1.0])
    for order in ([0, 1, 2, 3], [1, 3, 0, 2], [0, 2, 1, 3]):
        high, low = 0.0, 0.0
        for v in values[order]:
            high, low = add(high, low, v, 0.0)
        assert high + low == 2.0


def test_variance_from_sums_does_not_cancel():
    values = 1e8 + np.array([0.0, 1.0, 2.0, 3.0])
    first, second = running_sums(values, False), running_sums(values, True)
    found = variance_of_sums(4.0, first[0][4], first[1][4], second[0][4], second[1][4])
    assert found == 1.25


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("grid", [None, 1])
def test_blocks_hold_every_point_once_inside_their_box(n, grid):
    points = np.random.default_rng(n).normal(size=(n, 3))
    if grid:
        points = np.round(points)
    order = neighbours.block_order(points, neighbours.BLOCK)
    assert sorted(order) == list(range(n))
    low, high = neighbours.boxes(points[order], neighbours.BLOCK)
    assert len(low) == -(-n // neighbours.BLOCK)
    for b in range(len(low)):
        inside = points[order[b * neighbours.BLOCK : (b + 1) * neighbours.BLOCK]]
        np.testing.assert_array_equal(low[b], inside.min(axis=0))
        np.testing.assert_array_equal(high[b], inside.max(axis=0))
    tiles = neighbours.tiles(points[order])
    back = tiles.transpose(0, 2, 1).reshape(-1, 3)[:n]
    np.testing.assert_array_equal(back, points[order])


def test_a_bound_never_exceeds_a_distance():
    """Not even by rounding, for leaving a block out must be safe at ties."""
    rng = np.random.default_rng(0)
    for scale in (1.0, 1e-9, 1e9):
        points, queries = scale * rng.normal(size=(640, 5)), scale * rng.normal(size=(5, 32))
        order = neighbours.block_order(points, neighbours.BLOCK)
        low, high = neighbours.boxes(points[order], neighbours.BLOCK)
        tiles = neighbours.tiles(points[order])
        bound, total = np.empty((len(low), 32)), np.empty(len(low))
        neighbours._bounds(queries, 0, 32, low, high, bound, total)
        found = np.empty(neighbours.BLOCK)
        for b in range(len(low)):
            for q in range(32):
                distances_to_a_block(tiles, b, queries, q, np.inf, found)
                assert bound[b, q] <= found.min()


@numba.njit
def distances_to_a_block(tiles, b, queries, q, limit, found):
    return neighbours._distances(tiles, b, queries, q, limit, found)


@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_distances_are_summed_in_order_and_compared_with_the_limit(d):
    rng = np.random.default_rng(d)
    points, queries = rng.normal(size=(2 * neighbours.BLOCK, d)), rng.normal(size=(d, 3))
    tiles = neighbours.tiles(points)
    found = np.empty(neighbours.BLOCK)
    for b in range(2):
        for q in range(3):
            expected = np.zeros(neighbours.BLOCK)
            for k in range(d):
                expected += (tiles[b, k] - queries[k, q]) ** 2
            limit = np.sort(expected)[20]  # reached by one of them
            near = int(distances_to_a_block(tiles, b, queries, q, limit, found))
            np.testing.assert_array_equal(found, expected)
            bits = [near >> j & 1 for j in range(neighbours.BLOCK)]
            assert bits == (expected <= limit).tolist()
            assert sum(bits) == 21


@settings(deadline=None)
@given(st.lists(st.integers(0, 6), min_size=3, max_size=60), st.data())
def test_shrinking_keeps_the_nearest(distances, data):
    count = len(distances)
    k = data.draw(st.integers(1, count - 1))
    most = data.draw(st.integers(k, count))
    index = np.array(data.draw(st.permutations(range(count))))
    distance, position = np.array(distances, dtype=float), np.arange(count)
    kept, limit = neighbours._shrink(distance, position, index, count, k, most)
    assert k <= kept <= max(k, most)
    wanted = sorted(range(count), key=lambda i: (distances[i], index[i]))[:k]
    assert set(wanted) <= set(position[:kept].tolist())
    assert all(distances[p] == d for p, d in zip(position[:kept], distance[:kept], strict=True))
    assert distance[:kept].max() <= limit
    assert sum(d <= limit for d in distances) >= k


@settings(deadline=None)
@given(
    st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=40),
    st.integers(-8, 8).map(lambda x: x / 2),
    st.data(),
)
def test_slices_hold_the_nearest(points, query, data):
    k = data.draw(st.integers(1, len(points)))
    index = np.argsort(points, kind="stable").astype(np.int64)
    ordered = np.array(points)[index]
    slices = np.zeros((3, 2), np.int64)
    start = line._window(ordered, query, k)
    assert line._slices(ordered, index, query, k, start, slices)
    chosen = {int(index[i]) for start, stop in slices for i in range(start, stop)}
    wanted = sorted(range(len(points)), key=lambda i: ((points[i] - query) ** 2, i))[:k]
    assert chosen == set(wanted)


CODE = """
import numpy as np
from auditkit.statistics.local import local_moments
rng = np.random.default_rng(0)
for d in (1, 2):
    x, q = np.round(rng.normal(size=(90, d)), 1), np.round(rng.normal(size=(20, d)), 1)
    s = np.round(rng.normal(size=90), 1)
    for reach in ({"neighbours": 7}, {"radius": 0.5}, {"radius": 0.5, "kernel": "epanechnikov"}):
        m = local_moments(x, s, q, levels=(0.8,), threads=1, **reach)
        print(*(v.tobytes().hex() for v in (m.weight, m.mean, m.variance, m.below, m.above, m.upper, m.lower)))
"""


def test_bits_do_not_depend_on_the_processor():
    """Compiled for one without wide registers and fused multiplication, and for this one."""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", CODE], env={**os.environ, **machine},
            capture_output=True, text=True, check=True,
        ).stdout
        for machine in ({}, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""})
    ]  # fmt: skip
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 6
