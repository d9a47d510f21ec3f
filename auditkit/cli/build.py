"""``auditkit build``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from auditkit.cli.options import Finite
from auditkit.cli.output import progress
from auditkit.errors import counted

if TYPE_CHECKING:
    from auditkit.statistics.bootstrap import Progress

F = TypeVar("F", bound=Callable[..., Any])

_EVERY = 30  # seconds between two lines of progress where standard error is no terminal


def _listed(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(","))


def _names(option: str, help_: str) -> Callable[[F], F]:
    return click.option(option, callback=_listed, metavar="NAME,...", help=help_)


@click.group()
def build() -> None:
    """Fit algorithm selectors and store what they predict, for the audit (needs scikit-learn)."""


@build.command("aslib")
@click.argument("scenario", type=click.Path())
@click.argument("out", type=click.Path(), metavar="OUT.h5")
@click.option(
    "--families", type=click.Path(), required=True, metavar="MAP.toml",
    help='[families] with Family = ["algorithm", ...].',
)  # fmt: skip
@click.option(
    "--seeds", type=int, default=5, show_default=True, help="Repetitions of the cross-validation."
)
@click.option("--folds", type=int, default=5, show_default=True, help="Outer test folds of each.")
@click.option(
    "--validation-folds",
    type=int,
    default=5,
    show_default=True,
    help="Folds inside each training set.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of every random part.")
@click.option(
    "--trees",
    type=int,
    default=100,
    show_default=True,
    help="Trees of a forest, and boosting rounds.",
)
@_names("--family-selectors", "Some of multiclass, pairwise, deployment, oracle.  [default: all]")
@_names("--inner-selectors", "Some of boosting, forest, single.  [default: all]")
@_names("--steps", "Feature steps whose features the selectors see.  [default: all]")
@click.option(
    "--jobs", type=int, help="Processes; the result does not depend on it.  [default: one a core]"
)
@click.option("--name", help="Name of the benchmark; the folder's unless given.")
@click.option(
    "--transform", type=click.Choice(["minmax", "rank", "identity"]), default="minmax", show_default=True,
    help="Utilities from costs.",
)  # fmt: skip
@click.option(
    "--par",
    type=Finite(),
    default=10,
    show_default=True,
    help="A failed run costs this many cutoffs.",
)
@click.option("--cutoff", type=Finite(), help="Cutoff of a run; the description's unless given.")
@click.option("--measure", help="Performance measure; the first unless given.")
@click.option(
    "--repetition", type=click.Choice(["mean", "median", "each"]), default="mean", show_default=True,
    help="Repetitions averaged, or each a row.",
)  # fmt: skip
def aslib(
    scenario: str,
    out: str,
    families: str,
    name: str | None,
    jobs: int | None,
    steps: tuple[str, ...] | None,
    transform: str,
    par: float,
    cutoff: float | None,
    measure: str | None,
    repetition: str,
    **settings: Any,
) -> None:
    """Fit selectors on the ASlib scenario in the folder SCENARIO and write an audit file with their choices.

    A build that was killed goes on from its finished steps when the same command runs again.
    """
    import os

    from auditkit.fit.build import build_pipelines
    from auditkit.fit.protocol import Protocol
    from auditkit.importers.aslib import import_aslib
    from auditkit.importers.mapping import read_families

    protocol = Protocol(**{key: value for key, value in settings.items() if value is not None})
    imported = import_aslib(
        scenario, name=name, families=read_families(families), transform=transform, par=par, cutoff=cutoff,
        measure=measure, repetition=repetition,
    )  # fmt: skip
    click.echo(imported.report(), err=True)
    try:
        with _progress() as report:
            built = build_pipelines(
                imported.member, protocol, steps=steps, jobs=(os.cpu_count() or 1) if jobs is None else jobs, out=out,
                name=imported.name, progress=report,
            )  # fmt: skip
    except KeyboardInterrupt:
        click.echo("the same command goes on from the finished steps", err=True)
        raise
    for note in built.notes:
        click.echo(f"  {note}", err=True)
    before = f", {built.n_resumed:,} of them by an earlier build" if built.n_resumed else ""
    click.echo(f"  {counted(built.n_steps, 'step')}{before}", err=True)
    click.echo(
        f"  {built.seconds:,.0f} s; scikit-learn {built.fit_seconds:,.0f} s, added up over the processes",
        err=True,
    )
    click.echo(f"wrote {out} (next: auditkit audit {out})", err=True)


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A bar with the remaining time in a terminal, now and then a line elsewhere."""
    with progress() as bar:
        yield bar or _lines()


def _lines() -> Progress:
    started = last = time.monotonic()

    def report(task: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY and done < total:
            last = now
            left = (now - started) / done * (total - done)
            click.echo(
                f"{task}: {done:,} of {counted(total, 'step')}, about {left / 60:.0f} min left",
                err=True,
            )
            sys.stderr.flush()

    return report
