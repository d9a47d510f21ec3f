"""Plots of scoreboards: mean ranks, and realised times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from auditkit.errors import counted
from auditkit.reports import numbers, style
from auditkit.reports.document import Figure
from auditkit.results.common import Skipped
from auditkit.results.scoreboard import Budget, NominalBudget, ScoreboardAudit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 24  # systems that a plot can show and still be read


def ranks(item: ScoreboardAudit, alpha: float = 0.05) -> Figure | None:
    """Mean ranks, best on top; bars join systems that no head-to-head test tells apart.

    As a critical-difference diagram (Demsar, JMLR 7, 2006), with Holm-adjusted sign tests in place of the Nemenyi test.
    """
    order = sorted(item.mean_rank, key=lambda system: item.mean_rank[system])[:_MOST]
    if len(order) < 2:
        return None
    groups = indistinct(item, order, alpha)

    def draw(axes: Axes) -> None:
        x = [item.mean_rank[system] for system in order]
        axes.hlines(range(len(order)), 1, x, color=style.RULE, linewidth=1)
        axes.plot(x, range(len(order)), "o", color=style.BLUE, markersize=7, label="mean rank")
        for place, group in enumerate(groups):
            ends = [item.mean_rank[group[0]], item.mean_rank[group[-1]]]
            y = len(order) - 0.35 + 0.35 * place
            name = "_" if place else "not told apart"  # one entry in the legend
            axes.plot(
                ends, [y, y], color=style.VERMILION, linewidth=4, solid_capstyle="butt", label=name
            )
        axes.set_yticks(range(len(order)), labels=[style.label(system) for system in order])
        axes.set_ylim(len(order) - 0.4 + 0.35 * len(groups), -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.set_xlabel("mean rank (1 is best)")
        if groups:
            style.legend_above(axes)

    told = ", ".join(f"{style.label(s)} {numbers.value(item.mean_rank[s], 2)}" for s in order)
    joined = "; ".join(" and ".join(map(style.label, group)) for group in groups)
    level = f"Holm-adjusted sign tests at {alpha:g}"
    return Figure(
        "Mean ranks",
        f"Mean ranks over {counted(item.n_datasets, 'dataset')}: {told}. "
        + (
            f"Not told apart by {level}: {joined}." if groups else f"All are told apart by {level}."
        ),
        draw,
        (5.6, 1.2 + 0.34 * len(order) + 0.15 * len(groups)),
    )


def indistinct(item: ScoreboardAudit, order: Sequence[str], alpha: float) -> list[tuple[str, ...]]:
    """Longest runs of systems, in the order of their ranks, of which no pair is told apart."""
    apart = {frozenset((p.first, p.second)) for p in item.head_to_head if p.holm_p < alpha}
    found: list[tuple[str, ...]] = []
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and not any(
            frozenset((order[i], order[end])) in apart for i in range(start, end)
        ):
            end += 1
        group = tuple(order[start:end])
        if len(group) > 1 and not any(set(group) <= set(other) for other in found):
            found.append(group)
    return found


def times(item: ScoreboardAudit) -> Figure | None:
    """Median, 90th percentile and largest realised seconds beside the nominal budget, and the share of runs over it."""
    if isinstance(item.budget, Skipped):
        return None
    nominal = item.nominal_budget
    known = {name: b for name, b in item.budget.items() if isinstance(b, Budget) and b.median > 0}
    shown = sorted(known, key=lambda name: -known[name].median)[:_MOST]
    if not shown:
        return None

    def draw(axes: Axes) -> None:
        rows = range(len(shown))
        median, p90, largest = (
            [getattr(known[name], part) for name in shown] for part in ("median", "p90", "max")
        )
        axes.hlines(rows, median, largest, color=style.RULE, linewidth=2)
        axes.plot(median, rows, "o", color=style.BLUE, markersize=7, label="median")
        axes.plot(p90, rows, "D", color=style.VERMILION, label="90th percentile")
        axes.plot(largest, rows, "|", color=style.INK, markersize=10, label="largest")
        ends = [min(median), max(largest)]
        if isinstance(nominal, NominalBudget):
            which = "budget" if nominal.same else "median budget"
            name = f"{which}, {nominal.median:g} s"
            axes.axvline(nominal.median, color=style.GREY, linestyle="--", label=name)
            ends = [min(*ends, nominal.median), max(*ends, nominal.median)]
        if ends[1] > 20 * ends[0]:
            axes.set_xscale("log")
        else:
            axes.set_xlim(left=0)
        axes.set_yticks(rows, labels=[f"{style.label(s, 20)}{_over(known[s])}" for s in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.set_xlabel("realised seconds")
        style.legend_above(axes)

    told = "; ".join(
        f"{style.label(s)} median {known[s].median:.0f}, 90th percentile {known[s].p90:.0f}, "
        f"largest {known[s].max:.0f}{_over(known[s])} (n = {known[s].n})"
        for s in shown
    )
    return Figure(
        "Realised time" if isinstance(nominal, Skipped) else "Realised time against budget",
        f"Seconds: {told}. {nominal_budget(nominal)}",
        draw,
        (5.6, 1.3 + 0.4 * len(shown)),
    )


def nominal_budget(nominal: NominalBudget | Skipped) -> str:
    """A sentence on the nominal budget."""
    if isinstance(nominal, Skipped):
        return "No budget is stored."
    return f"Nominal budget: {nominal_seconds(nominal)}, on {counted(nominal.n, 'dataset')}."


def nominal_seconds(nominal: NominalBudget) -> str:
    """The nominal budget; its median and range where datasets differ."""
    if nominal.same:
        return f"{nominal.median:g} s"
    return f"{nominal.median:g} s (median; {nominal.min:g} to {nominal.max:g} s)"


def _over(budget: Budget) -> str:
    if isinstance(budget.share_over_budget, Skipped):
        return ""
    return f", {numbers.share(budget.share_over_budget, 0)} over budget"
