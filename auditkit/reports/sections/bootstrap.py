"""What a report says of the bootstrap of one array."""

from __future__ import annotations

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Document, Section, Table
from auditkit.results.bootstrap import ArrayBootstrap, ColumnInterval
from auditkit.results.common import Estimate, Skipped

_BRIEF = 50


def document(result: ArrayBootstrap) -> Document:
    """The report of one bootstrap, before any format."""
    settings = result.stamp.settings
    intervals = f"{numbers.level(settings['confidence'])} {result.method}"
    if result.method != "exact":
        intervals += f", {counted(settings['replicates'], 'replicate')}, seed {settings['seed']}"
    facts = (
        ("file", result.stamp.path or "arrays in memory"),
        ("sha256", result.stamp.sha256),
        ("intervals", intervals),
    )
    return Document("Bootstrap", facts, (section(result),), result.stamp.signature)


def section(result: ArrayBootstrap) -> Section:
    """One table with a row a statistic."""
    resampled = (
        counted(result.n_units, "observation")
        if result.clusters is None
        else f"{counted(result.n_units, 'cluster')} of {counted(result.n_observations, 'observation')}"
    )
    table = Table(
        result.dataset,
        ("column", "n", result.statistic, "low", "high"),
        tuple(_row(column) for column in result.columns),
        (False, True, True, True, True),
        note="n: observations measured.",
        brief=_BRIEF,
    )
    notes = tuple(
        f"{column.name}: not exact: {column.note}." for column in result.columns if column.note
    )
    if result.unused_clusters is not None:
        notes += (
            "The observations are clustered; to resample clusters: "
            f"--clusters {result.unused_clusters}",
        )
    return Section(
        f"bootstrap: {result.dataset}",
        f"The {result.statistic} by column; resampled: {resampled}.",
        (table,),
        skipped=tuple(text for column in result.columns if (text := _skipped(column))),
        notes=notes,
    )


def _row(column: ColumnInterval) -> tuple[str, ...]:
    head = (column.name, numbers.count(column.n_measured))
    if isinstance(column.value, Skipped):
        return (*head, *[numbers.MISSING] * 3)
    values = (column.value.estimate, column.value.low, column.value.high)
    return (*head, *(_digits(value) for value in values))


def _digits(value: float | Skipped) -> str:
    """Six digits, whatever the unit of the array."""
    return numbers.MISSING if isinstance(value, Skipped) else f"{value:#.6g}"


def _skipped(column: ColumnInterval) -> str:
    if isinstance(column.value, Skipped):
        return f"{column.name}: {column.value.reason}"
    if isinstance(column.value, Estimate) and isinstance(column.value.low, Skipped):
        return f"interval of {column.name}: {column.value.low.reason}"
    return ""
