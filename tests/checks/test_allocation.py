"""Each check of the allocation audit passes on a sound result, and fails on one mutation of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from auditkit.audits.allocation import audit_allocation
from auditkit.checks.allocation import check_allocation
from auditkit.checks.common import Check
from auditkit.results.allocation import AllocationResult, Floor
from auditkit.results.common import Estimate, Skipped
from auditkit.schema import AuditData, Samples

OPTIONS: dict[str, Any] = {
    "per_instance": 40, "probe": 8, "floor_repetitions": 10, "floor_sources": 5, "compositions": 2, "replicates": 500,
    "probe_repetitions": 4,
}  # fmt: skip


def sound() -> dict[str, Any]:
    """Samples of instances that differ inside their label too, so that every way of spending unevenly gains."""
    random = np.random.default_rng(1)
    n, depth = 60, 400
    # the best of k is about spread / k above the reference, exactly so in the mean
    spread = np.where(np.arange(n) % 2 == 1, 12.0, 1.0) * np.where(np.arange(n) % 4 < 2, 1.0, 9.0)
    return {
        "cost": 10 + spread[:, np.newaxis] * random.exponential(1, (n, depth)),
        "reference": np.full(n, 10.0),
        "label": tuple("wide" if i % 2 else "narrow" for i in range(n)),
        "instances": tuple(f"i{i}" for i in range(n)),
    }


def audited(arrays: dict[str, Any], **options: Any) -> AllocationResult:
    return audit_allocation(AuditData(samples={"s": Samples(**arrays)}), **{**OPTIONS, **options})


def statuses(found: list[Check]) -> dict[str, str]:
    return {c.id.removeprefix("allocation."): c.status for c in found}


def severities(found: list[Check]) -> dict[str, str]:
    return {c.id.removeprefix("allocation."): c.severity for c in found}


NAMES = {
    "depth", "coverage", "curve", "budget", "optimal", "held_out", "floor", "estimator", "label_residual", "probe",
}  # fmt: skip


@pytest.fixture(scope="module")
def result() -> AllocationResult:
    return audited(sound())


def test_a_sound_gain_passes_every_check(result: AllocationResult) -> None:
    found = check_allocation(result)
    assert statuses(found) == {
        **dict.fromkeys(NAMES, "passed"),
        # replay shows more than it holds whatever the samples are: that is what the check is for
        "estimator": "failed",
    }
    assert {c.subject for c in found} == {"s"}
    errors = {name for name, severity in severities(found).items() if severity == "error"}
    assert errors == {"curve", "budget", "optimal"}


BAD = Estimate(-1.0, -2.0, 0.5, 60)


@pytest.mark.parametrize(
    ("check", "change"),
    [
        ("curve", {"curve_residual": 2e-12}),
        ("budget", {"budget_faults": 1}),
        ("depth", {"shallow": True}),
        ("held_out", {"d_split": BAD}),
        ("held_out", {"d_split": Estimate(1.0, -0.1, 2.0, 60)}),
        ("held_out", {"d_split": Estimate(-1.0, -2.0, -0.1, 60)}),
        ("floor", {"d_in": Estimate(1e-9, 0.0, 1.0, 60)}),
    ],
)
def test_a_mutated_item_fails_its_check_alone(
    result: AllocationResult, check: str, change: dict[str, Any]
) -> None:
    broken = replace(result, items=(replace(result.items[0], **change),))
    before, after = statuses(check_allocation(result)), statuses(check_allocation(broken))
    assert after == {**before, check: "failed"}


def test_a_negative_gain_on_exact_curves_is_a_broken_identity(result: AllocationResult) -> None:
    item = result.items[0]
    assert not isinstance(item.estimators, Skipped)
    exact = replace(item.estimators[0], d_in=Estimate(-1e-6, -1.0, 1.0, 60))
    broken = replace(item, estimators=(exact, *item.estimators[1:]))
    found = check_allocation(replace(result, items=(broken,)))
    assert statuses(found)["optimal"] == "failed"


def test_an_estimator_that_shows_what_it_does_not_hold_is_named(result: AllocationResult) -> None:
    item = result.items[0]
    assert not isinstance(item.estimators, Skipped)
    honest = tuple(
        replace(g, d_in=Estimate(1.0, 0.5, 1.5, 60), d_split=Estimate(0.9, 0.4, 1.4, 60))
        for g in item.estimators
    )
    sound_item = replace(item, estimators=honest)
    assert statuses(check_allocation(replace(result, items=(sound_item,))))["estimator"] == "passed"
    (check,) = [c for c in check_allocation(result) if c.id == "allocation.estimator"]
    assert "replay: d_in" in check.reason


def test_a_policy_that_gains_nothing_is_a_warning(result: AllocationResult) -> None:
    item = result.items[0]
    assert not isinstance(item.label, Skipped)
    assert not isinstance(item.probe, Skipped)
    for name, part in (
        ("label_residual", {"label": replace(item.label, residual=BAD)}),
        ("probe", {"probe": replace(item.probe, d_probe=BAD)}),
    ):
        broken = replace(result, items=(replace(item, **part),))
        assert statuses(check_allocation(broken))[name] == "failed"


def test_a_dropped_instance_fails_the_coverage() -> None:
    arrays = sound()
    arrays["reference"][3] = np.nan
    assert statuses(check_allocation(audited(arrays)))["coverage"] == "failed"


def test_samples_too_shallow_skip_every_check_but_the_coverage() -> None:
    found = check_allocation(audited(sound(), per_instance=201))
    assert statuses(found) == {**dict.fromkeys(NAMES, "skipped"), "coverage": "passed"}
    assert all("a half does not hold" in c.reason for c in found if c.status == "skipped")


def test_what_was_skipped_is_skipped_with_its_reason() -> None:
    arrays = sound()
    arrays["cost"] = np.full((60, 400), 10.0)
    del arrays["label"]
    found = {c.id.removeprefix("allocation."): c for c in check_allocation(audited(arrays))}
    for name in ("optimal", "held_out", "floor", "estimator", "probe", "label_residual"):
        assert found[name].status == "skipped"
    assert "solved" in found["held_out"].reason
    assert found["label_residual"].reason == "no labels stored"
    assert found["curve"].status == found["budget"].status == "passed"


def test_one_of_a_kind_is_singular_and_thousands_are_separated(result: AllocationResult) -> None:
    item = result.items[0]
    assert isinstance(item.floor, Floor)

    def reasons(**changes: Any) -> dict[str, str]:
        changed = replace(result, items=(replace(item, **changes),))
        return {c.id.removeprefix("allocation."): c.reason for c in check_allocation(changed)}

    one = reasons(n_instances=1, budget_faults=1, floor=replace(item.floor, sources=1))
    assert one["coverage"].startswith("1 instance counts; dropped: 0 without samples")
    assert one["budget"] == "1 allocation misses the budget of 2,400 samples or leaves its bounds"
    assert one["floor"].endswith("(p90), 1 source")
    many = reasons(n_instances=2000, depth=4000, per_instance=1000, budget_faults=0)
    assert many["coverage"].startswith("2,000 instances count")
    assert many["depth"] == "fewest samples 4,000, the guard wants 4,000"
    assert many["budget"].startswith(
        "0 allocations miss the budget of 2,400 samples or leave their"
    )
    assert many["floor"].endswith("(p90), 5 sources")
