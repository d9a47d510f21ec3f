"""Plots of the local audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from auditkit.reports import style
from auditkit.reports.document import Figure
from auditkit.results.common import Estimate
from auditkit.results.local import LocalComparison, LocalPoints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWN = 800
"""Observations of one kind that are drawn in a map; of more, one in two, three, .. is."""

_LOOK = {-1: (style.BLUE, "o"), 1: (style.VERMILION, "s"), 0: (style.GREY, ".")}


def figures(items: Sequence[LocalComparison]) -> tuple[Figure, ...]:
    """The map at the first alpha, and where there are several, the false winner rate against alpha."""
    found = (certified_map(items[0]),)
    return (*found, false_winners(items)) if len(items) > 1 else found


def certified_map(item: LocalComparison) -> Figure:
    """Test observations in a plane, by the winner that ``local_standardized`` certifies."""
    points = item.points
    assert isinstance(points, LocalPoints)
    rule = "local_standardized"
    winners = points.declared[rule]
    rows = {code: np.flatnonzero(winners == code) for code in (-1, 1, 0)}
    counts = {code: len(at) for code, at in rows.items()}
    steps = {code: max(1, -(-n // MOST_DRAWN)) for code, n in counts.items()}
    labels = {
        -1: f"{style.label(item.model_a)} certified ({counts[-1]:,})",
        1: f"{style.label(item.model_b)} certified ({counts[1]:,})",
        0: f"nobody ({counts[0]:,})",
    }
    kinds = {-1: f"where {item.model_a} is", 1: f"where {item.model_b} is", 0: "where nobody is"}
    flat = points.position.shape[1] == 1

    def draw(axes: Axes) -> None:
        for code in (0, -1, 1):
            colour, marker = _LOOK[code]
            at = rows[code][:: steps[code]]
            y = points.centre[at] if flat else points.position[at, 1]
            axes.scatter(
                points.position[at, 0],
                y,
                s=20 if code == 0 else 16,
                c=colour,
                marker=marker,
                linewidths=0,
                label=labels[code],
            )
        axes.set_xlabel(style.label(points.axes[0], 48))
        axes.set_ylabel("local mean of the score" if flat else style.label(points.axes[1], 48))
        style.legend_above(axes)

    where = (
        f"by {points.axes[0]} and local mean score"
        if flat
        else f"in the plane of {points.axes[0]} and {points.axes[1]}"
    )
    thinned = [f"one in {steps[c]} of those {of}" for c, of in kinds.items() if steps[c] > 1]
    some = f"; drawn are {' and '.join(thinned)}" if thinned else ""
    alt = (
        f"Test observations {where}: {counts[-1]:,} of {len(winners):,} where {item.model_a} is certified, "
        f"{counts[1]:,} where {item.model_b} is, {counts[0]:,} where nobody is{some}."
    )
    return Figure(
        f"Where a winner is certified: {rule}, alpha {item.alpha:g}",
        alt,
        draw,
        (6.4, 4.2),
    )


def false_winners(items: Sequence[LocalComparison]) -> Figure:
    """False winner rate of each rule against alpha."""
    items = sorted(items, key=lambda item: item.alpha)
    alphas = [item.alpha for item in items]
    rates = {
        key: [
            rule.false_winner_rate.estimate
            for item in items
            for rule in item.rules
            if rule.rule == key and isinstance(rule.false_winner_rate, Estimate)
        ]
        for key in (rule.rule for rule in items[0].rules)
    }

    def draw(axes: Axes) -> None:
        axes.plot(
            [0, max(alphas)], [0, max(alphas)], color=style.GREY, linestyle="--", label="alpha"
        )
        for (name, values), marker in zip(rates.items(), style.MARKERS, strict=False):
            axes.plot(alphas, values, marker=marker, label=name)
        axes.set_xlabel("alpha")
        axes.set_ylabel("false winner rate")
        style.legend_above(axes)

    alt = "False winner rate on the test split against alpha. " + " ".join(
        f"{name}: {', '.join(f'{v:.3f} at {a:g}' for a, v in zip(alphas, values, strict=True))}."
        for name, values in rates.items()
    )
    return Figure("How often a declared winner does not win, against alpha", alt, draw)
