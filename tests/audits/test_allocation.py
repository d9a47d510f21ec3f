"""The allocation audit on known workloads, broken ones, and the stored samples of a tour constructor."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditkit.audits.allocation import ROUNDING, audit_allocation
from auditkit.audits.allocation_parts import SOLVED, best_of_k_curves, curve_points
from auditkit.errors import UsageError
from auditkit.results.allocation import SamplesAllocation
from auditkit.results.common import Estimate, Skipped
from auditkit.schema import AuditData, Samples
from auditkit.statistics.best_of_k import greedy_allocation
from auditkit.statistics.budgets import mean_by_label
from auditkit.statistics.workload import (
    Scores,
    arrange,
    as_workload,
    halves,
    part_seeds,
    score,
)

FEW = {
    "floor_repetitions": 3,
    "floor_sources": 3,
    "compositions": 2,
    "replicates": 200,
    "probe_repetitions": 2,
}


def member(cost: np.ndarray, **others: Any) -> Samples:
    return Samples(cost=cost, instances=tuple(f"i{i}" for i in range(len(cost))), **others)


def audit(samples: Samples, **options: Any) -> SamplesAllocation:
    result = audit_allocation(AuditData(samples={"s": samples}), **{**FEW, **options})
    json.dumps(result.to_dict(), allow_nan=False)
    return result.items[0]


def two_widths(n: int = 12, depth: int = 120) -> Samples:
    random = np.random.default_rng(1)
    wide = np.arange(n) % 2 == 1
    spread = np.where(wide, 10.0, 1.0)[:, np.newaxis]
    return member(
        100 + spread * random.exponential(1, (n, depth)),
        reference=np.full(n, 100.0),
        label=tuple("wide" if w else "narrow" for w in wide),
    )


def test_gains_equal_a_plain_recomputation() -> None:
    item = audit(two_widths(), per_instance=20, repeat_splits=2, seed=5)
    gaps = two_widths().cost - 100.0
    everyone = np.arange(12)

    def curves(rows: np.ndarray) -> np.ndarray:
        workload = as_workload(rows)
        every = np.tile(np.arange(1, 61), (12, 1))
        return score(arrange(workload, "exact", 0), workload, "exact", every)

    full = curves(gaps)
    taken = greedy_allocation(full, 240)
    d_in = 100 * (1 - full[everyone, taken - 1].sum() / full[:, 19].sum())
    assert isinstance(item.d_in, Estimate)
    assert item.d_in.estimate == pytest.approx(d_in, rel=1e-12)
    assert item.allocation is not None
    assert item.allocation.tolist() == taken.tolist()
    assert (item.smallest, item.largest) == (taken.min(), taken.max())

    seeds = part_seeds(5)
    uniform, allocated, by_label, gains = [], [], [], []
    for r in range(2):
        one, other = halves(as_workload(100 * (two_widths().cost / 100.0 - 1)), seeds["split"], r)
        decided = greedy_allocation(curves(one.gaps), 240)
        means = mean_by_label(two_widths().label or (), decided)
        shared = np.array([means[x] for x in two_widths().label or ()])
        scored = curves(other.gaps)
        uniform.append(scored[:, 19])
        allocated.append(scored[everyone, decided - 1])
        assert decided.sum() == 240
        exact_shares = np.floor(shared).astype(int)
        left = 240 - exact_shares.sum()
        order = np.argsort(-(shared - exact_shares), kind="stable")[:left]
        exact_shares[order] += 1
        by_label.append(scored[everyone, exact_shares - 1])
        gains.append(100 * (1 - allocated[-1].sum() / uniform[-1].sum()))
    d_split = 100 * (1 - np.sum(allocated) / np.sum(uniform))
    assert isinstance(item.d_split, Estimate)
    assert item.d_split.estimate == pytest.approx(d_split, rel=1e-9)
    assert not isinstance(item.split_spread, Skipped)
    assert item.split_spread.low == pytest.approx(min(gains), rel=1e-9)
    assert item.split_spread.mean == pytest.approx(np.mean(gains), rel=1e-9)
    assert item.split_spread.sd == pytest.approx(np.std(gains, ddof=1), rel=1e-6)
    assert not isinstance(item.label, Skipped)
    d_label = 100 * (1 - np.sum(by_label) / np.sum(uniform))
    assert item.label.d_label.estimate == pytest.approx(d_label, rel=1e-9)
    assert item.label.residual.estimate == pytest.approx(d_split - d_label, rel=1e-6, abs=1e-9)


def test_the_interval_resamples_instances_with_the_allocation_fixed() -> None:
    item = audit(two_widths(), per_instance=20, replicates=4000, resampler="numpy", seed=3)
    gaps = 100 * (two_widths().cost / 100.0 - 1)
    workload = as_workload(gaps)
    rows = arrange(workload, "exact", 0)
    assert item.allocation is not None
    k = np.stack([np.full(12, 20), item.allocation], axis=1)
    uniform, allocated = score(rows, workload, "exact", k).T
    draws = np.random.default_rng(3).integers(0, 12, size=(4000, 12))
    ratios = 100 * (1 - allocated[draws].sum(axis=1) / uniform[draws].sum(axis=1))
    assert isinstance(item.d_in, Estimate)
    # the bootstrap adds in fixed point, off by less than 1e-6 standard errors for each of the two means
    slack = 1e-5 * ratios.std()
    assert item.d_in.low == pytest.approx(np.quantile(ratios, 0.025), abs=slack)
    assert item.d_in.high == pytest.approx(np.quantile(ratios, 0.975), abs=slack)


def test_the_json_has_the_fixed_keys_and_every_option_and_seed() -> None:
    data = AuditData(samples={"s": two_widths()})
    out = audit_allocation(
        data, per_instance=20, seed=4, label_ratio={"wide": 2, "narrow": 1}, **FEW
    ).to_dict()
    (item,) = out["allocation"]
    assert item.keys() >= {
        "samples",
        "n_instances",
        "depth",
        "per_instance",
        "estimator",
        "d_in",
        "d_split",
        "floor",
    }
    assert item["d_in"].keys() >= {"estimate", "low", "high"}
    assert item["floor"].keys() >= {"median", "p90"}
    assert (item["samples"], item["n_instances"], item["depth"]) == ("s", 12, 120)
    assert (item["per_instance"], item["budget"], item["cap"]) == (20, 240, 60)
    own = out["settings"]["allocation"]
    assert own["seeds"] == part_seeds(4)
    assert own["seeds"].keys() == {"ordering", "split", "null", "probe", "composition"}
    assert own["probe"] == 2
    assert own["label_ratio"] == {"wide": 2, "narrow": 1}
    assert out["settings"]["seed"] == 4
    assert [g["estimator"] for g in item["estimators"]] == ["exact", "blocks", "replay"]
    assert item["label"]["ratio"] == {"narrow": 1.0, "wide": 2.0}
    assert item["label"]["ratio_from"] == "given"
    assert "allocation" not in item


@pytest.mark.parametrize("estimator", ["exact", "blocks", "replay"])
def test_threads_change_no_bit_and_seeds_do(estimator: str) -> None:
    data = AuditData(samples={"s": two_widths()})
    one = audit_allocation(data, per_instance=20, estimator=estimator, threads=1, **FEW)  # type: ignore[arg-type]
    four = audit_allocation(data, per_instance=20, estimator=estimator, threads=4, **FEW)  # type: ignore[arg-type]
    other = audit_allocation(data, per_instance=20, estimator=estimator, seed=1, **FEW)  # type: ignore[arg-type]
    assert one.to_dict() == four.to_dict()
    assert one.items[0].estimator == estimator
    gains = {g.estimator: g for g in one.items[0].estimators}  # type: ignore[union-attr]
    assert one.items[0].d_in == gains[estimator].d_in
    assert one.items[0].floor == gains[estimator].floor
    assert one.items[0].floor != other.items[0].floor
    assert one.items[0].d_split != other.items[0].d_split


def test_no_reference_audits_the_cost_and_says_so() -> None:
    samples = two_widths()
    plain = audit(member(samples.cost), per_instance=20)
    missing = audit(member(samples.cost, reference=np.full(12, np.nan)), per_instance=20)
    assert plain.quantity == missing.quantity == "cost"
    assert plain.d_in == missing.d_in
    workload = as_workload(samples.cost)
    rows = arrange(workload, "exact", 0)
    uniform = score(rows, workload, "exact", np.full((12, 1), 20)).mean()
    assert plain.estimators[0].uniform_gap == pytest.approx(uniform)  # type: ignore[union-attr]
    assert isinstance(plain.label, Skipped)
    assert isinstance(plain.composition, Skipped)


def test_instances_without_a_usable_reference_are_dropped_and_counted() -> None:
    samples = two_widths()
    reference = np.full(12, 100.0)
    reference[2], reference[5], reference[7] = np.nan, 0.0, -1.0
    cost = samples.cost.copy()
    cost[9] = np.nan
    item = audit(member(cost, reference=reference, label=samples.label), per_instance=20)
    assert (item.dropped.no_samples, item.dropped.no_reference, item.dropped.bad_reference) == (
        1,
        1,
        2,
    )
    assert item.n_instances == 8
    assert item.budget == 160
    assert item.instances == ("i0", "i1", "i3", "i4", "i6", "i8", "i10", "i11")
    keep = [0, 1, 3, 4, 6, 8, 10, 11]
    alone = member(cost[keep], reference=reference[keep])
    assert item.d_in == audit(alone, per_instance=20).d_in
    nothing = audit(
        member(cost, reference=np.where(np.arange(12) < 6, -1.0, np.nan)), per_instance=20
    )
    assert nothing.skipped is not None
    assert "positive reference" in nothing.skipped


def test_the_curves_are_those_of_all_samples() -> None:
    depths = (8, 12, 9)
    cost = np.random.default_rng(7).exponential(1, (3, 12)) + 10
    for row, depth in zip(cost, depths, strict=True):
        row[depth:] = np.nan
    item = audit(member(cost, reference=np.full(3, 8.0)), per_instance=2, seed=6)
    assert not isinstance(item.curves, Skipped)
    assert [(p.k, p.n) for p in item.curves] == [(1, 3), (2, 3), (3, 3), (4, 3)]
    gaps = [
        100 * (row[:depth] / 8 - 1).astype(float) for row, depth in zip(cost, depths, strict=True)
    ]
    ordered = arrange(as_workload(100 * (cost / 8 - 1)), "replay", part_seeds(6)["ordering"])
    for p in item.curves:
        subsets = [np.mean([min(s) for s in combinations(gap, p.k)]) for gap in gaps]
        whole = [gap[: len(gap) // p.k * p.k].reshape(-1, p.k) for gap in gaps]
        assert p.exact == pytest.approx(np.mean(subsets), rel=1e-12)
        assert p.blocks == pytest.approx(np.mean([x.min(axis=1).mean() for x in whole]), rel=1e-12)
        assert p.replay == pytest.approx(ordered[:, : p.k].min(axis=1).mean(), rel=1e-12)
    assert not isinstance(item.estimators, Skipped)
    for gain in item.estimators:
        at_uniform = getattr(item.curves[1], gain.estimator)
        assert gain.uniform_gap == pytest.approx(at_uniform, rel=1e-12)


def test_the_curves_hold_costs_where_no_reference_is_stored() -> None:
    cost = two_widths().cost
    item = audit(member(cost), per_instance=20)
    assert not isinstance(item.curves, Skipped)
    assert item.curves[0].exact == pytest.approx(cost.mean(), rel=1e-12)
    assert item.curves[0].blocks == pytest.approx(cost.mean(), rel=1e-12)
    shallow = audit(member(cost), per_instance=70)
    assert isinstance(shallow.curves, Skipped)
    assert shallow.curves == shallow.d_in


def test_curves_are_read_from_one_sample_to_the_cap_and_at_the_uniform_budget() -> None:
    spaced = {round(500 ** (i / 19)) for i in range(20)}
    assert curve_points(500, 100).tolist() == sorted(spaced | {100})
    assert curve_points(4, 3).tolist() == [1, 2, 3, 4]
    assert curve_points(1, 1).tolist() == [1]


def test_curves_beyond_a_float_are_skipped() -> None:
    one = np.ones((1, 2))
    scores = Scores(one, one, np.ones((1, 2), np.int64), curve=np.full((2, 1), 1e308))
    found = best_of_k_curves(np.array([1]), {"exact": scores})
    assert found == Skipped("a mean of the exact curves is too large for a float")


def test_instances_may_differ_in_depth() -> None:
    cost = two_widths(6, 200).cost.copy()
    for i, depth in enumerate((80, 95, 200, 123, 80, 161)):
        cost[i, depth:] = np.nan
    item = audit(member(cost, reference=np.full(6, 100.0)), per_instance=20, repeat_splits=2)
    assert (item.depth, item.deepest, item.cap) == (80, 200, 40)
    assert item.budget_faults == 0
    assert item.allocation is not None
    assert (item.allocation <= np.array([40, 47, 100, 61, 40, 80])).all()
    assert item.allocation.sum() == 120
    assert isinstance(item.curve_residual, float)
    assert item.curve_residual < 1e-13


def test_the_depth_guard_refuses_and_can_be_overridden() -> None:
    data = AuditData(samples={"shallow": two_widths(6, 79), "deep": two_widths(6, 80)})
    shallow, deep = audit_allocation(data, per_instance=20, **FEW).items
    assert shallow.skipped is not None
    assert "--shallow" in shallow.skipped
    assert shallow.depth == 79
    assert not shallow.shallow
    assert isinstance(shallow.d_in, Skipped)
    assert isinstance(shallow.d_split, Skipped)
    assert isinstance(shallow.floor, Skipped)
    assert deep.skipped is None
    over = audit_allocation(data, per_instance=20, allow_shallow=True, **FEW)
    assert over.items[0].shallow
    assert not over.items[1].shallow
    assert isinstance(over.items[0].d_in, Estimate)
    assert over.stamp.settings["allocation"]["allow_shallow"] is True


def test_a_half_must_hold_the_budget_even_when_overridden() -> None:
    item = audit(two_widths(6, 39), per_instance=20, allow_shallow=True)
    assert item.skipped is not None
    assert "a half does not hold" in item.skipped
    assert audit(two_widths(6, 40), per_instance=20, allow_shallow=True).skipped is None


def test_where_every_instance_is_solved_there_is_no_gain() -> None:
    # single-precision costs equal to a double-precision reference only up to rounding
    reference = np.array([1 / 3, 0.7, 1.1, 5.3])
    cost = np.tile(reference.astype(np.float32)[:, np.newaxis], (1, 80))
    cost[:, 0] *= 2
    item = audit(member(cost, reference=reference), per_instance=20)
    assert item.skipped is None
    assert item.d_in == item.d_split == Skipped(SOLVED)
    assert item.floor == Skipped("all 3 source instances are solved within the uniform budget")
    assert isinstance(item.probe, Skipped)
    assert 0 < abs(item.estimators[0].uniform_gap) < ROUNDING  # type: ignore[union-attr, operator, arg-type]
    alike = audit(member(np.full((4, 80), 3.0), reference=np.full(4, 3.0)), per_instance=20)
    assert alike.d_in == Skipped(SOLVED)


def test_samples_that_beat_the_reference_have_no_relative_gain() -> None:
    samples = two_widths()
    item = audit(member(samples.cost, reference=np.full(12, 200.0)), per_instance=20)
    assert isinstance(item.d_in, Skipped)
    assert "beat the reference" in item.d_in.reason
    some = audit(
        member(samples.cost, reference=np.where(np.arange(12) == 3, 104.0, 99.0)), per_instance=20
    )
    assert isinstance(some.d_in, Estimate)  # one instance beats its reference, the mean does not
    negative = audit(member(-samples.cost), per_instance=20)
    assert isinstance(negative.d_in, Skipped)
    assert "needs a positive one" in negative.d_in.reason
    assert isinstance(negative.floor, Skipped)
    assert "none of the 3 source instances keeps a positive mean" in negative.floor.reason
    one = audit(member(-samples.cost), per_instance=20, floor_sources=1)
    assert isinstance(one.floor, Skipped)
    assert "the one source instance does not keep a positive mean" in one.floor.reason


def test_one_instance_gains_nothing_and_has_no_interval() -> None:
    item = audit(member(two_widths().cost[1:2], reference=np.array([100.0])), per_instance=20)
    assert isinstance(item.d_in, Estimate)
    assert item.d_in.estimate == 0
    assert isinstance(item.d_in.low, Skipped)
    assert item.allocation is not None
    assert item.allocation.tolist() == [20]


def test_alike_samples_gain_nothing() -> None:
    item = audit(member(np.full((5, 80), 4.0), reference=np.full(5, 2.0)), per_instance=20)
    assert isinstance(item.d_in, Estimate)
    assert (item.d_in.estimate, item.d_in.low, item.d_in.high) == (0.0, 0.0, 0.0)


def test_a_cap_holds() -> None:
    item = audit(two_widths(), per_instance=20, cap=22)
    assert item.allocation is not None
    assert item.allocation.max() == 22
    assert item.cap == 22
    assert item.budget_faults == 0


def test_a_missing_ratio_skips_the_label_baseline_alone() -> None:
    item = audit(two_widths(), per_instance=20, label_ratio=[("wide", 2.0)])
    assert item.label == Skipped("no ratio given for label 'narrow'")
    assert isinstance(item.d_split, Estimate)


def test_the_ratio_of_an_unknown_label_is_refused() -> None:
    ratios = {"wide": 2.0, "nosuch": 1.0}
    with pytest.raises(UsageError, match="'nosuch', expected one of 'narrow', 'wide'"):
        audit(two_widths(), per_instance=20, label_ratio=ratios)
    with pytest.raises(UsageError, match="none are stored"):
        audit(member(two_widths().cost), per_instance=20, label_ratio=ratios)


def test_a_label_with_one_instance_is_not_composed() -> None:
    samples = two_widths(6, 80)
    lone = audit(member(samples.cost, label=("a",) + ("b",) * 5), per_instance=20)
    assert isinstance(lone.composition, Skipped)
    assert "a:" in lone.composition.reason
    three = audit(member(samples.cost, label=("a", "b", "b", "c", "c", "c")), per_instance=20)
    assert not isinstance(three.composition, Skipped)
    assert {c.label for c in three.composition} == {"b", "c"}


@pytest.mark.parametrize(
    "options",
    [
        {"per_instance": 0}, {"estimator": "median"}, {"repeat_splits": 0}, {"probe": 1}, {"probe": 21}, {"cap": 19},
        {"label_ratio": {"wide": 0.0}}, {"floor_sources": 0}, {"floor_repetitions": 0}, {"compositions": 0},
        {"seed": -1},
    ],
)  # fmt: skip
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        audit(two_widths(), **{"per_instance": 20, **options})


def test_nothing_to_audit_is_an_error() -> None:
    with pytest.raises(UsageError):
        audit_allocation(AuditData())


def test_the_frame_has_a_row_an_estimator() -> None:
    data = AuditData(samples={"s": two_widths(), "t": two_widths(6, 40)})
    frame = audit_allocation(data, per_instance=20, **FEW).to_frame()
    assert frame["estimator"].tolist() == ["exact", "blocks", "replay"]
    assert set(frame.columns) >= {
        "samples",
        "d_in",
        "d_in_low",
        "d_split",
        "floor_median",
        "floor_p90",
    }


def test_progress_counts_every_floor() -> None:
    told: dict[str, tuple[int, int]] = {}
    audit(
        two_widths(),
        per_instance=20,
        progress=lambda task, done, total: told.update({task: (done, total)}),
    )
    for task in ("null floor, exact", "null floor, blocks", "null floor, replay"):
        assert told[task] == (9, 9)
    assert told["floor over depth and instances"] == (9, 9)


def test_a_tour_constructor_gains_nothing_whatever_the_replay_says(shared_data: Path) -> None:
    stored = np.load(shared_data / "samples" / "tsp100_softmax_sampler.npz")
    samples = member(
        stored["cost"], reference=stored["reference"], label=tuple(stored["label"].tolist())
    )
    item = audit(samples, per_instance=100, repeat_splits=5, floor_repetitions=30, floor_sources=10)
    gains = {g.estimator: g for g in item.estimators}  # type: ignore[union-attr]
    exact, blocks, replay = (gains[e] for e in ("exact", "blocks", "replay"))
    for gain in (exact, blocks, replay):
        assert isinstance(gain.d_in, Estimate)
        assert isinstance(gain.d_split, Estimate)
        assert not isinstance(gain.floor, Skipped)
    # the single-ordering replay shows several percent that held-out halves take back
    assert 3 < replay.d_in.estimate < 12  # type: ignore[union-attr]
    assert replay.d_split.estimate < 0  # type: ignore[union-attr]
    assert replay.floor.median > 3  # type: ignore[union-attr]
    # blocks less, the exact expectation next to nothing
    assert exact.d_in.estimate < blocks.d_in.estimate < replay.d_in.estimate  # type: ignore[union-attr]
    assert 0 < exact.d_in.estimate < 0.5  # type: ignore[union-attr]
    assert exact.d_split.high < 0.5  # type: ignore[union-attr]
    assert exact.floor.median < 0.2  # type: ignore[union-attr]
    assert not exact.d_split.excludes_zero  # type: ignore[union-attr]
