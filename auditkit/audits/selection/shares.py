"""Win shares on slices of the records, and head-to-head tests."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TypeVar, cast

import numpy as np

from auditkit.audits.estimates import estimates
from auditkit.audits.selection.records import Flags, Floats, Indices, Records
from auditkit.results.common import Estimate, Skipped
from auditkit.results.scoreboard import TIE, HeadToHead
from auditkit.statistics.bootstrap import Resampling
from auditkit.statistics.selection import count_wins
from auditkit.statistics.tests import holm, sign_test

Key = TypeVar("Key")

DECIMALS = 8
"""Resampled means of shares are good to 1e-9."""

MOST_CELLS = 2**23
"""Cells of a sample that is bootstrapped at once; more columns than fit go in several calls."""


def win_shares(
    winner: Indices,
    systems: tuple[str, ...],
    slices: Mapping[Key, Flags],
    resampling: Resampling,
    clusters: Indices | None,
) -> dict[Key, dict[str, Estimate] | Skipped]:
    """Share of each system, and of ties, on each slice, with bootstrap intervals.

    Parameters
    ----------
    winner
        [n] winners of the records; S is a tie.
    slices
        Masks [n]. All see the same resamples of the n records, so that a slice's size varies
        with the resample, as it would with another draw of datasets.
    clusters
        [n] labels, or None.
    """
    names = (*systems, TIE)
    found: dict[Key, dict[str, Estimate] | Skipped] = {
        key: Skipped("no dataset") for key, mask in slices.items() if not mask.any()
    }
    keys = [key for key, mask in slices.items() if mask.any()]
    batch = max(1, MOST_CELLS // (len(winner) * len(names)))
    for start in range(0, len(keys), batch):
        part = keys[start : start + batch]
        columns = np.concatenate([_won(winner, len(names), slices[key]) for key in part], axis=1)
        result = resampling.intervals(columns, clusters=clusters, missing="omit")
        # a slice that holds a dataset has its shares, with or without an interval
        shares = iter(cast("list[Estimate]", estimates(result)))
        for key in part:
            n = int(slices[key].sum())
            counts = np.bincount(winner[slices[key]], minlength=len(names)).tolist()
            found[key] = {
                name: _exact(next(shares), count, n)
                for name, count in zip(names, counts, strict=True)
            }
    return {key: found[key] for key in slices}


def _exact(share: Estimate, count: int, n: int) -> Estimate:
    """The share count / n; ends lose the rounding of resampled sums, so that zero is zero."""
    return Estimate(count / n, _rounded(share.low), _rounded(share.high), n)


def _rounded(end: float | Skipped) -> float | Skipped:
    return end if isinstance(end, Skipped) else max(0.0, min(1.0, round(end, DECIMALS) + 0.0))


def _won(winner: Indices, categories: int, mask: Flags) -> Floats:
    won = winner[:, None] == np.arange(categories)
    return np.where(mask[:, None], won.astype(np.float64), np.nan)


def missing_counts(gaps: Flags, systems: tuple[str, ...], mask: Flags) -> dict[str, int]:
    """On how many records of a slice each system has no score; ``gaps`` is [n, S]."""
    return dict(zip(systems, gaps[mask].sum(axis=0).tolist(), strict=True))


def head_to_head(
    records: Records, kept: Indices, systems: tuple[str, ...], tie: float
) -> tuple[HeadToHead, ...]:
    """Every pair of systems on the ``kept`` records, with Holm over the pairs."""
    wins = count_wins(records.score, kept, tie)
    gaps = np.isnan(records.score[kept])
    pairs = list(combinations(range(len(systems)), 2))
    p = [sign_test(int(wins[a, b]), int(wins[b, a])) for a, b in pairs]
    return tuple(
        HeadToHead(
            first=systems[a],
            second=systems[b],
            wins=int(wins[a, b]),
            losses=int(wins[b, a]),
            ties=len(kept) - int(wins[a, b]) - int(wins[b, a]),
            missing=int((gaps[:, a] | gaps[:, b]).sum()),
            sign_test_p=p_raw,
            holm_p=float(p_holm),
        )
        for (a, b), p_raw, p_holm in zip(pairs, p, holm(p), strict=True)
    )
