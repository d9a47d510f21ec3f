"""``auditkit schema``."""

from __future__ import annotations

import click

from auditkit.cli.output import emit


@click.command()
def schema() -> None:
    """Print the JSON Schema of the output of: auditkit audit --format json"""
    from auditkit.reports.render import json_schema

    emit(json_schema(), None)
