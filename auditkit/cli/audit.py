"""``auditkit audit``."""

from __future__ import annotations

from typing import Any

import click

from auditkit.cli.options import audit_options, file_argument, out_option
from auditkit.cli.output import emit, progress, width


@click.command()
@file_argument
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json", "html", "markdown", "latex"]),
    default="table",
    show_default=True,
    help="Form of the result.",
)
@out_option
@audit_options
def audit(file: str, format_: str, out: str | None, how: dict[str, Any]) -> None:
    """Audit everything that FILE holds: does the conclusion survive?"""
    from auditkit import store
    from auditkit.audits.run import run_audits
    from auditkit.reports.render import render

    data = store.open(file)
    with progress() as report:
        result = run_audits(data, progress=report, **how)
    emit(render(result, format_, width=width()), out)
