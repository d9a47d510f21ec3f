"""One step of a build: fit on the training rows of a task, predict the rows that were left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.fit import selectors
from auditkit.fit.checkpoints import Checkpoints
from auditkit.fit.protocol import (
    INNER_SELECTORS,
    Folds,
    Protocol,
    Task,
    best_algorithm,
)
from auditkit.fit.selectors import Fitter
from auditkit.schema import Floats, Indices
from auditkit.statistics.per_instance import inner_choice

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """What every task of a build works on.

    Attributes
    ----------
    features
        [n, q].
    utility
        [n, A].
    family_of
        [A]; -1 = in no family.
    n_families
        K.
    folds, protocol, checkpoints
        How it is split, what is fitted, and where the results go.
    """

    features: Floats
    utility: Floats
    family_of: Indices
    n_families: int
    folds: Folds
    protocol: Protocol
    checkpoints: Checkpoints


def run_task(job: Job, stage: str, task: Task) -> float:
    """Run a task, keep its results, and return the seconds that scikit-learn took."""
    fitter = Fitter(job.protocol.trees)
    arrays = (fit_inner if stage == "inner" else fit_family)(job, task, fitter)
    job.checkpoints.save(stage, task, arrays)
    return fitter.seconds


def fit_inner(job: Job, task: Task, fitter: Fitter) -> Arrays:
    """Inner selectors.

    Returns
    -------
    dict
        ``rows`` [m]; for ``boosting`` the predicted utility [m, A], for ``forest`` and ``single`` the choices [m, K];
        ``flat`` the single best algorithm [1].
    """
    train, rows = job.folds.training_rows(task), job.folds.predicted_rows(task)
    utility = job.utility[train]
    x, new = selectors.impute(job.features[train], job.features[rows])
    n_algorithms = utility.shape[1]
    state = job.protocol.seed + task.repetition
    out: Arrays = {
        "rows": rows,
        "flat": selectors.single_best(utility, np.zeros(n_algorithms, dtype=np.int64), 1),
    }
    wanted = job.protocol.inner_selectors
    if "boosting" in wanted:
        out["boosting"] = selectors.boosting(x, utility, new, fitter, state)
    if "forest" in wanted:
        out["forest"] = selectors.forest(
            x, utility, job.family_of, job.n_families, new, fitter, state
        )
    if "single" in wanted:
        best = selectors.single_best(utility, job.family_of, job.n_families)
        out["single"] = np.tile(best, (len(rows), 1))
    return out


def fit_family(job: Job, task: Task, fitter: Fitter) -> Arrays:
    """Family selectors.

    Returns
    -------
    dict
        ``rows`` [m], and choices [m] by selector; those of the deployment-aware ones by ``deployment-`` and the inner
        selector they are aware of.
    """
    train, rows = job.folds.training_rows(task), job.folds.predicted_rows(task)
    x, new = selectors.impute(job.features[train], job.features[rows])
    state = job.protocol.seed + task.repetition
    maxima = selectors.family_maxima(job.utility[train], job.family_of, job.n_families)
    label = best_algorithm(maxima)
    out: Arrays = {"rows": rows}
    wanted = job.protocol.family_selectors
    if "multiclass" in wanted:
        out["multiclass"] = selectors.multiclass(x, label, new, fitter, state)
    if "pairwise" in wanted:
        out["pairwise"] = selectors.pairwise(x, label, new, fitter, state)
    if "deployment" in wanted:
        for inner, choices in _cross_fitted(job, task).items():
            utility = selectors.deployable_utility(job.utility[train], choices[train])
            out[f"deployment-{inner}"] = selectors.multiclass(
                x, best_algorithm(utility), new, fitter, state
            )
    return out


def within_choices(job: Job, found: Arrays, inner: str) -> Indices:
    """The inner choices [m, K] of a finished task."""
    if inner == "boosting":
        predicted = found["boosting"][np.newaxis]
        choices: Indices = inner_choice(predicted, job.family_of, job.n_families)[0]
    else:
        choices = found[inner]
    return choices


def _cross_fitted(job: Job, task: Task) -> dict[str, Indices]:
    """Inner choices [n, K] of the training rows of a task, each by a model fitted on the other validation folds."""
    inner_selectors = [name for name in INNER_SELECTORS if name in job.protocol.inner_selectors]
    shape = (len(job.utility), job.n_families)
    out = {inner: np.full(shape, -1, dtype=np.int64) for inner in inner_selectors}
    inside = job.folds.validation[task.repetition, task.fold]
    for w in range(job.protocol.validation_folds):
        if w in task.left_out:
            continue
        left_out = tuple(sorted((*task.left_out, w)))
        found = job.checkpoints.load("inner", Task(task.repetition, task.fold, left_out))
        rows = found["rows"]
        belongs = inside[rows] == w
        for inner in inner_selectors:
            out[inner][rows[belongs]] = within_choices(job, found, inner)[belongs]
    return out
