"""The keyed streams: the published generator, unbiased bounded draws, random orders."""

from __future__ import annotations

from itertools import permutations

import numba
import numpy as np
import pytest
from scipy import stats

from auditkit.kernels.draws import mix
from auditkit.kernels.streams import below, random_order, stream

GOLDEN = 0x9E3779B97F4A7C15


@numba.njit
def drawn(seed, key, n, out):  # type: ignore[no-untyped-def]
    state = stream(seed, key, 0, 0)
    for i in range(len(out)):
        state, out[i] = below(state, n)


def draws(n: int, size: int, key: int = 0, seed: int = 1) -> np.ndarray:
    out = np.empty(size, np.int64)
    drawn(np.uint64(seed), key, n, out)
    return out


def test_the_generator_is_splitmix64() -> None:
    # the first outputs for the seed 1234567, as published with the reference implementation (prng.di.unimi.it)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    states = [(1234567 + (i + 1) * GOLDEN) % 2**64 for i in range(3)]
    assert [int(mix(np.uint64(state))) for state in states] == published


@pytest.mark.parametrize("n", [2, 3, 7, 800, 1000])
def test_bounded_draws_are_uniform(n: int) -> None:
    counts = np.bincount(draws(n, 200 * n), minlength=n)
    assert len(counts) == n
    assert stats.chisquare(counts).pvalue > 1e-4


def test_bounded_draws_have_no_modulo_bias() -> None:
    # with n = 3 * 2**30 plain multiplication of 32 bits would give every third value twice the weight of the others
    values = draws(3 * 2**30, 300_000)
    assert stats.chisquare(np.bincount(values % 3, minlength=3)).pvalue > 1e-4
    assert values.max() < 3 * 2**30


def test_a_bound_of_one_gives_zero() -> None:
    assert not draws(1, 5).any()


def test_every_part_of_the_key_counts() -> None:
    keys = [
        (0, 0, 0, 0),
        (1, 0, 0, 0),
        (0, 1, 0, 0),
        (0, 0, 1, 0),
        (0, 0, 0, 1),
        (0, 1, 1, 0),
        (0, 0, 1, 1),
    ]
    states = {int(stream(np.uint64(seed), *key)) for seed, *key in keys}
    assert len(states) == len(keys)


def test_streams_of_neighbouring_keys_are_unrelated() -> None:
    one, other = draws(1000, 20_000, key=5), draws(1000, 20_000, key=6)
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(20_000)


def test_jitted_and_not_draw_the_same() -> None:
    state = np.uint64(12345)
    with np.errstate(over="ignore"):
        twin_state, twin = below.py_func(state, 1000)
    fast_state, fast = below(state, 1000)
    assert (int(twin_state), int(twin)) == (int(fast_state), int(fast))


def test_all_orders_are_equally_likely() -> None:
    seen = dict.fromkeys(permutations(range(4)), 0)
    out = np.empty(4, np.int64)
    for key in range(24 * 200):
        random_order(np.uint64(3), key, 0, 0, out)
        seen[tuple(out.tolist())] += 1
    assert stats.chisquare(list(seen.values())).pvalue > 1e-4
