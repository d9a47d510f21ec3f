"""The audit file on disk: read strictly and read-only, write atomically. The only user of h5py.

An audit file comes from a stranger. Opening it reads and validates everything it holds, then closes it: links of any
kind but the plain one, external storage, virtual datasets, object types and shapes that are absurd for the bytes
behind them are refused before anything is allocated.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from auditkit.errors import AuditkitError, SchemaError, StoreError, no_file
from auditkit.schema import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MEMBERS,
    ArraySpec,
    AuditData,
    Benchmark,
    Member,
    Pipeline,
    array_specs,
    attribute_specs,
    check_name,
)

MAX_BYTES = 8 * 2**30
"""The most that the arrays of one file may take in memory, unless the caller says otherwise."""

_SMALL = 64 * 2**20  # below this an array may be as compressible as it likes
_MOST_COMPRESSIBLE = 200  # times the bytes stored; measured floats stay below 20
_TEXTS_AT_ONCE = 256  # texts may share their bytes on disk but not in memory


def open(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> AuditData:
    """Read and validate an audit file.

    Parameters
    ----------
    path
        The file.
    max_bytes
        The most that its arrays may take in memory.

    Returns
    -------
    AuditData
        A read-only view of everything in the file, which is closed again.

    Raises
    ------
    StoreError
        It is no readable HDF5 file, or it holds what a stranger's file must not hold.
    SchemaError
        It is not what the file format says; the message names the dataset.
    """
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise StoreError(no_file(name), expected="an audit file (HDF5)", where=name)
    try:
        sha256 = _sha256(name)
        with h5py.File(name, "r") as file:
            members = _Reader(max_bytes, os.path.getsize(name)).read(file)
        return AuditData(**members, path=name, sha256=sha256)
    except AuditkitError as error:
        raise error.within(name, ": ") from None
    except MemoryError:
        raise StoreError("out of memory while reading", where=name) from None
    except Exception as error:  # h5py raises whatever the broken bytes lead it to
        reason = _reason(error)
        what = "complete" if reason == "truncated file" else "readable"
        raise StoreError(
            f"not a {what} HDF5 file ({reason})", expected="an audit file", where=name
        ) from None


def write(path: str | os.PathLike[str], data: AuditData) -> None:
    """Write an audit file; it appears under its name complete or not at all. The same data give the same bytes.

    Raises
    ------
    StoreError
        The folder is missing or not writable.
    """
    with atomic(path) as temporary:
        try:
            with h5py.File(temporary, "w") as file:
                file.attrs["format"] = FORMAT_NAME
                file.attrs["format_version"] = FORMAT_VERSION
                for kind, name, member in data.members():
                    _write_member(file.require_group(kind).create_group(name), member)
        except OSError as error:
            raise StoreError(
                "cannot write", found=" ".join(str(error).split()), where=os.fspath(path)
            ) from None


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[str]:
    """A temporary name beside ``path`` that takes its place when the block ends well, and vanishes when it does not."""
    target = Path(os.path.realpath(path))  # a link keeps pointing at the file it names
    if target.exists() and not target.is_file() and not target.is_dir():
        raise StoreError(
            "cannot write", found="no regular file", expected="a file name", where=os.fspath(path)
        )
    if target.is_dir():
        raise StoreError(
            "cannot write", found="a folder", expected="a file name", where=os.fspath(path)
        )
    try:
        handle, temporary = tempfile.mkstemp(
            prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent
        )
        os.close(handle)
    except OSError as error:
        raise StoreError("cannot write", found=error.strerror, where=os.fspath(path)) from None
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        with Path(temporary).open("rb") as written:
            os.fsync(written.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _reason(error: Exception) -> str:
    """What h5py says is wrong, without the call that failed and the addresses: ``truncated file``."""
    text = " ".join(str(error).split()) or type(error).__name__
    inner = re.match(r"Unable to [^(]*\(([^:()]+)", text)
    return text if inner is None else inner[1].strip()


def _sha256(name: str) -> str:
    with Path(name).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Reader:
    """Reads one file within a budget of bytes."""

    def __init__(self, max_bytes: int, file_bytes: int) -> None:
        self.left = max_bytes
        self.file_bytes = file_bytes

    def read(self, file: h5py.File) -> dict[str, dict[str, Any]]:
        if "format" not in file.attrs or _attribute(file, "format", "format") != FORMAT_NAME:
            raise SchemaError(
                "not an audit file", expected=f"the root attribute format = {FORMAT_NAME!r}"
            )
        version = None
        if "format_version" in file.attrs:
            version = _attribute(file, "format_version", "format_version")
        if version != FORMAT_VERSION:
            raise SchemaError(
                "unsupported format version",
                found="none" if version is None else repr(version),
                expected=FORMAT_VERSION,
                where="format_version",
            )
        members: dict[str, dict[str, Any]] = {}
        for kind in file:
            place = f"/{kind}"
            if kind not in MEMBERS:
                raise SchemaError(
                    "unknown kind of group", expected=" or ".join(MEMBERS), where=place
                )
            group = _group(file, kind, place)
            members[kind] = {
                name: self.member(
                    _group(group, name, f"{place}/{name}"), MEMBERS[kind], f"{place}/{name}"
                )
                for name in group
            }
        return members

    def member(self, group: h5py.Group, member: type[Member], place: str) -> Member:
        """Read the arrays and attributes that a kind of member may hold; anything else there is an error."""
        specs = array_specs(member)
        found: dict[str, Any] = dict.fromkeys([*specs, *attribute_specs(member)])
        known = {spec.path or name for name, spec in specs.items()}
        folders = {path.split("/")[0] for path in known if "/" in path}
        if member is Benchmark:
            folders.add(Pipeline.GROUP)
        for name in group:
            if name not in known and name not in folders:
                raise SchemaError(
                    "unknown array", expected=_listed(known | folders), where=f"{place}/{name}"
                )
        for folder in folders - {Pipeline.GROUP}:
            if folder in group:
                for name in _group(group, folder, f"{place}/{folder}"):
                    if f"{folder}/{name}" not in known:
                        raise SchemaError("unknown array", where=f"{place}/{folder}/{name}")
        for name, spec in specs.items():
            path = spec.path or name
            parent: h5py.Group | None = group
            for folder in path.split("/")[:-1]:
                parent = parent[folder] if parent is not None and folder in parent else None
            if parent is not None and path.split("/")[-1] in parent:
                found[name] = self.array(parent, path.split("/")[-1], spec, f"{place}/{path}")
        for name, attribute in attribute_specs(member).items():
            owner = group if attribute.of is None else group.get(attribute.of)
            if owner is not None and name in owner.attrs:
                found[name] = _attribute(owner, name, f"{place}, attribute {name}")
        if Pipeline.GROUP in group and member is Benchmark:
            inside = f"{place}/{Pipeline.GROUP}"
            pipelines = _group(group, Pipeline.GROUP, inside)
            found[Pipeline.GROUP] = {
                name: self.member(
                    _group(pipelines, name, f"{inside}/{name}"), Pipeline, f"{inside}/{name}"
                )
                for name in pipelines
            }
        try:
            return member(**found)
        except SchemaError as error:
            raise error.within(place) from None

    def array(self, parent: h5py.Group, name: str, spec: ArraySpec, place: str) -> Any:
        """One array, refused before it is read where its type, storage or size is not what it should be."""
        dataset = _plain(parent, name, h5py.Dataset, place)
        if dataset.is_virtual:
            raise StoreError("virtual dataset", expected="an array stored in the file", where=place)
        if dataset.external:
            raise StoreError(
                "external storage", expected="an array stored in the file", where=place
            )
        if dataset.shape is None or len(dataset.shape) != len(spec.dims):
            raise SchemaError(
                "wrong number of dimensions",
                found=dataset.shape,
                expected=f"[{', '.join(spec.dims)}]",
                where=place,
            )
        text = h5py.check_string_dtype(dataset.dtype)
        if dataset.dtype.kind not in "fiubS" and text is None:
            raise StoreError(
                "type that may hold objects", found=dataset.dtype, expected=spec.kind, where=place
            )
        self.spend(dataset.size * dataset.dtype.itemsize, dataset.id.get_storage_size(), place)
        return (
            dataset[...] if text is None or text.length is not None else self.texts(dataset, place)
        )

    def texts(self, dataset: h5py.Dataset, place: str) -> list[bytes]:
        """Variable-length texts, a few at a time: many entries may point at the same bytes."""
        out: list[bytes] = []
        for start in range(0, dataset.size, _TEXTS_AT_ONCE):
            block = [bytes(text) for text in dataset[start : start + _TEXTS_AT_ONCE]]
            self.spend(sum(map(len, block)), self.file_bytes, place)
            out.extend(block)
        return out

    def spend(self, wanted: int, stored: int, place: str) -> None:
        """Refuse an array that is far larger than the bytes behind it, or than what is left of the budget."""
        if wanted > _SMALL and wanted > _MOST_COMPRESSIBLE * stored:
            raise StoreError(
                "absurd shape", found=f"{wanted:,} bytes from {stored:,} stored", expected="an array that was written",
                where=place,
            )  # fmt: skip
        self.left -= wanted
        if self.left < 0:
            raise StoreError(
                "file too large",
                found=f"{wanted:,} bytes more",
                expected="less (see max_bytes)",
                where=place,
            )


def _plain(parent: h5py.Group, name: str, kind: type[Any], place: str) -> Any:
    """The child of that name, refused unless it is a plain link to the kind of object expected."""
    link = parent.get(name, getlink=True)
    if not isinstance(link, h5py.HardLink):
        raise StoreError(
            "link that leaves its group",
            found=type(link).__name__,
            expected="an object stored in place",
            where=place,
        )
    child = parent[name]
    if not isinstance(child, kind):
        expected = "a group" if kind is h5py.Group else "an array"
        raise SchemaError(
            "wrong kind of object", found=type(child).__name__, expected=expected, where=place
        )
    return child


def _group(parent: h5py.Group, name: str, place: str) -> Any:
    check_name(name, place)
    return _plain(parent, name, h5py.Group, place)


def _attribute(owner: Any, name: str, place: str) -> Any:
    identifier = owner.attrs.get_id(name)
    if identifier.shape != () or (
        identifier.dtype.kind not in "fiuS" and h5py.check_string_dtype(identifier.dtype) is None
    ):
        raise SchemaError(
            "wrong type of attribute",
            found=identifier.dtype,
            expected="one text or one number",
            where=place,
        )
    value = owner.attrs[name]
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return value.item() if isinstance(value, np.generic) else value


def _write_member(group: h5py.Group, member: Member) -> None:
    for name, spec in array_specs(type(member)).items():
        values = getattr(member, name)
        if values is None:
            continue
        if isinstance(values, tuple):
            values = np.array([text.encode() for text in values], dtype=object)
            group.create_dataset(
                spec.path or name, data=values, dtype=h5py.string_dtype("utf-8"), track_times=False
            )
        else:
            group.create_dataset(
                spec.path or name, data=values, track_times=False, **_compression(values)
            )
    for name, attribute in attribute_specs(type(member)).items():
        value = getattr(member, name)
        if value is not None:
            (group if attribute.of is None else group[attribute.of]).attrs[name] = value
    if isinstance(member, Benchmark):
        for name, pipeline in member.pipelines.items():
            _write_member(group.require_group(Pipeline.GROUP).create_group(name), pipeline)


def _compression(values: Any) -> dict[str, Any]:
    return (
        {"compression": "gzip", "compression_opts": 4, "shuffle": True}
        if values.nbytes > 4096
        else {}
    )


def _listed(names: set[str]) -> str:
    return " or ".join(sorted(names))
