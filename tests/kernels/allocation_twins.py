"""Naive twins of the allocation kernels: one sample at a time, all points of all curves."""

from __future__ import annotations

import heapq

import numpy as np


def greedy_steps(gains: list[list[float]], budget: int) -> list[int]:
    """Take ``budget - n`` single steps in order of (larger gain, lower instance, earlier step)."""
    taken = [1] * len(gains)
    heap = [(-row[0], i) for i, row in enumerate(gains) if row]
    heapq.heapify(heap)
    for _ in range(budget - len(gains)):
        if not heap:
            break
        _, i = heapq.heappop(heap)
        taken[i] += 1
        if taken[i] - 1 < len(gains[i]):
            heapq.heappush(heap, (-gains[i][taken[i] - 1], i))
    return taken


def minorant_gains(curve: np.ndarray) -> list[float]:
    """Gain of each step along the greatest convex minorant of a curve, by the steepest chord from each corner."""
    gains: list[float] = []
    at = 0
    while at < len(curve) - 1:
        slopes = [(curve[at] - curve[j]) / (j - at) for j in range(at + 1, len(curve))]
        best = max(slopes)
        to = at + 1 + max(j for j, slope in enumerate(slopes) if slope == best)
        gains += [best] * (to - at)
        at = to
    return gains
