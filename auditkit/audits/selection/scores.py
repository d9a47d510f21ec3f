"""How good the scores are, whatever the winners, and whether released winners follow from them."""

from __future__ import annotations

import numpy as np

from auditkit.audits.selection.records import Indices, oriented
from auditkit.results.common import Skipped
from auditkit.results.scoreboard import TIE, Claim, Claims, MeanScore, RelativeError
from auditkit.schema import Scoreboard
from auditkit.statistics.selection import rank_records

MOST_EXAMPLES = 20


def mean_scores(board: Scoreboard, rows: Indices) -> dict[str, MeanScore]:
    """Mean scores by orientation; only scores in [0, 1] lie on one scale across datasets."""
    found = {}
    for label, higher in (("higher is better", True), ("lower is better", False)):
        score = board.score[rows[board.higher_is_better[rows] == higher]]
        if len(score) == 0:
            continue
        complete = score[~np.isnan(score).any(axis=1)]
        mean: dict[str, float] | Skipped
        if len(complete) == 0:
            mean = Skipped("no dataset on which all systems have a score")
        elif ((complete >= 0) & (complete <= 1)).all():
            mean = dict(zip(board.systems, complete.mean(axis=0).tolist(), strict=True))
        else:
            mean = Skipped("the scores of different datasets lie on different scales")
        found[label] = MeanScore(len(complete), len(score) - len(complete), mean)
    return found


def relative_error(board: Scoreboard, rows: Indices) -> RelativeError | Skipped:
    errors = board.score[rows[np.logical_not(board.higher_is_better[rows])]]
    if len(errors) == 0:
        return Skipped("no dataset on which lower is better")
    complete = errors[~np.isnan(errors).any(axis=1)]
    best = complete.min(axis=1)
    with np.errstate(over="ignore"):
        ratio = complete[best > 0] / best[best > 0, None]
    median: dict[str, float] | Skipped = Skipped("no dataset with a positive best error")
    if np.isinf(ratio).any():
        median = Skipped("a ratio is too large for a float")
    geometric = median
    if len(ratio) and np.isfinite(ratio).all():
        median = dict(zip(board.systems, np.median(ratio, axis=0).tolist(), strict=True))
        means = np.exp(np.log(ratio).mean(axis=0))
        geometric = dict(zip(board.systems, means.tolist(), strict=True))
    return RelativeError(
        n=len(ratio),
        incomplete=len(errors) - len(complete),
        not_positive=len(complete) - len(ratio),
        median=median,
        geometric_mean=geometric,
    )


def judge_claims(board: Scoreboard, tie: float) -> Claims | Skipped:
    """Released winners against those the scores give, over all records with any score."""
    if board.claimed_winner is None:
        return Skipped("no claimed winners are stored")
    winner, _ = rank_records(oriented(board.score, board.higher_is_better), tie)
    scored = np.flatnonzero(np.isfinite(board.score).any(axis=1)).tolist()
    names = (*board.systems, TIE)
    judged = [row for row in scored if board.claimed_winner[row]]
    if not judged:
        return Skipped("no record names a winner")
    wrong = [row for row in judged if board.claimed_winner[row] != names[winner[row]]]
    examples = tuple(
        Claim(
            dataset=board.datasets[row],
            run="" if board.run is None else board.run[row],
            claimed=board.claimed_winner[row],
            recomputed=names[winner[row]],
        )
        for row in wrong[:MOST_EXAMPLES]
    )
    return Claims(len(judged), len(wrong), examples)
