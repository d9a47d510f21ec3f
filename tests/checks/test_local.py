"""Every check of the local audit passes on a sound result, and fails on one that is broken on purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auditkit.audits.local import audit_local
from auditkit.checks.local import check_local
from auditkit.results.common import Estimate, Skipped
from auditkit.schema import AuditData, Losses


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (600, 2))
    better = np.where(x[:, 0] < 0.3, -1.0, 1.0)
    losses = Losses(
        loss_a=better + rng.normal(0, 0.3, 600), loss_b=np.zeros(600), covariates=x, covariate_names=("x", "y"),
        split=("estimation", "calibration", "test") * 200,
    )  # fmt: skip
    return audit_local(AuditData(losses={"pair": losses}), radius=0.5, replicates=200)


def outcome(result, name, **changes):
    item = replace(result.items[0], **changes)
    checks = {c.id: c for c in check_local(replace(result, items=(item,)))}
    return checks[f"local.{name}"]


def test_a_sound_result_passes_every_check(result):
    checks = check_local(result)
    assert [c.id for c in checks] == [
        "local.p_values", "local.certified", "local.false_winners", "local.aggregate", "local.neighbours",
        "local.calibration_size", "local.complete",
    ]  # fmt: skip
    assert {c.status for c in checks} == {"passed"}
    assert {c.id for c in checks if c.severity == "error"} == {"local.p_values"}
    assert {c.subject for c in checks} == {"pair, alpha 0.1"}


def rules(result, **changes):
    return tuple(replace(rule, **changes) for rule in result.items[0].rules)


def test_thresholds_and_p_values_that_disagree(result):
    found = outcome(result, "p_values", rules=rules(result, p_value_mismatches=1))
    assert (found.status, found.severity) == ("failed", "error")
    assert "different winners 3 times" in found.reason


def test_nothing_certified(result):
    found = outcome(result, "certified", rules=rules(result, n_declared=0))
    assert (found.status, found.severity) == ("failed", "warning")


def test_a_false_winner_rate_above_alpha(result):
    found = outcome(
        result, "false_winners", rules=rules(result, false_b=Estimate(0.2, 0.15, 0.25, 200))
    )
    assert found.status == "failed"
    assert "0.2000" in found.reason
    assert "do not look exchangeable" in found.reason
    near = outcome(
        result, "false_winners", rules=rules(result, false_b=Estimate(0.12, 0.08, 0.16, 200))
    )
    assert near.status == "passed"


def test_an_aggregate_winner_that_loses_at_most_points(result):
    assert result.items[0].aggregate_winner == "A"
    found = outcome(result, "aggregate", prevalence_a=Estimate(0.4, 0.3, 0.5, 200),
                    prevalence_b=Estimate(0.6, 0.5, 0.7, 200))  # fmt: skip
    assert found.status == "failed"
    assert "A at 40.0% and B at 60.0%" in found.reason
    turned = outcome(result, "aggregate", aggregate_winner="B")
    assert turned.status == "failed"
    assert outcome(result, "aggregate", aggregate_winner="tie").status == "passed"


def test_many_points_without_neighbour(result):
    assert outcome(result, "neighbours", n_fallback=21).status == "failed"
    assert outcome(result, "neighbours", n_fallback=20).status == "passed"
    assert (
        outcome(result, "neighbours", radius=Skipped("neighbours are counted")).status == "skipped"
    )


def test_too_small_a_calibration_split(result):
    found = outcome(result, "calibration_size", n_calibration=8)
    assert found.status == "failed"
    assert found.reason == "8 calibration observations; alpha 0.1 takes at least 9"
    assert outcome(result, "calibration_size", n_calibration=9).status == "passed"


def test_observations_left_out(result):
    found = outcome(result, "complete", n_excluded=3, missing={"loss_a": 3})
    assert found.status == "failed"
    assert found.reason == "3 of 600 observations left out (missing: loss_a 3)"


def test_a_skipped_audit_skips_its_checks(result):
    nothing = Skipped("no complete observation in the test split")
    checks = {c.id: c for c in check_local(
        replace(result, items=(replace(result.items[0], aggregate_winner=nothing),))
    )}  # fmt: skip
    assert checks["local.p_values"].status == "skipped"
    assert checks["local.certified"].reason == nothing.reason
    assert checks["local.complete"].status == "passed"
