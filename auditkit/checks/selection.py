"""Checks of the selection audit: what the scores must give, and conclusions to see (docs/selection.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from auditkit.checks.common import Check, Severity
from auditkit.errors import counted
from auditkit.results.common import Estimate, Skipped
from auditkit.results.scoreboard import (
    FAR_BELOW,
    Budget,
    HeadToHead,
    Rerun,
    ScoreboardAudit,
    TimeRatio,
)
from auditkit.results.search import SearchAudit
from auditkit.results.selection import SelectionResult

OVERRUN = 2.0
"""A system overruns when a tenth of its runs take more than this many budgets."""

TIME_RATIO = 1.25
"""Times are unequal when the median ratio of the winner's to the loser's exceeds this."""

MOST_BELOW = 0.5
"""Margins are below the noise when more than this share of the leader's wins is."""


def check_selection(
    result: SelectionResult,
    *,
    tolerance: float = 1e-12,
    overrun: float = OVERRUN,
    time_ratio: float = TIME_RATIO,
    far_below: float = FAR_BELOW,
    most_below: float = MOST_BELOW,
) -> list[Check]:
    """Every check of every scoreboard and search.

    Parameters
    ----------
    result
        Of ``audit_selection``.
    tolerance
        The largest residual of an identity.
    overrun
        Warn when the 90th percentile of a system's seconds exceeds this many budgets.
    time_ratio
        Warn when the winner of a pair with the leading system had more than this many times the
        loser's seconds, as the median over datasets.
    far_below
        Warn when the tie tolerance is less than this part of the median noise bound.
    most_below
        Warn when more than this share of the leading system's wins is below the noise bound.
    """
    checks: list[Check] = []
    for item in result.items:
        if isinstance(item, SearchAudit):
            checks.append(_peeking(item))
            continue
        checks += [_claimed_winner(item), _ranks(item, tolerance)]
        checks += _overruns(item, overrun)
        checks += _unequal_times(item, time_ratio)
        checks += [_tie_tolerance(item, far_below), _margin(item, most_below), _duplicates(item)]
        checks += _splices(item)
    return checks


def _judge(name: str, subject: str, severity: Severity, failed: bool, reason: str) -> Check:
    return Check(f"selection.{name}", subject, severity, "failed" if failed else "passed", reason)


def _skip(name: str, subject: str, severity: Severity, why: Skipped) -> Check:
    return Check(f"selection.{name}", subject, severity, "skipped", why.reason)


def _claimed_winner(item: ScoreboardAudit) -> Check:
    """Released winners are those that the scores give."""
    claims = item.claims
    if isinstance(claims, Skipped):
        return _skip("claimed_winner", item.scoreboard, "error", claims)
    reason = f"{claims.disagreeing} of {claims.n} claimed winners are not what the scores give"
    if claims.examples:
        first = claims.examples[0]
        reason += (
            f", first on {first.dataset}: claimed {first.claimed}, recomputed {first.recomputed}"
        )
    return _judge("claimed_winner", item.scoreboard, "error", claims.disagreeing > 0, reason)


def _ranks(item: ScoreboardAudit, tolerance: float) -> Check:
    """Mean ranks against head-to-head counts: 1 + sum over the others of (losses + ties / 2) / n."""
    expected = dict.fromkeys(item.systems, 1.0)
    for pair in item.head_to_head:
        expected[pair.first] += (pair.losses + pair.ties / 2) / item.n_datasets
        expected[pair.second] += (pair.wins + pair.ties / 2) / item.n_datasets
    residual = max(abs(expected[s] - item.mean_rank[s]) for s in item.systems)
    # a mean of n ranks up to S carries a rounding error of its own
    allowed = max(tolerance, 2.0**-52 * item.n_datasets * len(item.systems))
    reason = (
        f"mean ranks and head-to-head counts differ by {residual:.1e} (tolerance {allowed:.0e})"
    )
    return _judge("ranks", item.scoreboard, "error", residual > allowed, reason)


def _overruns(item: ScoreboardAudit, overrun: float) -> Iterator[Check]:
    """A tenth of a system's runs take more than ``overrun`` budgets."""
    if isinstance(item.budget, Skipped):
        yield _skip("budget_overrun", item.scoreboard, "warning", item.budget)
        return
    for system, budget in item.budget.items():
        yield _overrun(f"{item.scoreboard}: {system}", budget, overrun)


def _overrun(subject: str, budget: Budget | Skipped, overrun: float) -> Check:
    if isinstance(budget, Skipped):
        return _skip("budget_overrun", subject, "warning", budget)
    p90, over = budget.p90_of_budget, budget.share_over_budget
    if isinstance(p90, Skipped):
        return _skip("budget_overrun", subject, "warning", p90)
    share = "" if isinstance(over, Skipped) else f"; {over:.1%} of the runs are over budget"
    reason = f"90th percentile is {p90:.2f} budgets (at most {overrun:g}){share}"
    return _judge("budget_overrun", subject, "warning", p90 > overrun, reason)


