"""Local moments against a naive reference: explicit distances, explicit sorting, explicit sums."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics.local import (
    LocalMoments,
    global_moments,
    local_moments,
    standardisation,
)


def squared_distances(points, query):
    total = np.zeros(len(points))
    for k in range(points.shape[1]):
        total = total + (points[:, k] - query[k]) ** 2
    return total


def naive(points, scores, queries, neighbours=None, radius=None, kernel="box", levels=()):
    """One query at a time; sums by ``math.fsum``, which rounds once."""
    rows, uppers, lowers = [], [], []
    for query in queries:
        distance = squared_distances(points, query)
        if neighbours is not None:
            chosen = np.lexsort((np.arange(len(points)), distance))[:neighbours]
            weights = np.ones(len(chosen))
        else:
            chosen = np.flatnonzero(distance <= radius * radius)
            weights = np.ones(len(chosen))
            if kernel == "epanechnikov":
                weights = np.maximum(0.0, 1 - distance[chosen] / (radius * radius))
        weight = math.fsum(weights)
        s = scores[chosen]
        if weight == 0:
            s, weights = scores, np.ones(len(scores))
        total = math.fsum(weights)
        mean = math.fsum(weights * s) / total
        variance = math.fsum(weights * (s - mean) ** 2) / total
        below = math.fsum(weights[s < 0]) / total
        above = math.fsum(weights[s > 0]) / total
        rows.append([weight, mean, variance, below, above])
        order = np.argsort(s)
        up = [
            s[order][np.argmax(np.cumsum(weights[order]) >= level * total * (1 - 1e-12))]
            for level in levels
        ]
        down = [
            s[order[::-1]][
                np.argmax(np.cumsum(weights[order[::-1]]) >= level * total * (1 - 1e-12))
            ]
            for level in levels
        ]
        uppers.append(up)
        lowers.append(down)
    return LocalMoments(*np.array(rows).T, upper=np.array(uppers), lower=np.array(lowers))


def assert_same(found: LocalMoments, wanted: LocalMoments) -> None:
    # counts and sums of the same set of neighbours: they differ by the last rounding at most
    for name in ("weight", "mean", "variance", "below", "above"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(wanted, name), rtol=1e-12, atol=1e-12, err_msg=name
        )
    np.testing.assert_array_equal(found.upper, wanted.upper)
    np.testing.assert_array_equal(found.lower, wanted.lower)


def sample(n, m, d, seed, *, grid=None):
    rng = np.random.default_rng(seed)
    points, queries = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    if grid is not None:
        points, queries = np.round(points * grid) / grid, np.round(queries * grid) / grid
    scores = np.round(rng.standard_normal(n), 1)
    return points, scores, queries


LEVELS = (0.9, 0.5, 0.6)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 30])
@pytest.mark.parametrize("grid", [None, 2, 1])
@pytest.mark.parametrize("k", [1, 7, 200, 300])
def test_nearest_neighbours_equal_the_reference(d, grid, k):
    """k = 300 is every point; grids 2 and 1 make ties at every distance, and coinciding points."""
    points, scores, queries = sample(300, 70, d, seed=d, grid=grid)
    found = local_moments(points, scores, queries, neighbours=k, levels=LEVELS)
    assert_same(found, naive(points, scores, queries, neighbours=k, levels=LEVELS))


@pytest.mark.parametrize("d", [1, 2, 8, 30])
@pytest.mark.parametrize("kernel", ["box", "epanechnikov"])
@pytest.mark.parametrize("radius", [0.001, 0.5, 1.0, 4.0, 100.0])
def test_kernels_equal_the_reference(d, kernel, radius):
    """On a grid of step 1/2 many points lie at exactly the radius; the smallest radius holds none for most queries."""
    points, scores, queries = sample(300, 70, d, seed=d, grid=2)
    options = {"radius": radius, "kernel": kernel, "levels": LEVELS}
    found = local_moments(points, scores, queries, **options)
    assert_same(found, naive(points, scores, queries, **options))


def test_a_radius_with_no_neighbour_falls_back_to_all_points():
    scores = np.array([1.0, -2.0, 4.0])
    found = local_moments(np.zeros((3, 2)), scores, [[9.0, 9.0]], radius=1.0, levels=(0.5,))
    assert found.fallback.tolist() == [True]
    assert found.mean.tolist() == [1.0]
    assert found.variance.tolist() == [6.0]
    assert found.upper.tolist() == [[1.0]]
    everything = global_moments(scores, (0.5,))
    assert everything.mean.tolist() == [1.0]
    assert everything.variance.tolist() == [6.0]


def test_ties_go_to_the_smallest_index():
    points = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    scores = np.array([8.0, 4.0, 2.0, 1.0])
    for k, total in ((1, 8.0), (2, 12.0), (3, 14.0), (4, 15.0)):
        for columns in (points, np.column_stack([points, np.zeros(4)])):
            query = np.zeros((1, columns.shape[1]))
            assert local_moments(columns, scores, query, neighbours=k).mean[0] * k == total


@pytest.mark.parametrize("grid", [None, 4, 1])
@pytest.mark.parametrize(
    "reach",
    [{"neighbours": 40}, {"radius": 0.5}, {"radius": 0.5, "kernel": "epanechnikov"}],
    ids=["nearest", "box", "epanechnikov"],
)
def test_the_result_does_not_depend_on_the_search(grid, reach):
    """A column of zeros turns the search on a line into the search in blocks, and changes no distance."""
    points, scores, queries = sample(500, 200, 1, seed=3, grid=grid)
    line = local_moments(points, scores, queries, levels=LEVELS, **reach)
    flat = [np.column_stack([x, np.zeros(len(x))]) for x in (points, queries)]
    blocks = local_moments(flat[0], scores, flat[1], levels=LEVELS, **reach)
    assert_same(line, blocks)


@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("reach", [{"neighbours": 30}, {"radius": 0.8, "kernel": "epanechnikov"}])
def test_bits_do_not_depend_on_threads_or_on_the_other_queries(d, reach):
    points, scores, queries = sample(2000, 1500, d, seed=5)
    one = local_moments(points, scores, queries, threads=1, **reach)
    for threads in (2, 5):
        other = local_moments(points, scores, queries, threads=threads, **reach)
        for name in ("weight", "mean", "variance", "below", "above"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    alone = local_moments(points, scores, queries[700:710], threads=1, **reach)
    assert alone.mean.tobytes() == one.mean[700:710].tobytes()
    assert alone.variance.tobytes() == one.variance[700:710].tobytes()


@pytest.mark.parametrize("d", [1, 3])
def test_coinciding_points_are_found_and_ordered_by_index(d):
    """Every distance is a tie, in every block."""
    points, queries = np.ones((1000, d)), np.zeros((5, d))
    found = local_moments(points, np.arange(1000.0), queries, neighbours=10)
    assert found.mean.tolist() == [4.5] * 5
    assert found.variance.tolist() == [8.25] * 5


def test_points_that_differ_at_one_rounded_distance():
    """From 1e17 all points are equally far, though they differ: the smallest indices count."""
    rng = np.random.default_rng(0)
    points, scores = rng.standard_normal((50, 1)), rng.standard_normal(50)
    found = local_moments(points, scores, [[1e17], [-1e17]], neighbours=7, levels=(0.5,))
    assert_same(found, naive(points, scores, np.array([[1e17], [-1e17]]), 7, levels=(0.5,)))
    np.testing.assert_allclose(found.mean, scores[:7].mean(), rtol=1e-14)


def test_running_sums_lose_nothing_by_cancellation():
    """Scores of 1e6 and a spread of 1e-6 near the query: plain sums of squares would leave no digit of the variance."""
    rng = np.random.default_rng(1)
    points = np.arange(4000.0)[:, np.newaxis]
    scores = 1e6 + 1e-6 * rng.standard_normal(4000)
    scores[2000:] *= -1e3
    queries = np.array([[10.0], [500.3], [3000.0]])
    assert_same(
        local_moments(points, scores, queries, neighbours=50), naive(points, scores, queries, 50)
    )
    found = local_moments(points, scores, queries, neighbours=50).variance
    wanted = naive(points, scores, queries, 50).variance
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


coordinates = st.integers(-3, 3).map(float)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_small_sample(data):
    d = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(1, 80))
    row = st.lists(coordinates, min_size=d, max_size=d)
    points = np.array(data.draw(st.lists(row, min_size=n, max_size=n)))
    queries = np.array(data.draw(st.lists(row, min_size=1, max_size=4)))
    scores = np.array(data.draw(st.lists(coordinates, min_size=n, max_size=n)))
    k = data.draw(st.integers(1, n))
    options = (
        {"neighbours": k}
        if data.draw(st.booleans())
        else {"radius": float(k), "kernel": data.draw(st.sampled_from(["box", "epanechnikov"]))}
    )
    assert_same(
        local_moments(points, scores, queries, levels=(0.7,), **options),
        naive(points, scores, queries, levels=(0.7,), **options),
    )


@pytest.mark.parametrize("d", [1, 2])
def test_a_mirrored_score_mirrors_the_moments(d):
    points, scores, queries = sample(200, 50, d, seed=9, grid=2)
    one = local_moments(points, scores, queries, neighbours=11, levels=(0.8,))
    other = local_moments(points, -scores, queries, neighbours=11, levels=(0.8,))
    np.testing.assert_array_equal(other.mean, -one.mean)
    np.testing.assert_array_equal(other.below, one.above)
    np.testing.assert_array_equal(other.upper, -one.lower)


def test_memory_does_not_hold_a_matrix():
    points, scores, queries = sample(6000, 6000, 3, seed=2)
    local_moments(points[:10], scores[:10], queries[:10], neighbours=3)
    tracemalloc.start()
    local_moments(points, scores, queries, neighbours=70, threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000 * 6000 * 8 / 20


def test_progress_reaches_the_end():
    points, scores, queries = sample(50, 1300, 2, seed=2)
    seen = []
    local_moments(points, scores, queries, neighbours=3, progress=lambda *step: seen.append(step))
    assert seen == [
        ("neighbours", 512, 1300),
        ("neighbours", 1024, 1300),
        ("neighbours", 1300, 1300),
    ]


POINTS, SCORES = [[0.0], [1.0]], [1.0, 2.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "found neither"),
        ({"neighbours": 1, "radius": 1.0}, "found both"),
        ({"neighbours": 0}, "expected 1 to 2"),
        ({"neighbours": 3}, "expected 1 to 2"),
        ({"radius": -1.0}, "radius out of range"),
        ({"radius": 1e-200}, "radius out of range"),
        ({"radius": 1.0, "kernel": "round"}, "found 'round', expected box or epanechnikov"),
        ({"neighbours": 1, "levels": (0.0,)}, "level out of range"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(UsageError, match=message):
        local_moments(POINTS, SCORES, POINTS, **options)


@pytest.mark.parametrize(
    ("points", "scores", "queries", "message"),
    [
        ([[0.0], [np.nan]], SCORES, POINTS, "missing or infinite"),
        (POINTS, [1.0, np.inf], POINTS, "missing or infinite"),
        (POINTS, [1.0], POINTS, "shapes do not fit"),
        (POINTS, SCORES, [[1.0, 2.0]], "shapes do not fit"),
        (np.zeros((0, 1)), [], POINTS, "no point"),
        (POINTS, [1e200, 1.0], POINTS, "too large to square"),
    ],
)
def test_samples_that_cannot_be_searched(points, scores, queries, message):
    with pytest.raises(StatisticsError, match=message):
        local_moments(points, scores, queries, neighbours=1)


def test_standardisation_drops_what_does_not_vary():
    rows = np.array([[1.0, 7.0, 1e300, 5e-324], [3.0, 7.0, -1e300, 5e-324]])
    s = standardisation(rows)
    assert s.kept.tolist() == [True, False, True, False]
    np.testing.assert_allclose(s.apply(rows), [[-1, 1], [1, -1]])
    rng = np.random.default_rng(0)
    many = rng.normal(5, 3, (100, 2))
    np.testing.assert_allclose(
        standardisation(many).apply(many), (many - many.mean(0)) / many.std(0), rtol=1e-12
    )
