"""What the local audit works on: the parts of a sample, its covariates on one scale, and its scores (docs/local.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import UsageError
from auditkit.results.common import Skipped
from auditkit.schema import Losses
from auditkit.statistics.bootstrap import Progress
from auditkit.statistics.local import (
    LARGEST_SCORE,
    Kernel,
    LocalMoments,
    global_moments,
    local_moments,
    standardisation,
)

Floats = NDArray[np.float64]
Score = Literal["gap", "log_ratio", "standardized"]

PARTS = ("estimation", "calibration", "test")

_SPLIT = 5  # the stream of the seed that draws splits; other streams draw other things


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the local audit that shape the scores and the local means; see ``audit_local``."""

    score: Score = "gap"
    neighbours: int | None = None
    radius: float | None = None
    kernel: Kernel = "box"
    offset: float | None = None
    variance_floor: float = 1e-6
    standardize: bool = True
    seed: int = 0
    threads: int | None = None
    progress: Progress | None = None

    def reach(self, n: int) -> int | None:
        """How many neighbours of n points; None where a radius is used instead."""
        if self.radius is not None:
            return None
        return math.isqrt(n) if self.neighbours is None else self.neighbours


@dataclass(frozen=True, slots=True)
class Parts:
    """Which rows are used for what.

    Attributes
    ----------
    rows
        Positions in the stored arrays, by part.
    split
        ``stored`` or ``drawn``.
    n_fit, n_excluded
        Rows ignored, and rows that miss something.
    missing
        Missing values by array or covariate.
    """

    rows: Mapping[str, NDArray[np.int64]]
    split: str
    n_fit: int
    n_excluded: int
    missing: Mapping[str, int]


