"""Reporting checklists: every point can be answered, missing and violated."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from auditkit.audits.run import run_audits
from auditkit.demo import demo_data
from auditkit.reports.checklists import allocation, fidelity, selection
from auditkit.reports.document import Point
from auditkit.reports.render import document
from auditkit.results.allocation import SamplesAllocation
from auditkit.results.audit import Audit
from auditkit.results.common import Estimate, Skipped
from auditkit.results.fidelity import BenchmarkFidelity, Released
from auditkit.results.scoreboard import ScoreboardAudit
from auditkit.results.search import SearchAudit
from auditkit.results.selection import SelectionResult
from tests.reports.hostile import QUICK

NO = Skipped("none stored")


@cache
def audit() -> Audit:
    return run_audits(demo_data(), replicates=50, options=QUICK)


def toy() -> BenchmarkFidelity:
    (item,) = audit().results["fidelity"].items
    assert isinstance(item, BenchmarkFidelity)
    return item


def of_toy(point: int, **changes: Any) -> Point:
    """A point of the toy with its first pipeline changed."""
    item = toy()
    first, *others = item.pipelines
    return fidelity.checklist(replace(item, pipelines=(replace(first, **changes), *others)))[point]


def test_each_source_has_as_many_points_as_it_asks_for() -> None:
    sections = document(audit()).sections
    counts = {section.title.split(":")[0]: 0 for section in sections}
    for section in sections:
        name = section.title.split(":")[0]
        counts[name] = max(counts[name], len(section.checklist))
    assert counts == {"fidelity": 9, "selection": 7, "allocation": 5, "local": 0}


def test_the_toy() -> None:
    points = fidelity.checklist(toy())
    assert [p.status for p in points] == [
        *["answered"] * 6, "missing", "answered", "violated",
    ]  # fmt: skip
    assert points[6].answer == "Add fold to: R1, R2."
    assert points[8].answer == "Reversed in 1 of 1 pair, such as R1 / R2."
    assert "R1: 100 of 100, 0 dropped, 0 imputed" in points[7].answer


@pytest.mark.parametrize(
    ("point", "changes", "status", "told"),
    [
        (0, {"traits": {}}, "missing", "Add the attribute family_basis to: R1."),
        (1, {"traits": {}}, "missing", "Add the attribute family_selector to: R1."),
        (2, {"traits": {}}, "missing", "Add the attribute within_selector to: R1."),
        (3, {"traits": {}}, "missing", "Add the attribute feature_policy to: R1."),
        (4, {"deployed_score": NO}, "missing", "partition_utility and deployed_utility, to: R1."),
        (5, {"scores_from": "released"}, "missing", "Add family_choice and within_choice to: R1."),
        (5, {"lemma1_residual": 1e-6}, "violated", "R1"),
        (5, {"released": Released(1e-3, 0.0, 0)}, "violated", "R1"),
        (5, {"released": Released(0.0, 0.0, 2)}, "violated", "R1"),
        (5, {"released": Released(0.0, 0.0, 0)}, "answered", "at most"),
        (6, {"fold_faults": 3}, "violated", "R1"),
        (6, {"validation_leaks": 1}, "violated", "R1"),
    ],
)
def test_the_points_of_decomposed_selection(
    point: int, changes: dict[str, Any], status: str, told: str
) -> None:
    found = of_toy(point, **changes)
    assert found.status == status
    assert told in found.answer


def test_folds_and_a_kept_ranking_are_answers() -> None:
    item = toy()
    whole = tuple(replace(p, fold_faults=0, validation_leaks=0) for p in item.pipelines)
    assert fidelity.checklist(replace(item, pipelines=whole))[6].status == "answered"
    (pair,) = item.comparisons
    kept = replace(item, comparisons=(replace(pair, transfer="transfer"),))
    assert fidelity.checklist(kept)[8].status == "answered"
    assert fidelity.checklist(replace(item, comparisons=()))[8].status == "missing"


def test_flat_pipelines_have_no_checklist_of_decomposed_selection() -> None:
    item = toy()
    flat = tuple(replace(p, kind="flat") for p in item.pipelines)
    assert fidelity.checklist(replace(item, pipelines=flat)) == ()


def boards() -> tuple[SelectionResult, ScoreboardAudit, SearchAudit]:
    result = audit().results["selection"]
    assert isinstance(result, SelectionResult)
    board, search = result.items
    assert isinstance(board, ScoreboardAudit)
    assert isinstance(search, SearchAudit)
    return result, board, search


def test_the_demo_scoreboard() -> None:
    result, board, _ = boards()
    points = selection.checklist(board, result)
    assert [p.status for p in points] == [
        "violated", "missing", "violated", "missing", "violated", "answered", "missing",
    ]  # fmt: skip
    assert points[0].answer.startswith("Share of datasets over the budget: slow 100.0 %")
    assert points[2].answer.endswith("peeking: 20.0 %.")


@pytest.mark.parametrize(
    ("point", "changes", "status", "told"),
    [
        (0, {"budget": NO}, "missing", "Add seconds and budget_seconds"),
        (1, {"matched": NO}, "missing", "Add seconds"),
        (3, {"noise_floor": NO}, "missing", "Add test_size and candidates"),
        (4, {"deduplicated": NO}, "missing", "Add clusters"),
        (6, {"claims": NO}, "missing", "Add claimed_winner"),
    ],
)
def test_the_points_of_short_budgets(
    point: int, changes: dict[str, Any], status: str, told: str
) -> None:
    result, board, _ = boards()
    found = selection.checklist(replace(board, **changes), result)[point]
    assert found.status == status
    assert told in found.answer


def test_peeking_is_seen_in_the_searches_of_the_file() -> None:
    result, board, search = boards()
    honest = replace(result, items=(board, replace(search, peeking_share=0.0)))
    assert selection.checklist(board, honest)[2].status == "answered"
    alone = replace(result, items=(board,))
    assert selection.checklist(board, alone)[2].status == "missing"


def samples() -> SamplesAllocation:
    (item,) = audit().results["allocation"].items
    assert isinstance(item, SamplesAllocation)
    return item


GAIN = Estimate(5.0, 4.0, 6.0, 24)
LOSS = Estimate(-5.0, -6.0, -4.0, 24)


@pytest.mark.parametrize(
    ("point", "changes", "status"),
    [
        (0, {"d_split": GAIN}, "answered"),
        (0, {"d_split": NO}, "missing"),
        (1, {"d_in": GAIN}, "answered"),
        (1, {"d_in": LOSS}, "violated"),
        (1, {"floor": NO}, "missing"),
        (2, {"depth": 400}, "answered"),
        (2, {"depth": 399}, "violated"),
        (2, {"depth": NO}, "missing"),
        (3, {"label": NO}, "missing"),
        (4, {"probe": NO}, "missing"),
    ],
)
def test_the_points_of_allocation(point: int, changes: dict[str, Any], status: str) -> None:
    assert allocation.checklist(replace(samples(), **changes))[point].status == status


def test_an_allocation_must_beat_the_label_and_pay_for_its_probe() -> None:
    item = samples()
    assert not isinstance(item.label, Skipped)
    assert not isinstance(item.probe, Skipped)
    for residual, status in ((GAIN, "answered"), (LOSS, "violated")):
        changed = replace(item, label=replace(item.label, residual=residual))
        assert allocation.checklist(changed)[3].status == status
        changed = replace(item, probe=replace(item.probe, d_probe=residual))
        assert allocation.checklist(changed)[4].status == status
