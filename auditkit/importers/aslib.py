"""ASlib scenarios: a folder with ``description.txt``, ``algorithm_runs.arff`` and, mostly, ``feature_values.arff``.

Format: Bischl et al., *ASlib: A Benchmark Library for Algorithm Selection*, Artificial Intelligence 237 (2016).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from auditkit.errors import SourceError, UsageError
from auditkit.importers.arff import ArffTable, read_arff
from auditkit.importers.imported import Imported, Notes, counted, finish, listed
from auditkit.importers.mapping import families_of
from auditkit.importers.repetitions import AGGREGATES, aggregate, each_name
from auditkit.importers.scenario import Description, read_description
from auditkit.importers.sources import Source, StrPath, read_source
from auditkit.schema import Benchmark, Flags, Floats, Indices
from auditkit.statistics.utilities import TRANSFORMS, penalised, utilities

_ABSURD = 1000  # a cutoff this many times above every stored value cannot have stopped any run


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a scenario as arrays over (instance, repetition, algorithm).

    Attributes
    ----------
    instances, repetitions, algorithms
        Names, sorted; repetitions by their number.
    value : float array [n, R, A]
        The measure as stored; NaN = no such run, or no value.
    runtime : float array [n, R, A] or None
        The first runtime measure where the measure is another.
    ok, present : bool array [n, R, A]
        Whether the status is ok, and whether there is such a run.
    """

    instances: list[str]
    repetitions: list[str]
    algorithms: list[str]
    value: Floats
    runtime: Floats | None
    ok: Flags
    present: Flags


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
    runs = _runs(source, about, chosen, notes)
    _compare_algorithms(runs.algorithms, about, notes)

    value = notes.without_infinities(runs.value, "value")
    attributes: dict[str, Any] = {"metric": about.measures[chosen], "transform": transform}
    if about.kinds[chosen] == "runtime":
        cost, attributes["cutoff"] = _runtime_cost(value, runs, about, cutoff, par, notes)
        attributes |= {"unit": "s", "par_factor": par if attributes["cutoff"] is not None else None}
    else:
        cost = _quality_cost(value, runs, about, chosen, notes)
        attributes["unit"] = f"negative {about.measures[chosen]}" if about.maximize[chosen] else about.measures[chosen]

    features = _features(folder, about, runs, repetition, notes)
    rows, clusters, cost = _rows(cost, runs, repetition, notes)
    utility = utilities(cost, transform)
    flat = int(np.isnan(utility).all(axis=1).sum())
    notes.say(f"utility: {transform} of the cost, higher is better; {counted(flat, 'instance')} without a range (all NaN)")
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
        raise UsageError("unknown transform", found=repr(transform), expected=" or ".join(TRANSFORMS))
    if repetition not in (*AGGREGATES, "each"):
        raise UsageError("unknown way with repetitions", found=repr(repetition), expected="mean, median or each")
    if not 1 <= par < 1e9:
        raise UsageError("PAR factor out of range", found=par, expected="1 or more")
    if cutoff is not None and not 0 < cutoff < float("inf"):
        raise UsageError("cutoff out of range", found=cutoff, expected="above 0")


# ------------------------------------------------------------------------------------------------------------ runs


