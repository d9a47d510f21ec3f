"""The fidelity audit against an independent reference, published figures and closed forms."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import auditkit as ak
from auditkit.audits.comparison import transfer_label
from auditkit.errors import UsageError
from auditkit.results.common import Estimate, Skipped
from auditkit.results.fidelity import CorrectedAdvantage
from tests.random_benchmarks import naive_pipeline, random_benchmark

QUANTITIES = (
    "partition_score",
    "deployed_score",
    "gap",
    "family_range",
    "violation_rate",
    "deployment_regret",
)

CASES = {
    "plain": {},
    "missing cells": {"missing": 0.15, "n": 30},
    "missing cells with a penalty": {"missing": 0.3, "penalty": True, "n": 30},
    "no prediction": {"unpredicted": 0.1, "penalty": True, "n": 30},
    "unassigned algorithms": {"unassigned": True},
    "ties": {"ties": True, "n": 40},
    "clusters": {"clusters": True, "n": 30, "missing": 0.1},
    "one repetition": {"repetitions": 1},
    "one family": {"families": 1},
    "one instance": {"n": 1},
}


def data(benchmark: ak.Benchmark) -> ak.AuditData:
    return ak.AuditData(benchmarks={"b": benchmark})


# the engine sums integers within 5e-9 standard errors of float64, and no standard error here exceeds 0.1
ENGINE = 5e-10


def resamples(n: int, replicates: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, n, size=(replicates, n))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_equals_an_independent_reference(case: str, seed: int) -> None:
    benchmark = random_benchmark(seed, **CASES[case])
    (item,) = ak.audit_fidelity(data(benchmark), replicates=50).items
    naive = {name: naive_pipeline(benchmark, name) for name in benchmark.pipelines}
    for p in item.pipelines:
        reference = naive[p.name]
        assert p.n_valid == reference.valid.sum()
        assert p.n_dropped == (~reference.valid).sum()
        for name, column in zip(QUANTITIES, reference.columns.T, strict=True):
            found = getattr(p, name)
            if not reference.valid.any():
                assert isinstance(found, Skipped)
            else:
                assert found.estimate == pytest.approx(column[reference.valid].mean(), abs=1e-9)
                assert found.n == p.n_valid
    for c, (one, two) in zip(item.comparisons, combinations(benchmark.pipelines, 2), strict=True):
        assert (c.first, c.second) == (one, two)
        common = naive[one].valid & naive[two].valid
        assert c.n_common == common.sum()
        if not common.any():
            assert isinstance(c.partition_advantage, Skipped)
            continue
        first, second = (naive[name].columns[common].mean(axis=0) for name in (one, two))
        advantage, delivered = first[0] - second[0], first[1] - second[1]
        lost = first[2] - second[2]
        assert c.partition_advantage.estimate == pytest.approx(advantage, abs=1e-9)
        assert c.deployed_advantage.estimate == pytest.approx(delivered, abs=1e-9)
        assert c.gap_difference.estimate == pytest.approx(lost, abs=1e-9)
        assert c.lemma2_residual < 1e-12
        assert c.lemma2_largest < 1e-12
        assert c.identification_interval.low == pytest.approx(advantage - first[3], abs=1e-9)
        assert c.identification_interval.high == pytest.approx(advantage + second[3], abs=1e-9)
        assert c.crosses_zero == (advantage - first[3] < 0 < advantage + second[3])
        if abs(advantage) < 0.005:
            assert isinstance(c.absorption_ratio, Skipped)
        else:
            assert c.absorption_ratio.estimate == pytest.approx(lost / advantage, abs=1e-9)
            assert c.transfer == transfer_label(advantage, delivered, lost)
        if advantage > 0:
            assert c.deployment_safe == (advantage > lost)
        else:
            assert isinstance(c.deployment_safe, Skipped)


def test_intervals_are_the_percentiles_of_the_published_resampling() -> None:
    benchmark = random_benchmark(5, n=40)
    (item,) = ak.audit_fidelity(
        data(benchmark), replicates=400, confidence=0.9, seed=7, resampler="numpy"
    ).items
    draws = resamples(40, 400, 7)
    naive = {name: naive_pipeline(benchmark, name).columns for name in benchmark.pipelines}
    for p in item.pipelines:
        for name, column in zip(QUANTITIES, naive[p.name].T, strict=True):
            found = getattr(p, name)
            expected = np.quantile(column[draws].mean(axis=1), [0.05, 0.95])
            np.testing.assert_allclose([found.low, found.high], expected, rtol=0, atol=ENGINE)
    for c in item.comparisons:
        # one pass: a pair is paired, its interval is that of the differences under the same resamples
        difference = (naive[c.first] - naive[c.second])[draws].mean(axis=1)
        expected = np.quantile(difference[:, 1], [0.05, 0.95])
        found = c.deployed_advantage
        np.testing.assert_allclose([found.low, found.high], expected, rtol=0, atol=ENGINE)


def test_clusters_are_resampled_whole() -> None:
    benchmark = random_benchmark(6, n=40, clusters=True)
    (item,) = ak.audit_fidelity(data(benchmark), replicates=300, seed=3, resampler="numpy").items
    column = naive_pipeline(benchmark, "one").columns[:, 2]
    labels, codes = np.unique(benchmark.clusters, return_inverse=True)
    assert item.unit == "cluster"
    assert item.n_clusters == item.n_units == len(labels)
    sums, counts = np.bincount(codes, weights=column), np.bincount(codes)
    draws = resamples(len(labels), 300, 3)
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    gap = item.pipelines[0].gap
    np.testing.assert_allclose(
        [gap.low, gap.high], np.quantile(means, [0.025, 0.975]), rtol=0, atol=ENGINE
    )


def test_missing_instances_enter_as_resampled_sums_over_resampled_counts() -> None:
    benchmark = random_benchmark(8, n=60, missing=0.1)
    (item,) = ak.audit_fidelity(data(benchmark), replicates=200, seed=1, resampler="numpy").items
    naive = {name: naive_pipeline(benchmark, name) for name in benchmark.pipelines}
    used = np.any([x.valid for x in naive.values()], axis=0)
    assert item.n_units == used.sum() < 60
    draws = resamples(int(used.sum()), 200, 1)
    column = naive["two"].columns[used, 1]
    expected = np.quantile(np.nanmean(column[draws], axis=1), [0.025, 0.975])
    found = next(p for p in item.pipelines if p.name == "two").deployed_score
    np.testing.assert_allclose([found.low, found.high], expected, rtol=0, atol=ENGINE)


def test_wilcoxon_and_holm_over_the_decomposed_pipelines() -> None:
    benchmark = random_benchmark(9, n=80)
    (item,) = ak.audit_fidelity(data(benchmark), replicates=10).items
    raw = []
    for name in ("one", "two"):
        gaps = naive_pipeline(benchmark, name).columns[:, 2]
        raw.append(stats.wilcoxon(gaps).pvalue)
    found = {p.name: p for p in item.pipelines}
    assert [found["one"].wilcoxon_p, found["two"].wilcoxon_p] == pytest.approx(raw, rel=1e-9)
    small, large = sorted(raw)
    assert sorted((found["one"].holm_p, found["two"].holm_p)) == pytest.approx(
        [min(1, 2 * small), max(min(1, 2 * small), large)], rel=1e-9
    )
    assert isinstance(found["flat"].wilcoxon_p, Skipped)


def test_wilcoxon_averages_clusters_first() -> None:
    benchmark = random_benchmark(10, n=90, clusters=True)
    (item,) = ak.audit_fidelity(data(benchmark), replicates=10).items
    gaps = naive_pipeline(benchmark, "one").columns[:, 2]
    codes = np.unique(benchmark.clusters, return_inverse=True)[1]
    means = np.bincount(codes, weights=gaps) / np.bincount(codes)
    assert item.pipelines[0].wilcoxon_p == pytest.approx(stats.wilcoxon(means).pvalue, rel=1e-9)


def test_released_scores_alone_are_audited_and_the_rest_is_skipped() -> None:
    full = random_benchmark(11, n=20)
    (item,) = ak.audit_fidelity(data(full), replicates=50).items
    scores = {}
    for name in full.pipelines:
        partition, deployed = naive_pipeline(full, name).columns[:, :2].T
        scores[name] = ak.Pipeline(
            kind=full.pipelines[name].kind,
            partition_utility=partition[np.newaxis],
            deployed_utility=deployed[np.newaxis],
        )
    (bare,) = ak.audit_fidelity(data(replace(full, pipelines=scores)), replicates=50).items
    for p, q in zip(item.pipelines, bare.pipelines, strict=True):
        assert q.scores_from == "released"
        assert q.gap.estimate == pytest.approx(p.gap.estimate, abs=1e-12)
        for name in ("family_range", "violation_rate", "deployment_regret", "lemma1_residual"):
            assert (
                "choices" in getattr(q, name).reason or "only released" in getattr(q, name).reason
            )
    for c, d in zip(item.comparisons, bare.comparisons, strict=True):
        assert d.deployed_advantage.estimate == pytest.approx(c.deployed_advantage.estimate)
        for name in ("identification_interval", "crosses_zero", "lemma2_residual"):
            assert isinstance(getattr(d, name), Skipped)


def test_one_instance_has_estimates_but_no_intervals() -> None:
    (item,) = ak.audit_fidelity(data(random_benchmark(12, n=1)), replicates=10).items
    gap = item.pipelines[0].gap
    assert isinstance(gap, Estimate)
    assert isinstance(gap.low, Skipped)
    assert "one" in gap.low.reason
    assert ak.audit_fidelity(data(random_benchmark(12, n=1)), replicates=10).to_dict()


def test_a_pipeline_without_any_valid_instance_is_skipped() -> None:
    benchmark = random_benchmark(13, n=5)
    dead = ak.Pipeline(kind="flat", algorithm_choice=np.full((1, 5), -1))
    result = ak.audit_fidelity(data(replace(benchmark, pipelines={"dead": dead})), replicates=10)
    (pipeline,) = result.items[0].pipelines
    assert pipeline.n_valid == 0
    assert isinstance(pipeline.gap, Skipped)
    both = ak.audit_fidelity(
        data(replace(benchmark, pipelines={**benchmark.pipelines, "dead": dead})), replicates=10
    )
    assert isinstance(next(p for p in both.items[0].pipelines if p.name == "dead").gap, Skipped)
    pair = next(c for c in both.items[0].comparisons if c.second == "dead")
    assert isinstance(pair.partition_advantage, Skipped)
    assert both.to_dict()


def test_imputed_instances_are_counted() -> None:
    benchmark = random_benchmark(14, n=40, missing=0.3, penalty=True)
    (item,) = ak.audit_fidelity(data(benchmark), replicates=10).items
    choice = benchmark.pipelines["flat"].algorithm_choice
    missing = np.isnan(benchmark.utility[np.arange(40), choice]).any(axis=0)
    found = next(p for p in item.pipelines if p.name == "flat")
    assert found.n_imputed == missing.sum() > 0


@pytest.mark.parametrize(
    ("partition", "deployed", "label"),
    [
        (0.10, 0.095, "transfer"),
        (0.10, 0.11, "transfer"),
        (0.10, 0.05, "partial absorption"),
        (0.10, 0.005, "extreme absorption"),
        (0.10, 0.0, "extreme absorption"),
        (0.10, -0.001, "reversal"),
        (0.10, 0.2, "amplification"),
        (-0.10, 0.001, "opposite reversal"),
        (-0.10, -0.05, "partial absorption (swapped)"),
        (-0.10, -0.2, "amplification (swapped)"),
    ],
)
def test_transfer_labels(partition: float, deployed: float, label: str) -> None:
    assert transfer_label(partition, deployed, partition - deployed) == label


def test_gap_correction_fold_by_fold() -> None:
    benchmark = random_benchmark(15, n=24)
    random = np.random.default_rng(0)
    fold = np.tile(np.arange(24) % 3, (2, 1))
    outside = fold[:, np.newaxis] != np.arange(3)[:, np.newaxis]  # [R, F, n]

    def with_validation(name: str, pipeline: ak.Pipeline) -> ak.Pipeline:
        if name == "flat":
            return replace(pipeline, fold=fold)
        deployed = np.where(outside, random.random(outside.shape), np.nan)
        return replace(
            pipeline,
            fold=fold,
            validation_partition=deployed + random.random(outside.shape),
            validation_deployed=deployed,
        )

    pipelines = {name: with_validation(name, p) for name, p in benchmark.pipelines.items()}
    (item,) = ak.audit_fidelity(data(replace(benchmark, pipelines=pipelines)), replicates=10).items
    pair = next(c for c in item.comparisons if (c.first, c.second) == ("one", "flat"))
    found = pair.corrected_advantage
    assert isinstance(found, CorrectedAdvantage)
    from tests.random_benchmarks import naive_cell

    raw, corrected, deployed = [], [], []
    for r in range(2):
        for f in range(3):
            tested = [i for i in range(24) if fold[r, i] == f]
            one = [naive_cell(benchmark, benchmark.pipelines["one"], r, i) for i in tested]
            two = [naive_cell(benchmark, benchmark.pipelines["flat"], r, i) for i in tested]
            stored = pipelines["one"]
            gap = np.nanmean(stored.validation_partition[r, f] - stored.validation_deployed[r, f])
            raw.append(np.mean([a.partition - b.partition for a, b in zip(one, two, strict=True)]))
            deployed.append(
                np.mean([a.deployed - b.deployed for a, b in zip(one, two, strict=True)])
            )
            corrected.append(raw[-1] - gap)  # the gap of a flat pipeline is zero
    errors = np.abs(np.subtract(corrected, deployed)), np.abs(np.subtract(raw, deployed))
    assert found.n_folds == 6
    assert found.mean == pytest.approx(np.mean(corrected), abs=1e-12)
    assert found.error_reduction == pytest.approx(errors[1].mean() - errors[0].mean(), abs=1e-12)
    agree = np.sign(corrected) == np.sign(deployed)
    assert found.sign_agreement == pytest.approx(agree.mean())


def test_gap_correction_needs_the_same_folds() -> None:
    benchmark = random_benchmark(16, n=6)
    one = replace(
        benchmark.pipelines["one"],
        fold=np.tile(np.arange(6) % 2, (2, 1)),
        validation_partition=np.ones((2, 2, 6)),
        validation_deployed=np.ones((2, 2, 6)),
    )
    flat = replace(benchmark.pipelines["flat"], fold=np.tile(np.arange(6) // 3, (2, 1)))
    changed = replace(benchmark, pipelines={"one": one, "flat": flat})
    (item,) = ak.audit_fidelity(data(changed), replicates=10).items
    assert "same folds" in item.comparisons[0].corrected_advantage.reason


def test_permuting_instances_and_rescaling_utilities() -> None:
    benchmark = random_benchmark(17, n=30)
    order = np.random.default_rng(1).permutation(30)

    def turned(pipeline: ak.Pipeline) -> ak.Pipeline:
        arrays = ("family_choice", "within_choice", "predicted_utility", "algorithm_choice")
        changes = {
            a: getattr(pipeline, a)[:, order] for a in arrays if getattr(pipeline, a) is not None
        }
        return replace(pipeline, **changes)

    other = replace(
        benchmark,
        utility=8 * benchmark.utility[order] - 3,
        instances=tuple(benchmark.instances[i] for i in order),
        pipelines={name: turned(p) for name, p in benchmark.pipelines.items()},
    )
    (a,) = ak.audit_fidelity(data(benchmark), replicates=10).items
    (b,) = ak.audit_fidelity(data(other), replicates=10).items
    for p, q in zip(a.pipelines, b.pipelines, strict=True):
        assert q.gap.estimate == pytest.approx(8 * p.gap.estimate, abs=1e-12)
        assert q.violation_rate.estimate == p.violation_rate.estimate
        assert q.partition_score.estimate == pytest.approx(8 * p.partition_score.estimate - 3)


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads() -> None:
    benchmark = random_benchmark(18, n=50, missing=0.05)
    results = [
        ak.audit_fidelity(data(benchmark), replicates=500, seed=4, threads=t).to_dict()
        for t in (1, 2, 3)
    ]
    assert results[0] == results[1] == results[2]
    other = ak.audit_fidelity(data(benchmark), replicates=500, seed=5).to_dict()
    assert other["fidelity"] != results[0]["fidelity"]


def test_pairs_asked_for() -> None:
    benchmark = random_benchmark(19)
    (item,) = ak.audit_fidelity(data(benchmark), replicates=10, pairs=[("two", "one")]).items
    assert [(c.first, c.second) for c in item.comparisons] == [("two", "one")]
    with pytest.raises(UsageError, match="unknown pipeline"):
        ak.audit_fidelity(data(benchmark), pairs=[("one", "three")])
    with pytest.raises(UsageError, match="nothing for the audit"):
        ak.audit_fidelity(ak.AuditData())


def test_the_demo_is_the_reversal_of_the_source() -> None:
    (item,) = ak.audit_fidelity(ak.demo_data()).items
    (pair,) = item.comparisons
    # the source prints +0.20, -0.24 and 2.2 (arXiv:2609.13785, Appendix C)
    assert pair.partition_advantage.estimate == pytest.approx(0.20, abs=0.005)
    assert pair.deployed_advantage.estimate == pytest.approx(-0.24, abs=0.005)
    assert pair.absorption_ratio.estimate == pytest.approx(2.2, abs=0.05)
    assert pair.transfer == "reversal"
    assert pair.deployment_safe is False
    assert pair.crosses_zero is True


def test_a_real_results_file(shared_data: Path) -> None:
    (item,) = ak.audit_fidelity(ak.open(shared_data / "fidelity" / "maxsat_pms_2016.h5")).items
    assert (item.n_instances, item.n_algorithms, item.n_families) == (556, 19, 4)
    pipelines = {p.name: p for p in item.pipelines}
    for name in ("pairwise", "multiclass"):
        assert 0.02 < pipelines[name].gap.estimate < 0.03  # the source: 0.022 to 0.027
        assert pipelines[name].gap.low > 0
        assert pipelines[name].holm_p < 1e-50
    best = pipelines["single_best"].deployed_score.estimate
    assert all(p.deployed_score.low > best for n, p in pipelines.items() if n != "single_best")
    for p in item.pipelines:
        assert p.n_valid == 556
        assert p.lemma1_residual < 1e-12
        assert (p.fold_faults, p.smallest_gap) == (0, 0)
    for c in item.comparisons:
        assert max(c.lemma2_residual, c.lemma2_largest) < 1e-12
        flat = {c.first, c.second} == {"flat", "single_best"}  # no family, so nothing is left open
        assert c.crosses_zero is not flat


def test_a_pipeline_is_not_compared_with_itself() -> None:
    with pytest.raises(UsageError, match="against itself"):
        ak.audit_fidelity(data(random_benchmark(20)), pairs=[("one", "one")])


@pytest.mark.parametrize("audit", ["fidelity", "selection", "allocation", "local", "sensitivity"])
def test_what_is_no_audit_data_is_refused(audit: str) -> None:
    function = getattr(ak, f"audit_{audit}")
    with pytest.raises(UsageError, match="not audit data, found str, expected AuditData"):
        function("results.h5")
    with pytest.raises(UsageError, match=f"nothing for the audit {audit}"):
        function(ak.AuditData())


def test_a_check_takes_the_result_of_run_audits() -> None:
    with pytest.raises(UsageError, match="expected the result of run_audits"):
        ak.check(ak.demo_data())
    with pytest.raises(UsageError, match="nothing for the audit"):
        ak.run_audits(ak.AuditData())
