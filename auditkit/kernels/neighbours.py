"""Neighbours in two or more dimensions: points in blocks of tree order, whole blocks left out by their boxes.

The distance of a query to a point is the sum of squared differences in the order of the coordinates, rounded as it
goes. A box gives a lower bound that is summed in the same order: rounding is monotone, so the bound never exceeds the
computed distance of a point in the box, and leaving a block out can never lose a neighbour, not even at a tie.
Neighbours are ordered by (distance, index of the point).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditkit.kernels.compensated import two_sum
from auditkit.kernels.jit import jit

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

BLOCK = 64
"""Points in a block; a block's coordinates then fit the fastest cache for up to 64 dimensions."""

QUERY_BLOCK = 32
"""Queries that are searched together."""

COLUMNS = 5
"""Columns of a row of moments: weight, mean, uncorrected variance, share of scores below 0, share above 0."""

_CHUNK = 16  # distances looked at together before any is looked at alone


def block_order(points: Floats, block: int) -> Indices:
    """Indices of the points [n, d] such that every run of ``block`` of them is a leaf of a balanced k-d tree.

    A node is cut at a multiple of the block size nearest to its median, across its widest dimension.
    """
    order = np.arange(len(points), dtype=np.int64)
    nodes = [(0, len(points))]
    while nodes:
        start, stop = nodes.pop()
        blocks = -(-(stop - start) // block)
        if blocks < 2:
            continue
        rows = order[start:stop]
        inside = points[rows]
        widest = int(np.argmax(inside.max(axis=0) - inside.min(axis=0)))
        order[start:stop] = rows[np.argsort(inside[:, widest], kind="stable")]
        middle = start + (blocks // 2) * block
        nodes += [(start, middle), (middle, stop)]
    return order


def boxes(points: Floats, block: int) -> tuple[Floats, Floats]:
    """Lowest and highest coordinates of every run of ``block`` points: two arrays [blocks, d]."""
    starts = np.arange(0, len(points), block)
    return np.minimum.reduceat(points, starts, axis=0), np.maximum.reduceat(points, starts, axis=0)


def tiles(points: Floats) -> Floats:
    """Coordinates of points [n, d] in blocks, one coordinate after the other: [blocks, d, BLOCK], padded with 0."""
    n, d = points.shape
    blocks = -(-n // BLOCK)
    padded = np.zeros((blocks * BLOCK, d))
    padded[:n] = points
    return np.ascontiguousarray(padded.reshape(blocks, BLOCK, d).transpose(0, 2, 1))


@jit
def _bounds(
    queries: Floats,
    begin: int,
    size: int,
    low: Floats,
    high: Floats,
    out: Floats,
    total: Floats,
) -> None:
    """Lower bounds of the squared distances of ``size`` queries [d, m] to every box [blocks, d], and their sums."""
    d = queries.shape[0]
    for b in range(low.shape[0]):
        for q in range(size):
            out[b, q] = 0.0
        for k in range(d):
            lowest, highest = low[b, k], high[b, k]
            for q in range(size):
                x = queries[k, begin + q]
                outside = max(max(lowest - x, x - highest), 0.0)
                out[b, q] += outside * outside
        total[b] = 0.0
        for q in range(size):
            total[b] += out[b, q]


@jit
def _distances(tiles: Floats, b: int, queries: Floats, row: int, out: Floats) -> None:
    """Squared distances of a query, a column of [d, m], to the points of a block of [blocks, d, BLOCK].

    Four coordinates a pass, to spare loads and stores; the order of the sum is that of one coordinate a pass.
    """
    d = queries.shape[0]
    for j in range(BLOCK):
        out[j] = 0.0
    k = 0
    while k + 4 <= d:
        q0, q1, q2, q3 = (
            queries[k, row],
            queries[k + 1, row],
            queries[k + 2, row],
            queries[k + 3, row],
        )
        for j in range(BLOCK):
            t0 = tiles[b, k, j] - q0
            t1 = tiles[b, k + 1, j] - q1
            t2 = tiles[b, k + 2, j] - q2
            t3 = tiles[b, k + 3, j] - q3
            out[j] = (((out[j] + t0 * t0) + t1 * t1) + t2 * t2) + t3 * t3
        k += 4
    while k < d:
        q0 = queries[k, row]
        for j in range(BLOCK):
            t0 = tiles[b, k, j] - q0
            out[j] += t0 * t0
        k += 1


@jit
def _append(
    found: Floats, m: int, limit: float, start: int, distance: Floats, position: Indices, row: int, count: int
) -> int:  # fmt: skip
    """Append to a row of candidates the points among ``found`` [m] that are within the limit; the new count."""
    for first in range(0, m, _CHUNK):
        last = min(first + _CHUNK, m)
        inside = 0
        for j in range(first, last):
            inside += found[j] <= limit
        if inside > 0:
            for j in range(first, last):
                distance[row, count] = found[j]
                position[row, count] = start + j
                count += found[j] <= limit
    return count


@jit
def _shrink(
    distance: Floats, position: Indices, index: Indices, count: int, k: int, most: int
) -> tuple[int, float]:
    """Keep the k nearest of ``count`` > k candidates, and up to ``most`` in all; how many, and a limit for them.

    A limit is found by bisection, which counts but moves nothing. It halves the bit patterns of the distances: those of
    numbers that are not negative are ordered like the numbers, so that 63 steps always suffice. Where ties leave more
    than ``most`` within it, the indices of the tied points are bisected likewise.
    """
    bits = distance.view(np.int64)
    low = high = bits[0]
    for i in range(1, count):
        low = min(low, bits[i])
        high = max(high, bits[i])
    low -= 1
    inside = count
    while inside > most and high - low > 1:
        limit = low + ((high - low) >> 1)
        held = 0
        for i in range(count):
            held += bits[i] <= limit
        if held < k:
            low = limit
        else:
            high = limit
            inside = held
    last = _last_tied(bits, position, index, count, high, k) if inside > most else index.size
    kept = 0
    for i in range(count):
        distance[kept] = distance[i]
        position[kept] = position[i]
        near = bits[kept] <= high
        if inside > most:
            near = bits[kept] < high or (near and index[position[kept]] <= last)
        kept += near
    furthest = np.empty(1, np.int64)
    furthest[0] = high
    return kept, float(furthest.view(np.float64)[0])


@jit
def _last_tied(
    bits: Indices, position: Indices, index: Indices, count: int, tie: int, k: int
) -> int:
    """The largest index among the tied points that make the nearer ones k."""
    wanted = k
    for i in range(count):
        wanted -= bits[i] < tie
    low = -1
    high = index.size
    while high - low > 1:
        limit = low + ((high - low) >> 1)
        held = 0
        for i in range(count):
            held += bits[i] == tie and index[position[i]] <= limit
        if held < wanted:
            low = limit
        else:
            high = limit
    return high


@jit
def summarise(scores: Floats, weights: Floats, count: int, moments: Floats) -> None:
    """Weight, weighted mean, uncorrected variance and shares of the first ``count`` scores, into a row of moments."""
    weight, weight_error = 0.0, 0.0
    total, total_error = 0.0, 0.0
    below, below_error = 0.0, 0.0
    above, above_error = 0.0, 0.0
    for i in range(count):
        w = weights[i]
        s = scores[i]
        weight, error = two_sum(weight, w)
        weight_error += error
        total, error = two_sum(total, w * s)
        total_error += error
        if s < 0.0:
            below, error = two_sum(below, w)
            below_error += error
        elif s > 0.0:
            above, error = two_sum(above, w)
            above_error += error
    weight += weight_error
    moments[:] = 0.0
    if not weight > 0.0:
        return
    mean = (total + total_error) / weight
    squares, squares_error = 0.0, 0.0
    for i in range(count):
        deviation = scores[i] - mean
        squares, error = two_sum(squares, weights[i] * (deviation * deviation))
        squares_error += error
    moments[0] = weight
    moments[1] = mean
    moments[2] = (squares + squares_error) / weight
    moments[3] = (below + below_error) / weight
    moments[4] = (above + above_error) / weight


@jit
def quantiles(
    scores: Floats,
    weights: Floats,
    count: int,
    levels: Floats,
    upper: Floats,
    lower: Floats,
) -> None:
    """Weighted quantiles of the first ``count`` scores, for every level, from below and mirrored from above.

    ``upper`` is the smallest score such that the scores up to it hold the level's share of the weight; ``lower`` the
    largest score such that the scores from it on hold that share.
    """
    order = np.argsort(scores[:count], kind="mergesort")
    weight = 0.0
    for i in range(count):
        weight += weights[i]
    for which in range(levels.size):
        # a share that is reached but for rounding is reached
        wanted = levels[which] * weight * (1.0 - 1e-12)
        upper[which] = _reach(scores, weights, order, wanted)
        lower[which] = _reach(scores, weights, order[::-1], wanted)


@jit
def _reach(scores: Floats, weights: Floats, order: Indices, wanted: float) -> float:
    held = 0.0
    for i in order:
        held += weights[i]
        if held >= wanted:
            return float(scores[i])
    return float(scores[order[-1]])


@jit
def nearest(
    queries: Floats, first: int, last: int, tiles: Floats, low: Floats, high: Floats,
    index: Indices, scores: Floats, k: int,
    levels: Floats, moments: Floats, upper: Floats, lower: Floats,
) -> None:  # fmt: skip
    """Moments of the scores of the k nearest points, for the queries first..last.

    Parameters
    ----------
    queries
        [d, m], neighbouring queries side by side, so that they look at the same blocks.
    tiles
        [blocks, d, BLOCK] coordinates of the points in block order, and the boxes of the blocks, ``low`` and ``high``.
    index
        [n] index that breaks ties at equal distance, the smallest first.
    scores
        [n] in block order.
    levels
        [q] shares for the quantiles; may be empty.
    moments, upper, lower
        Written: [m, COLUMNS], [m, q], [m, q].
    """
    n = scores.size
    n_blocks = low.shape[0]
    full = max(k + 1, min(2 * k, n))
    distance = np.empty((QUERY_BLOCK, full + BLOCK + 1))
    position = np.empty((QUERY_BLOCK, full + BLOCK + 1), np.int64)
    count = np.zeros(QUERY_BLOCK, np.int64)
    limit = np.empty(QUERY_BLOCK)
    bound = np.empty((n_blocks, QUERY_BLOCK))
    total = np.empty(n_blocks)
    found = np.empty(BLOCK)
    chosen = np.empty(k)
    weights = np.ones(k)
    for begin in range(first, last, QUERY_BLOCK):
        size = min(QUERY_BLOCK, last - begin)
        count[:] = 0
        limit[:] = np.inf
        _bounds(queries, begin, size, low, high, bound, total)
        for b in np.argsort(total, kind="mergesort"):
            start = b * BLOCK
            m = min(BLOCK, n - start)
            for q in range(size):
                if bound[b, q] > limit[q]:
                    continue
                _distances(tiles, b, queries, begin + q, found)
                count[q] = _append(found, m, limit[q], start, distance, position, q, count[q])
                if count[q] >= full:
                    count[q], limit[q] = _shrink(
                        distance[q], position[q], index, count[q], k, k + (k >> 3)
                    )
        for q in range(size):
            if count[q] > k:
                _shrink(distance[q], position[q], index, count[q], k, k)
            for i in range(k):
                chosen[i] = scores[position[q, i]]
            summarise(chosen, weights, k, moments[begin + q])
            if levels.size > 0:
                quantiles(chosen, weights, k, levels, upper[begin + q], lower[begin + q])


@jit
def within(
    queries: Floats, first: int, last: int, tiles: Floats, low: Floats, high: Floats,
    scores: Floats, radius: float, smooth: bool, levels: Floats,
    moments: Floats, upper: Floats, lower: Floats,
) -> None:  # fmt: skip
    """Moments of the scores of the points within a radius, for the queries first..last; as in ``nearest``.

    Weights are 1 (box), or with ``smooth`` those of Epanechnikov, 1 - (distance / radius)**2. Where no point has
    weight the moments are zero.
    """
    n = scores.size
    n_blocks = low.shape[0]
    limit = radius * radius
    distance = np.empty((1, n + 1))
    position = np.empty((1, n + 1), np.int64)
    bound = np.empty((n_blocks, 1))
    total = np.empty(n_blocks)
    found = np.empty(BLOCK)
    chosen = np.empty(n)
    weights = np.empty(n)
    for q in range(first, last):
        count = 0
        _bounds(queries, q, 1, low, high, bound, total)
        for b in range(n_blocks):
            if total[b] > limit:
                continue
            start = b * BLOCK
            _distances(tiles, b, queries, q, found)
            count = _append(
                found, min(BLOCK, n - start), limit, start, distance, position, 0, count
            )
        for i in range(count):
            chosen[i] = scores[position[0, i]]
            weights[i] = epanechnikov(distance[0, i], limit) if smooth else 1.0
        summarise(chosen, weights, count, moments[q])
        if levels.size > 0 and moments[q, 0] > 0.0:
            quantiles(chosen, weights, count, levels, upper[q], lower[q])


@jit
def epanechnikov(distance: float, limit: float) -> float:
    """Epanechnikov's weight, up to its constant, from a squared distance and a squared radius."""
    return max(0.0, 1.0 - distance / limit)
