"""Scores of a pipeline on every instance: validated, fallbacks applied, split over threads (docs/fidelity.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditkit.statistics.threads import run_parts

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_PART = 16_384


@dataclass(frozen=True, slots=True)
class InstanceScores:
    """Scores of one pipeline, each of shape [R, n]; NaN where neither a utility nor a penalty is stored.

    Attributes
    ----------
    partition
        The best measured utility in the chosen family.
    deployed
        The utility of the algorithm that would run.
    family_range
        Largest minus smallest measured utility in the chosen family.
    violation
        1 where another family's inner choice is better than what runs, else 0.
    regret
        The best family's deployed utility minus the deployed one.
    within_regret
        The gap by another route: the largest of (utility of a member of the chosen family minus the deployed one).
    """

    partition: Floats
    deployed: Floats
    family_range: Floats
    violation: Floats
    regret: Floats
    within_regret: Floats


def decomposed(
    utility: Floats,
    penalty: Floats | None,
    family_of: Indices,
    family_choice: Indices,
    within_choice: Indices,
    *,
    threads: int | None = None,
) -> InstanceScores:
    """Scores of a pipeline that chooses a family and then an algorithm in it.

    Parameters
    ----------
    utility
        [n, A], higher is better; NaN = not measured.
    penalty
        [n]; stands in where the chosen algorithm, or a whole family, has no utility.
    family_of
        [A]; -1 = in no family.
    family_choice, within_choice
        [R, n] and [R, n, K]; -1 = none.

    Notes
    -----
    *Partition Scores Are Not System Scores* (arXiv:2609.13785), Section 3 and Appendix A.
    """
    from auditkit.kernels.fidelity import decomposed_scores

    n_families = within_choice.shape[2]
    order = np.argsort(family_of, kind="stable").astype(np.int64)
    starts = np.searchsorted(family_of[order], np.arange(n_families + 1)).astype(np.int64)
    out = tuple(np.empty(family_choice.shape) for _ in range(6))
    penalty = _filled(penalty, utility.shape[0])

    def work(first: int, last: int) -> None:
        decomposed_scores(
            utility, penalty, starts, order, family_choice, within_choice, first, last, *out
        )

    run_parts(work, utility.shape[0], _PART, threads)
    return InstanceScores(*out)


def flat(
    utility: Floats,
    penalty: Floats | None,
    algorithm_choice: Indices,
    *,
    threads: int | None = None,
) -> InstanceScores:
    """Scores of a pipeline that chooses an algorithm at once, [R, n]: partition and deployed are one number.

    Every algorithm counts as a family of its own: any better one is a violation, and the range is zero.
    """
    from auditkit.kernels.fidelity import flat_scores

    penalty = _filled(penalty, utility.shape[0])
    deployed, violation, regret = (np.empty(algorithm_choice.shape) for _ in range(3))

    def work(first: int, last: int) -> None:
        flat_scores(utility, penalty, algorithm_choice, first, last, deployed, violation, regret)

    run_parts(work, utility.shape[0], _PART, threads)
    zero = np.where(np.isnan(deployed), np.nan, 0.0)
    return InstanceScores(deployed, deployed, zero, violation, regret, zero)


def inner_choice(predicted_utility: Floats, family_of: Indices, n_families: int) -> Indices:
    """The inner choice of each family as the argmax of the predictions over its members.

    Parameters
    ----------
    predicted_utility
        [R, n, A]; NaN is never chosen.
    family_of
        [A].

    Returns
    -------
    ndarray
        [R, n, K]; the first index on ties, -1 where a family has no prediction.
    """
    predicted = np.where(np.isnan(predicted_utility), -np.inf, predicted_utility)
    out = np.full((*predicted.shape[:2], n_families), -1, dtype=np.int64)
    for k in range(n_families):
        members = np.flatnonzero(family_of == k)
        if members.size:
            best = predicted[:, :, members].argmax(axis=2)
            none = np.isneginf(predicted[:, :, members].max(axis=2))
            out[:, :, k] = np.where(none, -1, members[best])
    return out


def _filled(penalty: Floats | None, n: int) -> Floats:
    return np.full(n, np.nan) if penalty is None else penalty
