"""Plots of the fidelity audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from auditkit.errors import counted
from auditkit.reports import numbers, style
from auditkit.reports.document import Figure
from auditkit.results.common import Estimate, Range, Skipped
from auditkit.results.fidelity import Comparison, PipelineFidelity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 24  # rows that a plot can show and still be read
_NAMED = 6  # points that can carry their name


def figures(
    pipelines: Sequence[PipelineFidelity], pairs: Sequence[Comparison], digits: int
) -> tuple[Figure, ...]:
    """All plots that the results allow.

    Parameters
    ----------
    pipelines
        Those of one benchmark.
    pairs
        Their comparisons, the leader on partition scores first, the most telling pair first.
    digits
        Decimals of the scores, for the descriptions.
    """
    found = [gaps(pipelines, digits)]
    measured = [
        c
        for c in pairs
        if isinstance(c.partition_advantage, Estimate)
        and isinstance(c.deployed_advantage, Estimate)
        and isinstance(c.gap_difference, Estimate)
    ]
    if measured:
        found += [
            advantages(measured, digits),
            safety(measured, digits),
            identification(measured, digits),
        ]
    return tuple(figure for figure in found if figure is not None)


def gaps(pipelines: Sequence[PipelineFidelity], digits: int) -> Figure | None:
    """Bars of the gap G with intervals, largest first."""
    bars = [
        (p.name, p.gap) for p in pipelines if p.kind == "decomposed" and isinstance(p.gap, Estimate)
    ]
    if not bars:
        return None
    bars.sort(key=lambda bar: -bar[1].estimate)
    shown = bars[:_MOST]

    def draw(axes: Axes) -> None:
        for y, (_, gap) in enumerate(shown):
            axes.barh(y, gap.estimate, height=0.6, color=style.BLUE)
            if isinstance(gap.low, float) and isinstance(gap.high, float):
                axes.plot([gap.low, gap.high], [y, y], color=style.INK, marker="|")
        _rows(axes, [style.label(name) for name, _ in shown])
        axes.axvline(0, color=style.GREY, linewidth=0.8)
        axes.set_xlabel("gap G = partition score - deployed score")

    told = "; ".join(f"{style.label(name)} {numbers.estimate(gap, digits)}" for name, gap in shown)
    return Figure(
        "Utility lost in deployment",
        f"Bars of the gap G with its interval: {told}{_more(bars, shown)}.",
        draw,
        (5.6, 1.2 + 0.34 * len(shown)),
    )


def advantages(pairs: Sequence[Comparison], digits: int) -> Figure:
    """Partition against deployed advantage, the diagonal, and the quadrant of reversals."""

    def draw(axes: Axes) -> None:
        x, y = _points(axes, pairs, "deployed_advantage")
        low, high = min(0, *y), max(1e-12, *x, *y)
        margin = 0.06 * (high - low)
        axes.set_xlim(min(0, *x) - margin, high + margin)
        axes.set_ylim(min(low - 2 * margin, -4 * margin), high + margin)
        axes.axhspan(axes.get_ylim()[0], 0, color=style.SHADE, zorder=0, linewidth=0)
        axes.axline((0, 0), slope=1, color=style.GREY, linestyle="--", linewidth=1)
        axes.axhline(0, color=style.GREY, linewidth=0.8)
        axes.text(
            0.98, 0.02, "reversal: the leader loses", transform=axes.transAxes, ha="right", va="bottom", fontsize=9
        )  # fmt: skip
        axes.set_xlabel("A partition: the lead in the partition report")
        axes.set_ylabel("A deployed: the lead of what runs")

    reversed_ = sum(_point(c, "deployed_advantage") < 0 for c in pairs)
    return Figure(
        "Does the lead survive deployment?",
        "Partition advantage of each leader against its deployed advantage; on the dashed diagonal nothing is lost, "
        f"in the shaded area the ranking is reversed. {reversed_} of "
        f"{counted(len(pairs), 'pair lies', 'pairs lie')} in the shaded area. "
        f"{_told(pairs, digits, 'deployed_advantage', 'deployed')}",
        draw,
        (5.6, 4.4),
    )


def safety(pairs: Sequence[Comparison], digits: int) -> Figure:
    """Gap difference against partition advantage: below the diagonal the lead is deployment-safe."""

    def draw(axes: Axes) -> None:
        x, y = _points(axes, pairs, "gap_difference")
        low, high = min(0, *y), max(1e-12, *x, *y)
        margin = 0.06 * (high - low)
        axes.set_xlim(min(0, *x) - margin, high + margin)
        axes.set_ylim(low - 2 * margin, high + 3 * margin)
        edge = max(*axes.get_xlim(), *axes.get_ylim())
        axes.fill_between(
            [0, edge], [0, edge], [edge, edge], color=style.SHADE, zorder=0, linewidth=0
        )
        axes.axline((0, 0), slope=1, color=style.GREY, linestyle="--", linewidth=1)
        axes.axhline(0, color=style.GREY, linewidth=0.8)
        axes.annotate(
            "unsafe: dG exceeds the lead", (0, axes.get_ylim()[1]), (4, -4), textcoords="offset points",
            va="top", fontsize=9,
        )  # fmt: skip
        axes.set_xlabel("A partition: the lead in the partition report")
        axes.set_ylabel("dG: what the inner selectors take of it")

    safe = sum(c.deployment_safe is True for c in pairs)
    return Figure(
        "Is the lead deployment-safe?",
        "Difference of the gaps against the partition advantage of each leader; below the dashed diagonal the lead is "
        f"deployment-safe. {safe} of {counted(len(pairs), 'pair is', 'pairs are')} safe. "
        f"{_told(pairs, digits, 'gap_difference', 'dG')}",
        draw,
        (5.6, 4.4),
    )


def identification(pairs: Sequence[Comparison], digits: int) -> Figure | None:
    """What the partition report leaves open, beside the partition and the deployed advantage."""
    known = [c for c in pairs if isinstance(c.identification_interval, Range)]
    if not known:
        return None
    shown = known[:_MOST]

    def draw(axes: Axes) -> None:
        known = [c.identification_interval for c in shown]
        low, high = (
            [b.low for b in known if isinstance(b, Range)],
            [b.high for b in known if isinstance(b, Range)],
        )
        rows = range(len(shown))
        axes.hlines(rows, low, high, color=style.BLUE, linewidth=6, alpha=0.45, label="possible")
        reported = [_point(c, "partition_advantage") for c in shown]
        deployed = [_point(c, "deployed_advantage") for c in shown]
        axes.plot(
            reported, rows, "o", color=style.PAPER, markeredgecolor=style.INK, label="reported"
        )
        axes.plot(deployed, rows, "D", color=style.VERMILION, markersize=5, label="deployed")
        style.legend_above(axes)
        _rows(axes, [_name(c) for c in shown])
        axes.axvline(0, color=style.INK, linewidth=0.8)
        axes.set_xlabel("advantage of the leader")

    told = "; ".join(
        f"{_name(c)} [{numbers.value(b.low, digits)}, {numbers.value(b.high, digits)}]"
        for c in shown
        if isinstance(b := c.identification_interval, Range)
    )
    certified = sum(c.crosses_zero is False for c in known)
    return Figure(
        "What the partition report leaves open",
        f"Identification intervals of the deployed advantage; {certified} of {len(known)} exclude zero: "
        f"{told}{_more(known, shown)}.",
        draw,
        (5.6, 1.3 + 0.34 * len(shown)),
    )


def _points(
    axes: Axes, pairs: Sequence[Comparison], vertical: str
) -> tuple[list[float], list[float]]:
    """Every pair as a point, with its intervals and its name where there are few; all coordinates drawn."""
    x = [_point(c, "partition_advantage") for c in pairs]
    y = [_point(c, vertical) for c in pairs]
    if len(pairs) > _NAMED:
        axes.plot(x, y, "o", color=style.BLUE, markersize=3.5, alpha=0.6)
        return x, y
    all_x, all_y = list(x), list(y)
    for i, (c, a, b) in enumerate(zip(pairs, x, y, strict=True)):
        colour = style.CYCLE[i % len(style.CYCLE)]
        horizontal, across = _ends(c.partition_advantage, a), _ends(getattr(c, vertical), b)
        all_x += horizontal
        all_y += across
        axes.plot(horizontal, (b, b), color=colour, linewidth=1, alpha=0.55)
        axes.plot((a, a), across, color=colour, linewidth=1, alpha=0.55)
        axes.plot(
            a, b, style.MARKERS[i % len(style.MARKERS)], color=colour, markersize=7, label=_name(c)
        )
    axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.16), ncols=2, handletextpad=0.2)
    return all_x, all_y


def _ends(x: Estimate | Skipped, centre: float) -> tuple[float, float]:
    if isinstance(x, Estimate) and isinstance(x.low, float) and isinstance(x.high, float):
        return x.low, x.high
    return centre, centre


def _point(c: Comparison, name: str) -> float:
    value = getattr(c, name)
    assert isinstance(value, Estimate)
    return value.estimate


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Names down the vertical axis, the first on top."""
    axes.set_yticks(range(len(names)), labels=list(names))
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _name(c: Comparison) -> str:
    return f"{style.label(c.first, 18)} over {style.label(c.second, 18)}"


def _told(pairs: Sequence[Comparison], digits: int, vertical: str, word: str) -> str:
    shown = pairs[:_NAMED]
    told = "; ".join(
        f"{_name(c)}: partition {numbers.signed(_point(c, 'partition_advantage'), digits)}, "
        f"{word} {numbers.signed(_point(c, vertical), digits)}"
        for c in shown
    )
    return f"{told}{_more(pairs, shown)}."


def _more(all_: Sequence[object], shown: Sequence[object]) -> str:
    rest = len(all_) - len(shown)
    return f"; {rest} more are in the tables" if rest else ""
