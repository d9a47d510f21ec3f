"""What time each system had, and the datasets on which one had no more than another."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from auditkit.audits.selection.records import Flags, Floats
from auditkit.results.common import Skipped
from auditkit.results.scoreboard import Budget, NominalBudget, TimeRatio

NO_BUDGET = Skipped("no positive budget is stored")


def nominal_budget(nominal: Floats | None) -> NominalBudget | Skipped:
    """What the nominal budgets [n] are, over the positive ones."""
    given = np.empty(0) if nominal is None else nominal[nominal > 0]
    if not len(given):
        return NO_BUDGET
    median = float(np.quantile(given, 0.5))
    return NominalBudget(len(given), median, float(given.min()), float(given.max()))


def budgets(
    seconds: Floats, nominal: Floats | None, systems: tuple[str, ...]
) -> dict[str, Budget | Skipped]:
    """Realised seconds [n, S] of each system against the nominal budget [n].

    Quantiles interpolate linearly. A share over the budget is of strictly longer times.
    """
    return {system: _budget(seconds[:, column], nominal) for column, system in enumerate(systems)}


def _budget(seconds: Floats, nominal: Floats | None) -> Budget | Skipped:
    timed = ~np.isnan(seconds)
    if not timed.any():
        return Skipped("no time is stored")
    taken = seconds[timed]
    median, p90 = np.quantile(taken, [0.5, 0.9])
    allowed = np.full(len(seconds), np.nan) if nominal is None else nominal
    budgeted = timed & (allowed > 0)
    with np.errstate(over="ignore"):
        used = seconds[budgeted] / allowed[budgeted]
    return Budget(
        n=int(timed.sum()),
        median=float(median),
        mean=float(taken.mean()),
        p90=float(p90),
        max=float(taken.max()),
        n_budget=len(used),
        share_over_budget=float((used > 1).mean()) if len(used) else NO_BUDGET,
        share_over_twice=float((used > 2).mean()) if len(used) else NO_BUDGET,
        p90_of_budget=_quantile(used, 0.9) if len(used) else NO_BUDGET,
    )


def _quantile(ratios: Floats, q: float) -> float | Skipped:
    if np.isinf(ratios).any():
        return Skipped("a ratio is too large for a float")
    return float(np.quantile(ratios, q))


def time_ratios(seconds: Floats, systems: tuple[str, ...]) -> tuple[TimeRatio, ...]:
    """Median per-dataset ratio of the times of every pair, where the second took any time."""
    return tuple(
        TimeRatio(systems[a], systems[b], *median_ratio(seconds[:, a], seconds[:, b]))
        for a, b in combinations(range(len(systems)), 2)
    )


def median_ratio(above: Floats, below: Floats) -> tuple[int, float | Skipped]:
    """Median of [n] ratios where both are known and the lower is positive, and how many there are."""
    usable = ~np.isnan(above) & (below > 0)
    with np.errstate(over="ignore"):
        ratios = above[usable] / below[usable]
    median = _quantile(ratios, 0.5) if len(ratios) else Skipped("no dataset with both times")
    return len(ratios), median


def no_slower(seconds: Floats, system: int, others: tuple[int, ...]) -> Flags:
    """[n]: the system took no longer than each of the others; false where a time is missing."""
    return np.asarray((seconds[:, [system]] <= seconds[:, list(others)]).all(axis=1))