def split_rows(losses: Losses, seed: int) -> Parts:
    """The rows of each part: as stored, else complete rows drawn in thirds with ``SeedSequence([seed, 5])``."""
    labels = None if losses.split is None else np.array(losses.split)
    wanted = np.ones(len(losses.loss_a), dtype=bool) if labels is None else labels != "fit"
    columns = {
        "loss_a": losses.loss_a,
        "loss_b": losses.loss_b,
        **{
            f"covariates/{name}": losses.covariates[:, j]
            for j, name in enumerate(losses.covariate_names)
        },
    }
    gone = {name: np.isnan(values) & wanted for name, values in columns.items()}
    complete = wanted & ~np.any(list(gone.values()), axis=0)
    if labels is None:
        rows = np.flatnonzero(complete)
        np.random.default_rng(np.random.SeedSequence([seed, _SPLIT])).shuffle(rows)
        cuts = [len(rows) // 3, 2 * (len(rows) // 3)]
        parts = dict(zip(PARTS, map(np.sort, np.split(rows, cuts)), strict=True))
    else:
        parts = {part: np.flatnonzero(complete & (labels == part)) for part in PARTS}
    return Parts(
        rows=parts,
        split="drawn" if labels is None else "stored",
        n_fit=int((~wanted).sum()),
        n_excluded=int((wanted & ~complete).sum()),
        missing={name: int(cells.sum()) for name, cells in gone.items() if cells.any()},
    )


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of every part and what they are like around the calibration and the test rows.

    Attributes
    ----------
    values, gap
        Score, and loss of A minus loss of B, by part.
    everywhere
        Moments of all estimation scores.
    calibration, test
        Local moments there.
    smoothing
        lambda.
    offset
        t of ``log_ratio``.
    neighbours
        Neighbours with weight, where they are counted.
    covariates, dropped
        Names used, and names left out.
    position, axes
        Where the test rows are drawn.
    """

    values: Mapping[str, Floats]
    gap: Mapping[str, Floats]
    everywhere: LocalMoments
    calibration: LocalMoments
    test: LocalMoments
    smoothing: float
    offset: float | Skipped
    neighbours: int | Skipped
    covariates: tuple[str, ...]
    dropped: tuple[str, ...]
    position: Floats
    axes: tuple[str, ...]

    def scale(self, moments: LocalMoments) -> Floats:
        """sigma(x) = sqrt(lambda + local variance)."""
        return np.sqrt(self.smoothing + moments.variance)


def score_rows(
    name: str, losses: Losses, parts: Parts, options: Options, levels: tuple[float, ...]
) -> Scores | Skipped:
    """Scores and their local moments, or why there are none.

    Raises
    ------
    UsageError
        More neighbours are asked for than there are estimation rows, or a loss is too negative for ``log_ratio``.
    """
    for part in ("estimation", "test"):
        if not len(parts.rows[part]):
            return Skipped(f"no complete observation in the {part} split")
    x, covariates, dropped = _covariates(losses, parts, options.standardize)
    if not covariates:
        return Skipped("no covariate varies in the estimation split")
    gap = {part: losses.loss_a[rows] - losses.loss_b[rows] for part, rows in parts.rows.items()}
    n = len(parts.rows["estimation"])
    reach = options.reach(n)
    if reach is not None and reach > n:
        raise UsageError(
            "more neighbours than estimation observations",
            found=reach,
            expected=f"at most {n}",
            where=f"losses/{name}",
        )

    def around(scores: Floats, part: str, levels: tuple[float, ...] = ()) -> LocalMoments:
        return local_moments(
            x["estimation"], scores, x[part], neighbours=reach, radius=options.radius, kernel=options.kernel,
            levels=levels, threads=options.threads, progress=options.progress,
        )  # fmt: skip

    if any(np.abs(values).max(initial=0) > LARGEST_SCORE for values in gap.values()):
        return Skipped(f"a difference of losses is too large to square (above {LARGEST_SCORE:g})")
    values: Mapping[str, Floats] = gap
    offset: float | Skipped = Skipped("only the score log_ratio has one")
    if options.score == "log_ratio":
        values, offset = _log_ratio(name, losses, parts, options.offset)
    elif options.score == "standardized":
        floor = _smoothing(gap["estimation"], options.variance_floor)
        values = {
            part: gap[part] / np.sqrt(floor + around(gap["estimation"], part).variance)
            for part in PARTS
        }
    scores = values["estimation"]
    position, axes = _positions(x, covariates)
    return Scores(
        values=values,
        gap=gap,
        everywhere=global_moments(scores, levels),
        calibration=around(scores, "calibration"),
        test=around(scores, "test", levels),
        smoothing=_smoothing(scores, options.variance_floor),
        offset=offset,
        neighbours=Skipped("a radius is used") if reach is None else reach,
        covariates=covariates,
        dropped=dropped,
        position=position,
        axes=axes,
    )


def _covariates(
    losses: Losses, parts: Parts, standardize: bool
) -> tuple[dict[str, Floats], tuple[str, ...], tuple[str, ...]]:
    rows = {part: losses.covariates[at] for part, at in parts.rows.items()}
    names = losses.covariate_names
    if not standardize:
        return rows, names, ()
    common = standardisation(rows["estimation"])
    used = tuple(name for name, kept in zip(names, common.kept, strict=True) if kept)
    dropped = tuple(name for name in names if name not in used)
    return {part: common.apply(values) for part, values in rows.items()}, used, dropped


def _smoothing(scores: Floats, share: float) -> float:
    """lambda; where all estimation scores are equal there is no scale to take, and it is 1."""
    variance = float(global_moments(scores).variance[0])
    return share * variance if variance > 0 else 1.0


def _log_ratio(
    name: str, losses: Losses, parts: Parts, offset: float | None
) -> tuple[dict[str, Floats], float]:
    pairs = {part: (losses.loss_a[at], losses.loss_b[at]) for part, at in parts.rows.items()}
    if offset is None:
        level = float(np.mean(np.abs(pairs["estimation"])))
        offset = level / 100 if level > 0 else 1.0
    smallest = min(float(np.min(pair, initial=np.inf)) for pair in pairs.values())
    if not smallest + offset > 0:
        raise UsageError(
            "the score log_ratio needs losses above -offset",
            found=smallest,
            expected=f"above {-offset:g}",
            where=f"losses/{name}",
        )
    return {part: np.log((a + offset) / (b + offset)) for part, (a, b) in pairs.items()}, offset


def _positions(x: Mapping[str, Floats], names: tuple[str, ...]) -> tuple[Floats, tuple[str, ...]]:
    """Test rows in the plane of the first two principal components of the estimation rows, or as they are if d < 3."""
    if len(names) < 3:
        return x["test"], names
    centre = x["estimation"].mean(axis=0)
    spread = x["estimation"] - centre
    variances, directions = np.linalg.eigh(spread.T @ spread)
    leading = directions[:, :-3:-1]
    leading = leading * np.sign(leading[np.abs(leading).argmax(axis=0), [0, 1]])
    shares = variances[:-3:-1] / variances.sum()
    axes = tuple(
        f"principal component {i + 1} ({share:.0%} of the variance)"
        for i, share in enumerate(shares)
    )
    return (x["test"] - centre) @ leading, axes
