"""How selectors are trained and tested: seeds, stratified folds, and the validation folds inside each training set.

Source: *Partition Scores Are Not System Scores* (arXiv:2609.13785), Section 5.1. What the page does not fix (the
number of validation folds, what an all-timeout instance does) is fixed here and said in ``docs/build.md``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from auditkit.errors import UsageError
from auditkit.schema import Flags, Floats, Indices, Labels

FAMILY_SELECTORS = ("multiclass", "pairwise", "deployment", "oracle")
INNER_SELECTORS = ("boosting", "forest", "single")

_LARGEST_STATE = 2**32 - 1  # that scikit-learn takes


@dataclass(frozen=True, slots=True)
class Protocol:
    """What is fitted, and on which rows.

    Attributes
    ----------
    seeds
        Repetitions of the cross-validation, each with its own folds.
    folds
        Outer test folds of a repetition.
    validation_folds
        Folds inside each training set: they give the validation scores, and the cross-fitted utilities that the
        deployment-aware selector is trained on.
    seed
        The random state of scikit-learn in the first repetition, for folds and models alike; the next has the next.
    family_selectors, inner_selectors
        Which selectors are fitted; each family selector is paired with each inner one.
    trees
        Trees of a forest, and boosting rounds.

    Raises
    ------
    UsageError
        A setting is out of its range.
    """

    seeds: int = 5
    folds: int = 5
    validation_folds: int = 5
    seed: int = 0
    family_selectors: tuple[str, ...] = FAMILY_SELECTORS
    inner_selectors: tuple[str, ...] = INNER_SELECTORS
    trees: int = 100

    def __post_init__(self) -> None:
        # a deployment-aware selector is validated on models that two validation folds were left out of
        fewest = 3 if "deployment" in self.family_selectors else 2
        for name, least in (("seeds", 1), ("folds", 2), ("validation_folds", fewest), ("trees", 1)):
            if getattr(self, name) < least:
                raise UsageError(
                    f"too few {name.replace('_', ' ')}",
                    found=getattr(self, name),
                    expected=f"at least {least}",
                )
        if not 0 <= self.seed <= _LARGEST_STATE - self.seeds:
            raise UsageError(
                "seed out of range", found=self.seed, expected=f"0 to {_LARGEST_STATE - self.seeds}"
            )
        for name, known in (
            ("family_selectors", FAMILY_SELECTORS),
            ("inner_selectors", INNER_SELECTORS),
        ):
            chosen = getattr(self, name)
            unknown = [selector for selector in chosen if selector not in known]
            if unknown or not chosen or len(set(chosen)) < len(chosen):
                raise UsageError(
                    f"bad {name.replace('_', ' ')}",
                    found=repr(unknown[0]) if unknown else ", ".join(chosen) or "none",
                    expected=f"some of {', '.join(known)}",
                )


@dataclass(frozen=True, slots=True)
class Task:
    """One training set and the rows that its models predict.

    Attributes
    ----------
    repetition, fold
        The outer fold whose test rows are left out of everything.
    left_out
        Validation folds left out of the training set besides, ascending; none, one, or two.
    """

    repetition: int
    fold: int
    left_out: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[int, ...]:
        """Four numbers that no other task has."""
        first, second = (*(v + 1 for v in self.left_out), 0, 0)[:2]
        return (self.repetition, self.fold, first, second)


@dataclass(frozen=True, slots=True)
class Folds:
    """Which rows are tested and validated where.

    Attributes
    ----------
    test
        [R, n]; the outer test fold of each row.
    validation
        [R, F, n]; the validation fold of each row inside the training set of outer fold f; -1 = a test row of f, or a
        row without any measured utility, which no model is trained on.
    """

    test: Indices
    validation: Indices

    def training_rows(self, task: Task) -> Indices:
        """The rows that the models of a task are fitted on."""
        inside = self.validation[task.repetition, task.fold]
        return np.flatnonzero((inside >= 0) & ~np.isin(inside, task.left_out))

    def predicted_rows(self, task: Task) -> Indices:
        """The rows that they predict: what was left out last, the test rows where nothing but they was."""
        if not task.left_out:
            return np.flatnonzero(self.test[task.repetition] == task.fold)
        return np.flatnonzero(np.isin(self.validation[task.repetition, task.fold], task.left_out))


def best_algorithm(utility: Floats) -> Indices:
    """The algorithm of the highest utility in each row, the first on ties; -1 where none is measured."""
    filled = np.where(np.isnan(utility), -np.inf, utility)
    return np.where(np.isneginf(filled).all(axis=1), -1, filled.argmax(axis=1))


def assign_folds(label: Indices, folds: int, state: int) -> Indices:
    """Stratified folds, by scikit-learn's ``StratifiedKFold`` with shuffling.

    Parameters
    ----------
    label
        [n]; the class of each row. Classes with fewer rows than folds are collapsed into one. Rows without a class (-1)
        are dealt out in turn, apart from the others.
    folds
        How many folds.
    state
        Decides which rows of a class go where.

    Returns
    -------
    ndarray
        [n] in 0 .. folds - 1; the sizes of a class in the folds differ by at most one.

    Examples
    --------
    >>> import numpy as np
    >>> fold = assign_folds(np.array([0] * 6 + [1] * 3 + [-1]), 3, 0)
    >>> [sorted(fold[:6].tolist()), sorted(fold[6:9].tolist()), int(fold[9])]
    [[0, 0, 1, 1, 2, 2], [0, 1, 2], 0]
    """
    from sklearn.model_selection import StratifiedKFold

    known = np.flatnonzero(label >= 0)
    _, code, count = np.unique(label[known], return_inverse=True, return_counts=True)
    collapsed = np.where(count[code] < folds, -1, code)
    fold = np.empty(len(label), dtype=np.int64)
    unknown = np.flatnonzero(label < 0)
    fold[unknown] = np.arange(len(unknown)) % folds
    with warnings.catch_warnings():
        # the rare classes may be fewer than the folds even together
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        split = StratifiedKFold(folds, shuffle=True, random_state=state).split(known, collapsed)
        for f, (_, tested) in enumerate(split):
            fold[known[tested]] = f
    return fold


def make_folds(utility: Floats, clusters: Labels | None, protocol: Protocol) -> Folds:
    """Test folds of every repetition, and validation folds inside every training set.

    Parameters
    ----------
    utility
        [n, A].
    clusters
        [n] or None; the rows of a cluster stay together.
    protocol
        How many of what.

    Raises
    ------
    UsageError
        There are too few instances (or clusters) with a measured utility.
    """
    unit_of, label = _units(utility, clusters)
    measured = ~np.isnan(utility).all(axis=1)
    needed = protocol.folds * protocol.validation_folds
    found = int((label >= 0).sum())
    if found < needed:
        raise UsageError(
            "too few instances for these folds",
            found=f"{found} with a utility",
            expected=f"at least folds x validation folds = {needed}",
        )
    n = len(utility)
    test = np.empty((protocol.seeds, n), dtype=np.int64)
    validation = np.full((protocol.seeds, protocol.folds, n), -1, dtype=np.int64)
    for r in range(protocol.seeds):
        outer = assign_folds(label, protocol.folds, protocol.seed + r)
        test[r] = outer[unit_of]
        for f in range(protocol.folds):
            trainable = np.flatnonzero((outer != f) & (label >= 0))
            inner = np.full(len(label), -1, dtype=np.int64)
            inner[trainable] = assign_folds(
                label[trainable], protocol.validation_folds, protocol.seed + r
            )
            validation[r, f] = np.where(measured, inner[unit_of], -1)
    return Folds(test, validation)


def _units(utility: Floats, clusters: Labels | None) -> tuple[Indices, Indices]:
    """The unit (row or cluster) of each row, and the best algorithm of each unit by its mean utility."""
    if clusters is None:
        return np.arange(len(utility)), best_algorithm(utility)
    unit_of = np.unique(np.asarray(clusters), return_inverse=True)[1]
    shape: tuple[int, Flags] = (int(unit_of.max()) + 1, ~np.isnan(utility))
    total, count = np.zeros((shape[0], utility.shape[1])), np.zeros((shape[0], utility.shape[1]))
    np.add.at(total, unit_of, np.where(shape[1], utility, 0.0))
    np.add.at(count, unit_of, shape[1])
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return unit_of.astype(np.int64), best_algorithm(mean)


def inner_tasks(protocol: Protocol) -> Iterator[Task]:
    """The training sets of the inner selectors.

    A model that validation folds v and w were left out of serves both: it gives the cross-fitted utilities of w where v
    is validated, and those of v where w is.
    """
    folds = range(protocol.validation_folds)
    depth = 3 if "deployment" in protocol.family_selectors else 2
    for r in range(protocol.seeds):
        for f in range(protocol.folds):
            for size in range(depth):
                for left_out in combinations(folds, size):
                    yield Task(r, f, left_out)


def family_tasks(protocol: Protocol) -> Iterator[Task]:
    """The training sets of the family selectors; they need the inner selectors' predictions."""
    for r in range(protocol.seeds):
        for f in range(protocol.folds):
            for left_out in ((), *((v,) for v in range(protocol.validation_folds))):
                yield Task(r, f, left_out)
