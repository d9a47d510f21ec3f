"""Which column means what: given, found by its name, or written down in a mapping file (TOML)."""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from auditkit.errors import SourceError, UsageError, counted
from auditkit.importers.imported import Notes, listed
from auditkit.importers.sources import StrPath, read_source
from auditkit.importers.table import Table
from auditkit.schema import Flags, Indices, Texts


class Columns:
    """Resolves options that name columns against the tables of an import, and remembers what it resolved."""

    def __init__(self, tables: Sequence[Table], options: dict[str, Any], notes: Notes) -> None:
        self.tables = tables
        self.options = options
        self.notes = notes
        self.used: set[str] = set()

    def find(self, option: str, *aliases: str) -> str | None:
        """The column an option names, else the first alias that every table has, else None."""
        given = self.options.get(option)
        if given is None:
            shared = [
                alias for alias in aliases if all(alias in table.columns for table in self.tables)
            ]
            given = next((alias for alias in shared if alias not in self.used), None)
            if given is not None:
                self.notes.inferred(option, given)
        elif given == "":
            return None
        if given is not None:
            self.require(option, given)
            self.options[option] = given
        return given

    def need(self, option: str, *aliases: str) -> str:
        """The column an option names, as ``find``; none is an error that lists the columns there are."""
        found = self.find(option, *aliases)
        if found is None:
            table = self.tables[0]
            raise SourceError(
                f"no column for {flag(option)}", found=f"columns {listed(table.columns)}{_hint(table)}",
                expected=f"{flag(option)} COLUMN" + (f", or a column named {' or '.join(aliases)}" if aliases else ""),
                where=table.source.where(1, 1),
            )  # fmt: skip
        return found

    def require(self, option: str, column: str) -> None:
        """A named column must be in every table."""
        for table in self.tables:
            if column not in table.columns:
                raise SourceError(
                    f"no column {column!r}, which {flag(option)} names",
                    found=f"columns {listed(table.columns)}{_hint(table)}", expected=nearest(column, table.columns),
                    where=table.source.where(1, 1),
                )  # fmt: skip
        self.used.add(column)

    def refuse_same(self, one: str, other: str) -> None:
        """Two options that stand for different things must not name one column.

        Raises
        ------
        UsageError
            They do.
        """
        if self.options[one] == self.options[other]:
            raise UsageError(
                f"{flag(one)} and {flag(other)} name one column",
                found=repr(self.options[one]),
                expected="two columns",
                where=self.tables[0].source.where(1, self.options[one]),
            )

    def matching(self, option: str, pattern: str, but: Iterable[str] = ()) -> list[dict[str, str]]:
        """For each table the columns that a pattern takes, by what its ``*`` stands for."""
        found = [
            expand(pattern, [c for c in table.columns if c not in but]) for table in self.tables
        ]
        for table, columns in zip(self.tables, found, strict=True):
            if not columns:
                raise SourceError(
                    f"no column matches {pattern!r}, which {flag(option)} names",
                    found=f"columns {listed(table.columns)}{_hint(table)}", expected="at least one",
                    where=table.source.where(1, 1),
                )  # fmt: skip
            self.used.update(columns.values())
        self.options[option] = pattern
        return found

    def pattern(self, option: str, *aliases: str) -> str | None:
        """A column or a pattern with ``*``: as given, else the first alias that every table has columns for."""
        given: str | None = self.options.get(option)
        if given is None:
            fits = (a for a in aliases if all(expand(a, table.columns) for table in self.tables))
            given = next(fits, None)
            if given is not None:
                self.notes.inferred(option, given)
                self.options[option] = given
        return given or None

    def say_unused(self) -> None:
        """Note the columns that nothing took, in order of appearance."""
        names = dict.fromkeys(name for table in self.tables for name in table.columns)
        unused = [name for name in names if name not in self.used]
        if unused:
            self.notes.say(f"columns not used: {listed(unused)}")


