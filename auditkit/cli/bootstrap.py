"""``auditkit bootstrap``."""

from __future__ import annotations

from typing import Any

import click

from auditkit.cli.options import Finite, file_argument, out_option, resampling_options
from auditkit.cli.output import emit, progress, width


@click.command()
@file_argument
@click.argument("dataset")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME",
    help="Only this column (repeatable, in this order); its number where it has no name.",
)
@click.option(
    "--clusters",
    metavar="DATASET",
    help="Labels of the clusters to resample instead of observations.",
)
@click.option(
    "--statistic",
    type=click.Choice(["mean", "difference", "ratio", "median", "quantile"]),
    default="mean",
    show_default=True,
    help="difference and ratio take the columns in pairs.",
)
@click.option(
    "--q",
    type=Finite(0, 1),
    default=None,
    help="Level of --statistic quantile.",
)
@click.option(
    "--method",
    type=click.Choice(["percentile", "basic", "bca", "studentized", "exact"]),
    default="percentile",
    show_default=True,
    help="Kind of interval; exact: percentile, with no Monte-Carlo error.",
)
@click.option(
    "--missing",
    type=click.Choice(["raise", "omit"]),
    default="raise",
    show_default=True,
    help="Refuse missing cells, or leave them out of the sums and counts.",
)
@resampling_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Form of the result.",
)
@out_option
def bootstrap(
    file: str, dataset: str, q: float | None, format_: str, out: str | None, **how: Any
) -> None:
    """Bootstrap intervals of the array DATASET in FILE, such as /benchmarks/NAME/utility."""
    import json

    from auditkit import store
    from auditkit.audits.bootstrap import bootstrap_array
    from auditkit.reports.sections.bootstrap import document
    from auditkit.reports.table import render_table

    if (how["statistic"] == "quantile") != (q is not None):
        raise click.UsageError("--q and --statistic quantile go together.")
    data = store.open(file)
    with progress() as report:
        result = bootstrap_array(data, dataset, q=0.5 if q is None else q, progress=report, **how)
    if format_ == "json":
        text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    else:
        text = render_table(document(result), width=width())
    emit(text, out)
