"""Plots of pipelines and of scoreboards: what is drawn is what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from auditkit.audits.fidelity import audit_fidelity
from auditkit.audits.selection import audit_selection
from auditkit.demo import demo_data
from auditkit.reports import style
from auditkit.reports.document import Figure
from auditkit.reports.figures import fidelity, selection
from auditkit.reports.sections.fidelity import leader_first
from auditkit.results.common import Estimate, Range, Skipped
from auditkit.results.fidelity import BenchmarkFidelity, Comparison
from auditkit.results.scoreboard import HeadToHead, NominalBudget, ScoreboardAudit
from auditkit.schema import AuditData
from tests.reports.hostile import crowded_audit


def toy() -> tuple[BenchmarkFidelity, list[Comparison]]:
    data = AuditData(benchmarks=demo_data().benchmarks)
    (item,) = audit_fidelity(data, replicates=200).items
    return item, [leader_first(c) for c in item.comparisons]


def draw(figure: Figure | None) -> Any:
    assert figure is not None
    axes = Canvas(figsize=figure.size, layout="constrained").add_subplot()
    figure.draw(axes)
    return axes


def number(x: object) -> float:
    assert isinstance(x, Estimate)
    return x.estimate


def test_gap_bars_are_the_gaps_with_their_intervals() -> None:
    item, _ = toy()
    axes = draw(fidelity.gaps(item.pipelines, 4))
    gaps = sorted((p.gap for p in item.pipelines), key=number, reverse=True)
    assert [bar.get_width() for bar in axes.patches] == [number(gap) for gap in gaps]
    whiskers = [line.get_xdata() for line in axes.lines[: len(gaps)]]
    assert [tuple(w) for w in whiskers] == [
        (g.low, g.high) for g in gaps if isinstance(g, Estimate)
    ]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["R1", "R2"]


def test_a_reversal_lies_in_the_shaded_quadrant_and_is_told() -> None:
    _, pairs = toy()
    figure = fidelity.advantages(pairs, 4)
    axes = draw(figure)
    points = [line for line in axes.lines if line.get_marker() == "o"]
    x, y = points[0].get_xdata()[0], points[0].get_ydata()[0]
    assert (x, y) == (number(pairs[0].partition_advantage), number(pairs[0].deployed_advantage))
    assert x > 0 > y
    shade = axes.patches[0]
    assert (shade.get_y() + shade.get_height(), shade.get_y()) == (0, axes.get_ylim()[0])
    assert "1 of 1 pair lies in the shaded area" in figure.alt
    assert "R1 over R2: partition +0.1" in figure.alt


def test_the_diagonal_is_the_diagonal() -> None:
    _, pairs = toy()
    for figure in (fidelity.advantages(pairs, 4), fidelity.safety(pairs, 4)):
        axes = draw(figure)
        (diagonal,) = (line for line in axes.lines if line.get_linestyle() == "--")
        assert (diagonal.get_xy1(), diagonal.get_slope()) == ((0, 0), 1)


def test_safety_plots_the_gap_difference() -> None:
    _, pairs = toy()
    figure = fidelity.safety(pairs, 4)
    axes = draw(figure)
    point = next(line for line in axes.lines if line.get_marker() == "o")
    assert point.get_ydata()[0] == number(pairs[0].gap_difference)
    assert "0 of 1 pair is safe" in figure.alt


def test_every_point_and_whisker_is_inside_the_axes() -> None:
    _, pairs = toy()
    for figure in (fidelity.advantages(pairs, 4), fidelity.safety(pairs, 4)):
        axes = draw(figure)
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        for line in axes.lines:
            if line.get_label().startswith("_child") or line.get_marker() == "o":
                x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
                if line.get_transform() == axes.transData:
                    assert ((left <= x) & (x <= right)).all()
                    assert ((bottom <= y) & (y <= top)).all()


def test_identification_bars_are_the_intervals() -> None:
    _, pairs = toy()
    axes = draw(fidelity.identification(pairs, 4))
    (bars,) = axes.collections
    bounds = pairs[0].identification_interval
    assert isinstance(bounds, Range)
    assert bars.get_segments()[0].tolist() == [[bounds.low, 0], [bounds.high, 0]]
    deployed = next(line for line in axes.lines if line.get_label() == "deployed")
    assert list(deployed.get_xdata()) == [number(pairs[0].deployed_advantage)]


def test_many_pairs_are_cut_to_the_most_telling_and_the_rest_is_counted() -> None:
    (item,) = crowded_audit().results["fidelity"].items
    pairs = [leader_first(c) for c in item.comparisons]
    figure = fidelity.identification(pairs, 4)
    assert figure is not None
    assert figure.alt.endswith("; 411 more are in the tables.")
    assert len(draw(figure).get_yticklabels()) == 24
    assert len(fidelity.figures(item.pipelines, pairs, 4)) == 4


def test_without_a_decomposed_pipeline_there_is_nothing_to_draw() -> None:
    assert fidelity.figures([], [], 4) == ()


def overtime() -> ScoreboardAudit:
    data = AuditData(scoreboards=demo_data().scoreboards)
    (item,) = audit_selection(data, replicates=50).items
    assert isinstance(item, ScoreboardAudit)
    return item


def pair(first: str, second: str, holm_p: float) -> HeadToHead:
    return HeadToHead(first, second, 1, 1, 0, 0, 0.5, holm_p)


def test_ranks_are_drawn_best_first() -> None:
    item = overtime()
    axes = draw(selection.ranks(item))
    points = next(line for line in axes.lines if line.get_marker() == "o")
    assert list(points.get_xdata()) == sorted(item.mean_rank.values())
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row on top


def test_bars_join_systems_of_which_no_pair_is_told_apart() -> None:
    pairs = [pair("a", "b", 0.5), pair("b", "c", 0.05), pair("a", "c", 0.049), pair("c", "d", 0.001),
             pair("a", "d", 0.001), pair("b", "d", 0.001)]  # fmt: skip
    ranks = {"a": 1.5, "b": 1.9, "c": 2.6, "d": 4.0}
    item = replace(overtime(), mean_rank=ranks, head_to_head=tuple(pairs))
    assert selection.indistinct(item, "abcd", 0.05) == [("a", "b"), ("b", "c")]
    axes = draw(selection.ranks(item))
    bars = [list(line.get_xdata()) for line in axes.lines if line.get_linewidth() == 4]
    assert bars == [[1.5, 1.9], [1.9, 2.6]]
    assert axes.get_legend_handles_labels()[1] == ["mean rank", "not told apart"]


def test_times_are_the_realised_ones() -> None:
    item = overtime()
    assert not isinstance(item.budget, Skipped)
    figure = selection.times(item)
    assert figure is not None
    axes = draw(figure)
    known = [b for b in item.budget.values() if not isinstance(b, Skipped)]
    medians = sorted((b.median for b in known), reverse=True)
    assert list(axes.lines[0].get_xdata()) == medians
    assert axes.get_yticklabels()[0].get_text() == "slow, 100 % over budget"
    assert selection.times(replace(item, budget=Skipped("no seconds"))) is None


def nominal_line(figure: Figure | None) -> Any:
    """The drawn line of the nominal budget, which must lie inside the axes; None where there is none."""
    axes = draw(figure)
    found = [line for line in axes.lines if "budget" in str(line.get_label())]
    for line in found:
        left, right = axes.get_xlim()
        assert left < line.get_xdata()[0] < right
    return found[0] if found else None


@pytest.mark.parametrize(
    ("nominal", "label", "says"),
    [
        (NominalBudget(60, 60.0, 60.0, 60.0), "budget, 60 s", "60 s"),
        (
            NominalBudget(55, 0.5, 0.25, 3600.0),
            "median budget, 0.5 s",
            "0.5 s (median; 0.25 to 3600 s)",
        ),
        (
            NominalBudget(55, 3e4, 60.0, 1e5),
            "median budget, 30000 s",
            "30000 s (median; 60 to 100000 s)",
        ),
    ],
)
def test_the_nominal_budget_is_a_line_beside_the_times(
    nominal: NominalBudget, label: str, says: str
) -> None:
    figure = selection.times(replace(overtime(), nominal_budget=nominal))
    line = nominal_line(figure)
    assert list(line.get_xdata()) == [nominal.median] * 2
    assert line.get_label() == label
    assert figure is not None
    assert figure.title == "Realised time against budget"
    assert figure.alt.endswith(f"Nominal budget: {says}, on {nominal.n} datasets.")


def test_without_a_budget_there_is_no_line() -> None:
    figure = selection.times(replace(overtime(), nominal_budget=Skipped("none")))
    assert nominal_line(figure) is None
    assert figure is not None
    assert figure.title == "Realised time"
    assert figure.alt.endswith("No budget is stored.")


def test_a_legend_takes_no_more_columns_than_it_has_room_for() -> None:
    for names, columns in (
        (("a", "b", "c"), 3),
        (("x" * 28, "y" * 28, "z" * 28), 1),
        (("x" * 20, "y" * 20, "z" * 20), 2),
    ):
        axes = Canvas(figsize=(5.6, 3), layout="constrained").add_subplot()
        for name in names:
            axes.plot([0, 1], label=name)
        style.legend_above(axes)
        (legend,) = axes.figure.legends
        assert legend._ncols == columns
