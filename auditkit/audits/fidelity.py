"""Does a partition-level conclusion survive deployment?

Source: *Partition Scores Are Not System Scores* (arXiv:2609.13785). A partition score grants an oracle inside the
chosen family; the deployed score is what the stored inner selector really attains there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.audits.comparison import compare
from auditkit.audits.estimates import estimates
from auditkit.audits.inputs import require
from auditkit.audits.training import training_effects
from auditkit.errors import StatisticsError, UsageError
from auditkit.results.common import Estimate, Skipped, Stamp
from auditkit.results.fidelity import (
    BenchmarkFidelity,
    Comparison,
    FidelityResult,
    PipelineFidelity,
    Released,
    Reported,
)
from auditkit.schema import AuditData, Benchmark, Pipeline
from auditkit.statistics import per_instance
from auditkit.statistics.bootstrap import Method, Progress, Resampler, Resampling
from auditkit.statistics.per_instance import InstanceScores
from auditkit.statistics.tests import holm, wilcoxon_signed_rank

Floats = NDArray[np.float64]

NO_CHOICES = "only released scores are stored, not the choices"
DERIVED = "only released scores are stored: a gap derived from them cannot check them"

_FIELDS = (
    "partition_score",
    "deployed_score",
    "gap",
    "family_range",
    "violation_rate",
    "deployment_regret",
)


@dataclass(frozen=True, slots=True)
class Scored:
    """A pipeline with its scores: per cell [R, n], and averaged over repetitions [n] (NaN where not valid)."""

    name: str
    pipeline: Pipeline
    cells: InstanceScores | None
    partition_cells: Floats
    deployed_cells: Floats
    columns: Floats
    within_regret: Floats | None

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Instances with both scores in every repetition."""
        return np.isfinite(self.columns[:, 0])


def audit_fidelity(
    data: AuditData,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    resampling: Method = "percentile",
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    progress: Progress | None = None,
) -> FidelityResult:
    """Audit every benchmark: partition against deployed scores of each pipeline, and of each pair of pipelines.

    Parameters
    ----------
    data
        An audit file, or arrays in memory.
    pairs
        Compare only these pipelines (first, second), in every benchmark that has both; by default all pairs.
    resampling
        Kind of interval: ``percentile``, ``basic``, ``bca`` or ``studentized``.
    replicates, confidence, seed, threads, resampler
        As in ``bootstrap``.

    Returns
    -------
    FidelityResult
        Intervals are over instances, or over clusters where they are stored; they and the tests hold when those
        units are independent draws from the population the benchmark stands for.

    Raises
    ------
    UsageError
        No benchmark is stored, or a pair names a pipeline that no benchmark has.

    Notes
    -----
    Repetitions are averaged per instance first. All intervals of a benchmark come from the same resamples of the
    instances that are valid for at least one pipeline; where pipelines are valid on different instances a mean is a
    resampled sum over a resampled count.

    Examples
    --------
    >>> import auditkit as ak
    >>> result = ak.audit_fidelity(ak.demo_data(), replicates=1000)
    >>> result.items[0].comparisons[0].transfer
    'reversal'
    """
    require(data, "fidelity")
    _check_pairs(data, pairs)
    plan = Resampling(replicates, confidence, seed, resampling, resampler, threads, progress)
    audited = [
        _audit_benchmark(name, benchmark, pairs, plan)
        for name, benchmark in data.benchmarks.items()
    ]
    settings = {
        "replicates": replicates, "confidence": confidence, "seed": seed, "method": resampling, "resampler": resampler,
        "fidelity": {"pairs": None if pairs is None else [list(pair) for pair in pairs], "resampling": resampling},
    }  # fmt: skip
    return FidelityResult(stamp=Stamp(data.path, data.sha256, settings), items=_adjusted(audited))


def _check_pairs(data: AuditData, pairs: Sequence[tuple[str, str]] | None) -> None:
    known = sorted({name for benchmark in data.benchmarks.values() for name in benchmark.pipelines})
    for pair in pairs or ():
        if len(set(pair)) < 2:
            raise UsageError("a pipeline against itself", found=repr(pair[0]), where="--pair")
        for name in pair:
            if name not in known:
                raise UsageError(
                    "unknown pipeline",
                    found=repr(name),
                    expected=" or ".join(known),
                    where="--pair",
                )
        if not any({*pair} <= benchmark.pipelines.keys() for benchmark in data.benchmarks.values()):
            raise UsageError(
                "no benchmark has both pipelines",
                found=" and ".join(map(repr, pair)),
                where="--pair",
            )


