"""Oracle-trained against deployment-aware family selectors: what training on deployable utility changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from auditkit.audits.comparison import compare
from auditkit.results.fidelity import TrainingEffect
from auditkit.statistics.bootstrap import Resampling

if TYPE_CHECKING:
    from auditkit.audits.fidelity import Scored


def training_effects(
    scored: Sequence[Scored],
    used: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None,
    plan: Resampling,
) -> tuple[TrainingEffect, ...]:
    """Change in gap, partition and deployed score, deployment-aware minus oracle-trained.

    Two pipelines are compared where they say that they differ in nothing but what the family selector was trained on:
    the same family_selector, within_selector and feature_policy, the same families, and trained_on = "deployed" for one
    and "oracle" for the other.

    Parameters
    ----------
    scored
        Scored pipelines of one benchmark.
    used
        [n]; the instances that are resampled.
    clusters
        Their clusters, [used.sum()], if there are any.
    plan
        How intervals are made.
    """
    pairs = [
        (aware, oracle)
        for aware in scored
        for oracle in scored
        if aware.pipeline.trained_on == "deployed"
        and oracle.pipeline.trained_on == "oracle"
        and _twins(aware, oracle)
    ]
    return tuple(
        TrainingEffect(
            oracle_trained=c.second,
            deployment_aware=c.first,
            n_common=c.n_common,
            gap_change=c.gap_difference,
            partition_change=c.partition_advantage,
            deployed_change=c.deployed_advantage,
        )
        for c in compare(pairs, used, clusters, plan)
    )


def _twins(one: Scored, other: Scored) -> bool:
    a, b = one.pipeline, other.pipeline
    names = ("kind", "family_selector", "within_selector", "feature_policy", "families")
    return all(getattr(a, name) == getattr(b, name) for name in names) and (
        a.family_of is b.family_of  # both the benchmark's own
        or (
            a.family_of is not None
            and b.family_of is not None
            and np.array_equal(a.family_of, b.family_of)
        )
    )
