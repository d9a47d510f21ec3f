"""A sample made ready for resampling: checked, in rows by column, missing cells as zero weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import StatisticsError

Floats = NDArray[np.float64]

_LARGEST = 1e150
"""The largest sum of absolute values, so that no mean or square of one overflows."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Observations by column, with weights, and the unit (itself or its cluster) that each belongs to.

    Attributes
    ----------
    columns
        [m, n] owned copy of the observations, zero where missing.
    weights
        None where all are one, [1, n] where the columns share them, else [m, n]; zero where missing.
    low, high
        [m] the smallest and the largest observation of each column; NaN where it has none.
    unit_of
        [n] the unit of each observation, or None where every observation is its own.
    units
        How many units are resampled.
    scalar
        Whether the caller gave one column as [n].
    """

    columns: Floats
    weights: Floats | None
    low: Floats
    high: Floats
    unit_of: NDArray[np.intp] | None
    units: int
    scalar: bool

    def by_unit(self, rows: Floats) -> Floats:
        """Sums of [k, n] over the observations of each unit: [k, units]."""
        if self.unit_of is None:
            return rows
        return np.stack([np.bincount(self.unit_of, row, self.units) for row in rows])


def read_sample(x: ArrayLike, clusters: Any, weights: ArrayLike | None, missing: str) -> Sample:
    """Check the input of a bootstrap and lay it out for one.

    Raises
    ------
    StatisticsError
        The sample is empty, infinite, of the wrong shape, or holds NaN that are not to be omitted.
    """
    try:
        if np.iscomplexobj(x):
            raise TypeError
        # masked cells are missing ones
        given = np.ma.filled(np.ma.asarray(x, dtype=np.float64), np.nan)
    except (TypeError, ValueError):
        raise StatisticsError("wrong type of sample", expected="numbers") from None
    if given.ndim not in (1, 2):
        raise StatisticsError(
            "wrong shape of sample", found=list(given.shape), expected="[n] or [n, m]"
        )
    if given.size == 0:
        raise StatisticsError(
            "empty sample", found=list(given.shape), expected="at least one observation"
        )
    scalar = given.ndim == 1
    columns = np.array(given[None] if scalar else given.T, order="C")
    m, n = columns.shape
    weight = _read_weights(weights, n, m)
    with np.errstate(over="ignore"):
        low, high = columns.min(axis=1), columns.max(axis=1)
        largest = max(high.max(), -low.min())
        if np.isnan(largest):
            gaps = np.isnan(columns)
            if missing == "raise":
                raise StatisticsError(
                    "missing values in a sample",
                    found=f"{int(gaps.sum())} NaN",
                    expected='none, or leave to omit them (missing="omit", --missing omit)',
                )
            columns[gaps] = 0.0
            weight = np.where(gaps, 0.0, 1.0 if weight is None else weight)
            largest = max(columns.max(), -columns.min())
        if largest * n > _LARGEST:
            raise StatisticsError(
                "values too large to be averaged", found=largest, expected=f"below {_LARGEST / n:g}"
            )
    if weight is not None:
        low, high = _reach(columns, weight)
    unit_of, units = _read_clusters(clusters, n)
    return Sample(columns, weight, low, high, unit_of, units, scalar)


def _reach(columns: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The smallest and the largest observation of each column, [m]; NaN where it has none."""
    used = np.broadcast_to(weights > 0, columns.shape)
    low = np.min(columns, axis=1, where=used, initial=np.inf)
    high = np.max(columns, axis=1, where=used, initial=-np.inf)
    observed = used.any(axis=1)
    return np.where(observed, low, np.nan), np.where(observed, high, np.nan)


def _read_weights(weights: ArrayLike | None, n: int, m: int) -> Floats | None:
    if weights is None:
        return None
    weight = np.asarray(weights, dtype=np.float64)
    weight = weight[None] if weight.ndim == 1 else np.ascontiguousarray(weight.T)
    if weight.shape not in {(1, n), (m, n)}:
        raise StatisticsError(
            "wrong shape of weights",
            found=list(weight.shape[::-1]),
            expected=f"[{n}] or [{n}, {m}]",
        )
    if not (weight >= 0).all() or np.isinf(weight).any():
        raise StatisticsError("bad weights", expected="finite numbers that are not negative")
    largest = weight.max(axis=1, keepdims=True)
    # weights count relative to each other
    return weight / np.where(largest > 0, largest, 1.0)


def _read_clusters(clusters: Any, n: int) -> tuple[NDArray[np.intp] | None, int]:
    if clusters is None:
        return None, n
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise StatisticsError(
            "wrong shape of cluster labels", found=list(labels.shape), expected=f"[{n}]"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise StatisticsError("missing cluster label", found="NaN", expected="one an observation")
    names, unit_of = np.unique(labels, return_inverse=True)
    return unit_of, len(names)
