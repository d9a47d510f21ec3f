"""Family mappings against brute force and by their sizes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.errors import StatisticsError
from auditkit.statistics.partitions import balanced, clustered, merged


def inertia(points: np.ndarray, labels: np.ndarray) -> float:
    return sum(
        float(((points[labels == k] - points[labels == k].mean(axis=0)) ** 2).sum())
        for k in np.unique(labels)
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [2, 3])
def test_k_means_finds_the_best_clustering_of_all(seed: int, k: int) -> None:
    points = np.random.default_rng(seed).normal(size=(7, 4))
    every = [np.array(p) for p in product(range(k), repeat=7) if len(set(p)) == k]
    smallest = min(inertia(points, labels) for labels in every)
    found = clustered(points, k, seed)
    # 50 starts on 7 points: the optimum, up to the rounding of the distances
    assert inertia(points, found) == pytest.approx(smallest, rel=1e-10)
    assert found[0] == 0
    assert set(found) == set(range(k))


def test_k_means_against_scikit_learn() -> None:
    cluster = pytest.importorskip("sklearn.cluster")
    points = (
        np.random.default_rng(1).normal(size=(19, 60))
        + np.repeat(np.arange(4), [7, 5, 4, 3])[:, None]
    )
    found = clustered(points, 4, 0)
    peer = cluster.KMeans(4, n_init=50, random_state=0).fit(points)
    assert inertia(points, found) == pytest.approx(peer.inertia_, rel=1e-10)


def test_k_means_is_a_matter_of_the_seed_and_refuses_what_it_cannot_do() -> None:
    points = np.random.default_rng(2).normal(size=(6, 3))
    np.testing.assert_array_equal(clustered(points, 3, 5), clustered(points, 3, 5))
    with pytest.raises(StatisticsError, match="found 1, expected at least 2"):
        clustered(np.ones((4, 3)), 2, 0)
    with pytest.raises(StatisticsError, match="missing utilities"):
        clustered(np.array([[1.0], [np.nan]]), 1, 0)


def test_k_means_with_as_many_families_as_profiles() -> None:
    points = np.random.default_rng(3).normal(size=(5, 2))
    np.testing.assert_array_equal(clustered(points, 5, 0), np.arange(5))


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=20), st.integers(1, 6), st.integers(0, 99))
def test_random_mappings_are_balanced(family_of: list[int], k: int, seed: int) -> None:
    given_ = np.array(family_of)
    found = balanced(given_, k, np.random.default_rng(seed))
    np.testing.assert_array_equal(found < 0, given_ < 0)
    sizes = np.bincount(found[found >= 0]) if (found >= 0).any() else np.array([0])
    assert sizes.max() - sizes.min() <= 1
    assert len(sizes) == max(1, min(k, int((given_ >= 0).sum())))


def test_merging_halves_the_number_and_keeps_families_whole() -> None:
    given_ = np.array([3, 3, 3, 3, 0, 0, 1, 2, 2, 2, -1])
    # sizes 4 (3), 2 (0), 1 (1), 3 (2): {0, 1} first, then {0, 1} (3) with {2} (3)
    np.testing.assert_array_equal(merged(given_), [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, -1])
    np.testing.assert_array_equal(merged(np.array([0, 1, 2])), [0, 0, 1])
    np.testing.assert_array_equal(merged(np.array([0, 0])), [0, 0])
