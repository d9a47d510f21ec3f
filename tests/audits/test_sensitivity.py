"""Each setting against a benchmark that was made under it, and the mappings against brute force."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auditkit import store
from auditkit.audits.fidelity import audit_fidelity
from auditkit.audits.sensitivity import audit_sensitivity
from auditkit.errors import UsageError
from auditkit.results.common import Estimate, Range, Skipped
from auditkit.results.sensitivity import BenchmarkSensitivity, SensitivityRow
from auditkit.schema import AuditData, Benchmark, Pipeline
from auditkit.statistics.utilities import utilities

R, N, A = 2, 40, 6
FAMILY_OF = np.array([0, 0, 1, 1, 2, 2])


def make_benchmark(seed: int = 0, **changes: object) -> Benchmark:
    """Runtimes with a cutoff of 100 and PAR10, two decomposed pipelines that share a family selector, two flat ones."""
    random = np.random.default_rng(seed)
    cost = random.lognormal(3, 1.2, (N, A))
    cost[:4] = 200
    cost = np.where(cost > 100, 1000.0, cost)
    predicted = utilities(np.where(cost == cost, cost, 0), "identity")[None] / 1000 + random.normal(
        0, 0.2, (R, N, A)
    )
    family = random.integers(0, 3, (R, N))
    single = np.tile(np.array([0, 2, 4]), (R, N, 1))
    shared = {"kind": "decomposed", "family_selector": "forest", "feature_policy": "all"}
    fields: dict[str, object] = {
        "utility": utilities(cost, "minmax"),
        "cost": cost,
        "cutoff": 100.0,
        "par_factor": 10.0,
        "unit": "s",
        "transform": "minmax",
        "instances": tuple(f"i{i}" for i in range(N)),
        "algorithms": tuple("abcdef"),
        "families": ("x", "y", "z"),
        "family_of": FAMILY_OF,
        "pipelines": {
            "regression": Pipeline(
                within_selector="regression",
                family_choice=family,
                predicted_utility=predicted,
                **shared,
            ),
            "single": Pipeline(
                within_selector="single best", family_choice=family, within_choice=single, **shared
            ),
            "flat": Pipeline(kind="flat", algorithm_choice=predicted.argmax(axis=2)),
            "worse": Pipeline(kind="flat", algorithm_choice=np.full((R, N), 5)),
        },
        **changes,
    }
    return Benchmark(**fields)  # type: ignore[arg-type]


def run(benchmark: Benchmark, **options: object) -> BenchmarkSensitivity:
    data = AuditData(benchmarks={"b": benchmark})
    return audit_sensitivity(data, replicates=100, **options).items[0]  # type: ignore[arg-type]


def rows(item: BenchmarkSensitivity, **of: str) -> list[SensitivityRow]:
    return [r for r in item.rows if all(getattr(r, key) == value for key, value in of.items())]


def assert_as_audited(item: BenchmarkSensitivity, setting: str, benchmark: Benchmark) -> None:
    """The rows of a setting are what the fidelity audit says of a benchmark that was made under it."""
    data = AuditData(benchmarks={"b": benchmark})
    pairs = [(name, "flat") for name in ("regression", "single")]
    audited = audit_fidelity(data, replicates=100, pairs=pairs).items[0]
    found = rows(item, setting=setting)
    assert [r.pipeline for r in found] == ["regression", "single"]
    for row, pair in zip(found, audited.comparisons, strict=True):
        pipeline = next(p for p in audited.pipelines if p.name == row.pipeline)
        for mine, theirs in (
            (row.gap, pipeline.gap),
            (row.partition_advantage, pair.partition_advantage),
            (row.deployed_advantage, pair.deployed_advantage),
        ):
            assert isinstance(mine, Estimate)
            assert isinstance(theirs, Estimate)
            assert mine.estimate == pytest.approx(theirs.estimate, abs=1e-14)
            assert mine.low < mine.estimate < mine.high  # type: ignore[operator]
        assert row.n_valid == pipeline.n_valid
        assert row.deployment_safe == pair.deployment_safe


def test_the_stored_setting_is_the_fidelity_audit() -> None:
    benchmark = make_benchmark()
    item = run(benchmark)
    assert item.against == "flat"
    assert_as_audited(item, "as stored", benchmark)
    assert item.settings[0].n_measured == N - item.settings[0].n_all_timeout  # type: ignore[operator]
    assert item.settings[0].n_all_timeout >= 4  # type: ignore[operator]


def test_rank_utilities() -> None:
    benchmark = make_benchmark()
    assert benchmark.cost is not None
    rank = utilities(benchmark.cost, "rank")
    rank[np.ptp(benchmark.cost, axis=1) == 0] = np.nan
    item = run(benchmark)
    assert_as_audited(item, "rank", replace(benchmark, utility=rank))
    assert not rows(item, setting="minmax")  # what is stored already


def test_rank_leaves_out_instances_whose_costs_are_all_alike() -> None:
    benchmark = make_benchmark()
    assert benchmark.cost is not None
    alike = int((np.ptp(benchmark.cost, axis=1) == 0).sum())
    assert alike >= 4
    plain = replace(benchmark, utility=-benchmark.cost, transform="identity")
    settings = {
        s.setting: s.n_measured for s in run(plain).settings if s.dimension != "family mapping"
    }
    assert settings["as stored"] == N
    assert settings["rank"] == settings["minmax"] == N - alike


def test_transforms_without_costs_use_the_order_of_the_utilities() -> None:
    benchmark = make_benchmark()
    bare = replace(benchmark, cost=None, cutoff=None, par_factor=None, unit=None, transform=None)
    item = run(bare)
    with_cost, without = (rows(i, setting="rank") for i in (run(benchmark), item))
    for one, two in zip(with_cost, without, strict=True):
        assert one.gap.estimate == pytest.approx(two.gap.estimate, abs=1e-14)  # type: ignore[union-attr]
    assert rows(item, setting="minmax")
    assert [x.reason for x in item.not_recomputed if x.dimension == "cutoff"] == [
        "no cost with its cutoff and penalty factor stored"
    ]


def test_shorter_cutoffs_by_hand() -> None:
    benchmark = make_benchmark()
    assert benchmark.cost is not None
    item = run(benchmark, shorter_cutoffs=[30.0])
    lower = np.where(benchmark.cost > 30, 300.0, benchmark.cost)
    utility = utilities(lower, "minmax")
    assert_as_audited(item, "30 s", replace(benchmark, utility=utility))
    setting = next(s for s in item.settings if s.setting == "30 s")
    assert setting.n_all_timeout == int((benchmark.cost > 30).all(axis=1).sum())
    assert setting.n_measured == N - setting.n_all_timeout
    default = [s.setting for s in run(benchmark).settings if s.dimension == "cutoff"]
    assert default == ["50 s", "10 s"]


def test_a_cutoff_that_is_not_shorter_is_skipped() -> None:
    item = run(make_benchmark(), shorter_cutoffs=[100.0])
    assert "100 s is not shorter than the stored cutoff of 100" in [
        x.reason for x in item.not_recomputed
    ]


@pytest.mark.parametrize("cutoff", [0.0, -3.0, float("nan"), float("inf")])
def test_a_cutoff_that_is_no_time_is_refused(cutoff: float) -> None:
    with pytest.raises(UsageError, match="shorter cutoff out of range"):
        run(make_benchmark(), shorter_cutoffs=[30.0, cutoff])


def test_mappings_by_brute_force() -> None:
    benchmark = make_benchmark()
    item = run(benchmark, random_mappings=3, seed=4)
    predicted = benchmark.pipelines["regression"].predicted_utility
    assert predicted is not None
    names = [s.setting for s in item.settings if s.dimension == "family mapping"]
    assert names == ["given", "coarse merge", "k-means", "random 1", "random 2", "random 3"]
    valid = ~np.isnan(benchmark.utility).all(axis=1)
    for setting in item.settings:
        if setting.dimension != "family mapping":
            continue
        assert not isinstance(setting.families, Skipped)
        groups = [[benchmark.algorithms.index(a) for a in of] for of in setting.families.values()]
        assert sorted(a for of in groups for a in of) == list(range(A))
        gaps = []
        for i in np.flatnonzero(valid):
            for r in range(R):
                runs = max(range(A), key=lambda a: predicted[r, i, a])
                family = next(of for of in groups if runs in of)
                gaps.append(
                    max(benchmark.utility[i, a] for a in family) - benchmark.utility[i, runs]
                )
        (row,) = rows(item, setting=setting.setting)
        assert row.pipeline == "predictions of regression"
        assert row.gap.estimate == pytest.approx(np.mean(gaps), abs=1e-12)  # type: ignore[union-attr]
        # the flat pipeline chooses by the same predictions, so the same algorithm runs
        assert row.deployed_advantage.estimate == 0  # type: ignore[union-attr]
    sizes = {
        s.setting: sorted(map(len, s.families.values()))
        for s in item.settings
        if not isinstance(s.families, Skipped)
    }
    assert sizes["given"] == [2, 2, 2]
    assert sizes["coarse merge"] == [2, 4]
    assert len(sizes["k-means"]) == 3
    assert sizes["random 1"] == [2, 2, 2]
    assert ("family mapping", "single") in [(x.dimension, x.pipeline) for x in item.not_recomputed]


def test_pipelines_with_the_same_predictions_are_mapped_once() -> None:
    benchmark = make_benchmark()
    twin = benchmark.pipelines["regression"]
    other = replace(twin, predicted_utility=-twin.predicted_utility)  # type: ignore[operator]
    item = run(
        replace(benchmark, pipelines={**benchmark.pipelines, "twin": twin, "other": other}),
        random_mappings=0,
    )
    assert [r.pipeline for r in rows(item, setting="given")] == [
        "predictions of regression and 1 more", "predictions of other",
    ]  # fmt: skip


def test_more_families_than_algorithms_are_skipped() -> None:
    item = run(make_benchmark(), n_families=7)
    reasons = [x.reason for x in item.not_recomputed]
    assert "k-means: 7 families asked for, 6 algorithms" in reasons
    assert "random balanced: 7 families asked for, 6 algorithms" in reasons


def test_ranges_span_the_settings() -> None:
    item = run(make_benchmark())
    inner = next(r for r in item.ranges if r.dimension == "inner selector")
    assert inner.settings == ("regression", "single best")
    at_rest = rows(item, setting="as stored")
    gaps = [r.gap.estimate for r in at_rest]  # type: ignore[union-attr]
    assert inner.gap == Range(min(gaps), max(gaps))
    cutoff = next(r for r in item.ranges if r.dimension == "cutoff" and r.subject == "single")
    every = [
        r for r in item.rows if r.pipeline == "single" and r.dimension in ("as stored", "cutoff")
    ]
    assert cutoff.settings == ("as stored", "50 s", "10 s")
    values = [r.deployed_advantage.estimate for r in every]  # type: ignore[union-attr]
    assert cutoff.deployed_advantage == Range(min(values), max(values))
    assert cutoff.sign_changes == (min(values) < 0 < max(values))


def test_intervals_that_oppose_are_told_from_signs_that_change_by_chance() -> None:
    """a takes 50 s. b takes 90 s on three of four instances, and 20 s on the others: good only under a short cutoff."""
    slow = np.arange(N) % 4 != 0
    cost = np.column_stack([np.full(N, 50.0), np.where(slow, 90.0, 20.0), np.full(N, 3.0)])
    within = np.tile(np.array([0, 1]), (1, N, 1))
    benchmark = make_benchmark(
        utility=utilities(cost, "minmax"), cost=cost, algorithms=("a", "b", "c"), families=("x", "y"),
        family_of=np.array([0, 1, 1]),
        pipelines={
            "a": Pipeline(kind="decomposed", family_choice=np.zeros((1, N), dtype=int), within_choice=within),
            "b": Pipeline(kind="flat", algorithm_choice=np.ones((1, N), dtype=int)),
        },
    )  # fmt: skip
    item = run(benchmark, shorter_cutoffs=[35.0])
    (cutoff,) = [r for r in item.ranges if r.dimension == "cutoff"]
    # as stored 3/4 (1 - 47/87) - 1/4 (1 - 17/47); under the cutoff -1/4 (1 - 17/347)
    high, low = 3 / 4 * (1 - 47 / 87) - (1 - 17 / 47) / 4, -(1 - 17 / 347) / 4
    assert cutoff.deployed_advantage == Range(pytest.approx(low), pytest.approx(high))
    assert cutoff.sign_changes is True
    assert cutoff.intervals_oppose is True
    equal = next(r for r in run(make_benchmark()).ranges if r.dimension == "family mapping")
    assert equal.intervals_oppose is False


def test_inner_selectors_of_other_training_are_kept_apart() -> None:
    benchmark = make_benchmark()
    changed = {
        **benchmark.pipelines,
        "single": replace(benchmark.pipelines["single"], trained_on="deployed"),
    }
    item = run(replace(benchmark, pipelines=changed))
    assert not [r for r in item.ranges if r.dimension == "inner selector"]
    assert "no two pipelines share a family selector" in [x.reason for x in item.not_recomputed]


def test_penalties_forbid_another_scale() -> None:
    item = run(make_benchmark(penalty=np.zeros(N)))
    assert {s.dimension for s in item.settings} == {"as stored", "family mapping"}
    assert {x.dimension for x in item.not_recomputed} >= {"transform", "cutoff"}


def test_released_scores_alone_are_skipped() -> None:
    scores = np.random.default_rng(0).random((R, N))
    pipeline = Pipeline(kind="decomposed", partition_utility=scores + 0.1, deployed_utility=scores)
    benchmark = make_benchmark()
    item = run(
        replace(benchmark, pipelines={"only scores": pipeline, "flat": benchmark.pipelines["flat"]})
    )
    (row,) = item.rows
    assert row.setting == "as stored"
    assert row.gap.estimate == pytest.approx(0.1)  # type: ignore[union-attr]
    assert "only released scores are stored, not the choices" in [
        x.reason for x in item.not_recomputed
    ]


def test_without_a_flat_pipeline_there_are_no_advantages() -> None:
    benchmark = make_benchmark()
    kept = {name: p for name, p in benchmark.pipelines.items() if p.kind == "decomposed"}
    item = run(replace(benchmark, pipelines=kept))
    assert isinstance(item.against, Skipped)
    assert all(isinstance(r.deployed_advantage, Skipped) for r in item.rows)
    assert all(isinstance(r.gap, Estimate) for r in item.rows)


def test_the_flat_pipeline_may_be_named() -> None:
    benchmark = make_benchmark()
    assert run(benchmark, against="worse").against == "worse"
    with pytest.raises(UsageError, match="found 'single', expected flat or worse"):
        run(benchmark, against="single")


def test_clusters_are_resampled_whole() -> None:
    benchmark = make_benchmark()
    clustered = replace(benchmark, clusters=np.arange(N) // 4)
    one, two = (rows(run(b), setting="as stored")[0].gap for b in (benchmark, clustered))
    assert isinstance(one, Estimate)
    assert isinstance(two, Estimate)
    assert one.estimate == pytest.approx(two.estimate, abs=1e-14)
    assert (one.low, one.high) != (two.low, two.high)


def test_json_holds_no_nan_and_the_frame_every_row() -> None:
    result = audit_sensitivity(AuditData(benchmarks={"b": make_benchmark()}), replicates=50)
    item = result.to_dict()["sensitivity"][0]
    assert {"benchmark", "against", "settings", "rows", "ranges", "not_recomputed"} == set(item)
    frame = result.to_frame()
    assert len(frame) == len(item["rows"])
    assert {"setting", "gap", "gap_low", "deployed_advantage_high", "deployment_safe"} <= set(frame)


def test_the_stored_file_of_the_maxsat_scenario(shared_data: Path) -> None:
    data = store.open(shared_data / "fidelity" / "maxsat_pms_2016.h5")
    item = audit_sensitivity(data, replicates=50).items[0]
    as_stored = {r.pipeline: r.gap.estimate for r in rows(item, setting="as stored")}  # type: ignore[union-attr]
    audited = audit_fidelity(data, replicates=50).items[0]
    for p in audited.pipelines:
        if p.kind == "decomposed":
            assert as_stored[p.name] == pytest.approx(p.gap.estimate, abs=1e-14)  # type: ignore[union-attr]
    halved = next(s for s in item.settings if s.setting == "900 s")
    cost = data.benchmarks["MAXSAT-PMS-2016"].cost
    assert cost is not None
    assert halved.n_all_timeout == int((cost > 900).all(axis=1).sum()) == 6
    assert halved.n_measured == 550
