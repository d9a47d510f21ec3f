"""A build: no test row reaches a fit, the same bits however it is run, and the stored arrays against naive twins."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier

import auditkit as ak
from auditkit import store
from auditkit.audits.fidelity import audit_fidelity
from auditkit.checks.fidelity import check_fidelity
from auditkit.errors import SchemaError, StoreError, UsageError
from auditkit.fit import selectors
from auditkit.fit.build import Built, build_pipelines
from auditkit.fit.checkpoints import Checkpoints
from auditkit.fit.protocol import Protocol, Task, best_algorithm, make_folds
from auditkit.fit.selectors import Fitter
from auditkit.fit.tasks import Job, fit_family, fit_inner, run_task
from auditkit.schema import AuditData, Benchmark
from auditkit.statistics.per_instance import inner_choice

POISON = 1e9

SMALL = Protocol(seeds=2, folds=3, validation_folds=3, trees=8)


@pytest.fixture(scope="session")
def built(scenario: Benchmark) -> Built:
    return build_pipelines(scenario, SMALL)


def content(benchmark: Benchmark) -> str:
    return AuditData(benchmarks={"b": benchmark}).sha256


class Spy(Fitter):
    """Sees everything that scikit-learn is fitted on."""

    __slots__ = ("seen",)

    def _timed(self, model: Any, x: Any, y: Any, new: Any, method: str) -> Any:
        self.seen = [*getattr(self, "seen", []), (np.asarray(x), np.asarray(y))]
        return super()._timed(model, x, y, new, method)


@pytest.mark.parametrize("left_out", [(), (1,)])
def test_no_test_row_reaches_any_fit(
    scenario: Benchmark, tmp_path: Path, left_out: tuple[int, ...]
) -> None:
    folds = make_folds(scenario.utility, None, SMALL)
    task = Task(1, 2, left_out)
    assert scenario.features is not None
    away = (folds.test[1] == 2) | np.isin(folds.validation[1, 2], left_out) & (len(left_out) > 0)
    poisoned = replace(
        scenario,
        features=np.where(away[:, None], POISON, scenario.features),
        utility=np.where(away[:, None], POISON * np.arange(1, 6), scenario.utility),
    )
    results = []
    for number, benchmark in enumerate((scenario, poisoned)):
        folder = tmp_path / str(number)
        folder.mkdir()
        job = Job(
            benchmark.features, benchmark.utility, benchmark.family_of, 2, folds, SMALL, Checkpoints(folder)
        )  # fmt: skip
        for w in range(3):
            if w not in left_out:
                run_task(job, "inner", Task(1, 2, tuple(sorted((*left_out, w)))))
        spies = Spy(8), Spy(8)
        fit_inner(job, task, spies[0])
        fit_family(job, task, spies[1])
        results.append([seen for spy in spies for seen in spy.seen])
    # 5 regressions, 2 forests inside families, 1 multiclass, 1 pair, 3 deployment-aware
    assert len(results[0]) == 12
    for (x, y), (px, py) in zip(*results, strict=True):
        assert np.abs(px).max() < POISON
        assert np.abs(py).max() < POISON
        np.testing.assert_array_equal(x, px)
        np.testing.assert_array_equal(y, py)


def test_what_runs_on_a_test_fold_does_not_depend_on_its_utilities(
    scenario: Benchmark, built: Built
) -> None:
    fold = built.benchmark.pipelines["flat-single"].fold
    assert fold is not None
    random = np.random.default_rng(3)
    # factors per instance that keep which algorithm is best, on which the folds are stratified
    protocol = replace(SMALL, seeds=1)
    test = fold[0] == 0
    changed = np.where(
        test[:, None], scenario.utility * random.uniform(0.5, 2, (len(test), 1)), scenario.utility
    )
    again = build_pipelines(replace(scenario, utility=changed), protocol).benchmark
    for name, pipeline in built.benchmark.pipelines.items():
        if name.startswith("oracle"):
            continue
        other = again.pipelines[name]
        for array in ("family_choice", "within_choice", "predicted_utility", "algorithm_choice"):
            one, two = getattr(pipeline, array), getattr(other, array)
            if one is not None:
                np.testing.assert_array_equal(one[0][test], two[0][test])


def test_the_same_bits_for_one_process_and_for_two(
    scenario: Benchmark, built: Built, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    out = tmp_path / "built.h5"
    two = build_pipelines(
        scenario, SMALL, jobs=2, out=out, name="b", progress=lambda _, done, total: seen.append((done, total))
    )  # fmt: skip
    assert content(two.benchmark) == content(built.benchmark)
    # per seed and fold: 1 + 3 + 3 training sets inside, 1 + 3 for the family selectors
    assert two.n_steps == 2 * 3 * (7 + 4)
    assert seen == [(i + 1, 66) for i in range(66)]
    assert content(store.open(out).benchmarks["b"]) == content(built.benchmark)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["built.h5"]


def test_a_killed_build_goes_on_where_it_was(
    scenario: Benchmark, built: Built, tmp_path: Path
) -> None:
    out = tmp_path / "built.h5"

    def kill(task: str, done: int, total: int) -> None:
        if done == 50:  # among the family selectors
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_pipelines(scenario, SMALL, out=out, progress=kill)
    assert not out.exists()
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith(".built.h5.build-")
    assert len(list(folder.iterdir())) == 50
    totals: list[int] = []
    again = build_pipelines(
        scenario, SMALL, out=out, progress=lambda _, done, total: totals.append(total)
    )
    assert again.n_resumed == 50
    assert totals == [16] * 16
    assert content(again.benchmark) == content(built.benchmark)
    assert not folder.exists()


def test_steps_of_other_settings_are_not_taken(scenario: Benchmark, tmp_path: Path) -> None:
    out = tmp_path / "built.h5"

    def kill(task: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    for change in ({"trees": 3}, {"trees": 4}, {"trees": 4, "seed": 1}):
        with pytest.raises(KeyboardInterrupt):
            build_pipelines(scenario, replace(SMALL, **change), out=out, progress=kill)
    other = replace(scenario, features=scenario.features * 2)  # type: ignore[operator]
    with pytest.raises(KeyboardInterrupt):
        build_pipelines(other, replace(SMALL, trees=3), out=out, progress=kill)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_damaged_step_is_refused(scenario: Benchmark, tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save("inner", Task(0, 0), {"rows": np.arange(3)})
    np.testing.assert_array_equal(checkpoints.load("inner", Task(0, 0))["rows"], [0, 1, 2])
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(StoreError, match="unreadable step"):
        checkpoints.load("inner", Task(0, 0))


def test_the_stored_choices_against_scikit_learn_by_hand(scenario: Benchmark, built: Built) -> None:
    folds = make_folds(scenario.utility, None, SMALL)
    task = Task(1, 0)
    train, rows = folds.training_rows(task), folds.predicted_rows(task)
    x, new = selectors.impute(scenario.features[train], scenario.features[rows])  # type: ignore[index]
    model = GradientBoostingRegressor(n_estimators=8, random_state=1)
    expected = model.fit(x, scenario.utility[train, 3]).predict(new)
    pipelines = built.benchmark.pipelines
    for name in (
        "multiclass-boosting",
        "pairwise-boosting",
        "deployment-boosting",
        "oracle-boosting",
    ):
        predicted = pipelines[name].predicted_utility
        assert predicted is not None
        np.testing.assert_array_equal(predicted[1, rows, 3], expected)
        flat = pipelines["flat-boosting"].algorithm_choice
        np.testing.assert_array_equal(flat, predicted.argmax(axis=2))
    label = (
        scenario.utility[train, 2:4].max(axis=1) > np.nanmax(scenario.utility[train, :2], axis=1)
    ).astype(int)
    forest = RandomForestClassifier(8, random_state=1).fit(x, label)
    choice = pipelines["multiclass-single"].family_choice
    assert choice is not None
    np.testing.assert_array_equal(choice[1, rows], forest.predict(new))


def test_the_deployment_aware_target_is_cross_fitted(scenario: Benchmark, built: Built) -> None:
    """Its forest by hand: every target from regressions fitted on the other validation folds."""
    folds = make_folds(scenario.utility, None, SMALL)
    assert scenario.features is not None
    task = Task(0, 1)
    train, rows = folds.training_rows(task), folds.predicted_rows(task)
    target = np.full(len(scenario.utility), -9)
    for w in range(3):
        inside = folds.validation[0, 1]
        fit, held = np.flatnonzero((inside >= 0) & (inside != w)), np.flatnonzero(inside == w)
        x, new = selectors.impute(scenario.features[fit], scenario.features[held])
        predicted = np.column_stack([
            GradientBoostingRegressor(n_estimators=8, random_state=0)
            .fit(x[known := ~np.isnan(scenario.utility[fit, a])], scenario.utility[fit, a][known])
            .predict(new)
            for a in range(4)
        ])  # fmt: skip
        chosen = np.column_stack(
            [predicted[:, :2].argmax(axis=1), 2 + predicted[:, 2:].argmax(axis=1)]
        )
        delivered = np.take_along_axis(scenario.utility[held], chosen, axis=1)
        target[held] = best_algorithm(delivered)
    x, new = selectors.impute(scenario.features[train], scenario.features[rows])
    known = target[train] >= 0
    forest = RandomForestClassifier(8, random_state=0).fit(x[known], target[train][known])
    choice = built.benchmark.pipelines["deployment-boosting"].family_choice
    assert choice is not None
    np.testing.assert_array_equal(choice[0, rows], forest.predict(new))


def test_validation_scores_are_those_of_the_left_out_folds(
    scenario: Benchmark, built: Built, tmp_path: Path
) -> None:
    folds = make_folds(scenario.utility, None, SMALL)
    pipeline = built.benchmark.pipelines["pairwise-boosting"]
    steps = Checkpoints(tmp_path)
    job = Job(scenario.features, scenario.utility, scenario.family_of, 2, folds, SMALL, steps)  # type: ignore[arg-type]
    for v in range(3):
        task = Task(1, 1, (v,))
        inner = fit_inner(job, task, Fitter(8))
        for w in set(range(3)) - {v}:
            run_task(job, "inner", Task(1, 1, tuple(sorted((v, w)))))
        family = fit_family(job, task, Fitter(8))["pairwise"]
        within = inner_choice(inner["boosting"][None], scenario.family_of, 2)[0]
        for position, i in enumerate(inner["rows"]):
            members = np.flatnonzero(scenario.family_of == family[position])
            best = np.nanmax(scenario.utility[i, members])
            runs = scenario.utility[i, within[position, family[position]]]
            assert pipeline.validation_partition[1, 1, i] == best  # type: ignore[index]
            np.testing.assert_equal(pipeline.validation_deployed[1, 1, i], runs)  # type: ignore[index]
    outside = folds.validation[1, 1] < 0
    assert np.isnan(pipeline.validation_partition[1, 1, outside]).all()  # type: ignore[index]


def test_the_audit_of_a_build_breaks_no_identity(built: Built) -> None:
    data = AuditData(benchmarks={"b": built.benchmark})
    result = audit_fidelity(data, replicates=200)
    broken = [c for c in check_fidelity(result) if c.severity == "error" and c.status == "failed"]
    assert not broken
    item = result.items[0]
    by_name = {p.name: p for p in item.pipelines}
    assert len(by_name) == 4 * 3 + 2
    best = by_name["oracle-boosting"].partition_score.estimate  # type: ignore[union-attr]
    inside = scenario_maximum(built.benchmark, by_name["oracle-boosting"].n_valid)
    assert best == pytest.approx(inside, abs=1e-12)
    assert {(e.oracle_trained, e.deployment_aware) for e in item.training_effects} == {
        (f"multiclass-{inner}", f"deployment-{inner}") for inner in ("boosting", "forest", "single")
    }
    corrected = next(
        c
        for c in item.comparisons
        if {c.first, c.second} == {"multiclass-boosting", "flat-boosting"}
    ).corrected_advantage
    assert not isinstance(corrected, ak.Skipped)
    assert corrected.n_folds == 6


def scenario_maximum(benchmark: Benchmark, n_valid: int) -> float:
    """The mean over valid rows of the best utility of an algorithm that belongs to a family."""
    inside = benchmark.utility[:, benchmark.family_of >= 0]
    best = np.nanmax(inside[~np.isnan(inside).any(axis=1)], axis=1)
    assert abs(len(best) - n_valid) <= 1  # a row with one missing algorithm may be valid
    pipeline = benchmark.pipelines["oracle-boosting"]
    within = inner_choice(pipeline.predicted_utility, benchmark.family_of, 2)  # type: ignore[arg-type]
    runs = np.take_along_axis(within, np.maximum(pipeline.family_choice, 0)[..., None], axis=2)[
        ..., 0
    ]  # type: ignore[arg-type]
    measured = ~np.isnan(inside).all(axis=1)
    valid = measured & ~np.isnan(np.take_along_axis(benchmark.utility, runs.T, axis=1)).any(axis=1)
    return float(np.nanmax(inside[valid], axis=1).mean())


def test_feature_steps_decide_what_the_selectors_see(scenario: Benchmark) -> None:
    protocol = Protocol(
        1, 2, 2, trees=4, family_selectors=("multiclass",), inner_selectors=("boosting",)
    )
    cheap = build_pipelines(scenario, protocol, steps=["cheap"])
    assert scenario.features is not None
    other = replace(scenario, features=np.where([False, False, True, True], 0.0, scenario.features))
    again = build_pipelines(other, protocol, steps=["cheap"])
    one, two = (b.benchmark.pipelines["multiclass-boosting"] for b in (cheap, again))
    np.testing.assert_array_equal(one.predicted_utility, two.predicted_utility)
    assert one.feature_policy == "2 of 4 features (step cheap)"
    full = build_pipelines(scenario, protocol).benchmark.pipelines["multiclass-boosting"]
    assert full.feature_policy == "all 4 features (steps cheap, dear)"
    assert (full.predicted_utility != one.predicted_utility).any()
    with pytest.raises(UsageError, match=r"found 'free', expected 'cheap' or 'dear'"):
        build_pipelines(scenario, protocol, steps=["free"])


def test_what_cannot_be_built_is_refused(scenario: Benchmark) -> None:
    with pytest.raises(UsageError, match="no instance features"):
        build_pipelines(replace(scenario, features=None, feature_names=None, feature_steps=None))
    with pytest.raises(UsageError, match="no algorithm belongs to a family"):
        build_pipelines(replace(scenario, family_of=np.full(5, -1)))
    with pytest.raises(UsageError, match="too few jobs"):
        build_pipelines(scenario, SMALL, jobs=0)
    with pytest.raises(SchemaError, match="bad name of a member"):
        build_pipelines(scenario, SMALL, name="a/b")


def test_a_place_that_cannot_be_written_is_refused_at_once(
    scenario: Benchmark, tmp_path: Path
) -> None:
    for out in (tmp_path, tmp_path / "no such folder" / "built.h5"):
        with pytest.raises(StoreError, match="cannot write"):
            build_pipelines(scenario, SMALL, out=out)
    assert not list(tmp_path.iterdir())


def test_provenance_of_any_form_is_kept(scenario: Benchmark) -> None:
    protocol = Protocol(1, 2, 2, trees=2, family_selectors=("oracle",), inner_selectors=("single",))
    for text, kept in (("by hand", "by hand"), ("[1]", [1])):
        built = build_pipelines(replace(scenario, provenance=text), protocol).benchmark
        assert json.loads(built.provenance or "")["benchmark"] == kept


def test_the_notes_count_what_is_imputed_and_what_is_never_trained_on(
    scenario: Benchmark, built: Built
) -> None:
    missing = int(np.isnan(scenario.features).sum())  # type: ignore[arg-type]
    assert f"{missing} cells missing" in built.notes[0]
    assert built.notes[-1].startswith("3 instances without any utility")
    record = json.loads(built.benchmark.provenance or "")
    assert record["build"]["seeds"] == 2
    assert record["build"]["scikit-learn"]
