"""Checks of the local audit: two routes to each declaration, and conclusions to see (docs/local.md)."""

from __future__ import annotations

from collections.abc import Iterator

from auditkit.checks.common import Check, Severity
from auditkit.errors import counted
from auditkit.results.common import Estimate, Skipped
from auditkit.results.local import LocalComparison, LocalResult

MOST_FALLBACK = 0.1
"""The largest share of test observations that may be without a neighbour."""


def check_local(result: LocalResult, *, tolerance: float = 1e-12) -> list[Check]:
    """Every check of every pair of losses and alpha.

    Parameters
    ----------
    result
        Of ``audit_local``.
    tolerance
        Not used: the identity checked here is one of counts.
    """
    return [check for item in result.items for check in _item(item)]


def _item(item: LocalComparison) -> Iterator[Check]:
    subject = f"{item.losses}, alpha {item.alpha:g}"
    if isinstance(item.aggregate_winner, Skipped):
        yield _skip("p_values", subject, item.aggregate_winner.reason)
        yield _skip("certified", subject, item.aggregate_winner.reason, "warning")
    else:
        yield _p_values(item, subject)
        yield _certified(item, subject)
        yield _false_winners(item, subject)
        yield _aggregate(item, subject)
        yield _neighbours(item, subject)
    yield _calibration_size(item, subject)
    yield _complete(item, subject)


def _judge(
    name: str, subject: str, broken: bool, reason: str, severity: Severity = "error"
) -> Check:
    return Check(f"local.{name}", subject, severity, "failed" if broken else "passed", reason)


def _skip(name: str, subject: str, reason: str, severity: Severity = "error") -> Check:
    return Check(f"local.{name}", subject, severity, "skipped", reason)


def _p_values(item: LocalComparison, subject: str) -> Check:
    """Thresholds and p-values declare the same winners."""
    wrong = sum(rule.p_value_mismatches for rule in item.rules)
    reason = (
        f"thresholds and p-values declare different winners {counted(wrong, 'time')} "
        f"({counted(len(item.rules), 'rule')}, {counted(item.n_test, 'test observation')})"
    )
    return _judge("p_values", subject, wrong > 0, reason)


def _calibration_size(item: LocalComparison, subject: str) -> Check:
    """The calibration split is large enough to declare anything at all."""
    reason = (
        f"{counted(item.n_calibration, 'calibration observation')}; alpha {item.alpha:g} takes at least "
        f"{item.smallest_calibration:,}"
    )
    small = item.n_calibration < item.smallest_calibration
    return _judge("calibration_size", subject, small, reason, "warning")


def _certified(item: LocalComparison, subject: str) -> Check:
    """Some rule certifies a winner somewhere."""
    counts = ", ".join(f"{rule.rule} {rule.n_declared:,}" for rule in item.rules)
    reason = f"test observations of {item.n_test:,} with a certified winner: {counts}"
    nothing = not any(rule.n_declared for rule in item.rules)
    return _judge("certified", subject, nothing, reason, "warning")


def _false_winners(item: LocalComparison, subject: str) -> Check:
    """The false winner rate of each direction is compatible with its bound."""
    rates = [
        (rule.rule, letter, rate)
        for rule in item.rules
        for letter, rate in (("A", rule.false_a), ("B", rule.false_b))
        if isinstance(rate, Estimate)
    ]
    rule, letter, worst = max(rates, key=lambda entry: entry[2].estimate)
    low = worst.low if isinstance(worst.low, float) else worst.estimate
    above = [
        entry for entry in rates if isinstance(entry[2].low, float) and entry[2].low > item.alpha
    ]
    reason = (
        f"largest false winner rate {worst.estimate:.4f} ({rule}, {letter}; interval from {low:.4f}) against "
        f"alpha {item.alpha:g}"
    )
    if above:
        reason += "; calibration and test observations do not look exchangeable"
    return _judge("false_winners", subject, bool(above), reason, "warning")


def _aggregate(item: LocalComparison, subject: str) -> Check:
    """The aggregate winner is the local winner at most observations."""
    a, b, gap = item.prevalence_a, item.prevalence_b, item.mean_gap
    assert isinstance(a, Estimate)
    assert isinstance(b, Estimate)
    assert isinstance(gap, Estimate)
    reason = (
        f"aggregate winner {item.aggregate_winner} (mean gap {gap.estimate:+.4g}); the local mean favours A at "
        f"{a.estimate:.1%} and B at {b.estimate:.1%} of {counted(item.n_test, 'test observation')}"
    )
    apart = (item.aggregate_winner == "A" and b.estimate > a.estimate) or (
        item.aggregate_winner == "B" and a.estimate > b.estimate
    )
    return _judge("aggregate", subject, apart, reason, "warning")


def _neighbours(item: LocalComparison, subject: str) -> Check:
    """Most test observations have neighbours."""
    if isinstance(item.radius, Skipped):
        return _skip(
            "neighbours", subject, "neighbours are counted: there always are some", "warning"
        )
    assert isinstance(item.n_fallback, int)
    reason = (
        f"no neighbour within {item.radius:g} of {item.n_fallback:,} of {counted(item.n_test, 'test observation')}: "
        "the global mean stands in"
    )
    return _judge(
        "neighbours", subject, item.n_fallback > MOST_FALLBACK * item.n_test, reason, "warning"
    )


def _complete(item: LocalComparison, subject: str) -> Check:
    """No observation is left out."""
    columns = ", ".join(f"{name} {n:,}" for name, n in item.missing.items())
    reason = f"{item.n_excluded:,} of {counted(item.n_rows - item.n_fit, 'observation')} left out"
    if columns:
        reason += f" (missing: {columns})"
    return _judge("complete", subject, item.n_excluded > 0, reason, "warning")
