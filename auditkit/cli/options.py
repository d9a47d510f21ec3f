"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

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
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
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


def resampling_options(command: F) -> F:
    """Add the options of the bootstrap to a command."""
    for option in reversed(_RESAMPLING):
        command = option(command)
    return command


file_argument = click.argument("file", type=click.Path())
