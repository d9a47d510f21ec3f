"""Quantiles of resamples: interpolated order statistics, found from the counts without sorting a resample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import StatisticsError
from auditkit.statistics.draws import Counts, Draws, Planes, reduce_resamples
from auditkit.statistics.sample import Floats, Sample


@dataclass(frozen=True, slots=True)
class _Sorted:
    """One column: its observations in ascending order, and a position near the quantile to start from.

    ``size`` and ``below`` [units] say how many observations each unit has, and how many of them lie before ``start``.
    """

    values: Floats
    unit_of: NDArray[np.intp]
    start: int
    below: NDArray[np.int64]
    size: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The quantile of a level of each column, by linear interpolation between order statistics.

    Attributes
    ----------
    level
        Between 0 and 1.
    columns
        One entry a column.
    """

    level: float
    columns: tuple[_Sorted, ...]

    @classmethod
    def of(cls, sample: Sample, level: float) -> Quantiles:
        """The sorted columns of a sample.

        Raises
        ------
        StatisticsError
            The observations have weights other than 0 and 1.
        """
        weights = sample.weights
        if weights is not None and not np.isin(weights, (0.0, 1.0)).all():
            raise StatisticsError("quantiles take no weights", expected="a mean, or none")
        unit_of = np.arange(sample.units) if sample.unit_of is None else sample.unit_of
        present = np.broadcast_to(True if weights is None else weights > 0, sample.columns.shape)
        columns = []
        for values, kept in zip(sample.columns, present, strict=True):
            order = np.argsort(values, kind="stable")
            order = order[kept[order]]
            start = round(max(len(order) - 1, 0) * level)
            of = unit_of[order]
            columns.append(
                _Sorted(
                    values=values[order],
                    unit_of=of,
                    start=start,
                    below=np.bincount(of[:start], minlength=sample.units),
                    size=np.bincount(of, minlength=sample.units),
                )
            )
        return cls(level, tuple(columns))

    @property
    def estimate(self) -> Floats:
        """[m] the quantile of the sample."""
        return np.array(
            [np.quantile(c.values, self.level) if len(c.values) else np.nan for c in self.columns]
        )

    def is_flat(self, j: int) -> bool:
        """Whether all observations of column j are alike."""
        values = self.columns[j].values
        return bool(values[0] == values[-1])

    def why_undefined(self, j: int) -> str:
        """Why column j has no quantile."""
        return "no observation"

    def resampled(self, draws: Draws) -> Floats:
        """[m, replicates] the quantile of each column in each resample; NaN where it has no observation."""
        from auditkit.kernels import quantiles

        m = len(self.columns)
        sizes = [c.below for c in self.columns] + [c.size for c in self.columns]
        planes = Planes.of([size.astype(np.float64) for size in sizes])
        found = np.empty((m, draws.replicates))

        def reduce(counts: Counts, start: int, stop: int) -> None:
            floats = np.empty((2 * m, len(counts)))
            planes.sum(counts, floats)
            sums = floats.astype(np.int64)
            for j, column in enumerate(self.columns):
                quantiles.resampled_quantiles(
                    column.values,
                    column.unit_of,
                    column.start,
                    sums[j],
                    sums[m + j],
                    counts,
                    self.level,
                    found[j, start:stop],
                )

        reduce_resamples(draws, reduce)
        return found

    def jackknife(self, j: int) -> Floats:
        """[units] the quantile of column j without each unit."""
        from auditkit.kernels import quantiles

        c = self.columns[j]
        found = np.empty(len(c.size))
        quantiles.jackknife_quantiles(
            c.values, c.unit_of, c.start, c.below, c.size, self.level, found
        )
        return found
