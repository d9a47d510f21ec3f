"""Utilities (higher is better) from raw costs, and the penalty of failed runs (PAR-k)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import StatisticsError, UsageError

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

TRANSFORMS = ("minmax", "rank", "identity")


def utilities(cost: Floats, transform: str) -> Floats:
    """Utilities of every algorithm on every instance.

    Parameters
    ----------
    cost : float array [n, A]
        Lower is better; NaN = not measured, and stays NaN.
    transform
        ``minmax``: u = 1 - clip((p - pmin) / (pmax - pmin), 0, 1) per instance; an instance whose costs are all alike
        has no range and becomes all-NaN. ``rank``: the best algorithm of an instance 1, the worst 0, evenly between,
        ties averaged; an instance with a single measured cost becomes NaN. ``identity``: u = -p.

    Returns
    -------
    float array [n, A]

    Raises
    ------
    UsageError
        The transform is unknown.
    StatisticsError
        A cost is infinite.

    Notes
    -----
    ``minmax`` and ``rank`` are those of *Partition Scores Are Not System Scores* (arXiv:2609.13785).

    Examples
    --------
    >>> import numpy as np
    >>> utilities(np.array([[1.0, 3.0, 5.0]]), "minmax")
    array([[1. , 0.5, 0. ]])
    """
    if transform not in TRANSFORMS:
        raise UsageError(
            "unknown transform", found=repr(transform), expected=" or ".join(TRANSFORMS)
        )
    if np.isinf(cost).any():
        raise StatisticsError("infinite cost", expected="finite costs, NaN where not measured")
    if transform == "identity":
        return -cost
    return _minmax(cost) if transform == "minmax" else _rank(cost)


def _minmax(cost: Floats) -> Floats:
    measured = ~np.isnan(cost)
    low = np.where(measured, cost, np.inf).min(axis=1, keepdims=True)
    high = np.where(measured, cost, -np.inf).max(axis=1, keepdims=True)
    width = np.where(high > low, high - low, np.nan)  # nothing measured: -inf > inf is false
    low = np.where(np.isfinite(low), low, np.nan)
    out: Floats = 1 - np.clip((cost - low) / width, 0, 1)
    return out


def _rank(cost: Floats) -> Floats:
    from scipy.stats import rankdata

    measured = ~np.isnan(cost)
    # NaN ranks last, so the ranks of the measured costs are those among themselves
    ranks = rankdata(np.where(measured, cost, np.inf), axis=1)
    n = measured.sum(axis=1, keepdims=True)
    out: Floats = np.where(measured & (n > 1), 1 - (ranks - 1) / np.maximum(n - 1, 1), np.nan)
    return out


def penalised(cost: Floats, failed: Flags, cutoff: float, factor: float) -> tuple[Floats, Flags]:
    """PAR-k costs: a run that failed, or took longer than the cutoff, costs ``factor * cutoff``.

    Parameters
    ----------
    cost : float array
        Runtimes as measured, or as stored (a value above the cutoff may be an earlier penalty); NaN = none.
    failed : bool array
        Runs whose status is not ok.
    cutoff, factor
        The cutoff in the unit of the cost, and the k of PAR-k.

    Returns
    -------
    cost : float array
    penalised : bool array
        Which runs cost the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> penalised(np.array([3.0, 60.0, 61.0, 5.0]), np.array([False, False, False, True]), 60.0, 10.0)[0]
    array([  3.,  60., 600., 600.])
    """
    late = failed | (cost > cutoff)
    return np.where(late, factor * cutoff, cost), late
