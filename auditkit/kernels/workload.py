"""Allocation and scores over a whole workload: rows of samples of different depth, padded on the right.

Rows come arranged for their estimator: sorted for ``exact``, as stored for ``blocks``, in a random order for
``replay``.
"""

from __future__ import annotations

import numpy as np

from auditkit.kernels.allocate import allocate_exact, allocate_minorants
from auditkit.kernels.curves import (
    blocks_curve,
    blocks_value,
    convex_minorant,
    exact_value,
    replay_curve,
    replay_value,
    rises_of_sorted,
)
from auditkit.kernels.jit import jit
from auditkit.kernels.streams import random_order

EXACT, BLOCKS, REPLAY = 0, 1, 2


@jit
def curve_values(
    estimator: int, values: np.ndarray, depth: np.ndarray, k: np.ndarray, out: np.ndarray
) -> None:
    """``out[i, j]`` = the curve of row i at ``k[i, j]``."""
    weights = np.empty((0, 0))
    reach = np.empty(0, np.int64)
    rank = np.empty(values.shape[1], np.int32)
    rise = np.empty(values.shape[1])
    for i in range(len(values)):
        count = rises_of_sorted(values[i], depth[i], rank, rise) if estimator == EXACT else 0
        for j in range(k.shape[1]):
            if estimator == EXACT:
                out[i, j] = exact_value(
                    values[i, 0], rank, rise, count, depth[i], k[i, j], weights, reach
                )
            elif estimator == BLOCKS:
                out[i, j] = blocks_value(values[i], depth[i], k[i, j])
            else:
                out[i, j] = replay_value(values[i], k[i, j])


@jit
def allocate_rows(
    estimator: int,
    values: np.ndarray,
    depth: np.ndarray,
    cap: np.ndarray,
    budget: int,
    taken: np.ndarray,
) -> None:
    """Curves, minorants where the curve is not convex by itself, greedy allocation."""
    n = len(values)
    if estimator == EXACT:
        rank = np.empty(values.shape, np.int32)
        rise = np.empty(values.shape)
        counts = np.empty(n, np.int64)
        for i in range(n):
            counts[i] = rises_of_sorted(values[i], depth[i], rank[i], rise[i])
        weights = np.empty((0, 0))
        reach = np.empty(0, np.int64)
        allocate_exact(rank, rise, counts, depth, cap, budget, weights, reach, taken)
        return
    largest = cap.max()
    levels = 1
    while 1 << levels <= largest:
        levels += 1
    scratch = np.empty((levels, values.shape[1]))
    curve = np.empty(largest + 1)
    corner = np.empty((n, largest), np.int32)
    slope = np.empty((n, largest))
    corners = np.empty(n, np.int64)
    for i in range(n):
        if estimator == BLOCKS:
            blocks_curve(values[i], depth[i], cap[i], scratch, curve)
        else:
            replay_curve(values[i], cap[i], curve)
        corners[i] = convex_minorant(curve, cap[i], corner[i], slope[i])
    allocate_minorants(corner, slope, corners, budget, taken)


@jit
def shuffled_rows(
    values: np.ndarray, depth: np.ndarray, seed: np.uint64, first: int, second: int, out: np.ndarray
) -> None:
    """Each row's samples in a random order of its own, which depends on (seed, first, second, row)."""
    order = np.empty(values.shape[1], np.int64)
    for i in range(len(values)):
        random_order(seed, first, second, i, order[: depth[i]])
        for j in range(depth[i]):
            out[i, j] = values[i, order[j]]


@jit
def split_rows(
    values: np.ndarray,
    depth: np.ndarray,
    seed: np.uint64,
    repetition: int,
    one: np.ndarray,
    other: np.ndarray,
) -> None:
    """Each row's samples in two random halves, both in stored order; the odd sample goes to the other half."""
    order = np.empty(values.shape[1], np.int64)
    for i in range(len(values)):
        random_order(seed, repetition, 0, i, order[: depth[i]])
        half = depth[i] // 2
        first = np.sort(order[:half])
        a = 0
        for j in range(depth[i]):
            if a < half and first[a] == j:
                one[i, a] = values[i, j]
                a += 1
            else:
                other[i, j - a] = values[i, j]
