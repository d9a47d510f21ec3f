"""``auditkit audit``."""

from __future__ import annotations

from typing import Any

import click

from auditkit.cli.options import file_argument, resampling_options
from auditkit.cli.output import emit, progress, width

AUDITS = ("fidelity",)


def _names(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(name.strip() for name in value.split(","))
    unknown = [name for name in names if name not in AUDITS]
    if unknown:
        raise click.BadParameter(
            f"no audit is called {unknown[0]!r}; there are: {', '.join(AUDITS)}"
        )
    return names


@click.command()
@file_argument
@click.option(
    "--only", callback=_names, metavar="AUDIT,...", help=f"Only these audits: {', '.join(AUDITS)}."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Form of the result.",
)
@click.option(
    "--out", type=click.Path(), help="Write the result to this file instead of standard output."
)
@resampling_options
@click.option(
    "--pair",
    "pairs",
    type=(str, str),
    multiple=True,
    metavar="FIRST SECOND",
    help="fidelity: compare only this pair of pipelines (repeatable).",
)
@click.option(
    "--resampling",
    type=click.Choice(["percentile", "basic", "bca", "studentized"]),
    default="percentile",
    show_default=True,
    help="fidelity: kind of bootstrap interval.",
)
def audit(
    file: str,
    only: tuple[str, ...] | None,
    format_: str,
    out: str | None,
    pairs: tuple[tuple[str, str], ...],
    resampling: str,
    **common: Any,
) -> None:
    """Audit everything that FILE holds: does the conclusion survive?"""
    from auditkit import store
    from auditkit.audits.run import run_audits
    from auditkit.reports.render import render

    data = store.open(file)
    options = {"fidelity": {"pairs": pairs or None, "resampling": resampling}}
    with progress() as report:
        result = run_audits(data, only=only, options=options, progress=report, **common)
    emit(render(result, format_, width=width()), out)
