"""Results of the fidelity audit: what partition scores promise and what deployment delivers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from auditkit.results.common import AuditResult, Estimate, Range, Result, Skipped, flat_row

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Released:
    """Scores as released, beside those recomputed from utilities and choices.

    Attributes
    ----------
    partition_difference, deployed_difference
        Largest absolute difference over repetitions and instances where both are finite.
    mask_mismatches
        Cells (repetition, instance) measured in one and missing in the other.
    """

    partition_difference: float
    deployed_difference: float
    mask_mismatches: int


@dataclass(frozen=True, slots=True)
class Reported:
    """Figures as printed by the source, and what recomputing gives.

    Attributes
    ----------
    printed
        The printed texts by quantity: ``partition_score``, ``deployed_score``, ``gap``.
    recomputed
        The same quantities from the stored arrays.
    """

    printed: Mapping[str, str]
    recomputed: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PipelineFidelity(Result):
    """One pipeline: means over its valid instances, utilities being higher-is-better.

    Attributes
    ----------
    name, kind
        The pipeline; ``decomposed`` or ``flat``.
    n_valid, n_dropped
        Instances with both scores in every repetition, and the others, which count nowhere.
    n_imputed
        Valid instances where a stored penalty stands in for a missing utility in some repetition.
    n_repetitions
        Repetitions; they are averaged per instance first.
    scores_from
        ``choices`` (recomputed) or ``released`` (the stored scores, for want of choices).
    partition_score, deployed_score, gap
        Mean partition score, mean deployed score, and their difference G.
    family_range
        W, the mean range of utilities inside the chosen family.
    violation_rate
        Share of instances where another family's inner choice is better than what runs.
    deployment_regret
        Mean utility lost to the best family's inner choice.
    wilcoxon_p, holm_p
        Two-sided signed-rank test of the per-instance gaps, and adjusted over the decomposed pipelines of the audit.
    lemma1_residual
        | G by within-family regret - (partition score - deployed score) |, relative to the scores where they exceed 1.
    smallest_gap
        Smallest per-instance gap over all repetitions; a negative one breaks the definition of the partition score.
    largest_gap
        Largest per-instance gap in absolute value.
    released, reported
        The stored scores and printed figures that were compared.
    fold_faults, validation_leaks
        Cells (repetition, instance) never tested, and cells tested in fold f and used in its validation set.
    traits
        Free text of the source: family_selector, within_selector, feature_policy, family_basis.
    """

    name: str
    kind: str
    n_valid: int
    n_dropped: int
    n_imputed: int
    n_repetitions: int
    scores_from: str
    partition_score: Estimate | Skipped
    deployed_score: Estimate | Skipped
    gap: Estimate | Skipped
    family_range: Estimate | Skipped
    violation_rate: Estimate | Skipped
    deployment_regret: Estimate | Skipped
    wilcoxon_p: float | Skipped
    holm_p: float | Skipped
    lemma1_residual: float | Skipped
    smallest_gap: float | Skipped
    largest_gap: float | Skipped
    released: Released | Skipped
    reported: Reported | Skipped
    fold_faults: int | Skipped
    validation_leaks: int | Skipped
    traits: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CorrectedAdvantage:
    """The partition advantage of outer test folds, corrected by the gaps of their validation sets.

    Attributes
    ----------
    mean, raw_mean, deployed_mean
        Means over folds of the corrected, the raw, and the deployed advantage.
    sign_agreement, raw_sign_agreement
        Share of folds where the corrected (the raw) advantage has the sign of the deployed one.
    error, raw_error
        Mean absolute error of the corrected (the raw) advantage against the deployed one.
    error_reduction
        raw_error - error.
    n_folds
        Outer folds, over all repetitions.
    """

    mean: float
    raw_mean: float
    deployed_mean: float
    sign_agreement: float
    raw_sign_agreement: float
    error: float
    raw_error: float
    error_reduction: float
    n_folds: int


@dataclass(frozen=True, slots=True)
class Comparison(Result):
    """Two pipelines on the instances valid for both; advantages are of ``first`` over ``second``.

    Attributes
    ----------
    first, second
        The pipelines.
    n_common
        Instances valid for both.
    partition_advantage, deployed_advantage, gap_difference
        A_part, A_e2e and dG.
    lemma2_residual, lemma2_largest
        | A_part - A_e2e - dG | in aggregate, and the largest of it over instances; relative to scores that exceed 1.
    absorption_ratio
        rho = dG / A_part, skipped as unstable where | A_part | is below 0.005.
    deployment_safe
        Whether a positive partition advantage exceeds the gap difference.
    identification_interval
        [A_part - W(first), A_part + W(second)]: where A_e2e can lie, given the partition report alone.
    crosses_zero
        Whether that interval strictly contains zero, so that the partition report certifies no winner.
    transfer
        What becomes of the partition advantage in deployment.
    corrected_advantage
        The gap-corrected advantage, where validation scores are stored.
    """

    first: str
    second: str
    n_common: int
    partition_advantage: Estimate | Skipped
    deployed_advantage: Estimate | Skipped
    gap_difference: Estimate | Skipped
    lemma2_residual: float | Skipped
    lemma2_largest: float | Skipped
    absorption_ratio: Estimate | Skipped
    deployment_safe: bool | Skipped
    identification_interval: Range | Skipped
    crosses_zero: bool | Skipped
    transfer: str | Skipped
    corrected_advantage: CorrectedAdvantage | Skipped


@dataclass(frozen=True, slots=True)
class TrainingEffect(Result):
    """What training the family selector on deployable utility changes: deployment-aware minus oracle-trained.

    Attributes
    ----------
    oracle_trained, deployment_aware
        Two pipelines that differ in nothing but what their family selector was trained on.
    n_common
        Instances valid for both.
    gap_change, partition_change, deployed_change
        Paired differences of G, of the partition and of the deployed score.
    """

    oracle_trained: str
    deployment_aware: str
    n_common: int
    gap_change: Estimate | Skipped
    partition_change: Estimate | Skipped
    deployed_change: Estimate | Skipped


@dataclass(frozen=True, slots=True)
class BenchmarkFidelity(Result):
    """All pipelines of one benchmark, and their comparisons.

    Attributes
    ----------
    benchmark
        Its name.
    n_instances, n_algorithms, n_families, n_clusters
        Its size; ``n_clusters`` is skipped where every instance stands for itself.
    n_missing
        Cells of the utility matrix that were not measured.
    unit
        What was resampled: ``instance`` or ``cluster``.
    n_units
        Units resampled: instances (or their clusters) valid for at least one pipeline.
    pipelines, comparisons
        The results.
    training_effects
        Deployment-aware against oracle-trained pipelines, where both are stored.
    """

    benchmark: str
    n_instances: int
    n_algorithms: int
    n_families: int
    n_clusters: int | Skipped
    n_missing: int
    unit: str
    n_units: int
    pipelines: tuple[PipelineFidelity, ...]
    comparisons: tuple[Comparison, ...]
    training_effects: tuple[TrainingEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class FidelityResult(AuditResult):
    """The fidelity audit of every benchmark of a file."""

    NAME: ClassVar[str] = "fidelity"

    items: tuple[BenchmarkFidelity, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a pipeline; ``comparisons_frame`` gives one a pair."""
        return _frame(
            [{"benchmark": b.benchmark, **flat_row(p)} for b in self.items for p in b.pipelines]
        )

    def comparisons_frame(self) -> pd.DataFrame:
        """One row a pair of pipelines."""
        return _frame(
            [{"benchmark": b.benchmark, **flat_row(c)} for b in self.items for c in b.comparisons]
        )


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
