"""The records of a scoreboard that are audited: the first of each dataset, oriented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import SchemaError, UsageError
from auditkit.results.scoreboard import TIE
from auditkit.schema import Scoreboard
from auditkit.statistics.selection import rank_records

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

MissingPolicy = Literal["loss", "drop", "error"]
MISSING_POLICIES = get_args(MissingPolicy)


@dataclass(frozen=True, slots=True)
class Records:
    """What the shares, ranks and tests of a scoreboard are computed from.

    Attributes
    ----------
    rows
        [n] positions in the scoreboard.
    score
        [n, S] oriented: higher is better.
    winner, rank
        [n] and [n, S], as ``rank_records`` gives them.
    unscored, dropped
        Datasets left out because no system has a score, and by the missing policy.
    """

    rows: Indices
    score: Floats
    winner: Indices
    rank: Floats
    unscored: int
    dropped: int


def first_records(board: Scoreboard) -> tuple[Indices, Indices]:
    """Rows of the first record of each dataset, and for every row the row of its first record."""
    first: dict[str, int] = {}
    first_of = np.array(
        [first.setdefault(dataset, row) for row, dataset in enumerate(board.datasets)],
        dtype=np.int64,
    )
    return np.flatnonzero(first_of == np.arange(len(first_of))), first_of


def oriented(score: Floats, higher_is_better: Flags) -> Floats:
    """A copy of the scores [n, S] in which higher is better."""
    return np.where(higher_is_better[:, None], score, -score)


def read_records(name: str, board: Scoreboard, tie: float, missing: MissingPolicy) -> Records:
    """Choose and orient the records of a scoreboard, and find their winners.

    Raises
    ------
    UsageError
        A score is missing and ``missing`` is ``error``, or nothing is left.
    SchemaError
        A system has the name that stands for a tie.
    """
    where = f"scoreboards/{name}"
    if TIE in board.systems:
        raise SchemaError(
            "name of a system that stands for a tie", found=repr(TIE), expected="another name",
            where=f"{where}/systems",
        )  # fmt: skip
    rows, _ = first_records(board)
    gaps = np.isnan(board.score[rows])
    scored = ~gaps.all(axis=1)
    kept = scored & ~gaps.any(axis=1) if missing == "drop" else scored
    if missing == "error" and gaps.any():
        at, system = np.argwhere(gaps)[0]
        raise UsageError(
            "a score is missing",
            found=f"none of {board.systems[system]!r} on dataset {board.datasets[rows[at]]!r}",
            expected="every score, or --missing loss or drop",
            where=f"{where}/score",
        )
    if not kept.any():
        raise UsageError("no dataset is left to audit", expected="scores", where=f"{where}/score")
    rows = rows[kept]
    score = oriented(board.score[rows], board.higher_is_better[rows])
    winner, rank = rank_records(score, tie)
    unscored = int((~scored).sum())
    return Records(rows, score, winner, rank, unscored, int((~kept).sum()) - unscored)