def expand(pattern: str, columns: Iterable[str]) -> dict[str, str]:
    """The columns that a pattern with one ``*`` takes, by what the star stands for; without one, the column itself."""
    head, star, tail = pattern.partition("*")
    if not star:
        return {pattern: pattern} if pattern in columns else {}
    if "*" in tail:
        raise UsageError(
            "two stars in a pattern",
            found=repr(pattern),
            expected="one *, for the name of the system",
        )
    fits = [
        c
        for c in columns
        if c.startswith(head) and c.endswith(tail) and len(c) > len(head) + len(tail)
    ]
    return {c[len(head) : len(c) - len(tail)]: c for c in fits}


def flag(option: str) -> str:
    """An option as the command line spells it."""
    return f"--{option.replace('_', '-')}"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """``did you mean ...`` for a name that is not there."""
    close = difflib.get_close_matches(name, list(names)[:5000], n=1, cutoff=0.5)
    return f"perhaps {close[0]!r}" if close else None


def _hint(table: Table) -> str:
    """A header of one cell that holds another separator was read with the wrong one."""
    if len(table.columns) == 1 and table.row == "line":
        for separator, spelled in ((";", "';'"), ("\t", "a tab"), ("|", "'|'"), (",", "','")):
            if separator in table.columns[0]:
                return f" (wrong delimiter? {spelled} separates the header: see --separator)"
    return ""


# ------------------------------------------------------------------------------------------------------ direction


def directions(columns: Columns, direction: str | None, higher_is_better: bool | None) -> Flags:
    """Whether higher is better, for each row of all tables.

    Parameters
    ----------
    columns
        The tables.
    direction
        ``COLUMN=VALUE:max,VALUE:min``: the value of a column decides.
    higher_is_better
        For all rows alike.

    Raises
    ------
    UsageError
        Neither or both are given, or ``direction`` cannot be read.
    SourceError
        A row holds a value that ``direction`` does not name.
    """
    if (direction is None) == (higher_is_better is None):
        raise UsageError(
            f"orientation of the scores is {'unknown' if direction is None else 'given twice'}",
            expected="one of --higher-is-better, --lower-is-better, --direction COLUMN=VALUE:max,VALUE:min",
        )
    if direction is None:
        return np.full(sum(map(len, columns.tables)), bool(higher_is_better))
    column, meaning = parse_direction(direction)
    columns.require("direction", column)
    out = []
    for table in columns.tables:
        for position, value in enumerate(table.texts(column, empty=True)):
            if value not in meaning:
                raise SourceError(
                    "unknown direction",
                    found=repr(value),
                    expected=" or ".join(meaning),
                    where=table.where(position, column),
                )
            out.append(meaning[value])
    return np.array(out, dtype=bool)


def parse_direction(text: str) -> tuple[str, dict[str, bool]]:
    """``task=classification:max,regression:min`` as the column and whether higher is better for each value."""
    column, equals, rest = text.partition("=")
    meaning: dict[str, bool] = {}
    for part in rest.split(","):
        value, colon, word = part.rpartition(":")
        if not colon or word.strip() not in {"max", "min"}:
            raise UsageError(
                "cannot read a direction",
                found=repr(text),
                expected="COLUMN=VALUE:max,VALUE:min",
                where="--direction",
            )
        meaning[value.strip()] = word.strip() == "max"
    if not (column and equals):
        raise UsageError(
            "cannot read a direction",
            found=repr(text),
            expected="COLUMN=VALUE:max,...",
            where="--direction",
        )
    return column, meaning


# ------------------------------------------------------------------------------------------------------- families


