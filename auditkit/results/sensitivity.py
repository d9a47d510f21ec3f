"""Results of the sensitivity audit: the same stored choices under other settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from auditkit.results.common import AuditResult, Estimate, Range, Result, Skipped, flat_row

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Setting(Result):
    """One setting, and what it does to the benchmark.

    Attributes
    ----------
    dimension
        What is varied: ``as stored``, ``transform``, ``cutoff`` or ``family mapping``.
    setting
        To what.
    n_measured
        Instances with a utility.
    n_all_timeout
        Instances that no algorithm solves within the cutoff.
    families
        The members of each family, where the mapping is varied.
    """

    dimension: str
    setting: str
    n_measured: int
    n_all_timeout: int | Skipped
    families: Mapping[str, tuple[str, ...]] | Skipped


@dataclass(frozen=True, slots=True)
class SensitivityRow(Result):
    """One pipeline under one setting.

    Attributes
    ----------
    dimension, setting
        As in ``Setting``.
    pipeline
        The pipeline, or ``predictions of ...`` where families are chosen by predicted utility.
    n_valid
        Instances with both scores in every repetition.
    gap
        G, partition minus deployed score.
    partition_advantage, deployed_advantage
        Over the flat pipeline it is held against.
    deployment_safe
        Whether a positive partition advantage exceeds the gap difference.
    """

    dimension: str
    setting: str
    pipeline: str
    n_valid: int
    gap: Estimate | Skipped
    partition_advantage: Estimate | Skipped
    deployed_advantage: Estimate | Skipped
    deployment_safe: bool | Skipped


@dataclass(frozen=True, slots=True)
class SensitivityRange(Result):
    """How far one choice moves one verdict.

    Attributes
    ----------
    dimension
        What is varied; ``inner selector`` compares the pipelines that share a family selector.
    subject
        The pipeline, the predictions, or the family selector.
    settings
        Over which settings, the stored one included.
    gap, partition_advantage, deployed_advantage
        Smallest and largest estimate over the settings.
    sign_changes, safety_changes
        Whether the deployed advantage changes its sign, and the safety flag its value, over the settings.
    intervals_oppose
        Whether its interval lies above zero under one setting and below zero under another.
    """

    dimension: str
    subject: str
    settings: tuple[str, ...]
    gap: Range | Skipped
    partition_advantage: Range | Skipped
    deployed_advantage: Range | Skipped
    sign_changes: bool | Skipped
    safety_changes: bool | Skipped
    intervals_oppose: bool | Skipped


@dataclass(frozen=True, slots=True)
class NotRecomputed(Result):
    """A setting that could not be recomputed, for one pipeline or for all, and why."""

    dimension: str
    pipeline: str
    reason: str


@dataclass(frozen=True, slots=True)
class BenchmarkSensitivity(Result):
    """One benchmark.

    Attributes
    ----------
    benchmark
        Its name.
    against
        The flat pipeline that advantages are over.
    settings, rows, ranges
        The settings; each pipeline under each; and the span over the settings.
    not_recomputed
        What could not be recomputed.
    """

    benchmark: str
    against: str | Skipped
    settings: tuple[Setting, ...]
    rows: tuple[SensitivityRow, ...]
    ranges: tuple[SensitivityRange, ...]
    not_recomputed: tuple[NotRecomputed, ...]


@dataclass(frozen=True, slots=True)
class SensitivityResult(AuditResult):
    """The sensitivity of every benchmark of a file."""

    NAME: ClassVar[str] = "sensitivity"

    items: tuple[BenchmarkSensitivity, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a setting and pipeline."""
        import pandas as pd

        return pd.DataFrame(
            [{"benchmark": b.benchmark, **flat_row(row)} for b in self.items for row in b.rows]
        )
