"""Hypothesis tests on paired units, and the correction for making several of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import StatisticsError, counted


def sign_test(wins: int, losses: int) -> float:
    """Two-sided exact sign test.

    The p-value of ``wins`` successes in ``wins + losses`` fair coin flips: twice the smaller tail,
    at most 1. Ties are left out by the caller. It holds when the units are independent.

    Parameters
    ----------
    wins, losses
        Units on which the one and the other came out ahead.

    Returns
    -------
    float
        p-value in [0, 1]; 1 where there is nothing to decide on.

    Raises
    ------
    StatisticsError
        A count is negative.

    References
    ----------
    W. J. Dixon and A. M. Mood, "The statistical sign test", JASA 41 (1946), 557-566.

    Examples
    --------
    >>> sign_test(9, 1)
    0.021484375
    >>> sign_test(3, 3)
    1.0
    """
    from scipy.special import bdtr

    if wins < 0 or losses < 0:
        raise StatisticsError(
            "negative count in a sign test", found=f"{wins} wins, {losses} losses"
        )
    return (
        min(1.0, 2.0 * float(bdtr(min(wins, losses), wins + losses, 0.5))) if wins + losses else 1.0
    )


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Holm's step-down adjustment, which controls the family-wise error under any dependence.

    The i-th smallest of m p-values is multiplied by m - i + 1, made monotone, and cut at 1.

    Parameters
    ----------
    p
        p-values of the family, shape [m]; m may be 0.

    Returns
    -------
    array of float64, shape [m]
        Adjusted p-values in the order of ``p``, each in [0, 1].

    Raises
    ------
    StatisticsError
        ``p`` is not one-dimensional, or an entry is missing or outside [0, 1].

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979),
    65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(10).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1:
        raise StatisticsError(
            "wrong shape of p-values", found=values.shape, expected="one dimension"
        )
    if not ((values >= 0) & (values <= 1)).all():
        raise StatisticsError("a p-value is missing or outside [0, 1]", found=values.tolist())
    order = np.argsort(values, kind="stable")
    steps = np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps * values[order]), 1.0)
    return adjusted


NOISE = 1e-12
"""Differences below this share of the largest one are floating-point noise: they are zero, or ties."""


def wilcoxon_signed_rank(differences: ArrayLike) -> float:
    """Two-sided Wilcoxon signed-rank test that paired differences are symmetric about zero.

    Zeros are dropped, ties share their mean rank. Differences that are equal up to rounding are ties
    and differences that are zero up to rounding are zeros, so that noise in the last digit cannot
    break them apart. It holds when the units are independent.

    Parameters
    ----------
    differences
        One difference a unit, shape [n].

    Returns
    -------
    float
        p-value in [0, 1]; exact for at most 50 differences without ties or zeros, else by the normal
        approximation with the correction for ties.

    Raises
    ------
    StatisticsError
        A difference is missing, there is none, or all are zero.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945), 80-83.

    Examples
    --------
    >>> wilcoxon_signed_rank([1.0, 2.0, 3.0, 4.0, 5.0, -0.5])
    0.0625
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise StatisticsError("differences are not finite numbers in one dimension")
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0:
        raise StatisticsError("no difference to test", found=counted(values.size, "zero"))
    from scipy.stats import wilcoxon

    # steps of a power of two, so that a value that is a multiple of the step keeps every bit
    step = 2.0 ** np.ceil(np.log2(largest * NOISE))
    return float(wilcoxon(np.round(values / step) * step, alternative="two-sided").pvalue)
