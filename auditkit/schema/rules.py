"""The rules of docs/format.md: into canonical arrays, of the right shape, with allowed values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import SchemaError

if TYPE_CHECKING:
    from auditkit.schema.specs import ArraySpec, AttributeSpec, Flags, Indices, Member

_WORDS = {
    "float": "float32 or float64",
    "index": "integers",
    "flag": "booleans",
    "text": "texts",
    "label": "integers or texts",
}


def describe(spec: ArraySpec) -> str:
    return f"{_WORDS[spec.kind]} [{', '.join(spec.dims)}]"


def canonical(values: Any, spec: ArraySpec) -> Any:
    """The read-only form of an array: float64, int64 or bool owned by the member, or a tuple of texts."""
    if spec.kind in {"text", "label"} and not (
        isinstance(values, np.ndarray) and values.dtype.kind in "iu"
    ):
        entries = values.tolist() if isinstance(values, np.ndarray) else values
        if isinstance(entries, str | bytes) or not isinstance(entries, list | tuple):
            raise SchemaError("wrong type", found=type(entries).__name__, expected=describe(spec))
        if spec.kind == "text" or any(isinstance(entry, str | bytes) for entry in entries):
            return tuple(text_entry(entry, position) for position, entry in enumerate(entries))
    try:
        array = np.asarray(values)
    except ValueError:
        raise SchemaError("ragged array", expected=describe(spec)) from None
    found = array.dtype.kind
    wanted = {"float": "f", "index": "iu", "flag": "b", "text": "", "label": "iu"}[spec.kind]
    if found not in wanted or (found == "f" and array.dtype.itemsize not in (4, 8)):
        raise SchemaError("wrong type", found=array.dtype, expected=describe(spec))
    if found == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise SchemaError("integer too large", found=array.max(), expected="below 2**63")
    dtype = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}[found]
    # a copy: whoever goes on writing into the source changes nothing here
    owned: NDArray[Any] = np.array(array, dtype=dtype, order="C", copy=True)
    owned.setflags(write=False)
    return owned


def text_entry(entry: Any, position: int) -> str:
    if isinstance(entry, bytes):
        try:
            entry = entry.decode("utf-8")
        except UnicodeDecodeError:
            raise SchemaError(
                "text is not UTF-8", found=repr(entry[:40]), where=f"[{position}]"
            ) from None
    if not isinstance(entry, str):
        raise SchemaError(
            "wrong type", found=type(entry).__name__, expected="text", where=f"[{position}]"
        )
    if "\x00" in entry or any("\ud800" <= c <= "\udfff" for c in entry):
        raise SchemaError(
            "text that cannot be stored",
            found=ascii(entry[:40]),
            expected="UTF-8 without NUL",
            where=f"[{position}]",
        )
    return entry


def shape_of(values: Any) -> tuple[int, ...]:
    return (len(values),) if isinstance(values, tuple) else tuple(values.shape)


def first_index(wrong: Flags) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def bracketed(index: tuple[int, ...]) -> str:
    return f"[{', '.join(str(i) for i in index)}]"


def check_shape(
    values: Any, spec: ArraySpec, path: str, lengths: dict[str, tuple[int, str]]
) -> None:
    shape = shape_of(values)
    if len(shape) != len(spec.dims):
        raise SchemaError("wrong number of dimensions", found=list(shape), expected=describe(spec))
    for axis, (symbol, length) in enumerate(zip(spec.dims, shape, strict=True)):
        known, source = lengths.setdefault(symbol, (length, path))
        if length != known:
            raise SchemaError(
                f"wrong length of dimension {axis} ({symbol})",
                found=length,
                expected=f"{known}, as in {source}",
            )
        if length == 0:
            raise SchemaError(
                f"dimension {axis} ({symbol}) is empty", found=0, expected="at least 1"
            )


def check_values(values: Any, spec: ArraySpec) -> None:
    if isinstance(values, tuple):
        first: dict[str, int] = {}
        for position, text in enumerate(values):
            if spec.unique and first.setdefault(text, position) != position:
                raise SchemaError(
                    "duplicate name", found=f"{text!r} also at [{first[text]}]", expected="distinct names",
                    where=f"[{position}]",
                )  # fmt: skip
            if spec.values and text not in spec.values:
                raise SchemaError(
                    "unknown value",
                    found=repr(text),
                    expected=" or ".join(spec.values),
                    where=f"[{position}]",
                )
        return
    if spec.kind == "float" and not spec.infinite and np.isinf(values).any():
        at = first_index(np.isinf(values))
        raise SchemaError(
            "infinite value", found=values[at], expected="finite or NaN", where=bracketed(at)
        )
    if spec.low is not None and (values < spec.low).any():
        at = first_index(values < spec.low)
        raise SchemaError(
            "value out of range",
            found=values[at],
            expected=f"at least {spec.low:g}",
            where=bracketed(at),
        )


def check_below(name: str, values: Indices, size: int, of: str) -> None:
    wrong = values >= size
    if wrong.any():
        at = first_index(wrong)
        raise SchemaError(
            "index out of range",
            found=values[at],
            expected=f"below {size}, the number of {of}",
            where=name + bracketed(at),
        )


def check_together(member: Member, one: str, other: str) -> None:
    present, absent = (one, other) if getattr(member, other) is None else (other, one)
    if getattr(member, present) is not None and getattr(member, absent) is None:
        raise SchemaError("missing array", expected=f"{absent} beside {present}")


def checked_attribute(name: str, value: Any, spec: AttributeSpec) -> Any:
    where = f"attribute {name}" if spec.of is None else f"{spec.of}, attribute {name}"
    if value is None:
        if spec.optional:
            return None
        raise SchemaError("missing attribute", expected=f"a {spec.kind}", where=where)
    if spec.kind == "number":
        if isinstance(value, int | float | np.integer | np.floating) and not isinstance(
            value, bool
        ):
            return float(value)
        raise SchemaError(
            "wrong type", found=type(value).__name__, expected="a number", where=where
        )
    try:
        text = text_entry(value, 0)
    except SchemaError:
        raise SchemaError(
            "wrong type", found=type(value).__name__, expected="a text", where=where
        ) from None
    if spec.values and text not in spec.values:
        raise SchemaError(
            "unknown value", found=repr(text), expected=" or ".join(spec.values), where=where
        )
    return text


def check_name(name: str, where: str) -> None:
    """Refuse a name that cannot be the name of a member: empty, with a slash, or not storable as UTF-8."""
    if not isinstance(name, str) or name in {"", ".", ".."} or "/" in name:
        raise SchemaError(
            "bad name of a member", found=repr(name), expected="a text without /", where=where
        )
    try:
        text_entry(name, 0)
    except SchemaError:
        raise SchemaError(
            "bad name of a member", found=ascii(name), expected="UTF-8 without NUL", where=where
        ) from None
