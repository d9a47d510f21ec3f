"""Best-of-k curves of stored costs, and the greedy allocation of a budget over curves: the public pieces.

Source: *Sampling Luck Masquerades as Allocation Gain* (arXiv:2608.13087); docs/allocation.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics.workload import (
    Counts,
    Estimator,
    Floats,
    arrange,
    as_workload,
    check_budget,
    score,
)


def best_of_k(
    costs: ArrayLike, k: ArrayLike, *, estimator: Estimator = "exact", seed: int = 0
) -> Floats:
    """The best-of-k curve of one instance at the given k.

    Parameters
    ----------
    costs
        [C] stored costs or gaps, in the order drawn.
    k
        [q] numbers of samples, or one: integers in [1, C].
    estimator
        ``exact``: the mean of the minimum over all subsets of k. ``blocks``: the mean over the floor(C / k)
        consecutive blocks of the block's minimum. ``replay``: the running minimum of one random ordering.
    seed
        Of the ordering; only ``replay`` uses it.

    Raises
    ------
    StatisticsError
        There are no costs, some are not finite, or they are not those of one instance.
    UsageError
        k is out of range or no integer, or the estimator is unknown.

    Notes
    -----
    ``exact`` is f(k) = sum_j x_(j) C(C-j, k-1) / C(C, k), by a recurrence of positive terms (see
    ``kernels.curves``).

    Examples
    --------
    >>> from auditkit.statistics.best_of_k import best_of_k
    >>> best_of_k([3.0, 1.0, 2.0], [1, 2, 3])  # doctest: +NORMALIZE_WHITESPACE
    array([2.        , 1.33333333, 1.        ])
    >>> best_of_k([3.0, 1.0, 2.0], [1, 2], estimator="blocks")
    array([2., 1.])
    """
    values = np.asarray(costs, dtype=np.float64)
    if values.ndim != 1:
        raise StatisticsError(
            "bad costs",
            found=f"shape {values.shape}",
            expected="one dimension, [C], the costs of one instance",
        )
    points = np.atleast_1d(np.asarray(k))
    if points.ndim != 1 or not _integers(points):
        raise UsageError("bad k", expected="one integer or several, [q]")
    workload = as_workload(values)
    if workload.depth[0] != workload.gaps.shape[1]:
        raise StatisticsError("missing costs", found="NaN", expected="none")
    if ((points < 1) | (points > workload.depth[0])).any():
        raise UsageError(
            "k out of range", expected=f"from 1 to {workload.depth[0]}, the number of costs"
        )
    at = points.astype(np.int64)[np.newaxis]
    curve: Floats = score(arrange(workload, estimator, seed), workload, estimator, at)[0]
    return curve


def _integers(numbers: NDArray[Any]) -> bool:
    return numbers.dtype.kind in "iu" or not numbers.size


def convex_minorant(curve: ArrayLike) -> Floats:
    """The greatest convex function below a curve given at k = 1, 2, ..., at the same points.

    Examples
    --------
    >>> from auditkit.statistics.best_of_k import convex_minorant
    >>> convex_minorant([4.0, 4.0, 1.0, 1.0, 0.0])
    array([4. , 2.5, 1. , 0.5, 0. ])
    """
    from auditkit.kernels.curves import convex_minorant as kernel

    values = np.asarray(curve, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise StatisticsError("bad curve", expected="one or more finite values")
    corner, slope = np.empty(len(values), np.int32), np.empty(len(values))
    count = kernel(np.concatenate([[np.nan], values]), len(values), corner, slope)
    corners = corner[:count] - 1
    return np.interp(np.arange(len(values)), corners, values[corners])


def greedy_allocation(curves: ArrayLike, budget: int, *, caps: ArrayLike | None = None) -> Counts:
    """Allocate a budget over instances by the marginal gains of their curves' convex minorants.

    Parameters
    ----------
    curves
        [n, K] best-of-k curves at k = 1, ..., K.
    budget
        Samples in all, an integer.
    caps
        [n] the most samples of each instance, integers up to K; K by default.

    Returns
    -------
    ndarray
        [n] samples of each instance, at least 1 and at most its cap, ``budget`` in all. Equal gains go to the
        lower instance first. For convex curves this minimises the sum of the curves (Fox, Operations Research
        14(2), 1966).

    Raises
    ------
    StatisticsError
        The curves are not [n, K], or not finite.
    UsageError
        The budget is less than one sample an instance or more than the caps hold; it or a cap is no integer.

    Examples
    --------
    >>> from auditkit.statistics.best_of_k import greedy_allocation
    >>> greedy_allocation([[9, 5, 3, 2.5], [4, 3, 2.5, 2.25]], 5)
    array([3, 2])
    """
    from auditkit.kernels.allocate import allocate_minorants
    from auditkit.kernels.curves import convex_minorant as kernel

    values = np.atleast_2d(np.asarray(curves, dtype=np.float64))
    if values.ndim != 2 or not np.isfinite(values).all():
        raise StatisticsError("bad curves", expected="finite values [n, K]")
    n, largest = values.shape
    limits = np.full(n, largest) if caps is None else np.asarray(caps)
    whole = limits.shape == (n,) and _integers(limits)
    if not whole or (limits < 1).any() or (limits > largest).any():
        raise UsageError("bad caps", expected=f"{n} integers from 1 to {largest}")
    if not isinstance(budget, int | np.integer):
        raise UsageError("bad budget", found=budget, expected="an integer")
    limits = limits.astype(np.int64)
    check_budget(budget, limits)
    corner, slope = np.empty((n, largest), np.int32), np.empty((n, largest))
    padded = np.concatenate([np.full((n, 1), np.nan), values], axis=1)
    corners = np.array(
        [kernel(padded[i], limits[i], corner[i], slope[i]) for i in range(n)], dtype=np.int64
    )
    taken = np.empty(n, np.int64)
    allocate_minorants(corner, slope, corners, budget, taken)
    return taken