def _unequal_times(item: ScoreboardAudit, limit: float) -> Iterator[Check]:
    """The winner of a pair with the leading system had more time than the loser."""
    if isinstance(item.time_ratio, Skipped):
        yield _skip("realised_time", item.scoreboard, "warning", item.time_ratio)
        return
    for ratio, pair in zip(item.time_ratio, item.head_to_head, strict=True):
        if item.leader not in (ratio.first, ratio.second):
            continue
        yield _unequal_time(
            f"{item.scoreboard}: {ratio.first} / {ratio.second}", ratio, pair, limit
        )


def _unequal_time(subject: str, ratio: TimeRatio, pair: HeadToHead, limit: float) -> Check:
    if isinstance(ratio.median, Skipped):
        return _skip("realised_time", subject, "warning", ratio.median)
    if pair.wins == pair.losses:
        reason = f"neither wins the pair ({pair.wins} : {pair.losses})"
        return _judge("realised_time", subject, "warning", False, reason)
    ahead = pair.first if pair.wins > pair.losses else pair.second
    inverse = 1 / ratio.median if ratio.median else math.inf
    had = ratio.median if ahead == ratio.first else inverse
    reason = (
        f"{ahead} wins {max(pair.wins, pair.losses)} : {min(pair.wins, pair.losses)} "
        f"with {had:.3g} times the seconds (median; at most {limit:g})"
    )
    return _judge("realised_time", subject, "warning", had > limit, reason)


def _tie_tolerance(item: ScoreboardAudit, far_below: float) -> Check:
    """What counts as a tie is not finer than the scores can tell."""
    floor = item.noise_floor
    ratio = floor if isinstance(floor, Skipped) else floor.tie_ratio
    if isinstance(floor, Skipped) or isinstance(ratio, Skipped):
        why = ratio if isinstance(ratio, Skipped) else Skipped("no noise floor")
        return _skip("tie_tolerance", item.scoreboard, "warning", why)
    reason = (
        f"the tie tolerance {item.tie_tolerance:g} is {ratio:.1e} of the median noise bound "
        f"{floor.bound.median:.2g} (at least {far_below:g})"
    )
    return _judge("tie_tolerance", item.scoreboard, "warning", ratio < far_below, reason)


def _margin(item: ScoreboardAudit, most_below: float) -> Check:
    """The leading system's wins exceed what choosing on the test set can give by noise."""
    floor = item.noise_floor
    below = floor if isinstance(floor, Skipped) else floor.wins_below
    if not isinstance(below, Estimate) or isinstance(floor, Skipped):
        why = below if isinstance(below, Skipped) else Skipped("no noise floor")
        return _skip("margin", item.scoreboard, "warning", why)
    reason = (
        f"{below.estimate:.1%} of the {counted(below.n, 'win')} of {floor.system} have a margin below the "
        f"noise bound (at most {most_below:.0%})"
    )
    return _judge("margin", item.scoreboard, "warning", below.estimate > most_below, reason)


def _duplicates(item: ScoreboardAudit) -> Check:
    """No cluster is counted more than once."""
    single = item.deduplicated
    if isinstance(single, Skipped):
        return _skip("duplicates", item.scoreboard, "warning", single)
    reason = (
        f"{single.repeated:,} of {counted(single.n, 'cluster holds', 'clusters hold')} more than one of the "
        f"{counted(item.n_datasets, 'dataset')}"
    )
    return _judge("duplicates", item.scoreboard, "warning", single.repeated > 0, reason)


def _splices(item: ScoreboardAudit) -> Iterator[Check]:
    """No choice between two runs moves the shares while some system stays as it was."""
    if not item.reruns:
        yield _skip("splice", item.scoreboard, "warning", Skipped("no dataset was run twice"))
    for rerun in item.reruns:
        subject = f"{item.scoreboard}: {rerun.run}"
        yield _judge("splice", subject, "warning", rerun.splice, splice_reason(rerun, item.leader))


def splice_reason(rerun: Rerun, leader: str) -> str:
    """What merging a second run would change, in one sentence."""
    before, after = rerun.win_share[leader], rerun.merged_win_share[leader]
    moved = ", ".join(rerun.remeasured) or "no system"
    stable = ", ".join(
        f"{system} is identical on {rerun.systems[system].identical} of {rerun.systems[system].n}"
        for system in rerun.stable
    )
    return (
        f"merging the run changes {leader}'s share from {before:.1%} to {after:.1%}; "
        f"{moved} moved{f'; {stable}' if stable else ''}"
    )


def _peeking(item: SearchAudit) -> Check:
    """Reported scores are not the best test scores."""
    peeking = item.peeking
    if isinstance(peeking, Skipped):
        return _skip("peeking", item.search, "warning", peeking)
    reason = (
        f"on {peeking.best_only} of {counted(peeking.n, 'dataset')} the reported score equals the best test "
        "score and not that of the validation choice"
    )
    return _judge("peeking", item.search, "warning", peeking.best_only > 0, reason)
