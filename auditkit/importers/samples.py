"""Stored costs of repeated sampling, from ``.npz``, ``.npy`` or tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from auditkit.errors import SourceError, UsageError, counted
from auditkit.importers.arrays import floats, read_arrays, texts
from auditkit.importers.grids import Rows, check_cells, positions
from auditkit.importers.imported import Imported, Notes, finish, listed
from auditkit.importers.mapping import Columns, expand
from auditkit.importers.sources import Source, StrPath, read_source
from auditkit.importers.table import Table
from auditkit.importers.tables import read_tables
from auditkit.schema import Floats, Samples

_NAMES = {
    "cost": ("cost", "costs"), "reference": ("reference", "references"), "label": ("label", "labels"),
    "instance": ("instance", "instances"),
}  # fmt: skip


def import_samples(
    source: StrPath,
    *,
    name: str | None = None,
    cost: str | None = None,
    reference: str | None = None,
    label: str | None = None,
    instance: str | None = None,
    separator: str | None = None,
) -> Imported:
    """Import stored costs of repeated sampling.

    Parameters
    ----------
    source
        ``.npz`` with named arrays, ``.npy`` with the costs alone, or a table: wide (a row an instance, a column a
        sample, such as ``cost*``) or long (a row a sample, in the order drawn).
    name
        Name of the samples; the source's without its ending unless given.
    cost, reference, label, instance
        Arrays or columns; found by these names or their plurals unless given. The cost of a wide table has a star; all
        numbers that are not used otherwise are its samples unless it is given.
    separator
        Of CSV cells.

    Returns
    -------
    Imported
        Samples that are missing or infinite are dropped and the rest of the row closed up, both counted.

    Raises
    ------
    SourceError
        The source is malformed, or an array or column is missing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "costs.npy", [[3.0, 1.0], [5.0, 4.0]])
    >>> import_samples(folder / "costs.npy").member.cost.shape
    (2, 2)
    """
    options: dict[str, Any] = {
        "cost": cost, "reference": reference, "label": label, "instance": instance, "separator": separator,
    }  # fmt: skip
    notes = Notes()
    if isinstance(source, list | tuple):
        raise UsageError("several sources of samples", found=len(source), expected="one file")
    suffix = str(source).lower()
    if suffix.endswith((".npz", ".npy", ".npy.gz")):
        file = read_source(source)
        arrays = _from_arrays(file, options, notes)
    else:
        table = read_tables(source, separator)[0]
        file = table.source
        arrays = _from_table(table, options, notes)
    arrays["cost"] = _closed_up(notes.without_infinities(arrays["cost"], "sample"), notes)
    if arrays.get("reference") is not None:
        arrays["reference"] = notes.without_infinities(arrays["reference"], "reference")
        notes.missing(arrays["reference"], "references")
    n, depth = arrays["cost"].shape
    notes.say(f"{counted(n, 'instance')} x {counted(depth, 'sample')}; cost, lower is better")
    if arrays.get("label") is not None:
        notes.say(
            "labels: "
            + ", ".join(
                f"{text!r} {arrays['label'].count(text):,}"
                for text in dict.fromkeys(arrays["label"][:10_000])
            )
        )
    notes.missing(arrays["cost"], "samples")
    return finish(
        "samples",
        "samples",
        name or file.stem,
        Samples,
        arrays,
        sources=[file],
        options=options,
        notes=notes,
    )


def _from_arrays(source: Source, options: dict[str, Any], notes: Notes) -> dict[str, Any]:
    found = read_arrays(source)
    taken: dict[str, Any] = {}
    if source.suffix == ".npy":
        taken["cost"] = next(iter(found.values()))
    else:
        for option, aliases in _NAMES.items():
            given = options[option] or next((alias for alias in aliases if alias in found), None)
            if given is not None and given not in found:
                raise SourceError(f"no array {given!r}", found=listed(found), where=source.where())
            if given is not None:
                options[option] = given
                taken[option] = found.pop(given)
        if "cost" not in taken:
            raise SourceError(
                "no array of costs",
                found=listed(found),
                expected="'cost', or --cost NAME",
                where=source.where(),
            )
        if found:
            notes.say(f"arrays not used: {listed(found)}")
    where = f"{source.where()}, array {options['cost'] or 'cost'!r}"
    cost = floats(taken["cost"], 2, where)
    arrays: dict[str, Any] = {"cost": cost}
    if "reference" in taken:
        arrays["reference"] = floats(
            taken["reference"], 1, f"{source.where()}, array {options['reference']!r}"
        )
        if len(arrays["reference"]) == cost.shape[1] != cost.shape[0]:
            raise SourceError(
                "costs lie the other way round",
                found=f"shape {cost.shape}",
                expected=f"{cost.shape[1]} rows, one an instance",
                where=where,
            )
    if "label" in taken:
        arrays["label"] = texts(taken["label"], f"{source.where()}, array {options['label']!r}")
    if "instance" in taken:
        arrays["instances"] = texts(
            taken["instance"], f"{source.where()}, array {options['instance']!r}"
        )
    else:
        arrays["instances"] = [str(i) for i in range(cost.shape[0])]
        notes.say("instances: no names, numbered from 0")
    return arrays


def _from_table(table: Table, options: dict[str, Any], notes: Notes) -> dict[str, Any]:
    columns = Columns([table], options, notes)
    rows = Rows([table])
    instance = columns.find("instance", *_NAMES["instance"])
    reference = columns.find("reference", *_NAMES["reference"])
    label = columns.find("label", *_NAMES["label"])
    cost = columns.pattern("cost", *_NAMES["cost"])
    names = rows.texts(instance) if instance else None
    if cost is not None and "*" not in cost:
        if names is None:
            raise SourceError(
                "no column for --instance",
                found=listed(table.columns),
                expected="the instance of each sample",
                where=table.source.where(1, 1),
            )
        known, index = positions(names)
        values = _deep(rows.numbers(columns.need("cost")), index, rows)
    else:
        found = columns.matching(
            "cost",
            cost or ("cost*" if expand("cost*", table.columns) else "*"),
            but=columns.used,
        )
        if names is not None:
            rows.refuse_repeated([names], "an instance", instance or "")
        else:
            names = [str(i) for i in range(len(table))]
            notes.say("instances: no names, numbered from 0")
        known, index = positions(names)
        order = {name: position for position, name in enumerate(found[0])}
        values = rows.wide(found, order, "numbers", np.nan)
    arrays: dict[str, Any] = {"cost": values, "instances": list(known)}
    if reference:
        arrays["reference"] = np.array(
            rows.constant(rows.numbers(reference), index, len(known), np.nan, reference)
        )
    if label:
        arrays["label"] = rows.constant(rows.texts(label, empty=True), index, len(known), "", label)
    columns.say_unused()
    return arrays


def _deep(values: Floats, index: Any, rows: Rows) -> Floats:
    """A row an instance, its samples in the order of their rows."""
    lengths = np.bincount(index)
    check_cells((len(lengths), int(lengths.max())), rows.where(0))
    order = np.argsort(index, kind="stable")
    starts = np.concatenate([[0], np.cumsum(lengths)])
    out = np.full((len(lengths), int(lengths.max())), np.nan)
    out[index[order], np.arange(len(index)) - starts[index[order]]] = values[order]
    return out


def _closed_up(cost: Floats, notes: Notes) -> Floats:
    """Samples moved left over missing ones; the format has missing ones only on the right."""
    missing = np.isnan(cost)
    measured_later = np.logical_or.accumulate(~missing[:, ::-1], axis=1)[:, ::-1]
    holes = (missing & measured_later).sum(axis=1)
    if not holes.any():
        return cost
    notes.warn(
        f"{counted(int(holes.sum()), 'missing sample')} before measured ones in "
        f"{counted(int((holes > 0).sum()), 'instance')}: rows closed up"
    )
    order = np.argsort(missing, axis=1, kind="stable")
    return np.take_along_axis(cost, order, axis=1)
