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

import numpy as np
from numpy.typing import NDArray

from auditkit.kernels.jit import jit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_SHIFT_27, _SHIFT_30, _SHIFT_31 = np.uint64(27), np.uint64(30), np.uint64(31)
_SHIFT_8, _SHIFT_11, _SHIFT_32 = np.uint64(8), np.uint64(11), np.uint64(32)
_ONE = np.uint64(1)

# Counters of one replicate's stream: 16-bit lanes from 0, rare counts and single draws far behind them.
_RARE_FROM = np.uint64(1 << 40)
_SINGLE_FROM = np.uint64(1 << 41)

_DIRECT = 8
"""Poisson counts 0 .. 7 have 16-bit codes of their own; one bit more, 8, marks a code to be resolved."""

_EVEN_BYTES, _LOW_16 = np.uint64(0x00FF00FF00FF00FF), np.uint64(0xFFFF)
_MARKS = np.uint64(0x0808080808080808)
_CHUNK = 4096
"""Words whose bytes, of at most 8, add up in 16 bits."""

SMALLEST_POISSON = 64
"""Below this many units the Poisson counts would leave too many draws to be made singly."""


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
    words: NDArray[np.uint64],
    counts: NDArray[np.uint8],
) -> None:
    """Fill the first n columns of ``counts`` with replicates ``first``, ``first + 1``, ... of a key, others with zeros.

    ``counts`` [r, columns] has columns in multiples of eight, best of 64, so that loops run in whole vectors;
    ``words`` is scratch, columns / 4 for each replicate to be made together. A count above 255 would take
    more than 255 of n draws on one unit, less likely than 1e-500 where n is above 255 and impossible where it is not.
    """
    favoured = (_ONE << _SHIFT_32) % np.uint64(n)
    if n < SMALLEST_POISSON:
        counts[:] = 0
        for b in range(len(counts)):
            _add_singles(mix(key + np.uint64(first + b) * _GOLDEN), n, n, favoured, counts[b])
        return
    width = counts.shape[1] // 4
    together = len(words) // width
    for start in range(0, len(counts), together):
        rows = counts[start : start + together]
        for b in range(len(rows)):
            state = mix(mix(key + np.uint64(first + start + b) * _GOLDEN))
            _fill_words(state, words[b * width : (b + 1) * width])
        _look_up(words[: len(rows) * width].view(np.uint16), thresholds, rows.ravel())
        for b in range(len(rows)):
            row = rows[b]
            state = mix(mix(key + np.uint64(first + start + b) * _GOLDEN))
            missing = n - _settle(state, n, rare, row)
            while missing < 0:
                state = mix(state)
                _fill_words(state, words[:width])
                _look_up(words[:width].view(np.uint16), thresholds, row)
                missing = n - _settle(state, n, rare, row)
            _add_singles(state, missing, n, favoured, row)


@jit
def _fill_words(state: np.uint64, words: NDArray[np.uint64]) -> None:
    """The random words of one replicate."""
    for i in range(len(words)):
        words[i] = mix(state + np.uint64(i) * _GOLDEN)


@jit
def _look_up(
    codes: NDArray[np.uint16], thresholds: NDArray[np.uint16], counts: NDArray[np.uint8]
) -> None:
    """The Poisson count of each code, or the mark of a code to be resolved."""
    t0, t1, t2, t3 = thresholds[0], thresholds[1], thresholds[2], thresholds[3]
    t4, t5, t6, t7 = thresholds[4], thresholds[5], thresholds[6], thresholds[7]
    for i in range(len(counts)):
        # a chain of selections, which compiles to a few vector instructions
        code, count = codes[i], np.uint8(0)
        if code >= t0:
            count = np.uint8(1)
        if code >= t1:
            count = np.uint8(2)
        if code >= t2:
            count = np.uint8(3)
        if code >= t3:
            count = np.uint8(4)
        if code >= t4:
            count = np.uint8(5)
        if code >= t5:
            count = np.uint8(6)
        if code >= t6:
            count = np.uint8(7)
        if code >= t7:
            count = np.uint8(8)
        counts[i] = count


@jit
def _settle(
    state: np.uint64, n: int, rare: NDArray[np.float64], counts: NDArray[np.uint8]
) -> np.int64:
    """Resolve the marks and clear what lies beyond the n counts of a replicate; returns their total."""
    for i in range(n, len(counts)):
        counts[i] = 0
    total, marked = _add_up(counts)
    return total + _resolve_rare(state, rare, counts) if marked else total


@jit
def _add_up(counts: NDArray[np.uint8]) -> tuple[np.int64, bool]:
    """The sum of counts of at most 8, and whether there is an 8: eight counts at a time, as the bytes of a word."""
    words = counts.view(np.uint64)
    total, seen = np.int64(0), np.uint64(0)
    for start in range(0, len(words), _CHUNK):
        even, odd = np.uint64(0), np.uint64(0)
        part = words[start : start + _CHUNK]
        for i in range(len(part)):
            seen |= part[i]
            even += part[i] & _EVEN_BYTES
            odd += (part[i] >> _SHIFT_8) & _EVEN_BYTES
        for field in range(4):
            shift = np.uint64(16 * field)
            total += np.int64((even >> shift) & _LOW_16) + np.int64((odd >> shift) & _LOW_16)
    return total, (seen & _MARKS) != 0


@jit
def _resolve_rare(state: np.uint64, rare: NDArray[np.float64], counts: NDArray[np.uint8]) -> int:
    """Replace the marks by counts of the residual distribution; returns the change of the total."""
    change = 0
    for place, word_of_counts in enumerate(counts.view(np.uint64)):
        if not word_of_counts & _MARKS:
            continue
        for i in range(8 * place, 8 * place + 8):
            if counts[i] == _DIRECT:
                word = mix(state + (_RARE_FROM + np.uint64(i)) * _GOLDEN)
                uniform = float(word >> _SHIFT_11) * 2.0**-53
                count = 0
                while uniform >= rare[count]:
                    count += 1
                counts[i] = count
                change += count - _DIRECT
    return change


@jit
def _add_singles(
    state: np.uint64, draws: int | np.int64, n: int, favoured: np.uint64, counts: NDArray[np.uint8]
) -> None:
    """Add single draws: 32 random bits times n, rejecting the 2**32 mod n that would favour some units."""
    bound = np.uint64(n)
    counter = _SINGLE_FROM
    word = np.uint64(0)
    halves = 0
    while draws > 0:
        if halves == 0:
            word = mix(state + counter * _GOLDEN)
            counter += _ONE
            halves = 2
        product = (word & _LOW_32) * bound
        word >>= _SHIFT_32
        halves -= 1
        if product & _LOW_32 >= favoured:
            counts[product >> _SHIFT_32] += np.uint8(1)
            draws -= 1


@jit
def count_indices(indices: NDArray[np.int64], counts: NDArray[np.uint8]) -> None:
    """Fill ``counts`` [r, >= n] with how often each unit occurs in the rows of ``indices`` [r, n]."""
    counts[:] = 0
    for row in range(len(indices)):
        for index in indices[row]:
            counts[row, index] += np.uint8(1)
