"""Resamples as counts: how often each of n units occurs among n draws with replacement.

Replicate b is a function of (key, b) alone. Its counts are multinomial, made without a random access per draw:
independent Poisson counts are multinomial given their total, so Poisson counts of a rate a little below one, topped up
with single draws to n, are an exact resample. A total above n is drawn anew.

References
----------
Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators, doi:10.1145/2660193.2660195: the generator.
Lemire (2019), Fast random integer generation in an interval, doi:10.1145/3230636, section 4: unbiased bounded draws.
Devroye (1986), Non-uniform random variate generation, chapter XI, section 1.1: multinomials from Poisson counts.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from auditkit.kernels import vectors
from auditkit.kernels.jit import jit
from auditkit.kernels.vectors import Value, Variable, integers

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_SHIFT_27, _SHIFT_30, _SHIFT_31 = np.uint64(27), np.uint64(30), np.uint64(31)
_SHIFT_11, _SHIFT_32 = np.uint64(11), np.uint64(32)
_ONE = np.uint64(1)

# Counters of one replicate's stream: 16-bit lanes from 0, rare counts and single draws far behind them.
_RARE_FROM = np.uint64(1 << 40)
_SINGLE_FROM = np.uint64(1 << 41)

_DIRECT = 8
"""Poisson counts 0 .. 7 have 16-bit codes of their own; one bit more, 8, marks a code to be resolved."""

_MARKS = np.uint64(0x0808080808080808)

COLUMNS = 64
"""Counts made at once: rows are padded with zeros to multiples of this."""

_WORDS = COLUMNS // 4
"""Random words for them."""

_SEGMENT = 4096
"""Counts made before their total and their marks are looked at: sums of at most 8 that fit into 16 bits."""


SMALLEST_POISSON = 64
"""Below this many units the Poisson counts would leave too many draws to be made singly."""


@lru_cache
def poisson_table(n: int) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """How a 16-bit code becomes a Poisson count of rate 1 - 2 / sqrt(n).

    Returns
    -------
    thresholds
        [8]; a code has count k when k thresholds are at or below it, and must be resolved when all 8 are.
    rare
        Cumulative probabilities of the counts 0, 1, ... of a code that must be resolved: what the counts' whole codes
        leave of their probabilities.
    """
    rate = 1 - 2 / math.sqrt(n)
    probabilities = [math.exp(-rate)]
    while len(probabilities) < 4 * _DIRECT:
        probabilities.append(probabilities[-1] * rate / len(probabilities))
    codes = 65536 * np.array(probabilities)
    whole = np.floor(codes)
    whole[_DIRECT:] = 0
    rare = np.cumsum(codes - whole)
    return np.cumsum(whole[:_DIRECT]).astype(np.uint16), rare / rare[-1]


@jit
def mix(z: np.uint64) -> np.uint64:
    """The output function of SplitMix64: a bijection of 64-bit words whose outputs look random."""
    z = (z ^ (z >> _SHIFT_30)) * _MIX_1
    z = (z ^ (z >> _SHIFT_27)) * _MIX_2
    return z ^ (z >> _SHIFT_31)


@jit
def draw_counts(
    key: np.uint64,
    first: int,
    n: int,
    thresholds: NDArray[np.uint16],
    rare: NDArray[np.float64],
    counts: NDArray[np.uint8],
) -> None:
    """Fill the first n columns of ``counts`` with replicates ``first``, ``first + 1``, ... of a key, others with zeros.

    ``counts`` [r, columns] has columns in multiples of ``COLUMNS``. A count above 255 would take more than 255 of n
    draws on one unit, less likely than 1e-500 where n is above 255 and impossible where it is not.
    """
    favoured = (_ONE << _SHIFT_32) % np.uint64(n)
    if n < SMALLEST_POISSON:
        counts[:] = 0
        for b in range(len(counts)):
            _add_singles(mix(key + np.uint64(first + b) * _GOLDEN), n, n, favoured, counts, b)
        return
    t = thresholds
    limits = (t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7])
    states, missing = np.empty(len(counts), np.uint64), np.empty(len(counts), np.int64)
    for b in range(len(counts)):
        state = mix(key + np.uint64(first + b) * _GOLDEN)
        total = n + 1
        while total > n:
            state = mix(state)
            total = 0
            for start in range(0, n, _SEGMENT):
                added, marked = _look_up(state, start, min(start + _SEGMENT, n), limits, counts, b)
                total += added
                if marked:
                    total += _resolve_rare(state, start, rare, counts[b, start : start + _SEGMENT])
        states[b], missing[b] = state, n - total
    # a loop of its own: its turns end unpredictably, and those of the other would wait for it
    for b in range(len(counts)):
        _add_singles(states[b], missing[b], n, favoured, counts, b)


def _generate_look_up(
    typing: Any, state: Any, first: Any, stop: Any, limits: Any, counts: Any, row: Any
) -> Any:
    """``counts[row, first:stop]`` from random words of four 16-bit codes; zeros up to a multiple of ``COLUMNS``.

    A count is how many of eight limits are at or below its code. Returns their total and whether there is a mark.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        state, first, stop, row = (Value(builder, arguments[i]) for i in (0, 1, 2, 5))
        rows = vectors.Array(context, builder, signature.args[4], arguments[4])
        limits = [
            Value(builder, builder.extract_value(arguments[3], k)).spread(COLUMNS)
            for k in range(_DIRECT)
        ]
        none = Value(builder, integers(16, COLUMNS)([0] * COLUMNS))
        start = (state + (first >> 2) * int(_GOLDEN)).spread(_WORDS)
        steps = [i * int(_GOLDEN) % 2**64 for i in range(_WORDS + 1)]
        counter = Variable(start + start.like(steps[:_WORDS]))
        total, most = Variable(none), Variable(none)

        def make(column: Value, kept: Value | None = None) -> None:
            """The next vector of counts, with zeros where they are not to be kept."""
            word = counter.get()
            counter.set(word + steps[_WORDS])
            word = (word ^ (word >> 30)) * int(_MIX_1)
            word = (word ^ (word >> 27)) * int(_MIX_2)
            code, count = (word ^ (word >> 31)).to(none.value.type, "bitcast"), none
            for k, limit in enumerate(limits, 1):
                reached = code.compare(">=", limit)
                if vectors.WIDE:  # which of the two is faster
                    count = none.like(k).where(reached, count)
                else:
                    count = count - reached.to(none.value.type, "sext")
            if kept is not None:
                count = count.where(kept, none)
            total.set(total.get() + count)
            most.set(count.where(count.compare(">", most.get()), most.get()))
            rows.store(count.to(integers(8, COLUMNS), "trunc"), row, column)

        whole = stop - (stop & (COLUMNS - 1))
        with vectors.loop(first, whole, COLUMNS) as column:
            make(column)
        with builder.if_then(whole.compare("<", stop).value):
            left = (stop - whole).to(ir.IntType(16), "trunc").spread(COLUMNS)
            make(whole, none.like(range(COLUMNS)).compare("<", left))
        marks = most.get().compare("==", _DIRECT).to(ir.IntType(COLUMNS), "bitcast")
        found = total.get().total(), marks.compare("!=", 0)
        word = ir.IntType(64)
        return context.make_tuple(
            builder, signature.return_type, [part.to(word, "zext").value for part in found]
        )

    pair = types.UniTuple(types.int64, 2)  # type: ignore[no-untyped-call]
    return pair(state, first, stop, limits, counts, row), generate


