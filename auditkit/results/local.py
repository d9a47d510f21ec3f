"""Results of the local audit: where each of two models wins, and what of that can be certified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auditkit.results.common import AuditResult, Estimate, Result, Skipped, flat_row

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Winners = NDArray[np.int8]

LETTERS = {-1: "A", 0: "none", 1: "B"}
"""What the codes of a declared winner stand for; -1 is the sign of a score that favours A."""


@dataclass(frozen=True, slots=True)
class Declarations(Result):
    """What one rule or map declares on the test split, and how often it is wrong there.

    Shares and rates are of all test observations unless said otherwise. A declared winner that ties has not won.

    Attributes
    ----------
    rule
        Its name.
    n_declared
        Test observations with a declared winner.
    declared_a, declared_b
        Share for which A (B) is declared.
    false_winner_rate
        Share for which a winner is declared that does not win; the sum of the next two.
    false_a, false_b
        Share for which A (B) is declared and does not win; a conformal rule bounds each by alpha.
    false_share
        Share of the declared winners that do not win.
    conditional_gain
        Mean loss of the other model minus that of the declared winner, where one is declared; in the unit of the loss.
    """

    rule: str
    n_declared: int
    declared_a: Estimate | Skipped
    declared_b: Estimate | Skipped
    false_winner_rate: Estimate | Skipped
    false_a: Estimate | Skipped
    false_b: Estimate | Skipped
    false_share: Estimate | Skipped
    conditional_gain: Estimate | Skipped


@dataclass(frozen=True, slots=True)
class RuleDeclarations(Declarations):
    """A conformal rule's declarations, with what they rest on.

    Attributes
    ----------
    lower_threshold, upper_threshold
        Of the calibration residuals; A is declared where centre + scale * upper_threshold is below 0.
    p_value_mismatches
        Test observations where the thresholds and the p-values do not declare the same.
    """

    lower_threshold: float | Skipped
    upper_threshold: float | Skipped
    p_value_mismatches: int


@dataclass(frozen=True, slots=True)
class LocalPoints:
    """The map itself: one entry a test observation, of n.

    Attributes
    ----------
    row
        [n] position in the stored arrays.
    score
        [n] realised score; negative where A is better.
    gap
        [n] loss of A minus loss of B.
    centre, scale
        [n] local mean of the score and local scale, both from the estimation split.
    upper_quantile, lower_quantile
        [n] local quantiles of the score at 1 - alpha, from below and mirrored from above.
    p_a, p_b
        Conformal p-values of "A does not win here" and "B does not win here" by rule, [n] each.
    declared
        The declared winner by rule and by map, [n] each: -1 for A, 1 for B, 0 for none.
    position
        [n, 1 or 2] where the observation is drawn.
    axes
        What the columns of ``position`` are.
    """

    row: NDArray[np.int64]
    score: Floats
    gap: Floats
    centre: Floats
    scale: Floats
    upper_quantile: Floats
    lower_quantile: Floats
    p_a: Mapping[str, Floats]
    p_b: Mapping[str, Floats]
    declared: Mapping[str, Winners]
    position: Floats
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocalComparison(Result):
    """Two models at one alpha.

    Attributes
    ----------
    losses, model_a, model_b, loss
        The member, and its names.
    alpha
        Bound on the false winner rate of each direction.
    n_rows, n_fit, n_excluded
        Observations stored; of them ``fit`` ones, which are ignored, and ones that miss a loss or a covariate.
    missing
        Missing values by array or covariate, among the rows that are not ``fit``.
    split
        ``stored``, or ``drawn`` (in thirds, with the seed of the result).
    n_estimation, n_calibration, n_test
        Observations of each part.
    smallest_calibration
        The smallest calibration split for which anything can be declared at this alpha.
    covariates, dropped
        Covariates used, and those left out because they do not vary in the estimation split.
    score, offset
        The score, and the t of ``log_ratio``.
    weights
        Weights of the local means: ``nearest``, ``box`` or ``epanechnikov``.
    neighbours, radius
        Their reach.
    smoothing
        lambda, added to the local variance.
    n_fallback
        Test observations without a neighbour, where all estimation observations stand in.
    rules
        The three conformal rules: ``global``, ``local_center``, ``local_standardized``.
    maps
        Maps without a guarantee, for comparison: ``global_mean``, ``local_mean``, ``local_majority``,
        ``local_quantile``.
    controlled
        The three rules with Benjamini-Hochberg over the whole map, where asked for.
    mean_gap
        Mean loss of A minus mean loss of B.
    aggregate_winner
        ``A``, ``B`` or ``tie``, by the sign of ``mean_gap``.
    prevalence_a, prevalence_b
        Share of the test observations at which the local mean favours A (B).
    win_share_a, win_share_b
        Share of the test observations on which A (B) has the smaller loss.
    n_ties
        Test observations on which both losses are equal.
    points
        The map, by test observation; not part of the JSON.
    """

    losses: str
    model_a: str
    model_b: str
    loss: str
    alpha: float
    n_rows: int
    n_fit: int
    n_excluded: int
    missing: Mapping[str, int]
    split: str
    n_estimation: int
    n_calibration: int
    n_test: int
    smallest_calibration: int
    covariates: tuple[str, ...]
    dropped: tuple[str, ...]
    score: str
    offset: float | Skipped
    weights: str
    neighbours: int | Skipped
    radius: float | Skipped
    smoothing: float | Skipped
    n_fallback: int | Skipped
    rules: tuple[RuleDeclarations, ...]
    maps: tuple[Declarations, ...]
    controlled: tuple[Declarations, ...] | Skipped
    mean_gap: Estimate | Skipped
    aggregate_winner: str | Skipped
    prevalence_a: Estimate | Skipped
    prevalence_b: Estimate | Skipped
    win_share_a: Estimate | Skipped
    win_share_b: Estimate | Skipped
    n_ties: int
    points: LocalPoints | Skipped = field(metadata={"json": False})

    def map_frame(self) -> pd.DataFrame:
        """One row a test observation: scores, local means and scales, p-values, and what each rule declares."""
        import pandas as pd

        if isinstance(self.points, Skipped):
            return pd.DataFrame()
        p = self.points
        plain = ("row", "score", "gap", "centre", "scale", "upper_quantile", "lower_quantile")
        columns: dict[str, Any] = {name: getattr(p, name) for name in plain}
        for name in p.p_a:
            columns[f"p_a {name}"], columns[f"p_b {name}"] = p.p_a[name], p.p_b[name]
        for name, winners in p.declared.items():
            columns[name] = [LETTERS[int(code)] for code in winners]
        return pd.DataFrame(columns)


@dataclass(frozen=True, slots=True)
class LocalResult(AuditResult):
    """The local audit of every pair of losses of a file, one item a member and alpha."""

    NAME: ClassVar[str] = "local"

    items: tuple[LocalComparison, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a member, alpha and rule (or map); ``items[0].map_frame()`` gives the map by observation."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"losses": item.losses, "alpha": item.alpha, "kind": kind, **flat_row(row)}
                for item in self.items
                for kind, rows in (
                    ("rule", item.rules),
                    ("map", item.maps),
                    ("controlled", item.controlled),
                )
                if not isinstance(rows, Skipped)
                for row in rows
            ]
        )
