"""ASlib scenarios: a folder with ``description.txt``, ``algorithm_runs.arff`` and, mostly, ``feature_values.arff``.

Format: Bischl et al., *ASlib: A Benchmark Library for Algorithm Selection*, Artificial Intelligence 237 (2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auditkit.errors import SourceError, UsageError, counted
from auditkit.importers.aslib_costs import quality_cost, runtime_cost
from auditkit.importers.aslib_features import read_features
from auditkit.importers.aslib_runs import Runs, read_runs
from auditkit.importers.imported import Imported, Notes, finish
from auditkit.importers.mapping import families_of
from auditkit.importers.repetitions import AGGREGATES, each_name, over_repetitions
from auditkit.importers.scenario import read_description
from auditkit.importers.sources import StrPath, read_source
from auditkit.schema import Benchmark, Floats
from auditkit.statistics.utilities import TRANSFORMS, utilities


def import_aslib(
    scenario: StrPath,
    *,
    name: str | None = None,
    transform: str = "minmax",
    par: float = 10.0,
    cutoff: float | None = None,
    measure: str | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
    repetition: str = "mean",
) -> Imported:
    """Import an ASlib scenario as a benchmark.

    Parameters
    ----------
    scenario
        Its folder.
    name
        Name of the benchmark; the folder's unless given.
    transform
        ``minmax``, ``rank`` or ``identity``: how utilities are made from costs.
    par
        k of PAR-k: what a failed run costs, in cutoffs. Runtimes only.
    cutoff
        Cutoff of a run; the description's unless given.
    measure
        The performance measure; the first unless given.
    families
        The algorithms of each family; without it each algorithm is its own family.
    repetition
        ``mean`` or ``median`` over the repetitions of a run, or ``each``: every repetition a row of its own, the rows
        of an instance in one cluster.

    Returns
    -------
    Imported
        Instances and algorithms are sorted by name. The cost of a measure that is maximized is its negative.

    Raises
    ------
    SourceError
        A file is missing or malformed, or a run occurs twice.
    UsageError
        An option is out of its range.

    Notes
    -----
    A run whose status is not ok, or that took longer than the cutoff, costs ``par * cutoff`` whatever the file stores
    for it. Measures of solution quality stay as stored. Runs that are missing stay missing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> about = "performance_measures: t\\nperformance_type: runtime\\nalgorithm_cutoff_time: 60"
    >>> _ = (folder / "description.txt").write_text(about)
    >>> header = "instance_id STRING", "algorithm STRING", "t NUMERIC", "runstatus {ok, timeout}"
    >>> runs = "i,a,5,ok", "i,b,60,timeout"
    >>> lines = "@RELATION r", *(f"@ATTRIBUTE {name}" for name in header), "@DATA", *runs
    >>> _ = (folder / "algorithm_runs.arff").write_text("\\n".join(lines))
    >>> import_aslib(folder).member.cost
    array([[  5., 600.]])
    """
    options: dict[str, Any] = {
        "transform": transform, "par": par, "cutoff": cutoff, "measure": measure,
        "families": None if families is None else {k: list(v) for k, v in families.items()}, "repetition": repetition,
    }  # fmt: skip
    _check_options(transform, par, cutoff, repetition)
    folder = Path(scenario)
    if not folder.is_dir():
        raise SourceError("no such folder", expected="an ASlib scenario", where=str(scenario))
    notes = Notes()
    about = read_description(folder / "description.txt")
    chosen = about.measure(measure)
    options["measure"] = about.measures[chosen]
    source = read_source(folder / "algorithm_runs.arff")
    runs = read_runs(source, about, chosen, notes)

    value = notes.without_infinities(runs.value, "value")
    attributes: dict[str, Any] = {"metric": about.measures[chosen], "transform": transform}
    if about.kinds[chosen] == "runtime":
        cost, attributes["cutoff"] = runtime_cost(value, runs, about, cutoff, par, notes)
        attributes |= {"unit": "s", "par_factor": par if attributes["cutoff"] is not None else None}
    else:
        cost = quality_cost(value, runs, about, chosen, cutoff, notes)
        attributes["unit"] = (
            f"negative {about.measures[chosen]}"
            if about.maximize[chosen]
            else about.measures[chosen]
        )

    features = read_features(folder, about, runs, repetition, notes)
    rows, clusters, cost = _rows(cost, runs, repetition, notes)
    utility = utilities(cost, transform)
    flat = int(np.isnan(utility).all(axis=1).sum())
    notes.say(
        f"utility: {transform} of the cost, higher is better; {counted(flat, 'instance')} without a range (all NaN)"
    )
    notes.missing(cost, "cells")
    names, family_of = families_of(tuple(runs.algorithms), families, notes)
    sources = [about.source, source]
    if features is not None:
        sources.append(features.source)
    arrays = {
        "utility": utility, "cost": cost, "instances": rows, "algorithms": runs.algorithms, "families": names,
        "family_of": family_of, "clusters": clusters, **attributes, **(features.arrays if features is not None else {}),
    }  # fmt: skip
    return finish(
        "aslib", "benchmarks", name or folder.resolve().name, Benchmark, arrays,
        sources=sources, options=options, notes=notes,
    )  # fmt: skip


def _check_options(transform: str, par: float, cutoff: float | None, repetition: str) -> None:
    if transform not in TRANSFORMS:
        raise UsageError(
            "unknown transform", found=repr(transform), expected=" or ".join(TRANSFORMS)
        )
    if repetition not in (*AGGREGATES, "each"):
        raise UsageError(
            "unknown way with repetitions", found=repr(repetition), expected="mean, median or each"
        )
    if not 1 <= par < 1e9:
        raise UsageError("PAR factor out of range", found=par, expected="1 or more")
    if cutoff is not None and not 0 < cutoff < float("inf"):
        raise UsageError("cutoff out of range", found=cutoff, expected="above 0")


def _rows(
    cost: Floats, runs: Runs, repetition: str, notes: Notes
) -> tuple[list[str], list[str] | None, Floats]:
    """Names, clusters and costs of the rows of the benchmark."""
    n, repetitions, algorithms = cost.shape
    if repetition == "each" and repetitions > 1:
        keep = runs.present.any(axis=2).reshape(-1)
        names = [each_name(i, r) for i in runs.instances for r in runs.repetitions]
        clusters = [i for i in runs.instances for _ in runs.repetitions]
        notes.say(f"repetitions: each a row ({int(keep.sum()):,} rows in {n:,} clusters)")
        rows = [name for name, here in zip(names, keep, strict=True) if here]
        return (
            rows,
            [c for c, here in zip(clusters, keep, strict=True) if here],
            cost.reshape(-1, algorithms)[keep],
        )
    if repetitions > 1:
        measured = ~np.isnan(cost)
        partly = int((measured.any(axis=1) & ~measured.all(axis=1)).sum())
        notes.say(f"repetitions: {repetition} of those measured ({partly:,} cells lack some)")
        return runs.instances, None, over_repetitions(cost, repetition, axis=1)
    return runs.instances, None, cost[:, 0]
