"""What the best of K candidates, chosen on the test set, can gain from noise alone."""

from __future__ import annotations

import numpy as np

from auditkit.audits.estimates import estimates
from auditkit.audits.selection.records import Flags, Floats, Indices, Records
from auditkit.results.common import Range, Skipped
from auditkit.results.scoreboard import FAR_BELOW, NoiseFloor, Spread
from auditkit.schema import Scoreboard
from auditkit.statistics.bootstrap import Resampling
from auditkit.statistics.selection import binomial_sigma, noise_bound


def noise_floor(
    board: Scoreboard,
    records: Records,
    leader: int,
    tie: float,
    candidates: int | None,
    resampling: Resampling,
    clusters: Indices | None,
) -> NoiseFloor | Skipped:
    """sigma sqrt(2 ln K) per dataset, for accuracy-like scores, against margins and tolerance.

    A dataset counts as accuracy-like when higher is better and all its scores lie in [0, 1];
    sigma = sqrt(p (1 - p) / test size) with p the system's own score. *Winning by Peeking*,
    section 9.
    """
    rows = records.rows
    if board.test_size is None:
        return Skipped("no test sizes are stored")
    if candidates is None and board.candidates is None:
        return Skipped("the number of candidates is not stored; state it with --candidates")
    K = _candidates(board, rows, candidates)
    accuracy = accuracy_like(board.score[rows], board.higher_is_better[rows])
    size = np.where(accuracy, board.test_size[rows], 0).astype(np.float64)
    sigma = binomial_sigma(records.score, size[:, None])
    bound = noise_bound(sigma, K)
    has = ~np.isnan(bound)
    if not has[:, leader].any():
        return Skipped(
            "no dataset has an accuracy-like score, a test size and a number of candidates"
        )
    mine = has[:, leader]
    margin = _margin(np.where(mine[:, None], records.score, np.nan), leader)
    won = mine & (records.winner == leader)
    below = np.stack(
        [
            np.where(mine, np.abs(margin) < bound[:, leader], np.nan),
            np.where(won, margin < bound[:, leader], np.nan),
        ],
        axis=1,
    )
    margin_below, wins_below = estimates(
        resampling.intervals(below, clusters=clusters, missing="omit"),
        [int(mine.sum()), int(won.sum())],
    )
    own = bound[mine, leader]
    spread = _spread(own)
    zero = Skipped("the median bound is zero")
    ratio = tie / spread.median if spread.median > 0 else zero
    wins = Skipped("the leading system wins none of these datasets")
    return NoiseFloor(
        system=board.systems[leader],
        n=int(mine.sum()),
        left_out=int((~mine).sum()),
        candidates=Range(float(K[mine, leader].min()), float(K[mine, leader].max())),
        bound=spread,
        median_margin=_median_margin(margin[won]) if won.any() else wins,
        margin_below=margin_below,
        wins_below=wins_below if won.any() else wins,
        tie_ratio=ratio,
        tie_far_below=ratio if isinstance(ratio, Skipped) else ratio < FAR_BELOW,
        systems={
            system: _spread(bound[has[:, column], column])
            if has[:, column].any()
            else Skipped("no dataset with a bound")
            for column, system in enumerate(board.systems)
        },
    )


def accuracy_like(score: Floats, higher_is_better: Flags) -> Flags:
    """[n]: higher is better and every score there is lies in [0, 1]."""
    return higher_is_better & ~outside_unit(score) & ~np.isnan(score).all(axis=1)


def outside_unit(score: Floats) -> Flags:
    """[n]: some score lies outside [0, 1]."""
    return np.asarray(((score < 0) | (score > 1)).any(axis=1))


def _candidates(board: Scoreboard, rows: Indices, stated: int | None) -> Floats:
    """[n, S] candidates of each search; NaN where unknown."""
    if stated is not None or board.candidates is None:
        return np.full((len(rows), len(board.systems)), float(stated or 0))
    stored = board.candidates[rows].astype(np.float64)
    return np.where(stored >= 1, stored, np.nan)


def _margin(score: Floats, system: int) -> Floats:
    """[n] the system's score minus the best other; infinite where one of the two is missing."""
    others = np.delete(score, system, axis=1)
    best = np.max(np.where(np.isnan(others), -np.inf, others), axis=1, initial=-np.inf)
    mine = score[:, system]
    return np.where(np.isnan(mine), -np.inf, mine - best)


def _median_margin(margin: Floats) -> float | Skipped:
    """Median over the wins against a competitor with a score."""
    contested = margin[np.isfinite(margin)]
    return float(np.median(contested)) if len(contested) else Skipped("no competitor has a score")


def _spread(values: Floats) -> Spread:
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Spread(len(values), float(low), float(median), float(high))
