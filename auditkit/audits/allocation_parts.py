"""The parts of the allocation audit that stand beside d_in and d_split: floor, label baseline, probe, composition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import AuditkitError
from auditkit.results.allocation import BestOfK, Composition, Floor, OperatingPoint
from auditkit.results.common import Range, Skipped
from auditkit.statistics.bootstrap import Progress
from auditkit.statistics.budgets import label_budgets, mean_by_label
from auditkit.statistics.composition import composition_sweep
from auditkit.statistics.null_floor import choose_sources, null_floor, null_gains
from auditkit.statistics.workload import Counts, Estimator, Floats, Scores, Workload

DEPTHS = (4, 8, 16)
"""Depths of the operating characteristics, in budgets per instance."""

SIZES = (10, 30, 100)
"""Numbers of instances of the operating characteristics."""

CURVE_POINTS = 20
"""About so many points of a best-of-k curve are kept."""

CELL_SOURCES, CELL_REPETITIONS = 10, 100
"""At most so many sources, and workloads of each, for one cell of the operating characteristics."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The audit's own options; see ``audit_allocation``."""

    per_instance: int
    estimator: Estimator
    repeat_splits: int
    probe: int | None
    probe_repetitions: int
    cap: int | None
    label_ratio: Mapping[str, float] | None
    allow_shallow: bool
    floor_sources: int | None
    floor_repetitions: int
    compositions: int
    seeds: Mapping[str, int]
    threads: int | None
    progress: Progress | None

    @property
    def probe_samples(self) -> int:
        """Samples of a probe: a tenth of the budget per instance, at least two, unless given."""
        return max(2, self.per_instance // 10) if self.probe is None else self.probe


@dataclass(slots=True)
class Faults:
    """Counts allocations that miss the budget or leave their bounds."""

    count: int = 0

    def add(self, taken: Counts, budget: int, cap: Counts, low: int = 1) -> None:
        """Look at [m, n] allocations."""
        wrong = (taken.sum(axis=1) != budget) | ((taken < low) | (taken > cap)).any(axis=1)
        self.count += int(wrong.sum())


def curve_points(cap: int, per_instance: int) -> Counts:
    """Where the best-of-k curves are read: from 1 to the cap, spaced geometrically, and the uniform budget."""
    spaced = np.geomspace(1, cap, CURVE_POINTS).round().astype(np.int64)
    return np.union1d(spaced, [per_instance])


def best_of_k_curves(
    points: Counts, scores: Mapping[Estimator, Scores]
) -> tuple[BestOfK, ...] | Skipped:
    """Mean curves over instances, of scores that were read at ``points``."""
    means: dict[str, list[float]] = {}
    n = 0
    for estimator, found in scores.items():
        assert found.curve is not None
        n = len(found.curve)
        with np.errstate(over="ignore"):
            mean = found.curve.mean(axis=0)
        if not np.isfinite(mean).all():
            return Skipped(f"a mean of the {estimator} curves is too large for a float")
        means[estimator] = mean.tolist()
    return tuple(
        BestOfK(k=k, n=n, **{estimator: mean[i] for estimator, mean in means.items()})
        for i, k in enumerate(points.tolist())
    )


def estimator_floor(workload: Workload, estimator: Estimator, s: Settings) -> Floor | Skipped:
    """The floor of one estimator on workloads of the size and depth stored."""
    sources = choose_sources(workload, s.floor_sources, s.seeds["null"])
    progress = s.progress
    gains = null_gains(
        workload,
        s.per_instance,
        estimator,
        sources=sources,
        repetitions=s.floor_repetitions,
        seed=s.seeds["null"],
        threads=s.threads,
        progress=None
        if progress is None
        else lambda done, total: progress(f"null floor, {estimator}", done, total),
    )
    return _floor(gains, workload.n, _no_floor(workload, sources))


def operating_characteristics(workload: Workload, s: Settings) -> tuple[OperatingPoint, ...]:
    """The floor over a grid of depths and numbers of instances, on a few sources."""
    few = CELL_SOURCES if s.floor_sources is None else min(CELL_SOURCES, s.floor_sources)
    sources = choose_sources(workload, few, s.seeds["null"])
    repetitions = min(CELL_REPETITIONS, s.floor_repetitions)
    cells = [(factor * s.per_instance, n) for factor in DEPTHS for n in SIZES]
    out = []
    for done, (depth, n) in enumerate(cells):
        gains = null_gains(
            workload,
            s.per_instance,
            s.estimator,
            sources=sources,
            repetitions=repetitions,
            n=n,
            depth=depth,
            limit=s.cap,
            seed=s.seeds["null"],
            threads=s.threads,
        )
        out.append(OperatingPoint(depth, n, _floor(gains, n, _no_floor(workload, sources))))
        if s.progress is not None:
            s.progress("floor over depth and instances", done + 1, len(cells))
    return tuple(out)


def _no_floor(workload: Workload, sources: Counts) -> str:
    """Why no source counts, where none does: nothing is left to gain, or a relative gain has no meaning."""
    lowest = min(workload.gaps[i, : workload.depth[i]].min() for i in sources)
    one, several = len(sources) == 1, f"{len(sources):,} source instances"
    if lowest < -workload.solved:
        none = "the one source instance does not keep" if one else f"none of the {several} keeps"
        return (
            f"{none} a positive mean at the uniform budget: some of the samples are negative, and a relative gain "
            "needs a positive mean"
        )
    every = "the one source instance is" if one else f"all {several} are"
    return f"{every} solved within the uniform budget"


def _floor(gains: Floats, n: int, reason: str) -> Floor | Skipped:
    found = null_floor(gains)
    if found.sources == 0:
        return Skipped(reason)
    return Floor(
        median=found.median,
        p90=found.p90,
        false_alarms_median=found.false_alarms_median,
        false_alarms_p90=found.false_alarms_p90,
        sources=found.sources,
        solved_sources=found.solved_sources,
        repetitions=gains.shape[1],
        n_instances=n,
    )


class LabelRule:
    """The label budget beside each allocation decided; remembers the ratios used."""

    def __init__(
        self, labels: tuple[str, ...], workload: Workload, s: Settings, faults: Faults
    ) -> None:
        self.labels, self.workload, self.settings, self.faults = labels, workload, s, faults
        self.ratios: list[dict[str, float]] = []

    def __call__(self, taken: Counts) -> Counts:
        budget = self.workload.n * self.settings.per_instance
        given = self.settings.label_ratio
        ratio = dict(given) if given is not None else mean_by_label(self.labels, taken)
        self.ratios.append(
            {label: ratio[label] for label in sorted(set(self.labels)) if label in ratio}
        )
        counts = label_budgets(self.labels, ratio, budget, self.workload.cap)
        self.faults.add(counts[np.newaxis], budget, self.workload.cap)
        return counts

    def ratio(self) -> dict[str, float]:
        """The mean over halves of each label's ratio, scaled so that a budget spent evenly has ratio 1."""
        mean = {label: float(np.mean([r[label] for r in self.ratios])) for label in self.ratios[0]}
        if self.settings.label_ratio is not None:
            return mean
        return {label: x / self.settings.per_instance for label, x in mean.items()}


def no_labels(labels: tuple[str, ...] | None) -> str | None:
    """Why nothing can be said by label, if so."""
    if labels is None:
        return "no labels stored"
    return "only one label" if len(set(labels)) < 2 else None


def compositions(
    workload: Workload, labels: tuple[str, ...] | None, s: Settings
) -> tuple[Composition, ...] | Skipped:
    """The composition sweep of every label; of the first in sorted order where there are two."""
    reason = no_labels(labels)
    if reason is not None or labels is None:
        return Skipped(reason or "no labels stored")
    names = sorted(set(labels))
    wanted = names[:1] if len(names) == 2 else names
    out: list[Composition] = []
    reasons = []
    for label in wanted:
        try:
            out += _sweep(workload, labels, label, s)
        except AuditkitError as error:
            reasons.append(f"{label}: {error}")
    return tuple(out) if out else Skipped("; ".join(reasons))


def _sweep(
    workload: Workload, labels: tuple[str, ...], label: str, s: Settings
) -> list[Composition]:
    composed = composition_sweep(
        workload,
        labels,
        label,
        s.per_instance,
        s.estimator,
        compositions=s.compositions,
        seed=s.seeds["composition"],
        split_seed=s.seeds["split"],
        ordering_seed=s.seeds["ordering"],
    )
    return [
        Composition(
            label=label,
            share=c.share,
            with_label=c.with_label,
            n_instances=c.n,
            compositions=s.compositions,
            d_in=_mean(c.d_in),
            d_split=_mean(c.d_split),
            d_split_range=Skipped(SOLVED)
            if np.isnan(c.d_split).any()
            else Range(float(c.d_split.min()), float(c.d_split.max())),
        )
        for c in composed
    ]


SOLVED = "the uniform gap is zero: every instance is solved within the uniform budget"


def _mean(gains: Floats) -> float | Skipped:
    return Skipped(SOLVED) if np.isnan(gains).any() else float(gains.mean())


def unsolved(scores: Scores, unit: str) -> Skipped | None:
    """Why a relative gain has no meaning on these scores, if so."""
    mean = float(scores.uniform.mean())
    if mean > scores.solved:
        return None
    if unit == "cost":
        return Skipped(
            f"the mean cost at the uniform budget is {mean:.3g}: a relative gain needs a positive one"
        )
    if mean < -scores.solved:
        return Skipped(
            f"the mean gap at the uniform budget is {mean:.3g} %: the samples beat the reference, "
            "a relative gain has no meaning"
        )
    return Skipped(SOLVED)


def present(rows: NDArray[np.bool_], labels: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The labels of the instances that count."""
    return (
        None if labels is None else tuple(x for x, keep in zip(labels, rows, strict=True) if keep)
    )
