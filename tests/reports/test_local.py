"""What a report says of the local audit: sentences, tables and figures from results made on purpose."""

from __future__ import annotations

import re
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

from auditkit.audits.local import audit_local
from auditkit.reports.document import Document
from auditkit.reports.figures.local import MOST_DRAWN
from auditkit.reports.sections.local import sections
from auditkit.reports.table import render_table
from auditkit.results.common import Estimate, Skipped
from auditkit.schema import AuditData, Losses


def losses(n=300, d=3, noise=0.3, seed=0, **fields):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, d))
    better = np.where(x[:, 0] < 0.3, -1.0, 1.0)
    return Losses(
        loss_a=1 + better + rng.normal(0, noise, n), loss_b=np.ones(n), covariates=x,
        covariate_names=tuple(f"x{j}" for j in range(d)), split=("estimation", "calibration", "test") * (n // 3),
        model_a="tree", model_b="line", loss="squared error", **fields,
    )  # fmt: skip


def report(member, **options):
    options = {"replicates": 100, **options}
    return sections(audit_local(AuditData(losses={"houses": member}), **options))


def test_the_verdict_names_the_models_and_what_is_certified():
    (section,) = report(losses(), alpha=[0.1, 0.2], map_control=True)
    assert section.title == "local: houses"
    assert section.verdict.startswith(
        "tree has the smaller mean loss (squared error, tree minus line: -0."
    )
    assert "The local mean favours tree at" in section.verdict
    assert "At alpha 0.1 the rule local_" in section.verdict
    assert "certifies tree at " in section.verdict
    assert "against 0." in section.verdict
    certified, maps, controlled = section.tables[1:]
    assert [row[0] for row in certified.rows] == ["0.1"] * 3 + ["0.2"] * 3
    assert [row[1] for row in maps.rows] == [
        "global_mean", "local_mean", "local_majority", "local_quantile", "local_quantile"
    ]  # fmt: skip
    assert [row[1] for row in controlled.rows] == [row[1] for row in certified.rows]


def test_a_missing_interval_is_explained():
    result = audit_local(AuditData(losses={"houses": losses()}), replicates=100)
    item = result.items[0]
    one = Skipped("one winner is declared: nothing to resample")
    rule = replace(item.rules[1], conditional_gain=Estimate(0.5, one, one, 1))
    item = replace(item, rules=(item.rules[0], rule, item.rules[2]))
    (section,) = sections(replace(result, items=(item,)))
    assert section.skipped == (
        "interval of the gain of local_center at alpha 0.1: one winner is declared: nothing to resample",
    )


def test_a_single_alpha_is_told_in_the_title():
    (section,) = report(losses())
    assert section.tables[1].title == "Certified winners, by conformal rule (alpha 0.1)"
    assert section.tables[1].columns[0] == "rule"
    text = render_table(Document("t", (), (section,)), width=80, colour=False)
    assert "local_standardized  " in text
    assert max(map(len, text.splitlines())) <= 80


def test_decimals_follow_the_size_of_the_losses():
    member = losses()
    (small,) = report(replace(member, loss_a=member.loss_a / 1000, loss_b=member.loss_b / 1000))
    (large,) = report(replace(member, loss_a=member.loss_a * 1000, loss_b=member.loss_b * 1000))
    (usual,) = report(member)
    gains = [section.tables[2].rows[0][-1].split()[0] for section in (small, usual, large)]
    assert [len(gain.partition(".")[2]) for gain in gains] == [5, 2, 0]


def test_the_interval_of_a_small_difference_is_no_bound():
    result = audit_local(AuditData(losses={"houses": losses()}), replicates=100)
    item = replace(result.items[0], mean_gap=Estimate(-0.00152, -0.0031, -0.00004, 100))
    gain = replace(item.maps[0], conditional_gain=Estimate(0.0003, -0.00021, 0.0008, 100))
    item = replace(item, maps=(gain, *item.maps[1:]))
    (section,) = sections(replace(result, items=(item,)))
    assert "tree minus line: -0.00152 [-0.00310, -0.00004], n = 100" in section.verdict
    assert section.tables[2].rows[0][-1] == "0.00030 [-0.00021, 0.00080]"


def test_nothing_certified_is_said_plainly():
    (section,) = report(losses(noise=30.0))
    assert (
        "At alpha 0.1 nothing is certified: no rule declares a winner anywhere." in section.verdict
    )
    (section,) = report(losses(n=24))
    assert "Nothing can be certified at alpha 0.1: 8 calibration observations, 9 needed." in (
        section.verdict
    )
    assert section.skipped == (
        "thresholds at alpha 0.1: infinite: 8 calibration observations, and alpha 0.1 takes 9",
    )


def test_an_aggregate_difference_within_its_interval_is_said():
    member = losses(noise=30.0)
    (section,) = report(member)
    assert "by a difference that its interval does not tell from zero" in section.verdict
    (section,) = report(replace(member, loss_b=member.loss_a))
    assert section.verdict.startswith("tree and line tie in aggregate")


def test_what_is_left_out_is_in_the_notes():
    member = losses()
    x, split = member.covariates.copy(), list(member.split)
    x[:, 1], x[5, 2], split[0] = 1.0, np.nan, "fit"
    (section,) = report(replace(member, covariates=x, split=tuple(split)), radius=0.05)
    notes = " ".join(section.notes)
    assert "Ignored: 1 observation of the split fit." in notes
    assert "Left out: 1 observation; values missing: covariates/x2 1." in notes
    assert "Covariates that do not vary, dropped: x1." in notes
    assert re.search(r"Without a neighbour: \d+ test observations?; all estimation", notes)
    assert "box weights within 0.05 in 2 covariates" in notes
    (section,) = report(replace(member, split=None))
    assert "drawn with the seed, none being stored" in section.notes[0]


def test_an_audit_that_could_not_be_made():
    member = losses()
    (section,) = report(replace(member, split=("fit",) * 300))
    assert section.verdict == (
        "Nothing could be audited: no complete observation in the estimation split."
    )
    assert not section.tables


@pytest.mark.parametrize("d", [1, 2, 3])
def test_figures_draw_every_observation(d):
    from matplotlib.figure import Figure

    (section,) = report(losses(d=d), alpha=[0.1, 0.3])
    with mpl.rc_context():
        for figure in section.figures:
            axes = Figure(figsize=figure.size).add_subplot()
            figure.draw(axes)
            drawn = [len(c.get_offsets()) for c in axes.collections]
            assert figure is section.figures[1] or sum(drawn) == 100
    assert "where tree is certified" in section.figures[0].alt
    assert "global: " in section.figures[1].alt


def test_a_large_map_is_thinned_by_kind_and_says_so():
    """So that a lone certified observation among thousands is drawn."""
    (section,) = report(losses(n=6000, d=1))
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    section.figures[0].draw(axes)
    drawn = [len(c.get_offsets()) for c in axes.collections]
    assert max(drawn) <= MOST_DRAWN
    assert min(drawn) > 0
    assert "drawn are one in 2 of those where tree is." in section.figures[0].alt


def test_the_table_fits_its_width_and_escapes_names():
    member = replace(losses(), model_a="tree\x1b[31m", model_b="a very long name of a model " * 4)
    text = render_table(
        Document("t", (), report(member, alpha=[0.1, 0.2])), width=100, colour=False
    )
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text
