"""What the report says of scoreboards and searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auditkit.audits.selection import audit_selection
from auditkit.demo import demo_data
from auditkit.reports.checklists.selection import checklists
from auditkit.reports.document import Document, Section, Table
from auditkit.reports.sections.selection import sections
from auditkit.reports.table import render_table
from auditkit.schema import AuditData, Scoreboard, Search


def report(data: AuditData, **options: Any) -> tuple[Section, ...]:
    return sections(audit_selection(data, replicates=50, **options))


def table(section: Section, title: str) -> Table:
    return next(t for t in section.tables if t.title.startswith(title))


def column(found: Table, name: str) -> list[str]:
    place = next(i for i, c in enumerate(found.columns) if c.startswith(name))
    return [row[place] for row in found.rows]


def many_systems(systems: int = 8) -> Scoreboard:
    score = np.tile(np.linspace(0.9, 0.2, systems), (12, 1))
    score[6:] = np.roll(score[6:], 1, axis=1)
    return Scoreboard(
        score=score,
        higher_is_better=np.ones(12, dtype=bool),
        datasets=tuple(f"d{i}" for i in range(12)),
        systems=tuple(f"a system with a rather long name {i}" for i in range(systems)),
        seconds=np.ones((12, systems)),
        clusters=tuple(f"c{i % 6}" for i in range(12)),
        group=tuple(f"a group with a rather long name {i % 2}" for i in range(12)),
    )


def test_the_demo() -> None:
    board, search = report(demo_data(), candidates=20)
    assert board.title == "selection: scoreboard overtime"
    assert board.verdict.startswith("slow wins 91.7 % [")
    assert "On no dataset was it as quick as all others." in board.verdict
    assert column(table(board, "Who wins"), "system") == ["slow", "quick", "steady", "tie"]
    slices = table(board, "Win shares by slice")
    assert column(slices, "datasets") == [
        "all", "multiclass", "binary", "one per cluster", "no slower than steady",
        "no slower than quick", "no slower than all others",
    ]  # fmt: skip
    assert column(slices, "n")[:4] == ["60", "20", "40", "50"]
    assert column(table(board, "Realised"), "over budget")[0] == "100.0 %"
    assert table(board, "Realised").note.endswith("Nominal budget: 60 s, on 60 datasets.")
    assert "10 of 50 clusters hold several datasets" in " ".join(board.notes)
    assert search.title == "selection: search peeking"
    assert "8 of 40 reported scores equal the best test score" in search.verdict
    curve = table(search, "Selection curve: accuracy-like")
    assert column(curve, "candidates") == ["1", "2", "5", "10", "20", "50"]
    assert column(curve, "n") == ["40"] * 6


def test_with_many_systems_the_others_are_added_up() -> None:
    (section,) = report(AuditData(scoreboards={"s": many_systems()}))
    slices = table(section, "Win shares by slice")
    assert column(slices, "others")[0] == "0.0 %"
    assert [column(slices, f"a system with a rather long name {i}")[0][:6] for i in (0, 1)] == [
        "50.0 %", "50.0 %",
    ]  # fmt: skip
    assert [name for name in column(slices, "datasets") if name.startswith("no slower")] == [
        "no slower than a system with a rather long name 0",
        "no slower than a system with a rather long name 2",
        "no slower than all others",
    ]
    assert "Of 8 slices" in slices.note
    times = table(section, "Realised")
    assert times.columns[1:5] == ("median", "mean", "p90", "max")
    assert len(times.columns) == 6
    pairs = table(section, "Head to head")
    assert len(pairs.rows) == 7
    assert "of 28" in pairs.note


def test_one_system_has_nobody_to_be_compared_with() -> None:
    result = audit_selection(AuditData(scoreboards={"s": many_systems(1)}), replicates=50)
    (section,) = sections(result)
    assert not any(t.title == "Head to head" for t in section.tables)
    ((_, matched, *_),) = checklists(result)
    assert matched.status == "missing"
    assert matched.answer == "There is only one system: nothing to compare it with."


def test_the_checklist_says_how_many_slices_it_does_not_list() -> None:
    result = audit_selection(AuditData(scoreboards={"s": many_systems()}), replicates=50)
    ((_, matched, *_),) = checklists(result)
    assert matched.answer.count("no slower than") == 3
    assert matched.answer.endswith(" In the JSON output: 5 more slices of equal time.")
    three = audit_selection(AuditData(scoreboards={"s": many_systems(3)}), replicates=50)
    ((_, matched, *_),) = checklists(three)
    assert "more" not in matched.answer


def test_missing_scores_and_skipped_parts_are_told() -> None:
    board = Scoreboard(
        score=np.array([[0.9, np.nan], [0.8, 0.7], [np.nan, np.nan]]),
        higher_is_better=np.ones(3, dtype=bool),
        datasets=("x", "y", "z"),
        systems=("a", "b"),
    )
    (section,) = report(AuditData(scoreboards={"s": board}))
    assert column(table(section, "Who wins"), "no score") == ["0", "1", ""]
    assert column(table(section, "Win shares"), "no score") == ["1"]
    assert "each counts as a loss" in table(section, "Win shares").note
    assert any("1 dataset on which no system has a score" in note for note in section.notes)
    assert "noise floor: no test sizes are stored" in section.skipped
    assert not any(t.title.startswith("Realised") for t in section.tables)


def test_a_second_run_is_told() -> None:
    score = np.array([[0.6, 0.5], [0.5, 0.6], [0.6, 0.4], [0.5, 0.4]])
    board = Scoreboard(
        score=score,
        higher_is_better=np.ones(4, dtype=bool),
        datasets=("x", "y", "x", "y"),
        systems=("a", "b"),
        run=("one", "one", "two", "two"),
    )
    (section,) = report(AuditData(scoreboards={"s": board}))
    assert "a splice of two runs" in section.verdict
    assert column(table(section, "Win shares"), "a ") == ["50.0 % [0.0, 100.0]", "100.0 %"]
    rerun = table(section, "Second run 1: two")
    assert column(rerun, "wins") == ["1 → 2", "1 → 0"]
    assert column(rerun, "worse") == ["0", "2"]


def test_no_choice_at_all() -> None:
    search = Search(
        validation_score=np.array([[np.nan]]),
        test_score=np.array([[0.5]]),
        higher_is_better=np.array([True]),
        datasets=("x",),
    )
    (section,) = report(AuditData(searches={"s": search}))
    assert section.verdict.startswith("No bias of selection")
    assert section.figures == ()


def test_a_mean_over_unknown_units_says_so_beside_the_number() -> None:
    rng = np.random.default_rng(0)
    test = np.concatenate([rng.random((3, 9)), -100 * rng.random((3, 9))])
    search = Search(
        validation_score=test + rng.normal(0, 0.1, test.shape),
        test_score=test,
        higher_is_better=np.ones(6, dtype=bool),
        datasets=tuple("abcdef"),
    )
    (section,) = report(AuditData(searches={"s": search}))
    for title in ("Test score of the choice", "Bias over datasets"):
        assert "Datasets of other, higher is better may differ in" in table(section, title).note
    assert "read the relative curve" in table(section, "Selection curve: other").note
    assert "units" not in table(section, "Selection curve: accuracy").note
    one = Search(
        validation_score=test[3:],
        test_score=test[3:],
        higher_is_better=np.ones(3, dtype=bool),
        datasets=("d", "e", "f"),
    )
    assert (
        "In score units, if all datasets share them: "
        in report(AuditData(searches={"s": one}))[0].verdict
    )


@pytest.mark.parametrize("data", [demo_data(), AuditData(scoreboards={"s": many_systems()})])
def test_tables_fit_and_figures_draw(data: AuditData) -> None:
    figure_module = pytest.importorskip("matplotlib.figure")
    found = report(data, candidates=20)
    text = render_table(Document("audit", (), found), width=100, colour=False)
    assert max(map(len, text.splitlines())) <= 100
    for section in found:
        assert section.figures
        for figure in section.figures:
            canvas = figure_module.Figure(figsize=figure.size)
            axes = canvas.subplots()
            figure.draw(axes)
            assert axes.get_xlabel()
            assert figure.alt.endswith(".")
