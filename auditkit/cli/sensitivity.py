"""``auditkit sensitivity``."""

from __future__ import annotations

from typing import Any

import click

from auditkit.cli.options import Finite, file_argument, out_option, resampling_options
from auditkit.cli.output import emit, progress, width


@click.command()
@file_argument
@click.option(
    "--format", "format_", type=click.Choice(["table", "json", "html", "markdown", "latex"]), default="table",
    show_default=True, help="Form of the result.",
)  # fmt: skip
@out_option
@click.option(
    "--against", metavar="PIPELINE",
    help="The flat pipeline that advantages are over.  [default: the best deployed one]",
)  # fmt: skip
@click.option(
    "--cutoff", "shorter_cutoffs", type=Finite(0, min_open=True), multiple=True, metavar="T",
    help="A shorter cutoff (repeatable).  [default: half and a tenth of the stored one]",
)  # fmt: skip
@click.option(
    "--n-families", type=click.IntRange(1), metavar="K",
    help="Families of the k-means and random mappings.  [default: as many as given]",
)  # fmt: skip
@click.option(
    "--random-mappings", type=click.IntRange(0), default=5, show_default=True,
    help="How many random balanced mappings.",
)  # fmt: skip
@resampling_options
def sensitivity(
    file: str, format_: str, out: str | None, shorter_cutoffs: tuple[float, ...], **how: Any
) -> None:
    """Show how far the verdict on each pipeline of FILE depends on choices that need no refit.

    Another transform of the costs, a shorter cutoff, another family mapping, another inner selector.
    """
    from auditkit import store
    from auditkit.audits.sensitivity import audit_sensitivity
    from auditkit.reports.render import render
    from auditkit.results.audit import Audit

    data = store.open(file)
    with progress() as report:
        result = audit_sensitivity(
            data, shorter_cutoffs=shorter_cutoffs or None, progress=report, **how
        )
    emit(render(Audit(result.stamp, {"sensitivity": result}), format_, width=width()), out)
