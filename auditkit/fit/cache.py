"""From finished steps to the pipelines of an audit file."""

from __future__ import annotations

from typing import Any

import numpy as np

from auditkit.fit.protocol import Task, best_algorithm
from auditkit.fit.selectors import family_maxima
from auditkit.fit.tasks import Arrays, Job, within_choices
from auditkit.schema import Floats, Indices, Pipeline
from auditkit.statistics import per_instance

FAMILY_TEXTS = {
    "multiclass": ("multiclass random forest", "oracle"),
    "pairwise": ("one-vs-one random forest, soft voting", "oracle"),
    "deployment": ("multiclass random forest", "deployed"),
    "oracle": ("oracle: the family of the best algorithm", None),
}
INNER_TEXTS = {
    "boosting": "per-algorithm gradient-boosted regression",
    "forest": "random forest of the family's best member",
    "single": "single best on train",
}


def pipelines(job: Job, feature_policy: str) -> dict[str, Pipeline]:
    """Every pipeline of a finished build, by its name: ``<family selector>-<inner selector>`` or ``flat-<selector>``.

    Parameters
    ----------
    job
        All of its steps are finished.
    feature_policy
        Which features the selectors saw, in words.
    """
    out: dict[str, Pipeline] = {}
    predicted = _Predictions(job)
    for family in job.protocol.family_selectors:
        for inner in job.protocol.inner_selectors:
            out[f"{family}-{inner}"] = _decomposed(job, predicted, family, inner, feature_policy)
    if "boosting" in job.protocol.inner_selectors:
        best = np.stack([best_algorithm(of) for of in predicted.of_inner("boosting")])
        out["flat-boosting"] = _flat(job, best, INNER_TEXTS["boosting"], feature_policy)
    out["flat-single"] = _flat(
        job, predicted.of_inner("flat")[..., 0], INNER_TEXTS["single"], "none"
    )
    return dict(sorted(out.items()))  # the order in which a file lists them


class _Predictions:
    """What the finished steps predict for the test rows of every repetition."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def of_inner(self, name: str) -> Any:
        """[R, n, A], [R, n, K] or [R, n, 1], as the inner step holds it."""
        return self._spread("inner", name)

    def of_family(self, family: str, inner: str) -> Indices:
        """Family choices, [R, n]."""
        if family == "oracle":
            maxima = family_maxima(self.job.utility, self.job.family_of, self.job.n_families)
            return np.tile(best_algorithm(maxima), (self.job.protocol.seeds, 1))
        choice: Indices = self._spread("family", step_name(family, inner))
        return choice

    def _spread(self, stage: str, name: str) -> Any:
        out = None
        for r in range(self.job.protocol.seeds):
            for f in range(self.job.protocol.folds):
                found = self.job.checkpoints.load(stage, Task(r, f))
                values = found[name]
                if name == "flat":
                    values = np.tile(values, (len(found["rows"]), 1))
                if out is None:
                    shape = (self.job.protocol.seeds, len(self.job.utility), *values.shape[1:])
                    out = np.empty(shape, dtype=values.dtype)
                out[r, found["rows"]] = values
        return out


def step_name(family: str, inner: str) -> str:
    """What the choices of a family selector are called in its step."""
    return f"deployment-{inner}" if family == "deployment" else family


def _decomposed(
    job: Job, predicted: _Predictions, family: str, inner: str, feature_policy: str
) -> Pipeline:
    text, trained_on = FAMILY_TEXTS[family]
    partition, deployed = _validation_scores(job, family, inner)
    stored = "predicted_utility" if inner == "boosting" else "within_choice"
    return Pipeline(
        kind="decomposed",
        family_selector=text,
        trained_on=trained_on,
        within_selector=INNER_TEXTS[inner],
        feature_policy=feature_policy,
        family_basis="given mapping",
        family_choice=predicted.of_family(family, inner),
        fold=job.folds.test,
        validation_partition=partition,
        validation_deployed=deployed,
        **{stored: predicted.of_inner(inner)},
    )


def _flat(job: Job, choice: Indices, text: str, feature_policy: str) -> Pipeline:
    return Pipeline(
        kind="flat",
        family_selector="none",
        within_selector=text,
        feature_policy=feature_policy,
        algorithm_choice=choice,
        fold=job.folds.test,
    )


def _validation_scores(job: Job, family: str, inner: str) -> tuple[Floats, Floats]:
    """Partition and deployed utility [R, F, n] on the validation folds of every training set."""
    shape = (job.protocol.seeds, job.protocol.folds, len(job.utility))
    partition, deployed = np.full(shape, np.nan), np.full(shape, np.nan)
    for r in range(shape[0]):
        for f in range(shape[1]):
            for v in range(job.protocol.validation_folds):
                task = Task(r, f, (v,))
                found = job.checkpoints.load("inner", task)
                rows = found["rows"]
                scores = per_instance.decomposed(
                    job.utility[rows], None, job.family_of, _choice(job, family, inner, task, rows)[np.newaxis],
                    within_choices(job, found, inner)[np.newaxis], threads=1,
                )  # fmt: skip
                partition[r, f, rows], deployed[r, f, rows] = (
                    scores.partition[0],
                    scores.deployed[0],
                )
    return partition, deployed


def _choice(job: Job, family: str, inner: str, task: Task, rows: Indices) -> Indices:
    if family == "oracle":
        return best_algorithm(family_maxima(job.utility[rows], job.family_of, job.n_families))
    found: Arrays = job.checkpoints.load("family", task)
    choice: Indices = found[step_name(family, inner)]
    return choice
