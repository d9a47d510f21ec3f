"""Random benchmarks with everything that can be odd about one, and a naive reading to compare with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from auditkit.schema import Benchmark, Pipeline


def random_benchmark(
    seed: int,
    *,
    n: int = 12,
    algorithms: int = 6,
    families: int = 3,
    repetitions: int = 2,
    missing: float = 0.0,
    unassigned: bool = False,
    penalty: bool = False,
    ties: bool = False,
    clusters: bool = False,
    unpredicted: float = 0.0,
) -> Benchmark:
    """A benchmark with two decomposed pipelines (one with its own families) and a flat one."""
    random = np.random.default_rng(seed)
    utility = random.random((n, algorithms))
    if ties:
        utility = np.round(utility * 3) / 10  # tenths are not exact in binary
    utility[random.random(utility.shape) < missing] = np.nan
    family_of = np.concatenate(
        [np.arange(families), random.integers(0, families, algorithms - families)]
    )
    own = np.concatenate(
        [np.arange(families)[::-1], random.integers(0, families, algorithms - families)]
    )
    if unassigned:
        family_of[-1] = -1
    flat = random.integers(0, algorithms, (repetitions, n))
    flat[random.random(flat.shape) < unpredicted] = -1
    return Benchmark(
        utility=utility,
        instances=tuple(f"i{i}" for i in range(n)),
        algorithms=tuple(f"a{a}" for a in range(algorithms)),
        families=tuple(f"f{k}" for k in range(families)),
        family_of=family_of,
        penalty=random.random(n) - 1 if penalty else None,
        clusters=random.integers(0, max(2, n // 3), n) if clusters else None,
        pipelines={
            "one": decomposed(random, family_of, repetitions, n, families, unpredicted),
            "two": Pipeline(
                kind="decomposed",
                family_choice=random.integers(0, families, (repetitions, n)),
                predicted_utility=random.random((repetitions, n, algorithms)).round(1),
                families=tuple(f"g{k}" for k in range(families)),
                family_of=own,
            ),
            "flat": Pipeline(kind="flat", algorithm_choice=flat),
        },
    )


def decomposed(
    random: np.random.Generator,
    family_of: np.ndarray,
    repetitions: int,
    n: int,
    families: int,
    unpredicted: float,
) -> Pipeline:
    """A pipeline that chooses at random, and sometimes nothing."""
    within = np.empty((repetitions, n, families), dtype=int)
    for k in range(families):
        within[:, :, k] = random.choice(np.flatnonzero(family_of == k), (repetitions, n))
    within[random.random(within.shape) < unpredicted] = -1
    family = random.integers(0, families, (repetitions, n))
    family[random.random(family.shape) < unpredicted] = -1
    return Pipeline(kind="decomposed", family_choice=family, within_choice=within)


@dataclass
class NaiveCell:
    """Scores of one repetition and instance, read off docs/fidelity.md one number at a time."""

    partition: float
    deployed: float
    range: float
    violation: bool
    regret: float


def naive_cell(benchmark: Benchmark, pipeline: Pipeline, r: int, i: int) -> NaiveCell:
    """The definitions with Python floats and lists."""
    u = benchmark.utility[i].tolist()
    fallback = math.nan if benchmark.penalty is None else float(benchmark.penalty[i])

    def run(a: int) -> float:
        return math.nan if a < 0 else u[a]

    if pipeline.kind == "flat":
        families = [[a] for a in range(len(u))]
        deployed = run(int(pipeline.algorithm_choice[r, i]))
        deployed = fallback if math.isnan(deployed) else deployed
        candidates = [x for x in u if not math.isnan(x)]
        partition, spread = deployed, 0.0
    else:
        names, family_of = benchmark.partition_of(pipeline)
        families = [[a for a in range(len(u)) if family_of[a] == k] for k in range(len(names))]
        inner = []
        for k, members in enumerate(families):
            if pipeline.within_choice is not None:
                inner.append(int(pipeline.within_choice[r, i, k]))
            else:
                predicted = pipeline.predicted_utility[r, i]
                inner.append(max(members, key=lambda a: (predicted[a], -a)) if members else -1)
        s = int(pipeline.family_choice[r, i])
        finite = [u[a] for a in families[s] if not math.isnan(u[a])] if s >= 0 else []
        partition = max(finite) if finite else fallback
        spread = max(finite) - min(finite) if finite else 0.0
        deployed = run(inner[s]) if s >= 0 else math.nan
        deployed = fallback if math.isnan(deployed) else deployed
        candidates = [run(a) for a in inner if not math.isnan(run(a))]
    better = [x for x in candidates if x > deployed]
    regret = max(better, default=deployed) - deployed
    return NaiveCell(partition, deployed, spread, bool(better), regret)


@dataclass
class NaivePipeline:
    """Per-instance means over repetitions; ``valid`` says which instances count."""

    valid: np.ndarray
    columns: np.ndarray  # partition, deployed, gap, range, violation, regret


def naive_pipeline(benchmark: Benchmark, name: str) -> NaivePipeline:
    """Repetitions averaged per instance first, valid where both scores are finite in every one."""
    pipeline = benchmark.pipelines[name]
    choice = pipeline.algorithm_choice if pipeline.kind == "flat" else pipeline.family_choice
    columns = np.full((len(benchmark.instances), 6), np.nan)
    for i in range(len(columns)):
        cells = [naive_cell(benchmark, pipeline, r, i) for r in range(len(choice))]
        if all(math.isfinite(c.partition) and math.isfinite(c.deployed) for c in cells):
            rows = [
                (
                    c.partition,
                    c.deployed,
                    c.partition - c.deployed,
                    c.range,
                    float(c.violation),
                    c.regret,
                )
                for c in cells
            ]
            columns[i] = np.mean(rows, axis=0)
    return NaivePipeline(np.isfinite(columns[:, 0]), columns)
