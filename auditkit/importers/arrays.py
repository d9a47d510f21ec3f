"""Arrays from ``.npz`` and ``.npy`` files; pickled objects are never loaded."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from auditkit.errors import SourceError
from auditkit.importers.sources import Source, unzip
from auditkit.schema import Floats


def read_arrays(source: Source) -> dict[str, Any]:
    """The arrays of a source by name; a ``.npy`` holds one, named after its file.

    Raises
    ------
    SourceError
        It is no such file, holds objects, or claims more than it holds.
    """
    if source.suffix == ".npy":
        return {source.stem: _read_npy(source.content, source.where())}
    members = unzip(source)
    if not members:
        raise SourceError("empty archive", expected="named arrays", where=source.where())
    return {
        name.removesuffix(".npy"): _read_npy(
            content, f"{source.where()}, array {name.removesuffix('.npy')!r}"
        )
        for name, content in members.items()
    }


def _read_npy(content: bytes, where: str) -> Any:
    """One array, its header checked against the bytes behind it before anything is allocated."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise ValueError(f"format version {version}")
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise SourceError(
            "not a NumPy array", found=" ".join(str(error).split()), expected=".npy", where=where
        ) from None
    if dtype.hasobject or dtype.kind not in "fiubUS":
        raise SourceError(
            "type that may hold objects", found=dtype, expected="numbers or texts", where=where
        )
    items = 1
    for length in shape:
        items *= length
    wanted, held = items * dtype.itemsize, len(content) - file.tell()
    if wanted != held:
        raise SourceError(
            "wrong size",
            found=f"{held:,} bytes",
            expected=f"{wanted:,} for shape {shape}",
            where=where,
        )
    file.seek(0)
    return np.load(file, allow_pickle=False)


def floats(array: Any, dims: int, where: str) -> Floats:
    """An array as float64 with so many dimensions.

    Raises
    ------
    SourceError
        It is of another type or shape.
    """
    if array.dtype.kind not in "fiu":
        raise SourceError(
            "text in a number array", found=array.dtype, expected="numbers", where=where
        )
    if array.ndim != dims:
        raise SourceError(
            "wrong number of dimensions",
            found=f"shape {array.shape}",
            expected=f"{dims}",
            where=where,
        )
    return np.asarray(array, dtype=np.float64)


def texts(array: Any, where: str) -> list[str]:
    """An array [n] as texts; numbers are written out.

    Raises
    ------
    SourceError
        It has another shape, or is not UTF-8.
    """
    if array.ndim != 1:
        raise SourceError(
            "wrong number of dimensions", found=f"shape {array.shape}", expected="1", where=where
        )
    try:
        return [item.decode() if isinstance(item, bytes) else str(item) for item in array.tolist()]
    except UnicodeDecodeError:
        raise SourceError("not UTF-8", expected="texts", where=where) from None
