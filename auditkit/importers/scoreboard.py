"""Scoreboards from tables: systems on datasets with their budgets; nested JSON lines, wide or long tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from auditkit.errors import UsageError, counted
from auditkit.importers.boards import Board, Long, Wide
from auditkit.importers.grids import Rows
from auditkit.importers.imported import Imported, Notes, finish, listed
from auditkit.importers.mapping import Columns, directions
from auditkit.importers.sources import StrPath
from auditkit.importers.tables import read_tables
from auditkit.schema import Floats, Scoreboard

_OK = frozenset(
    {
        "",
        "ok",
        "success",
        "successful",
        "succeeded",
        "done",
        "complete",
        "completed",
        "finished",
        "passed",
        "valid",
    }
)


def import_scoreboard(
    sources: StrPath | Sequence[StrPath],
    *,
    name: str | None = None,
    dataset: str | Sequence[str] | None = None,
    cluster: str | None = None,
    group: str | None = None,
    system: str | None = None,
    score: str | None = None,
    seconds: str | None = None,
    budget: str | None = None,
    size: str | None = None,
    test_size: str | None = None,
    test_fraction: float | None = None,
    candidates: str | None = None,
    claimed_winner: str | None = None,
    run: str | None = None,
    direction: str | None = None,
    higher_is_better: bool | None = None,
    status: str | None = None,
    info: str | None = None,
    metric: str | None = None,
    separator: str | None = None,
) -> Imported:
    """Import a scoreboard from tables.

    Parameters
    ----------
    sources
        CSV, TSV, JSON lines or Parquet; a key nested in JSON lines is the column ``outer.inner``.
    name
        Name of the scoreboard; the first source's without its ending unless given.
    dataset
        The column of the dataset's id; several, such as a task and a fold, are joined by ``/`` and the first is then
        the cluster unless one is given.
    cluster, group, budget, size, test_size, claimed_winner
        Columns of the dataset: what makes records dependent, stratum, nominal seconds, rows, rows scored, winner as
        released (an empty text where the source names none).
    score, seconds, candidates, status, info
        Columns of the run of a system. One with a star, such as ``scores.*``, takes a column per system, whose name the
        star stands for; without stars the table is long and ``system`` names the system.
    system
        Column of the system, in long tables.
    test_fraction
        Instead of ``test_size``: the share of the dataset's rows that is scored; rounded up.
    run
        Column of the run id; the name of the source unless given; an empty text for none.
    direction, higher_is_better
        Orientation: ``COLUMN=VALUE:max,VALUE:min``, or one for all.
    metric
        What the scores are.
    separator
        Of CSV cells.

    Returns
    -------
    Imported
        A score is missing (NaN) where it is empty or infinite, where the ``status`` is not ok, and where the ``info``
        column, if named, holds a text. The same dataset in two runs is a re-run and stays apart.

    Raises
    ------
    SourceError
        A source is malformed, a column is missing, a direction is unknown, or two rows hold one cell.
    UsageError
        The orientation is not given, or an option is out of its range.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "runs.jsonl").write_text('{"dataset": 7, "scores": {"a": 0.5, "b": null}}')
    >>> imported = import_scoreboard(folder / "runs.jsonl", higher_is_better=True)
    >>> imported.member.systems, imported.member.score
    (('a', 'b'), array([[0.5, nan]]))
    >>> print(imported.understood[1])
    wide table of 1 row: 1 record x 2 systems ('a', 'b')
    """
    options: dict[str, Any] = {
        "dataset": dataset if isinstance(dataset, str | None) else list(dataset), "cluster": cluster, "group": group,
        "system": system, "score": score, "seconds": seconds, "budget": budget, "size": size, "test_size": test_size,
        "test_fraction": test_fraction, "candidates": candidates, "claimed_winner": claimed_winner, "run": run,
        "direction": direction, "higher_is_better": higher_is_better, "status": status, "info": info, "metric": metric,
        "separator": separator,
    }  # fmt: skip
    if test_fraction is not None and not 0 < test_fraction < 1:
        raise UsageError(
            "test fraction out of range", found=test_fraction, expected="between 0 and 1"
        )
    if test_fraction is not None and test_size is not None:
        raise UsageError("test sizes are given twice", expected="--test-size or --test-fraction")
    tables = read_tables(sources, separator)
    notes = Notes()
    columns = Columns(tables, options, notes)
    rows = Rows(tables)
    ids, first = _dataset_ids(rows, columns)
    runs = _runs(rows, columns)
    score = columns.pattern("score", "score", "scores.*", "score.*")
    board: Wide | Long
    board = (
        Wide(rows, columns, ids, runs)
        if score is not None and "*" in score
        else Long(rows, columns, ids, runs)
    )
    n, systems = len(board.records), tuple(board.systems)
    notes.say(
        f"{board.kind} table of {counted(len(rows), 'row')}: {counted(n, 'record')} x "
        f"{counted(len(systems), 'system')} ({listed(systems)})"
    )

    arrays: dict[str, Any] = {
        "systems": systems,
        "datasets": [record[0] for record in board.records],
        "metric": metric,
    }
    scores = notes.without_infinities(board.cells("score", "numbers"), "score")
    arrays["score"] = _without_failed(scores, board, columns, notes)
    for option, aliases in (
        ("seconds", ("seconds", "times.*", "seconds.*")),
        ("candidates", ("candidates", "candidates.*")),
    ):
        if board.has(option, *aliases):
            values = board.cells(option, "numbers" if option == "seconds" else "counts")
            arrays[option] = (
                values
                if option == "candidates"
                else notes.without_infinities(values, "seconds value")
            )
    if "seconds" in arrays:
        notes.say(
            f"seconds: median {np.nanmedian(arrays['seconds']):g} s"
            if not np.isnan(arrays["seconds"]).all()
            else "seconds: none measured"
        )
    arrays |= _per_dataset(board, columns, first, test_fraction, notes)
    higher = directions(columns, direction, higher_is_better)
    arrays["higher_is_better"] = board.flags(higher)
    up = int(arrays["higher_is_better"].sum())
    notes.say(f"orientation: higher is better on {up:,} records, lower on {n - up:,}")
    notes.missing(arrays["score"], "scores")
    if runs is not None:
        arrays["run"] = [record[1] for record in board.records]
        _say_reruns(board.records, notes)
    columns.say_unused()
    return finish(
        "scoreboard", "scoreboards", name or tables[0].source.stem, Scoreboard, arrays,
        sources=[table.source for table in tables], options=options, notes=notes,
    )  # fmt: skip


def _dataset_ids(rows: Rows, columns: Columns) -> tuple[list[str], str | None]:
    """The id of each row, and the column that clusters them where the id is joined."""
    given = columns.options["dataset"]
    if isinstance(given, list) and len(given) > 1:
        for column in given:
            columns.require("dataset", column)
        return [
            "/".join(parts) for parts in zip(*(rows.texts(c) for c in given), strict=True)
        ], given[0]
    if isinstance(given, list):
        columns.options["dataset"] = given[0] if given else None
    return rows.texts(columns.need("dataset", "dataset", "dataset_id", "datasets")), None


def _runs(rows: Rows, columns: Columns) -> list[str] | None:
    """The run of each row: a column's, the source's name, or None."""
    if columns.options["run"] == "":
        return None
    column = columns.find("run", "run")
    if column is not None:
        return rows.texts(column)
    names = [table.source.name for table in rows.tables]
    if len(set(names)) < len(names):
        names = [str(table.source.path) for table in rows.tables]
    columns.notes.say(f"run: the name of the source ({counted(len(names), 'run')})")
    return [name for name, table in zip(names, rows.tables, strict=True) for _ in range(len(table))]


def _say_reruns(records: dict[tuple[str, str], int], notes: Notes) -> None:
    seen: dict[str, list[str]] = {}
    for dataset, run in records:
        seen.setdefault(dataset, []).append(run)
    again = {dataset: runs for dataset, runs in seen.items() if len(runs) > 1}
    notes.say(
        f"{counted(len(seen), 'dataset')} in {counted(len({run for _, run in records}), 'run')}"
    )
    if again:
        where = Counter(run for runs in again.values() for run in runs[1:])
        notes.warn(
            f"{counted(len(again), 'dataset')} re-run; the records stay apart ("
            + ", ".join(f"{n:,} again in {run!r}" for run, n in where.items()) + ")"
        )  # fmt: skip


# ---------------------------------------------------------------------------------------------------- failed cells


def _without_failed(scores: Floats, board: Wide | Long, columns: Columns, notes: Notes) -> Floats:
    """The scores without those of failed runs, counted by what their status or info says."""
    empty = np.isnan(scores)
    named = bool(columns.options.get("info"))
    if board.has("status", "status", "status.*") or _plain(board, columns, "status"):
        labels = board.cells("status", "labels")
        bad = np.vectorize(lambda text: text.lower() not in _OK, otypes=[bool])(labels)
        _say_failed(labels[bad], int((bad & ~empty).sum()), "status", notes)
        scores = np.where(bad, np.nan, scores)
    if board.has("info", "info", "info.*") or _plain(board, columns, "info"):
        labels = board.cells("info", "labels")
        text = labels != ""
        if named:
            _say_failed(labels[text], int((text & ~empty).sum()), "info", notes)
            scores = np.where(text, np.nan, scores)
        else:
            kept = int((text & ~empty).sum())
            _say_failed(labels[text & empty], 0, "info", notes)
            if kept:
                notes.warn(
                    f"{counted(kept, 'score')} kept although 'info' holds a text (--info info takes them as failed)"
                )
    return scores


def _plain(board: Wide | Long, columns: Columns, option: str) -> bool:
    """A status or info column without a star in a wide table goes for every system of the record."""
    return board.kind == "wide" and columns.find(option, option) is not None


def _say_failed(labels: Any, scored: int, column: str, notes: Notes) -> None:
    if len(labels):
        seen = ", ".join(
            f"{text[:60]!r} {n:,}" for text, n in Counter(labels.tolist()).most_common(4)
        )
        dropped = f"; {counted(scored, 'score')} there dropped" if scored else ""
        notes.warn(f"{counted(len(labels), 'cell')} failed by {column} ({seen}): missing{dropped}")


# ------------------------------------------------------------------------------------------------- dataset columns


def _per_dataset(
    board: Board, columns: Columns, first: str | None, fraction: float | None, notes: Notes
) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    for option, field, aliases, read, missing in (
        ("cluster", "clusters", ("cluster",), "texts", ""),
        ("group", "group", ("group",), "texts", ""),
        ("claimed_winner", "claimed_winner", ("claimed_winner",), "texts", ""),
        ("budget", "budget_seconds", ("budget", "budget_seconds"), "numbers", np.nan),
        ("size", "size", ("size",), "counts", 0),
        ("test_size", "test_size", ("test_size",), "counts", 0),
    ):
        if option == "test_size" and fraction is not None:
            continue
        column = columns.find(option, *aliases)
        if column is not None:
            values = board.constant(column, read, missing)
            arrays[field] = (
                values
                if read == "texts"
                else np.array(values, dtype=float if read == "numbers" else np.int64)
            )
    if first is not None and "clusters" not in arrays:
        arrays["clusters"] = board.constant(first, "texts", "")
    if "clusters" in arrays:
        notes.say(
            f"clusters: {len(set(arrays['clusters'])):,} of {counted(len(board.records), 'record')}"
        )
    if "group" in arrays:
        counts = Counter(arrays["group"])
        notes.say("groups: " + ", ".join(f"{group!r} {n:,}" for group, n in counts.most_common(8)))
    if "budget_seconds" in arrays:
        arrays["budget_seconds"] = notes.without_infinities(arrays["budget_seconds"], "budget")
        if not np.isnan(arrays["budget_seconds"]).all():
            notes.say(f"budget: median {np.nanmedian(arrays['budget_seconds']):g} s")
    if fraction is not None:
        if "size" not in arrays:
            raise UsageError("a test fraction without sizes", expected="--size COLUMN")
        share = Fraction(str(fraction))  # 15 * 0.2 is above 3 in binary
        arrays["test_size"] = np.array(
            [-(-share.numerator * int(n) // share.denominator) for n in arrays["size"]]
        )
        notes.say(f"test_size: {fraction:g} of the size, rounded up")
    return arrays
