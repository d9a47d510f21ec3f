"""An audit file against its sources: imported again with the stored options, compared cell by cell.

Cells are matched by the names along their dimensions, so the order of sources, rows and columns does not matter.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from auditkit.errors import UsageError, counted, printable
from auditkit.importers.kinds import KINDS, run_import
from auditkit.importers.sources import StrPath
from auditkit.schema import Indices, Member, array_specs, attribute_specs
from auditkit.version import __version__

_SHOWN = 5
_INDEX_INTO = {"family_of": "K"}
_AXES = {
    "n": ("instances", "datasets"),
    "A": ("algorithms",),
    "S": ("systems",),
    "K": ("families",),
    "d": ("covariate_names",),
    "q": ("feature_names",),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One cell that differs.

    Attributes
    ----------
    where
        The array and the names along its dimensions.
    stored, source
        What the audit file holds and what the source gives.
    """

    where: str
    stored: str
    source: str

    def __str__(self) -> str:
        return printable(f"{self.where}: stored {self.stored}, source {self.source}")


@dataclass(frozen=True, slots=True)
class Verification:
    """One member compared with its sources.

    Attributes
    ----------
    member
        Its group and name.
    n_cells, n_differences
        Cells compared, and how many differ.
    first
        The first differences.
    notes
        What has changed besides: the files, the version.
    """

    member: str
    n_cells: int
    n_differences: int
    first: tuple[Difference, ...]
    notes: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Whether every cell is the same."""
        return self.n_differences == 0

    def report(self) -> str:
        """The verdict, then the first differences and the notes, one line each."""
        differ = "differs" if self.n_differences == 1 else "differ"
        verdict = "equal" if self.equal else f"{counted(self.n_differences, 'cell')} {differ}"
        lines = [f"{self.member}: {verdict} ({self.n_cells:,} cells compared with the sources)"]
        lines += [f"  {difference}" for difference in self.first]
        if self.n_differences > len(self.first):
            lines.append(f"  and {self.n_differences - len(self.first):,} more")
        return "\n".join(
            printable(line, 900) for line in (*lines, *(f"  note: {note}" for note in self.notes))
        )


def verify(
    path: StrPath, sources: StrPath | Sequence[StrPath], *, member: str | None = None
) -> Verification:
    """Compare a member of an audit file with the sources it was imported from.

    Parameters
    ----------
    path
        The audit file.
    sources
        The sources, in any order.
    member
        ``group/name``; needed where the file holds several that were imported, unless the names of the sources tell.

    Returns
    -------
    Verification
        Pipelines that were added to a benchmark since are not in the sources and not compared.

    Raises
    ------
    UsageError
        The member is not there, or nothing says how it was imported.
    SourceError
        A source cannot be imported.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> table = folder / "mlp.csv"
    >>> _ = table.write_text("loss_a,loss_b,x\\n1,2,3\\n")
    >>> from auditkit.importers.losses import import_losses
    >>> import_losses(table).save(folder / "mlp.h5")
    >>> verify(folder / "mlp.h5", table).equal
    True
    >>> _ = table.write_text("loss_a,loss_b,x\\n1,2,4\\n")
    >>> print(verify(folder / "mlp.h5", table).first[0])
    covariates[0, 'x']: stored 3.0, source 4.0
    """
    paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    where, stored, record = _imported_member(path, member, paths)
    if record.get("left_out"):
        raise UsageError(
            "options too long to be stored",
            found=", ".join(record["left_out"]),
            where=f"{path}: {where}",
        )
    again = run_import(record["import"], paths, record["options"], name=where.partition("/")[2])
    orders = _orders(stored, again.member)
    first, n_differences, n_cells = _compare(stored, again.member, orders)
    notes = tuple(_changes(record, again.member, orders))
    return Verification(where, n_cells, n_differences, tuple(first), notes)


def _imported_member(
    path: StrPath, wanted: str | None, sources: Sequence[StrPath]
) -> tuple[str, Member, dict[str, Any]]:
    """The member to verify: the one asked for, the only one, or the only one made from files of these names."""
    from auditkit import store

    place = os.fspath(path)
    members = {f"{group}/{name}": member for group, name, member in store.open(path).members()}
    records = {
        where: _record(getattr(member, "provenance", None)) for where, member in members.items()
    }
    found = {where: record for where, record in records.items() if record is not None}
    if not found:
        raise UsageError("nothing says how its members were imported", where=place)
    if wanted is not None and wanted not in found:
        what = "not an imported member" if wanted in members else "no such member"
        raise UsageError(what, found=repr(wanted), expected=" or ".join(found), where=place)
    fits = [where for where, record in found.items() if _made_of(record, sources)]
    candidates = [wanted] if wanted is not None else (list(found) if len(found) == 1 else fits)
    if len(candidates) != 1:
        raise UsageError(
            "several members were imported"
            if candidates
            else "no member was imported from files of these names",
            found=", ".join(candidates or [os.fspath(source) for source in sources]),
            expected=f"--member {' or '.join(found)}",
            where=place,
        )
    return candidates[0], members[candidates[0]], found[candidates[0]]


def _made_of(record: dict[str, Any], sources: Sequence[StrPath]) -> bool:
    """Whether a member was imported from files of these names; a folder stands for any scenario."""
    if record["import"] == "aslib":
        return len(sources) == 1 and Path(sources[0]).is_dir()
    files = record.get("sources")
    names = (
        [file.get("name") for file in files if isinstance(file, dict)]
        if isinstance(files, list)
        else []
    )
    return sorted(map(str, names)) == sorted(Path(source).name for source in sources)


def _record(text: str | None) -> dict[str, Any] | None:
    try:
        record = json.loads(text or "")
    except ValueError:
        return None
    fits = (
        isinstance(record, dict)
        and record.get("import") in KINDS
        and isinstance(record.get("options"), dict)
    )
    return record if fits else None


def _changes(record: dict[str, Any], again: Any, orders: dict[str, Indices]) -> list[str]:
    """What changed besides cells: the bytes of the sources, their order, and the version."""
    notes = []
    new = json.loads(again.provenance)
    if _unordered(new["sources"]) != _unordered(record.get("sources")):
        notes.append("the sources are not the same bytes or names as at the import")
    if orders:
        moved = (_axis(again, symbol).replace("_names", "s") for symbol in orders)
        notes.append(f"matched by name, in another order in the sources: {', '.join(moved)}")
    if record.get("auditkit_version") != __version__:
        notes.append(
            f"imported by version {record.get('auditkit_version')}, verified by {__version__}"
        )
    return notes


def _unordered(sources: Any) -> Any:
    """Sources as recorded, whatever their order."""
    return sorted(map(str, sources)) if isinstance(sources, list) else sources


def _axis(member: Any, symbol: str) -> str:
    """The array that names the positions along a dimension; an empty text where none does."""
    return next((f for f in _AXES.get(symbol, ()) if getattr(member, f, None) is not None), "")


def _orders(stored: Any, source: Any) -> dict[str, Indices]:
    """For each dimension named in another order: where in the source each stored name is.

    Names that only one side has meet in their order in the places left.
    """
    orders = {}
    for symbol in _AXES:
        one, other = _keys(stored, symbol), _keys(source, symbol)
        if len(one) != len(other) or one == other:
            continue
        at = {key: position for position, key in enumerate(other)}
        known = set(one)
        left = (position for key, position in at.items() if key not in known)
        order = np.array([at[key] if key in at else next(left) for key in one])
        if (order != np.arange(len(order))).any():
            orders[symbol] = order
    return orders


def _keys(member: Any, symbol: str) -> list[tuple[str, ...]]:
    """The names along a dimension, distinct: a dataset occurs once in each run."""
    field = _axis(member, symbol)
    if not field:
        return []
    run = getattr(member, "run", None) if symbol == "n" else None
    names = getattr(member, field)
    return list(zip(names, *([run] if run is not None else []), strict=True))


def _reordered(values: Any, name: str, dims: tuple[str, ...], orders: dict[str, Indices]) -> Any:
    """An array of the source with its dimensions, and what it says of them, in the stored order."""
    order = orders.get(_INDEX_INTO.get(name, ""))
    if values is not None and order is not None:
        values = np.where(values < 0, values, np.argsort(order)[values])
    for axis, symbol in enumerate(dims):
        if values is not None and symbol in orders:
            values = values.take(orders[symbol], axis=axis)
    return values


def _compare(
    stored: Any, source: Any, orders: dict[str, Indices]
) -> tuple[list[Difference], int, int]:
    """The first differences over arrays and attributes, how many there are, and how many cells were compared."""
    first: list[Difference] = []
    n_differences = n_cells = 0
    for name, spec in array_specs(type(stored)).items():
        one, other = (_array(getattr(member, name)) for member in (stored, source))
        other = _reordered(other, name, spec.dims, orders)
        if one is None and other is None:
            continue
        if one is None or other is None or one.shape != other.shape:
            shapes = ["nothing" if a is None else f"shape {list(a.shape)}" for a in (one, other)]
            n_cells += 1
            n_differences += 1
            first.append(Difference(name, *shapes))
            continue
        n_cells += one.size
        same = one == other
        if one.dtype.kind == "f" and other.dtype.kind == "f":
            same |= np.isnan(one) & np.isnan(other)
        wrong = np.argwhere(~same)
        n_differences += len(wrong)
        for index in wrong[:_SHOWN]:
            at = tuple(int(i) for i in index)
            where = f"{name}[{_names(stored, spec.dims, at)}]"
            first.append(Difference(where, _shown(one[at]), _shown(other[at])))
    for name in attribute_specs(type(stored)).keys() - {"provenance"}:
        n_cells += 1
        values = getattr(stored, name), getattr(source, name)
        if values[0] != values[1]:
            n_differences += 1
            first.append(Difference(name, repr(values[0]), repr(values[1])))
    return first[:_SHOWN], n_differences, n_cells


def _array(values: Any) -> Any:
    return np.array(values, dtype=object) if isinstance(values, tuple) else values


def _names(member: Any, dims: tuple[str, ...], at: tuple[int, ...]) -> str:
    out = []
    for symbol, index in zip(dims, at, strict=True):
        names = _axis(member, symbol)
        out.append(repr(getattr(member, names)[index]) if names else str(index))
    return ", ".join(out)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
