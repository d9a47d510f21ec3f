"""What the report says of stored samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from auditkit.audits.allocation import audit_allocation
from auditkit.demo import demo_data
from auditkit.reports.checklists.allocation import checklists
from auditkit.reports.document import Document, Section, Table
from auditkit.reports.figures.allocation import figures
from auditkit.reports.sections.allocation import sections, verdict
from auditkit.reports.table import render_table
from auditkit.results.allocation import AllocationResult, Floor
from auditkit.results.common import Estimate, Skipped
from auditkit.schema import AuditData, Samples

OPTIONS: dict[str, Any] = {
    "per_instance": 20, "floor_repetitions": 5, "floor_sources": 4, "compositions": 2, "replicates": 200,
    "probe_repetitions": 2,
}  # fmt: skip


def audited(samples: Samples | None = None, **options: Any) -> AllocationResult:
    data = demo_data() if samples is None else AuditData(samples={"s": samples})
    return audit_allocation(data, **{**OPTIONS, **options})


@pytest.fixture(scope="module")
def result() -> AllocationResult:
    return audited(repeat_splits=3)


def table(section: Section, title: str) -> Table:
    return next(t for t in section.tables if t.title.startswith(title))


def rendered(section: Section, width: int = 80) -> str:
    return render_table(Document("t", (), (section,)), width=width, colour=False)


def test_d_in_never_stands_without_d_split_and_the_floor(result: AllocationResult) -> None:
    (section,) = sections(result)
    gains = table(section, "Gain over the uniform budget")
    assert gains.columns == ("estimator", "uniform", "d_in [95%]", "d_split [95%]", "floor", "p90")
    assert [row[0] for row in gains.rows] == ["exact", "blocks", "replay"]
    assert all(all(row) for row in gains.rows)
    assert all(word in section.verdict for word in ("d_in", "d_split", "null floor"))
    item = result.items[0]
    assert isinstance(item.d_in, Estimate)
    assert f"d_in {item.d_in.estimate:.2f} %" in section.verdict


def test_every_part_has_its_table_and_fits_the_terminal(result: AllocationResult) -> None:
    (section,) = sections(result)
    titles = [t.title for t in section.tables]
    assert len(titles) == 4
    assert [t.split(" ")[0] for t in titles] == ["Gain", "What", "Null", "Gain"]
    text = rendered(section)
    assert max(map(len, text.splitlines())) <= 80
    for word in ("budget by label", "probe of 2, charged", "narrow", "3 random halves"):
        assert word in text
    floors = table(section, "Null floor")
    assert [row[0] for row in floors.rows] == ["80"] * 3 + ["160"] * 3 + ["320"] * 3
    shares = table(section, "Gain by the share")
    assert [row[1] for row in shares.rows] == ["0 %", "25 %", "50 %", "75 %", "100 %"]


FLOOR = Floor(0.5, 1.0, 0.1, 0.05, 10, 0, 5, 20)


@pytest.mark.parametrize(
    ("d_in", "split", "floor", "says"),
    [
        (5.0, (4.0, 3.0, 5.0), FLOOR, "Spending the budget unevenly gains:"),
        (0.8, (0.5, 0.2, 0.9), FLOOR, "gains held out, within the null floor in sample"),
        (
            5.0,
            (4.0, 3.0, 5.0),
            Skipped("solved"),
            "gains held out, within the null floor in sample",
        ),
        (0.4, (0.1, -0.2, 0.4), FLOOR, "cannot be told from sampling luck"),
        (5.0, (-1.0, -2.0, -0.5), FLOOR, "loses"),
    ],
)
def test_the_verdict_follows_the_numbers(
    result: AllocationResult, d_in: float, split: tuple[float, float, float], floor: Any, says: str
) -> None:
    item = replace(
        result.items[0],
        d_in=Estimate(d_in, 0.0, 9.0, 24),
        d_split=Estimate(*split, 24),
        floor=floor,
    )
    assert says in verdict(item)


def test_a_skipped_member_says_why_and_shows_no_number() -> None:
    (section,) = sections(audited(per_instance=300))
    assert section.verdict.startswith(
        "Not audited: too shallow: 24 of 24 instances below 600 samples"
    )
    assert not section.tables
    assert not section.figures


def test_what_is_missing_is_said() -> None:
    cost = 10 + np.random.default_rng(1).exponential(1, (8, 80))
    cost[3] = np.nan
    instances = tuple(f"i{i}" for i in range(8))
    (plain,) = sections(audited(Samples(cost=cost, instances=instances)))
    assert any("cost itself takes the place of the gap" in note for note in plain.notes)
    assert any("1 without samples" in note for note in plain.notes)
    assert "label baseline: no labels stored" in plain.skipped
    assert "composition sweep: no labels stored" in plain.skipped
    shallow = Samples(cost=cost[:3, :60], instances=instances[:3])
    (over,) = sections(audited(shallow, allow_shallow=True))
    assert any("depth guard was overridden" in note for note in over.notes)


def test_counts_are_singular_where_one_and_separated_where_thousands(
    result: AllocationResult,
) -> None:
    item = replace(
        result.items[0], n_instances=1, depth=40_000, deepest=50_000, per_instance=10_000, budget=10_000,
        cap=20_000, smallest=10_000, largest=10_000, curves=Skipped("not needed"),
    )  # fmt: skip
    (section,) = sections(replace(result, items=(item,)))
    assert section.notes[0] == (
        "1 instance of 40,000 to 50,000 samples; a budget of 10,000 each, 10,000 in all, at most 20,000 to one "
        "instance. Decided on all samples, an instance gets 10,000 to 10,000."
    )


def test_where_nothing_is_left_to_gain_there_is_no_gain_in_words() -> None:
    (section,) = sections(
        audited(
            Samples(
                cost=np.full((4, 80), 3.0),
                reference=np.full(4, 3.0),
                instances=("a", "b", "c", "d"),
            )
        )
    )
    assert section.verdict.startswith("No gain can be stated: the uniform gap is zero")
    assert any(
        text.startswith("floor: all 4 source instances are solved") for text in section.skipped
    )
    assert rendered(section)


def test_figures_draw_and_say_what_they_show(result: AllocationResult) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    (section,) = sections(result)
    gain, _, floor = section.figures
    for figure in section.figures:
        canvas, axes = pyplot.subplots(layout="constrained")
        figure.draw(axes)
        canvas.canvas.draw()
        assert axes.get_xlabel()
        assert axes.get_legend() is None  # it would lie over the data
        assert len(canvas.legends) == 1
        pyplot.close(canvas)
    for estimator in ("exact", "blocks", "replay"):
        assert f"{estimator}: d_in" in gain.alt
    assert "n = 10" in floor.alt
    assert "at C = 80" in floor.alt


@pytest.mark.parametrize(
    ("reference", "unit"), [(True, "mean best gap [%]"), (False, "mean best cost")]
)
def test_best_of_k_curves_are_the_audited_ones(reference: bool, unit: str) -> None:
    samples = demo_data().samples["two_workloads"]
    (item,) = audited(samples if reference else replace(samples, reference=None)).items
    assert not isinstance(item.curves, Skipped)
    figure = figures(item, "95%")[1]
    axes = Canvas(layout="constrained").add_subplot()
    figure.draw(axes)
    budget, *lines = axes.lines
    assert list(budget.get_xdata()) == [20, 20]
    assert axes.get_xscale() == "log"
    assert axes.get_ylabel().startswith(unit)
    for estimator, line in zip(("exact", "blocks", "replay"), lines, strict=True):
        values = [getattr(p, estimator) for p in item.curves]
        assert line.get_label() == estimator
        assert list(line.get_xdata()) == [p.k for p in item.curves]
        assert list(line.get_ydata()) == values
        at = {p.k: f"{y:.2f}" for p, y in zip(item.curves, values, strict=True)}
        percent = " %" if reference else ""
        told = ", ".join(f"{at[k]}{percent} at k = {k}" for k in (1, 20, 200))
        assert f"{estimator}: {told}" in figure.alt
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 3


def test_curves_that_were_skipped_are_not_drawn(result: AllocationResult) -> None:
    item = replace(result.items[0], curves=Skipped("too large"))
    assert "Best-of-k curves" not in [figure.title for figure in figures(item, "95%")]


def points(samples: Samples | None = None, **options: Any) -> list[tuple[str, str]]:
    (found,) = checklists(audited(samples, **options))
    return [(point.status, point.answer) for point in found]


def test_the_checklist_is_answered_from_the_numbers() -> None:
    found = points()
    # wide instances are all alike: the label says everything
    assert [status for status, _ in found][:4] == [*["answered"] * 3, "violated"]
    assert found[2][1] == "400 samples for a budget of 20 per instance."


def test_the_checklist_of_samples_too_shallow_knows_only_the_depth() -> None:
    found = points(per_instance=150)
    assert [status for status, _ in found] == [
        "missing",
        "missing",
        "violated",
        "missing",
        "missing",
    ]
    said = [answer for status, answer in found if status == "missing"]
    assert "too shallow" in said[0]
    assert said[1:] == ["Not known, for the reason above."] * 3
    assert [status for status, _ in points(per_instance=150, allow_shallow=True)][2] == "violated"
