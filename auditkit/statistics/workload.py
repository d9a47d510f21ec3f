"""A workload of stored samples: best-of-k curves, greedy allocation, and what a budget earns.

Source: *Sampling Luck Masquerades as Allocation Gain* (arXiv:2608.13087); docs/allocation.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import StatisticsError, UsageError

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Estimator = Literal["exact", "blocks", "replay"]
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)

PARTS = ("ordering", "split", "null", "probe", "composition")
"""The random parts of the audit apart from the bootstrap, each with a seed of its own."""


def part_seeds(seed: int) -> dict[str, int]:
    """The seeds of the random parts, derived from one seed so that no two parts share a stream.

    They are below 2**53, so that every reader of JSON keeps them whole.

    Raises
    ------
    UsageError
        The seed is negative.
    """
    if seed < 0:
        raise UsageError("seed out of range", found=seed, expected="0 or more")
    return {
        part: int(
            np.random.SeedSequence([seed, k]).generate_state(1, np.uint64)[0] >> np.uint64(11)
        )
        for k, part in enumerate(PARTS)
    }


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Stored samples of several instances, and how many of them a budget may use.

    Attributes
    ----------
    gaps
        [n, C], lower is better, in the order drawn, NaN-padded on the right: gaps in percent, or costs.
    depth
        [n] samples of each instance.
    cap
        [n] the most samples that each instance may get.
    solved
        A mean gap up to this one counts as none.
    """

    gaps: Floats
    depth: Counts
    cap: Counts
    solved: float = 0.0

    @property
    def n(self) -> int:
        """Number of instances."""
        return len(self.depth)

    def take(self, rows: Counts) -> Workload:
        """The workload of some of the instances."""
        return Workload(self.gaps[rows], self.depth[rows], self.cap[rows], self.solved)


