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
    """One column: its observations in ascending order, their units, and a position near the quantile to start from."""

    values: Floats
    unit_of: NDArray[np.int32]
    start: int

    def below(self, units: int) -> NDArray[np.intp]:
        """[units] how many observations of each unit lie before ``start``."""
        return np.bincount(self.unit_of[: self.start], minlength=units)

    def size(self, units: int) -> NDArray[np.intp]:
        """[units] how many observations each unit has."""
        return np.bincount(self.unit_of, minlength=units)


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The quantile of a level of each column, by linear interpolation between order statistics.

    Attributes
    ----------
    level
        Between 0 and 1.
    units
        How many units are resampled.
    columns
        One entry a column.
    """

    level: float
    units: int
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
        present = np.broadcast_to(True if weights is None else weights > 0, sample.columns.shape)
        columns = []
        for values, kept in zip(sample.columns, present, strict=True):
            order = np.argsort(values, kind="stable")
            order = order[kept[order]]
            unit_of = order if sample.unit_of is None else sample.unit_of[order]
            start = round(max(len(order) - 1, 0) * level)
            columns.append(_Sorted(values[order], unit_of.astype(np.int32), start))
        return cls(level, sample.units, tuple(columns))

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
        below = [_narrow(c.below(self.units)) for c in self.columns]
        size = [_narrow(c.size(self.units)) for c in self.columns]
        # units of one size make resamples of one size
        uneven = [j for j in range(m) if (size[j] != size[j][0]).any()]
        planes = Planes.of([*below, *(size[j] for j in uneven)])
        totals = np.array([int(of_units[0]) * self.units for of_units in size])
        found = np.empty((m, draws.replicates))

        def reduce(counts: Counts, start: int, stop: int) -> None:
            sums = np.empty((m + len(uneven), stop - start))
            planes.sum(counts, sums)
            before = sums[:m].astype(np.int64)
            total = np.repeat(totals[:, None], stop - start, axis=1)
            total[uneven] = sums[m:]
            for j, column in enumerate(self.columns):
                quantiles.resampled_quantiles(
                    column.values,
                    column.unit_of,
                    column.start,
                    before[j],
                    total[j],
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
        below, size = c.below(self.units), c.size(self.units)
        found = np.empty(self.units)
        quantiles.jackknife_quantiles(c.values, c.unit_of, c.start, below, size, self.level, found)
        return found


def _narrow(counts: NDArray[np.intp]) -> NDArray[np.unsignedinteger]:
    """The same counts in as few bytes as hold them."""
    return counts.astype(np.min_scalar_type(counts.max()))
