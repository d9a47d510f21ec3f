"""Results of the allocation audit: what spending a best-of-k budget unevenly gains, and what luck alone would show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from auditkit.results.common import AuditResult, Estimate, Range, Result, Skipped, flat_row

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Floor(Result):
    """What the pipeline reports in sample where there is nothing to gain; gains in percent.

    Attributes
    ----------
    median, p90
        Over source instances, of the 95th percentile of the gains of workloads resampled from one source.
    false_alarms_median, false_alarms_p90
        Share of all null gains that exceed each of the two, averaged over sources. It would be 0.05 if all sources had
        the same floor.
    sources, solved_sources
        Source instances that count, and those left out because some workload of theirs had no gap to reduce.
    repetitions, n_instances
        Workloads of each source, and synthetic instances in each.
    """

    median: float
    p90: float
    false_alarms_median: float
    false_alarms_p90: float
    sources: int
    solved_sources: int
    repetitions: int
    n_instances: int


@dataclass(frozen=True, slots=True)
class SplitSpread(Result):
    """How d_split differs between random halves, in percent.

    Attributes
    ----------
    splits
        Number of random halves.
    mean, sd, low, high
        Mean, standard deviation, smallest and largest d_split over them.
    """

    splits: int
    mean: float
    sd: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EstimatorGain(Result):
    """The gain as one estimator of the best-of-k curve shows it.

    Attributes
    ----------
    estimator
        ``exact``, ``blocks`` or ``replay``.
    uniform_gap
        Mean gap at the uniform budget, on all samples.
    d_in
        Gain decided and scored on the same curves.
    d_split
        Gain decided on one half of the samples and scored on the other.
    split_spread
        How the random halves differ.
    floor
        What d_in shows where there is nothing to gain.
    """

    estimator: str
    uniform_gap: float | Skipped
    d_in: Estimate | Skipped
    d_split: Estimate | Skipped
    split_spread: SplitSpread | Skipped
    floor: Floor | Skipped


@dataclass(frozen=True, slots=True)
class BestOfK(Result):
    """The best-of-k curves at one k: means over instances on all samples, lower is better.

    Attributes
    ----------
    k
        Samples of each instance.
    n
        Instances averaged: all that count, as no k exceeds the smallest cap.
    exact, blocks, replay
        Mean best gap in percent (mean best cost where no reference is stored) by each estimator.
    """

    k: int
    n: int
    exact: float
    blocks: float
    replay: float


@dataclass(frozen=True, slots=True)
class OperatingPoint(Result):
    """The floor at another depth and number of instances.

    Attributes
    ----------
    depth, n_instances
        Samples of each synthetic instance, and instances of a workload.
    floor
        The floor there.
    """

    depth: int
    n_instances: int
    floor: Floor | Skipped


@dataclass(frozen=True, slots=True)
class LabelBaseline(Result):
    """A budget that knows the label of an instance and nothing else.

    Attributes
    ----------
    ratio
        Samples of an instance of each label, relative to the others.
    ratio_from
        ``given``, or ``deciding half``: the mean allocation of the label there (``ratio`` is then its mean over
        halves).
    d_label
        Gain of the label budget on the scoring halves.
    residual
        Gain of the allocation minus that of the label budget, in percentage points, on the same halves.
    """

    ratio: Mapping[str, float]
    ratio_from: str
    d_label: Estimate
    residual: Estimate


@dataclass(frozen=True, slots=True)
class ProbePolicy(Result):
    """A budget that an uneven policy could really spend: the probe is paid for.

    Attributes
    ----------
    probe
        Samples of each instance that are drawn first; they are charged to the budget and stay candidates.
    repetitions
        Random probes averaged.
    d_probe
        Gain over the uniform budget, by the exact expectation given each probe.
    smallest, largest
        Fewest and most samples that an instance got.
    """

    probe: int
    repetitions: int
    d_probe: Estimate
    smallest: int
    largest: int


@dataclass(frozen=True, slots=True)
class Composition(Result):
    """Gains of random workloads with a given share of one label.

    Attributes
    ----------
    label, share
        The label, and the share asked for.
    with_label, n_instances
        Instances with the label, and in all.
    compositions
        Random workloads.
    d_in, d_split
        Mean gains over them, in percent.
    d_split_range
        Smallest and largest d_split over them.
    """

    label: str
    share: float
    with_label: int
    n_instances: int
    compositions: int
    d_in: float | Skipped
    d_split: float | Skipped
    d_split_range: Range | Skipped


@dataclass(frozen=True, slots=True)
class Dropped(Result):
    """Instances that do not count.

    Attributes
    ----------
    no_samples
        Without a measured cost.
    no_reference, bad_reference
        Without a reference while others have one, and with a reference that is not positive.
    """

    no_samples: int
    no_reference: int
    bad_reference: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.no_samples + self.no_reference + self.bad_reference


@dataclass(frozen=True, slots=True)
class SamplesAllocation(Result):
    """The allocation audit of one set of stored samples.

    Attributes
    ----------
    samples
        Its name.
    n_instances, dropped
        Instances that count, and those that do not.
    depth, deepest
        Fewest and most samples of an instance.
    per_instance, budget
        Budget per instance, and in all.
    cap
        The most samples an instance may get (the smallest cap, where instances differ in depth).
    shallow
        Whether the depth guard, four times the budget per instance, was overridden.
    quantity
        ``gap`` to the reference in percent, or ``cost`` where no reference is stored.
    estimator
        Of the figures that follow.
    d_in, d_split, split_spread, floor
        As in ``EstimatorGain``, for that estimator.
    estimators
        All three, side by side.
    curves
        The best-of-k curves, in the unit of ``quantity``: about 20 roughly geometric k from 1 to ``cap``, and the
        uniform budget.
    operating_characteristics
        The floor over depth and number of instances.
    label, probe, composition
        The label baseline, the charged probe policy, the composition sweep.
    smallest, largest
        Fewest and most samples that the allocation decided on all samples gives an instance.
    curve_residual
        Largest difference, relative to gaps that exceed 1, of the exact curve at the uniform budget by two formulas.
    budget_faults
        Allocations, of all that were made, that miss the budget or leave [1, cap].
    instances, allocation
        Names of the instances that count, and the samples each gets when decided on all samples (not in JSON).
    """

    samples: str
    n_instances: int
    dropped: Dropped
    depth: int | Skipped
    deepest: int | Skipped
    per_instance: int
    budget: int
    cap: int | Skipped
    shallow: bool
    quantity: str
    estimator: str
    d_in: Estimate | Skipped
    d_split: Estimate | Skipped
    split_spread: SplitSpread | Skipped
    floor: Floor | Skipped
    estimators: tuple[EstimatorGain, ...] | Skipped
    curves: tuple[BestOfK, ...] | Skipped
    operating_characteristics: tuple[OperatingPoint, ...] | Skipped
    label: LabelBaseline | Skipped
    probe: ProbePolicy | Skipped
    composition: tuple[Composition, ...] | Skipped
    smallest: int | Skipped
    largest: int | Skipped
    curve_residual: float | Skipped
    budget_faults: int | Skipped
    instances: tuple[str, ...] = field(default=(), metadata={"json": False})
    allocation: NDArray[np.int64] | None = field(
        default=None, metadata={"json": False}, compare=False
    )

    @property
    def skipped(self) -> str | None:
        """Why the whole member was skipped, if it was."""
        return self.estimators.reason if isinstance(self.estimators, Skipped) else None


@dataclass(frozen=True, slots=True)
class AllocationResult(AuditResult):
    """The allocation audit of every set of samples of a file."""

    NAME: ClassVar[str] = "allocation"

    items: tuple[SamplesAllocation, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a set of samples and estimator; a set that was skipped has none."""
        import pandas as pd

        rows = []
        for item in self.items:
            for gain in () if isinstance(item.estimators, Skipped) else item.estimators:
                floor = gain.floor
                rows.append(
                    {
                        "samples": item.samples,
                        "n_instances": item.n_instances,
                        "per_instance": item.per_instance,
                        **flat_row(gain),
                        "floor_median": np.nan if isinstance(floor, Skipped) else floor.median,
                        "floor_p90": np.nan if isinstance(floor, Skipped) else floor.p90,
                    }
                )
        return pd.DataFrame(rows)
