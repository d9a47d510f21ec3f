"""What the loops written in LLVM's vector operations share: those whose form compilers do not find by themselves.

Nothing in them is particular to one processor: the bits are the same on all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.registry import cpu_target

WIDE = "+avx512bw" in cpu_target.target_context.codegen().magic_tuple()[2]
"""Whether a register holds 512 bits and there are 32 of them, so that more totals fit."""


def integers(bits: int, lanes: int) -> Any:
    """The type of vectors of so many integers."""
    return ir.VectorType(ir.IntType(bits), lanes)


class Value:
    """A number, or a vector of numbers, with Python's operators; integers are unsigned and wrap."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def like(self, numbers: Any) -> Value:
        """A constant of the same type: one number for all lanes, or one for each."""
        kind = self.value.type
        if isinstance(kind, ir.VectorType):
            lanes = list(numbers) if isinstance(numbers, Iterable) else [numbers] * kind.count
            return Value(self.builder, kind(lanes))
        return Value(self.builder, kind(numbers))

    def spread(self, lanes: int) -> Value:
        """A vector with this number in all lanes."""
        index = ir.IntType(32)
        none = ir.VectorType(self.value.type, 1)(ir.Undefined)
        one = self.builder.insert_element(none, self.value, index(0))
        everywhere = ir.VectorType(index, lanes)([0] * lanes)
        return Value(self.builder, self.builder.shuffle_vector(one, one, everywhere))

    def chosen(self, lanes: Iterable[int]) -> Value:
        """The vector of some lanes of this one."""
        places = list(lanes)
        kind = ir.VectorType(ir.IntType(32), len(places))
        return Value(
            self.builder, self.builder.shuffle_vector(self.value, self.value, kind(places))
        )

    def to(self, kind: Any, how: str) -> Value:
        """Converted to another type by ``trunc``, ``zext`` (unsigned), ``sext`` (signed) or ``bitcast``."""
        return Value(self.builder, getattr(self.builder, how)(self.value, kind))

    def compare(self, sign: str, other: Any) -> Value:
        """A bit for each lane."""
        how = self.builder.fcmp_ordered if self._is_real else self.builder.icmp_unsigned
        return self._with(lambda a, b: how(sign, a, b), other)

    def where(self, mask: Value, other: Any) -> Value:
        """These lanes where the mask is set, else those of another."""
        return self._with(lambda a, b: self.builder.select(mask.value, a, b), other)

    def total(self) -> Value:
        """The sum of the lanes of integers."""
        kind = self.value.type
        name = f"llvm.vector.reduce.add.v{kind.count}i{kind.element.width}"
        function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            self.builder.module, ir.FunctionType(kind.element, [kind]), name
        )
        return Value(self.builder, self.builder.call(function, [self.value]))

    def __getitem__(self, lane: int) -> Value:
        index = ir.IntType(32)(lane)
        return Value(self.builder, self.builder.extract_element(self.value, index))

    def __add__(self, other: Any) -> Value:
        return self._with(self.builder.fadd if self._is_real else self.builder.add, other)

    def __sub__(self, other: Any) -> Value:
        return self._with(self.builder.fsub if self._is_real else self.builder.sub, other)

    def __mul__(self, other: Any) -> Value:
        return self._with(self.builder.fmul if self._is_real else self.builder.mul, other)

    def __xor__(self, other: Any) -> Value:
        return self._with(self.builder.xor, other)

    def __and__(self, other: Any) -> Value:
        return self._with(self.builder.and_, other)

    def __or__(self, other: Any) -> Value:
        return self._with(self.builder.or_, other)

    def __rshift__(self, other: Any) -> Value:
        return self._with(self.builder.lshr, other)

    @property
    def _is_real(self) -> bool:
        return isinstance(getattr(self.value.type, "element", self.value.type), ir.DoubleType)

    def _with(self, operation: Callable[[Any, Any], Any], other: Any) -> Value:
        given = other if isinstance(other, Value) else self.like(other)
        return Value(self.builder, operation(self.value, given.value))


class Variable:
    """What changes in a loop; it lives in a register."""

    def __init__(self, first: Value) -> None:
        self.builder = first.builder
        self.place = cgutils.alloca_once_value(first.builder, first.value)  # type: ignore[no-untyped-call]

    def get(self) -> Value:
        """As it is now."""
        return Value(self.builder, self.builder.load(self.place))

    def set(self, value: Value) -> None:
        """As it is from now on."""
        self.builder.store(value.value, self.place)


class Array:
    """An argument that is an array; a place in it is one 64-bit integer a dimension."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
        self.builder = builder
        self.fields = context.make_array(kind)(context, builder, array)

    @property
    def rows(self) -> Value:
        """The length of the first dimension."""
        return Value(self.builder, self.builder.extract_value(self.fields.shape, 0))

    def load(self, kind: Any, *place: Any) -> Value:
        """The entry, or the vector of neighbouring entries, at a place."""
        return Value(self.builder, self.builder.load(self._at(kind, place), align=_width(kind)))

    def store(self, value: Value, *place: Any) -> None:
        """Put a number, or a vector into neighbouring entries."""
        kind = value.value.type
        self.builder.store(value.value, self._at(kind, place), align=_width(kind))

    def _at(self, kind: Any, place: tuple[Any, ...]) -> Any:
        word = ir.IntType(64)
        at = self.builder.ptrtoint(self.fields.data, word)
        strides = cgutils.unpack_tuple(self.builder, self.fields.strides)  # type: ignore[no-untyped-call]
        for stride, index in zip(strides, place, strict=True):
            entry = index.value if isinstance(index, Value) else word(index)
            at = self.builder.add(at, self.builder.mul(stride, entry))
        return self.builder.inttoptr(at, kind.as_pointer())


def _width(kind: Any) -> int:
    """Bytes of an entry, to which arrays are aligned."""
    element = getattr(kind, "element", kind)
    return 8 if isinstance(element, ir.DoubleType) else element.width // 8


@contextmanager
def loop(first: Value, stop: Value, step: int) -> Iterator[Value]:
    """What is inside runs for ``first``, ``first + step``, ... below ``stop``."""
    bounds = first.value, stop.value, first.like(step).value
    with cgutils.for_range_slice(first.builder, *bounds, inc=True) as (index, _):
        yield Value(first.builder, index)
