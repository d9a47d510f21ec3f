"""Who wins a dataset within a tolerance, and what a search chose after each candidate.

Scores are oriented: higher is better. A missing score is NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditkit.kernels.jit import jit

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

NOISE = 4 * 2.0**-52
"""Scores closer than this, relative to the larger, differ by rounding alone."""


@jit
def compare(a: float, b: float, tie: float) -> int:
    """1 where ``a`` is better than ``b`` by more than ``tie``, -1 where it is worse, else 0.

    A score is better than a missing one.
    """
    difference = a - b
    if np.isnan(difference):
        return int(np.isnan(b)) - int(np.isnan(a))
    limit = max(tie, NOISE * max(abs(a), abs(b)))
    return int(difference > limit) - int(-difference > limit)


@jit
def rank_records(score: Floats, tie: float, winner: Indices, rank: Floats) -> None:
    """Winner and ranks of each record of ``score`` [n, S].

    ``winner`` [n] is the system that beats all others, or S where none does. ``rank`` [n, S] is
    1 + (systems that beat it) + (systems tied with it) / 2, which is the averaged rank wherever
    ties are transitive.
    """
    n, S = score.shape
    for i in range(n):
        rank[i, :] = (S + 1) / 2
        for a in range(S):
            for b in range(a + 1, S):
                half = compare(score[i, a], score[i, b], tie) / 2
                rank[i, a] -= half
                rank[i, b] += half
        winner[i] = S
        for a in range(S):
            if rank[i, a] == 1:
                winner[i] = a


@jit
def count_wins(score: Floats, rows: Indices, tie: float, wins: Indices) -> None:
    """Add to ``wins`` [S, S] on how many of the ``rows`` system a beats system b."""
    S = score.shape[1]
    for i in rows:
        for a in range(S):
            for b in range(a + 1, S):
                ahead = compare(score[i, a], score[i, b], tie)
                wins[a, b] += ahead > 0
                wins[b, a] += ahead < 0


@jit
def follow_traces(
    validation: Floats,
    test: Floats,
    bias: Floats,
    ends: Floats,
    spread: Floats,
    length: Indices,
    scored: Indices,
) -> None:
    """Selection bias after each candidate of each trace of ``validation`` and ``test`` [n, C].

    ``bias`` [n, C]: best test score so far minus the test score of the best validation score so
    far (first on ties); NaN beyond the trace, before the first candidate that can be chosen, and
    while the test score of the chosen one is missing. ``ends`` [n, 2]: the two scores after the
    whole trace. ``spread`` [n]: standard deviation of the test scores, 0 for a single one.
    ``length`` [n]: candidates up to the last one with a score; ``scored`` [n]: those of them with
    a test score.
    """
    n, C = test.shape
    for i in range(n):
        end = C
        while end > 0 and np.isnan(validation[i, end - 1]) and np.isnan(test[i, end - 1]):
            end -= 1
        length[i] = end
        bias[i, end:] = np.nan
        best = np.nan
        top = np.nan
        chosen = np.nan
        count = 0
        total = 0.0
        for j in range(end):
            v = validation[i, j]
            t = test[i, j]
            if not np.isnan(t):
                count += 1
                total += t
                if np.isnan(best) or t > best:
                    best = t
            if not np.isnan(v) and (np.isnan(top) or v > top):
                top = v
                chosen = t
            bias[i, j] = best - chosen
        ends[i, 0] = best
        ends[i, 1] = chosen
        scored[i] = count
        squares = 0.0
        for j in range(end):
            if not np.isnan(test[i, j]):
                squares += (test[i, j] - total / count) ** 2
        spread[i] = np.sqrt(squares / (count - 1)) if count > 1 else 0.0
