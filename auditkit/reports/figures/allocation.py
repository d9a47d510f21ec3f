"""Plots of the allocation audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditkit.errors import counted
from auditkit.reports import numbers, style
from auditkit.reports.document import Figure
from auditkit.results.allocation import BestOfK, Floor, OperatingPoint, SamplesAllocation
from auditkit.results.common import Estimate, Skipped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIGITS = 2


def figures(item: SamplesAllocation, level: str) -> tuple[Figure, ...]:
    """The gain by each estimator, the best-of-k curves, and the null floor over depth; what there is of them."""
    found = [gains_by_estimator(item, level)]
    if not isinstance(item.curves, Skipped):
        found.append(best_of_k(item.curves, item))
    points = item.operating_characteristics
    if not isinstance(points, Skipped) and any(isinstance(p.floor, Floor) for p in points):
        found.append(floor_by_depth(points, item.estimator))
    return tuple(found)


def gains_by_estimator(item: SamplesAllocation, level: str) -> Figure:
    """Per estimator: the floor as a bar, d_in and d_split with their intervals."""
    assert not isinstance(item.estimators, Skipped)
    gains = item.estimators

    def draw(axes: Axes) -> None:
        named: set[str] = set()

        def once(name: str) -> str | None:
            if name in named:
                return None
            named.add(name)
            return name

        for row, g in enumerate(gains):
            if isinstance(g.floor, Floor):
                axes.barh(row, g.floor.median, height=0.6, color=style.SHADE,
                          label=once("null floor (median; line: p90)"))  # fmt: skip
                axes.plot(
                    [g.floor.p90] * 2, [row - 0.3, row + 0.3], color=style.GREY, linewidth=1.2
                )
            for name, x, colour, marker, shift in (
                ("d_in, same samples", g.d_in, style.VERMILION, "o", -0.14),
                ("d_split, held out", g.d_split, style.BLUE, "s", 0.14),
            ):
                if isinstance(x, Skipped):
                    continue
                if isinstance(x.low, float) and isinstance(x.high, float):
                    axes.plot([x.low, x.high], [row + shift] * 2, color=colour)
                axes.plot([x.estimate], [row + shift], marker=marker, color=colour, linestyle="none",
                          label=once(name))  # fmt: skip
        axes.axvline(0, color=style.INK, linewidth=0.8)
        axes.set_yticks(range(len(gains)), [g.estimator for g in gains])
        axes.invert_yaxis()
        axes.set_xlabel(f"gain over the uniform budget [%], {level} intervals")
        if named:
            style.legend_above(axes)

    said = "; ".join(
        f"{g.estimator}: d_in {_point(g.d_in)} %, d_split {_point(g.d_split)} %, floor {_median(g.floor)} %"
        for g in gains
    )
    return Figure(
        "How much of the gain is the estimator",
        f"Gain of each curve estimator. {said}.",
        draw,
        (6.4, 2.9),
    )


def _median(floor: Floor | Skipped) -> str:
    return numbers.MISSING if isinstance(floor, Skipped) else numbers.value(floor.median, DIGITS)


def _point(x: Estimate | Skipped) -> str:
    return numbers.MISSING if isinstance(x, Skipped) else numbers.value(x.estimate, DIGITS)


def best_of_k(points: tuple[BestOfK, ...], item: SamplesAllocation) -> Figure:
    """The best-of-k curve of each estimator over all samples, with the uniform budget marked."""
    what, unit = ("gap", " [%]") if item.quantity == "gap" else ("cost", "")
    k = [p.k for p in points]
    lines = (  # the first is broad: the others often lie on it
        ("exact", [p.exact for p in points], style.BLUE, "-", "", 3.6),
        ("blocks", [p.blocks for p in points], style.VERMILION, "--", "s", 1.2),
        ("replay", [p.replay for p in points], style.GREEN, ":", "^", 1.2),
    )

    def draw(axes: Axes) -> None:
        axes.axvline(item.per_instance, color=style.GREY, linewidth=1.2,
                     label=f"uniform budget, {item.per_instance:,}")  # fmt: skip
        for name, values, colour, dashes, marker, width in lines:
            axes.plot(k, values, color=colour, linestyle=dashes, linewidth=width, marker=marker,
                      markersize=3.5, label=name)  # fmt: skip
        if k[-1] > 1:
            axes.set_xscale("log")
        axes.set_xlabel("samples per instance, k")
        axes.set_ylabel(f"mean best {what}{unit},\nlower is better")
        style.legend_above(axes)

    told = sorted({1, item.per_instance, k[-1]})
    percent = " %" if item.quantity == "gap" else ""
    said = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{numbers.value(values[k.index(at)], DIGITS)}{percent} at k = {at:,}" for at in told
        )
        for name, values, *_ in lines
    )
    return Figure(
        "Best-of-k curves",
        f"Mean best {what} of k samples over {counted(points[0].n, 'instance')}, lower is better, "
        f"a line an estimator; the uniform budget is k = {item.per_instance:,}. {said}.",
        draw,
        (6.4, 3.2),
    )


def floor_by_depth(points: tuple[OperatingPoint, ...], estimator: str) -> Figure:
    """The median floor over depth, one line a number of instances."""
    known = [(p.n_instances, p.depth, p.floor) for p in points if isinstance(p.floor, Floor)]
    sizes = sorted({n for n, _, _ in known})

    def draw(axes: Axes) -> None:
        for n, marker in zip(sizes, style.MARKERS, strict=False):
            line = [(depth, floor.median) for m, depth, floor in known if m == n]
            label = counted(n, "instance")
            axes.plot([d for d, _ in line], [m for _, m in line], marker=marker, label=label)
        axes.set_xlabel("samples per instance, C")
        axes.set_ylabel("median null floor [%]")
        axes.set_ylim(bottom=0)
        style.legend_above(axes)

    said = "; ".join(
        f"n = {n:,}: "
        + ", ".join(
            f"{numbers.value(floor.median, DIGITS)} at C = {d:,}" for m, d, floor in known if m == n
        )
        for n in sizes
    )
    return Figure(
        f"Null floor of the {estimator} curve, by samples per instance",
        f"Median null floor in percent over samples per instance, a line a number of instances. {said}.",
        draw,
        (6.4, 3.0),
    )
