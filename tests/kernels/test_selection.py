"""The kernels of the selection audit against naive twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from auditkit.kernels import selection as kernels

# few distinct values a third of the tolerance apart: ties, wins, and ties that are not transitive
VALUES = st.sampled_from([np.nan, *np.arange(6) / 3])
SCORES = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=VALUES)
VERSIONS = pytest.mark.parametrize("version", ["compiled", "plain"])


def kernel(name: str, version: str) -> Any:
    function = getattr(kernels, name)
    return function if version == "compiled" else function.py_func


def better(a: float, b: float, tie: float) -> bool:
    if np.isnan(a):
        return False
    return bool(np.isnan(b) or a - b > max(tie, 2.0**-50 * max(abs(a), abs(b))))


@VERSIONS
@given(score=SCORES, tie=st.sampled_from([0.0, 0.1, 0.5, 1.0]))
@settings(deadline=None)
def test_ranks_and_winners_pair_by_pair(version: str, score: np.ndarray, tie: float) -> None:
    n, S = score.shape
    winner, rank = np.empty(n, dtype=np.int64), np.empty((n, S))
    kernel("rank_records", version)(score, tie, winner, rank)
    for x, won, places in zip(score, winner, rank, strict=True):
        beaten = [sum(better(b, a, tie) for b in x) for a in x]
        even = [
            sum(not better(a, b, tie) and not better(b, a, tie) for b in np.delete(x, i))
            for i, a in enumerate(x)
        ]
        assert places.tolist() == [1 + k + t / 2 for k, t in zip(beaten, even, strict=True)]
        best = [i for i, a in enumerate(x) if all(better(a, b, tie) for b in np.delete(x, i))]
        assert won == (best[0] if best else S)
        assert places.sum() == S * (S + 1) / 2


@VERSIONS
@given(score=SCORES, tie=st.sampled_from([0.0, 0.5]))
@settings(deadline=None)
def test_win_counts_on_chosen_rows(version: str, score: np.ndarray, tie: float) -> None:
    rows = np.arange(0, len(score), 2)
    S = score.shape[1]
    wins = np.zeros((S, S), dtype=np.int64)
    kernel("count_wins", version)(score, rows, tie, wins)
    for a in range(S):
        for b in range(S):
            assert wins[a, b] == sum(better(score[i, a], score[i, b], tie) for i in rows)


def follow(version: str, validation: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, ...]:
    n, C = test.shape
    out = (
        np.empty((n, C)), np.empty((n, 2)), np.empty(n), np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
    )  # fmt: skip
    kernel("follow_traces", version)(validation, test, *out)
    return out


TRACES = st.tuples(st.just(2), st.integers(1, 4), st.integers(1, 7))


@VERSIONS
@given(both=arrays(np.float64, TRACES, elements=VALUES))
@settings(deadline=None)
def test_traces_by_looking_at_every_prefix(version: str, both: np.ndarray) -> None:
    validation, test = both
    bias, ends, spread, length, scored = follow(version, validation, test)
    for i, (v, t) in enumerate(zip(validation, test, strict=True)):
        known = np.flatnonzero(~np.isnan(v) | ~np.isnan(t))
        assert length[i] == (known[-1] + 1 if len(known) else 0)
        assert scored[i] == np.isfinite(t).sum()
        expected = np.full(len(t), np.nan)
        for k in range(1, length[i] + 1):
            if np.isfinite(v[:k]).any() and np.isfinite(t[:k]).any():
                expected[k - 1] = np.nanmax(t[:k]) - t[np.nanargmax(v[:k])]
        np.testing.assert_array_equal(bias[i], expected)
        if length[i]:
            np.testing.assert_array_equal(ends[i, 0] - ends[i, 1], expected[length[i] - 1])
        finite = t[np.isfinite(t)]
        # two sums of at most 7 terms of size 5 / 3 or less
        expected_spread = finite.std(ddof=1) if len(finite) > 1 else 0.0
        assert spread[i] == pytest.approx(expected_spread, abs=1e-14)


def test_the_first_of_equal_validation_scores_is_chosen() -> None:
    bias, ends, *_ = follow("compiled", np.array([[0.5, 0.5]]), np.array([[0.1, 0.2]]))
    assert bias[0].tolist() == [0.0, 0.1]
    assert ends[0].tolist() == [0.2, 0.1]


@pytest.mark.parametrize(
    ("a", "b", "tie", "expected"),
    [
        (1.0, 0.0, 0.5, 1),
        (0.5, 0.0, 0.5, 0),
        (0.3, 0.1 + 0.2, 0.0, 0),
        (3e10, np.nextafter(3e10, 4e10), 1e-6, 0),
        (3e10 + 1, 3e10, 1e-6, 1),
        (0.0, np.nan, 9.0, 1),
        (np.nan, np.nan, 0.0, 0),
    ],
)
def test_what_beats_what(a: float, b: float, tie: float, expected: int) -> None:
    for compare in (kernels.compare, kernels.compare.py_func):
        assert compare(a, b, tie) == expected
        assert compare(b, a, tie) == -expected
