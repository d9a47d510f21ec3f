"""Neighbours in two or more dimensions: points in blocks of tree order, whole blocks left out by their boxes.

The distance of a query to a point is the sum of squared differences in the order of the coordinates, rounded as it
goes. A box gives a lower bound that is summed in the same order: rounding is monotone, so the bound never exceeds the
computed distance of a point in the box, and leaving a block out can never lose a neighbour, not even at a tie.
Neighbours are ordered by (distance, index of the point).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from auditkit.kernels import vectors
from auditkit.kernels.compensated import two_sum
from auditkit.kernels.jit import jit
from auditkit.kernels.vectors import Value, Variable

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

BLOCK = 64
"""Points in a block, as many as a word has bits; its coordinates fit the fastest cache for up to 64 dimensions."""

QUERY_BLOCK = 32
"""Queries that are searched together."""

COLUMNS = 5
"""Columns of a row of moments: weight, mean, uncorrected variance, share of scores below 0, share above 0."""

_LANES = 32  # distances summed at once
_ALL = np.uint64(2**BLOCK - 1)


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


def _generate_distances(
    typing: Any, tiles: Any, b: Any, queries: Any, column: Any, limit: Any, out: Any
) -> Any:
    """Squared distances of a query, a column of [d, m], to the points of a block of [blocks, d, BLOCK].

    Returns a word with a bit for each that is within the limit.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        inside, points, found = (
            vectors.Array(context, builder, signature.args[i], arguments[i]) for i in (0, 2, 5)
        )
        block, query, most = (Value(builder, arguments[i]) for i in (1, 3, 4))
        word, number = ir.IntType(BLOCK), ir.DoubleType()
        lanes = ir.VectorType(number, _LANES)
        near = Value(builder, word(0))
        for first in range(0, BLOCK, _LANES):
            total = Variable(Value(builder, lanes([0.0] * _LANES)))
            with vectors.loop(points.rows.like(0), points.rows, 1) as k:
                x = points.load(number, k, query).spread(_LANES)
                apart = inside.load(lanes, block, k, first) - x
                total.set(total.get() + apart * apart)
            found.store(total.get(), first)
            bits = total.get().compare("<=", most.spread(_LANES))
            near = near | bits.to(ir.IntType(_LANES), "bitcast").to(word, "zext") * (1 << first)
        return near.value

    return types.uint64(tiles, b, queries, column, limit, out), generate


_distances: Any = intrinsic(_generate_distances)


def _generate_lowest(typing: Any, word: Any) -> Any:
    """The place of the lowest bit of a word that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(word), generate


_lowest: Any = intrinsic(_generate_lowest)


@jit
def _append(
    found: Floats, near: np.uint64, start: int, distance: Floats, position: Indices, row: int, count: int
) -> int:  # fmt: skip
    """Append to a row of candidates the points among ``found`` that have a bit in ``near``; the new count."""
    while near != 0:
        j = _lowest(near)
        distance[row, count] = found[j]
        position[row, count] = start + j
        count += 1
        near &= near - np.uint64(1)
    return count


@jit
def _present(block: int, n: int) -> np.uint64:
    """A word with a bit for each point of a block; the last of them may not be full."""
    missing = (block + 1) * BLOCK - n
    return _ALL >> np.uint64(max(missing, 0))


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
    queries: Floats, order: Indices, first: int, last: int,
    tiles: Floats, low: Floats, high: Floats, index: Indices, scores: Floats, k: int,
    levels: Floats, moments: Floats, upper: Floats, lower: Floats,
) -> None:  # fmt: skip
    """Moments of the scores of the k nearest points, for the queries first..last.

    Parameters
    ----------
    queries
        [d, m], neighbouring queries side by side, so that they look at the same blocks.
    order
        [m] which row each query has in the output.
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
            present = _present(b, n)
            for q in range(size):
                if bound[b, q] > limit[q]:
                    continue
                near = _distances(tiles, b, queries, begin + q, limit[q], found) & present
                count[q] = _append(found, near, b * BLOCK, distance, position, q, count[q])
                if count[q] >= full:
                    count[q], limit[q] = _shrink(
                        distance[q], position[q], index, count[q], k, k + (k >> 3)
                    )
        for q in range(size):
            if count[q] > k:
                _shrink(distance[q], position[q], index, count[q], k, k)
            for i in range(k):
                chosen[i] = scores[position[q, i]]
            row = order[begin + q]
            summarise(chosen, weights, k, moments[row])
            if levels.size > 0:
                quantiles(chosen, weights, k, levels, upper[row], lower[row])


@jit
def within(
    queries: Floats, order: Indices, first: int, last: int,
    tiles: Floats, low: Floats, high: Floats, scores: Floats, radius: float, smooth: bool,
    levels: Floats, moments: Floats, upper: Floats, lower: Floats,
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
            near = _distances(tiles, b, queries, q, limit, found) & _present(b, n)
            count = _append(found, near, b * BLOCK, distance, position, 0, count)
        for i in range(count):
            chosen[i] = scores[position[0, i]]
            weights[i] = epanechnikov(distance[0, i], limit) if smooth else 1.0
        row = order[q]
        summarise(chosen, weights, count, moments[row])
        if levels.size > 0 and moments[row, 0] > 0.0:
            quantiles(chosen, weights, count, levels, upper[row], lower[row])


@jit
def epanechnikov(distance: float, limit: float) -> float:
    """Epanechnikov's weight, up to its constant, from a squared distance and a squared radius."""
    return max(0.0, 1.0 - distance / limit)