def _audit_benchmark(
    name: str, benchmark: Benchmark, pairs: Sequence[tuple[str, str]] | None, plan: Resampling
) -> BenchmarkFidelity:
    scored = [
        score(key, pipeline, benchmark, plan.threads)
        for key, pipeline in benchmark.pipelines.items()
    ]
    used = (
        np.any([s.valid for s in scored], axis=0)
        if scored
        else np.zeros(len(benchmark.instances), dtype=bool)
    )
    clusters = cluster_codes(benchmark)
    rows = None if clusters is None else clusters[used]
    pipelines = _pipelines(scored, benchmark, used, rows, plan)
    by_name = {s.name: s for s in scored}
    every = combinations(by_name, 2) if pairs is None else pairs
    wanted = [pair for pair in every if {*pair} <= by_name.keys()]
    comparisons: tuple[Comparison, ...] = compare(
        [(by_name[one], by_name[two]) for one, two in wanted], used, rows, plan
    )
    return BenchmarkFidelity(
        benchmark=name,
        n_instances=len(benchmark.instances),
        n_algorithms=len(benchmark.algorithms),
        n_families=len(benchmark.families),
        n_clusters=Skipped("no clusters stored") if clusters is None else len(np.unique(clusters)),
        n_missing=int(np.isnan(benchmark.utility).sum()),
        unit="instance" if clusters is None else "cluster",
        n_units=int(used.sum()) if rows is None else len(np.unique(rows)),
        pipelines=pipelines,
        comparisons=comparisons,
        training_effects=training_effects(scored, used, rows, plan),
    )


def cluster_codes(benchmark: Benchmark) -> NDArray[np.int64] | None:
    """Cluster of each instance as an integer; None where every instance stands for itself."""
    if benchmark.clusters is None:
        return None
    return np.unique(np.asarray(benchmark.clusters), return_inverse=True)[1].astype(np.int64)


def score(
    name: str, pipeline: Pipeline, benchmark: Benchmark, threads: int | None = None
) -> Scored:
    """Scores of one pipeline: recomputed from its choices, or as released where there are none."""
    cells = recompute(pipeline, benchmark, threads)
    if cells is not None:
        partition, deployed = cells.partition, cells.deployed
        gap = partition - deployed
        quantities = [partition, deployed, gap, cells.family_range, cells.violation, cells.regret]
    else:
        assert pipeline.partition_utility is not None
        assert pipeline.deployed_utility is not None
        partition, deployed = pipeline.partition_utility, pipeline.deployed_utility
        quantities = [partition, deployed, partition - deployed]
    valid = (np.isfinite(partition) & np.isfinite(deployed)).all(axis=0)
    columns = np.full((partition.shape[1], len(_FIELDS)), np.nan)
    for j, quantity in enumerate(quantities):
        columns[valid, j] = quantity[:, valid].mean(axis=0)
    within = None if cells is None else np.where(valid, cells.within_regret.mean(axis=0), np.nan)
    return Scored(name, pipeline, cells, partition, deployed, columns, within)


def recompute(
    pipeline: Pipeline, benchmark: Benchmark, threads: int | None = None
) -> InstanceScores | None:
    """Scores of every repetition and instance from the stored choices; None where there are none."""
    if not pipeline.has_choices:
        return None
    if pipeline.kind == "flat":
        assert pipeline.algorithm_choice is not None
        return per_instance.flat(
            benchmark.utility, benchmark.penalty, pipeline.algorithm_choice, threads=threads
        )
    families, family_of = benchmark.partition_of(pipeline)
    within = pipeline.within_choice
    if within is None:
        assert pipeline.predicted_utility is not None
        within = per_instance.inner_choice(pipeline.predicted_utility, family_of, len(families))
    assert pipeline.family_choice is not None
    return per_instance.decomposed(
        benchmark.utility,
        benchmark.penalty,
        family_of,
        pipeline.family_choice,
        within,
        threads=threads,
    )


def _pipelines(
    scored: list[Scored],
    benchmark: Benchmark,
    used: NDArray[np.bool_],
    rows: NDArray[np.int64] | None,
    plan: Resampling,
) -> tuple[PipelineFidelity, ...]:
    if not used.any():
        reason = Skipped("no instance has both scores in every repetition")
        return tuple(_pipeline(s, benchmark, [reason] * len(_FIELDS), None) for s in scored)
    columns = np.concatenate([s.columns[used] for s in scored], axis=1)
    counts = [int(s.valid.sum()) for s in scored for _ in _FIELDS]
    found = estimates(plan.intervals(columns, clusters=rows, missing="omit"), counts)
    width = len(_FIELDS)
    return tuple(
        _pipeline(
            s,
            benchmark,
            found[width * j : width * (j + 1)],
            None if rows is None else _spread(rows, used),
        )
        for j, s in enumerate(scored)
    )


def _spread(rows: NDArray[np.int64], used: NDArray[np.bool_]) -> NDArray[np.int64]:
    out = np.full(used.size, -1, dtype=np.int64)
    out[used] = rows
    return out


