"""The selectors: what they are fitted on and what they choose. Each gets training rows only.

Source: *Partition Scores Are Not System Scores* (arXiv:2609.13785), Section 5.1 and Appendices H, I, K. The models are
scikit-learn's with its defaults, except the number of trees.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from auditkit.errors import MissingDependencyError
from auditkit.fit.protocol import best_algorithm
from auditkit.schema import Floats, Indices


@dataclass(slots=True)
class Fitter:
    """The one place that calls scikit-learn.

    Attributes
    ----------
    trees
        Trees of a forest, and boosting rounds.
    seconds
        Time spent in fits and predictions so far.
    """

    trees: int
    seconds: float = field(default=0.0, init=False)

    def regression(self, x: Floats, y: Floats, new: Floats, state: int) -> Floats:
        """Gradient-boosted regression of y [n] on x [n, q], predicted for the rows of ``new``."""
        model = _models().GradientBoostingRegressor(n_estimators=self.trees, random_state=state)
        values: Floats = self._timed(model, x, y, new, "predict")
        return values

    def probabilities(
        self, x: Floats, label: Indices, new: Floats, state: int
    ) -> tuple[Indices, Floats]:
        """Random forest of a class; the classes [C] and their probabilities [m, C] for the rows of ``new``."""
        model = _models().RandomForestClassifier(
            n_estimators=self.trees, random_state=state, n_jobs=1
        )
        return self._with_classes(model, x, label, new)

    def _with_classes(
        self, model: Any, x: Floats, label: Indices, new: Floats
    ) -> tuple[Indices, Floats]:
        probabilities = self._timed(model, x, label, new, "predict_proba")
        return model.classes_, probabilities

    def _timed(self, model: Any, x: Floats, y: Any, new: Floats, method: str) -> Any:
        started = time.perf_counter()
        out = getattr(model.fit(x, y), method)(new)
        self.seconds += time.perf_counter() - started
        return out


def require_sklearn() -> str:
    """The version of scikit-learn.

    Raises
    ------
    MissingDependencyError
        It is not installed.
    """
    try:
        import sklearn
    except ImportError:
        raise MissingDependencyError(
            "scikit-learn is not installed", expected="pip install 'auditkit-arrays[fit]'"
        ) from None
    return str(sklearn.__version__)


def _models() -> Any:
    require_sklearn()
    from sklearn import ensemble

    return ensemble


def impute(train: Floats, new: Floats) -> tuple[Floats, Floats]:
    """Missing features by the median of the training rows; a feature never measured there is 0 everywhere.

    Parameters
    ----------
    train, new
        [n, q] and [m, q]; NaN = missing.

    Examples
    --------
    >>> import numpy as np
    >>> impute(np.array([[1.0], [3.0], [8.0]]), np.array([[np.nan]]))[1]
    array([[3.]])
    """
    measured = ~np.isnan(train)
    median = np.zeros(train.shape[1])
    for j in np.flatnonzero(measured.any(axis=0)):
        median[j] = np.median(train[measured[:, j], j])
    never = ~measured.any(axis=0)
    return tuple(np.where(np.isnan(rows) | never, median, rows) for rows in (train, new))  # type: ignore[return-value]


# ------------------------------------------------------------------------------------------------- inner selectors


def boosting(x: Floats, utility: Floats, new: Floats, fitter: Fitter, state: int) -> Floats:
    """One regression an algorithm: predicted utility [m, A]; NaN for an algorithm never measured in training."""
    out = np.full((len(new), utility.shape[1]), np.nan)
    for a in range(utility.shape[1]):
        measured = ~np.isnan(utility[:, a])
        if measured.any():
            out[:, a] = fitter.regression(x[measured], utility[measured, a], new, state)
    return out


def forest(
    x: Floats, utility: Floats, family_of: Indices, n_families: int, new: Floats, fitter: Fitter, state: int,
) -> Indices:  # fmt: skip
    """One forest a family, of its best member: choices [m, K]; -1 for a family never measured in training.

    Rows where the members do not differ say nothing and are left out; where none is left, the single best is taken.
    """
    out = np.tile(single_best(utility, family_of, n_families), (len(new), 1))
    for k in range(n_families):
        members = np.flatnonzero(family_of == k)
        inside = utility[:, members]
        worst = np.where(np.isnan(inside), np.inf, inside).min(axis=1, initial=np.inf)
        differ = (inside > worst[:, np.newaxis]).any(axis=1)
        if differ.any():
            label = members[best_algorithm(inside[differ])]
            classes, shares = fitter.probabilities(x[differ], label, new, state)
            out[:, k] = classes[shares.argmax(axis=1)]
    return out


def single_best(utility: Floats, family_of: Indices, n_families: int) -> Indices:
    """The member of each family with the highest mean utility on the training rows, [K]; -1 = none measured."""
    measured = ~np.isnan(utility)
    count = measured.sum(axis=0)
    mean = np.where(
        count > 0, np.where(measured, utility, 0.0).sum(axis=0) / np.maximum(count, 1), -np.inf
    )
    out = np.full(n_families, -1, dtype=np.int64)
    for k in range(n_families):
        members = np.flatnonzero((family_of == k) & (count > 0))
        if members.size:
            out[k] = members[mean[members].argmax()]
    return out


# ------------------------------------------------------------------------------------------------ family selectors


def family_maxima(utility: Floats, family_of: Indices, n_families: int) -> Floats:
    """The best utility in each family, [n, K]; NaN where none of its members is measured."""
    filled = np.where(np.isnan(utility), -np.inf, utility)
    best = np.stack(
        [filled[:, family_of == k].max(axis=1, initial=-np.inf) for k in range(n_families)], axis=1
    )
    return np.where(np.isneginf(best), np.nan, best)


def deployable_utility(utility: Floats, within: Indices) -> Floats:
    """What each family would deliver, [n, K], with the inner choices ``within`` [n, K]; NaN where nothing is known."""
    found = np.take_along_axis(utility, np.maximum(within, 0), axis=1)
    return np.where(within < 0, np.nan, found)


def multiclass(x: Floats, label: Indices, new: Floats, fitter: Fitter, state: int) -> Indices:
    """Random forest of the best family; rows without one (-1) are left out. Choices [m]."""
    known = label >= 0
    if len(np.unique(label[known])) < 2:
        return _constant(label[known], len(new))
    classes, shares = fitter.probabilities(x[known], label[known], new, state)
    chosen: Indices = classes[shares.argmax(axis=1)]
    return chosen


def pairwise(x: Floats, label: Indices, new: Floats, fitter: Fitter, state: int) -> Indices:
    """One forest a pair of families, on the rows where one of the two is best; the probabilities are added up.

    The family with the largest sum is chosen, the first on ties.
    """
    classes = np.unique(label[label >= 0])
    if len(classes) < 2:
        return _constant(classes, len(new))
    votes = np.zeros((len(new), int(classes.max()) + 1))
    for one, other in combinations(classes, 2):
        rows = (label == one) | (label == other)
        of, shares = fitter.probabilities(x[rows], label[rows], new, state)
        votes[:, of] += shares
    chosen: Indices = classes[votes[:, classes].argmax(axis=1)]
    return chosen


def _constant(classes: Indices, rows: int) -> Indices:
    return np.full(rows, classes[0] if len(classes) else -1, dtype=np.int64)
