"""``auditkit import KIND``, ``auditkit verify`` and ``auditkit export``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from auditkit.cli.options import Finite
from auditkit.cli.output import spare_inputs

F = TypeVar("F", bound=Callable[..., Any])

_SHARED = (
    click.argument("paths", nargs=-1, type=click.Path(), metavar="SOURCE... OUT.h5"),
    click.option(
        "--name", help="Name of the member; the source's without its ending unless given."
    ),
    click.option(
        "--map",
        "map_path",
        type=click.Path(),
        metavar="MAPPING.toml",
        help="Take options from a mapping file; options given here win.",
    ),
    click.option(
        "--write-map",
        "write_map",
        type=click.Path(),
        metavar="MAPPING.toml",
        help="Save the options, those found by themselves among them.",
    ),
    click.option("--append", is_flag=True, help="Put the member beside those that OUT.h5 holds."),
)

_SEPARATOR = click.option("--separator", metavar="C", help="Between the cells of CSV, such as ';'.")
_METRIC = click.option("--metric", help="What was measured.")
_FAMILIES = click.option(
    "--families",
    type=click.Path(),
    metavar="MAP.toml",
    help='[families] with Family = ["algorithm", ...].',
)
_ORIENTATION = (
    click.option("--higher-is-better", is_flag=True, help="Of all values: higher is better."),
    click.option("--lower-is-better", is_flag=True, help="Of all values: lower is better."),
)
_DIRECTION = click.option(
    "--direction", metavar="C=VALUE:max,VALUE:min", help="Orientation by the value of a column."
)


def _column(option: str, text: str, **settings: Any) -> Callable[[F], F]:
    return click.option(f"--{option}", metavar="COLUMN", help=text, **settings)


def _options(*options: Any) -> Callable[[F], F]:
    """The options of one importer between the arguments and the options that all share."""

    def decorate(command: F) -> F:
        for option in reversed((*options, *_SHARED)):
            command = option(command)
        return command

    return decorate


@click.group("import")
def import_() -> None:
    """Make an audit file from what people release.

    The last path is the audit file to write; the ones before it are the sources. What was understood is printed and
    stored with the data.
    """


@import_.command("aslib")
@_options(
    click.option(
        "--transform",
        type=click.Choice(["minmax", "rank", "identity"]),
        help="Utilities from costs.  [default: minmax]",
    ),
    click.option(
        "--par", type=Finite(), help="A failed run costs this many cutoffs.  [default: 10]"
    ),
    click.option(
        "--cutoff", type=Finite(), help="Cutoff of a run; the description's unless given."
    ),
    click.option("--measure", help="Performance measure; the first unless given."),
    _FAMILIES,
    click.option(
        "--repetition",
        type=click.Choice(["mean", "median", "each"]),
        help="Repetitions averaged, or each a row.  [default: mean]",
    ),
)
def aslib(**given: Any) -> None:
    """An ASlib scenario: SOURCE is its folder."""
    _import("aslib", given)


@import_.command("benchmark")
@_options(
    _column("instance", "Name of the instance."),
    _column("algorithm", "Name of the algorithm (long tables)."),
    _column(
        "value",
        "What was measured; with a star, such as 'acc_*', a column per algorithm (wide tables).",
    ),
    _column("family", "Family of the algorithm (long tables)."),
    _FAMILIES,
    _column("repetition", "Number of the repetition."),
    click.option(
        "--aggregate",
        type=click.Choice(["mean", "median", "each"]),
        help="Repetitions averaged, or each a row.  [default: mean]",
    ),
    *_ORIENTATION,
    click.option(
        "--transform",
        type=click.Choice(["minmax", "rank", "identity"]),
        help="Utilities from values; identity where higher is better and minmax else, unless given.",
    ),
    _column("cluster", "Cluster of the instance."),
    _column("cost", "Raw cost of the run, beside a utility (long tables)."),
    _column("penalty", "Penalty utility of the instance."),
    _METRIC,
    click.option("--unit", help="Unit of the cost."),
    _SEPARATOR,
)
def benchmark(**given: Any) -> None:
    """Algorithms on instances, from long or wide tables (CSV, TSV, JSON lines, Parquet)."""
    _import("benchmark", given)


@import_.command("scoreboard")
@_options(
    _column(
        "dataset", "Id of the dataset (repeatable: several columns are joined by /).", multiple=True
    ),
    _column(
        "cluster", "Records of one cluster are not independent, such as the name of the dataset."
    ),
    _column("group", "Stratum of the dataset, such as its task type."),
    _column("system", "Name of the system (long tables)."),
    _column("score", "Score; with a star, such as 'scores.*', a column per system."),
    _column("seconds", "Realised seconds, likewise."),
    _column("budget", "Nominal budget in seconds."),
    _column("size", "Rows of the dataset."),
    _column("test-size", "Rows scored."),
    click.option(
        "--test-fraction",
        type=Finite(),
        metavar="SHARE",
        help="Share of the rows that is scored, instead of --test-size.",
    ),
    _column("candidates", "Candidates that the search scored, as --score."),
    _column("claimed-winner", "Winner as released."),
    _column("run", "Run id; the name of the source unless given, '' for none."),
    _DIRECTION,
    *_ORIENTATION,
    _column("status", "Status of the run; a score whose status is not ok is missing."),
    _column("info", "A score whose info holds a text is missing."),
    _METRIC,
    _SEPARATOR,
)
def scoreboard(**given: Any) -> None:
    """Systems on datasets with their budgets, from nested JSON lines, wide or long tables."""
    given["dataset"] = list(given["dataset"]) or None
    _import("scoreboard", given)


@import_.command("search")
@_options(
    _column("dataset", "Id of the dataset."),
    _column("order", "Orders the candidates of a dataset; the order of the rows without it."),
    _column("validation", "Validation score of the candidate."),
    _column("test", "Test score of the candidate."),
    _column("reported", "Test score as reported."),
    _column("refit", "Test score after refitting the choice."),
    _column("test-size", "Rows scored."),
    _column("group", "Stratum of the dataset."),
    _DIRECTION,
    *_ORIENTATION,
    _METRIC,
    _SEPARATOR,
)
def search(**given: Any) -> None:
    """Candidate traces of one search per dataset, from tables with one row a candidate."""
    _import("search", given)


@import_.command("samples")
@_options(
    _column("cost", "Array or column of the costs; with a star a column per sample (wide tables)."),
    _column("reference", "Array or column of the reference costs."),
    _column("label", "Array or column of the labels."),
    _column("instance", "Array or column of the names of the instances."),
    _SEPARATOR,
)
def samples(**given: Any) -> None:
    """Stored costs of repeated sampling: one npz, npy or table."""
    _import("samples", given)


@import_.command("losses")
@_options(
    _column("loss-a", "Loss of model A."),
    _column("loss-b", "Loss of model B."),
    _column("split", "estimation, calibration, test or fit."),
    _column(
        "covariates",
        "A covariate (repeatable), or several by a star; every other column of numbers unless given.",
        multiple=True,
    ),
    click.option("--model-a", help="Name of model A."),
    click.option("--model-b", help="Name of model B."),
    click.option("--loss", help="Name of the loss."),
    _SEPARATOR,
)
def losses(**given: Any) -> None:
    """Per-observation losses of two fitted models: one table."""
    given["covariates"] = list(given["covariates"]) or None
    _import("losses", given)


def _import(kind: str, given: dict[str, Any]) -> None:
    from auditkit.importers.kinds import run_import
    from auditkit.importers.mapping import read_families, read_mapping, write_mapping

    paths, name = given.pop("paths"), given.pop("name")
    map_path, write_map, append = given.pop("map_path"), given.pop("write_map"), given.pop("append")
    if "lower_is_better" in given:
        given["higher_is_better"] = _higher(given["higher_is_better"], given.pop("lower_is_better"))
    if len(paths) < 2:
        raise click.UsageError(
            "expected SOURCE... OUT.h5: at least one source, and the audit file to write"
        )
    *sources, out = paths
    options = {key: value for key, value in given.items() if value is not None}
    if options.get("families") is not None:
        options["families"] = read_families(options["families"])
    if map_path is not None:
        options = _over(read_mapping(map_path, kind), options)
    if write_map is not None:
        spare_inputs(write_map)
    imported = run_import(kind, sources, options, name=name)
    click.echo(imported.report(), err=True)
    imported.save(out, append=append)
    click.echo(f"wrote {out}", err=True)
    if write_map is not None:
        write_mapping(write_map, kind, imported.options)
        click.echo(f"wrote {write_map}", err=True)


def _higher(higher: bool, lower: bool) -> bool | None:
    """Two flags as one option: true, false, or None where neither is given."""
    if higher and lower:
        raise click.UsageError("expected one of --higher-is-better and --lower-is-better, not both")
    return higher if higher or lower else None


def _over(mapped: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The options of a mapping file under those given, which also replace an orientation of the other form."""
    for one, other in (("direction", "higher_is_better"), ("higher_is_better", "direction")):
        if one in given:
            mapped.pop(other, None)
    return {**mapped, **given}


