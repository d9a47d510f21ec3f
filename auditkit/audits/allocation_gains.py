"""Gains of one set of samples: scores by every estimator and policy, then one joint bootstrap of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.audits.allocation_parts import (
    Faults,
    LabelRule,
    Settings,
    best_of_k_curves,
    compositions,
    curve_points,
    estimator_floor,
    no_labels,
    operating_characteristics,
    unsolved,
)
from auditkit.audits.estimates import estimates
from auditkit.errors import AuditkitError
from auditkit.results.allocation import EstimatorGain, LabelBaseline, ProbePolicy, SplitSpread
from auditkit.results.common import Estimate, Skipped
from auditkit.statistics.bootstrap import Resampling
from auditkit.statistics.budgets import probe_scores
from auditkit.statistics.workload import (
    ESTIMATORS,
    Estimator,
    Floats,
    Scores,
    Workload,
    arrange,
    direct_values,
    held_out,
    in_sample,
    score,
)


class Measured:
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
        points = curve_points(int(workload.cap.min()), s.per_instance)
        inner = {
            e: in_sample(workload, s.per_instance, e, s.seeds["ordering"], points)
            for e in ESTIMATORS
        }
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
            "estimators": tuple(by_estimator.values()), "curves": best_of_k_curves(points, inner),
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
        if s.per_instance < 2:
            return Skipped("a budget of 1 per instance holds no probe of two samples")
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