def _runs(source: Source, about: Description, chosen: int, notes: Notes) -> Runs:
    keys = ("instance_id", "repetition", "algorithm")
    table = read_arff(source, texts=(*keys, "runstatus"))
    measure = about.measures[chosen]
    for column in ("instance_id", "algorithm", measure):
        if column not in table.columns:
            raise SourceError(f"no column {column!r}", found=listed(table.columns), where=source.where(1, 1))
    n = len(table)
    instances, row = _index(table, "instance_id")
    algorithms, column_of = _index(table, "algorithm")
    if "repetition" in table.columns:
        texts = [_whole(text) for text in table.columns["repetition"]]
        repetitions = sorted(set(texts), key=_by_number)
        index = {text: position for position, text in enumerate(repetitions)}
        layer = np.fromiter((index[text] for text in texts), np.int64, n)
    else:
        repetitions, layer = ["1"], np.zeros(n, dtype=np.int64)
    shape = (len(instances), len(repetitions), len(algorithms))
    if shape[0] * shape[1] * shape[2] > 64 * max(n, 2**20):
        raise SourceError("runs too sparse", found=f"{n:,} runs", expected=f"about {shape[0]} x {shape[1]} x {shape[2]}", where=source.where())
    cell = np.ravel_multi_index((row, layer, column_of), shape)
    _refuse_duplicates(table, cell, shape)

    def spread(values: Any, empty: Any) -> Any:
        out = np.full(shape, empty)
        out.reshape(-1)[cell] = values
        return out

    statuses = [(status or "?").strip().lower() for status in table.columns.get("runstatus", ["ok"] * n)]
    if "runstatus" not in table.columns:
        notes.warn("no column runstatus: every run is taken as ok")
    seen = ", ".join(f"{status} {k:,}" for status, k in Counter(statuses).most_common())
    notes.say(
        f"{len(instances):,} instances x {len(algorithms)} algorithms x {counted(len(repetitions), 'repetition')}, "
        f"{counted(n, 'run')} ({seen})"
    )
    runtime = None
    if about.kinds[chosen] != "runtime":
        other = [m for m, kind in zip(about.measures, about.kinds, strict=True) if kind == "runtime" and m in table.columns]
        runtime = spread(_floats(table, other[0]), np.nan) if other else None
    ok = np.fromiter((status == "ok" for status in statuses), bool, n)
    runs = Runs(
        instances, repetitions, algorithms, spread(_floats(table, measure), np.nan), runtime,
        spread(ok, False), spread(np.ones(n, dtype=bool), False),
    )  # fmt: skip
    absent = int((~runs.present).sum())
    notes.say(f"missing runs: {absent:,}" + (" (stay NaN)" if absent else ""))
    return runs


def _index(table: ArffTable, column: str) -> tuple[list[str], Indices]:
    texts = table.columns[column]
    known = set(texts)
    if None in known:
        raise SourceError("empty cell", expected="a name", where=f"{table.source.where()}, run {texts.index(None) + 1}, column {column!r}")
    names = sorted(known)
    index = {name: position for position, name in enumerate(names)}
    return names, np.fromiter((index[text] for text in texts), np.int64, len(texts))


def _floats(table: ArffTable, column: str) -> Floats:
    values = table.columns[column]
    try:
        return np.array(values, dtype=np.float64)  # None, a ?, becomes NaN
    except ValueError:
        raise SourceError("texts in a number column", expected="declared NUMERIC", where=f"{table.source.where()}, column {column!r}") from None


def _whole(text: str | None) -> str:
    """A repetition as written, ``1.0`` and ``1`` alike; none is the first."""
    if text is None:
        return "1"
    return text[:-2] if text.endswith(".0") else text


def _by_number(text: str) -> tuple[int, str]:
    return (int(text), text) if text.isdecimal() and len(text) < 18 else (2**63, text)


def _refuse_duplicates(table: ArffTable, cell: Indices, shape: tuple[int, ...]) -> None:
    counts = np.bincount(cell, minlength=0) if cell.max() < 2**26 else np.unique(cell, return_counts=True)[1]
    if counts.max() == 1:
        return
    order = np.argsort(cell, kind="stable")
    again = order[1:][cell[order][1:] == cell[order][:-1]]
    position = int(again.min())
    first = int(np.argmax(cell == cell[position]))
    run = [table.columns[key][position] for key in ("instance_id", "repetition", "algorithm") if key in table.columns]
    raise SourceError(
        "a run occurs twice", found=f"{counted(len(again), 'duplicated run')}, first {', '.join(map(repr, run))} (run {first + 1})",
        expected="one run per instance, repetition and algorithm",
        where=table.source.where(_line_of_row(table.source, position), "instance_id"),
    )  # fmt: skip


def _line_of_row(source: Source, position: int) -> int:
    lines = source.text().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = next(i for i, line in enumerate(lines) if line.strip().lower().startswith("@data")) + 1
    rows = [i for i in range(start, len(lines)) if lines[i].strip() and not lines[i].strip().startswith("%")]
    return rows[position] + 1


def _compare_algorithms(algorithms: list[str], about: Description, notes: Notes) -> None:
    if not about.algorithms:
        return
    unlisted = sorted(set(algorithms) - set(about.algorithms))
    unrun = sorted(set(about.algorithms) - set(algorithms))
    if unlisted:
        notes.warn(f"{counted(len(unlisted), 'algorithm')} with runs but not in metainfo_algorithms: {listed(unlisted)}")
    if unrun:
        notes.warn(f"{counted(len(unrun), 'algorithm')} in metainfo_algorithms without runs: {listed(unrun)}")


