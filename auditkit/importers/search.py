"""Search traces from long tables: one row a candidate, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from auditkit.errors import SourceError, counted
from auditkit.importers.grids import Rows, check_cells, positions
from auditkit.importers.imported import Imported, Notes, finish
from auditkit.importers.mapping import Columns, directions
from auditkit.importers.sources import StrPath
from auditkit.importers.tables import read_tables
from auditkit.schema import Floats, Indices, Search


def import_search(
    sources: StrPath | Sequence[StrPath],
    *,
    name: str | None = None,
    dataset: str | None = None,
    order: str | None = None,
    validation: str | None = None,
    test: str | None = None,
    reported: str | None = None,
    refit: str | None = None,
    test_size: str | None = None,
    group: str | None = None,
    direction: str | None = None,
    higher_is_better: bool | None = None,
    metric: str | None = None,
    separator: str | None = None,
) -> Imported:
    """Import the candidate traces of a search.

    Parameters
    ----------
    sources
        CSV, TSV, JSON lines or Parquet, one row a candidate.
    name
        Name of the search; the first source's without its ending unless given.
    dataset, validation, test
        Columns of the dataset's id and of the candidate's two scores.
    order
        Column that orders the candidates of a dataset; the order of the rows without it.
    reported, refit, test_size, group
        Columns of the dataset: test score as reported, test score after refitting the choice, rows scored, stratum.
    direction, higher_is_better
        Orientation: ``COLUMN=VALUE:max,VALUE:min``, or one for all.
    metric
        What the scores are.
    separator
        Of CSV cells.

    Returns
    -------
    Imported

    Raises
    ------
    SourceError
        A source is malformed, a column is missing, a direction is unknown, two candidates of a dataset have the same
        order, or two sources hold the same dataset.
    UsageError
        The orientation is not given.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "dataset,step,validation,test\\niris,2,0.8,0.7\\niris,1,0.9,0.6\\n"
    >>> _ = (folder / "traces.csv").write_text(text)
    >>> import_search(folder / "traces.csv", higher_is_better=True).member.test_score
    array([[0.6, 0.7]])
    """
    options: dict[str, Any] = {
        "dataset": dataset, "order": order, "validation": validation, "test": test, "reported": reported,
        "refit": refit, "test_size": test_size, "group": group, "direction": direction,
        "higher_is_better": higher_is_better, "metric": metric, "separator": separator,
    }  # fmt: skip
    tables = read_tables(sources, separator)
    notes = Notes()
    columns = Columns(tables, options, notes)
    rows = Rows(tables)
    dataset = columns.need("dataset", "dataset", "dataset_id", "datasets")
    validation = columns.need("validation", "validation", "validation_score")
    test = columns.need("test", "test", "test_score")
    columns.refuse_same("validation", "test")
    order = columns.find("order", "order", "step")
    names = rows.texts(dataset)
    datasets, index = positions(names)
    _refuse_shared(rows, names, dataset)
    step = _steps(rows, order, names, index)
    shape = (len(datasets), int(step.max()) + 1)
    check_cells(shape, rows.where(0))

    def spread(values: Floats, what: str) -> Floats:
        out = np.full(shape, np.nan)
        out[index, step] = notes.without_infinities(values, what)
        return out

    arrays: dict[str, Any] = {
        "datasets": tuple(datasets), "metric": metric,
        "validation_score": spread(rows.numbers(validation), "validation score"),
        "test_score": spread(rows.numbers(test), "test score"),
    }  # fmt: skip
    lengths = np.bincount(index)
    length = (
        f"{lengths.min():,}"
        if lengths.min() == lengths.max()
        else f"{lengths.min():,} to {lengths.max():,}"
    )
    notes.say(
        f"{counted(len(rows), 'row')}: {counted(shape[0], 'dataset')} with {length} candidates, in order of "
        + (repr(order) if order else "the rows")
    )
    higher = directions(columns, direction, higher_is_better)
    arrays["higher_is_better"] = np.array(
        rows.constant(higher, index, shape[0], None, "direction"), dtype=bool
    )
    up = int(arrays["higher_is_better"].sum())
    notes.say(f"orientation: higher is better on {up:,} datasets, lower on {shape[0] - up:,}")
    for which in ("validation", "test"):
        notes.missing(arrays[f"{which}_score"][index, step], f"{which} scores")
    for option, field, aliases, read, missing in (
        ("reported", "reported_score", ("reported", "reported_score"), "numbers", np.nan),
        ("refit", "refit_score", ("refit", "refit_score"), "numbers", np.nan),
        ("test_size", "test_size", ("test_size",), "counts", 0),
        ("group", "group", ("group",), "texts", ""),
    ):
        column = columns.find(option, *aliases)
        if column is None:
            continue
        if read == "texts":
            arrays[field] = rows.constant(
                rows.texts(column, empty=True), index, shape[0], missing, column
            )
        else:
            values = (
                rows.counts(column)
                if read == "counts"
                else notes.without_infinities(rows.numbers(column), field)
            )
            arrays[field] = np.array(
                rows.constant(values, index, shape[0], missing, column), dtype=values.dtype
            )
    columns.say_unused()
    return finish(
        "search", "searches", name or tables[0].source.stem, Search, arrays,
        sources=[table.source for table in tables], options=options, notes=notes,
    )  # fmt: skip


def _refuse_shared(rows: Rows, names: list[str], column: str) -> None:
    """One search of a dataset: a second source with it would be joined to the first trace."""
    owner: dict[str, int] = {}
    for number in range(len(rows.tables)):
        for position in range(int(rows.starts[number]), int(rows.starts[number + 1])):
            if owner.setdefault(names[position], number) != number:
                other = rows.tables[owner[names[position]]].source.name
                raise SourceError(
                    "a dataset in two sources",
                    found=f"{names[position]!r}, also in {other}",
                    expected="one trace per dataset",
                    where=rows.where(position, column),
                )


def _steps(rows: Rows, order: str | None, names: list[str], index: Indices) -> Indices:
    """The place of each row within the trace of its dataset, from 0."""
    if order is None:
        keys = np.arange(len(rows), dtype=np.float64)
    else:
        keys = rows.numbers(order)
        if np.isnan(keys).any():
            position = int(np.argmax(np.isnan(keys)))
            raise SourceError(
                "empty cell",
                expected="a number that orders the candidates",
                where=rows.where(position, order),
            )
        rows.refuse_repeated(
            [names, keys.tolist()],
            "one step of a search (dataset, order)",
            order,
        )
    sorted_rows = np.lexsort((keys, index))
    starts = np.concatenate([[0], np.cumsum(np.bincount(index))])
    step = np.empty(len(rows), dtype=np.int64)
    step[sorted_rows] = np.arange(len(rows)) - starts[index[sorted_rows]]
    return step
