"""Later records of the same datasets: what was measured again, and whether two runs are spliced."""

from __future__ import annotations

import numpy as np

from auditkit.audits.selection.records import (
    Floats,
    Indices,
    Records,
    first_records,
    oriented,
)
from auditkit.audits.selection.times import median_ratio
from auditkit.errors import SchemaError
from auditkit.results.common import Skipped
from auditkit.results.scoreboard import TIE, Remeasured, Rerun
from auditkit.schema import Scoreboard
from auditkit.statistics.selection import rank_records

NO_SECONDS = Skipped("no seconds are stored")

MOSTLY = 0.5
"""A system is stable when more than this share of its scores is identical in both runs."""


def find_reruns(board: Scoreboard, records: Records, tie: float) -> tuple[Rerun, ...]:
    """One comparison for every run that repeats datasets, against the first records of those.

    Raises
    ------
    SchemaError
        A dataset is scored in another orientation than before.
    """
    if board.run is None:
        return ()
    _, first_of = first_records(board)
    again = np.flatnonzero(first_of != np.arange(len(first_of)))
    again = again[np.isin(first_of[again], records.rows)]
    runs = [board.run[row] for row in again]
    found = []
    for run in dict.fromkeys(runs):
        rows = again[np.array([other == run for other in runs])]
        first = first_of[rows]
        _check_orientation(board, first, board, rows)
        found.append(
            _compare(
                run,
                tuple(dict.fromkeys(board.run[row] for row in first)),
                board.systems,
                records,
                np.searchsorted(records.rows, first),
                oriented(board.score[rows], board.higher_is_better[rows]),
                None if board.seconds is None else board.seconds[records.rows],
                None if board.seconds is None else board.seconds[rows],
                tie,
            )
        )
    return tuple(found)


def compare_scoreboards(
    first: Scoreboard,
    second: Scoreboard,
    *,
    tie: float = 1e-6,
    names: tuple[str, str] = ("first", "second"),
) -> Rerun:
    """Compare two runs kept as two scoreboards, as ``audit_selection`` compares runs within one.

    Parameters
    ----------
    first, second
        The runs; of each, the first record of a dataset counts. Systems are matched by name, and
        the shares are over all datasets of ``first``.
    tie
        Scores that differ by no more are equal.
    names
        What the result calls the runs.

    Raises
    ------
    SchemaError
        The two have no dataset in common, or score one in different orientations.

    Examples
    --------
    >>> import numpy as np
    >>> from auditkit.schema import Scoreboard
    >>> def board(score):
    ...     return Scoreboard(
    ...         score=np.array(score), higher_is_better=np.array([True, True]),
    ...         datasets=("a", "b"), systems=("ours", "theirs"),
    ...     )
    >>> before, after = board([[0.5, 0.7], [0.9, 0.8]]), board([[0.5, 0.4], [0.9, 0.6]])
    >>> rerun = compare_scoreboards(before, after)
    >>> rerun.stable, rerun.wins_before["ours"], rerun.wins_after["ours"], rerun.splice
    (('ours',), 1, 2, True)
    """
    rows, _ = first_records(first)
    score = oriented(first.score[rows], first.higher_is_better[rows])
    winner, rank = rank_records(score, tie)
    records = Records(rows, score, winner, rank, 0, 0)
    place = {first.datasets[row]: position for position, row in enumerate(rows)}
    other_rows, _ = first_records(second)
    other_rows = other_rows[[second.datasets[row] in place for row in other_rows]]
    if len(other_rows) == 0:
        raise SchemaError("two scoreboards without a common dataset", where="datasets")
    where = np.array([place[second.datasets[row]] for row in other_rows], dtype=np.int64)
    _check_orientation(first, rows[where], second, other_rows)
    column = {system: position for position, system in enumerate(second.systems)}

    def of_first_systems(values: Floats) -> Floats:
        absent = np.full(len(values), np.nan)
        columns = [values[:, column[s]] if s in column else absent for s in first.systems]
        return np.stack(columns, axis=1)

    timed = first.seconds is not None and second.seconds is not None
    return _compare(
        names[1],
        (names[0],),
        first.systems,
        records,
        where,
        of_first_systems(oriented(second.score[other_rows], second.higher_is_better[other_rows])),
        first.seconds[rows] if timed and first.seconds is not None else None,
        of_first_systems(second.seconds[other_rows])
        if timed and second.seconds is not None
        else None,
        tie,
    )


