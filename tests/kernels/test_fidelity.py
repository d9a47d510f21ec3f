"""The per-instance kernel against a naive reading of its definitions, compiled and not."""

from __future__ import annotations

import numpy as np
import pytest

from auditkit.audits.fidelity import recompute
from auditkit.kernels import fidelity as kernels
from auditkit.schema import Benchmark, Pipeline
from auditkit.statistics import per_instance
from tests.random_benchmarks import naive_cell, random_benchmark

CASES = {
    "plain": {},
    "missing": {"missing": 0.3},
    "missing with penalty": {"missing": 0.3, "penalty": True},
    "nothing predicted": {"unpredicted": 0.3, "penalty": True, "missing": 0.2},
    "unassigned": {"unassigned": True},
    "ties": {"ties": True},
    "one repetition": {"repetitions": 1},
    "one family": {"families": 1},
    "one instance": {"n": 1},
    "one algorithm a family": {"algorithms": 3, "families": 3},
}


@pytest.fixture(params=["compiled", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        for name in ("decomposed_scores", "flat_scores"):
            monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)
    return str(request.param)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_naive_reading(case: str, seed: int, engine: str) -> None:
    benchmark = random_benchmark(seed, **CASES[case])
    for pipeline in benchmark.pipelines.values():
        scores = recompute(pipeline, benchmark)
        assert scores is not None
        for r, i in np.ndindex(scores.partition.shape):
            naive = naive_cell(benchmark, pipeline, r, i)
            np.testing.assert_equal(scores.partition[r, i], naive.partition)
            np.testing.assert_equal(scores.deployed[r, i], naive.deployed)
            if np.isfinite(naive.partition) and np.isfinite(naive.deployed):
                assert scores.family_range[r, i] == naive.range
                assert scores.violation[r, i] == naive.violation
                assert scores.regret[r, i] == naive.regret
                if benchmark.penalty is None:
                    assert scores.within_regret[r, i] == naive.partition - naive.deployed


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(per_instance, "_PART", 3)
    benchmark = random_benchmark(1, n=50, missing=0.1, penalty=True)
    pipeline = benchmark.pipelines["one"]
    one = recompute(pipeline, benchmark, threads=1)
    other = recompute(pipeline, benchmark, threads=threads)
    for name in ("partition", "deployed", "family_range", "violation", "regret", "within_regret"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_an_exact_tie_between_families_is_no_violation() -> None:
    utility = np.array([[0.1, 0.3, 0.1, 0.7]])
    # both inner choices have utility 0.1, yet rounded regrets would call it a violation
    assert (0.7 - 0.1) - (0.3 - 0.1) > 0.7 - 0.3
    benchmark = Benchmark(
        utility=utility,
        instances=("i",),
        algorithms=("a", "b", "c", "d"),
        families=("f", "g"),
        family_of=np.array([0, 0, 1, 1]),
        pipelines={
            str(s): Pipeline(
                kind="decomposed", family_choice=np.array([[s]]), within_choice=np.array([[[0, 2]]])
            )
            for s in (0, 1)
        },
    )
    for pipeline in benchmark.pipelines.values():
        scores = recompute(pipeline, benchmark)
        assert scores is not None
        assert scores.violation[0, 0] == 0
        assert scores.regret[0, 0] == 0


def test_predictions_choose_the_first_of_equal_ones_and_never_a_missing_one() -> None:
    predicted = np.array([[[0.5, 0.5, np.nan, np.nan]]])
    choice = per_instance.inner_choice(predicted, np.array([0, 0, 0, 1]), 3)
    assert choice.tolist() == [[[0, -1, -1]]]
