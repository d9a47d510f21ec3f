"""Best-of-k curves of one instance: the exact expectation, block minima, the running minimum; the convex minorant.

The exact curve is f(k) = sum_j x_(j) C(C-j, k-1) / C(C, k). Summed by parts it has positive terms only,

    f(k)          = x_(1) + (C-k) sum_j   (x_(j+1) - x_(j)) t_j(k)
    f(k) - f(k+1) =               sum_j j (x_(j+1) - x_(j)) t_j(k)

    t_1(k) = 1 / C,    t_{j+1}(k) = t_j(k) (C-j-k) / (C-j)

where (C-k) t_j(k) is the probability that k samples drawn without replacement all rank above j. No binomial is formed,
so nothing overflows; nothing is subtracted, so nothing cancels. Every operation is monotone in k also after rounding:
the computed curve never increases and the computed gains never increase either. The exact curve is convex as it is
and needs no minorant.
"""

from __future__ import annotations

import numpy as np

from auditkit.kernels.jit import jit

NEGLIGIBLE = 2.0**-64
"""Weights below this share of the first one count as zero: the curve errs by less than the range times this."""


@jit
def rises_of_sorted(values: np.ndarray, depth: int, rank: np.ndarray, rise: np.ndarray) -> int:
    """The steps x_(j+1) - x_(j) of sorted costs and their ranks j; returns how many there are."""
    for j in range(1, depth):
        rank[j - 1] = j
        rise[j - 1] = values[j] - values[j - 1]
    return depth - 1


@jit
def rises_of_counts(
    values: np.ndarray, counts: np.ndarray, rank: np.ndarray, rise: np.ndarray
) -> tuple[float, int]:
    """The same for a resample of sorted costs, given as how often each was drawn: no sorting.

    ``rank`` must be one longer than the number of costs drawn. Returns the smallest cost drawn and the number of steps.
    """
    count = 0
    for i in range(len(counts)):
        # written always and kept where drawn: a branch on what is drawn would be mispredicted every other time
        rank[count] = i
        count += min(counts[i], 1)
    here = rank[0]
    low = values[here]
    seen = 0
    for s in range(count - 1):
        there = rank[s + 1]
        seen += counts[here]
        rank[s] = seen
        rise[s] = values[there] - values[here]
        here = there
    return low, count - 1


@jit
def weight_table(depth: int, weights: np.ndarray, reach: np.ndarray) -> None:
    """The weights t_j(k) in ``weights[k, j]``, for curves of one depth; from j = ``reach[k]`` on they count as zero."""
    first = 1.0 / depth
    for k in range(1, len(weights)):
        t = first
        j = 1
        while t >= first * NEGLIGIBLE and j < depth:
            weights[k, j] = t
            t *= (depth - j - k) * (1.0 / (depth - j))
            j += 1
        reach[k] = j


@jit
def exact_sums(
    rank: np.ndarray,
    rise: np.ndarray,
    count: int,
    depth: int,
    k: int,
    weights: np.ndarray,
    reach: np.ndarray,
) -> tuple[float, float]:
    """The sums of ``rise * t`` and of ``rank * rise * t``, for k < depth.

    The weights come from the table where it holds them, else from the recurrence that made the table: the same bits.
    """
    level = 0.0
    gain = 0.0
    if k < len(weights):
        row = weights[k]
        end = reach[k]
        for i in range(count):
            j = rank[i]
            if j >= end:
                break
            part = rise[i] * row[j]
            level += part
            gain += j * part
        return level, gain
    first = 1.0 / depth
    t = first
    j = 1
    for i in range(count):
        while j < rank[i]:
            t *= (depth - j - k) * (1.0 / (depth - j))
            j += 1
        if t < first * NEGLIGIBLE:
            break
        part = rise[i] * t
        level += part
        gain += j * part
    return level, gain


@jit
def exact_value(
    low: float,
    rank: np.ndarray,
    rise: np.ndarray,
    count: int,
    depth: int,
    k: int,
    weights: np.ndarray,
    reach: np.ndarray,
) -> float:
    """f(k): the mean of the smallest of k of the ``depth`` costs, over all subsets."""
    if k >= depth:
        return low
    level, _ = exact_sums(rank, rise, count, depth, k, weights, reach)
    value: float = low + (depth - k) * level
    return value


@jit
def exact_gain(
    rank: np.ndarray,
    rise: np.ndarray,
    count: int,
    depth: int,
    k: int,
    weights: np.ndarray,
    reach: np.ndarray,
) -> float:
    """f(k) - f(k+1), for k < depth."""
    return exact_sums(rank, rise, count, depth, k, weights, reach)[1]


@jit
def blocks_value(values: np.ndarray, depth: int, k: int) -> float:
    """The mean over the floor(depth / k) consecutive blocks of k samples of the block's minimum."""
    total = 0.0
    blocks = depth // k
    for b in range(blocks):
        smallest = values[b * k]
        for i in range(b * k + 1, (b + 1) * k):
            smallest = min(smallest, values[i])
        total += smallest
    return total / blocks


@jit
def blocks_curve(
    values: np.ndarray, depth: int, largest: int, scratch: np.ndarray, out: np.ndarray
) -> None:
    """``out[k]`` for k = 1 .. largest; ``scratch`` [levels, depth] holds the minima of all windows of 1, 2, 4, ..."""
    for i in range(depth):
        scratch[0, i] = values[i]
    width = 1
    level = 0
    for k in range(1, largest + 1):
        if k == 2 * width:
            for i in range(depth - k + 1):
                scratch[level + 1, i] = min(scratch[level, i], scratch[level, i + width])
            level += 1
            width = k
        total = 0.0
        blocks = depth // k
        for b in range(blocks):
            total += min(scratch[level, b * k], scratch[level, (b + 1) * k - width])
        out[k] = total / blocks


@jit
def replay_value(values: np.ndarray, k: int) -> float:
    """The smallest of the first k samples of an ordering."""
    smallest: float = values[0]
    for i in range(1, k):
        smallest = min(smallest, values[i])
    return smallest


@jit
def replay_curve(values: np.ndarray, largest: int, out: np.ndarray) -> None:
    """``out[k]`` for k = 1 .. largest: the running minimum."""
    smallest = values[0]
    for k in range(1, largest + 1):
        smallest = min(smallest, values[k - 1])
        out[k] = smallest


@jit
def convex_minorant(curve: np.ndarray, largest: int, corner: np.ndarray, slope: np.ndarray) -> int:
    """The greatest convex function below ``curve[1 .. largest]``: its corners, and the gain per sample between them.

    Corners are compared by the slopes that the allocation then uses, so that these never increase, rounding included.
    Returns the number of corners; ``slope[s]`` is the gain from ``corner[s]`` to ``corner[s + 1]``.
    """
    corner[0] = 1
    count = 1
    for k in range(2, largest + 1):
        if curve[k] == curve[k - 1] and count > 1 and slope[count - 2] == 0:
            corner[count - 1] = k  # a flat stretch goes on
            continue
        gain = (curve[corner[count - 1]] - curve[k]) / (k - corner[count - 1])
        while count > 1 and slope[count - 2] <= gain:
            count -= 1
            gain = (curve[corner[count - 1]] - curve[k]) / (k - corner[count - 1])
        slope[count - 1] = gain
        corner[count] = k
        count += 1
    return count
