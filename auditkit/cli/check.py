"""``auditkit check``."""

from __future__ import annotations

from typing import Any

import click

from auditkit.cli.options import Finite, audit_options, file_argument, out_option
from auditkit.cli.output import emit, progress, width


@click.command()
@file_argument
@click.option(
    "--tolerance",
    type=Finite(0),
    default=1e-12,
    show_default=True,
    help="Largest residual of an identity, relative to the size of the scores where they exceed 1.",
)
@click.option(
    "--claims",
    type=click.Path(),
    metavar="CLAIMS.toml",
    help="Printed figures to hold against the recomputed ones; see auditkit claims.",
)
@click.option(
    "--strict", is_flag=True, help="Fail on warnings too, and where nothing could be checked."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "junit", "github"]),
    default="text",
    show_default=True,
    help="Form of the result.",
)
@out_option
@audit_options
@click.pass_context
def check(
    context: click.Context,
    /,
    file: str,
    tolerance: float,
    claims: str | None,
    strict: bool,
    format_: str,
    out: str | None,
    how: dict[str, Any],
) -> None:
    """Check every identity that must hold in FILE, and what was printed of it; exit with 1 when one is broken.

    A broken identity is an error. A conclusion that a reader should see (a reversal, an interval that certifies
    nothing) is a warning, and fails only with --strict. That every check was skipped is such a warning.
    """
    from auditkit import store
    from auditkit.audits.run import run_audits
    from auditkit.checks.run import check as judge
    from auditkit.claims.file import read_claims
    from auditkit.reports.checks import render_checks

    printed = read_claims(claims) if claims else ()
    data = store.open(file)
    with progress() as report:
        audit = run_audits(data, progress=report, **how)
    result = judge(audit, tolerance=tolerance, strict=strict, claims=printed, claims_file=claims)
    emit(render_checks(result, format_, width=width()), out)
    context.exit(0 if result.passed else 1)
