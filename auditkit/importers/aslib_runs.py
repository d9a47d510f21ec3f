"""The runs of an ASlib scenario (``algorithm_runs.arff``) as arrays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditkit.errors import SourceError, counted
from auditkit.importers.arff_file import ArffTable, read_arff
from auditkit.importers.grids import check_cells
from auditkit.importers.imported import Notes, listed
from auditkit.importers.scenario import Description
from auditkit.importers.sources import Source
from auditkit.schema import Flags, Floats, Indices


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


def read_runs(source: Source, about: Description, chosen: int, notes: Notes) -> Runs:
    """Read the runs of a scenario.

    Raises
    ------
    SourceError
        The file is malformed, lacks a column, or holds a run twice.
    """
    keys = ("instance_id", "repetition", "algorithm")
    table = read_arff(source, texts=(*keys, "runstatus"))
    measure = about.measures[chosen]
    for column in ("instance_id", "algorithm", measure):
        if column not in table.columns:
            raise SourceError(
                f"no column {column!r}", found=listed(table.columns), where=source.where(1, 1)
            )
    n = len(table)
    instances, row = _index(table, "instance_id")
    algorithms, column_of = _index(table, "algorithm")
    written = table.columns.get("repetition", ["1"] * n)
    number = {text: whole(text) for text in set(written)}
    repetitions = sorted(set(number.values()), key=_by_number)
    place = {text: repetitions.index(number[text]) for text in number}
    layer = np.fromiter(map(place.__getitem__, written), np.int64, n)
    shape = (len(instances), len(repetitions), len(algorithms))
    check_cells(shape, source.where())
    cell = np.ravel_multi_index((row, layer, column_of), shape)
    _refuse_duplicates(table, cell, shape)

    def spread(values: Any, empty: Any) -> Any:
        out = np.full(shape, empty)
        out.reshape(-1)[cell] = values
        return out

    stated = table.columns.get("runstatus", ["ok"] * n)
    word = {status: (status or "?").strip().lower() for status in set(stated)}
    statuses = [word[status] for status in stated]
    if "runstatus" not in table.columns:
        notes.warn("no column runstatus: every run is taken as ok")
    seen = ", ".join(f"{status} {k:,}" for status, k in Counter(statuses).most_common())
    notes.say(
        f"{len(instances):,} instances x {len(algorithms)} algorithms x {counted(len(repetitions), 'repetition')}, "
        f"{counted(n, 'run')} ({seen})"
    )
    runtime = None
    if about.kinds[chosen] != "runtime":
        other = [
            m
            for m, kind in zip(about.measures, about.kinds, strict=True)
            if kind == "runtime" and m in table.columns
        ]
        runtime = spread(floats(table, other[0]), np.nan) if other else None
    ok = np.fromiter((status == "ok" for status in statuses), bool, n)
    runs = Runs(
        instances, repetitions, algorithms, spread(floats(table, measure), np.nan), runtime,
        spread(ok, False), spread(np.ones(n, dtype=bool), False),
    )  # fmt: skip
    if table.quoted:
        notes.say(
            f"{counted(table.quoted, 'row')} with quoted names: the quotes are no part of the name"
        )
    _say_quirks(runs, about, notes)
    absent = int((~runs.present).sum())
    notes.say(f"missing runs: {absent:,}" + (" (stay NaN)" if absent else ""))
    _compare_algorithms(algorithms, about, notes)
    return runs


def _say_quirks(runs: Runs, about: Description, notes: Notes) -> None:
    """What a reader of the files would stumble over."""
    if len(about.measures) > 1:
        stated = zip(about.measures, about.kinds, about.maximize, strict=True)
        notes.say(
            "measures: "
            + ", ".join(
                f"{m} ({kind}, {'higher' if up else 'lower'} is better)" for m, kind, up in stated
            )
        )
    slashes = [name for name in runs.algorithms if "/" in name]
    if slashes:
        notes.say(
            f"{counted(len(slashes), 'algorithm name')} with a slash, kept as written: {listed(slashes)}"
        )
    if len(runs.repetitions) > 1:
        notes.say(f"repetitions in order of their numbers: {', '.join(runs.repetitions[:12])}")


def _index(table: ArffTable, column: str) -> tuple[list[str], Indices]:
    texts = table.columns[column]
    known = set(texts)
    if None in known:
        raise SourceError(
            "empty cell",
            expected="a name",
            where=f"{table.source.where()}, run {texts.index(None) + 1}, column {column!r}",
        )
    names = sorted(known)
    index = {name: position for position, name in enumerate(names)}
    return names, np.fromiter(map(index.__getitem__, texts), np.int64, len(texts))


def floats(table: ArffTable, column: str) -> Floats:
    values = table.columns[column]
    try:
        return np.array(values, dtype=np.float64)  # None, a ?, becomes NaN
    except ValueError:
        raise SourceError(
            "texts in a number column",
            expected="declared NUMERIC",
            where=f"{table.source.where()}, column {column!r}",
        ) from None


def whole(text: str | None) -> str:
    """A repetition as written, ``1.0`` and ``1`` alike; none is the first."""
    if text is None:
        return "1"
    return text[:-2] if text.endswith(".0") else text


def _by_number(text: str) -> tuple[int, str]:
    return (int(text), text) if text.isdecimal() and len(text) < 18 else (2**63, text)


def _refuse_duplicates(table: ArffTable, cell: Indices, shape: tuple[int, ...]) -> None:
    counts = (
        np.bincount(cell, minlength=0)
        if cell.max() < 2**26
        else np.unique(cell, return_counts=True)[1]
    )
    if counts.max() == 1:
        return
    order = np.argsort(cell, kind="stable")
    again = order[1:][cell[order][1:] == cell[order][:-1]]
    position = int(again.min())
    first = int(np.argmax(cell == cell[position]))
    run = [
        table.columns[key][position]
        for key in ("instance_id", "repetition", "algorithm")
        if key in table.columns
    ]
    raise SourceError(
        "a run occurs twice",
        found=f"{counted(len(again), 'duplicated run')}, first {', '.join(map(repr, run))}, as in run {first + 1}",
        expected="one run per instance, repetition and algorithm",
        where=table.source.where(line_of_row(table.source, position), "instance_id"),
    )  # fmt: skip


def line_of_row(source: Source, position: int) -> int:
    lines = source.text().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = next(i for i, line in enumerate(lines) if line.strip().lower().startswith("@data")) + 1
    rows = [
        i
        for i in range(start, len(lines))
        if lines[i].strip() and not lines[i].strip().startswith("%")
    ]
    return rows[position] + 1


def _compare_algorithms(algorithms: list[str], about: Description, notes: Notes) -> None:
    if not about.algorithms:
        return
    unlisted = sorted(set(algorithms) - set(about.algorithms))
    unrun = sorted(set(about.algorithms) - set(algorithms))
    if unlisted:
        notes.warn(
            f"{counted(len(unlisted), 'algorithm')} with runs but not in metainfo_algorithms: {listed(unlisted)}"
        )
    if unrun:
        notes.warn(
            f"{counted(len(unrun), 'algorithm')} in metainfo_algorithms without runs: {listed(unrun)}"
        )
