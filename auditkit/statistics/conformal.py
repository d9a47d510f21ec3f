"""Split-conformal rules: who wins at a point, with a bound on how often the winner so declared does not win.

Scores are negative where model A is better. Given the estimation split, the scores of calibration and test points are
assumed exchangeable; then the residual of a test point is at most the k-th smallest of n calibration residuals with
probability at least k / (n + 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import StatisticsError, UsageError

Floats = NDArray[np.float64]
Winners = NDArray[np.int8]

A, NOBODY, B = -1, 0, 1
"""Codes of a declared winner: the sign of a score in its favour."""


def check_alpha(alpha: float) -> float:
    """The level as a float.

    Raises
    ------
    UsageError
        It is not above 0 and below 0.5: from there on both models could be declared at one point.
    """
    if not 0 < alpha < 0.5:
        raise UsageError("alpha out of range", found=alpha, expected="above 0, below 0.5")
    return float(alpha)


def threshold_rank(n: int, alpha: float) -> int:
    """ceil((n + 1)(1 - alpha)), in the decimal arithmetic of ``alpha`` as it is written.

    Examples
    --------
    >>> threshold_rank(9, 0.1), threshold_rank(8, 0.1)
    (9, 9)
    """
    return n + 1 - int((n + 1) * Fraction(repr(float(alpha))))


def smallest_calibration(alpha: float) -> int:
    """The smallest calibration split for which a winner can be declared at all: the least n >= 1 / alpha - 1.

    Examples
    --------
    >>> smallest_calibration(0.1), smallest_calibration(0.3)
    (9, 3)
    """
    exact = 1 / Fraction(repr(float(alpha))) - 1
    return -(-exact.numerator // exact.denominator)


@dataclass(frozen=True, slots=True)
class Rule:
    """A calibrated rule: sorted calibration residuals (score - centre) / scale.

    Attributes
    ----------
    residuals
        [n] ascending.
    """

    residuals: Floats

    @classmethod
    def calibrate(cls, scores: ArrayLike, centre: ArrayLike, scale: ArrayLike) -> Rule:
        """From the scores of the calibration split and the rule's centre and scale (above 0) there.

        Raises
        ------
        StatisticsError
            A residual is not a number, or a scale is not above 0.
        """
        spread = np.asarray(scale, dtype=np.float64)
        apart = np.asarray(scores, dtype=np.float64) - np.asarray(centre, dtype=np.float64)
        if not (spread > 0).all() or not np.isfinite(apart).all():
            raise StatisticsError(
                "a residual is not finite", expected="finite scores, a scale above 0"
            )
        residuals = apart / spread
        return cls(np.sort(np.atleast_1d(residuals)))

    def thresholds(self, alpha: float) -> tuple[float, float]:
        """Lower and upper threshold of the residuals; -inf and inf where the calibration split is too small."""
        n = len(self.residuals)
        rank = threshold_rank(n, alpha)
        if rank > n:
            return -np.inf, np.inf
        return float(self.residuals[n - rank]), float(self.residuals[rank - 1])

    def winners(self, centre: ArrayLike, scale: ArrayLike, alpha: float) -> Winners:
        """Who is declared at each point: ``A`` where the upper bound of the score is below 0, ``B`` mirrored.

        The upper bound is centre + scale * threshold. It is compared as threshold < (0 - centre) / scale, which is
        rounded like a residual: as rounding is monotone, a test score of 0 or more has a residual of at least that,
        and the bound below holds for the numbers as computed.

        Notes
        -----
        P(A is declared and its score is not below 0) <= alpha, and P(B is declared and its score is not above 0) <=
        alpha, each over calibration and test point together (marginally: not at every point, and not given that a
        winner is declared). The two together are below 2 alpha.

        Examples
        --------
        >>> rule = Rule.calibrate([-1.2, -0.8, -1.1, -0.9], -1.0, 1.0)
        >>> rule.winners([-1.0, -0.1, 1.0], 1.0, alpha=0.25).tolist()
        [-1, 0, 1]
        """
        lower, upper = self.thresholds(alpha)
        zero = self._at_zero(centre, scale)
        return np.where(upper < zero, A, np.where(lower > zero, B, NOBODY)).astype(np.int8)

    def p_values(self, centre: ArrayLike, scale: ArrayLike) -> tuple[Floats, Floats]:
        """Conformal p-values at each point of "A does not win here", and of "B does not win here".

        (1 + #{residuals >= -centre / scale}) / (n + 1), and mirrored; A is declared at alpha where the first is at
        most alpha.

        Examples
        --------
        >>> rule = Rule.calibrate([-1.2, -0.8, -1.1, -0.9], -1.0, 1.0)
        >>> [p.tolist() for p in rule.p_values([-1.0], [1.0])]
        [[0.2], [1.0]]
        """
        zero = self._at_zero(centre, scale)
        n = len(self.residuals)
        at_least = n - np.searchsorted(self.residuals, zero, side="left")
        at_most = np.searchsorted(self.residuals, zero, side="right")
        return (1 + at_least) / (n + 1), (1 + at_most) / (n + 1)

    def _at_zero(self, centre: ArrayLike, scale: ArrayLike) -> Floats:
        return np.asarray((0.0 - np.asarray(centre, dtype=np.float64)) / np.asarray(scale))


def declared_by_p_value(p_a: Floats, p_b: Floats, n: int, alpha: float) -> Winners:
    """Who is declared by p-values (with denominator n + 1) at most alpha: the other route to ``Rule.winners``."""
    most = int((n + 1) * Fraction(repr(float(alpha))))
    counts_a, counts_b = np.rint(p_a * (n + 1)), np.rint(p_b * (n + 1))
    return np.where(counts_a <= most, A, np.where(counts_b <= most, B, NOBODY)).astype(np.int8)


def benjamini_hochberg(p: ArrayLike, alpha: float) -> NDArray[np.bool_]:
    """Which of m hypotheses are rejected at false discovery rate alpha.

    The largest i with p_(i) <= alpha i / m, and all p-values up to that one.

    Parameters
    ----------
    p
        [m] p-values.
    alpha
        Level.

    Notes
    -----
    With conformal p-values of "the score at this test point is not below 0" it bounds the expected share of wrong
    winners among the declared ones (Jin and Candes 2023): the p-values share their calibration split, and that
    dependence is of the harmless kind.

    References
    ----------
    Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", JRSS B 57 (1995), 289-300.
    Y. Jin and E. J. Candes, "Selection by prediction with conformal p-values", JMLR 24 (2023), 244.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5], 0.1).tolist()
    [True, True, True, False]
    """
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise StatisticsError("a p-value is missing or outside [0, 1]")
    m = len(values)
    # conformal p-values are multiples of 1 / (n + 1): equality with the line is common, and counts
    line = alpha * np.arange(1, m + 1) / max(m, 1) * (1 + 1e-12)
    below = np.flatnonzero(np.sort(values) <= line)
    if below.size == 0:
        return np.zeros(m, dtype=bool)
    rejected: NDArray[np.bool_] = values <= np.sort(values)[below[-1]]
    return rejected
