"""Seven points for comparisons at short budgets, after *Winning by Peeking*."""

from __future__ import annotations

from collections.abc import Sequence

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Point
from auditkit.results.common import Estimate, Skipped
from auditkit.results.scoreboard import Budget, ScoreboardAudit
from auditkit.results.search import SearchAudit
from auditkit.results.selection import SelectionResult

MOST_SLICES = 3
"""Slices of equal time that an answer lists."""


def checklists(result: SelectionResult) -> tuple[tuple[Point, ...], ...]:
    """A checklist for every scoreboard; searches have none of their own."""
    return tuple(
        checklist(item, result) if isinstance(item, ScoreboardAudit) else ()
        for item in result.items
    )


def checklist(item: ScoreboardAudit, result: SelectionResult) -> tuple[Point, ...]:
    """The seven points for one scoreboard; how candidates were selected is taken from the searches of the same file."""
    searches = [s for s in result.items if isinstance(s, SearchAudit)]
    return (
        _budget(item),
        _matched(item),
        _selected(searches),
        _noise(item),
        _independent(item),
        _one_run(item),
        _winners(item),
    )


def _budget(item: ScoreboardAudit) -> Point:
    question = "Did every system keep to the budget?"
    if isinstance(item.budget, Skipped):
        return Point(question, "missing", "Add seconds and budget_seconds to the scoreboard.")
    shares = {
        name: b.share_over_budget
        for name, b in item.budget.items()
        if isinstance(b, Budget) and isinstance(b.share_over_budget, float)
    }
    if not shares:
        return Point(question, "missing", "Add budget_seconds to the scoreboard.")
    over = {name: x for name, x in shares.items() if x > 0}
    told = ", ".join(f"{name} {numbers.share(x)}" for name, x in over.items())
    if over:
        return Point(question, "violated", f"Share of datasets over the budget: {told}.")
    return Point(
        question,
        "answered",
        f"All did on every dataset ({counted(len(shares), 'system')}).",
    )


def _matched(item: ScoreboardAudit) -> Point:
    question = "Who wins where the leader had no more time than the others?"
    if len(item.systems) == 1:
        return Point(question, "missing", "There is only one system: nothing to compare it with.")
    if isinstance(item.matched, Skipped):
        return Point(question, "missing", "Add seconds to the scoreboard.")
    slices = [
        (m, share)
        for m in item.matched
        if not isinstance(m.win_share, Skipped)
        and isinstance(share := m.win_share.get(m.system), Estimate)
    ]
    if not slices:
        return Point(
            question,
            "missing",
            "No dataset on which the leader was no slower; rerun it at equal time.",
        )
    told = "; ".join(
        f"no slower than {m.against}: {numbers.share_estimate(share)} of {m.n}"
        for m, share in slices[:MOST_SLICES]
    )
    left = len(slices) - MOST_SLICES
    more = f" In the JSON output: {counted(left, 'more slice')} of equal time." if left > 0 else ""
    return Point(question, "answered", f"Wins of {item.leader} where {told}.{more}")


def _selected(searches: Sequence[SearchAudit]) -> Point:
    question = "Were candidates selected without looking at the test set?"
    known = [s for s in searches if isinstance(s.peeking_share, float)]
    if not known:
        return Point(
            question,
            "missing",
            "Add the candidate traces as a search, with validation_score, test_score and reported_score.",
        )
    peeked = [s for s in known if isinstance(s.peeking_share, float) and s.peeking_share > 0]
    told = "; ".join(f"{s.search}: {numbers.share(s.peeking_share)}" for s in (peeked or known))
    words = "Share of datasets that report the best test score, not that of the validation choice"
    return Point(question, "violated" if peeked else "answered", f"{words}: {told}.")


def _noise(item: ScoreboardAudit) -> Point:
    question = "Do the margins exceed what choosing the best of K by noise alone gains?"
    floor = item.noise_floor
    if isinstance(floor, Skipped):
        return Point(
            question, "missing", f"Add test_size and candidates to the scoreboard ({floor.reason})."
        )
    below = floor.wins_below
    told = f"median bound {numbers.value(floor.bound.median)} over {counted(floor.n, 'dataset')}"
    if isinstance(below, Skipped):
        return Point(question, "answered", f"Not known for the wins; {told}.")
    many = below.estimate > 0.5
    return Point(
        question,
        "violated" if many else "answered",
        f"{numbers.share_estimate(below)} of the wins of {floor.system} are below it; {told}.",
    )


def _independent(item: ScoreboardAudit) -> Point:
    question = "Is every dataset counted once?"
    once = item.deduplicated
    if isinstance(once, Skipped):
        return Point(question, "missing", "Add clusters, such as the name of each dataset.")
    told = (
        f"{once.repeated:,} of {counted(once.n, 'name stands', 'names stand')} for several datasets"
    )
    if not once.repeated or isinstance(once.win_share, Skipped):
        return Point(question, "answered", f"{told}.")
    share = once.win_share[item.leader]
    return Point(
        question,
        "violated",
        f"{told}; with one record each, {item.leader} wins {numbers.share_estimate(share)}.",
    )


def _one_run(item: ScoreboardAudit) -> Point:
    question = "Were all systems measured in one run?"
    spliced = [r for r in item.reruns if r.splice]
    if spliced:
        r = spliced[0]
        before, after = (numbers.share(x[item.leader]) for x in (r.win_share, r.merged_win_share))
        return Point(
            question,
            "violated",
            f"{counted(len(spliced), 'second run')} would change the shares if merged: "
            f"{item.leader} {before} to {after}.",
        )
    told = counted(len(item.reruns), "second run") if item.reruns else "no dataset was run twice"
    return Point(question, "answered", f"{counted(item.n_records, 'record')}; {told}, no splice.")


def _winners(item: ScoreboardAudit) -> Point:
    question = "Do the released winners follow from the released scores, ties included?"
    if isinstance(item.claims, Skipped):
        return Point(question, "missing", "Add claimed_winner to the scoreboard.")
    wrong = item.claims.disagreeing
    told = f"{item.claims.n - wrong:,} of {item.claims.n:,} do, at a tie tolerance of {item.tie_tolerance:g}"
    return Point(question, "violated" if wrong else "answered", f"{told}.")