def _check_orientation(
    first: Scoreboard, rows: Indices, second: Scoreboard, again: Indices
) -> None:
    turned = np.flatnonzero(first.higher_is_better[rows] != second.higher_is_better[again])
    if len(turned):
        raise SchemaError(
            "a dataset is scored in another orientation in its second run",
            found=repr(second.datasets[again[turned[0]]]),
            where=f"higher_is_better[{again[turned[0]]}]",
        )


def _compare(
    run: str,
    against: tuple[str, ...],
    systems: tuple[str, ...],
    records: Records,
    where: Indices,
    again: Floats,
    seconds: Floats | None,
    seconds_again: Floats | None,
    tie: float,
) -> Rerun:
    """Compare oriented scores ``again`` [m, S] with those of the records at ``where`` [m]."""
    before = records.score[where]
    found = {
        system: _remeasured(
            before[:, s],
            again[:, s],
            None if seconds is None else seconds[where, s],
            None if seconds_again is None else seconds_again[:, s],
        )
        for s, system in enumerate(systems)
    }
    stable = tuple(system for system, x in found.items() if _is_stable(x))
    # what the second run does not hold stays as it was
    merged = records.score.copy()
    merged[where] = np.where(np.isnan(again), before, again)
    merged_winner, _ = rank_records(merged, tie)
    names = (*systems, TIE)
    moved = _wins(merged_winner, names) != _wins(records.winner, names)
    return Rerun(
        run=run,
        against=against,
        n=len(where),
        systems=found,
        remeasured=tuple(system for system in systems if system not in stable),
        stable=stable,
        wins_before=_wins(records.winner[where], names),
        wins_after=_wins(merged_winner[where], names),
        win_share=_shares(records.winner, names),
        merged_win_share=_shares(merged_winner, names),
        splice=moved and 0 < len(stable) < len(systems),
    )


def _remeasured(
    before: Floats, again: Floats, seconds: Floats | None, seconds_again: Floats | None
) -> Remeasured:
    old, new = ~np.isnan(before), ~np.isnan(again)
    both = old & new
    n, identical = int(both.sum()), int((before[both] == again[both]).sum())
    return Remeasured(
        n=n,
        identical=identical,
        better=int((again[both] > before[both]).sum()),
        worse=int((again[both] < before[both]).sum()),
        appeared=int((new & ~old).sum()),
        vanished=int((old & ~new).sum()),
        share_identical=identical / n if n else Skipped("no dataset with a score in both runs"),
        seconds_before=_median(seconds),
        seconds_after=_median(seconds_again),
        seconds_ratio=NO_SECONDS
        if seconds is None or seconds_again is None
        else median_ratio(seconds_again, seconds)[1],
    )


def _is_stable(x: Remeasured) -> bool:
    return x.identical > MOSTLY * x.n if x.n else x.appeared == 0


def _median(seconds: Floats | None) -> float | Skipped:
    known = np.empty(0) if seconds is None else seconds[~np.isnan(seconds)]
    return float(np.median(known)) if len(known) else NO_SECONDS


def _wins(winner: Indices, names: tuple[str, ...]) -> dict[str, int]:
    return dict(zip(names, np.bincount(winner, minlength=len(names)).tolist(), strict=True))


def _shares(winner: Indices, names: tuple[str, ...]) -> dict[str, float]:
    return {name: count / len(winner) for name, count in _wins(winner, names).items()}
