"""Plots of the fidelity audit: what is drawn is what was found."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from auditkit.audits.fidelity import audit_fidelity
from auditkit.demo import demo_data
from auditkit.reports.document import Figure
from auditkit.reports.figures import fidelity
from auditkit.reports.sections.fidelity import leader_first
from auditkit.results.common import Estimate, Range
from auditkit.results.fidelity import BenchmarkFidelity, Comparison
from auditkit.schema import AuditData
from tests.reports.hostile import crowded_audit


def toy() -> tuple[BenchmarkFidelity, list[Comparison]]:
    data = AuditData(benchmarks=demo_data().benchmarks)
    (item,) = audit_fidelity(data, replicates=200).items
    return item, [leader_first(c) for c in item.comparisons]


def draw(figure: Figure | None) -> Any:
    assert figure is not None
    axes = Canvas(figsize=figure.size).add_subplot()
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
    assert "1 of 1 pairs lie in the shaded area" in figure.alt
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
    assert "0 of 1 pairs are safe" in figure.alt


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
