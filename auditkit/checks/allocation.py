"""Checks of the allocation audit: identities between independent routes, and conclusions to see."""

from __future__ import annotations

from collections.abc import Iterator

from auditkit.checks.common import Check, Severity
from auditkit.errors import counted
from auditkit.results.allocation import AllocationResult, SamplesAllocation
from auditkit.results.common import Estimate, Skipped


def check_allocation(result: AllocationResult, *, tolerance: float = 1e-12) -> list[Check]:
    """Every check of every set of samples.

    Parameters
    ----------
    result
        Of ``audit_allocation``.
    tolerance
        The largest residual of an identity, relative to the gaps where they exceed 1.
    """
    return [check for item in result.items for check in _samples(item, tolerance)]


def _samples(item: SamplesAllocation, tolerance: float) -> Iterator[Check]:
    yield _depth(item)
    yield _coverage(item)
    yield _curve(item, tolerance)
    yield _budget(item)
    yield _optimal(item, tolerance)
    yield _held_out(item)
    yield _floor(item)
    yield _estimator(item)
    yield _label(item)
    yield _probe(item)


def _judge(
    name: str, item: SamplesAllocation, failed: bool, reason: str, severity: Severity = "error"
) -> Check:
    return Check(
        f"allocation.{name}", item.samples, severity, "failed" if failed else "passed", reason
    )


def _skip(name: str, item: SamplesAllocation, reason: str, severity: Severity = "error") -> Check:
    return Check(f"allocation.{name}", item.samples, severity, "skipped", reason)


def _depth(item: SamplesAllocation) -> Check:
    """The samples are deep enough for the budget."""
    if isinstance(item.depth, Skipped):
        return _skip("depth", item, item.depth.reason, "warning")
    reason = f"fewest samples {item.depth:,}, the guard wants {4 * item.per_instance:,}"
    if item.skipped is not None:
        return _skip("depth", item, item.skipped, "warning")
    return _judge("depth", item, item.shallow, reason, "warning")


def _coverage(item: SamplesAllocation) -> Check:
    """Every instance counts."""
    d = item.dropped
    count = "counts" if item.n_instances == 1 else "count"
    reason = (
        f"{counted(item.n_instances, 'instance')} {count}; dropped: {d.no_samples:,} without samples, "
        f"{d.no_reference:,} without a reference, {d.bad_reference:,} with a reference that is not positive"
    )
    return _judge("coverage", item, d.total > 0, reason, "warning")


def _curve(item: SamplesAllocation, tolerance: float) -> Check:
    """The exact curve by the recurrence against the formula of subsets in extended precision."""
    if isinstance(item.curve_residual, Skipped):
        return _skip("curve", item, item.curve_residual.reason)
    reason = f"two formulas of the exact curve differ by {item.curve_residual:.1e} (tolerance {tolerance:.0e})"
    return _judge("curve", item, item.curve_residual > tolerance, reason)


def _budget(item: SamplesAllocation) -> Check:
    """Every allocation spends the budget to the sample, within its bounds."""
    if isinstance(item.budget_faults, Skipped):
        return _skip("budget", item, item.budget_faults.reason)
    one = item.budget_faults == 1
    miss, leave = ("misses", "leaves its") if one else ("miss", "leave their")
    reason = (
        f"{counted(item.budget_faults, 'allocation')} {miss} the budget of {counted(item.budget, 'sample')} "
        f"or {leave} bounds"
    )
    return _judge("budget", item, item.budget_faults > 0, reason)


def _optimal(item: SamplesAllocation, tolerance: float) -> Check:
    """On the curves it was decided on, the allocation of the exact curves is no worse than the uniform one."""
    if isinstance(item.estimators, Skipped):
        return _skip("optimal", item, item.estimators.reason)
    exact = next(g for g in item.estimators if g.estimator == "exact")
    if isinstance(exact.d_in, Skipped):
        return _skip("optimal", item, exact.d_in.reason)
    reason = f"exact d_in is {exact.d_in.estimate:.4g} % (must not be negative)"
    return _judge("optimal", item, exact.d_in.estimate < -100 * tolerance, reason)


def _held_out(item: SamplesAllocation) -> Check:
    """The gain survives on samples that the allocation did not see."""
    if isinstance(item.d_in, Skipped) or isinstance(item.d_split, Skipped):
        skipped = next(x for x in (item.d_in, item.d_split) if isinstance(x, Skipped))
        return _skip("held_out", item, skipped.reason, "warning")
    survives = item.d_split.excludes_zero and item.d_split.estimate > 0
    reason = f"d_in {item.d_in.estimate:.2f} %, d_split {_interval(item.d_split)}"
    return _judge("held_out", item, not survives, reason, "warning")


def _floor(item: SamplesAllocation) -> Check:
    """The in-sample gain exceeds what the same pipeline shows where there is nothing to gain."""
    if isinstance(item.d_in, Skipped) or isinstance(item.floor, Skipped):
        skipped = next(x for x in (item.d_in, item.floor) if isinstance(x, Skipped))
        return _skip("floor", item, skipped.reason, "warning")
    reason = (
        f"d_in {item.d_in.estimate:.2f} % against a null floor of {item.floor.median:.2f} % (median) and "
        f"{item.floor.p90:.2f} % (p90), {counted(item.floor.sources, 'source')}"
    )
    return _judge("floor", item, item.d_in.estimate <= item.floor.p90, reason, "warning")


def _estimator(item: SamplesAllocation) -> Check:
    """No estimator shows an in-sample gain that its own held-out gain excludes."""
    if isinstance(item.estimators, Skipped):
        return _skip("estimator", item, item.estimators.reason, "warning")
    compared = [
        (g.estimator, g.d_in.estimate, g.d_split)
        for g in item.estimators
        if isinstance(g.d_in, Estimate) and isinstance(g.d_split, Estimate)
    ]
    if not compared:
        return _skip("estimator", item, "no gain to compare", "warning")
    luck = [
        f"{name}: d_in {d_in:.2f} %, d_split {_interval(d_split)}"
        for name, d_in, d_split in compared
        if isinstance(d_split.high, float) and d_in > d_split.high
    ]
    reason = "; ".join(luck) or "every in-sample gain lies within the interval of its held-out gain"
    return _judge("estimator", item, bool(luck), reason, "warning")


def _label(item: SamplesAllocation) -> Check:
    """The allocation gains more than a budget that knows the label alone."""
    if isinstance(item.label, Skipped):
        return _skip("label_residual", item, item.label.reason, "warning")
    residual = item.label.residual
    beats = residual.excludes_zero and residual.estimate > 0
    reason = f"residual over the label baseline {_interval(residual)}"
    return _judge("label_residual", item, not beats, reason, "warning")


def _probe(item: SamplesAllocation) -> Check:
    """A policy that pays for its probe gains."""
    if isinstance(item.probe, Skipped):
        return _skip("probe", item, item.probe.reason, "warning")
    gain = item.probe.d_probe
    gains = gain.excludes_zero and gain.estimate > 0
    reason = f"a probe of {item.probe.probe:,} samples, charged: {_interval(gain)}"
    return _judge("probe", item, not gains, reason, "warning")


def _interval(x: Estimate) -> str:
    if isinstance(x.low, Skipped) or isinstance(x.high, Skipped):
        return f"{x.estimate:.2f} % (no interval)"
    return f"{x.estimate:.2f} % [{x.low:.2f}, {x.high:.2f}]"
