"""Was the winner picked on the test set, given more time, or assembled from two runs?

Source: *Winning by Peeking*, sections 5-9.
"""

from __future__ import annotations

import math

from auditkit.audits.inputs import require
from auditkit.audits.selection.records import MISSING_POLICIES, MissingPolicy
from auditkit.audits.selection.reruns import compare_scoreboards
from auditkit.audits.selection.scoreboard import audit_scoreboard
from auditkit.audits.selection.search import audit_search
from auditkit.errors import UsageError
from auditkit.results.common import Stamp
from auditkit.results.scoreboard import ScoreboardAudit
from auditkit.results.search import SearchAudit
from auditkit.results.selection import SelectionResult
from auditkit.schema import AuditData
from auditkit.statistics.bootstrap import Progress, Resampler, Resampling

__all__ = ["audit_selection", "compare_scoreboards"]


def audit_selection(
    data: AuditData,
    *,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    progress: Progress | None = None,
    tie: float = 1e-6,
    candidates: int | None = None,
    missing: MissingPolicy = "loss",
) -> SelectionResult:
    """Audit every scoreboard and every search of an audit file.

    Parameters
    ----------
    data
        The audit file, or arrays in memory.
    replicates, confidence, seed, threads, resampler
        Of the percentile bootstrap over datasets, or over clusters where they are stored: an
        interval holds when those units are independent.
    progress
        Told how far the audit is.
    tie
        Scores that differ by no more are equal, everywhere; in score units.
    candidates
        How many candidates each system's search scored, for the noise floor of scoreboards,
        instead of the stored numbers.
    missing
        What a system without a score means. ``loss``: it loses the dataset to every system with
        a score. ``drop``: the dataset is left out. ``error``: it is refused. A dataset on which
        no system has a score is always left out. All are counted in the result.

    Raises
    ------
    UsageError
        An option is out of its range, or a score is missing where ``missing="error"``.
    SchemaError
        A system is called ``tie``, or a re-run has another orientation.

    Examples
    --------
    >>> import numpy as np
    >>> from auditkit.schema import AuditData, Scoreboard
    >>> board = Scoreboard(
    ...     score=np.array([[0.9, 0.8], [0.7, 0.6], [0.5, 0.5], [0.4, 0.6]]),
    ...     higher_is_better=np.ones(4, dtype=bool),
    ...     datasets=("a", "b", "c", "d"),
    ...     systems=("ours", "theirs"),
    ... )
    >>> audit = audit_selection(AuditData(scoreboards={"demo": board})).items[0]
    >>> {name: share.estimate for name, share in audit.win_share.items()}
    {'ours': 0.5, 'theirs': 0.25, 'tie': 0.25}
    """
    require(data, "selection")
    if not (math.isfinite(tie) and tie >= 0):
        raise UsageError("bad tie tolerance", found=tie, expected="0 or more", where="tie")
    if candidates is not None and candidates < 1:
        raise UsageError(
            "too few candidates", found=candidates, expected="1 or more", where="candidates"
        )
    if missing not in MISSING_POLICIES:
        raise UsageError(
            "unknown policy", found=repr(missing), expected=" or ".join(MISSING_POLICIES),
            where="missing",
        )  # fmt: skip
    resampling = Resampling(
        replicates=replicates,
        confidence=confidence,
        seed=seed,
        threads=threads,
        resampler=resampler,
        progress=progress,
    )  # fmt: skip
    settings = {
        "replicates": replicates,
        "confidence": confidence,
        "seed": seed,
        "resampler": resampler,
        "method": resampling.method,
        "selection": {"tie": tie, "candidates": candidates, "missing": missing},
    }
    items: list[ScoreboardAudit | SearchAudit] = []
    total = len(data.scoreboards) + len(data.searches)

    def step() -> None:
        if progress is not None:
            progress("selection", len(items), total)

    for name, board in data.scoreboards.items():
        step()
        items.append(
            audit_scoreboard(
                name, board, tie=tie, candidates=candidates, missing=missing, resampling=resampling
            )
        )
    for name, search in data.searches.items():
        step()
        items.append(audit_search(name, search, tie=tie, resampling=resampling))
    step()
    return SelectionResult(Stamp(data.path, data.sha256, settings), tuple(items))
