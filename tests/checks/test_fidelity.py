"""Every check of the fidelity audit passes on sound data, and fails alone when its identity is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import auditkit as ak
from auditkit.audits import fidelity
from auditkit.checks.common import Check
from auditkit.checks.fidelity import check_fidelity
from auditkit.results.common import Estimate
from auditkit.results.fidelity import FidelityResult
from auditkit.statistics.per_instance import InstanceScores
from tests.random_benchmarks import naive_pipeline, random_benchmark


def sound() -> ak.Benchmark:
    """A benchmark on which every check can be made and passes."""
    benchmark = random_benchmark(0, n=30, repetitions=1)
    fold = np.arange(30)[np.newaxis] % 3
    outside = fold[:, np.newaxis] != np.arange(3)[:, np.newaxis]
    validation = np.where(outside, 0.5, np.nan)
    pipelines = {}
    for name, pipeline in benchmark.pipelines.items():
        columns = naive_pipeline(benchmark, name).columns
        means = columns.mean(axis=0)
        pipelines[name] = replace(
            pipeline,
            fold=fold,
            validation_partition=validation,
            validation_deployed=validation,
            partition_utility=columns[np.newaxis, :, 0],
            deployed_utility=columns[np.newaxis, :, 1],
            reported_partition_score=f"{means[0]:.3f}",
            reported_deployed_score=f"{means[1]:.3f}",
            reported_gap=f"{means[2]:.3f}",
        )
    return replace(benchmark, pipelines=pipelines)


def changed(benchmark: ak.Benchmark, name: str, **arrays: object) -> ak.Benchmark:
    pipeline = replace(benchmark.pipelines[name], **arrays)
    return replace(benchmark, pipelines={**benchmark.pipelines, name: pipeline})


def audited(benchmark: ak.Benchmark) -> FidelityResult:
    return ak.audit_fidelity(ak.AuditData(benchmarks={"b": benchmark}), replicates=20)


def failed(result: FidelityResult, severity: str = "error") -> set[str]:
    checks = check_fidelity(result)
    return {c.id for c in checks if c.status == "failed" and c.severity == severity}


def touched(array: np.ndarray, at: tuple[int, ...], value: float) -> np.ndarray:
    copy = array.copy()
    copy[at] = value
    return copy


def test_sound_data_pass_every_check() -> None:
    checks = check_fidelity(audited(sound()))
    assert {c.id for c in checks if c.severity == "error"} == {
        f"fidelity.{name}"
        for name in (
            "lemma1", "lemma2", "gap_sign", "flat_gap", "released_partition", "released_deployed", "released_mask",
            "reported_figures", "folds", "validation_leak", "identification",
        )
    }  # fmt: skip
    assert [c for c in checks if c.severity == "error" and c.status != "passed"] == []
    assert all(c.reason for c in checks)


def break_released_partition(b: ak.Benchmark) -> ak.Benchmark:
    scores = b.pipelines["one"].partition_utility
    return changed(b, "one", partition_utility=touched(scores, (0, 3), scores[0, 3] + 1e-6))


def break_released_deployed(b: ak.Benchmark) -> ak.Benchmark:
    scores = b.pipelines["two"].deployed_utility
    return changed(b, "two", deployed_utility=touched(scores, (0, 3), scores[0, 3] - 1e-6))


def break_released_mask(b: ak.Benchmark) -> ak.Benchmark:
    scores = b.pipelines["one"].deployed_utility
    return changed(b, "one", deployed_utility=touched(scores, (0, 3), np.nan))


def break_reported_gap(b: ak.Benchmark) -> ak.Benchmark:
    return changed(b, "one", reported_gap=f"{float(b.pipelines['one'].reported_gap) + 0.002:.3f}")


def break_reported_score(b: ak.Benchmark) -> ak.Benchmark:
    return changed(b, "two", reported_partition_score="0.1", reported_gap=None)


def break_folds(b: ak.Benchmark) -> ak.Benchmark:
    return changed(b, "one", fold=touched(b.pipelines["one"].fold, (0, 4), -1))


def break_validation_leak(b: ak.Benchmark) -> ak.Benchmark:
    p = b.pipelines["two"]
    at = (0, int(p.fold[0, 5]), 5)
    return changed(
        b,
        "two",
        validation_partition=touched(p.validation_partition, at, 0.5),
        validation_deployed=touched(p.validation_deployed, at, 0.5),
    )


def break_flat_gap(b: ak.Benchmark) -> ak.Benchmark:
    # a flat pipeline that released two different scores, and no choices to recompute them from
    p = b.pipelines["flat"]
    return changed(
        b,
        "flat",
        algorithm_choice=None,
        partition_utility=touched(p.deployed_utility, (0, 2), p.deployed_utility[0, 2] + 0.5),
        reported_partition_score=None,
        reported_gap=None,
    )


def break_gap_sign(b: ak.Benchmark) -> ak.Benchmark:
    # a decomposed pipeline released with a deployed score above its partition score
    p = b.pipelines["one"]
    return changed(
        b,
        "one",
        family_choice=None,
        within_choice=None,
        deployed_utility=touched(p.deployed_utility, (0, 2), p.partition_utility[0, 2] + 0.5),
        reported_deployed_score=None,
        reported_gap=None,
    )


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        (break_released_partition, "released_partition"),
        (break_released_deployed, "released_deployed"),
        (break_released_mask, "released_mask"),
        (break_reported_gap, "reported_figures"),
        (break_reported_score, "reported_figures"),
        (break_folds, "folds"),
        (break_validation_leak, "validation_leak"),
        (break_flat_gap, "flat_gap"),
        (break_gap_sign, "gap_sign"),
    ],
)
def test_broken_data_fail_exactly_one_check(
    damage: Callable[[ak.Benchmark], ak.Benchmark], check: str
) -> None:
    assert failed(audited(damage(sound()))) == {f"fidelity.{check}"}


def test_a_wrong_gap_fails_both_lemmas_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    # the two routes start from the same arrays, so only a wrong route can part them: break one of the two
    original = fidelity.recompute

    def wrong(
        pipeline: ak.Pipeline, benchmark: ak.Benchmark, threads: int | None = None
    ) -> InstanceScores:
        scores = original(pipeline, benchmark, threads)
        if pipeline.kind == "flat":
            return scores
        return replace(scores, within_regret=scores.within_regret + 1e-9)

    monkeypatch.setattr(fidelity, "recompute", wrong)
    benchmark = sound()
    only = {name: benchmark.pipelines[name] for name in ("one", "flat")}
    assert failed(audited(replace(benchmark, pipelines=only))) == {
        "fidelity.lemma1",
        "fidelity.lemma2",
    }


def test_lemma2_alone_fails_when_a_pair_is_inconsistent() -> None:
    result = audited(sound())
    (item,) = result.items
    pair = replace(item.comparisons[0], lemma2_largest=1e-9)
    broken = replace(result, items=(replace(item, comparisons=(pair, *item.comparisons[1:])),))
    assert failed(broken) == {"fidelity.lemma2"}


def test_lemma1_alone_fails_when_a_pipeline_is_inconsistent() -> None:
    result = audited(sound())
    (item,) = result.items
    pipeline = replace(item.pipelines[0], lemma1_residual=2e-12)
    broken = replace(result, items=(replace(item, pipelines=(pipeline, *item.pipelines[1:])),))
    assert failed(broken) == {"fidelity.lemma1"}
    assert not [
        c
        for c in check_fidelity(broken, tolerance=1e-11)
        if c.id == "fidelity.lemma1" and c.status == "failed"
    ]


def test_a_penalty_below_the_family_breaks_the_identification_interval() -> None:
    # W knows measured utilities only; a run that fails can cost more than the range inside its family
    benchmark = ak.Benchmark(
        utility=np.array([[0.5, np.nan, 0.4], [0.5, np.nan, 0.4]]),
        instances=("i", "j"),
        algorithms=("a", "b", "c"),
        families=("f", "g"),
        family_of=np.array([0, 0, 1]),
        penalty=np.array([-1.0, -1.0]),
        pipelines={
            "family": ak.Pipeline(
                kind="decomposed",
                family_choice=np.array([[0, 0]]),
                within_choice=np.array([[[1, 2], [1, 2]]]),
            ),
            "flat": ak.Pipeline(kind="flat", algorithm_choice=np.array([[2, 2]])),
        },
    )
    assert failed(audited(benchmark)) == {"fidelity.identification"}


def by_id(checks: list[Check], name: str) -> list[Check]:
    return [c for c in checks if c.id == f"fidelity.{name}"]


def test_a_reversal_and_an_uncertified_winner_are_warnings() -> None:
    checks = check_fidelity(ak.audit_fidelity(ak.demo_data(), replicates=20))
    for name in ("reversal", "certified"):
        (check,) = by_id(checks, name)
        assert (check.severity, check.status) == ("warning", "failed")
    assert "+0.19" in by_id(checks, "reversal")[0].reason


def test_dropped_instances_are_a_warning() -> None:
    benchmark = sound()
    holes = touched(benchmark.utility, (7, slice(None)), np.nan)
    result = audited(
        replace(
            benchmark, utility=holes, pipelines=random_benchmark(0, n=30, repetitions=1).pipelines
        )
    )
    coverage = by_id(check_fidelity(result), "coverage")
    assert {c.status for c in coverage} == {"failed"}
    assert coverage[0].reason.startswith("1 of 30")


def test_the_report_fails_on_warnings_only_when_strict() -> None:
    audit = ak.run_audits(ak.demo_data(), only=["fidelity"], replicates=20)
    lenient, strict = ak.check(audit), ak.check(audit, strict=True)
    assert lenient.passed
    assert not strict.passed
    assert {c.id for c in strict.failures} == {"fidelity.reversal", "fidelity.certified"}
    assert lenient.counts()["warnings"] == 2
    assert lenient.to_dict()["passed"] is True


def test_an_estimate_tells_whether_it_excludes_zero() -> None:
    assert Estimate(1.0, 0.5, 2.0, 3).excludes_zero
    assert Estimate(-1.0, -2.0, -0.5, 3).excludes_zero
    assert not Estimate(1.0, -0.5, 2.0, 3).excludes_zero
