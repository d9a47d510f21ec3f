"""Greedy marginal allocation of a budget over instances with convex best-of-k curves.

One total order decides: larger gain first, on equal gains the lower instance, within an instance the earlier sample.
The first ``budget - n`` steps in that order are taken. Both kernels here return exactly this set; they differ in what
they evaluate.
"""

from __future__ import annotations

import numpy as np

from auditkit.kernels.curves import exact_gain
from auditkit.kernels.jit import jit

# Aiming at the price: gains fall about as k ** (-1 / _DECAY). Only the speed depends on these three.
_DECAY = 0.6
_ROUNDS = 12
_CLOSE = 2  # steps per instance, from where mending step by step is cheaper than aiming again


@jit
def _before(key: np.ndarray, item: np.ndarray, a: int, b: int) -> bool:
    first: bool = key[a] > key[b] or (key[a] == key[b] and item[a] < item[b])
    return first


@jit
def _sift(key: np.ndarray, item: np.ndarray, size: int, at: int) -> None:
    """Let the entry at ``at`` sink to its place in a heap whose first entry has the largest key, then smallest item."""
    while True:
        best = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < size and _before(key, item, child, best):
                best = child
        if best == at:
            return
        key[at], key[best] = key[best], key[at]
        item[at], item[best] = item[best], item[at]
        at = best


