"""Options that several commands share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Finite(click.FloatRange):
    """A number in a range; neither nan nor infinity."""

    name = "number"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> float:
        number = float(super().convert(value, parameter, context))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", parameter, context)
        return number


_RESAMPLING = (
    click.option(
        "--replicates",
        type=click.IntRange(1),
        default=10_000,
        show_default=True,
        help="Bootstrap replicates.",
    ),
    click.option(
        "--confidence",
        type=Finite(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="Confidence of the intervals.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**63 - 1),
        default=0,
        show_default=True,
        help="Seed of every random part.",
    ),
    click.option(
        "--threads",
        type=click.IntRange(1),
        default=None,
        help="Threads; the results do not depend on it.",
    ),
    click.option(
        "--resampler",
        type=click.Choice(["fast", "numpy"]),
        default="fast",
        show_default=True,
        help="numpy: the draws of default_rng(seed).integers, to reproduce a published interval.",
    ),
)


_COMMON = ("only", "replicates", "confidence", "seed", "threads", "resampler")


def resampling_options(command: F) -> F:
    """Add the options of the bootstrap to a command."""
    for option in reversed(_RESAMPLING):
        command = option(command)
    return command


AUDITS = ("fidelity", "selection", "allocation", "local")


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


_ONLY = click.option(
    "--only", callback=_names, metavar="AUDIT,...", help=f"Only these audits: {', '.join(AUDITS)}."
)

# An option named AUDIT__KEYWORD becomes the keyword argument KEYWORD of that audit.
_OWN = (
    click.option(
        "--pair",
        "fidelity__pairs",
        type=(str, str),
        multiple=True,
        metavar="FIRST SECOND",
        help="fidelity: compare only this pair of pipelines (repeatable).",
    ),
    click.option(
        "--resampling",
        "fidelity__resampling",
        type=click.Choice(["percentile", "basic", "bca", "studentized"]),
        default="percentile",
        show_default=True,
        help="fidelity: kind of bootstrap interval.",
    ),
    click.option(
        "--tie",
        "selection__tie",
        type=Finite(0),
        default=1e-6,
        show_default=True,
        help="selection: scores that differ by no more are equal.",
    ),
    click.option(
        "--candidates",
        "selection__candidates",
        type=click.IntRange(1),
        default=None,
        metavar="K",
        help="selection: candidates that each search scored, for the noise floor of scoreboards.",
    ),
    click.option(
        "--missing",
        "selection__missing",
        type=click.Choice(["loss", "drop", "error"]),
        default="loss",
        show_default=True,
        help="selection: a system without a score loses the dataset, drops it, or is an error.",
    ),
    click.option(
        "--alpha",
        "local__alpha",
        type=Finite(0, 0.5, min_open=True, max_open=True),
        multiple=True,
        help="local: bound on the false winner rate of each direction (repeatable).  [default: 0.1]",
    ),
    click.option(
        "--score",
        "local__score",
        type=click.Choice(["gap", "log_ratio", "standardized"]),
        help="local: what is compared; negative where A is better.  [default: gap]",
    ),
    click.option(
        "--neighbours",
        "local__neighbours",
        type=click.IntRange(1),
        help="local: nearest observations in a local mean.  [default: root of the estimation split]",
    ),
    click.option(
        "--radius",
        "local__radius",
        type=Finite(0, min_open=True),
        help="local: reach of a kernel instead, in standard deviations of the covariates.",
    ),
    click.option(
        "--kernel",
        "local__kernel",
        type=click.Choice(["box", "epanechnikov"]),
        help="local: weights within the radius.  [default: box]",
    ),
    click.option(
        "--map-control",
        "local__map_control",
        is_flag=True,
        default=None,
        help="local: Benjamini-Hochberg over the whole map too.",
    ),
    click.option(
        "--per-instance",
        "allocation__per_instance",
        type=click.IntRange(1),
        default=100,
        show_default=True,
        help="allocation: budget of samples per instance.",
    ),
    click.option(
        "--estimator",
        "allocation__estimator",
        type=click.Choice(["exact", "blocks", "replay"]),
        default="exact",
        show_default=True,
        help="allocation: estimator of the best-of-k curve behind the main figures.",
    ),
    click.option(
        "--repeat-splits",
        "allocation__repeat_splits",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        metavar="M",
        help="allocation: random halves that d_split is averaged over.",
    ),
    click.option(
        "--probe",
        "allocation__probe",
        type=click.IntRange(2),
        default=None,
        metavar="m",
        help="allocation: samples of the charged probe.  [default: a tenth of the budget]",
    ),
    click.option(
        "--cap",
        "allocation__cap",
        type=click.IntRange(1),
        default=None,
        help="allocation: most samples of one instance.  [default: half its depth]",
    ),
    click.option(
        "--label-ratio",
        "allocation__label_ratio",
        type=(str, float),
        multiple=True,
        metavar="LABEL RATIO",
        help="allocation: frozen budget ratio of a label (repeatable).  [default: decided on a half]",
    ),
    click.option(
        "--shallow",
        "allocation__allow_shallow",
        is_flag=True,
        help="allocation: override the depth guard, four times the budget per instance.",
    ),
    click.option(
        "--floor-sources",
        "allocation__floor_sources",
        type=click.IntRange(1),
        default=50,
        show_default=True,
        help="allocation: most source instances of the null floor.",
    ),
    click.option(
        "--floor-repetitions",
        "allocation__floor_repetitions",
        type=click.IntRange(1),
        default=200,
        show_default=True,
        help="allocation: null workloads of each source.",
    ),
)


def audit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what every command takes that runs audits: ``--only``, the bootstrap's options, and those of each audit.

    The command receives them as one keyword argument ``how``, ready for ``run_audits``.
    """

    @functools.wraps(command)
    def run(*arguments: Any, **given: Any) -> Any:
        options: dict[str, dict[str, Any]] = {name: {} for name in AUDITS}
        for key in [key for key in given if "__" in key]:
            audit, _, name = key.partition("__")
            value = given.pop(key)
            if value is not None and value != ():  # not given: the audit's own default
                options[audit][name] = value
        how = {name: given.pop(name) for name in _COMMON}
        return command(*arguments, how={**how, "options": options}, **given)

    for option in (*reversed(_OWN), *reversed(_RESAMPLING), _ONLY):
        run = option(run)
    return run


file_argument = click.argument("file", type=click.Path())

out_option = click.option(
    "--out", type=click.Path(), help="Write the result to this file instead of standard output."
)
