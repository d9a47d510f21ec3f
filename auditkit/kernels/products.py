"""Resampled sums: products of counts and data, in integers, so that no order of adding can change a bit.

The inner loop is written in LLVM's vector operations, because compilers do not find its form by themselves: 16-bit
factors, whose neighbouring products are added to 32 bits, are one instruction on most processors. Nothing in it is
particular to one; the tests compare it with NumPy's integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from auditkit.kernels.jit import jit

ROWS, PLANES, LANES = 4, 4, 16
"""The tile held in registers: counts come in multiples of ``ROWS`` replicates, data in multiples of ``PLANES``, and
both in multiples of ``LANES`` units."""

_SEGMENT = 2048
"""Units whose data stay in the cache while all replicates of a block pass over them. A 32-bit lane then adds 256
products of at most 255 * 2**15, which cannot overflow."""

_INT8, _INT16, _INT32, _INT64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))


@jit
def sum_products(
    planes: NDArray[np.int16], counts: NDArray[np.uint8], sums: NDArray[np.int64]
) -> None:
    """Fill ``sums`` [k, r] with ``planes`` [k, n] times ``counts`` [r, n], for k, r and n in multiples of the tile."""
    sums[:] = 0
    for first in range(0, counts.shape[1], _SEGMENT):
        stop = min(first + _SEGMENT, counts.shape[1])
        for r in range(0, len(counts), ROWS):
            for k in range(0, len(planes), PLANES):
                _add_tile(
                    planes[k : k + PLANES],
                    counts[r : r + ROWS],
                    first,
                    stop,
                    sums[k : k + PLANES, r : r + ROWS],
                )


def _generate_tile(typing: Any, planes: Any, counts: Any, first: Any, stop: Any, sums: Any) -> Any:
    """``sums[p, r] += planes[p, first:stop] @ counts[r, first:stop]`` for the four times four of a tile."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def at(which: int, row: int, column: Any, element: Any) -> Any:
            """The address of an entry of an argument."""
            kind = signature.args[which]
            array = context.make_array(kind)(context, builder, arguments[which])
            strides = cgutils.unpack_tuple(builder, array.strides)  # type: ignore[no-untyped-call]
            offset = builder.add(
                builder.mul(strides[0], _INT64(row)), builder.mul(strides[1], column)
            )
            address = builder.add(builder.ptrtoint(array.data, _INT64), offset)
            return builder.inttoptr(address, element.as_pointer())

        def load(which: int, row: int, column: Any, element: Any) -> Any:
            """Sixteen neighbouring entries, as 32-bit integers that fit into 16."""
            narrow = ir.VectorType(element, LANES)
            loaded = builder.load(at(which, row, column, narrow), align=element.width // 8)
            wide = ir.VectorType(_INT32, LANES)
            return builder.sext(loaded, wide) if which == 0 else builder.zext(loaded, wide)

        half = ir.VectorType(_INT32, LANES // 2)
        even, odd = (half(list(range(start, LANES, 2))) for start in (0, 1))
        zeros = half([0] * (LANES // 2))
        totals = {
            (p, r): cgutils.alloca_once_value(builder, zeros)  # type: ignore[no-untyped-call]
            for p in range(PLANES)
            for r in range(ROWS)
        }
        step = _INT64(LANES)
        with cgutils.for_range_slice(builder, arguments[2], arguments[3], step, inc=True) as loop:
            x = [load(0, p, loop[0], _INT16) for p in range(PLANES)]
            c = [load(1, r, loop[0], _INT8) for r in range(ROWS)]
            for (p, r), total in totals.items():
                products = builder.mul(x[p], c[r])
                pairs = builder.add(
                    builder.shuffle_vector(products, products, even),
                    builder.shuffle_vector(products, products, odd),
                )
                builder.store(builder.add(builder.load(total), pairs), total)
        for (p, r), total in totals.items():
            lanes = builder.load(total)
            target = at(4, p, _INT64(r), _INT64)
            added = builder.load(target)
            for lane in range(LANES // 2):
                entry = builder.extract_element(lanes, _INT32(lane))
                added = builder.add(added, builder.sext(entry, _INT64))
            builder.store(added, target)
        return context.get_dummy_value()

    return types.void(planes, counts, first, stop, sums), generate


_add_tile: Any = intrinsic(_generate_tile)
