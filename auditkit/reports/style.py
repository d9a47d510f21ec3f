"""The look of every figure, in one place: colours for light and dark paper that survive colour blindness, and fonts.

The hues are those of Okabe and Ito (*Color Universal Design*, 2008), darkened or lightened until each has a contrast
of at least 3:1 with the paper (WCAG 2.2, 1.4.11). A figure never tells things apart by colour alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from auditkit.errors import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE: dict[str, tuple[str, str]] = {
    # name: (on light paper, on dark paper)
    "blue": ("#0072b2", "#58b0ea"),
    "vermilion": ("#d55e00", "#ff8f4a"),
    "green": ("#00805d", "#3fcb9f"),
    "purple": ("#b0558a", "#e39bc5"),
    "amber": ("#9a6b00", "#f0b840"),
    "grey": ("#6b7280", "#9aa3af"),
    "ink": ("#1f2328", "#e6e8eb"),
    "rule": ("#c9ced6", "#464d57"),
    "shade": ("#f6dccb", "#4a3226"),
    "paper": ("#ffffff", "#16191d"),
}

BLUE, VERMILION, GREEN, PURPLE, AMBER, GREY, INK, RULE, SHADE, PAPER = (
    light for light, _ in PALETTE.values()
)

CYCLE = (BLUE, VERMILION, GREEN, PURPLE, AMBER, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P")


_CHARACTERS = 11  # of a legend, an inch of the figure's width


def label(name: object, longest: int = 28) -> str:
    """A name as it may stand in a figure: on one line, escaped, cut in the middle where it is long."""
    return printable(name, longest)


def legend_above(axes: Axes) -> None:
    """A legend above the plot, across the whole figure, in as many columns as its labels leave room for."""
    handles, labels = axes.get_legend_handles_labels()
    room = _CHARACTERS * axes.figure.bbox.width / axes.figure.dpi
    lengths = [len(name) + 5 for name in labels]
    columns = len(labels) if sum(lengths) <= room else max(1, int(room // max(lengths)))
    axes.figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=columns,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def settings() -> dict[str, Any]:
    """Matplotlib settings of every figure; ``$`` in a name is a dollar sign, not mathematics."""
    from matplotlib.rcsetup import cycler

    return {
        "text.parse_math": False,
        "axes.formatter.use_mathtext": False,
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 10,
        "axes.titlesize": 10,
        "axes.prop_cycle": cycler(color=CYCLE),
        "axes.edgecolor": GREY,
        "axes.labelcolor": INK,
        "axes.facecolor": "none",
        "axes.grid": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "figure.facecolor": "none",
        "grid.color": RULE,
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "text.color": INK,
        "xtick.color": GREY,
        "ytick.color": GREY,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "lines.linewidth": 1.6,
        "savefig.facecolor": "none",
    }