# ------------------------------------------------------------------------------------------------------------ cost


def _runtime_cost(
    value: Floats, runs: Runs, about: Description, given: float | None, par: float, notes: Notes
) -> tuple[Floats, float | None]:
    """Costs by PAR-k; failed runs are missing where there is no cutoff to penalise them with."""
    cutoff = given
    failed = runs.present & ~runs.ok
    if cutoff is None:
        cutoff = about.cutoff
        top = np.nanmax(value) if not np.isnan(value).all() else 0.0
        if cutoff is not None and cutoff > _ABSURD * top:
            notes.warn(f"the cutoff of {cutoff:g} is absurd (largest stored value {top:g}) and is not used; give --cutoff")
            cutoff = None
        elif cutoff is None:
            notes.warn(f"the description states no usable cutoff ({about.stated_cutoff!r}); give --cutoff")
    if cutoff is None:
        if failed.any():
            notes.warn(f"{counted(int(failed.sum()), 'failed run')} without a cutoff to penalise them: missing")
        return np.where(failed, np.nan, value), None
    _describe_stored(value[failed], cutoff, notes)
    cost, late = penalised(value, failed, cutoff, par)
    over = int((late & runs.ok).sum())
    at = int((runs.ok & (value == cutoff)).sum())
    notes.say(
        f"cost: runtime in s, lower is better; cutoff {cutoff:g} s; {counted(int(late.sum()), 'run')} at "
        f"{par:g} x {cutoff:g} = {par * cutoff:g} ({int(failed.sum()):,} not ok, {over:,} marked ok but above the cutoff)"
    )
    if at:
        notes.warn(f"{counted(at, 'run')} marked ok at exactly the cutoff: kept at {cutoff:g}")
    mixed = _mixed_cells(runs)
    if mixed:
        notes.warn(f"{counted(mixed, 'cell')} mix ok and failed repetitions")
    return cost, cutoff


def _describe_stored(stored: Floats, cutoff: float, notes: Notes) -> None:
    """What the file stores for failed runs: the rule replaces it, a reader should know it."""
    stored = stored[~np.isnan(stored)]
    if not stored.size:
        return
    factor = round(float(np.median(stored)) / cutoff)
    if factor >= 2 and np.mean(stored == factor * cutoff) > 0.5:
        same = int((stored == factor * cutoff).sum())
        notes.say(f"the file stores PAR{factor} already ({same:,} of {stored.size:,} failed runs); not penalised twice")
        stored = stored[stored != factor * cutoff]
    above, below = stored > cutoff, stored < cutoff
    for which, word in ((above, "above"), (below, "below")):
        if which.any():
            low, high = stored[which].min(), stored[which].max()
            notes.say(f"the file stores {counted(int(which.sum()), 'failed run')} {word} the cutoff ({low:g} to {high:g}): replaced")


def _quality_cost(value: Floats, runs: Runs, about: Description, chosen: int, notes: Notes) -> Floats:
    measure, maximize = about.measures[chosen], about.maximize[chosen]
    direction = "higher is better; the cost is its negative" if maximize else "lower is better"
    failed = int((runs.present & ~runs.ok).sum())
    kept = f"; {counted(failed, 'run')} not ok keep what is stored" if failed else ""
    notes.say(f"cost: {measure} ({about.kinds[chosen]}), {direction}; no penalty{kept}")
    cost = -value if maximize else value
    if runs.runtime is not None and about.cutoff is not None:
        flipped = _flipped(cost, runs, about.cutoff)
        if flipped:
            notes.warn(
                f"{counted(len(flipped), 'instance|')} may have their direction flipped (the solvers that finish early "
                f"carry the worst {measure}): {listed(flipped)}"
            )
    return cost


def _flipped(cost: Floats, runs: Runs, cutoff: float) -> list[str]:
    """Instances where every run that finished early is the worst of the ok runs, and a run that did not is better."""
    assert runs.runtime is not None
    ok = runs.ok & ~np.isnan(cost)
    early = ok & (runs.runtime < cutoff)
    axes = (1, 2)
    worst = np.where(ok, cost, -np.inf).max(axis=axes)
    best_early = np.where(early, cost, np.inf).min(axis=axes)
    best_late = np.where(ok & ~early, cost, np.inf).min(axis=axes)
    flipped = early.any(axis=axes) & (best_early == worst) & (best_late < worst)
    return [name for name, flag in zip(runs.instances, flipped, strict=True) if flag]


