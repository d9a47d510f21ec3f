"""How often a map of declared winners is right on the test split, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.audits.estimates import estimates
from auditkit.audits.local_scores import Scores
from auditkit.results.common import Estimate, Skipped
from auditkit.statistics.bootstrap import Resampling
from auditkit.statistics.conformal import NOBODY, A, B

Floats = NDArray[np.float64]
Winners = NDArray[np.int8]

RATES = (
    "declared_a", "declared_b", "false_winner_rate", "false_a", "false_b", "false_share", "conditional_gain"
)  # fmt: skip

AMONG_DECLARED = ("false_share", "conditional_gain")
"""Rates taken where a winner is declared, not over all test observations."""


def rates(
    declared: Sequence[dict[str, Winners]], scores: Scores, plan: Resampling
) -> list[dict[str, dict[str, Any]]]:
    """Fields of ``Declarations`` by alpha and name; all share the resamples of the test rows."""
    score, gap = scores.values["test"], scores.gap["test"]
    blocks = [(name, w) for winners in declared for name, w in winners.items()]
    columns = np.column_stack([_columns(w, score, gap) for _, w in blocks])
    counts = [
        int((w != NOBODY).sum()) if rate in AMONG_DECLARED else len(w)
        for _, w in blocks
        for rate in RATES
    ]
    found = iter(estimates(plan.intervals(columns, missing="omit"), counts))
    out: list[dict[str, dict[str, Any]]] = []
    for winners in declared:
        out.append({})
        for name, w in winners.items():
            quantities: dict[str, Any] = dict(zip(RATES, found, strict=False))
            n = int((w != NOBODY).sum())
            for rate, quantity in quantities.items():
                quantities[rate] = _tidy(quantity, n, rate)
            out[-1][name] = {
                "rule": name.removeprefix("controlled "), "n_declared": n, **quantities
            }  # fmt: skip
    return out


def _tidy(x: Estimate | Skipped, n_declared: int, rate: str) -> Estimate | Skipped:
    """Say why there is nothing to say of the declared winners; keep rounding from leaving [0, 1]."""
    among = rate in AMONG_DECLARED
    if among and n_declared == 0:
        return Skipped("no winner is declared")
    if isinstance(x, Skipped):
        return x
    if among and n_declared == 1:
        one = Skipped("one winner is declared: nothing to resample")
        return replace(x, low=one, high=one)
    if rate == "conditional_gain":
        return x
    low, high = (
        min(max(end, 0.0), 1.0) if isinstance(end, float) else end for end in (x.low, x.high)
    )
    return replace(x, low=low, high=high)


def _columns(winners: Winners, score: Floats, gap: Floats) -> Floats:
    """One column a rate of ``RATES``; NaN where a row does not count."""
    a, b = winners == A, winners == B
    false_a, false_b = a & (score >= 0), b & (score <= 0)
    wrong, some = false_a | false_b, a | b
    share = np.where(some, wrong, np.nan)
    gain = np.where(some, np.where(a, -gap, gap), np.nan)
    return np.column_stack([a, b, wrong, false_a, false_b, share, gain]).astype(np.float64)


def aggregate(scores: Scores, plan: Resampling) -> dict[str, Any]:
    """What does not depend on alpha: the aggregate against the prevalence of local superiority."""
    score, gap, local = scores.values["test"], scores.gap["test"], scores.test.mean
    columns = np.column_stack([gap, local < 0, local > 0, score < 0, score > 0])
    names = ("mean_gap", "prevalence_a", "prevalence_b", "win_share_a", "win_share_b")
    found: dict[str, Any] = dict(
        zip(names, estimates(plan.intervals(columns.astype(np.float64))), strict=True)
    )
    mean = found["mean_gap"]
    assert isinstance(mean, Estimate)
    winner = {-1: "A", 0: "tie", 1: "B"}[int(np.sign(mean.estimate))]
    return {**found, "aggregate_winner": winner, "n_ties": int((score == 0).sum())}
