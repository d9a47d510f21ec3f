"""Checks of the fidelity audit: identities between independent routes, and conclusions to see (docs/fidelity.md)."""

from __future__ import annotations

from collections.abc import Iterator

from auditkit.checks.common import Check, Severity
from auditkit.claims import Printed
from auditkit.errors import counted
from auditkit.results.common import Estimate, Range, Skipped
from auditkit.results.fidelity import (
    BenchmarkFidelity,
    Comparison,
    FidelityResult,
    PipelineFidelity,
)


def check_fidelity(result: FidelityResult, *, tolerance: float = 1e-12) -> list[Check]:
    """Every check of every benchmark.

    Parameters
    ----------
    result
        Of ``audit_fidelity``.
    tolerance
        The largest residual of an identity, relative to the size of the scores where they exceed 1.
    """
    return [check for item in result.items for check in _benchmark(item, tolerance)]


def _benchmark(item: BenchmarkFidelity, tolerance: float) -> Iterator[Check]:
    if not item.pipelines:
        yield _skip("pipelines", item.benchmark, "no pipeline is stored, so nothing can be checked")
    for p in item.pipelines:
        subject = f"{item.benchmark}: {p.name}"
        yield _lemma1(p, subject, tolerance)
        yield _gap_sign(p, subject, tolerance)
        if p.kind == "flat":
            yield _flat_gap(p, subject)
        yield from _released(p, subject, tolerance)
        yield _reported(p, subject)
        yield _folds(p, subject)
        yield _validation(p, subject)
        yield _coverage(p, subject)
    for c in item.comparisons:
        subject = f"{item.benchmark}: {c.first} / {c.second}"
        yield _lemma2(c, subject, tolerance)
        yield _identification(c, subject, tolerance)
        yield _reversal(c, subject)
    decomposed = {p.name for p in item.pipelines if p.kind == "decomposed"}
    for c in item.comparisons:
        if {c.first, c.second} & decomposed:
            yield _certified(c, f"{item.benchmark}: {c.first} / {c.second}")


def _judge(
    name: str, subject: str, failed: bool, reason: str, severity: Severity = "error"
) -> Check:
    return Check(f"fidelity.{name}", subject, severity, "failed" if failed else "passed", reason)


def _skip(name: str, subject: str, reason: str, severity: Severity = "error") -> Check:
    return Check(f"fidelity.{name}", subject, severity, "skipped", reason)


def _lemma1(p: PipelineFidelity, subject: str, tolerance: float) -> Check:
    """G through within-family regret against the difference of the two scores."""
    if isinstance(p.lemma1_residual, Skipped):
        return _skip("lemma1", subject, p.lemma1_residual.reason)
    reason = f"gap by within-family regret and by scores differ by {p.lemma1_residual:.1e} (tolerance {tolerance:.0e})"
    return _judge("lemma1", subject, p.lemma1_residual > tolerance, reason)


def _gap_sign(p: PipelineFidelity, subject: str, tolerance: float) -> Check:
    """No instance is deployed better than its partition score."""
    if isinstance(p.smallest_gap, Skipped):
        return _skip("gap_sign", subject, p.smallest_gap.reason)
    reason = f"the smallest per-instance gap is {p.smallest_gap:.3g} (must not be negative)"
    return _judge("gap_sign", subject, p.smallest_gap < -tolerance, reason)


def _flat_gap(p: PipelineFidelity, subject: str) -> Check:
    """The gap of a flat pipeline is exactly zero."""
    if isinstance(p.largest_gap, Skipped):
        return _skip("flat_gap", subject, p.largest_gap.reason)
    reason = f"the largest gap of a flat pipeline is {p.largest_gap:.3g} (must be exactly 0)"
    return _judge("flat_gap", subject, p.largest_gap != 0, reason)


def _released(p: PipelineFidelity, subject: str, tolerance: float) -> Iterator[Check]:
    """Released scores and their missing cells against the recomputed ones."""
    names = ("released_partition", "released_deployed", "released_mask")
    if isinstance(p.released, Skipped):
        for name in names:
            yield _skip(name, subject, p.released.reason)
        return
    differences = (p.released.partition_difference, p.released.deployed_difference)
    for name, difference in zip(names, differences, strict=False):
        reason = f"released and recomputed scores differ by at most {difference:.1e} (tolerance {tolerance:.0e})"
        yield _judge(name, subject, difference > tolerance, reason)
    wrong = p.released.mask_mismatches
    yield _judge(
        "released_mask",
        subject,
        wrong > 0,
        f"{counted(wrong, 'cell is', 'cells are')} missing in one and measured in the other",
    )


