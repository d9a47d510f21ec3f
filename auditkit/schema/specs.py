"""How an array or an attribute is declared: one specification serves reading, writing, validation and the docs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import SchemaError
from auditkit.schema import rules

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Texts = tuple[str, ...]
Labels = Texts | Indices


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """What one stored array is.

    Attributes
    ----------
    kind
        ``float`` (float32 or float64), ``index`` (any integer), ``flag`` (bool), ``text`` (UTF-8), ``label`` (integer
        or text).
    dims
        Its dimensions as symbols, outermost first.
    note
        What it holds: unit, orientation, what a missing value means.
    optional
        Whether it may be absent.
    unique
        Whether its entries must differ from each other.
    infinite
        Whether infinite values are allowed (only in raw costs).
    low
        The smallest value allowed; NaN, "not measured", always is.
    values
        The only texts allowed.
    path
        Where it is stored below its member, when that is not the name of the field.
    """

    kind: Literal["float", "index", "flag", "text", "label"]
    dims: tuple[str, ...]
    note: str
    optional: bool = False
    unique: bool = False
    infinite: bool = False
    low: float | None = None
    values: tuple[str, ...] = ()
    path: str | None = None


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """What one stored attribute is: a text or a number, of its member (``of`` is None) or of one of its arrays."""

    kind: Literal["text", "number"]
    note: str
    of: str | None = None
    optional: bool = True
    values: tuple[str, ...] = ()


def array(
    kind: Literal["float", "index", "flag", "text", "label"], dims: str, note: str, **rules: Any
) -> Any:
    metadata = {"spec": ArraySpec(kind, tuple(dims.split()), note, **rules)}
    return (
        field(default=None, metadata=metadata)
        if rules.get("optional")
        else field(metadata=metadata)
    )


def attribute(kind: Literal["text", "number"], note: str, **rules: Any) -> Any:
    metadata = {"spec": AttributeSpec(kind, note, **rules)}
    return (
        field(default=None, metadata=metadata)
        if rules.get("optional", True)
        else field(metadata=metadata)
    )


def array_specs(member: type[Member]) -> dict[str, ArraySpec]:
    """The arrays that a kind of member may hold, by the name of their field."""
    return _specs(member, ArraySpec)


def attribute_specs(member: type[Member]) -> dict[str, AttributeSpec]:
    """The attributes that a kind of member may hold, by the name of their field."""
    return _specs(member, AttributeSpec)


def _specs(member: type[Member], kind: type[Any]) -> dict[str, Any]:
    fields = dataclasses.fields(member)  # type: ignore[arg-type]  # every Member below is a dataclass
    return {f.name: f.metadata["spec"] for f in fields if isinstance(f.metadata.get("spec"), kind)}


class Member:
    """Base of the members: converts and validates the arrays that the subclass declares.

    Raises
    ------
    SchemaError
        An array is missing, of the wrong type or shape, or holds a value it must not hold; ``where`` names it.
    """

    __slots__ = ()
    GROUP: ClassVar[str]

    def __post_init__(self) -> None:
        lengths: dict[str, tuple[int, str]] = {}
        for name, spec in array_specs(type(self)).items():
            values = getattr(self, name)
            path = spec.path or name
            if values is None:
                if not spec.optional:
                    raise SchemaError("missing array", expected=rules.describe(spec), where=path)
                continue
            try:
                values = rules.canonical(values, spec)
                rules.check_shape(values, spec, path, lengths)
                rules.check_values(values, spec)
            except SchemaError as error:
                raise error.within(path, separator="") from None
            object.__setattr__(self, name, values)
        for name, attribute in attribute_specs(type(self)).items():
            object.__setattr__(
                self, name, rules.checked_attribute(name, getattr(self, name), attribute)
            )
        self._check({symbol: length for symbol, (length, _) in lengths.items()})

    def _check(self, lengths: Mapping[str, int]) -> None:
        """What the arrays must be to each other; the subclasses say it."""
