"""``auditkit demo``."""

from __future__ import annotations

import click

from auditkit.cli.output import emit, progress, width


@click.command()
@click.option(
    "--out",
    type=click.Path(),
    default=".",
    show_default=True,
    help="Folder for the demo's audit file.",
)
def demo(out: str) -> None:
    """Write a small audit file that holds every kind of member, and audit it."""
    from pathlib import Path

    from auditkit import store
    from auditkit.audits.run import run_audits
    from auditkit.demo import demo_data
    from auditkit.errors import UsageError
    from auditkit.reports.render import render

    path = Path(out) / "auditkit_demo.h5"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            "cannot write", found=error.strerror, expected="a folder", where=out
        ) from None
    store.write(path, demo_data())
    click.echo(f"wrote {path}", err=True)
    with progress() as report:
        result = run_audits(store.open(path), progress=report)
    emit(render(result, "table", width=width()), None)
    click.echo(f"next: auditkit check {path}", err=True)