def _reported(p: PipelineFidelity, subject: str) -> Check:
    """Printed figures against each other and against the recomputed ones, within their printed precision."""
    if isinstance(p.reported, Skipped):
        return _skip("reported_figures", subject, p.reported.reason)
    printed = {name: Printed.parse(text) for name, text in p.reported.printed.items()}
    faults = [
        f"{name.replace('_', ' ')} is printed as {figure.text} and recomputed as {p.reported.recomputed[name]:.6g}"
        for name, figure in printed.items()
        if not figure.covers(p.reported.recomputed[name])
    ]
    if printed.keys() >= {"partition_score", "deployed_score", "gap"}:
        one, two, gap = (printed[name] for name in ("partition_score", "deployed_score", "gap"))
        if abs(one.value - two.value - gap.value) > one.half_unit + two.half_unit + gap.half_unit:
            faults.append(f"the printed gap {gap.text} is not {one.text} - {two.text}")
    return _judge(
        "reported_figures",
        subject,
        bool(faults),
        "; ".join(faults) or f"{counted(len(printed), 'figure agrees', 'figures agree')}",
    )


def _folds(p: PipelineFidelity, subject: str) -> Check:
    """Each instance is tested in exactly one fold per repetition."""
    if isinstance(p.fold_faults, Skipped):
        return _skip("folds", subject, p.fold_faults.reason)
    return _judge(
        "folds",
        subject,
        p.fold_faults > 0,
        f"{counted(p.fold_faults, 'instance is', 'instances are')} in no test fold of a repetition",
    )


def _validation(p: PipelineFidelity, subject: str) -> Check:
    """No instance is in the validation set of the fold that tests it."""
    if isinstance(p.validation_leaks, Skipped):
        return _skip("validation_leak", subject, p.validation_leaks.reason)
    reason = (
        f"{counted(p.validation_leaks, 'instance is', 'instances are')} both tested in a fold and in its "
        "validation set"
    )
    return _judge("validation_leak", subject, p.validation_leaks > 0, reason)


def _coverage(p: PipelineFidelity, subject: str) -> Check:
    """Every instance is valid, none rests on an imputed utility."""
    total = p.n_valid + p.n_dropped
    reason = f"{p.n_dropped:,} of {counted(total, 'instance')} dropped, {p.n_imputed} imputed by the penalty"
    return _judge("coverage", subject, p.n_dropped + p.n_imputed > 0, reason, "warning")


def _lemma2(c: Comparison, subject: str, tolerance: float) -> Check:
    """The partition advantage is the deployed one plus the difference of the gaps, in aggregate and per instance."""
    if isinstance(c.lemma2_residual, Skipped) or isinstance(c.lemma2_largest, Skipped):
        skipped = next(x for x in (c.lemma2_residual, c.lemma2_largest) if isinstance(x, Skipped))
        return _skip("lemma2", subject, skipped.reason)
    worst = max(c.lemma2_residual, c.lemma2_largest)
    reason = f"A partition - A deployed - dG is at most {worst:.1e} (tolerance {tolerance:.0e})"
    return _judge("lemma2", subject, worst > tolerance, reason)


def _identification(c: Comparison, subject: str, tolerance: float) -> Check:
    """The deployed advantage lies inside the identification interval."""
    bounds, deployed = c.identification_interval, c.deployed_advantage
    if isinstance(bounds, Skipped) or isinstance(deployed, Skipped):
        skipped = bounds if isinstance(bounds, Skipped) else deployed
        assert isinstance(skipped, Skipped)
        return _skip("identification", subject, skipped.reason)
    slack = tolerance * max(1.0, abs(bounds.low), abs(bounds.high))
    outside = not bounds.low - slack <= deployed.estimate <= bounds.high + slack
    reason = f"A deployed {deployed.estimate:.4f} against [{bounds.low:.4f}, {bounds.high:.4f}]"
    return _judge("identification", subject, outside, reason)


def _reversal(c: Comparison, subject: str) -> Check:
    """Deployment keeps the ranking of the partition scores."""
    if isinstance(c.transfer, Skipped):
        return _skip("reversal", subject, c.transfer.reason, "warning")
    assert isinstance(c.partition_advantage, Estimate)
    assert isinstance(c.deployed_advantage, Estimate)
    reason = (
        f"{c.transfer}: A partition {c.partition_advantage.estimate:+.4f}, "
        f"A deployed {c.deployed_advantage.estimate:+.4f} (n = {c.n_common})"
    )
    return _judge("reversal", subject, "reversal" in c.transfer, reason, "warning")


def _certified(c: Comparison, subject: str) -> Check:
    """The partition report certifies a winner."""
    if isinstance(c.crosses_zero, Skipped):
        return _skip("certified", subject, c.crosses_zero.reason, "warning")
    assert isinstance(c.identification_interval, Range)
    bounds = c.identification_interval
    reason = f"the partition report leaves A deployed in [{bounds.low:.4f}, {bounds.high:.4f}]"
    return _judge("certified", subject, c.crosses_zero, reason, "warning")
