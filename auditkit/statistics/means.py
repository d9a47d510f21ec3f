"""Means of resamples, their differences and ratios, as ratios of sums over the resampled units.

A mean is centre + sum(top) / sum(bottom), where a unit's top is the sum of its weighted deviations from the centre (the
mean of the sample) and its bottom the sum of its weights. Without clusters and weights every bottom is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from auditkit.statistics.draws import Draws, resampled_sums
from auditkit.statistics.sample import Floats, Sample

_CHUNK = 2**17
"""Standard errors worked out together: what they are made of stays in the cache."""


@dataclass(frozen=True, slots=True)
class Means:
    """The sums by unit of which means are made.

    Attributes
    ----------
    statistic
        ``mean``, or ``difference`` or ``ratio`` of columns (0, 1), (2, 3), ...
    centre
        [m] mean of each column; NaN where it has no observation.
    tops
        [m, units] sums of weighted deviations from the centre.
    bottoms
        [d, units] sums of weights, each distinct row once.
    bottom_of
        [m] the row of ``bottoms`` that belongs to each column.
    varying
        [d] whether the units differ in a bottom, so that its sum changes from resample to resample.
    """

    statistic: str
    centre: Floats
    tops: Floats
    bottoms: Floats
    bottom_of: NDArray[np.intp]
    varying: NDArray[np.bool_]

    @classmethod
    def of(cls, sample: Sample, statistic: str) -> Means:
        """The sums of a sample. Its columns are centred in place: it is of no further use."""
        columns, weights = sample.columns, sample.weights
        if statistic == "difference" and (weights is None or len(weights) == 1):
            # the mean of the differences, so that a constant difference has an interval of no width
            columns, statistic = columns[::2] - columns[1::2], "mean"
        centre = _centres(columns, weights)
        columns -= np.where(np.isnan(centre), 0.0, centre)[:, None]
        if weights is not None:
            columns *= weights
        rows = np.ones((1, columns.shape[1])) if weights is None else weights
        distinct = {row.tobytes(): j for j, row in enumerate(rows)}
        kept = sorted(set(distinct.values()))
        of = [kept.index(distinct[row.tobytes()]) for row in rows]
        bottoms = sample.by_unit(rows[kept])
        return cls(
            statistic=statistic,
            centre=centre,
            tops=sample.by_unit(columns),
            bottoms=bottoms,
            bottom_of=np.array(of if len(of) == len(columns) else of * len(columns), dtype=np.intp),
            varying=(bottoms != bottoms[:, :1]).any(axis=1),
        )

    @property
    def estimate(self) -> Floats:
        """[k] the statistic of the sample."""
        return combine(self.statistic, self.centre)

    def as_ratio(self, j: int) -> tuple[float, Floats, Floats] | None:
        """Statistic j as offset + sum(A) / sum(B): the offset, and A and B by unit.

        None where it is no ratio of two sums: columns that miss different observations.
        """
        if self.statistic == "mean":
            return self.centre[j], self.tops[j], self.bottoms[self.bottom_of[j]]
        a, b = 2 * j, 2 * j + 1
        if self.bottom_of[a] != self.bottom_of[b]:
            return None
        bottoms = self.bottoms[self.bottom_of[a]]
        if self.statistic == "difference":
            return self.centre[a] - self.centre[b], self.tops[a] - self.tops[b], bottoms
        above, below = self.centre[a] * bottoms, self.centre[b] * bottoms
        return 0.0, self.tops[a] + above, self.tops[b] + below

    def is_flat(self, j: int) -> bool:
        """Whether every resample gives the estimate: observations all alike, or all in one ratio."""
        parts = self.as_ratio(j)
        if parts is None:
            return not self.tops[2 * j : 2 * j + 2].any()
        offset, above, below = parts
        excess = self.estimate[j] - offset
        if excess == 0:
            return not above.any()
        expected = excess * below
        reach = np.abs(above) + np.abs(expected)
        return bool((np.abs(above - expected) <= 16 * np.finfo(float).eps * reach).all())

    def why_undefined(self, j: int) -> str:
        """Why statistic j has no value."""
        columns = [j] if self.statistic == "mean" else [2 * j, 2 * j + 1]
        if np.isnan(self.centre[columns]).any():
            return "no observation"
        return "the mean of the denominator is zero"

    def is_unbounded(self, j: int, means: Floats, confidence: float) -> bool:
        """Whether statistic j is a ratio and the percentile interval of its denominator, in ``means``, holds zero.

        The confidence set of the ratio is then unbounded (Fieller 1954, doi:10.1111/j.2517-6161.1954.tb00159.x).
        """
        if self.statistic != "ratio":
            return False
        same_sign = means[2 * j + 1] * np.sign(self.centre[2 * j + 1]) > 0
        return bool(1 - same_sign.mean() >= (1 - confidence) / 2)

    def resampled(self, draws: Draws) -> Floats:
        """[m, replicates] the mean of each column in each resample; NaN where it has no observation."""
        return self._means(resampled_sums([*self.tops, *self.bottoms[self.varying]], draws))

    def jackknife(self, j: int) -> Floats:
        """[units] statistic j without each unit."""
        columns = [j] if self.statistic == "mean" else [2 * j, 2 * j + 1]
        tops, bottoms = self.tops[columns], self.bottoms[self.bottom_of[columns]]
        with np.errstate(invalid="ignore", divide="ignore"):
            left = (tops.sum(axis=1, keepdims=True) - tops) / (
                bottoms.sum(axis=1, keepdims=True) - bottoms
            )
        found: Floats = combine(self.statistic, self.centre[columns, None] + left)[0]
        return found

    def resampled_with_errors(self, draws: Draws) -> tuple[Floats, Floats, Floats]:
        """The standard error [k] of the statistic; means [m, replicates] and errors [k, replicates] of resamples.

        A standard error is that of the linear approximation, the root of the sum of squared influences.
        """
        parts = self._parts()
        products = [p * q for i, p in enumerate(parts) for q in parts[i:]]
        planes = [*self.tops, *self.bottoms[self.varying]]
        used = len(planes)
        planes += [row for product in products for row in product]
        # the sum of one square has nothing to cancel with
        sums = resampled_sums(planes, draws, len(planes) - used if len(parts) == 1 else 0)
        k = len(self.estimate)
        errors = np.empty((k, draws.replicates))

        step = max(1, _CHUNK // k)
        for start in range(0, draws.replicates, step):
            part = slice(start, start + step)
            errors[:, part] = self._errors(sums[:, part], used)
        error = self._errors(np.array([[plane.sum()] for plane in planes]), used)[:, 0]
        return error, sums[: len(self.tops)], errors

    def _slots(self) -> list[slice]:
        """The columns that a statistic is made of: one, or the first and the second of each pair."""
        if self.statistic == "mean":
            return [slice(None)]
        return [slice(0, None, 2), slice(1, None, 2)]

    def _gradients(self, shifts: list[Floats]) -> list[Floats]:
        """Derivatives of the statistic by the mean of each of its columns, where these have moved from the centre."""
        if self.statistic == "ratio":
            first, second = (
                self.centre[slot, None] + shift
                for slot, shift in zip(self._slots(), shifts, strict=True)
            )
            return [1 / second, -first / second**2]
        one = np.ones((len(shifts[0]), 1))
        return [one, -one][: len(shifts)]

    def _parts(self) -> list[Floats]:
        """What influences are made of: each [k, units], the tops and, where units differ in them, the bottoms."""
        parts = [self.tops[slot] for slot in self._slots()]
        if self.varying.any():
            parts += [self.bottoms[self.bottom_of[slot]] for slot in self._slots()]
        return parts

    def _errors(self, sums: Floats, used: int) -> Floats:
        """Standard errors [k, r] from the sums of all planes, of which those of the tops become means.

        The influence of a unit is linear in its parts p, with slopes h that depend on the resample: its square sums to
        h' S h, where S holds the sums of the products of two parts. Constant bottoms are no parts; what they contribute
        is the square of the mean influence.
        """
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            bottoms = self._bottoms(sums[:used])
            means = sums[: len(self.tops)]
            means /= bottoms
            shifts = [means[slot] for slot in self._slots()]
            gradients = self._gradients(shifts)
            slopes = [g / bottoms[slot] for g, slot in zip(gradients, self._slots(), strict=True)]
            if self.varying.any():
                slopes += [-h * shift for h, shift in zip(slopes, shifts, strict=True)]
                variance = np.zeros_like(shifts[0])
            else:
                moved = reduce(np.add, [g * d for g, d in zip(gradients, shifts, strict=True)])
                variance = np.square(moved, out=moved)
                variance *= -1 / self.tops.shape[1]
            pairs = [(p, q) for p in range(len(slopes)) for q in range(p, len(slopes))]
            squares = sums[used:].reshape(len(pairs), *variance.shape)
            for (p, q), square in zip(pairs, squares, strict=True):
                variance += ((1 if p == q else 2) * slopes[p] * slopes[q]) * square
            means += self.centre[:, None]
            return np.sqrt(np.maximum(variance, 0.0, out=variance), out=variance)

    def _bottoms(self, sums: Floats) -> Floats:
        """[m, r] sums of weights of each column."""
        totals: Floats = self.bottoms.sum(axis=1, keepdims=True)
        if self.varying.any():
            totals = np.repeat(totals, sums.shape[1], axis=1)
            totals[self.varying] = sums[len(self.tops) :]
        by_column: Floats = totals[self.bottom_of]
        return by_column

    def _means(self, sums: Floats) -> Floats:
        """[m, r] means, in place of the sums of their tops."""
        means = sums[: len(self.tops)]
        with np.errstate(invalid="ignore", divide="ignore"):
            means /= self._bottoms(sums)
        means += self.centre[:, None]
        return means


def _centres(columns: Floats, weights: Floats | None) -> Floats:
    """[m] weighted means; exactly the value where a column has only one."""
    if weights is None:
        centre = columns.mean(axis=1)
        first = columns[:, 0]
        other = columns != first[:, None]
    else:
        with np.errstate(invalid="ignore"):
            centre = (weights * columns).sum(axis=1) / weights.sum(axis=1)
        used = np.broadcast_to(weights > 0, columns.shape)
        first = columns[np.arange(len(columns)), used.argmax(axis=1)]
        other = used & (columns != first[:, None])
    return np.where(other.any(axis=1) | np.isnan(centre), centre, first)


def combine(statistic: str, means: Floats) -> Floats:
    """The statistic [k, ...] of means [m, ...]."""
    if statistic == "difference":
        return means[::2] - means[1::2]
    if statistic == "ratio":
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return means[::2] / means[1::2]
    return means
