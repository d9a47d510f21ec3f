"""A small scenario whose best family and best member depend on the features."""

from __future__ import annotations

import numpy as np
import pytest

from auditkit.schema import Benchmark

pytest.importorskip("sklearn", reason="the optional extra fit is not installed")


def make_scenario(n: int = 60, seed: int = 0) -> Benchmark:
    """60 instances, 5 algorithms of which one is in no family; three instances without any utility."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(n, 4))
    signal = features.copy()
    features[random.random(features.shape) < 0.05] = np.nan
    means = np.column_stack(
        [signal[:, 0], -signal[:, 0], signal[:, 1], -signal[:, 1], 0 * signal[:, 0]]
    )
    utility = means + random.normal(0, 0.2, means.shape)
    utility[:3] = np.nan
    utility[5, 1] = np.nan
    return Benchmark(
        utility=utility,
        instances=tuple(f"i{i:02}" for i in range(n)),
        algorithms=tuple("abcde"),
        families=("one", "two"),
        family_of=np.array([0, 0, 1, 1, -1]),
        features=features,
        feature_names=tuple("pqrs"),
        feature_steps=("cheap", "cheap", "dear", "dear"),
    )


@pytest.fixture(scope="session")
def scenario() -> Benchmark:
    return make_scenario()
