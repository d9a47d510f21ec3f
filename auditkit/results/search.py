"""What the selection audit finds of a set of searches."""

from __future__ import annotations

from dataclasses import dataclass

from auditkit.results.common import Estimate, Range, Result, Skipped


@dataclass(frozen=True, slots=True)
class Bias(Result):
    """Test score of the choice on the test set minus that of the choice on validation.

    Attributes
    ----------
    n
        Datasets.
    mean, low, high
        Mean and its bootstrap interval.
    q25, q50, q75, max
        Quartiles and largest value over the datasets.
    share_zero
        Share of datasets on which it is exactly zero.
    """

    n: int
    mean: float
    low: float | Skipped
    high: float | Skipped
    q25: float
    q50: float
    q75: float
    max: float
    share_zero: float


@dataclass(frozen=True, slots=True)
class CurvePoint(Result):
    """Mean bias after k candidates, over the ``n`` datasets whose trace is that long.

    ``undefined`` of the traces that are long enough have made no choice with a test score by
    then; ``bound`` is the mean of sigma sqrt(2 ln k).
    """

    k: int
    n: int
    undefined: int
    bias: float
    low: float | Skipped
    high: float | Skipped
    bound: float | Skipped


@dataclass(frozen=True, slots=True)
class Bound(Result):
    """sigma sqrt(2 ln K) over ``n`` datasets, beside what was measured.

    Attributes
    ----------
    sigma
        ``binomial``: sqrt(p (1 - p) / test size), p the score of the validation choice.
        ``spread``: standard deviation of the dataset's own test scores over the candidates.
    n
        Datasets with a bound.
    mean, q25, q50, q75
        Of the bound.
    measured
        Mean bias over the same datasets.
    ratio
        mean / measured.
    """

    sigma: str
    n: int
    mean: float
    q25: float
    q50: float
    q75: float
    measured: float
    ratio: float | Skipped


@dataclass(frozen=True, slots=True)
class SearchGroup(Result):
    """Searches on one scale: one stratum, one orientation, accuracy-like or not.

    Attributes
    ----------
    scale
        ``accuracy-like`` (higher is better, all scores in [0, 1]), ``other, higher is better`` or
        ``lower is better``.
    n
        Datasets.
    select_on_test, select_on_validation, refit
        Mean test scores, in the metric's own orientation. ``refit`` is over the datasets that
        have one.
    bias, curve
        In score units, positive where the test set flatters.
    bound, binomial_bound
        With sigma from the spread of the test scores, and from the test size.
    """

    scale: str
    n: int
    select_on_test: Estimate | Skipped
    select_on_validation: Estimate | Skipped
    refit: Estimate | Skipped
    bias: Bias | Skipped
    curve: tuple[CurvePoint, ...] | Skipped
    bound: Bound | Skipped
    binomial_bound: Bound | Skipped


@dataclass(frozen=True, slots=True)
class Peeking(Result):
    """Reported scores against the two selection rules.

    Attributes
    ----------
    n
        Datasets with a reported score and both choices.
    best_only, choice_only, both, neither
        Datasets on which the reported score equals the best test score, that of the validation
        choice, both (where they coincide), or neither.
    """

    n: int
    best_only: int
    choice_only: int
    both: int
    neither: int


@dataclass(frozen=True, slots=True)
class SearchAudit(Result):
    """The audit of one set of searches.

    Attributes
    ----------
    search
        Its name.
    n_datasets, n_used
        Datasets stored; those with a choice by validation whose test score is known.
    candidates
        Shortest and longest trace.
    without_validation, without_test
        Candidates within the traces that lack one score: the former cannot be chosen, the latter
        cannot be best.
    select_on_test, select_on_validation, refit, bias, curve, bound
        Of the only group; skipped where the datasets lie on several scales.
    relative_bias, relative_curve, relative_bound
        Scale-free: bias and bound divided by the standard deviation of the dataset's own test
        scores over its candidates.
    groups
        The same in score units, for each scale apart.
    peeking_share, peeking
        Share of datasets whose reported score equals the best test score but not that of the
        validation choice; the counts behind it.
    """

    search: str
    n_datasets: int
    n_used: int
    candidates: Range
    without_validation: int
    without_test: int
    select_on_test: Estimate | Skipped
    select_on_validation: Estimate | Skipped
    refit: Estimate | Skipped
    bias: Bias | Skipped
    curve: tuple[CurvePoint, ...] | Skipped
    bound: Bound | Skipped
    relative_bias: Bias | Skipped
    relative_curve: tuple[CurvePoint, ...] | Skipped
    relative_bound: Bound | Skipped
    peeking_share: float | Skipped
    peeking: Peeking | Skipped
    groups: dict[str, SearchGroup]
