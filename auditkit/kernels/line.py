"""Neighbours in one dimension: sorted points, a window that slides, sums of a window from running sums.

Distances are squared differences rounded as in ``neighbours``, and ties are broken alike, by the index of the point,
so that both find the same neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditkit.kernels.compensated import add, running_sums, variance_of_sums
from auditkit.kernels.jit import jit
from auditkit.kernels.neighbours import epanechnikov, quantiles, summarise

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@jit
def totals(scores: Floats) -> tuple[Floats, Indices]:
    """Running totals of the scores [n]: sums and sums of squares [4, n + 1], counts below and above 0 [2, n + 1]."""
    n = scores.size
    sums = np.empty((4, n + 1))
    sums[0], sums[1] = running_sums(scores, False)
    sums[2], sums[3] = running_sums(scores, True)
    counts = np.zeros((2, n + 1), np.int64)
    for i in range(n):
        counts[0, i + 1] = counts[0, i] + (scores[i] < 0.0)
        counts[1, i + 1] = counts[1, i] + (scores[i] > 0.0)
    return sums, counts


@jit
def _distance(point: float, query: float) -> float:
    apart = point - query
    return apart * apart


@jit
def _moves_right(points: Floats, query: float, k: int, start: int) -> bool:
    """Whether the window of k points from ``start`` gets nearer to the query by one step to the right."""
    left, right = points[start], points[start + k]
    return right <= query or (left < query and _distance(right, query) < _distance(left, query))


@jit
def _window(points: Floats, query: float, k: int) -> int:
    """Where the window of k nearest points starts; at equal distance the left ones are taken."""
    low = 0
    high = points.size - k
    while low < high:
        start = (low + high) >> 1
        if _moves_right(points, query, k, start):
            low = start + 1
        else:
            high = start
    return low


@jit
def _edges(points: Floats, query: float, reach: float) -> tuple[int, int, int, int]:
    """Bounds of the points at most at a squared distance, and of those nearer: outer start, start, stop, outer stop."""
    middle = int(np.searchsorted(points, query, side="right"))
    outer_start = _first(points, query, reach, 0, middle, True, True)
    start = _first(points, query, reach, 0, middle, True, False)
    stop = _first(points, query, reach, middle, points.size, False, False)
    outer_stop = _first(points, query, reach, middle, points.size, False, True)
    return outer_start, start, stop, outer_stop


@jit
def _first(
    points: Floats, query: float, reach: float, low: int, high: int, inside: bool, closed: bool
) -> int:
    """First position in low..high whose point is inside the reach (or outside of it), on one side of the query."""
    while low < high:
        middle = (low + high) >> 1
        distance = _distance(points[middle], query)
        within = distance <= reach if closed else distance < reach
        if within == inside:
            high = middle
        else:
            low = middle + 1
    return low


@jit
def _of_left_run(
    index: Indices, left: int, n_left: int, right: int, n_right: int, wanted: int
) -> int:
    """How many of the ``wanted`` smallest indices lie in the left one of two runs that are sorted by index."""
    low = max(0, wanted - n_right)
    high = min(n_left, wanted)
    while low < high:
        taken = (low + high) >> 1
        if index[left + taken] < index[right + wanted - taken - 1]:
            low = taken + 1
        else:
            high = taken
    return low


@jit
def _slices(points: Floats, index: Indices, query: float, k: int, start: int, out: Indices) -> bool:
    """The k nearest points as slices (start, stop) in ``out`` [3, 2], from the ``start`` of their window.

    False where that cannot be: different points at the same rounded distance, too many of them. The slices are then
    the strictly nearer points, and the tied ones on the left and on the right.
    """
    stop = start + k
    out[:] = 0
    out[0, 0], out[0, 1] = start, stop
    reach = max(_distance(points[start], query), _distance(points[stop - 1], query))
    tied = (start > 0 and _distance(points[start - 1], query) == reach) or (
        stop < points.size and _distance(points[stop], query) == reach
    )
    if not tied:
        return True
    outer_start, start, stop, outer_stop = _edges(points, query, reach)
    wanted = k - (stop - start)
    n_left, n_right = start - outer_start, outer_stop - stop
    out[0, 0], out[0, 1] = start, stop
    out[1, 0], out[1, 1] = outer_start, start
    out[2, 0], out[2, 1] = stop, outer_stop
    if n_left > 0 and points[outer_start] != points[start - 1]:
        return False
    if n_right > 0 and points[stop] != points[outer_stop - 1]:
        return False
    taken = _of_left_run(index, outer_start, n_left, stop, n_right, wanted)
    out[1, 1] = outer_start + taken
    out[2, 1] = stop + wanted - taken
    return True


@jit
def _sum_slices(slices: Indices, sums: Floats, counts: Indices, moments: Floats, row: int) -> None:
    """Moments of the scores in the slices, each counting once, into a row."""
    weight, below, above = 0, 0, 0
    first, first_low, second, second_low = 0.0, 0.0, 0.0, 0.0
    for piece in range(slices.shape[0]):
        i, j = slices[piece, 0], slices[piece, 1]
        if j <= i:
            continue
        weight += j - i
        below += counts[0, j] - counts[0, i]
        above += counts[1, j] - counts[1, i]
        high, low = add(sums[0, j], sums[1, j], -sums[0, i], -sums[1, i])
        first, first_low = add(first, first_low, high, low)
        high, low = add(sums[2, j], sums[3, j], -sums[2, i], -sums[3, i])
        second, second_low = add(second, second_low, high, low)
    moments[row] = 0.0
    if weight > 0:
        moments[row, 0] = weight
        moments[row, 1] = (first + first_low) / weight
        moments[row, 2] = variance_of_sums(float(weight), first, first_low, second, second_low)
        moments[row, 3] = below / weight
        moments[row, 4] = above / weight


@jit
def _gather(slices: Indices, scores: Floats, out: Floats) -> int:
    count = 0
    for piece in range(slices.shape[0]):
        for i in range(slices[piece, 0], slices[piece, 1]):
            out[count] = scores[i]
            count += 1
    return count


@jit
def _gather_tied(slices: Indices, index: Indices, scores: Floats, k: int, out: Floats) -> None:
    """Scores of the strictly nearer points and of the tied ones with the smallest indices, k in all."""
    count = _gather(slices[:1], scores, out)
    low = -1
    high = index.size
    while high - low > 1:
        limit = low + ((high - low) >> 1)
        held = 0
        for piece in range(1, 3):
            for i in range(slices[piece, 0], slices[piece, 1]):
                held += index[i] <= limit
        if count + held < k:
            low = limit
        else:
            high = limit
    for piece in range(1, 3):
        for i in range(slices[piece, 0], slices[piece, 1]):
            if index[i] <= high:
                out[count] = scores[i]
                count += 1


@jit
def nearest_on_line(
    queries: Floats, order: Indices, first: int, last: int,
    points: Floats, index: Indices, scores: Floats, sums: Floats, counts: Indices, k: int,
    levels: Floats, moments: Floats, upper: Floats, lower: Floats,
) -> None:  # fmt: skip
    """Moments of the scores of the k nearest points, for the queries first..last.

    Parameters
    ----------
    queries
        [m], ascending, so that the window slides.
    order
        [m] which row each query has in the output.
    points, index, scores
        [n], sorted by (point, index); ``sums`` and ``counts`` are the ``totals`` of the scores.
    k, levels, moments, upper, lower
        As in ``neighbours.nearest``.
    """
    slices = np.zeros((3, 2), np.int64)
    chosen = np.empty(k)
    weights = np.ones(k)
    start = _window(points, queries[first], k)
    for q in range(first, last):
        while start + k < points.size and _moves_right(points, queries[q], k, start):
            start += 1
        row = order[q]
        clean = _slices(points, index, queries[q], k, start, slices)
        if clean:
            _sum_slices(slices, sums, counts, moments, row)
        else:
            _gather_tied(slices, index, scores, k, chosen)
            summarise(chosen, weights, k, moments[row])
        if levels.size > 0:
            if clean:
                _gather(slices, scores, chosen)
            quantiles(chosen, weights, k, levels, upper[row], lower[row])


@jit
def within_on_line(
    queries: Floats, order: Indices, first: int, last: int,
    points: Floats, scores: Floats, sums: Floats, counts: Indices, radius: float, smooth: bool,
    levels: Floats, moments: Floats, upper: Floats, lower: Floats,
) -> None:  # fmt: skip
    """Moments of the scores of the points within a radius, for the queries first..last; as in ``neighbours.within``."""
    limit = radius * radius
    slices = np.zeros((1, 2), np.int64)
    for q in range(first, last):
        row = order[q]
        start, _, _, stop = _edges(points, queries[q], limit)
        chosen = scores[start:stop]
        weights = np.ones(stop - start)
        if smooth:
            for i in range(start, stop):
                weights[i - start] = epanechnikov(_distance(points[i], queries[q]), limit)
            summarise(chosen, weights, stop - start, moments[row])
        else:
            slices[0, 0], slices[0, 1] = start, stop
            _sum_slices(slices, sums, counts, moments, row)
        if levels.size > 0 and moments[row, 0] > 0.0:
            quantiles(chosen, weights, stop - start, levels, upper[row], lower[row])
