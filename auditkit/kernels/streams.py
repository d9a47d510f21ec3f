"""Streams of random integers that a key starts anywhere, from the generator of ``draws``.

A stream is one 64-bit number, so that a kernel can start one for every source, repetition and instance: what it draws
depends on its key alone, never on threads or on the order of the work.

References
----------
Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators, doi:10.1145/2660193.2660195: SplitMix64.
Lemire (2019), Fast random integer generation in an interval, doi:10.1145/3230636, section 4: unbiased bounded draws.
"""

from __future__ import annotations

import numpy as np

from auditkit.kernels.draws import mix
from auditkit.kernels.jit import jit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_LOW = np.uint64(0xFFFFFFFF)


@jit
def stream(seed: np.uint64, first: int, second: int, third: int) -> np.uint64:
    """The start of the stream of a key; every part of the key is mixed in before the next."""
    state = mix(seed + _GOLDEN)
    state = mix((state ^ np.uint64(first)) + _GOLDEN)
    state = mix((state ^ np.uint64(second)) + _GOLDEN)
    return mix((state ^ np.uint64(third)) + _GOLDEN)


@jit
def below(state: np.uint64, n: int) -> tuple[np.uint64, np.int64]:
    """The next state, and an integer in [0, n) without modulo bias, for 0 < n < 2**32."""
    bound = np.uint64(n)
    state += _GOLDEN
    product = (mix(state) >> np.uint64(32)) * bound
    if (product & _LOW) < bound:
        threshold = (np.uint64(1 << 32) - bound) % bound
        while (product & _LOW) < threshold:
            state += _GOLDEN
            product = (mix(state) >> np.uint64(32)) * bound
    return state, np.int64(product >> np.uint64(32))


@jit
def random_order(seed: np.uint64, first: int, second: int, third: int, out: np.ndarray) -> None:
    """Fill ``out`` with a random order of 0 .. len(out) - 1 that depends on the key alone (Fisher and Yates)."""
    state = stream(seed, first, second, third)
    n = len(out)
    for i in range(n):
        out[i] = i
    for i in range(n - 1):
        state, step = below(state, n - i)
        out[i], out[i + step] = out[i + step], out[i]
