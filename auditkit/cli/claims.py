"""``auditkit claims``."""

from __future__ import annotations

from typing import Any

import click

from auditkit.cli.options import audit_options, file_argument, out_option
from auditkit.cli.output import emit, progress


@click.command()
@file_argument
@out_option
@audit_options
def claims(file: str, out: str | None, how: dict[str, Any]) -> None:
    """Write a claims file of every number that the audit of FILE gives, ready to edit.

    Keep what a text prints, with the digits it prints, and let: auditkit check FILE --claims CLAIMS.toml
    """
    from auditkit import store
    from auditkit.audits.run import run_audits
    from auditkit.claims.file import claims_text

    data = store.open(file)
    with progress() as report:
        audit = run_audits(data, progress=report, **how)
    emit(claims_text(audit.to_dict()), out)
