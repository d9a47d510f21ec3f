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

from auditkit.audits.allocation_parts import (
    Faults,
    LabelRule,
    Settings,
    compositions,
    estimator_floor,
    no_labels,
    operating_characteristics,
    present,
    unsolved,
)
from auditkit.audits.estimates import estimates
from auditkit.errors import AuditkitError, UsageError
from auditkit.results.allocation import (
    AllocationResult,
    Dropped,
    EstimatorGain,
    LabelBaseline,
    ProbePolicy,
    SamplesAllocation,
    SplitSpread,
)
from auditkit.results.common import Estimate, Skipped, Stamp
from auditkit.schema import AuditData, Samples
from auditkit.statistics.bootstrap import Progress, Resampler, Resampling
from auditkit.statistics.budgets import probe_scores
from auditkit.statistics.workload import (
    ESTIMATORS,
    Estimator,
    Floats,
    Scores,
    Workload,
    arrange,
    as_workload,
    direct_values,
    held_out,
    in_sample,
    part_seeds,
    score,
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
        No samples are stored, or an option is out of its range.

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
    if not data.samples:
        raise UsageError("nothing for the audit allocation", expected="samples", where=data.path)
    settings = Settings(
        per_instance, estimator, repeat_splits, probe, probe_repetitions, cap,
        None if label_ratio is None else dict(label_ratio), allow_shallow,
        floor_sources, floor_repetitions, compositions, part_seeds(seed), threads, progress,
    )  # fmt: skip
    _check(settings)
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
    measured = _Measured(workload, costs, labels, quantity, s, plan)
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
            f"{int((workload.depth < 2 * p).sum())} of {workload.n} instances have fewer than {2 * p} samples "
            f"(the fewest: {depth}): a half does not hold the budget of {p} per instance"
        )
    if below and not s.allow_shallow:
        return (
            f"{below} of {workload.n} instances have fewer than {GUARD * p} samples (the fewest: {depth}), four times "
            f"the budget of {p} per instance: too shallow; lower the budget, or override (--shallow)"
        )
    return None


def _skip(start: dict[str, Any], reason: str) -> SamplesAllocation:
    skipped = Skipped(reason)
    known = {"depth": skipped, "deepest": skipped, **start}
    missing: dict[str, Any] = dict.fromkeys(
        ("cap", "d_in", "d_split", "split_spread", "floor", "estimators", "operating_characteristics", "label", "probe",
        "composition", "smallest", "largest", "curve_residual", "budget_faults"), skipped,
    )  # fmt: skip
    return SamplesAllocation(**known, shallow=False, **missing)


