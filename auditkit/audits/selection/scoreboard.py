"""The audit of one scoreboard."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from auditkit.audits.selection.noise import noise_floor
from auditkit.audits.selection.records import (
    Flags,
    Floats,
    Indices,
    MissingPolicy,
    Records,
    read_records,
)
from auditkit.audits.selection.reruns import find_reruns
from auditkit.audits.selection.scores import judge_claims, mean_scores, relative_error
from auditkit.audits.selection.shares import (
    head_to_head,
    missing_counts,
    win_shares,
)
from auditkit.audits.selection.times import budgets, no_slower, nominal_budget, time_ratios
from auditkit.results.common import Skipped
from auditkit.results.scoreboard import Deduplicated, Matched, ScoreboardAudit, WinShares
from auditkit.schema import Labels, Scoreboard
from auditkit.statistics.bootstrap import Resampling

ALL = "all"
NO_SECONDS = Skipped("no seconds are stored")
MOST_GROUPS = 100
"""More groups than this are no strata."""


def audit_scoreboard(
    name: str,
    board: Scoreboard,
    *,
    tie: float,
    candidates: int | None,
    missing: MissingPolicy,
    resampling: Resampling,
) -> ScoreboardAudit:
    """Everything the selection audit says of one scoreboard; see ``audit_selection``."""
    records = read_records(name, board, tie, missing)
    rows, systems = records.rows, board.systems
    gaps = np.isnan(records.score)
    everything = np.ones(len(rows), dtype=np.bool_)
    clusters = _codes(board.clusters, rows)
    leader = _leader(records, len(systems))
    seconds = None if board.seconds is None else board.seconds[rows]
    groups = _groups(board, rows)
    matches = {} if seconds is None else _matches(seconds, leader)
    kept, repeated, kept_by = _one_per_cluster(board, rows, clusters)

    slices: dict[Any, Flags] = {ALL: everything, **matches}
    if not isinstance(groups, Skipped):
        slices |= {("group", label): mask for label, mask in groups.items()}
    if clusters is not None:
        slices[kept_by] = np.isin(np.arange(len(rows)), kept)
    shares = win_shares(records.winner, systems, slices, resampling, clusters)

    def part(mask: Flags) -> tuple[int, dict[str, int]]:
        return int(mask.sum()), missing_counts(gaps, systems, mask)

    budget_seconds = None if board.budget_seconds is None else board.budget_seconds[rows]
    return ScoreboardAudit(
        scoreboard=name,
        systems=systems,
        n_records=len(board.datasets),
        n_datasets=len(rows),
        n_unscored=records.unscored,
        n_dropped=records.dropped,
        unit="dataset" if clusters is None else "cluster",
        n_units=len(kept),
        tie_tolerance=tie,
        missing_policy=missing,
        missing=missing_counts(gaps, systems, everything),
        leader=systems[leader],
        win_share=shares[ALL],
        groups=groups
        if isinstance(groups, Skipped)
        else {
            label: WinShares(*part(mask), shares["group", label]) for label, mask in groups.items()
        },
        head_to_head=head_to_head(records, np.arange(len(rows)), systems, tie),
        mean_rank=dict(zip(systems, records.rank.mean(axis=0).tolist(), strict=True)),
        mean_score=mean_scores(board, rows),
        relative_error=relative_error(board, rows),
        nominal_budget=nominal_budget(budget_seconds),
        budget=NO_SECONDS if seconds is None else budgets(seconds, budget_seconds, systems),
        time_ratio=NO_SECONDS if seconds is None else time_ratios(seconds, systems),
        matched=NO_SECONDS
        if seconds is None
        else tuple(
            Matched(
                system=systems[leader],
                against=ALL if len(others) > 1 else systems[others[0]],
                others=tuple(systems[other] for other in others),
                n=int(mask.sum()),
                missing=missing_counts(gaps, systems, mask),
                win_share=shares[others],
            )
            for others, mask in matches.items()
        ),
        deduplicated=Skipped("no clusters are stored")
        if clusters is None
        else Deduplicated(
            n=len(kept),
            repeated=repeated,
            kept_by=kept_by,
            missing=missing_counts(gaps, systems, slices[kept_by]),
            win_share=shares[kept_by],
            head_to_head=head_to_head(records, kept, systems, tie),
        ),
        noise_floor=noise_floor(board, records, leader, tie, candidates, resampling, clusters),
        claims=judge_claims(board, tie),
        reruns=find_reruns(board, records, tie),
    )


def _leader(records: Records, systems: int) -> int:
    """The system with the most wins; on equal wins, the one with the better mean rank."""
    wins = np.bincount(records.winner, minlength=systems + 1)[:systems]
    return min(range(systems), key=lambda s: (-wins[s], records.rank[:, s].mean()))


def _codes(labels: Labels | None, rows: Indices) -> Indices | None:
    """Integers that are equal where the labels of the rows are."""
    if labels is None:
        return None
    codes: dict[Any, int] = {}
    return np.array([codes.setdefault(labels[row], len(codes)) for row in rows], dtype=np.int64)


def _groups(board: Scoreboard, rows: Indices) -> dict[str, Flags] | Skipped:
    """The records [n] of each group, in order of appearance."""
    if board.group is None:
        return {}
    labels = [board.group[row] for row in rows]
    names = dict.fromkeys(labels)
    if len(names) > MOST_GROUPS:
        return Skipped(f"{len(names):,} groups; at most {MOST_GROUPS} are audited apart")
    text = np.array(labels, dtype=object)
    return {name: np.asarray(text == name, dtype=np.bool_) for name in names}


def _matches(seconds: Floats, leader: int) -> dict[tuple[int, ...], Flags]:
    """Where [n] the leading system took no longer than each other system, and than all others."""
    others = tuple(system for system in range(seconds.shape[1]) if system != leader)
    sets: dict[tuple[int, ...], None] = dict.fromkeys((other,) for other in others)
    if others:
        sets[others] = None
    return {group: no_slower(seconds, leader, group) for group in sets}


def _one_per_cluster(
    board: Scoreboard, rows: Indices, clusters: Indices | None
) -> tuple[Indices, int, str]:
    """Positions of the largest record of each cluster, how many clusters repeat, what decided."""
    if clusters is None:
        return np.arange(len(rows)), 0, ""
    by = next((by for by in ("size", "test_size") if getattr(board, by) is not None), "dataset id")
    size = np.zeros(len(rows)) if by == "dataset id" else getattr(board, by)[rows]
    ids = [board.datasets[row] for row in rows]
    order: list[Any] = [int(text) for text in ids] if all(map(_is_number, ids)) else ids
    best: dict[int, int] = {}
    labels = clusters.tolist()
    for position, label in enumerate(labels):
        held = best.setdefault(label, position)
        if (-size[position], order[position]) < (-size[held], order[held]):
            best[label] = position
    repeated = sum(count > 1 for count in Counter(labels).values())
    return np.array(sorted(best.values()), dtype=np.int64), repeated, by


def _is_number(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit() and len(text) < 100