def _mixed_cells(runs: Runs) -> int:
    return int(((runs.ok & runs.present).any(axis=1) & (~runs.ok & runs.present).any(axis=1)).sum())


def _rows(cost: Floats, runs: Runs, repetition: str, notes: Notes) -> tuple[list[str], list[str] | None, Floats]:
    """Names, clusters and costs of the rows of the benchmark."""
    n, repetitions, algorithms = cost.shape
    if repetition == "each" and repetitions > 1:
        keep = runs.present.any(axis=2).reshape(-1)
        names = [each_name(i, r) for i in runs.instances for r in runs.repetitions]
        clusters = [i for i in runs.instances for _ in runs.repetitions]
        notes.say(f"repetitions: each a row ({int(keep.sum()):,} rows in {n:,} clusters)")
        rows = [name for name, here in zip(names, keep, strict=True) if here]
        return rows, [c for c, here in zip(clusters, keep, strict=True) if here], cost.reshape(-1, algorithms)[keep]
    if repetitions > 1:
        measured = ~np.isnan(cost)
        partly = int((measured.any(axis=1) & ~measured.all(axis=1)).sum())
        notes.say(f"repetitions: {repetition} of those measured ({partly:,} cells lack some)")
        return runs.instances, None, aggregate(cost, repetition, axis=1)
    return runs.instances, None, cost[:, 0]


# -------------------------------------------------------------------------------------------------------- features


@dataclass(frozen=True, slots=True)
class _Features:
    source: Source
    arrays: dict[str, Any]


def _features(folder: Path, about: Description, runs: Runs, repetition: str, notes: Notes) -> _Features | None:
    """The features beside the runs, for whoever fits selectors; None where the scenario has no ``feature_values.arff``."""
    path = folder / "feature_values.arff"
    if not path.is_file():
        notes.warn("no feature_values.arff: no features (build needs them)")
        return None
    table = read_arff(read_source(path), texts=("instance_id", "repetition"))
    if "instance_id" not in table.columns:
        raise SourceError("no column 'instance_id'", found=listed(table.columns), where=table.source.where(1, 1))
    names = [column for column in table.columns if column not in {"instance_id", "repetition"}]
    if not names:
        return None
    index = {name: position for position, name in enumerate(runs.instances)}
    layers = {text: position for position, text in enumerate(runs.repetitions)}
    texts = table.columns.get("repetition", ["1"] * len(table))
    rows, keep, seen = [], [], set()
    unknown: set[str] = set()
    for position, (instance, text) in enumerate(zip(table.columns["instance_id"], texts, strict=True)):
        key = (index.get(instance, -1), layers.setdefault(_whole(text), len(layers)))
        if key[0] < 0:
            unknown.add(str(instance))
            continue
        if key in seen:
            line = _line_of_row(table.source, position)
            raise SourceError("features occur twice", found=f"{instance!r}, repetition {text}", where=table.source.where(line, "instance_id"))
        seen.add(key)
        rows.append(key)
        keep.append(position)
    if unknown:
        notes.warn(f"features of {counted(len(unknown), 'instance|')} without runs dropped: {listed(sorted(unknown))}")
    values = np.array([_floats(table, name) for name in names]).T[keep]
    cube = np.full((len(index), len(layers), len(names)), np.nan)
    if rows:
        cube[tuple(np.array(rows).T)] = notes.without_infinities(values, "feature value")
    if repetition == "each" and len(runs.repetitions) > 1:
        kept = runs.present.any(axis=2).reshape(-1)
        features = cube[:, : len(runs.repetitions)].reshape(-1, len(names))[kept]
    else:
        features = aggregate(cube, "mean" if repetition == "each" else repetition, axis=1)
    lacking = int(np.isnan(features).all(axis=1).sum())
    missing = int(np.isnan(features).sum())
    notes.say(f"features: {len(names)} kept, {missing:,} cells missing ({counted(lacking, 'instance|')} without any)")
    steps = [about.steps.get(name, "") for name in names]
    if "" in steps:
        notes.warn(f"{counted(steps.count(''), 'feature|')} that no feature step provides")
    return _Features(table.source, {"features": features, "feature_names": names, "feature_steps": steps})