def _pipeline(
    s: Scored,
    benchmark: Benchmark,
    found: list[Estimate | Skipped],
    clusters: NDArray[np.int64] | None,
) -> PipelineFidelity:
    pipeline, valid = s.pipeline, s.valid
    quantities: dict[str, Any] = dict(zip(_FIELDS, found, strict=True))
    if s.cells is None:
        for name in _FIELDS[3:]:
            quantities[name] = Skipped(NO_CHOICES)
    gaps = s.partition_cells - s.deployed_cells
    nothing = Skipped("no valid instance")
    return PipelineFidelity(
        name=s.name,
        kind=pipeline.kind,
        n_valid=int(valid.sum()),
        n_dropped=int((~valid).sum()),
        n_imputed=_imputed(s, benchmark),
        n_repetitions=len(s.partition_cells),
        scores_from="released" if s.cells is None else "choices",
        **quantities,
        wilcoxon_p=_wilcoxon(s, clusters),
        holm_p=Skipped("not a decomposed pipeline"),
        lemma1_residual=_lemma1(s),
        smallest_gap=float(gaps[:, valid].min()) if valid.any() else nothing,
        largest_gap=float(np.abs(gaps[:, valid]).max()) if valid.any() else nothing,
        released=_released(s),
        reported=_reported(s),
        fold_faults=Skipped("no folds stored")
        if pipeline.fold is None
        else int((pipeline.fold < 0).sum()),
        validation_leaks=_leaks(pipeline),
        traits={
            name: text
            for name in ("family_selector", "within_selector", "feature_policy", "family_basis")
            if (text := getattr(pipeline, name)) is not None
        },
    )


def _wilcoxon(s: Scored, clusters: NDArray[np.int64] | None) -> float | Skipped:
    if s.pipeline.kind == "flat":
        return Skipped("the gap of a flat pipeline is zero by definition")
    gaps = s.columns[s.valid, 2]
    if clusters is not None:
        labels = clusters[s.valid]
        counts = np.bincount(labels)
        gaps = np.bincount(labels, weights=gaps)[counts > 0] / counts[counts > 0]
    try:
        return wilcoxon_signed_rank(gaps)
    except StatisticsError as error:
        return Skipped(str(error))


def _lemma1(s: Scored) -> float | Skipped:
    if s.within_regret is None:
        return Skipped(DERIVED)
    if not s.valid.any():
        return Skipped("no valid instance")
    partition, deployed = s.columns[s.valid, 0].mean(), s.columns[s.valid, 1].mean()
    residual = abs(s.within_regret[s.valid].mean() - (partition - deployed))
    return float(residual / max(1.0, abs(partition), abs(deployed)))


def _imputed(s: Scored, benchmark: Benchmark) -> int:
    """Valid instances whose deployed score is, in some repetition, the stored penalty and not a measurement."""
    if s.cells is None or benchmark.penalty is None:
        return 0
    without = recompute(s.pipeline, replace(benchmark, penalty=None, pipelines={}))
    assert without is not None
    return int((s.valid & np.isnan(without.deployed).any(axis=0)).sum())


def _released(s: Scored) -> Released | Skipped:
    pipeline = s.pipeline
    if pipeline.partition_utility is None or pipeline.deployed_utility is None:
        return Skipped("no released scores stored")
    if s.cells is None:
        return Skipped(NO_CHOICES)
    pairs = (
        (pipeline.partition_utility, s.partition_cells),
        (pipeline.deployed_utility, s.deployed_cells),
    )
    differences = [_difference(one, other) for one, other in pairs]
    mismatches = sum(int((np.isfinite(one) != np.isfinite(other)).sum()) for one, other in pairs)
    return Released(differences[0], differences[1], mismatches)


def _difference(one: Floats, other: Floats) -> float:
    both = np.isfinite(one) & np.isfinite(other)
    scale = np.maximum(1.0, np.abs(other[both]))
    return float((np.abs(one[both] - other[both]) / scale).max(initial=0.0))


def _reported(s: Scored) -> Reported | Skipped:
    printed = {
        name: text
        for name in ("partition_score", "deployed_score", "gap")
        if (text := getattr(s.pipeline, f"reported_{name}")) is not None
    }
    if not printed:
        return Skipped("no printed figures stored")
    if not s.valid.any():
        return Skipped("no valid instance")
    means = s.columns[s.valid, :3].mean(axis=0)
    return Reported(
        printed,
        dict(zip(("partition_score", "deployed_score", "gap"), map(float, means), strict=True)),
    )


def _leaks(pipeline: Pipeline) -> int | Skipped:
    if pipeline.fold is None or pipeline.validation_partition is None:
        return Skipped("no folds with validation scores stored")
    folds = np.arange(pipeline.validation_partition.shape[1])
    tested = pipeline.fold[:, np.newaxis, :] == folds[:, np.newaxis]
    return int((tested & np.isfinite(pipeline.validation_partition)).sum())


def _adjusted(audited: list[BenchmarkFidelity]) -> tuple[BenchmarkFidelity, ...]:
    """Holm over the decomposed pipelines of the whole audit."""
    raw = [p.wilcoxon_p for b in audited for p in b.pipelines if isinstance(p.wilcoxon_p, float)]
    adjusted = iter(holm(raw).tolist())

    def one(p: PipelineFidelity) -> PipelineFidelity:
        return replace(
            p, holm_p=next(adjusted) if isinstance(p.wilcoxon_p, float) else p.wilcoxon_p
        )

    return tuple(replace(b, pipelines=tuple(one(p) for p in b.pipelines)) for b in audited)
