"""The same benchmark under another transform, a shorter cutoff, or another family mapping; nothing is refitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import StatisticsError, counted
from auditkit.results.common import Skipped
from auditkit.results.sensitivity import NotRecomputed, Setting
from auditkit.schema import Benchmark, Pipeline
from auditkit.statistics.partitions import balanced, clustered, merged
from auditkit.statistics.per_instance import inner_choice
from auditkit.statistics.utilities import TRANSFORMS, penalised, utilities

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

STORED = "as stored"
NO_MAPPING = Skipped("the family mapping is not varied")


@dataclass(frozen=True, slots=True)
class Variant:
    """A setting with the benchmark it leads to, and the pipelines that are scored on it."""

    setting: Setting
    benchmark: Benchmark
    pipelines: dict[str, Pipeline]


def stored(benchmark: Benchmark, pipelines: dict[str, Pipeline]) -> Variant:
    """Everything as it is stored."""
    timeouts = (
        Skipped("no cost with its cutoff stored")
        if benchmark.cost is None or benchmark.cutoff is None
        else _all_timeout(benchmark.cost, benchmark.cutoff)
    )
    return _variant(STORED, STORED, benchmark, pipelines, timeouts)


def transforms(
    benchmark: Benchmark, pipelines: dict[str, Pipeline]
) -> Iterator[Variant | NotRecomputed]:
    """Min-max and rank utilities, whichever is not stored already."""
    if benchmark.penalty is not None:
        yield _nothing("transform", "the stored penalties are in units of the stored utility")
        return
    # both depend on the order and the proportions inside an instance alone, so the utility serves as well as the cost
    cost = benchmark.cost if benchmark.cost is not None else -benchmark.utility
    if not _finite(cost):
        yield _nothing("transform", "infinite costs are stored")
        return
    timeouts = stored(benchmark, pipelines).setting.n_all_timeout
    for transform in ("minmax", "rank"):
        if transform != benchmark.transform:
            utility = _utilities(np.where(np.isnan(benchmark.utility), np.nan, cost), transform)
            yield _variant(
                "transform",
                transform,
                replace(benchmark, utility=utility, pipelines={}),
                pipelines,
                timeouts,
            )


def cutoffs(
    benchmark: Benchmark, pipelines: dict[str, Pipeline], seconds: Sequence[float] | None
) -> Iterator[Variant | NotRecomputed]:
    """Shorter cutoffs: half and a tenth of the stored one unless given."""
    cost, cutoff = benchmark.cost, benchmark.cutoff
    if cost is None or cutoff is None or benchmark.par_factor is None:
        yield _nothing("cutoff", "no cost with its cutoff and penalty factor stored")
        return
    if benchmark.penalty is not None:
        yield _nothing("cutoff", "the stored penalties are in units of the stored utility")
        return
    if not _finite(cost):
        yield _nothing("cutoff", "infinite costs are stored")
        return
    transform = benchmark.transform if benchmark.transform in TRANSFORMS else "minmax"
    for shorter in (cutoff / 2, cutoff / 10) if seconds is None else seconds:
        label = f"{shorter:g} {benchmark.unit or ''}".strip()
        if shorter >= cutoff:
            yield NotRecomputed(
                "cutoff", "all", f"{label} is not shorter than the stored cutoff of {cutoff:g}"
            )
            continue
        lower, _ = penalised(cost, np.zeros(cost.shape, dtype=bool), shorter, benchmark.par_factor)
        changed = replace(
            benchmark, utility=_utilities(lower, transform), cost=lower, cutoff=shorter, pipelines={}
        )  # fmt: skip
        yield _variant("cutoff", label, changed, pipelines, _all_timeout(lower, shorter))


def mappings(
    benchmark: Benchmark,
    pipelines: dict[str, Pipeline],
    *,
    n_families: int | None,
    draws: int,
    seed: int,
) -> Iterator[Variant | NotRecomputed]:
    """Other families, for the pipelines that store the predicted utility of every algorithm.

    The family selector of another mapping was never fitted: the family with the highest predicted utility is taken,
    and in it the algorithm that has it.
    """
    groups: list[tuple[Pipeline, list[str]]] = []
    for name, pipeline in pipelines.items():
        if pipeline.kind != "decomposed":
            continue
        if pipeline.predicted_utility is None:
            yield NotRecomputed("family mapping", name, "no predicted_utility stored")
            continue
        for first, names in groups:
            if _same_predictions(benchmark, first, pipeline):
                names.append(name)
                break
        else:
            groups.append((pipeline, [name]))
    flat = {name: p for name, p in pipelines.items() if p.kind == "flat"}
    for pipeline, names in groups:
        label = f"predictions of {names[0]}" + (
            f" and {len(names) - 1} more" if len(names) > 1 else ""
        )
        found = _partitions(benchmark, pipeline, n_families, draws, seed)
        for setting, family_of in found:
            if isinstance(family_of, Skipped):
                yield NotRecomputed("family mapping", label, f"{setting}: {family_of.reason}")
                continue
            by_maxima = _by_maxima(pipeline, family_of)
            variant = _variant(
                "family mapping", setting, benchmark, {label: by_maxima, **flat}, NO_MAPPING
            )  # fmt: skip
            members = {
                f"family {k + 1}": tuple(np.array(benchmark.algorithms)[family_of == k].tolist())
                for k in range(int(family_of.max()) + 1)
            }
            timeouts = stored(benchmark, pipelines).setting.n_all_timeout
            yield replace(
                variant, setting=replace(variant.setting, families=members, n_all_timeout=timeouts)
            )


def _partitions(
    benchmark: Benchmark, pipeline: Pipeline, n_families: int | None, draws: int, seed: int
) -> Iterator[tuple[str, Indices | Skipped]]:
    _, given = benchmark.partition_of(pipeline)
    members = np.flatnonzero(given >= 0)
    k = len(np.unique(given[members])) if n_families is None else n_families
    yield "given", given
    coarse = merged(given)
    yield (
        "coarse merge",
        coarse if coarse.max() > 0 else Skipped("all algorithms would be one family"),
    )
    if k > len(members):
        few = Skipped(
            f"{counted(k, 'family', 'families')} asked for, {counted(len(members), 'algorithm')}"
        )
        yield "k-means", few
        yield "random balanced", few
        return
    known = ~np.isnan(benchmark.utility[:, members]).any(axis=1)
    try:
        labels = np.full(len(given), -1, dtype=np.int64)
        labels[members] = clustered(benchmark.utility[known][:, members].T, k, seed)
        yield "k-means", labels
    except StatisticsError as error:
        yield "k-means", Skipped(str(error))
    for draw in range(draws):
        random = np.random.default_rng(np.random.SeedSequence([seed, 1, draw]))
        yield f"random {draw + 1}", balanced(given, k, random)


def _by_maxima(pipeline: Pipeline, family_of: Indices) -> Pipeline:
    """The predictions with another mapping: the family of the highest predicted utility, the first on ties."""
    predicted = pipeline.predicted_utility
    assert predicted is not None
    n_families = int(family_of.max()) + 1
    within = inner_choice(predicted, family_of, n_families)
    of_family = np.take_along_axis(predicted, np.maximum(within, 0), axis=2)
    of_family = np.where(within < 0, -np.inf, of_family)
    choice = np.where((within < 0).all(axis=2), -1, of_family.argmax(axis=2))
    return Pipeline(
        kind="decomposed", family_choice=choice, within_choice=within,
        families=tuple(f"family {k + 1}" for k in range(n_families)), family_of=family_of, fold=pipeline.fold,
    )  # fmt: skip


def _same_predictions(benchmark: Benchmark, one: Pipeline, other: Pipeline) -> bool:
    a, b = one.predicted_utility, other.predicted_utility
    assert a is not None
    assert b is not None
    same = np.array_equal(a, b, equal_nan=True)
    return same and np.array_equal(benchmark.partition_of(one)[1], benchmark.partition_of(other)[1])


def _variant(
    dimension: str, setting: str, benchmark: Benchmark, pipelines: dict[str, Pipeline], timeouts: int | Skipped,
) -> Variant:  # fmt: skip
    measured = int((~np.isnan(benchmark.utility).all(axis=1)).sum())
    return Variant(
        Setting(dimension, setting, measured, timeouts, NO_MAPPING), benchmark, pipelines
    )


def _utilities(cost: Floats, transform: str) -> Floats:
    """Utilities; instances whose costs are all alike say nothing: rank leaves them out as min-max does."""
    utility = utilities(cost, transform)
    if transform == "rank":
        measured = ~np.isnan(cost)
        low = np.where(measured, cost, np.inf).min(axis=1)
        high = np.where(measured, cost, -np.inf).max(axis=1)
        utility = np.where((high > low)[:, np.newaxis], utility, np.nan)
    return utility


def _all_timeout(cost: Floats, cutoff: float) -> int:
    measured = ~np.isnan(cost)
    return int(((cost > cutoff) | ~measured).all(axis=1).sum() - (~measured).all(axis=1).sum())


def _finite(cost: Floats) -> bool:
    return not bool(np.isinf(cost).any())


def _nothing(dimension: str, reason: str) -> NotRecomputed:
    return NotRecomputed(dimension, "all", reason)