@jit
def _heapify(key: np.ndarray, item: np.ndarray, size: int) -> None:
    for at in range(size // 2 - 1, -1, -1):
        _sift(key, item, size, at)


@jit
def _drop_first(key: np.ndarray, item: np.ndarray, size: int) -> int:
    key[0] = key[size - 1]
    item[0] = item[size - 1]
    _sift(key, item, size - 1, 0)
    return size - 1


@jit
def allocate_minorants(
    corner: np.ndarray, slope: np.ndarray, corners: np.ndarray, budget: int, taken: np.ndarray
) -> None:
    """Allocate over convex minorants given by their corners; ``taken`` [n] receives the samples of each instance.

    Between two corners every step gains the same, and from corner to corner less: all segments above the gain of the
    last step are taken whole, and those at this gain share what is left.
    """
    n = len(corners)
    gain = np.empty(corners.sum() - n)
    steps = np.empty(len(gain), np.int64)
    size = 0
    for i in range(n):
        for s in range(corners[i] - 1):
            gain[size] = slope[i, s]
            steps[size] = corner[i, s + 1] - corner[i, s]
            size += 1
    spare = budget - n
    price = _gain_of_step(gain, steps, spare)
    at = np.zeros(n, np.int64)
    for i in range(n):
        while at[i] + 1 < corners[i] and slope[i, at[i]] > price:
            at[i] += 1
        taken[i] = corner[i, at[i]]
        spare -= taken[i] - 1
    for i in range(n):
        if at[i] + 1 < corners[i] and slope[i, at[i]] == price:
            step = min(spare, corner[i, at[i] + 1] - taken[i])
            taken[i] += step
            spare -= step


@jit
def _gain_of_step(gain: np.ndarray, steps: np.ndarray, number: int) -> float:
    """The gain of the step of this number, from 1, if all were sorted with the largest first; both arrays are lost.

    Infinite where the number is 0, and minus infinity where there are fewer steps.
    """
    if number < 1:
        return np.inf
    size = len(gain)
    while size > 0:
        first, middle, last = gain[0], gain[size // 2], gain[size - 1]
        pivot: float = max(min(first, middle), min(max(first, middle), last))
        above = equal = 0
        for s in range(size):
            above += steps[s] if gain[s] > pivot else 0
            equal += steps[s] if gain[s] == pivot else 0
        if above < number <= above + equal:
            return pivot
        larger = number <= above
        if not larger:
            number -= above + equal
        kept = 0
        for s in range(size):
            keep = gain[s] > pivot if larger else gain[s] < pivot
            gain[kept], steps[kept] = gain[s], steps[s]
            kept += keep
        size = kept
    return -np.inf


@jit
def _steps_worth(
    rank: np.ndarray, rise: np.ndarray, count: int, depth: int, cap: int, price: float, guess: int,
    weights: np.ndarray, reach: np.ndarray,
) -> int:  # fmt: skip
    """How many of the steps k = 1 .. cap - 1 gain ``price`` or more: bisection, widening from ``guess``."""
    low = 0  # steps known to be worth it
    high = cap  # the first step known not to be
    step = max(1, guess // 32)
    probe = min(max(guess, 1), cap - 1)
    while low + 1 < high:
        if exact_gain(rank, rise, count, depth, probe, weights, reach) >= price:
            low = probe
            probe = low + step if high == cap else (low + high) // 2
        else:
            high = probe
            probe = high - step if low == 0 else (low + high) // 2
        step *= 2
        probe = min(max(probe, low + 1), high - 1)
    return low


@jit
def allocate_exact(
    rank: np.ndarray, rise: np.ndarray, counts: np.ndarray, depth: np.ndarray, cap: np.ndarray, budget: int,
    weights: np.ndarray, reach: np.ndarray, taken: np.ndarray,
) -> None:  # fmt: skip
    """Allocate over exact curves, evaluating about a dozen points of each instead of all.

    All steps that gain at least some price are the first steps of the order, whatever the price. A price near the
    right one is found first; the few steps too many or too few are then given back or added one by one, in order.
    """
    n = len(counts)
    middle = max(1, budget // n)
    gains = np.zeros(n)
    for i in range(n):
        if cap[i] > 1:
            at = min(middle, cap[i] - 1)
            gains[i] = exact_gain(rank[i], rise[i], counts[i], depth[i], at, weights, reach)
    worth = np.sort(gains[gains > 0])
    price = worth[len(worth) // 2] if len(worth) > 0 else 1.0
    guess = np.empty(n)
    for i in range(n):
        guess[i] = middle * min((gains[i] / price) ** _DECAY, 8.0)
    spare = budget - n
    for _ in range(_ROUNDS):
        spare = budget - n
        for i in range(n):
            steps = 0
            if cap[i] > 1:
                start = min(int(guess[i]), cap[i] - 1)
                steps = _steps_worth(
                    rank[i], rise[i], counts[i], depth[i], cap[i], price, start, weights, reach
                )
            taken[i] = 1 + steps
            spare -= steps
        if -_CLOSE * n <= spare <= _CLOSE * n or len(worth) == 0:
            break
        scale = budget / (budget - spare)
        price *= scale ** (-1 / _DECAY)
        if not 0 < price < np.inf:
            break
        for i in range(n):
            guess[i] = scale * (taken[i] - 1)
    _mend(rank, rise, counts, depth, cap, spare, weights, reach, taken, gains)


@jit
def _mend(
    rank: np.ndarray, rise: np.ndarray, counts: np.ndarray, depth: np.ndarray, cap: np.ndarray, spare: int,
    weights: np.ndarray, reach: np.ndarray, taken: np.ndarray, key: np.ndarray,
) -> None:  # fmt: skip
    """Add the next ``spare`` steps of the order, or give back the last ``-spare``."""
    n = len(counts)
    item = np.empty(n, np.int64)
    sign = 1 if spare > 0 else -1
    size = 0
    for i in range(n):
        step = taken[i] if spare > 0 else taken[i] - 1
        if 1 <= step < cap[i]:
            key[size] = sign * exact_gain(
                rank[i], rise[i], counts[i], depth[i], step, weights, reach
            )
            item[size] = sign * i
            size += 1
    _heapify(key, item, size)
    for _ in range(abs(spare)):
        if size == 0:
            return
        i = sign * item[0]
        taken[i] += sign
        step = taken[i] if spare > 0 else taken[i] - 1
        if 1 <= step < cap[i]:
            key[0] = sign * exact_gain(rank[i], rise[i], counts[i], depth[i], step, weights, reach)
            _sift(key, item, size, 0)
        else:
            size = _drop_first(key, item, size)
