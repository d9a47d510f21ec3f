"""How far does the verdict on a family selector depend on choices that need no refit?

Source: *Partition Scores Are Not System Scores* (arXiv:2609.13785), Appendices G, I, J and M: the stored choices are
kept, and what they are scored on is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from auditkit.audits.comparison import compare
from auditkit.audits.estimates import estimates
from auditkit.audits.fidelity import Scored, cluster_codes, score
from auditkit.audits.inputs import require
from auditkit.audits.variants import STORED, Variant, cutoffs, mappings, stored, transforms
from auditkit.errors import UsageError
from auditkit.results.common import Estimate, Range, Skipped, Stamp
from auditkit.results.sensitivity import (
    BenchmarkSensitivity,
    NotRecomputed,
    SensitivityRange,
    SensitivityResult,
    SensitivityRow,
    Setting,
)
from auditkit.schema import AuditData, Benchmark, Pipeline
from auditkit.statistics.bootstrap import Progress, Resampler, Resampling

NO_FLAT = Skipped("no flat pipeline stored")
NO_SCORED_FLAT = Skipped("no flat pipeline has an instance scored in every repetition")


def audit_sensitivity(
    data: AuditData,
    *,
    against: str | None = None,
    shorter_cutoffs: Sequence[float] | None = None,
    n_families: int | None = None,
    random_mappings: int = 5,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    progress: Progress | None = None,
) -> SensitivityResult:
    """Gap, advantages and safety of every decomposed pipeline under other settings, without refitting anything.

    Parameters
    ----------
    data
        An audit file, or arrays in memory.
    against
        The flat pipeline that advantages are over; by default the one with the highest deployed score as stored.
    shorter_cutoffs
        In the unit of the cost; by default half and a tenth of the stored cutoff.
    n_families
        K of the k-means and the random mappings; by default as many as given.
    random_mappings
        How many random balanced mappings.
    replicates, confidence, seed, threads, resampler
        As in ``bootstrap``; the seed also decides the random mappings.

    Returns
    -------
    SensitivityResult
        Intervals are over instances, or over clusters where they are stored, as in ``audit_fidelity``.

    Raises
    ------
    UsageError
        No benchmark is stored, an option is out of its range, or ``against`` is no flat pipeline.

    Notes
    -----
    Selectors keep the choices that they were fitted to make under the stored setting: what is seen is how the score of
    those choices depends on the setting, not what selectors fitted under it would do.

    Examples
    --------
    >>> import auditkit as ak
    >>> result = ak.audit_sensitivity(ak.demo_data(), replicates=200)
    >>> [row.setting for row in result.items[0].rows if row.pipeline == "R1"]
    ['as stored', 'minmax', 'rank']
    """
    require(data, "sensitivity", ("benchmarks",))
    for name, value, least in (
        ("n_families", n_families, 1),
        ("random_mappings", random_mappings, 0),
    ):
        if value is not None and value < least:
            raise UsageError(f"{name} out of range", found=value, expected=f"at least {least}")
    for cutoff in shorter_cutoffs or ():
        if not 0 < cutoff < np.inf:
            raise UsageError("shorter cutoff out of range", found=cutoff, expected="above 0")
    plan = Resampling(replicates, confidence, seed, "percentile", resampler, threads)
    items = tuple(
        _audit_benchmark(
            name, benchmark, against, shorter_cutoffs, n_families, random_mappings, plan, progress
        )
        for name, benchmark in data.benchmarks.items()
    )
    settings = {
        "replicates": replicates, "confidence": confidence, "seed": seed, "method": "percentile",
        "resampler": resampler,
        "sensitivity": {
            "against": against, "n_families": n_families, "random_mappings": random_mappings,
            "shorter_cutoffs": None if shorter_cutoffs is None else list(shorter_cutoffs),
        },
    }  # fmt: skip
    return SensitivityResult(stamp=Stamp(data.path, data.sha256, settings), items=items)


def _audit_benchmark(
    name: str,
    benchmark: Benchmark,
    against: str | None,
    shorter_cutoffs: Sequence[float] | None,
    n_families: int | None,
    random_mappings: int,
    plan: Resampling,
    progress: Progress | None,
) -> BenchmarkSensitivity:
    every = dict(benchmark.pipelines)
    flat = _against(name, benchmark, against, plan.threads)
    kept = {key: p for key, p in every.items() if p.has_choices}
    found: list[Variant | NotRecomputed] = [stored(benchmark, every)]
    found += [
        NotRecomputed("transform, cutoff", key, "only released scores are stored, not the choices")
        for key, p in every.items()
        if not p.has_choices
    ]
    if not isinstance(flat, Skipped) and flat not in kept:
        kept_against: str | Skipped = Skipped(f"only released scores are stored for {flat}")
    else:
        kept_against = flat
    found += transforms(benchmark, kept)
    found += cutoffs(benchmark, kept, shorter_cutoffs)
    found += mappings(benchmark, kept, n_families=n_families, draws=random_mappings, seed=plan.seed)
    variants = [v for v in found if isinstance(v, Variant)]
    rows: list[SensitivityRow] = []
    for done, variant in enumerate(variants, 1):
        of = flat if variant.setting.dimension == STORED else kept_against
        rows += _rows(variant, of, plan)
        if progress is not None:
            progress(f"sensitivity of {name}", done, len(variants))
    groups, alone = _inner_groups(benchmark)
    ranges = [*_by_setting(rows), *_by_inner_selector(groups, rows)]
    return BenchmarkSensitivity(
        benchmark=name,
        against=flat,
        settings=_distinct([v.setting for v in variants]),
        rows=tuple(rows),
        ranges=tuple(ranges),
        not_recomputed=(*(v for v in found if isinstance(v, NotRecomputed)), *alone),
    )


def _distinct(settings: list[Setting]) -> tuple[Setting, ...]:
    return tuple(s for j, s in enumerate(settings) if s not in settings[:j])


def _against(
    name: str, benchmark: Benchmark, against: str | None, threads: int | None
) -> str | Skipped:
    flat = {key: p for key, p in benchmark.pipelines.items() if p.kind == "flat"}
    if against is not None:
        if against not in flat:
            raise UsageError(
                "no such flat pipeline", found=repr(against), expected=" or ".join(flat) or "none is stored",
                where=f"--against, {name}",
            )  # fmt: skip
        return against
    means = {}
    for key, pipeline in flat.items():
        scored = score(key, pipeline, benchmark, threads)
        if scored.valid.any():
            means[key] = float(scored.columns[scored.valid, 1].mean())
    if means:
        return max(means, key=lambda key: means[key])
    return NO_SCORED_FLAT if flat else NO_FLAT


def _rows(variant: Variant, against: str | Skipped, plan: Resampling) -> Iterator[SensitivityRow]:
    benchmark = variant.benchmark
    scored = [
        score(key, pipeline, benchmark, plan.threads)
        for key, pipeline in variant.pipelines.items()
        if pipeline.kind == "decomposed" or key == against
    ]
    decomposed = [s for s in scored if s.pipeline.kind == "decomposed"]
    if not decomposed:
        return
    used = np.any([s.valid for s in scored], axis=0)
    codes = cluster_codes(benchmark)
    clusters = None if codes is None else codes[used]
    gaps = _gaps(decomposed, used, clusters, plan)
    flat = next((s for s in scored if s.name == against), None)
    pairs = [] if flat is None else compare([(s, flat) for s in decomposed], used, clusters, plan)
    nothing = against if isinstance(against, Skipped) else NO_FLAT
    for j, (s, gap) in enumerate(zip(decomposed, gaps, strict=True)):
        yield SensitivityRow(
            dimension=variant.setting.dimension,
            setting=variant.setting.setting,
            pipeline=s.name,
            n_valid=int(s.valid.sum()),
            gap=gap,
            partition_advantage=pairs[j].partition_advantage if pairs else nothing,
            deployed_advantage=pairs[j].deployed_advantage if pairs else nothing,
            deployment_safe=pairs[j].deployment_safe if pairs else nothing,
        )


def _gaps(
    scored: list[Scored],
    used: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None,
    plan: Resampling,
) -> list[Estimate | Skipped]:
    if not used.any():
        return [Skipped("no instance has both scores in every repetition")] * len(scored)
    columns = np.column_stack([s.columns[used, 2] for s in scored])
    found = plan.intervals(columns, clusters=clusters, missing="omit")
    return estimates(found, [int(s.valid.sum()) for s in scored])


# --------------------------------------------------------------------------------------------------------- ranges


def _by_setting(rows: list[SensitivityRow]) -> Iterator[SensitivityRange]:
    """Over the settings of each dimension, for each pipeline."""
    at_rest = {row.pipeline: row for row in rows if row.dimension == STORED}
    varied = sorted(
        (row for row in rows if row.dimension != STORED),
        key=lambda r: (_rank(r.dimension), r.pipeline),
    )
    for (dimension, pipeline), of in groupby(varied, key=lambda r: (r.dimension, r.pipeline)):
        rest = [at_rest[pipeline]] if pipeline in at_rest else []
        every = [*rest, *of]
        yield _range(dimension, pipeline, every, tuple(row.setting for row in every))


def _rank(dimension: str) -> int:
    return ("transform", "cutoff", "family mapping").index(dimension)


def _inner_groups(
    benchmark: Benchmark,
) -> tuple[dict[str, dict[str, str]], list[NotRecomputed]]:
    """Pipelines that differ in their inner selector alone: inner selectors by pipeline, by what they share."""
    groups: dict[tuple[object, ...], dict[str, str]] = {}
    silent = []
    for name, p in benchmark.pipelines.items():
        if p.kind != "decomposed":
            continue
        if p.family_selector is None or p.within_selector is None:
            silent.append(name)
            continue
        groups.setdefault(_shared(benchmark, p), {})[name] = p.within_selector
    named: dict[str, dict[str, str]] = {}
    for shared, members in groups.items():
        if len(set(members.values())) > 1:
            trained = f", trained on {shared[1]}" if shared[1] else ""
            label = f"{shared[0]}{trained}"
            named[label if label not in named else f"{label} ({', '.join(members)})"] = members
    missing = [
        NotRecomputed("inner selector", name, "no family_selector and within_selector stored")
        for name in silent
    ]
    if not named and not silent and groups:
        missing = [
            NotRecomputed("inner selector", "all", "no two pipelines share a family selector")
        ]
    return named, missing


def _shared(benchmark: Benchmark, p: Pipeline) -> tuple[object, ...]:
    families, family_of = benchmark.partition_of(p)
    return (p.family_selector, p.trained_on, p.feature_policy, families, tuple(family_of.tolist()))


def _by_inner_selector(
    groups: dict[str, dict[str, str]], rows: list[SensitivityRow]
) -> Iterator[SensitivityRange]:
    at_rest = {row.pipeline: row for row in rows if row.dimension == STORED}
    for label, members in groups.items():
        yield _range(
            "inner selector", label, [at_rest[name] for name in members], tuple(members.values())
        )


def _range(
    dimension: str, subject: str, rows: list[SensitivityRow], settings: tuple[str, ...]
) -> SensitivityRange:
    advantages = [r.deployed_advantage for r in rows if isinstance(r.deployed_advantage, Estimate)]
    deployed = [x.estimate for x in advantages]
    certain = {np.sign(x.estimate) for x in advantages if x.excludes_zero}
    flags = [r.deployment_safe for r in rows if isinstance(r.deployment_safe, bool)]
    few = Skipped("fewer than two settings have one")
    return SensitivityRange(
        dimension=dimension,
        subject=subject,
        settings=settings,
        gap=_span([r.gap for r in rows]),
        partition_advantage=_span([r.partition_advantage for r in rows]),
        deployed_advantage=_span([r.deployed_advantage for r in rows]),
        sign_changes=len({np.sign(x) for x in deployed}) > 1 if len(deployed) > 1 else few,
        safety_changes=len(set(flags)) > 1 if len(flags) > 1 else few,
        intervals_oppose=len(certain) > 1 if len(deployed) > 1 else few,
    )


def _span(of: list[Estimate | Skipped]) -> Range | Skipped:
    values = [x.estimate for x in of if isinstance(x, Estimate)]
    return (
        Range(min(values), max(values)) if values else next(x for x in of if isinstance(x, Skipped))
    )
