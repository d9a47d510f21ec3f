"""What the audit's pipeline earns where there is nothing to earn: synthetic instances that are all alike.

Each synthetic instance is a resample of one source's costs. The draws of an instance depend on (seed, source,
repetition, instance) alone, so that the work can be cut anywhere.
"""

from __future__ import annotations

import numpy as np

from auditkit.kernels.allocate import allocate_exact, allocate_minorants
from auditkit.kernels.curves import (
    convex_minorant,
    exact_value,
    rises_of_counts,
)
from auditkit.kernels.jit import jit
from auditkit.kernels.orderings import LANES, blocks_curves, replay_curves
from auditkit.kernels.streams import below, stream


@jit
def relative_gain(uniform: float, allocated: float, solved: float) -> float:
    """The gain of one total gap over another in percent; NaN where the uniform one is no more than ``solved``."""
    return 100.0 * (uniform - allocated) / uniform if uniform > solved else np.nan


@jit
def null_gains_exact(
    costs: np.ndarray, depth: int, cap: int, n: int, per_instance: int, seed: np.uint64, source: int, first: int,
    solved: float, weights: np.ndarray, reach: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """In-sample gains, in percent, of the repetitions ``first``, ``first + 1``, ... of one source; exact curves.

    Parameters
    ----------
    costs
        The source's costs, sorted.
    depth, cap, n, per_instance
        Samples, most samples that may be allocated, instances, and budget per instance of the synthetic workload.
    solved
        A mean gap up to this one counts as none; the gain is then NaN.
    weights, reach
        The table of ``weight_table`` for this depth, possibly of a few rows only.
    """
    most = min(depth, len(costs))
    counts = np.empty(len(costs), np.int64)
    rank = np.empty((n, most + 1), np.int32)
    rise = np.empty((n, most))
    rises = np.empty(n, np.int64)
    low = np.empty(n)
    depths = np.full(n, depth)
    caps = np.full(n, cap)
    taken = np.empty(n, np.int64)
    for repetition in range(len(out)):
        uniform = 0.0
        for i in range(n):
            state = stream(seed, source, first + repetition, i)
            counts[:] = 0
            for _ in range(depth):
                state, drawn = below(state, len(costs))
                counts[drawn] += 1
            low[i], rises[i] = rises_of_counts(costs, counts, rank[i], rise[i])
            uniform += exact_value(
                low[i], rank[i], rise[i], rises[i], depth, per_instance, weights, reach
            )
        allocate_exact(rank, rise, rises, depths, caps, n * per_instance, weights, reach, taken)
        allocated = 0.0
        for i in range(n):
            allocated += exact_value(
                low[i], rank[i], rise[i], rises[i], depth, taken[i], weights, reach
            )
        out[repetition] = relative_gain(uniform, allocated, n * solved)


@jit
def null_gains_ordered(
    blocks: bool, costs: np.ndarray, depth: int, cap: int, n: int, per_instance: int, seed: np.uint64, source: int,
    first: int, solved: float, out: np.ndarray,
) -> None:  # fmt: skip
    """The same for the estimators that depend on the order of the samples: ``blocks``, else ``replay``.

    Independent draws come in a random order already.
    """
    samples = np.empty((depth if blocks else cap, LANES))
    state = np.empty(LANES, np.uint64)
    curve = np.empty((n + LANES - 1, cap + 1))
    corner = np.empty((n, cap), np.int32)
    slope = np.empty((n, cap))
    corners = np.empty(n, np.int64)
    taken = np.empty(n, np.int64)
    for repetition in range(len(out)):
        for start in range(0, n, LANES):
            for lane in range(LANES):
                state[lane] = stream(seed, source, first + repetition, start + lane)
            for j in range(len(samples)):
                for lane in range(LANES):
                    state[lane], drawn = below(state[lane], len(costs))
                    samples[j, lane] = costs[drawn]
            if blocks:
                blocks_curves(samples, cap, curve[start : start + LANES])
            else:
                replay_curves(samples, cap, curve[start : start + LANES])
        uniform = 0.0
        for i in range(n):
            corners[i] = convex_minorant(curve[i], cap, corner[i], slope[i])
            uniform += curve[i, per_instance]
        allocate_minorants(corner, slope, corners, n * per_instance, taken)
        allocated = 0.0
        for i in range(n):
            allocated += curve[i, taken[i]]
        out[repetition] = relative_gain(uniform, allocated, n * solved)