class _Measured:
    """All figures of one set of samples: scores first, then one joint bootstrap of all of them."""

    def __init__(
        self, workload: Workload, costs: Floats, labels: tuple[str, ...] | None, quantity: str, s: Settings,
        plan: Resampling,
    ) -> None:  # fmt: skip
        self.workload, self.costs, self.labels, self.quantity, self.s, self.plan = (
            workload, costs, labels, quantity, s, plan,
        )  # fmt: skip
        self.faults = Faults()
        self.columns: dict[str, tuple[Floats, Floats] | Skipped] = {}

    def fields(self) -> dict[str, Any]:
        """The fields of ``SamplesAllocation`` that need the samples."""
        s, workload = self.s, self.workload
        inner = {e: in_sample(workload, s.per_instance, e, s.seeds["ordering"]) for e in ESTIMATORS}
        rule = self._label_rule()
        outer = {e: self._held_out(e, rule) for e in ESTIMATORS}
        for e in ESTIMATORS:
            self._add(f"d_in {e}", inner[e], inner[e].allocated)
            self._add(f"d_split {e}", outer[e], outer[e].allocated)
            for scores in (inner[e], outer[e]):
                self.faults.add(scores.taken, workload.n * s.per_instance, workload.cap)
        main = outer[s.estimator]
        if isinstance(rule, LabelRule) and main.baseline is not None:
            self._add("label", main, main.baseline)
            self._add("residual", main, main.uniform + main.allocated - main.baseline)
        probe = self._probe()
        found = self._bootstrap()
        by_estimator = {e: self._estimator(e, inner[e], outer[e], found) for e in ESTIMATORS}
        chosen = by_estimator[s.estimator]
        taken = inner[s.estimator].taken[0]
        return {
            "d_in": chosen.d_in, "d_split": chosen.d_split, "split_spread": chosen.split_spread, "floor": chosen.floor,
            "estimators": tuple(by_estimator.values()),
            "operating_characteristics": operating_characteristics(workload, s),
            "label": self._label(rule, found), "probe": self._probe_result(probe, found),
            "composition": compositions(workload, self.labels, s),
            "smallest": int(taken.min()), "largest": int(taken.max()), "curve_residual": self._curve_residual(),
            "budget_faults": self.faults.count, "allocation": taken,
        }  # fmt: skip

    def _add(self, key: str, scores: Scores, allocated: Floats) -> None:
        """A gain to be bootstrapped: gaps are averaged over repetitions first, instances are the unit."""
        reason = unsolved(scores, self.quantity)
        uniform = scores.uniform.mean(axis=0)
        self.columns[key] = reason or (100 * (uniform - allocated.mean(axis=0)), uniform)

    def _bootstrap(self) -> dict[str, Estimate | Skipped]:
        out: dict[str, Estimate | Skipped] = {
            k: v for k, v in self.columns.items() if isinstance(v, Skipped)
        }
        pairs = {k: v for k, v in self.columns.items() if not isinstance(v, Skipped)}
        if pairs:
            sample = np.stack([column for pair in pairs.values() for column in pair], axis=1)
            out |= zip(
                pairs, estimates(self.plan.intervals(sample, statistic="ratio")), strict=True
            )
        return out

    def _held_out(self, estimator: Estimator, rule: LabelRule | Skipped) -> Scores:
        s = self.s
        return held_out(
            self.workload, s.per_instance, estimator, repetitions=s.repeat_splits, split_seed=s.seeds["split"],
            ordering_seed=s.seeds["ordering"],
            baseline=rule if isinstance(rule, LabelRule) and estimator == s.estimator else None,
        )  # fmt: skip

    def _estimator(
        self,
        estimator: Estimator,
        inner: Scores,
        outer: Scores,
        found: Mapping[str, Estimate | Skipped],
    ) -> EstimatorGain:
        uniform = float(inner.uniform.mean())
        return EstimatorGain(
            estimator=estimator,
            uniform_gap=uniform,
            d_in=found[f"d_in {estimator}"],
            d_split=found[f"d_split {estimator}"],
            split_spread=self._spread(outer),
            floor=estimator_floor(self.workload, estimator, self.s),
        )

    def _spread(self, outer: Scores) -> SplitSpread | Skipped:
        gains = outer.gains()
        if len(gains) < 2:
            return Skipped("one random half (see --repeat-splits)")
        if np.isnan(gains).any():
            return unsolved(outer, self.quantity) or Skipped(
                "the uniform gap is zero on some halves"
            )
        return SplitSpread(
            len(gains),
            float(gains.mean()),
            float(gains.std(ddof=1)),
            float(gains.min()),
            float(gains.max()),
        )

    def _label_rule(self) -> LabelRule | Skipped:
        reason = no_labels(self.labels)
        if reason is not None or self.labels is None:
            return Skipped(reason or "no labels stored")
        missing = sorted(set(self.labels) - set(self.s.label_ratio or self.labels))
        if missing:
            return Skipped(f"no ratio given for label {missing[0]!r}")
        return LabelRule(self.labels, self.workload, self.s, self.faults)

    def _label(
        self, rule: LabelRule | Skipped, found: Mapping[str, Estimate | Skipped]
    ) -> LabelBaseline | Skipped:
        if isinstance(rule, Skipped):
            return rule
        gain, residual = found["label"], found["residual"]
        if isinstance(gain, Skipped) or isinstance(residual, Skipped):
            return gain if isinstance(gain, Skipped) else Skipped("no residual")
        source = "deciding half" if self.s.label_ratio is None else "given"
        return LabelBaseline(rule.ratio(), source, gain, residual)

    def _probe(self) -> NDArray[np.int64] | Skipped:
        s = self.s
        try:
            uniform, allocated, taken = probe_scores(
                self.workload, self.costs, s.per_instance, s.probe_samples,
                repetitions=s.probe_repetitions, seed=s.seeds["probe"],
            )  # fmt: skip
        except AuditkitError as error:
            return Skipped(str(error))
        self.faults.add(taken, self.workload.n * s.per_instance, self.workload.cap, s.probe_samples)
        self._add("probe", Scores(uniform, allocated, taken, self.workload.solved), allocated)
        return taken

    def _probe_result(
        self, taken: NDArray[np.int64] | Skipped, found: Mapping[str, Estimate | Skipped]
    ) -> ProbePolicy | Skipped:
        if isinstance(taken, Skipped):
            return taken
        gain = found["probe"]
        if isinstance(gain, Skipped):
            return gain
        return ProbePolicy(
            self.s.probe_samples, self.s.probe_repetitions, gain, int(taken.min()), int(taken.max())
        )

    def _curve_residual(self) -> float:
        workload, p = self.workload, self.s.per_instance
        at = np.full((workload.n, 1), p)
        one = score(arrange(workload, "exact", 0), workload, "exact", at)[:, 0]
        other = direct_values(workload, p)
        return float((np.abs(one - other) / np.maximum(1, np.abs(other))).max())
