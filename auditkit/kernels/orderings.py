"""Curves of several random orderings at once, one in each lane of a vector.

The terms of a sum are added in order, each after the one before; the lanes do not wait for one another. A lane's bits
are those of ``curves.blocks_curve``. The loops over blocks are written in LLVM's vector operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from auditkit.kernels import vectors
from auditkit.kernels.jit import jit
from auditkit.kernels.vectors import Value, Variable

LANES = 4
"""Orderings at once; 1,000 samples of each fit the fastest cache."""


@jit
def blocks_curves(samples: np.ndarray, largest: int, out: np.ndarray) -> None:
    """``out[lane, k]`` for k = 1 .. largest of ``samples`` [depth, LANES], which are lost.

    Row i becomes the minima of the 2, 4, ... samples from i on; two such windows cover a block.
    """
    depth = len(samples)
    total = np.empty(LANES)
    width = 1
    for k in range(1, largest + 1):
        if k == 2 * width:
            _widen(samples, width, depth - k + 1)
            width = k
        blocks = depth // k
        _sum_blocks(samples, k, k - width, blocks, total)
        for lane in range(LANES):
            out[lane, k] = total[lane] / blocks


@jit
def replay_curves(samples: np.ndarray, largest: int, out: np.ndarray) -> None:
    """``out[lane, k]`` for k = 1 .. largest: the running minima of ``samples`` [largest, LANES]."""
    smallest = np.full(LANES, np.inf)
    for k in range(1, largest + 1):
        for lane in range(LANES):
            smallest[lane] = min(smallest[lane], samples[k - 1, lane])
            out[lane, k] = smallest[lane]


def _smaller(one: Value, other: Value) -> Value:
    """The lane-wise minimum."""
    return one.where(one.compare("<", other), other)


def _generate_widen(typing: Any, window: Any, width: Any, stop: Any) -> Any:
    """``window[i] = min(window[i], window[i + width])`` for i below ``stop``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        samples = vectors.Array(context, builder, signature.args[0], arguments[0])
        width, stop = (Value(builder, x) for x in arguments[1:])
        lanes = ir.VectorType(ir.DoubleType(), LANES)
        with vectors.loop(stop.like(0), stop, 1) as i:
            here, there = (samples.load(lanes, at, 0) for at in (i, i + width))
            samples.store(_smaller(here, there), i, 0)
        return context.get_dummy_value()

    return types.void(window, width, stop), generate


def _generate_sum_blocks(typing: Any, window: Any, k: Any, rest: Any, blocks: Any, out: Any) -> Any:
    """Fill ``out`` [LANES] with the sums of the minima of so many blocks of k, from windows of k - ``rest``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        samples, found = (
            vectors.Array(context, builder, signature.args[i], arguments[i]) for i in (0, 4)
        )
        k, rest, blocks = (Value(builder, x) for x in arguments[1:4])
        lanes = ir.VectorType(ir.DoubleType(), LANES)
        total = Variable(Value(builder, lanes([0.0] * LANES)))
        with vectors.loop(blocks.like(0), blocks, 1) as b:
            first = samples.load(lanes, b * k, 0)
            last = samples.load(lanes, b * k + rest, 0)
            total.set(total.get() + _smaller(first, last))
        found.store(total.get(), 0)
        return context.get_dummy_value()

    return types.void(window, k, rest, blocks, out), generate


_widen: Any = intrinsic(_generate_widen)
_sum_blocks: Any = intrinsic(_generate_sum_blocks)
