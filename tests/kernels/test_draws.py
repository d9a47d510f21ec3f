"""The counts of a resample: their law by chi-square tests, their bits by a twin in Python integers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from auditkit.kernels import draws
from auditkit.kernels.draws import COLUMNS, count_indices, draw_counts, poisson_table

GOLDEN = 0x9E3779B97F4A7C15
WORD = 2**64


def counts_of(n: int, replicates: int, key: int = 1, first: int = 0, table=None) -> np.ndarray:
    thresholds, rare = table or poisson_table(n)
    counts = np.full((replicates, -(-n // COLUMNS) * COLUMNS), 9, np.uint8)
    draw_counts(np.uint64(key), first, n, thresholds, rare, counts)
    assert (counts[:, n:] == 0).all()
    return counts[:, :n]


# --------------------------------------------------------------------------- the law of the counts


@pytest.mark.parametrize("n", [2, 3, 5, 16, 63, 64, 65, 101, 500, 3565, 20_000, 100_000])
def test_every_unit_is_drawn_equally_often(n: int) -> None:
    replicates = max(20, min(20_000, 4_000_000 // n))
    counts = counts_of(n, replicates)
    assert (counts.sum(axis=1, dtype=np.int64) == n).all()
    assert stats.chisquare(counts.sum(axis=0, dtype=np.int64)).pvalue > 1e-3


@pytest.mark.parametrize("n", [2, 3, 16, 63, 64, 101, 500, 3565, 100_000])
def test_a_count_is_binomial(n: int) -> None:
    replicates = max(20, min(20_000, 4_000_000 // n))
    seen = np.bincount(counts_of(n, replicates).ravel(), minlength=n + 1)
    expected = n * replicates * stats.binom.pmf(np.arange(len(seen)), n, 1 / n)
    last = int(np.flatnonzero(expected >= 10)[-1])
    observed = np.append(seen[:last], seen[last:].sum())
    expected = np.append(expected[:last], expected[last:].sum())
    # counts of one replicate are dependent, which makes the statistic smaller, never larger
    assert stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), last) > 1e-3


@pytest.mark.parametrize("n", [64, 100, 1000])
def test_counts_of_two_units_have_the_covariance_of_multinomials(n: int) -> None:
    counts = counts_of(n, 40_000 if n < 1000 else 8000).astype(float)
    left, right = counts[:, : n // 2].sum(axis=1), counts[:, n // 2 :].sum(axis=1)
    assert (left + right == n).all()
    # the variance of binomial(n, 1/2), with the normal approximation of its sampling error
    error = (n / 4) * math.sqrt(2 / len(left))
    assert abs(left.var() - n / 4) < 4 * error


@pytest.mark.parametrize("n", [64, 500, 3565])
def test_rare_codes_are_resolved_into_the_same_law(n: int) -> None:
    # only an eighth of the codes are direct, all others go through the residual distribution
    rate = 1 - 2 / math.sqrt(n)
    codes = 65536 * stats.poisson.pmf(np.arange(32), rate)
    whole = np.floor(codes / 8)
    whole[8:] = 0
    rare = np.cumsum(codes - whole)
    table = (np.cumsum(whole[:8]).astype(np.uint16), rare / rare[-1])
    replicates = 2_000_000 // n
    seen = np.bincount(counts_of(n, replicates, table=table).ravel(), minlength=12)
    expected = n * replicates * stats.binom.pmf(np.arange(12), n, 1 / n)
    kept = expected >= 10
    statistic = ((seen[:12] - expected)[kept] ** 2 / expected[kept]).sum()
    assert stats.chi2.sf(statistic, kept.sum() - 1) > 1e-3


@pytest.mark.parametrize("n", [64, 101, 3565, 10**6, 2**32 - 1])
def test_the_table_holds_the_poisson_distribution(n: int) -> None:
    thresholds, rare = poisson_table(n)
    whole = np.diff(np.append(0, thresholds.astype(np.int64)))
    left = 65536 - int(thresholds[-1])
    residual = np.diff(np.append(0.0, rare)) * left
    found = residual.copy()
    found[:8] += whole
    expected = 65536 * stats.poisson.pmf(np.arange(len(found)), 1 - 2 / math.sqrt(n))
    # what lies beyond 32 counts, below 1e-30, is shared out
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert (residual > -1e-12).all()


# -------------------------------------------------------------------------- the bits of the counts


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def twin(n: int, key: int, replicate: int) -> list[int]:
    """One replicate in Python integers, straight from the description of the method."""
    state = mix((key + replicate * GOLDEN) % WORD)
    counts, missing = [0] * n, n
    if n >= 64:
        thresholds, rare = poisson_table(n)
        missing = -1
        while missing < 0:
            state = mix(state)
            for i in range(n):
                word = mix((state + (i // 4) * GOLDEN) % WORD)
                code = (word >> (16 * (i % 4))) & 0xFFFF
                counts[i] = int((thresholds <= code).sum())
                if counts[i] == 8:
                    word = mix((state + (2**40 + i) * GOLDEN) % WORD)
                    counts[i] = int(np.searchsorted(rare, (word >> 11) * 2.0**-53, side="right"))
            missing = n - sum(counts)
    halves: list[int] = []
    counter = 2**41
    while missing:
        if not halves:
            word = mix((state + counter * GOLDEN) % WORD)
            halves, counter = [word % 2**32, word >> 32], counter + 1
        product = halves.pop(0) * n
        if product % 2**32 >= 2**32 % n:
            counts[product >> 32] += 1
            missing -= 1
    return counts


@pytest.mark.parametrize("n", [2, 63, 64, 101, 1001])
def test_counts_equal_their_twin(n: int) -> None:
    replicates = {101: 200, 1001: 60}.get(n, 30)
    found = counts_of(n, replicates, key=WORD - 3, first=5)
    assert found.tolist() == [twin(n, WORD - 3, 5 + b) for b in range(replicates)]


def test_the_twin_met_every_path() -> None:
    # among the replicates compared above there are rare codes and totals above n
    rare = redrawn = 0
    for n, replicates in ((101, 200), (1001, 60)):
        thresholds, _ = poisson_table(n)
        for b in range(5, 5 + replicates):
            state = mix(mix((WORD - 3 + b * GOLDEN) % WORD))
            words = [mix((state + i * GOLDEN) % WORD) for i in range(-(-n // 4))]
            codes = np.array([(words[i // 4] >> (16 * (i % 4))) & 0xFFFF for i in range(n)])
            counts = (thresholds[None] <= codes[:, None]).sum(axis=1)
            rare += int((counts == 8).any())
            redrawn += int(counts.sum() > n)
    assert rare > 0
    assert redrawn > 0


def test_a_replicate_depends_on_its_number_alone() -> None:
    whole = counts_of(200, 40, key=7)
    np.testing.assert_array_equal(counts_of(200, 7, key=7, first=11), whole[11:18])
    assert not np.array_equal(counts_of(200, 1, key=8), whole[:1])


def test_single_draws_reject_what_would_favour_a_unit() -> None:
    # a length for which one draw in 2000 must be rejected, as the twin does
    n, draws_made, state = 3 * 2**20 + 7, 20_000, 12345
    favoured = 2**32 % n
    counts = np.zeros((2, n), np.uint8)
    draws._add_singles(np.uint64(state), draws_made, n, np.uint64(favoured), counts, 1)
    assert not counts[0].any()
    expected: dict[int, int] = {}
    rejected, counter, made = 0, 2**41, 0
    while made < draws_made:
        word = mix((state + counter * GOLDEN) % WORD)
        counter += 1
        for half in (word % 2**32, word >> 32):
            if half * n % 2**32 < favoured:
                rejected += 1
            elif made < draws_made:
                unit = half * n >> 32
                expected[unit] = expected.get(unit, 0) + 1
                made += 1
    assert rejected > 0
    assert {int(i): int(counts[1, i]) for i in np.flatnonzero(counts[1])} == expected


def test_indices_are_counted() -> None:
    indices = np.random.default_rng(0).integers(0, 50, (20, 50))
    counts = np.full((20, 50), 9, np.uint8)
    count_indices(indices, counts)
    assert counts.tolist() == [np.bincount(row, minlength=50).tolist() for row in indices]


def test_the_smallest_poisson_rate_is_well_above_zero() -> None:
    assert 1 - 2 / math.sqrt(draws.SMALLEST_POISSON) == 0.75
