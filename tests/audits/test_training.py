"""Oracle-trained against deployment-aware pipelines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auditkit.audits.fidelity import audit_fidelity
from auditkit.reports.sections.fidelity import sections
from auditkit.results.common import Estimate
from auditkit.schema import AuditData, Benchmark, Pipeline

N, R = 30, 3


@pytest.fixture
def benchmark() -> Benchmark:
    random = np.random.default_rng(6)
    within = np.tile(np.array([0, 2]), (R, N, 1))
    shared = {"kind": "decomposed", "family_selector": "forest", "within_choice": within}
    return Benchmark(
        utility=random.random((N, 4)),
        instances=tuple(f"i{i}" for i in range(N)),
        algorithms=tuple("abcd"),
        families=("x", "y"),
        family_of=np.array([0, 0, 1, 1]),
        pipelines={
            "aware": Pipeline(
                trained_on="deployed", family_choice=random.integers(0, 2, (R, N)), **shared
            ),
            "oracle": Pipeline(
                trained_on="oracle", family_choice=random.integers(0, 2, (R, N)), **shared
            ),
            "silent": Pipeline(family_choice=random.integers(0, 2, (R, N)), **shared),
        },
    )


def test_the_changes_are_differences_of_the_two_pipelines(benchmark: Benchmark) -> None:
    item = audit_fidelity(AuditData(benchmarks={"b": benchmark}), replicates=100).items[0]
    (effect,) = item.training_effects
    assert (effect.oracle_trained, effect.deployment_aware, effect.n_common) == (
        "oracle",
        "aware",
        N,
    )
    by_name = {p.name: p for p in item.pipelines}
    for change, score in (
        (effect.gap_change, "gap"),
        (effect.partition_change, "partition_score"),
        (effect.deployed_change, "deployed_score"),
    ):
        assert isinstance(change, Estimate)
        aware, oracle = (getattr(by_name[name], score).estimate for name in ("aware", "oracle"))
        assert change.estimate == pytest.approx(aware - oracle, abs=1e-14)
        assert change.low < change.estimate < change.high  # type: ignore[operator]
    keys = {
        "oracle_trained",
        "deployment_aware",
        "n_common",
        "gap_change",
        "partition_change",
        "deployed_change",
    }
    assert set(item.to_dict()["training_effects"][0]) == keys


@pytest.mark.parametrize(
    "change",
    [
        {"family_selector": "another"},
        {"within_selector": "another"},
        {"feature_policy": "fewer"},
        {"families": ("x", "y"), "family_of": np.array([0, 0, 1, 1])},
        {"trained_on": "oracle"},
        {"trained_on": None},
    ],
)
def test_pipelines_that_differ_in_more_are_not_compared(
    benchmark: Benchmark, change: dict[str, object]
) -> None:
    changed = {**benchmark.pipelines, "aware": replace(benchmark.pipelines["aware"], **change)}  # type: ignore[arg-type]
    data = AuditData(benchmarks={"b": replace(benchmark, pipelines=changed)})
    assert audit_fidelity(data, replicates=20).items[0].training_effects == ()


def test_the_report_has_a_table_of_it(benchmark: Benchmark) -> None:
    result = audit_fidelity(AuditData(benchmarks={"b": benchmark}), replicates=20)
    tables = {table.title: table for table in sections(result)[0].tables}
    table = tables["Training the family selector on what would be deployed"]
    assert table.rows[0][:2] == ("aware for oracle", "30")
    bare = replace(benchmark, pipelines={"silent": benchmark.pipelines["silent"]})
    result = audit_fidelity(AuditData(benchmarks={"b": bare}), replicates=20)
    assert not any("Training" in table.title for table in sections(result)[0].tables)
