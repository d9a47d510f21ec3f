"""Win counts, ranks, and the bias of choosing a candidate on the data it is scored on.

Scores are oriented (higher is better) and NaN where missing. Two scores are *tied* when neither
is better by more than the tolerance ``tie``, or when they differ by rounding alone (4 units in the
last place of the larger). Ties of this kind are not transitive: with a tolerance of 1, scores
0, 0.8 and 1.6 make two ties and one win. Everything here is therefore decided pair by pair: a
winner beats every other system, and a rank is 1 + (systems that beat it) + (systems tied) / 2,
so that wins, ranks and tests always speak of the same pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def rank_records(score: Floats, tie: float) -> tuple[Indices, Floats]:
    """Winner and rank of every system on every record.

    Parameters
    ----------
    score
        [n, S] oriented scores; a missing one loses to every score and ties with a missing one.
    tie
        Largest difference that is a tie.

    Returns
    -------
    winner : [n] index of the system that beats every other; S where none does
    rank : [n, S] 1 is best; tied systems share the mean of their places

    Examples
    --------
    >>> import numpy as np
    >>> winner, rank = rank_records(np.array([[0.9, 0.8, 0.8], [0.5, 0.5, np.nan]]), 1e-6)
    >>> winner.tolist(), rank.tolist()
    ([0, 3], [[1.0, 2.5, 2.5], [1.5, 1.5, 3.0]])
    """
    from auditkit.kernels import selection as kernels

    winner = np.empty(len(score), dtype=np.int64)
    rank = np.empty(score.shape)
    kernels.rank_records(score, tie, winner, rank)
    return winner, rank


def count_wins(score: Floats, rows: Indices, tie: float) -> Indices:
    """[S, S]: on how many of the ``rows`` of ``score`` [n, S] system a beats system b."""
    from auditkit.kernels import selection as kernels

    S = score.shape[1]
    wins = np.zeros((S, S), dtype=np.int64)
    kernels.count_wins(score, rows, tie, wins)
    return wins


def tied(a: Floats, b: Floats, tie: float) -> NDArray[np.bool_]:
    """Whether scores are equal within the tolerance, or but for rounding; false where missing."""
    from auditkit.kernels.selection import NOISE

    limit = np.maximum(tie, NOISE * np.maximum(np.abs(a), np.abs(b)))
    with np.errstate(over="ignore"):
        return np.asarray(np.abs(a - b) <= limit)


@dataclass(frozen=True, slots=True)
class Traces:
    """What each of n searches over up to C candidates chose.

    Attributes
    ----------
    best
        [n] best test score (selected on the test set).
    chosen
        [n] test score of the candidate with the best validation score, the first on ties.
    bias
        [n, C] best minus chosen among the first k = 1..C candidates; NaN where the trace is
        shorter, or the choice or its test score is missing.
    spread
        [n] standard deviation of the test scores (C - 1 in the denominator); 0 for one score.
    length, scored
        [n] candidates in the trace, and those of them with a test score.
    """

    best: Floats
    chosen: Floats
    bias: Floats
    spread: Floats
    length: Indices
    scored: Indices


def follow_traces(validation: Floats, test: Floats) -> Traces:
    """Follow every search candidate by candidate.

    Parameters
    ----------
    validation, test
        [n, C] oriented scores in the order of evaluation, NaN-padded on the right. A candidate
        without a validation score cannot be chosen; one without a test score cannot be best.

    Examples
    --------
    >>> import numpy as np
    >>> traces = follow_traces(np.array([[0.6, 0.8, 0.7]]), np.array([[0.5, 0.6, 0.9]]))
    >>> traces.best.tolist(), traces.chosen.tolist(), traces.bias.round(3).tolist()
    ([0.9], [0.6], [[0.0, 0.0, 0.3]])
    """
    from auditkit.kernels import selection as kernels

    n, C = test.shape
    bias, ends, spread = np.empty((n, C)), np.empty((n, 2)), np.empty(n)
    length, scored = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    kernels.follow_traces(validation, test, bias, ends, spread, length, scored)
    return Traces(ends[:, 0].copy(), ends[:, 1].copy(), bias, spread, length, scored)


def noise_bound(sigma: Floats, candidates: Floats) -> Floats:
    """Bound sigma sqrt(2 ln K) on the mean of the largest of K errors of standard deviation sigma.

    It holds for sub-Gaussian errors with variance proxy sigma^2, however they depend on each
    other: candidates may share test rows. NaN where sigma is NaN or K < 1.

    References
    ----------
    *Winning by Peeking*, section 9; S. Boucheron, G. Lugosi, P. Massart, *Concentration
    Inequalities* (2013), theorem 2.5.
    """
    K = np.where(candidates >= 1, candidates, np.nan)
    return np.asarray(sigma * np.sqrt(2 * np.log(K)), dtype=np.float64)


def binomial_sigma(p: Floats, test_size: Floats) -> Floats:
    """Standard deviation sqrt(p (1 - p) / m) of a share p measured on m independent rows.

    NaN where m < 1 or p lies outside [0, 1].
    """
    usable = (test_size >= 1) & (p >= 0) & (p <= 1)
    return np.sqrt(np.where(usable, p * (1 - p), np.nan) / np.where(usable, test_size, 1))
