"""Benchmarks from tables: algorithms on instances, long (a row a run) or wide (a column an algorithm)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from auditkit.errors import SourceError, UsageError, counted
from auditkit.importers.grids import Rows, check_cells, positions
from auditkit.importers.imported import Imported, Notes, finish
from auditkit.importers.mapping import Columns, families_of
from auditkit.importers.repetitions import AGGREGATES, each_name, over_repetitions
from auditkit.importers.sources import StrPath
from auditkit.importers.tables import read_tables
from auditkit.schema import Benchmark, Floats, Indices
from auditkit.statistics.utilities import TRANSFORMS, utilities


def import_benchmark(
    sources: StrPath | Sequence[StrPath],
    *,
    name: str | None = None,
    instance: str | None = None,
    algorithm: str | None = None,
    value: str | None = None,
    family: str | None = None,
    families: Mapping[str, Sequence[str]] | None = None,
    repetition: str | None = None,
    aggregate: str = "mean",
    higher_is_better: bool | None = None,
    transform: str | None = None,
    cluster: str | None = None,
    cost: str | None = None,
    penalty: str | None = None,
    metric: str | None = None,
    unit: str | None = None,
    separator: str | None = None,
) -> Imported:
    """Import a benchmark from tables.

    Parameters
    ----------
    sources
        CSV, TSV, JSON lines or Parquet.
    name
        Name of the benchmark; the first source's without its ending unless given.
    instance, algorithm, value
        Columns. A value such as ``acc_*`` takes one column per algorithm, whose name the star stands for, and no
        ``algorithm``.
    family, families
        A column with the family of each algorithm (long tables), or the algorithms of each family. With neither each
        algorithm is its own family.
    repetition
        A column that numbers repeated runs of a cell; without it two rows for a cell are an error.
    aggregate
        ``mean`` or ``median`` over repetitions, or ``each``: every repetition a row, in one cluster per instance.
    higher_is_better
        Orientation of the values; must be given.
    transform
        ``minmax``, ``rank`` or ``identity``; identity where higher is better, minmax else, unless given.
    cluster, cost, penalty
        Columns: cluster of an instance, raw cost of a run beside its utility, penalty utility of an instance.
    metric, unit
        What was measured (the column of the value unless given), and the unit of the cost.
    separator
        Of CSV cells.

    Returns
    -------
    Imported

    Raises
    ------
    SourceError
        A source is malformed, a column is missing, or two rows hold one cell.
    UsageError
        The orientation is not given, or an option is out of its range.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "acc.csv").write_text("dataset,acc_a,acc_b\\n007,0.5,0.75\\n")
    >>> imported = import_benchmark(
    ...     folder / "acc.csv", instance="dataset", value="acc_*", higher_is_better=True
    ... )
    >>> imported.member.instances, imported.member.algorithms, imported.member.utility
    (('007',), ('a', 'b'), array([[0.5 , 0.75]]))
    """
    options: dict[str, Any] = {
        "instance": instance, "algorithm": algorithm, "value": value, "family": family,
        "families": None if families is None else {k: list(v) for k, v in families.items()},
        "repetition": repetition, "aggregate": aggregate, "higher_is_better": higher_is_better,
        "transform": transform, "cluster": cluster, "cost": cost, "penalty": penalty, "metric": metric, "unit": unit,
        "separator": separator,
    }  # fmt: skip
    if higher_is_better is None:
        raise UsageError(
            "orientation of the values is unknown",
            expected="--higher-is-better or --lower-is-better",
        )
    if aggregate not in (*AGGREGATES, "each"):
        raise UsageError(
            "unknown way with repetitions", found=repr(aggregate), expected="mean, median or each"
        )
    transform = transform or ("identity" if higher_is_better else "minmax")
    if transform not in TRANSFORMS:
        raise UsageError(
            "unknown transform", found=repr(transform), expected=" or ".join(TRANSFORMS)
        )
    if family and families:
        raise UsageError(
            "families are given twice", expected="--family COLUMN or --families MAP.toml"
        )
    options["transform"] = transform
    tables = read_tables(sources, separator)
    notes = Notes()
    columns = Columns(tables, options, notes)
    rows = Rows(tables)

    instance = columns.need("instance", "instance", "instance_id", "instances")
    repetition = columns.find("repetition")
    cluster = columns.find("cluster", "cluster")
    penalty = columns.find("penalty", "penalty")
    value = columns.pattern("value", "value", "utility")
    if value is not None and "*" in value:
        grid = _wide(rows, columns, instance, value, repetition)
    else:
        algorithm = columns.need("algorithm", "algorithm")
        grid = _long(
            rows,
            columns,
            instance,
            algorithm,
            columns.need("value", "value", "utility"),
            repetition,
        )
    kind = "wide" if grid.algorithm_column is None else "long"
    algorithms = tuple(grid.algorithms)
    notes.say(
        f"{kind} table of {counted(len(rows), 'row')}: {counted(len(grid.instances), 'instance')} x "
        f"{counted(len(algorithms), 'algorithm')}"
        + (f" x {counted(len(grid.repetitions), 'repetition')}" if repetition else "")
    )

    values = notes.without_infinities(grid.values, "value")
    raw = (
        grid.spread(rows.numbers(_long_only(columns, grid, "cost")))
        if columns.find("cost")
        else None
    )
    row_names, clusters, values, raw = _repeated(grid, values, raw, aggregate, notes)
    if cluster is not None:
        of_instance = rows.constant(
            rows.texts(cluster), grid.row_instance, len(grid.instances), "", cluster
        )
        each = aggregate == "each" and clusters is not None
        clusters = (
            [of_instance[grid.instances[c]] for c in clusters] if each and clusters else of_instance
        )
    arrays: dict[str, Any] = {
        "instances": row_names,
        "algorithms": algorithms,
        "clusters": clusters,
    }
    arrays |= _oriented(values, raw, higher_is_better, transform, notes)
    if penalty is not None:
        if len(row_names) != len(grid.instances):
            raise UsageError(
                "a penalty of an instance with each repetition a row", expected="mean or median"
            )
        arrays["penalty"] = np.array(
            rows.constant(
                notes.without_infinities(rows.numbers(penalty), "penalty"),
                grid.row_instance,
                len(row_names),
                np.nan,
                penalty,
            )
        )
    notes.missing(values, "cells")
    if families is None and (family or kind == "long") and columns.find("family", "family"):
        families = _family_column(rows, _long_only(columns, grid, "family"), grid)
    arrays["families"], arrays["family_of"] = families_of(algorithms, families, notes)
    arrays |= {
        "metric": metric or value,
        "unit": (unit or value) if arrays.get("cost") is not None else None,
    }
    columns.say_unused()
    return finish(
        "benchmark", "benchmarks", name or tables[0].source.stem, Benchmark, arrays,
        sources=[table.source for table in tables], options=options, notes=notes,
    )  # fmt: skip


class _Grid:
    """Cells of (instance, repetition, algorithm) and the rows they come from."""

    def __init__(
        self,
        rows: Rows,
        instances: list[str],
        repetitions: list[str] | None,
        algorithm_column: str | None,
    ) -> None:
        self.rows = rows
        self.algorithm_column = algorithm_column
        self.instances, self.row_instance = positions(instances)
        self.repetitions, self.row_repetition = positions(repetitions or ["1"] * len(rows))
        self.algorithms: dict[str, int] = {}
        self.row_algorithm: Indices | None = None
        self.values: Floats

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.instances), len(self.repetitions), len(self.algorithms)

    def spread(self, values: Floats) -> Floats:
        """Values of the rows ([rows] or, wide, [rows, algorithms]) on the grid, NaN where there is no row."""
        check_cells(self.shape, self.rows.where(0))
        out = np.full(self.shape, np.nan)
        if self.row_algorithm is None:
            out[self.row_instance, self.row_repetition] = values
        else:
            out[self.row_instance, self.row_repetition, self.row_algorithm] = values
        return out


def _long(
    rows: Rows, columns: Columns, instance: str, algorithm: str, value: str, repetition: str | None
) -> _Grid:
    repeats = [rows.texts(repetition)] if repetition else []
    instances, algorithms = rows.texts(instance), rows.texts(algorithm)
    rows.refuse_repeated([instances, algorithms, *repeats], "a cell", instance)
    grid = _Grid(rows, instances, repeats[0] if repeats else None, algorithm)
    grid.algorithms, grid.row_algorithm = positions(algorithms)
    grid.values = grid.spread(rows.numbers(value))
    return grid


def _wide(rows: Rows, columns: Columns, instance: str, value: str, repetition: str | None) -> _Grid:
    found = columns.matching("value", value, but=columns.used)
    repeats = [rows.texts(repetition)] if repetition else []
    instances = rows.texts(instance)
    rows.refuse_repeated([instances, *repeats], "an instance", instance)
    grid = _Grid(rows, instances, repeats[0] if repeats else None, None)
    for table_columns in found:
        for name in table_columns:
            grid.algorithms.setdefault(name, len(grid.algorithms))
    grid.values = grid.spread(rows.wide(found, grid.algorithms, "numbers", np.nan))
    return grid


def _long_only(columns: Columns, grid: _Grid, option: str) -> str:
    if grid.algorithm_column is None:
        raise UsageError(
            f"--{option} with a wide table", expected="a long table (--algorithm COLUMN)"
        )
    return str(columns.options[option])


def _repeated(
    grid: _Grid, values: Floats, raw: Floats | None, how: str, notes: Notes
) -> tuple[list[str], list[str] | None, Floats, Floats | None]:
    """Rows, their clusters, and the arrays with repetitions averaged or as rows."""
    names = list(grid.instances)
    if len(grid.repetitions) == 1:
        return names, None, values[:, 0], None if raw is None else raw[:, 0]
    if how == "each":
        here = np.zeros(grid.shape[:2], dtype=bool)
        here[grid.row_instance, grid.row_repetition] = True
        kept = here.reshape(-1)
        pairs = [(name, text) for name in names for text in grid.repetitions]
        pairs = [pair for pair, keep in zip(pairs, kept, strict=True) if keep]
        notes.say(f"repetitions: each a row ({len(pairs):,} rows in {len(names):,} clusters)")
        flat = [None if a is None else a.reshape(-1, grid.shape[2])[kept] for a in (values, raw)]
        assert flat[0] is not None
        return [each_name(*pair) for pair in pairs], [name for name, _ in pairs], flat[0], flat[1]
    measured = ~np.isnan(values)
    partly = int((measured.any(axis=1) & ~measured.all(axis=1)).sum())
    notes.say(f"repetitions: {how} of those measured ({partly:,} cells lack some)")
    return (
        names,
        None,
        over_repetitions(values, how, axis=1),
        None if raw is None else over_repetitions(raw, how, axis=1),
    )


def _oriented(
    values: Floats, raw: Floats | None, higher: bool, transform: str, notes: Notes
) -> dict[str, Any]:
    """Utility and cost. A value that is higher the better is its own utility; a cost is kept beside its utility."""
    if higher:
        utility = values if transform == "identity" else utilities(-values, transform)
        notes.say(f"utility: {transform} of the value, higher is better")
        return {"utility": utility, "cost": raw, "transform": transform}
    if raw is not None:
        raise UsageError(
            "two costs",
            found="--cost beside --lower-is-better",
            expected="--cost only with --higher-is-better",
        )
    utility = utilities(values, transform)
    flat = int(np.isnan(utility).all(axis=1).sum())
    notes.say(
        f"cost: the value, lower is better; utility: its {transform}, "
        f"{counted(flat, 'instance')} without a range (all NaN)"
    )
    return {"utility": utility, "cost": values, "transform": transform}


def _family_column(rows: Rows, column: str, grid: _Grid) -> dict[str, list[str]]:
    assert grid.row_algorithm is not None
    of = rows.constant(
        rows.texts(column, empty=True), grid.row_algorithm, len(grid.algorithms), "", column
    )
    families: dict[str, list[str]] = {}
    for name, family in zip(grid.algorithms, of, strict=True):
        if family:
            families.setdefault(family, []).append(name)
    if not families:
        raise SourceError(
            "no family in the column",
            expected="a family for some algorithm",
            where=rows.where(0, column),
        )
    return families
