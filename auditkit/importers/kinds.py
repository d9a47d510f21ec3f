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
from auditkit.importers.mapping import nearest
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


def check_options(kind: str, options: Mapping[str, Any], where: str | None = None) -> None:
    """Refuse options that an importer does not have, or of another type: they may come from a stranger's file.

    Raises
    ------
    UsageError
        One is unknown or of the wrong type.
    """
    parameters = inspect.signature(KINDS[kind]).parameters
    known = options_of(kind)
    for option, value in options.items():
        if option not in known:
            expected = nearest(option, known) or f"an option of import {kind}"
            raise UsageError("unknown option", found=repr(option), expected=expected, where=where)
        wanted = str(parameters[option].annotation).split(" | ")
        if not any(_fits(value, one) for one in wanted):
            raise UsageError(
                "option of the wrong type",
                found=f"{option} = {value!r}",
                expected=" or ".join(_WORDS[one] for one in wanted if one in _WORDS),
                where=where,
            )


_WORDS = {
    "str": "a text",
    "float": "a number",
    "bool": "true or false",
    "Sequence[str]": "a list of texts",
    "Mapping[str, Sequence[str]]": "families with lists of algorithms",
}


def _fits(value: Any, annotation: str) -> bool:
    """Whether a value is of one of the types that the importers' options have."""
    if annotation == "Sequence[str]":
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    if annotation == "Mapping[str, Sequence[str]]":
        return isinstance(value, Mapping) and all(_fits(v, "Sequence[str]") for v in value.values())
    if annotation == "float":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"str": str, "bool": bool}.get(annotation, type(None)))


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
    check_options(kind, options)
    if kind in _SINGLE and len(sources) != 1:
        expected = "one folder" if kind == "aslib" else "one file"
        raise UsageError(
            f"several sources for import {kind}", found=len(sources), expected=expected
        )
    return KINDS[kind](sources[0] if kind in _SINGLE else list(sources), name=name, **options)
