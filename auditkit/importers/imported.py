"""What an import understood, and where it came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from auditkit.errors import SchemaError, SourceError, UsageError, counted, printable
from auditkit.importers.sources import Source, StrPath
from auditkit.schema import MEMBERS, AuditData, Floats, Member
from auditkit.version import __version__

_LISTED = 8
_HDF5 = b"\x89HDF\r\n\x1a\n"
_PROVENANCE = 48_000  # bytes; an HDF5 attribute ends at 64 kB

Options = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an importer returns.

    Attributes
    ----------
    data
        One member, ready for an audit or for ``write``.
    kind, name
        The importer, and the name of the member.
    options
        Every option in force, those found by themselves among them: what ``--write-map`` saves.
    understood
        What was understood, one line each.
    warnings
        What a reader should look at before trusting the numbers.
    """

    data: AuditData
    kind: str
    name: str
    options: Mapping[str, Any]
    understood: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def member(self) -> Any:
        """The member itself."""
        return next(self.data.members())[2]

    def save(self, path: StrPath, *, append: bool = False) -> None:
        """Write an audit file with this member, or put it beside those of an existing one.

        Raises
        ------
        UsageError
            ``path`` exists and is no audit file (a source given last by mistake), or has a member of this name.
        """
        from auditkit import store

        target = Path(path)
        held = target.read_bytes()[:8] if target.is_file() else None
        if held is not None and held != _HDF5:
            raise UsageError(
                "exists and is no audit file",
                expected="a new file, or one to replace",
                where=str(path),
            )
        data = self.data
        if append and held is not None:
            data = _beside(store.open(path), self.data)
        store.write(path, data)

    def report(self) -> str:
        """Everything understood, then the warnings, one line each."""
        lines = [f"{self.kind} {self.name!r}", *(f"  {line}" for line in self.understood)]
        return "\n".join(
            printable(line, 600)
            for line in (*lines, *(f"  warning: {line}" for line in self.warnings))
        )


@dataclass(slots=True)
class Notes:
    """Collects what an importer understands on its way."""

    understood: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        """Something understood."""
        self.understood.append(line)

    def warn(self, line: str) -> None:
        """Something to look at."""
        self.warnings.append(line)

    def inferred(self, option: str, column: str) -> None:
        """An option found by the name of a column."""
        self.found.append(f"{option} = {column!r}")

    def without_infinities(self, values: Floats, what: str) -> Floats:
        """The values with infinities as missing, said and counted."""
        infinite = np.isinf(values)
        if infinite.any():
            self.warn(f"{counted(int(infinite.sum()), f'infinite {what}')} taken as missing")
            values = np.where(infinite, np.nan, values)
        return values

    def missing(self, values: Floats, what: str) -> None:
        """How many cells of an array are missing."""
        empty = int(np.isnan(values).sum())
        share = f" ({_percent(empty, values.size)} %)" if empty else ""
        self.say(f"missing {what}: {empty:,} of {values.size:,}{share}")


def _percent(part: int, whole: int) -> str:
    """A share in percent; 100 only where it is the whole."""
    return "100" if part == whole else f"{min(100 * part / whole, 99.9):.3g}"


def _beside(old: AuditData, new: AuditData) -> AuditData:
    """All members of an audit file and a new one."""
    members = {group: dict(getattr(old, group)) for group in MEMBERS}
    for group, name, member in new.members():
        if name in members[group]:
            raise UsageError(
                "a member of this name exists",
                found=f"{group}/{name}",
                expected="another --name",
                where=old.path,
            )
        members[group][name] = member
    return AuditData(**members)  # type: ignore[arg-type]


def listed(names: Iterable[str]) -> str:
    """A few names, and how many more there are."""
    every = list(names)
    shown = ", ".join(repr(name) for name in every[:_LISTED])
    return shown if len(every) <= _LISTED else f"{shown} and {len(every) - _LISTED:,} more"


def provenance(kind: str, sources: Iterable[Source], options: Mapping[str, Any]) -> str:
    """What a member was made from, as the JSON text stored in its attribute ``provenance``.

    Sources too many to list are given by one digest over all; a long family mapping is left out, and both are said.
    """
    files = [{"name": source.name, "sha256": source.sha256} for source in sources]
    record: dict[str, Any] = {
        "auditkit_version": __version__, "import": kind, "sources": files,
        "options": {key: value for key, value in options.items() if value is not None},
    }  # fmt: skip
    text = json.dumps(record, ensure_ascii=False)
    if len(text.encode()) > _PROVENANCE:
        digest = hashlib.sha256("".join(file["sha256"] for file in files).encode()).hexdigest()
        record["sources"] = {"count": len(files), "sha256_of_sha256s": digest}
        text = json.dumps(record, ensure_ascii=False)
    if len(text.encode()) > _PROVENANCE:
        record["left_out"] = sorted(
            k for k, v in record["options"].items() if len(json.dumps(v)) > 1000
        )
        record["options"] = {
            k: v for k, v in record["options"].items() if k not in record["left_out"]
        }
        text = json.dumps(record, ensure_ascii=False)
    return text


def finish(
    kind: str, group: str, name: str, member: type[Member], arrays: Mapping[str, Any], *,
    sources: list[Source], options: Mapping[str, Any], notes: Notes,
) -> Imported:  # fmt: skip
    """Build the member, with its provenance, and wrap it up.

    Raises
    ------
    SourceError
        The sources hold what the file format has no place for.
    """
    if notes.found:
        notes.say(f"found by name: {', '.join(notes.found)}")
    try:
        built = member(**arrays, provenance=provenance(kind, sources, options))  # type: ignore[call-arg]
        data = AuditData(**{group: {name: built}})  # type: ignore[arg-type]
    except SchemaError as error:
        where = (
            sources[0].where() if error.where is None else f"{sources[0].where()}: {error.where}"
        )
        raise SourceError(
            error.what, found=error.found, expected=error.expected, where=where
        ) from None
    return Imported(data, kind, name, dict(options), tuple(notes.understood), tuple(notes.warnings))
