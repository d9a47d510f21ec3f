"""The embedded demo: a small audit file that holds every kind of member, made from fixed seeds."""

from __future__ import annotations

import numpy as np

from auditkit.schema import AuditData, Benchmark, Losses, Pipeline, Samples, Scoreboard, Search


def demo_data() -> AuditData:
    """All five kinds of member, small enough to audit in seconds.

    The benchmark is the toy of *Partition Scores Are Not System Scores* (arXiv:2609.13785), Appendix C: one draw whose
    figures are near the source's, R1 leading by 0.20 on partition scores and losing by 0.24 in deployment (over many
    draws the means are 0.24 and -0.24). The others are made up: a scoreboard whose winner took more time than its
    budget, a search that looks the better the more candidates it may pick from on the test set, samples of two
    workloads, and two models of which each is better in its own half.
    """
    return AuditData(
        benchmarks={"toy": _toy()},
        scoreboards={"overtime": _overtime()},
        searches={"peeking": _peeking()},
        samples={"two_workloads": _two_workloads()},
        losses={"two_halves": _two_halves()},
    )


def _toy() -> Benchmark:
    random = np.random.default_rng(85)
    n = 100
    second_half = np.arange(n) >= n // 2
    means = np.where(second_half[:, np.newaxis], [0.0, 1.0, 0.4, 0.5], [1.0, 0.0, 0.5, 0.4])
    utility = means + random.normal(0, 0.01, means.shape)
    pipelines = {
        "R1": _selector(
            random, utility, np.array([0, 0, 1, 1]), miss_family=0.0, miss_inside=0.5, own=False
        ),
        "R2": _selector(
            random, utility, np.array([0, 1, 0, 1]), miss_family=0.4, miss_inside=0.05, own=True
        ),
    }
    return Benchmark(
        utility=utility,
        instances=tuple(f"i{i:03}" for i in range(n)),
        algorithms=("a0", "a1", "a2", "a3"),
        families=("first two", "last two"),
        family_of=np.array([0, 0, 1, 1]),
        metric="utility",
        transform="identity",
        pipelines=pipelines,
    )


def _selector(
    random: np.random.Generator,
    utility: np.ndarray,
    family_of: np.ndarray,
    *,
    miss_family: float,
    miss_inside: float,
    own: bool,
) -> Pipeline:
    """A selector that misses the family of the best algorithm, and the best algorithm of a family, at given rates."""
    n = len(utility)
    best = utility.argmax(axis=1)
    family = family_of[best] ^ (random.random(n) < miss_family)
    members = np.array([np.flatnonzero(family_of == k) for k in (0, 1)])
    inside = utility[:, members].argmax(axis=2) ^ (random.random((n, 2)) < miss_inside)
    return Pipeline(
        kind="decomposed",
        family_selector=f"family of the best algorithm, missed with probability {miss_family:g}",
        within_selector=f"best algorithm of the family, missed with probability {miss_inside:g}",
        feature_policy="none: simulated",
        family_basis="odd and even algorithms" if own else "first two and last two algorithms",
        family_choice=family[np.newaxis],
        within_choice=members[np.arange(2), inside][np.newaxis],
        families=("even", "odd") if own else None,
        family_of=family_of if own else None,
    )


def _overtime() -> Scoreboard:
    random = np.random.default_rng(101)
    n = 60
    difficulty = random.uniform(0.6, 0.95, n)
    seconds = np.column_stack(
        [random.uniform(90, 240, n), random.uniform(50, 62, n), random.uniform(40, 75, n)]
    )
    skill = np.log2(seconds / 60) * 0.012 + random.normal(0, 0.008, (n, 3))
    return Scoreboard(
        score=np.clip(difficulty[:, np.newaxis] + skill, 0, 1).round(6),
        higher_is_better=np.ones(n, dtype=bool),
        datasets=tuple(f"d{i:02}" for i in range(n)),
        systems=("slow", "steady", "quick"),
        seconds=seconds.round(2),
        budget_seconds=np.full(n, 60.0),
        clusters=tuple(f"d{i - i % 2:02}" if i < 20 else f"d{i:02}" for i in range(n)),
        size=random.integers(500, 50_000, n),
        test_size=random.integers(100, 10_000, n),
        group=tuple("binary" if i % 3 else "multiclass" for i in range(n)),
        metric="accuracy",
    )


def _peeking() -> Search:
    random = np.random.default_rng(102)
    n, candidates = 40, 50
    quality = random.uniform(0.6, 0.9, (n, 1)) + random.normal(0, 0.01, (n, candidates))
    validation = quality + random.normal(0, 0.02, quality.shape)
    test = quality + random.normal(0, 0.02, quality.shape)
    return Search(
        validation_score=validation,
        test_score=test,
        higher_is_better=np.ones(n, dtype=bool),
        datasets=tuple(f"d{i:02}" for i in range(n)),
        reported_score=np.where(
            np.arange(n) < 10, test.max(axis=1), test[np.arange(n), validation.argmax(axis=1)]
        ),
        test_size=np.full(n, 400),
        metric="accuracy",
    )


def _two_workloads() -> Samples:
    random = np.random.default_rng(103)
    n, depth = 24, 400
    hard = np.arange(n) % 2 == 1
    spread = np.where(hard, 0.08, 0.01)[:, np.newaxis]
    reference = random.uniform(7, 9, n)
    return Samples(
        cost=reference[:, np.newaxis] * (1.02 + spread * random.exponential(1, (n, depth))),
        instances=tuple(f"i{i:02}" for i in range(n)),
        reference=reference,
        label=tuple("wide" if h else "narrow" for h in hard),
    )


def _two_halves() -> Losses:
    random = np.random.default_rng(104)
    n = 900
    x = random.uniform(-1, 1, (n, 2))
    mean = np.where(x[:, 0] < 0, -0.5, 0.5)
    loss_a = random.exponential(1, n)
    return Losses(
        loss_a=loss_a,
        loss_b=loss_a - mean + random.normal(0, 0.3, n),
        covariates=x,
        covariate_names=("x1", "x2"),
        split=tuple(("estimation", "calibration", "test")[i % 3] for i in range(n)),
        model_a="left",
        model_b="right",
        loss="simulated",
    )
