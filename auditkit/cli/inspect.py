"""``auditkit inspect``."""

from __future__ import annotations

import click

from auditkit.cli.options import file_argument
from auditkit.cli.output import emit, width


@click.command()
@file_argument
def inspect(file: str) -> None:
    """Show what FILE holds and which audits it can feed."""
    from auditkit import store
    from auditkit.reports.contents import contents
    from auditkit.reports.table import render_table

    emit(render_table(contents(store.open(file)), width=width()), None)
