"""What the report says of a sensitivity result built by hand."""

from __future__ import annotations

from auditkit.reports.sections.sensitivity import sections
from auditkit.results.common import Estimate, Range, Skipped, Stamp
from auditkit.results.sensitivity import (
    BenchmarkSensitivity,
    NotRecomputed,
    SensitivityRange,
    SensitivityResult,
    SensitivityRow,
    Setting,
)

NONE = Skipped("the family mapping is not varied")


def row(dimension: str, setting: str, deployed: float, n: int = 50) -> SensitivityRow:
    return SensitivityRow(
        dimension, setting, "forest", n, Estimate(0.02, 0.01, 0.03, n), Estimate(0.03, 0.02, 0.04, n),
        Estimate(deployed, deployed - 0.01, deployed + 0.01, n), deployed > 0,
    )  # fmt: skip


def result(**changes: object) -> SensitivityResult:
    fields: dict[str, object] = {
        "benchmark": "b",
        "against": "flat",
        "settings": (
            Setting("as stored", "as stored", 50, 3, NONE),
            Setting("cutoff", "9 s", 44, 9, NONE),
            Setting("family mapping", "k-means", 50, 3, {"family 1": ("a", "b"), "family 2": ("c",)}),
        ),
        "rows": (row("as stored", "as stored", 0.01), row("cutoff", "9 s", -0.005, n=40)),
        "ranges": (
            SensitivityRange("cutoff", "forest", ("as stored", "9 s"), Range(0.02, 0.02), Range(0.03, 0.03),
                             Range(-0.005, 0.01), True, True, False),
        ),
        "not_recomputed": (
            NotRecomputed("family mapping", "forest", "no predicted_utility stored"),
            NotRecomputed("family mapping", "other", "no predicted_utility stored"),
            NotRecomputed("inner selector", "all", "no two pipelines share a family selector"),
        ),
        **changes,
    }  # fmt: skip
    stamp = Stamp(None, "0" * 64, {"confidence": 0.9})
    return SensitivityResult(stamp, (BenchmarkSensitivity(**fields),))  # type: ignore[arg-type]


def test_the_verdict_names_what_changes() -> None:
    (section,) = sections(result())
    assert section.verdict == (
        "The sign of the deployed advantage over flat changes in 1 of 1 case (with intervals on both sides of zero in "
        "0): cutoff of forest. The safety flag changes in 1 of 1: cutoff of forest. The gap moves most with the cutoff "
        "(forest): 0.0200 to 0.0200, by 0.0000."
    )


def test_every_row_is_in_the_table_with_its_interval() -> None:
    table, ranges = sections(result())[0].tables
    assert table.columns[-2:] == ("A deployed [90%]", "safe")
    assert table.rows == (
        ("as stored", "forest", "0.0200", "+0.0300", "+0.0100 [0.0000, 0.0200]", "yes"),
        ("9 s", "forest", "0.0200", "+0.0300", "-0.0050 [-0.0150, 0.0050]", "no"),
    )
    assert ranges.rows == (
        ("cutoff: forest", "2", "0.0200 to 0.0200", "-0.0050 to 0.0100", "yes", "yes"),
    )


def test_counts_families_and_reasons_are_told() -> None:
    (section,) = sections(result())
    notes = " ".join(section.notes)
    assert (
        "as stored: 50 instances with a utility; 3 that no algorithm solves within the cutoff."
        in notes
    )
    assert "cutoff 9 s: 44 instances with a utility; 9 that" in notes
    assert "9 s, forest: 40 valid instances." in notes
    assert "k-means, 2 families: a, b; c." in notes
    assert section.skipped == (
        "family mapping of forest, other: no predicted_utility stored",
        "inner selector: no two pipelines share a family selector",
    )


def test_nothing_to_vary() -> None:
    (section,) = sections(result(rows=(), ranges=(), settings=()))
    assert section.verdict == "No decomposed pipeline is stored."
    (section,) = sections(result(ranges=()))
    assert section.verdict == "No setting could be varied."


def test_without_a_flat_pipeline_the_gap_is_told_alone() -> None:
    none = Skipped("no flat pipeline stored")
    few = Skipped("fewer than two settings have one")
    moved = SensitivityRange(
        "cutoff", "forest", ("as stored", "9 s"), Range(0.01, 0.02), none, none, few, few, few
    )
    (section,) = sections(result(against=none, ranges=(moved,)))
    assert section.verdict == (
        "How the advantages move is not known: no flat pipeline stored. The gap moves most with the cutoff (forest): "
        "0.0100 to 0.0200, by 0.0100."
    )
    assert "No advantages: no flat pipeline stored." in section.notes
    (section,) = sections(result(ranges=(moved,)))
    assert section.verdict.startswith(
        "The advantage over flat is known under fewer than two settings of every choice. The gap"
    )