@click.command()
@click.argument("file", type=click.Path())
@click.argument("sources", nargs=-1, required=True, type=click.Path(), metavar="SOURCE...")
@click.option(
    "--member",
    metavar="GROUP/NAME",
    help="The member, where FILE holds several that were imported.",
)
@click.pass_context
def verify(context: click.Context, file: str, sources: tuple[str, ...], member: str | None) -> None:
    """Compare FILE cell by cell with the SOURCEs it was imported from; exit code 1 where a cell differs."""
    from auditkit.importers.verify import verify as compare

    result = compare(file, sources, member=member)
    click.echo(result.report())
    context.exit(0 if result.equal else 1)


@click.command()
@click.argument("file", type=click.Path())
@click.argument("out", type=click.Path(), metavar="OUT.csv")
@click.option("--member", metavar="GROUP/NAME", help="The member, where FILE holds several.")
def export(file: str, out: str, member: str | None) -> None:
    """Write a member of FILE as CSV, with a mapping file beside it that imports it back."""
    from auditkit import store
    from auditkit.importers.export import export as write

    spare_inputs(out)
    table, mapping, left_out = write(store.open(file), out, member=member)
    for what in left_out:
        click.echo(f"not in the table: {what}", err=True)
    click.echo(f"wrote {table} and {mapping}", err=True)
