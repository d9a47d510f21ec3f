"""Partition and deployed scores of every instance and repetition (docs/fidelity.md)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditkit.kernels.jit import jit

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@jit
def decomposed_scores(
    utility: Floats,
    penalty: Floats,
    starts: Indices,
    members: Indices,
    family_choice: Indices,
    within_choice: Indices,
    first: int,
    last: int,
    partition: Floats,
    deployed: Floats,
    family_range: Floats,
    violation: Floats,
    regret: Floats,
    within_regret: Floats,
) -> None:
    """Fill instances ``first`` to ``last`` of the six outputs of a decomposed pipeline.

    Parameters
    ----------
    utility
        [n, A]; NaN = not measured.
    penalty
        [n]; NaN = none.
    starts, members
        Family k holds the algorithms ``members[starts[k]:starts[k + 1]]``.
    family_choice, within_choice
        [R, n] and [R, n, K]; -1 = none.
    first, last
        The instances to work on.
    partition, deployed, family_range, violation, regret, within_regret
        [R, n], written. ``violation`` is 0 or 1. ``regret`` is the best family's deployed utility minus the deployed
        one; ``within_regret`` the largest difference between a member of the chosen family and the deployed utility.
    """
    n_families = starts.size - 1
    highest = np.empty(n_families)
    lowest = np.empty(n_families)
    for i in range(first, last):
        for k in range(n_families):
            high = -np.inf
            low = np.inf
            for j in range(starts[k], starts[k + 1]):
                u = utility[i, members[j]]
                if u > high:  # never true of NaN
                    high = u
                if u < low:
                    low = u
            highest[k] = high
            lowest[k] = low
        for r in range(family_choice.shape[0]):
            s = family_choice[r, i]
            score = penalty[i]
            run = penalty[i]
            spread = 0.0
            if s >= 0 and highest[s] > -np.inf:
                score = highest[s]
                spread = highest[s] - lowest[s]
            if s >= 0 and within_choice[r, i, s] >= 0:
                u = utility[i, within_choice[r, i, s]]
                run = u if u == u else run
            best = run
            for k in range(n_families):
                a = within_choice[r, i, k]
                u = utility[i, a]  # a = -1 reads the last column, and is not counted
                best = u if (a >= 0) & (u > best) else best  # no branch: half of them would miss
            # a route to the gap that does not pass through the partition score
            lost = -np.inf
            if s >= 0:
                for j in range(starts[s], starts[s + 1]):
                    difference = utility[i, members[j]] - run
                    if difference > lost:
                        lost = difference
            partition[r, i] = score
            deployed[r, i] = run
            family_range[r, i] = spread
            violation[r, i] = 1.0 if best > run else 0.0
            regret[r, i] = best - run
            within_regret[r, i] = lost if lost > -np.inf else 0.0


@jit
def flat_scores(
    utility: Floats,
    penalty: Floats,
    algorithm_choice: Indices,
    first: int,
    last: int,
    deployed: Floats,
    violation: Floats,
    regret: Floats,
) -> None:
    """Fill instances ``first`` to ``last`` of a flat pipeline, each algorithm being a family of its own.

    ``utility`` [n, A], ``penalty`` [n], ``algorithm_choice`` [R, n] with -1 = none; the outputs [R, n] are written.
    """
    for i in range(first, last):
        highest = -np.inf
        for a in range(utility.shape[1]):
            if utility[i, a] > highest:
                highest = utility[i, a]
        for r in range(algorithm_choice.shape[0]):
            run = penalty[i]
            a = algorithm_choice[r, i]
            if a >= 0 and utility[i, a] == utility[i, a]:
                run = utility[i, a]
            deployed[r, i] = run
            violation[r, i] = 1.0 if highest > run else 0.0
            regret[r, i] = max(highest, run) - run
