"""The instance-wise null floor: what the pipeline reports where all instances are alike.

Source: *Sampling Luck Masquerades as Allocation Gain* (arXiv:2608.13087); docs/allocation.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from auditkit.errors import UsageError
from auditkit.statistics.threads import run_parts
from auditkit.statistics.workload import ESTIMATORS, Counts, Estimator, Floats, Workload

QUANTILE = 0.95
"""The level of the per-source quantile."""

_TABLE = 2**22  # most weights of the exact curve held at once (32 MiB)
_ROWS = 5_000  # synthetic instances a part


def choose_sources(workload: Workload, most: int | None, seed: int) -> Counts:
    """Rows of the instances that serve as sources: all of them, or ``most`` drawn at random, in stored order."""
    from auditkit.kernels.streams import random_order

    order = np.empty(workload.n, np.int64)
    random_order(np.uint64(seed), 2**62, 0, 0, order)
    return np.sort(order if most is None else order[:most])


def null_gains(
    workload: Workload,
    per_instance: int,
    estimator: Estimator = "exact",
    *,
    sources: Counts | None = None,
    repetitions: int = 200,
    n: int | None = None,
    depth: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Floats:
    """In-sample gains of workloads whose instances are all resampled from one source instance.

    Parameters
    ----------
    workload
        Whose instances are the sources.
    per_instance
        Budget per synthetic instance.
    estimator
        Of the curves.
    sources
        Rows that serve as sources; all by default.
    repetitions
        Synthetic workloads of each source.
    n, depth
        Synthetic instances of a workload and samples of each; by default as many as stored.
    limit
        The most samples that one instance may get; half its depth where that is less, or by default.
    seed
        The draws of an instance depend on (seed, source, repetition, instance) alone.
    threads, progress
        As in ``run_parts``; the result does not depend on them.

    Returns
    -------
    ndarray
        [sources, repetitions] gains in percent; NaN where the uniform gap is zero.

    Raises
    ------
    UsageError
        A cap is below the budget per instance.
    """
    rows = np.arange(workload.n) if sources is None else np.asarray(sources, dtype=np.int64)
    count = workload.n if n is None else n
    out = np.empty((len(rows), repetitions))
    if depth is None:
        depths, caps = workload.depth[rows], workload.cap[rows]
    else:
        depths = np.full(len(rows), depth)
        half = max(depth // 2, 1)
        caps = np.full(len(rows), half if limit is None else min(half, limit))
    if estimator not in ESTIMATORS:
        raise UsageError("unknown estimator", found=repr(estimator), expected=", ".join(ESTIMATORS))
    if len(rows) and not 1 <= per_instance <= caps.min():
        raise UsageError(
            "budget per instance out of range",
            found=per_instance,
            expected=f"from 1 to {caps.min()}",
        )
    done = 0

    def report(now: int, _: int) -> None:
        if progress is not None:
            progress(done + now, out.size)

    for d, cap in sorted(set(zip(depths.tolist(), caps.tolist(), strict=True))):
        alike = np.flatnonzero((depths == d) & (caps == cap))
        work = _Part(workload, rows, alike, estimator, d, cap, count, per_instance, seed, out)
        size = len(alike) * repetitions
        run_parts(work, size, max(1, _ROWS // count), threads, report)
        done += size
    return out


class _Part:
    """A part of the pipelines of all sources of one depth."""

    def __init__(
        self, workload: Workload, rows: Counts, alike: Counts, estimator: Estimator, depth: int, cap: int, n: int,
        per_instance: int, seed: int, out: Floats,
    ) -> None:  # fmt: skip
        from auditkit.kernels.curves import weight_table

        self.workload, self.rows, self.alike, self.estimator, self.out = (
            workload,
            rows,
            alike,
            estimator,
            out,
        )
        self.fixed = (depth, cap, n, per_instance, np.uint64(seed))
        held = min(cap + 1, _TABLE // depth) if estimator == "exact" else 0
        self.weights, self.reach = np.zeros((held, depth)), np.zeros(held, np.int64)
        weight_table(depth, self.weights, self.reach)

    def __call__(self, first: int, last: int) -> None:
        repetitions = self.out.shape[1]
        while first < last:
            at, repetition = divmod(first, repetitions)
            stop = min(last - first, repetitions - repetition)
            self._run(int(self.alike[at]), repetition, repetition + stop)
            first += stop

    def _run(self, at: int, first: int, last: int) -> None:
        from auditkit.kernels.floor import null_gains_exact, null_gains_ordered

        source = int(self.rows[at])
        costs = np.sort(self.workload.gaps[source, : self.workload.depth[source]])
        out = self.out[at, first:last]
        fixed = (*self.fixed, source, first, self.workload.solved)
        if self.estimator == "exact":
            null_gains_exact(costs, *fixed, self.weights, self.reach, out)
        else:
            null_gains_ordered(self.estimator == "blocks", costs, *fixed, out)


@dataclass(frozen=True, slots=True)
class NullFloor:
    """The floor over sources; the gains are in percent.

    Attributes
    ----------
    median, p90
        Over sources, of the 95th percentile of the gains of one source; NaN where no source is left.
    false_alarms_median, false_alarms_p90
        Share of all null gains above each of the two, averaged over sources.
    sources, solved_sources
        Sources that count, and those left out because some workload of theirs had no gap to reduce.
    """

    median: float
    p90: float
    false_alarms_median: float
    false_alarms_p90: float
    sources: int
    solved_sources: int


def null_floor(gains: Floats) -> NullFloor:
    """Summarise [sources, repetitions] null gains.

    The maximum over sources is never the floor: it grows with their number.
    """
    counted = gains[~np.isnan(gains).any(axis=1)]
    left_out = len(gains) - len(counted)
    if not len(counted):
        return NullFloor(np.nan, np.nan, np.nan, np.nan, 0, left_out)
    quantiles = np.quantile(counted, QUANTILE, axis=1)
    median, p90 = float(np.median(quantiles)), float(np.quantile(quantiles, 0.9))
    above, above_p90 = (float((counted > floor).mean()) for floor in (median, p90))
    return NullFloor(median, p90, above, above_p90, len(counted), left_out)
