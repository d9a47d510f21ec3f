"""Is a gain from spending a best-of-k budget unevenly real, or sampling luck?

Source: *Sampling Luck Masquerades as Allocation Gain* (arXiv:2608.13087). An allocation that is decided and scored on
the same stored samples wins even where all instances are alike; held-out halves and the null floor tell how much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.audits.allocation_gains import Measured
from auditkit.audits.allocation_parts import (
    Settings,
    present,
)
from auditkit.audits.inputs import require
from auditkit.errors import AuditkitError, UsageError
from auditkit.results.allocation import (
    AllocationResult,
    Dropped,
    SamplesAllocation,
)
from auditkit.results.common import Skipped, Stamp
from auditkit.schema import AuditData, Samples
from auditkit.statistics.bootstrap import Progress, Resampler, Resampling
from auditkit.statistics.workload import (
    ESTIMATORS,
    Estimator,
    Floats,
    Workload,
    as_workload,
    part_seeds,
)

GUARD = 4
"""The depth guard: an instance must have this many times the budget per instance."""

ROUNDING = 100 * 2.0**-23
"""A gap in percent that is all rounding where costs were stored in single precision."""


def audit_allocation(
    data: AuditData,
    *,
    per_instance: int = 100,
    estimator: Estimator = "exact",
    repeat_splits: int = 1,
    probe: int | None = None,
    probe_repetitions: int = 20,
    cap: int | None = None,
    label_ratio: Mapping[str, float] | Sequence[tuple[str, float]] | None = None,
    allow_shallow: bool = False,
    floor_sources: int | None = 50,
    floor_repetitions: int = 200,
    compositions: int = 20,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    progress: Progress | None = None,
) -> AllocationResult:
    """Audit every set of stored samples: is a best-of-k budget better spent unevenly?

    Parameters
    ----------
    data
        An audit file, or arrays in memory.
    per_instance
        Budget per instance; the uniform budget gives every instance so many samples.
    estimator
        Of the best-of-k curves, for the main figures: ``exact``, ``blocks`` or ``replay``. All three are shown.
    repeat_splits
        Random halves over which d_split is averaged.
    probe, probe_repetitions
        Samples of the charged probe (by default a tenth of the budget per instance, at least two), and random
        probes averaged.
    cap
        The most samples that one instance may get: half its depth, or this where it is less.
    label_ratio
        Samples of an instance of each label relative to the others, for the label baseline; by default the mean
        allocation of the label on the deciding half.
    allow_shallow
        Audit samples that the depth guard refuses: those with fewer than four times the budget per instance.
    floor_sources, floor_repetitions
        Source instances of the null floor (at most; None for all) and workloads resampled from each.
    compositions
        Random workloads for each share of the composition sweep.
    replicates, confidence, seed, threads, resampler
        As in ``bootstrap``; the other random parts have seeds of their own, derived from ``seed`` and recorded.

    Returns
    -------
    AllocationResult
        Samples that cannot be audited are there with the reason.

    Raises
    ------
    UsageError
        No samples are stored, an option is out of its range, or ``label_ratio`` names an unknown label.

    Notes
    -----
    d = (uniform - allocated) / uniform in percent, of mean gaps over instances. Its interval resamples instances with
    the allocation fixed: a ratio of resampled means. It says what the same allocation rule's budgets would gain on
    other instances like these; it holds when the instances are independent draws from one population, and it does not
    cover the luck of the stored samples, which the floor and the halves show. With several halves the gaps of an
    instance are averaged over halves first.

    Examples
    --------
    >>> import auditkit as ak
    >>> result = ak.audit_allocation(ak.demo_data(), per_instance=20, replicates=500, floor_repetitions=20)
    >>> item = result.items[0]
    >>> item.n_instances, item.depth, item.budget
    (24, 400, 480)
    >>> item.d_split.low > 0
    True
    """
    require(data, "allocation")
    settings = Settings(
        per_instance, estimator, repeat_splits, probe, probe_repetitions, cap,
        None if label_ratio is None else dict(label_ratio), allow_shallow,
        floor_sources, floor_repetitions, compositions, part_seeds(seed), threads, progress,
    )  # fmt: skip
    _check(settings)
    _check_labels(settings, data)
    plan = Resampling(replicates, confidence, seed, "percentile", resampler, threads, progress)
    items = tuple(
        _audit_samples(name, member, settings, plan) for name, member in data.samples.items()
    )
    own = {
        f.name: getattr(settings, f.name)
        for f in fields(settings)
        if f.name not in ("threads", "progress")
    }
    own["probe"] = settings.probe_samples
    stamp = {
        "replicates": replicates, "confidence": confidence, "seed": seed, "method": "percentile",
        "resampler": resampler, "allocation": own,
    }  # fmt: skip
    return AllocationResult(stamp=Stamp(data.path, data.sha256, stamp), items=items)


def _check_labels(s: Settings, data: AuditData) -> None:
    """Every ratio must be that of a label of some member."""
    known = sorted({label for member in data.samples.values() for label in member.label or ()})
    for label in s.label_ratio or ():
        if label not in known:
            raise UsageError(
                "label_ratio of an unknown label",
                found=repr(label),
                expected="one of " + ", ".join(map(repr, known))
                if known
                else "labels, none are stored",
                where=data.path,
            )


def _check(s: Settings) -> None:
    if s.estimator not in ESTIMATORS:
        raise UsageError(
            "unknown estimator", found=repr(s.estimator), expected=", ".join(ESTIMATORS)
        )
    for name in (
        "per_instance",
        "repeat_splits",
        "probe_repetitions",
        "floor_repetitions",
        "compositions",
    ):
        if getattr(s, name) < 1:
            raise UsageError(f"bad {name}", found=getattr(s, name), expected="at least 1")
    if s.floor_sources is not None and s.floor_sources < 1:
        raise UsageError("bad floor_sources", found=s.floor_sources, expected="at least 1")
    if s.cap is not None and s.cap < s.per_instance:
        raise UsageError(
            "bad cap", found=s.cap, expected=f"at least {s.per_instance}, the budget per instance"
        )
    if s.probe is not None and not 2 <= s.probe <= s.per_instance:
        raise UsageError(
            "bad probe",
            found=s.probe,
            expected=f"from 2 to {s.per_instance}, the budget per instance",
        )
    for label, ratio in (s.label_ratio or {}).items():
        if not 0 < ratio < np.inf:
            raise UsageError(
                f"bad ratio of label {label!r}", found=ratio, expected="a positive number"
            )


def _gaps(member: Samples) -> tuple[Floats, NDArray[np.bool_], Dropped, str]:
    """Gaps in percent (or costs), which instances count, how many do not, and which of the two it is."""
    measured = ~np.isnan(member.cost[:, 0])
    missing = int((~measured).sum())
    reference = member.reference
    if reference is None or np.isnan(reference).all():
        return member.cost, measured, Dropped(missing, 0, 0), "cost"
    known, positive = ~np.isnan(reference), reference > 0
    dropped = Dropped(
        missing, int((measured & ~known).sum()), int((measured & known & ~positive).sum())
    )
    scale = np.where(positive, reference, np.nan)[:, np.newaxis]
    with np.errstate(over="ignore"):
        return 100 * (member.cost / scale - 1), measured & positive, dropped, "gap"


def _audit_samples(name: str, member: Samples, s: Settings, plan: Resampling) -> SamplesAllocation:
    gaps, keep, dropped, quantity = _gaps(member)
    start: dict[str, Any] = {
        "samples": name, "n_instances": int(keep.sum()), "dropped": dropped, "per_instance": s.per_instance,
        "budget": int(keep.sum()) * s.per_instance, "quantity": quantity, "estimator": s.estimator,
    }  # fmt: skip
    if not keep.any():
        why = (
            "no instance has samples and a positive reference"
            if quantity == "gap"
            else "no instance has samples"
        )
        return _skip(start, why)
    try:
        workload = as_workload(
            gaps[keep], limit=s.cap, solved=ROUNDING if quantity == "gap" else 0.0
        )
    except AuditkitError as error:
        return _skip(start, str(error))
    depth = int(workload.depth.min())
    start |= {"depth": depth, "deepest": int(workload.depth.max())}
    shallow = depth < GUARD * s.per_instance
    refused = _too_shallow(workload, s)
    if refused is not None:
        return _skip(start, refused)
    labels = present(keep, member.label)
    instances = tuple(x for x, counts in zip(member.instances, keep, strict=True) if counts)
    costs = member.cost[keep]
    measured = Measured(workload, costs, labels, quantity, s, plan)
    return SamplesAllocation(
        **start,
        cap=int(workload.cap.min()),
        shallow=shallow,
        **measured.fields(),
        instances=instances,
    )


def _too_shallow(workload: Workload, s: Settings) -> str | None:
    depth, p = int(workload.depth.min()), s.per_instance
    below = int((workload.depth < GUARD * p).sum())
    if depth < 2 * p:
        return (
            f"too shallow: {int((workload.depth < 2 * p).sum())} of {workload.n} instances below {2 * p} samples "
            f"(the fewest: {depth}); a half does not hold the budget of {p} per instance"
        )
    if below and not s.allow_shallow:
        return (
            f"too shallow: {below} of {workload.n} instances below {GUARD * p} samples (the fewest: {depth}), four "
            f"times the budget of {p} per instance; lower the budget, or override (--shallow)"
        )
    return None


def _skip(start: dict[str, Any], reason: str) -> SamplesAllocation:
    skipped = Skipped(reason)
    known = {"depth": skipped, "deepest": skipped, **start}
    missing: dict[str, Any] = dict.fromkeys(
        ("cap", "d_in", "d_split", "split_spread", "floor", "estimators", "curves", "operating_characteristics",
        "label", "probe", "composition", "smallest", "largest", "curve_residual", "budget_faults"), skipped,
    )  # fmt: skip
    return SamplesAllocation(**known, shallow=False, **missing)