_look_up: Any = intrinsic(_generate_look_up)


@jit
def _resolve_rare(
    state: np.uint64, first: int, rare: NDArray[np.float64], counts: NDArray[np.uint8]
) -> int:
    """Replace the marks by counts of the residual distribution; returns the change of the total."""
    change = 0
    for place, word_of_counts in enumerate(counts.view(np.uint64)):
        if not word_of_counts & _MARKS:
            continue
        for i in range(8 * place, 8 * place + 8):
            if counts[i] == _DIRECT:
                word = mix(state + (_RARE_FROM + np.uint64(first + i)) * _GOLDEN)
                uniform = float(word >> _SHIFT_11) * 2.0**-53
                count = 0
                while uniform >= rare[count]:
                    count += 1
                counts[i] = count
                change += count - _DIRECT
    return change


@jit
def _add_singles(
    state: np.uint64,
    draws: int,
    n: int,
    favoured: np.uint64,
    counts: NDArray[np.uint8],
    row: int,
) -> None:
    """Add single draws to a row: 32 random bits times n, rejecting the 2**32 mod n that would favour some units."""
    bound = np.uint64(n)
    counter = _SINGLE_FROM
    while draws > 0:
        word = mix(state + counter * _GOLDEN)
        counter += _ONE
        low, high = (word & _LOW_32) * bound, (word >> _SHIFT_32) * bound
        if low & _LOW_32 >= favoured:
            counts[row, low >> _SHIFT_32] += np.uint8(1)
            draws -= 1
        if draws > 0 and high & _LOW_32 >= favoured:
            counts[row, high >> _SHIFT_32] += np.uint8(1)
            draws -= 1


@jit
def count_indices(indices: NDArray[np.int64], counts: NDArray[np.uint8]) -> None:
    """Fill ``counts`` [r, >= n] with how often each unit occurs in the rows of ``indices`` [r, n]."""
    counts[:] = 0
    for row in range(len(indices)):
        for index in indices[row]:
            counts[row, index] += np.uint8(1)
