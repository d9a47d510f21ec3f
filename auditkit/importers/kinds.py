"""The importers by the name of their kind, and the options each has."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from auditkit.errors import UsageError
from auditkit.importers.aslib import import_aslib
from auditkit.importers.benchmark import import_benchmark
from auditkit.importers.imported import Imported
from auditkit.importers.losses import import_losses
from auditkit.importers.samples import import_samples
from auditkit.importers.scoreboard import import_scoreboard
from auditkit.importers.search import import_search
from auditkit.importers.sources import StrPath

KINDS: dict[str, Callable[..., Imported]] = {
    "aslib": import_aslib,
    "benchmark": import_benchmark,
    "scoreboard": import_scoreboard,
    "search": import_search,
    "samples": import_samples,
    "losses": import_losses,
}

_SINGLE = frozenset({"aslib", "samples", "losses"})


def options_of(kind: str) -> tuple[str, ...]:
    """The options of an importer, without the name of the member, which is no part of what is read."""
    parameters = inspect.signature(KINDS[kind]).parameters.values()
    return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "name")


def run_import(
    kind: str, sources: Sequence[StrPath], options: Mapping[str, Any], *, name: str | None = None
) -> Imported:
    """Run the importer of a kind.

    Raises
    ------
    UsageError
        The kind or an option is unknown, or the kind takes one source and several are given.
    """
    if kind not in KINDS:
        raise UsageError("unknown kind of import", found=repr(kind), expected=" or ".join(KINDS))
    unknown = sorted(options.keys() - set(options_of(kind)))
    if unknown:
        raise UsageError(
            "unknown option", found=repr(unknown[0]), expected=f"an option of import {kind}"
        )
    if kind in _SINGLE and len(sources) != 1:
        expected = "one folder" if kind == "aslib" else "one file"
        raise UsageError(
            f"several sources for import {kind}", found=len(sources), expected=expected
        )
    return KINDS[kind](sources[0] if kind in _SINGLE else list(sources), name=name, **options)
