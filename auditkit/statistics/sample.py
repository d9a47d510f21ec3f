"""A sample made ready for resampling: checked, missing cells as zero weights, observations summed by unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import StatisticsError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """Observations in columns, with weights, and the unit (itself or its cluster) that each belongs to.

    Attributes
    ----------
    values
        [n, m], zero where missing.
    weights
        [n, 1] where all columns share them, else [n, m]; zero where missing.
    unit_of
        [n] index of the resampled unit, or None where every observation is its own.
    units
        How many units are resampled.
    scalar
        Whether the caller gave one column as [n].
    """

    values: Floats
    weights: Floats
    unit_of: NDArray[np.int64] | None
    units: int
    scalar: bool


def read_sample(x: ArrayLike, clusters: Any, weights: ArrayLike | None, missing: str) -> Sample:
    """Check the input of a bootstrap.

    Raises
    ------
    StatisticsError
        The sample is empty, infinite, or holds missing values that are not to be omitted.
    """
    values = np.asarray(x, dtype=np.float64)
    scalar = values.ndim == 1
    if scalar:
        values = values[:, None]
    if values.ndim != 2:
        raise StatisticsError(
            "wrong shape of a sample", found=values.shape, expected="[n] or [n, m]"
        )
    n, m = values.shape
    if n == 0 or m == 0:
        raise StatisticsError(
            "empty sample", found=values.shape, expected="one observation or more"
        )
    if np.isinf(values).any():
        raise StatisticsError(
            "infinite values in a sample", found=int(np.isinf(values).sum()), expected="none"
        )
    gaps = np.isnan(values)
    weight = _weights(weights, n, m)
    if gaps.any():
        if missing == "raise":
            raise StatisticsError(
                "missing values in a sample",
                found=f"{int(gaps.sum())} NaN",
                expected='none, or missing="omit"',
            )
        values = np.where(gaps, 0.0, values)
        weight = np.where(gaps, 0.0, weight)
    unit_of, units = _units(clusters, n)
    return Sample(values, weight, unit_of, units, scalar)


def _weights(weights: ArrayLike | None, n: int, m: int) -> Floats:
    if weights is None:
        return np.ones((n, 1))
    weight = np.asarray(weights, dtype=np.float64)
    if weight.ndim == 1:
        weight = weight[:, None]
    if weight.shape not in {(n, 1), (n, m)}:
        raise StatisticsError(
            "wrong shape of weights", found=weight.shape, expected=f"[{n}] or [{n}, {m}]"
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise StatisticsError("bad weights", expected="finite and not negative")
    return weight


def _units(clusters: Any, n: int) -> tuple[NDArray[np.int64] | None, int]:
    if clusters is None:
        return None, n
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise StatisticsError(
            "wrong shape of cluster labels", found=labels.shape, expected=f"[{n}]"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise StatisticsError(
            "missing cluster labels", found="NaN", expected="a label for each observation"
        )
    names, unit_of = np.unique(labels, return_inverse=True)
    return unit_of.astype(np.int64), len(names)


def sum_by_unit(sample: Sample, cells: Floats) -> Floats:
    """Sums of [n, k] cells over the observations of each unit: [units, k]."""
    if sample.unit_of is None:
        return cells
    sums = np.zeros((sample.units, cells.shape[1]))
    np.add.at(sums, sample.unit_of, cells)
    return sums
