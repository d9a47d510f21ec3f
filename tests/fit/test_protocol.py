"""Folds: stratified, disjoint, nested, and the same for the same seed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.errors import UsageError
from auditkit.fit.protocol import (
    Protocol,
    assign_folds,
    best_algorithm,
    family_tasks,
    inner_tasks,
    make_folds,
)
from auditkit.schema import Benchmark

SMALL = Protocol(seeds=2, folds=3, validation_folds=3)


@given(
    st.lists(st.integers(-1, 6), min_size=8, max_size=80), st.integers(2, 4), st.integers(0, 2**31)
)
def test_every_class_is_dealt_out_evenly(labels: list[int], folds: int, seed: int) -> None:
    label = np.array([*labels, *[0] * folds])  # one class is large enough
    fold = assign_folds(label, folds, seed)
    values, counts = np.unique(label[label >= 0], return_counts=True)
    parts = [label == value for value in values[counts >= folds]]
    parts.append(np.isin(label, values[counts < folds]))  # rare classes are dealt out as one
    parts.append(label < 0)  # and so are rows without a class
    parts.append(label >= 0)
    for part in parts:
        of = np.bincount(fold[part], minlength=folds)
        assert of.max() - of.min() <= 1


def test_folds_depend_on_the_seed_alone() -> None:
    label = np.arange(40) % 3
    one, again, other = (assign_folds(label, 5, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_best_algorithm_skips_what_is_not_measured() -> None:
    utility = np.array([[np.nan, 1.0, 2.0], [3.0, 3.0, np.nan], [np.nan] * 3])
    np.testing.assert_array_equal(best_algorithm(utility), [2, 0, -1])


def test_training_test_and_validation_rows_are_disjoint(scenario: Benchmark) -> None:
    folds = make_folds(scenario.utility, None, SMALL)
    measured = ~np.isnan(scenario.utility).all(axis=1)
    for r, f in np.ndindex(2, 3):
        test = folds.test[r] == f
        assert (folds.validation[r, f][test] == -1).all()
        assert ((folds.validation[r, f] >= 0) == (measured & ~test)).all()
    for task in inner_tasks(SMALL):
        train, rows = folds.training_rows(task), folds.predicted_rows(task)
        test = np.flatnonzero(folds.test[task.repetition] == task.fold)
        assert not np.isin(train, rows).any()
        assert not np.isin(train, test).any()
        assert measured[train].all()
        if task.left_out:
            assert not np.isin(rows, test).any()
            left = measured.sum() - measured[test].sum()
            assert len(train) + len(rows) == left
        else:
            np.testing.assert_array_equal(rows, test)


def test_every_row_is_tested_once_a_repetition(scenario: Benchmark) -> None:
    folds = make_folds(scenario.utility, None, SMALL)
    assert folds.test.min() == 0
    assert folds.test.max() == 2
    assert (folds.test[0] != folds.test[1]).any()


def test_a_cluster_is_never_split(scenario: Benchmark) -> None:
    n = len(scenario.instances)
    clusters = np.arange(n) // 2
    folds = make_folds(scenario.utility, clusters, SMALL)
    for of in (folds.test, folds.validation):
        # a row without any utility is in no validation fold, whatever its cluster
        one, other = of[..., 0::2], of[..., 1::2]
        measured = ~np.isnan(scenario.utility).all(axis=1)
        both = measured[0::2] & measured[1::2]
        np.testing.assert_array_equal(one[..., both], other[..., both])
    np.testing.assert_array_equal(folds.test[:, 0::2], folds.test[:, 1::2])


def test_tasks_cover_every_pair_of_left_out_folds_once() -> None:
    protocol = Protocol(seeds=1, folds=2, validation_folds=4)
    left_out = [task.left_out for task in inner_tasks(protocol) if task.fold == 0]
    expected = [c for size in range(3) for c in combinations(range(4), size)]
    assert left_out == expected
    assert [task.left_out for task in family_tasks(protocol) if task.fold == 1] == [
        (), (0,), (1,), (2,), (3,),
    ]  # fmt: skip


def test_without_the_deployment_aware_selector_no_pair_is_left_out() -> None:
    protocol = Protocol(seeds=1, folds=2, validation_folds=2, family_selectors=("multiclass",))
    assert max(len(task.left_out) for task in inner_tasks(protocol)) == 1


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"seeds": 0}, "too few seeds"),
        ({"folds": 1}, "too few folds"),
        ({"validation_folds": 2}, "at least 3"),
        ({"trees": 0}, "too few trees"),
        ({"seed": -1}, "seed out of range"),
        ({"family_selectors": ("magic",)}, "'magic'"),
        ({"inner_selectors": ()}, "none"),
        ({"inner_selectors": ("single", "single")}, "bad inner selectors"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Protocol(**settings)  # type: ignore[arg-type]


def test_too_few_instances_are_refused(scenario: Benchmark) -> None:
    with pytest.raises(UsageError, match="at least folds x validation folds = 64"):
        make_folds(scenario.utility, None, Protocol(folds=8, validation_folds=8))
