"""Selectors against scikit-learn called by hand, and against brute force where nothing is learned."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier

from auditkit.fit import selectors
from auditkit.fit.selectors import Fitter


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    x, new = random.normal(size=(40, 3)), random.normal(size=(12, 3))
    utility = np.column_stack([x[:, 0], -x[:, 0], x[:, 1], -x[:, 1]])
    return x, utility + random.normal(0, 0.1, utility.shape), new


def test_impute_takes_the_median_of_the_training_rows_alone() -> None:
    train = np.array([[1.0, np.nan, np.nan], [4.0, 2.0, np.nan], [np.nan, 8.0, np.nan]])
    new = np.array([[np.nan, 1000.0, 7.0]])
    x, z = selectors.impute(train, new)
    np.testing.assert_array_equal(x, [[1, 5, 0], [4, 2, 0], [2.5, 8, 0]])
    np.testing.assert_array_equal(z, [[2.5, 1000, 0]])


def test_boosting_is_one_regression_an_algorithm(rows: tuple[np.ndarray, ...]) -> None:
    x, utility, new = rows
    utility = utility.copy()
    utility[:7, 1] = np.nan
    utility[:, 3] = np.nan
    fitter = Fitter(12)
    found = selectors.boosting(x, utility, new, fitter, 5)
    for a in range(3):
        known = ~np.isnan(utility[:, a])
        model = GradientBoostingRegressor(n_estimators=12, random_state=5)
        expected = model.fit(x[known], utility[known, a]).predict(new)
        np.testing.assert_array_equal(found[:, a], expected)
    assert np.isnan(found[:, 3]).all()
    assert fitter.seconds > 0


def test_single_best_is_the_highest_mean_of_a_family() -> None:
    utility = np.array(
        [[1.0, 0.0, 5.0, np.nan], [0.0, 0.9, 5.0, np.nan], [np.nan, 0.9, 0.0, np.nan]]
    )
    family_of = np.array([0, 0, -1, 1])
    # means: 0.5, 0.6 in family 0; family 1 is never measured; algorithm 2 is in no family
    np.testing.assert_array_equal(selectors.single_best(utility, family_of, 2), [1, -1])
    np.testing.assert_array_equal(selectors.single_best(utility, np.zeros(4, dtype=int), 1), [2])


def test_forest_learns_the_best_member_where_members_differ(rows: tuple[np.ndarray, ...]) -> None:
    x, utility, new = rows
    family_of = np.array([0, 0, 1, 1])
    utility = utility.copy()
    utility[:9, :2] = 0.25  # a tie says nothing
    found = selectors.forest(x, utility, family_of, 2, new, Fitter(9), 3)
    label = utility[9:, :2].argmax(axis=1)
    model = RandomForestClassifier(9, random_state=3).fit(x[9:], label)
    np.testing.assert_array_equal(found[:, 0], model.predict_proba(new).argmax(axis=1))
    assert set(found[:, 1]) <= {2, 3}
    assert (found[:, 1] == np.where(new[:, 1] > 0, 2, 3)).mean() > 0.7


def test_forest_falls_back_to_the_single_best_where_members_never_differ() -> None:
    x, new = np.zeros((6, 1)), np.zeros((2, 1))
    utility = np.column_stack([np.full(6, 0.5), np.full(6, 0.5), np.full(6, np.nan)])
    found = selectors.forest(x, utility, np.array([0, 0, 1]), 2, new, Fitter(3), [0, 1])
    np.testing.assert_array_equal(found, [[0, -1], [0, -1]])


def test_family_maxima_and_deployable_utility_by_brute_force() -> None:
    random = np.random.default_rng(2)
    utility = random.normal(size=(20, 5))
    utility[random.random(utility.shape) < 0.3] = np.nan
    family_of = np.array([1, 0, 1, -1, 2])
    within = np.column_stack([np.full(20, 1), random.choice([0, 2], 20), np.full(20, -1)])
    best = selectors.family_maxima(utility, family_of, 3)
    deployed = selectors.deployable_utility(utility, within)
    for i in range(20):
        for k in range(3):
            known = [u for u, f in zip(utility[i], family_of, strict=True) if f == k and u == u]
            np.testing.assert_equal(best[i, k], max(known) if known else np.nan)
            a = within[i, k]
            np.testing.assert_equal(deployed[i, k], utility[i, a] if a >= 0 else np.nan)


def test_multiclass_leaves_out_rows_without_a_label(rows: tuple[np.ndarray, ...]) -> None:
    x, utility, new = rows
    label = np.where(utility[:, 0] > 0, 2, 0)
    label[:5] = -1
    found = selectors.multiclass(x, label, new, Fitter(7), 11)
    model = RandomForestClassifier(7, random_state=11).fit(x[5:], label[5:])
    np.testing.assert_array_equal(found, model.predict(new))
    np.testing.assert_array_equal(
        selectors.multiclass(x, np.full(40, 3), new, Fitter(7), 0), np.full(12, 3)
    )
    np.testing.assert_array_equal(
        selectors.multiclass(x, np.full(40, -1), new, Fitter(7), 0), np.full(12, -1)
    )


def test_pairwise_adds_the_probabilities_of_every_pair(rows: tuple[np.ndarray, ...]) -> None:
    x, _, new = rows
    label = np.array([0, 1, 3])[np.digitize(x[:, 0], [-0.4, 0.4])]
    label[0] = -1
    found = selectors.pairwise(x, label, new, Fitter(6), 5)
    votes = np.zeros((len(new), 4))
    for one, other in [(0, 1), (0, 3), (1, 3)]:
        rows_ = np.isin(label, [one, other])
        model = RandomForestClassifier(6, random_state=5).fit(x[rows_], label[rows_])
        for column, of in enumerate(model.classes_):
            votes[:, of] += model.predict_proba(new)[:, column]
    np.testing.assert_array_equal(found, votes.argmax(axis=1))
    assert len(set(found)) > 1