def families_of(
    algorithms: Texts, mapping: Mapping[str, Sequence[str]] | None, notes: Notes
) -> tuple[Texts, Indices]:
    """Families and the family of each algorithm, by a mapping; without one each algorithm is its own family.

    Raises
    ------
    SourceError
        The mapping names an algorithm that does not exist, or one twice.
    """
    if not mapping:
        notes.say(
            f"families: none given, each of {counted(len(algorithms), 'algorithm')} is its own"
        )
        return algorithms, np.arange(len(algorithms))
    index = {name: position for position, name in enumerate(algorithms)}
    family_of = np.full(len(algorithms), -1)
    for number, (family, members) in enumerate(mapping.items()):
        for name in members:
            where = f"families, {family!r}"
            if name not in index:
                raise SourceError(
                    "no such algorithm",
                    found=repr(name),
                    expected=nearest(name, algorithms),
                    where=where,
                )
            if family_of[index[name]] not in (-1, number):
                raise SourceError(
                    "an algorithm in two families",
                    found=repr(name),
                    expected="one family",
                    where=where,
                )
            family_of[index[name]] = number
    sizes = np.bincount(family_of[family_of >= 0], minlength=len(mapping))
    notes.say(
        "families: "
        + ", ".join(f"{family!r} ({n})" for family, n in zip(mapping, sizes, strict=True))
    )
    left = [name for name in algorithms if family_of[index[name]] < 0]
    if left:
        notes.warn(f"{counted(len(left), 'algorithm')} in no family: {listed(left)}")
    return tuple(mapping), family_of


def read_families(path: StrPath) -> dict[str, list[str]]:
    """The ``[families]`` table of a TOML file: ``Family = ["algorithm", ...]``.

    Raises
    ------
    SourceError
        It is no TOML, or the table is missing or holds something else.
    """
    return _checked_families(_toml(path).get("families"), str(path))


def _checked_families(families: Any, where: str) -> dict[str, list[str]]:
    fits = isinstance(families, dict) and all(
        isinstance(v, list) and all(isinstance(name, str) for name in v) for v in families.values()
    )
    if not fits or not families:
        raise SourceError(
            "no families",
            expected='a table [families] with Family = ["algorithm", ...]',
            where=where,
        )
    return dict(families)


# --------------------------------------------------------------------------------------------------- mapping files


def read_mapping(path: StrPath, kind: str) -> dict[str, Any]:
    """The options that a mapping file holds.

    Parameters
    ----------
    path
        A TOML file as ``write_mapping`` writes it: ``kind``, options by their names, ``[families]``.
    kind
        The import it is used for, such as ``"scoreboard"``.

    Raises
    ------
    SourceError
        It is no TOML, or is written for another kind.
    UsageError
        An option is unknown, or of the wrong type.
    """
    from auditkit.importers.kinds import check_options  # the importers use this module

    options = _toml(path)
    found = options.pop("kind", kind)
    if found != kind:
        raise SourceError(
            "a mapping for another kind of import",
            found=repr(found),
            expected=repr(kind),
            where=str(path),
        )
    check_options(kind, options, os.fspath(path))
    return options


def write_mapping(path: StrPath, kind: str, options: Mapping[str, Any]) -> None:
    """Save the options of an import, those found by themselves among them, as a mapping file."""
    from pathlib import Path

    from auditkit.store import atomic

    with atomic(path) as temporary:
        Path(temporary).write_text(mapping_text(kind, options), encoding="utf-8")


def mapping_text(kind: str, options: Mapping[str, Any]) -> str:
    """A mapping file: options one a line, then the families."""
    lines = [f"kind = {_toml_value(kind)}"]
    families = options.get("families")
    for option, value in options.items():
        if value is not None and option != "families":
            lines.append(f"{option} = {_toml_value(value)}")
    if families:
        lines += ["", "[families]"]
        lines += [
            f"{_toml_value(family)} = {_toml_value(members)}"
            for family, members in families.items()
        ]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    # a JSON text is a TOML text, but for the one control character that JSON leaves as it is
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(path: StrPath) -> dict[str, Any]:
    source = read_source(path)
    try:
        return tomllib.loads(source.text())
    except tomllib.TOMLDecodeError as error:
        raise SourceError("not TOML", found=str(error), where=source.where()) from None
    except RecursionError:
        raise SourceError("not TOML", found="nested too deep", where=source.where()) from None
