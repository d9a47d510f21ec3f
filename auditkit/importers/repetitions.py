"""Repetitions of one cell: averaged, or kept apart as rows of one cluster."""

from __future__ import annotations

import numpy as np

from auditkit.schema import Floats

AGGREGATES = ("mean", "median")


def over_repetitions(values: Floats, how: str, axis: int) -> Floats:
    """Mean or median over the measured values along an axis; NaN where none is measured."""
    values = np.moveaxis(values, axis, -1)
    n = (~np.isnan(values)).sum(axis=-1)
    if how == "mean":
        total = np.where(np.isnan(values), 0.0, values).sum(axis=-1)
        return np.where(n > 0, total / np.maximum(n, 1), np.nan)
    ordered = np.sort(values, axis=-1)  # NaN last
    middle = np.stack([np.maximum(n - 1, 0) // 2, n // 2], axis=-1)
    middle = np.minimum(middle, values.shape[-1] - 1)
    low, high = np.moveaxis(np.take_along_axis(ordered, middle, axis=-1), -1, 0)
    # halves first: the sum of two large values may overflow
    return np.where(n > 0, np.where(low == high, low, low / 2 + high / 2), np.nan)


def each_name(instance: str, repetition: str) -> str:
    """The name of one repetition of an instance as a row of its own."""
    return f"{instance}#{repetition}"
