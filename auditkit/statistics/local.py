"""Weighted means, variances and shares of scores around a point: nearest neighbours, box and Epanechnikov kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics.bootstrap import Progress
from auditkit.statistics.threads import run_parts

Floats = NDArray[np.float64]
Kernel = Literal["box", "epanechnikov"]

LARGEST_SCORE = 1e150
"""Scores beyond this would overflow when squared."""

_QUERIES_A_PART = 512  # a multiple of the queries searched together
_ON_LINE_A_PART = 2**15  # of one dimension, where a query takes a tenth of a microsecond


@dataclass(frozen=True, slots=True)
class LocalMoments:
    """What the scores are like around each of m queries.

    Attributes
    ----------
    weight
        [m] sum of the weights; 0 where no point has weight: the other fields are then those of all points.
    mean, variance
        [m] weighted mean, and weighted variance without correction for the degrees of freedom.
    below, above
        [m] share of the weight on scores below 0, and above 0.
    upper, lower
        [m, q] for each level: the smallest score such that the scores up to it hold that share of the weight, and the
        largest score such that the scores from it on hold that share.
    """

    weight: Floats
    mean: Floats
    variance: Floats
    below: Floats
    above: Floats
    upper: Floats
    lower: Floats

    @property
    def fallback(self) -> NDArray[np.bool_]:
        """[m] whether no point has weight there."""
        return np.equal(self.weight, 0)


def local_moments(
    points: ArrayLike,
    scores: ArrayLike,
    queries: ArrayLike,
    *,
    neighbours: int | None = None,
    radius: float | None = None,
    kernel: Kernel = "box",
    levels: Sequence[float] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> LocalMoments:
    """Moments of the scores of the points around each query, by k nearest neighbours or within a radius.

    The neighbours are exact. Distances are Euclidean, squared, summed in the order of the coordinates. At equal
    distance the point with the smaller index is nearer; all points at exactly the radius are within a box, and have no
    weight with Epanechnikov's kernel, 1 - (distance / radius)**2. Points may coincide. Sums carry their rounding
    errors along, so that the result is that of the set of neighbours, whatever search finds them, in whatever order.

    Parameters
    ----------
    points
        [n, d].
    scores
        [n].
    queries
        [m, d].
    neighbours
        How many nearest points have weight 1, from 1 to n.
    radius
        Reach of the kernel, instead of ``neighbours``.
    kernel
        Weights within the radius.
    levels
        Shares, in (0, 1], of the quantiles wanted.
    threads
        The result does not depend on it.
    progress
        Told of queries done.

    Returns
    -------
    LocalMoments

    Raises
    ------
    UsageError
        Neither or both of ``neighbours`` and ``radius``, or one of them out of range.
    StatisticsError
        Shapes do not fit, a number is not finite, or there is no point.

    Notes
    -----
    In two or more dimensions the points are cut into blocks in the order of a k-d tree, and blocks whose box is out of
    reach are left out; in one dimension they are sorted and windows are summed by running sums. Memory grows with
    n + m, never with n * m.

    Examples
    --------
    >>> moments = local_moments([[0.0], [1.0], [3.0]], [2.0, -1.0, -3.0], [[0.4]], neighbours=2)
    >>> moments.mean.tolist(), moments.variance.tolist(), moments.below.tolist()
    ([0.5], [2.25], [0.5])
    """
    points, scores, queries = _read(points, scores, queries)
    _check_reach(len(scores), neighbours, radius, kernel)
    shares = np.array([float(level) for level in levels])
    if not ((shares > 0) & (shares <= 1)).all():
        raise UsageError("level out of range", found=shares.tolist(), expected="above 0, at most 1")
    m = len(queries)
    moments = np.zeros((m, 5))
    upper, lower = np.zeros((m, len(shares))), np.zeros((m, len(shares)))
    outputs = (shares, moments, upper, lower)
    report = None if progress is None else lambda done, of: progress("neighbours", done, of)
    on_line = points.shape[1] == 1
    search, part = (_search_line, _ON_LINE_A_PART) if on_line else (_search_blocks, _QUERIES_A_PART)
    k, reach = neighbours or 0, radius or 0.0
    smooth = kernel == "epanechnikov"
    work = search(points, scores, queries, k, reach, smooth, outputs)
    run_parts(work, m, part, threads, report)
    _fall_back(scores, shares, moments, upper, lower)
    return _as_moments(moments, upper, lower)


def global_moments(scores: ArrayLike, levels: Sequence[float] = ()) -> LocalMoments:
    """Moments of all scores [n], as one row of ``LocalMoments``."""
    values = np.asarray(scores, dtype=np.float64)
    row, upper, lower = np.zeros((1, 5)), np.zeros((1, len(levels))), np.zeros((1, len(levels)))
    _summarise(values, np.array([float(level) for level in levels]), row, upper, lower)
    return _as_moments(row, upper, lower)


def _as_moments(rows: Floats, upper: Floats, lower: Floats) -> LocalMoments:
    weight, mean, variance, below, above = np.ascontiguousarray(rows.T)
    return LocalMoments(weight, mean, variance, below, above, upper, lower)


def _read(
    points: ArrayLike, scores: ArrayLike, queries: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    x = np.ascontiguousarray(points, dtype=np.float64)
    s = np.ascontiguousarray(scores, dtype=np.float64)
    q = np.ascontiguousarray(queries, dtype=np.float64)
    if x.ndim != 2 or s.ndim != 1 or q.ndim != 2 or len(x) != len(s) or x.shape[1] != q.shape[1]:
        raise StatisticsError(
            "shapes do not fit",
            found=f"points {x.shape}, scores {s.shape}, queries {q.shape}",
            expected="[n, d], [n], [m, d]",
        )
    if x.size == 0:
        raise StatisticsError("no point", found=f"points {x.shape}")
    if not (np.isfinite(x).all() and np.isfinite(s).all() and np.isfinite(q).all()):
        raise StatisticsError("a point, score or query is missing or infinite")
    if np.abs(s).max() > LARGEST_SCORE:
        raise StatisticsError(
            "a score is too large to square", expected=f"at most {LARGEST_SCORE:g}"
        )
    return x, s, q


def _check_reach(n: int, neighbours: int | None, radius: float | None, kernel: str) -> None:
    if (neighbours is None) == (radius is None):
        raise UsageError(
            "neighbours or a radius", found="both" if radius else "neither", expected="one"
        )
    if neighbours is not None and not 1 <= neighbours <= n:
        raise UsageError(
            "number of neighbours out of range", found=neighbours, expected=f"1 to {n}, the points"
        )
    if radius is not None and not (0 < radius < np.inf and 0 < radius * radius < np.inf):
        raise UsageError("radius out of range", found=radius, expected="a positive number")
    if kernel not in get_args(Kernel):
        raise UsageError(
            "unknown kernel", found=repr(kernel), expected=" or ".join(get_args(Kernel))
        )


Search = Callable[[int, int], None]


def _search_line(
    points: Floats, scores: Floats, queries: Floats,
    k: int, radius: float, smooth: bool, outputs: Any,
) -> Search:  # fmt: skip
    from auditkit.kernels.line import nearest_on_line, totals, within_on_line

    index = _ascending(points[:, 0])
    line = np.ascontiguousarray(points[index, 0])
    ordered = scores[index]
    sums, counts = totals(ordered)
    order = _ascending(queries[:, 0])
    x = np.ascontiguousarray(queries[order, 0])
    if k:
        return lambda first, last: nearest_on_line(
            x, order, first, last, line, index, ordered, sums, counts, k, *outputs
        )
    return lambda first, last: within_on_line(
        x, order, first, last, line, ordered, sums, counts, radius, smooth, *outputs
    )


def _ascending(values: Floats) -> NDArray[np.int64]:
    """The order by (value, index)."""
    order = np.argsort(values)
    ordered = values[order]
    if (ordered[1:] == ordered[:-1]).any():  # only then is the slower sort worth its time
        order = np.argsort(values, kind="stable")
    return order.astype(np.int64)


def _search_blocks(
    points: Floats, scores: Floats, queries: Floats,
    k: int, radius: float, smooth: bool, outputs: Any,
) -> Search:  # fmt: skip
    from auditkit.kernels import neighbours as blocks

    index = blocks.block_order(points, blocks.BLOCK)
    inside = points[index]
    low, high = blocks.boxes(inside, blocks.BLOCK)
    tiles = blocks.tiles(inside)
    ordered = scores[index]
    order = blocks.block_order(queries, blocks.QUERY_BLOCK)
    columns = np.ascontiguousarray(queries[order].T)
    if k:
        return lambda first, last: blocks.nearest(
            columns, order, first, last, tiles, low, high, index, ordered, k, *outputs
        )
    return lambda first, last: blocks.within(
        columns, order, first, last, tiles, low, high, ordered, radius, smooth, *outputs
    )


def _fall_back(
    scores: Floats, levels: Floats, moments: Floats, upper: Floats, lower: Floats
) -> None:
    """Where no point has weight, the moments of all points; the weight stays 0."""
    nothing = moments[:, 0] == 0
    if nothing.any():
        row, above, below = np.zeros((1, 5)), np.zeros((1, len(levels))), np.zeros((1, len(levels)))
        _summarise(scores, levels, row, above, below)
        moments[nothing, 1:] = row[0, 1:]
        upper[nothing], lower[nothing] = above[0], below[0]


def _summarise(scores: Floats, levels: Floats, row: Floats, upper: Floats, lower: Floats) -> None:
    from auditkit.kernels.neighbours import quantiles, summarise

    ones = np.ones(len(scores))
    summarise(scores, ones, len(scores), row[0])
    if len(levels):
        quantiles(scores, ones, len(scores), levels, upper[0], lower[0])


@dataclass(frozen=True, slots=True)
class Standardisation:
    """How covariates are brought to one scale.

    Attributes
    ----------
    kept
        [d] which columns vary in the reference rows.
    unit
        [d] what is divided out first so that squares neither overflow nor vanish: 1 for all usual numbers.
    centre, scale
        [d] mean and standard deviation of what is left.
    """

    kept: NDArray[np.bool_]
    unit: Floats
    centre: Floats
    scale: Floats

    def apply(self, rows: Floats) -> Floats:
        """The kept columns of [m, d] rows in standard deviations from the mean: [m, kept.sum()]."""
        k = self.kept
        return (rows[:, k] / self.unit[k] - self.centre[k]) / self.scale[k]


def standardisation(reference: Floats) -> Standardisation:
    """Mean and standard deviation (uncorrected) of each column of [n, d] reference rows; constant ones are dropped.

    Examples
    --------
    >>> s = standardisation(np.array([[0.0, 5.0], [2.0, 5.0]]))
    >>> s.kept.tolist(), s.apply(np.array([[3.0, 7.0]])).tolist()
    ([True, False], [[2.0]])
    """
    largest = np.abs(reference).max(axis=0)
    usual = ((largest > 1 / LARGEST_SCORE) & (largest < LARGEST_SCORE)) | (largest == 0)
    unit = np.where(usual, 1.0, largest)
    scaled = reference / unit
    scale = scaled.std(axis=0)
    kept = (reference.max(axis=0) > reference.min(axis=0)) & (scale > 0)
    return Standardisation(kept, unit, scaled.mean(axis=0), scale)