def as_workload(gaps: ArrayLike, *, limit: int | None = None, solved: float = 0.0) -> Workload:
    """A workload from an array [n, C] that is NaN-padded on the right.

    Parameters
    ----------
    limit
        The most samples that one instance may get; half its depth where that is less, or by default.

    Raises
    ------
    StatisticsError
        An instance has no sample, a NaN before a sample, or an infinite one.
    """
    values = np.atleast_2d(np.ascontiguousarray(gaps, dtype=np.float64))
    measured = ~np.isnan(values)
    depth = measured.sum(axis=1).astype(np.int64)
    if values.size == 0 or (depth == 0).any():
        raise StatisticsError("an instance has no samples", expected="one or more")
    if np.isinf(values).any() or (measured[:, 1:] & ~measured[:, :-1]).any():
        raise StatisticsError(
            "bad samples", expected="finite, NaN only to the right of the samples"
        )
    half = np.maximum(depth // 2, 1)
    return Workload(values, depth, half if limit is None else np.minimum(half, limit), solved)


def check_budget(budget: int, caps: Counts) -> None:
    """Refuse a budget that cannot be spent to the sample.

    Raises
    ------
    UsageError
        It is less than one sample an instance, or more than the caps hold.
    """
    if not len(caps) <= budget <= caps.sum():
        raise UsageError(
            "budget out of range",
            found=budget,
            expected=f"from {len(caps)} to {caps.sum()} samples",
        )


def arrange(
    workload: Workload, estimator: Estimator, seed: int, first: int = 0, second: int = 0
) -> Floats:
    """Each instance's samples as its estimator reads them: sorted, as stored, or in a random order.

    The random order of an instance depends on (seed, first, second, its row) alone.
    """
    from auditkit.kernels.workload import shuffled_rows

    if estimator not in ESTIMATORS:
        raise UsageError("unknown estimator", found=repr(estimator), expected=", ".join(ESTIMATORS))
    if estimator == "exact":
        return np.sort(workload.gaps, axis=1)  # NaN go last
    if estimator == "blocks":
        return workload.gaps
    rows = np.full_like(workload.gaps, np.nan)
    shuffled_rows(workload.gaps, workload.depth, np.uint64(seed), first, second, rows)
    return rows


def decide(rows: Floats, workload: Workload, estimator: Estimator, budget: int) -> Counts:
    """The greedy allocation of a budget on arranged rows: [n] samples of each instance."""
    from auditkit.kernels.workload import allocate_rows

    check_budget(budget, workload.cap)
    taken = np.empty(workload.n, np.int64)
    allocate_rows(ESTIMATORS.index(estimator), rows, workload.depth, workload.cap, budget, taken)
    return taken


def score(rows: Floats, workload: Workload, estimator: Estimator, k: Counts) -> Floats:
    """The curves of arranged rows at ``k`` [n, q]."""
    from auditkit.kernels.workload import curve_values

    out = np.empty(k.shape)
    curve_values(ESTIMATORS.index(estimator), rows, workload.depth, np.ascontiguousarray(k), out)
    return out


def direct_values(workload: Workload, k: int) -> Floats:
    """The exact curves at one k, by its sum in extended precision: a second route to ``score``.

    The weights C(C-j, k-1) / C(C, k) start at k / C and shrink by (C-j-k+1) / (C-j).
    """
    out = np.empty(workload.n)
    weights: dict[int, NDArray[np.longdouble]] = {}
    for i, depth in enumerate(workload.depth.tolist()):
        if depth not in weights:
            j = np.arange(1, depth - k + 1, dtype=np.longdouble)
            first = np.array([np.longdouble(k) / depth])
            weights[depth] = np.cumprod(np.concatenate([first, (depth - j - k + 1) / (depth - j)]))
        best = np.sort(workload.gaps[i, :depth])[: depth - k + 1]
        out[i] = float(weights[depth] @ best.astype(np.longdouble))
    return out


def halves(workload: Workload, seed: int, repetition: int) -> tuple[Workload, Workload]:
    """Two random halves of every instance's samples, in stored order; an odd sample goes to the second.

    The caps stay: half the depth is all that a half holds.

    Raises
    ------
    StatisticsError
        A half holds fewer samples than its instance may get.
    """
    from auditkit.kernels.workload import split_rows

    depth = workload.depth // 2
    if (depth < workload.cap).any():
        raise StatisticsError(
            "too few samples to split", found=int(workload.depth.min()), expected="twice the cap"
        )
    width = workload.gaps.shape[1]
    one = np.full((workload.n, width // 2), np.nan)
    other = np.full((workload.n, width - width // 2), np.nan)
    split_rows(workload.gaps, workload.depth, np.uint64(seed), repetition, one, other)
    return (
        Workload(one, depth, workload.cap, workload.solved),
        Workload(other, workload.depth - depth, workload.cap, workload.solved),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What allocations earn: per-instance gaps at the uniform budget and at others.

    Attributes
    ----------
    uniform
        [m, n] gaps at the uniform budget, for m repetitions.
    allocated
        [m, n] gaps at the allocation.
    taken
        [m, n] samples of each instance.
    solved
        A mean gap up to this one counts as none.
    baseline
        [m, n] gaps at another allocation that was decided on the same samples.
    curve
        [n, q] gaps at further numbers of samples, of one repetition.
    """

    uniform: Floats
    allocated: Floats
    taken: Counts
    solved: float = 0.0
    baseline: Floats | None = None
    curve: Floats | None = None

    def gains(self) -> Floats:
        """[m] d = (uniform - allocated) / uniform of each repetition, in percent, of means over instances.

        NaN where the uniform gap counts as none.
        """
        uniform, allocated = self.uniform.mean(axis=1), self.allocated.mean(axis=1)
        some = uniform > self.solved
        return np.where(some, 100 * (uniform - allocated) / np.where(some, uniform, 1), np.nan)


def in_sample(
    workload: Workload,
    per_instance: int,
    estimator: Estimator,
    seed: int,
    points: Counts | None = None,
) -> Scores:
    """Decide and score on the same curves: one repetition.

    Parameters
    ----------
    seed
        Of the ordering.
    points
        [q] numbers of samples, at most the smallest depth, at which ``Scores.curve`` reads the same curves.
    """
    rows = arrange(workload, estimator, seed)
    taken = decide(rows, workload, estimator, workload.n * per_instance)
    k = np.stack([np.full_like(taken, per_instance), taken], axis=1)
    if points is not None:
        k = np.concatenate([k, np.broadcast_to(points, (workload.n, len(points)))], axis=1)
    at = score(rows, workload, estimator, k)
    return Scores(
        at[None, :, 0],
        at[None, :, 1],
        taken[None, :],
        workload.solved,
        curve=None if points is None else at[:, 2:],
    )


def held_out(
    workload: Workload,
    per_instance: int,
    estimator: Estimator,
    *,
    repetitions: int,
    split_seed: int,
    ordering_seed: int,
    first: int = 0,
    baseline: Callable[[Counts], Counts] | None = None,
) -> Scores:
    """Decide on one random half of the samples and score on the other, several times.

    Parameters
    ----------
    repetitions, first
        How many halves, and the number of the first one: the halves depend on (split_seed, number).
    baseline
        Makes another allocation from the one decided, to be scored on the same half.
    """
    n = workload.n
    columns = 2 if baseline is None else 3
    scores = np.empty((repetitions, n, columns))
    taken = np.empty((repetitions, n), np.int64)
    for r in range(repetitions):
        one, other = halves(workload, split_seed, first + r)
        taken[r] = decide(
            arrange(one, estimator, ordering_seed, 1 + first + r, 0),
            one,
            estimator,
            n * per_instance,
        )
        k = [np.full(n, per_instance), taken[r]]
        if baseline is not None:
            k.append(baseline(taken[r]))
        rows = arrange(other, estimator, ordering_seed, 1 + first + r, 1)
        scores[r] = score(rows, other, estimator, np.stack(k, axis=1))
    other_scores = None if baseline is None else scores[:, :, 2]
    return Scores(scores[:, :, 0], scores[:, :, 1], taken, workload.solved, other_scores)
