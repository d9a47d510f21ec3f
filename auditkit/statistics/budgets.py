"""Budgets by rule: shares rounded to whole samples, a ratio per label, a charged probe.

Source: *Sampling Luck Masquerades as Allocation Gain* (arXiv:2608.13087); docs/allocation.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics.workload import Counts, Floats, Workload, check_budget, score

_NOTHING = 1e-100  # a share below this part of the largest one counts as none


def largest_remainder(
    shares: ArrayLike, budget: int, *, low: int | ArrayLike = 1, high: ArrayLike | None = None
) -> Counts:
    """Whole numbers in proportion to shares that add up to a budget, each within its bounds.

    Entries whose proportional part lies outside their bounds get the bound, and the rest is shared by the others. The
    parts are rounded down, and the samples left go to the largest remainders, on equal remainders to the lower index.

    Parameters
    ----------
    shares
        [n], not negative; all zero counts as all equal.
    budget
        What the result adds up to.
    low, high
        Bounds of the entries; ``high`` defaults to the budget.

    Raises
    ------
    UsageError
        A share is negative or not finite, or the bounds do not hold the budget.

    Examples
    --------
    >>> from auditkit.statistics.budgets import largest_remainder
    >>> largest_remainder([1.0, 1.0, 2.0], 10)
    array([3, 2, 5])
    >>> largest_remainder([1.0, 1.0, 8.0], 10, high=[10, 10, 4])
    array([3, 3, 4])
    """
    weight = np.asarray(shares, dtype=np.float64)
    n = len(weight)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise UsageError("bad shares", expected="finite and not negative")
    least = np.broadcast_to(np.asarray(low, dtype=np.int64), (n,))
    most = np.broadcast_to(np.asarray(budget if high is None else high, dtype=np.int64), (n,))
    if (least > most).any() or not least.sum() <= budget <= most.sum():
        raise UsageError(
            "budget out of range", found=budget, expected=f"from {least.sum()} to {most.sum()}"
        )
    if not weight.any():
        weight = np.ones(n)
    part = _bounded_parts(weight, budget, least, most)
    whole = np.clip(np.floor(part + 1e-9), least, most).astype(np.int64)  # 2.9999999999 is 3
    remainder = part - whole
    while (left := budget - int(whole.sum())) != 0:
        sign = 1 if left > 0 else -1
        free = np.flatnonzero(whole < most if left > 0 else whole > least)
        order = free[np.argsort(-sign * remainder[free], kind="stable")][: abs(left)]
        whole[order] += sign
    return whole


def _bounded_parts(weight: Floats, budget: int, least: Counts, most: Counts) -> Floats:
    """The parts ``scale * weight`` clipped to the bounds, with the scale that spends the budget.

    What they add up to is linear in the scale between the points where an entry meets a bound.
    """
    relative = weight / weight.max()
    relative = np.where(relative < _NOTHING, 0.0, relative)
    some = relative > 0
    bends = np.sort(np.concatenate([least[some] / relative[some], most[some] / relative[some]]))

    def parts(scale: float) -> Floats:
        return np.clip(scale * relative, least, most)

    low, high = -1, len(bends)  # the budget lies between these two bends
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if parts(bends[middle]).sum() < budget else (low, middle)
    if high == len(bends):
        return parts(bends[-1])  # the rest goes to entries of no weight
    start = 0.0 if high == 0 else bends[high - 1]
    before, after = parts(start).sum(), parts(bends[high]).sum()
    step = (budget - before) / (after - before) if after > before else 0.0
    return parts(start + step * (bends[high] - start))


def label_budgets(
    labels: Sequence[str], ratio: Mapping[str, float], budget: int, caps: Counts
) -> Counts:
    """The label baseline: every instance of a label gets the same frozen ratio, rounded to spend the budget exactly.

    Parameters
    ----------
    labels
        [n] the label of each instance.
    ratio
        Samples of an instance of each label, relative to the others.
    budget, caps
        Samples in all, and the most of each instance.

    Raises
    ------
    UsageError
        A label has no ratio, or a ratio is not positive.
    """
    missing = sorted(set(labels) - set(ratio))
    if missing:
        raise UsageError(
            "label without a ratio", found=missing[0], expected="a ratio for every label"
        )
    if any(not 0 < ratio[label] < np.inf for label in labels):
        raise UsageError("bad ratio of a label", expected="a positive number")
    return largest_remainder([ratio[label] for label in labels], budget, high=caps)


def mean_by_label(labels: Sequence[str], values: ArrayLike) -> dict[str, float]:
    """The mean of [n] values over the instances of each label."""
    names = np.array(labels, dtype=object)
    array = np.asarray(values, dtype=np.float64)
    return {name: float(array[names == name].mean()) for name in sorted(set(labels))}


def probe_scores(
    workload: Workload, costs: Floats, per_instance: int, probe: int, *, repetitions: int, seed: int
) -> tuple[Floats, Floats, Counts]:
    """The charged probe policy, scored by the exact expectation given each probe.

    ``probe`` random samples of every instance are paid from the budget and stay candidates; the rest is split in
    proportion to the probe's coefficient of variation of the raw cost, so that no reference is used. The samples that
    follow are drawn without replacement from those not probed.

    Parameters
    ----------
    costs
        [n, C] raw costs of the same samples.

    Returns
    -------
    uniform, allocated
        [repetitions, n] expected gaps of the uniform budget and of the policy, both given the same probe.
    taken
        [repetitions, n] samples of each instance, probe included.

    Raises
    ------
    StatisticsError
        A probe has mean zero, so that its coefficient of variation is undefined.
    UsageError
        The probe is shorter than two samples, or longer than the budget.
    """
    from auditkit.kernels.workload import shuffled_rows

    if not 2 <= probe <= per_instance:
        raise UsageError("probe out of range", found=probe, expected=f"from 2 to {per_instance}")
    n = workload.n
    budget = n * per_instance
    check_budget(budget, workload.cap)
    uniform, allocated = np.empty((repetitions, n)), np.empty((repetitions, n))
    taken = np.empty((repetitions, n), np.int64)
    shuffled_costs, shuffled = np.full_like(costs, np.nan), np.full_like(workload.gaps, np.nan)
    for r in range(repetitions):
        for values, out in ((costs, shuffled_costs), (workload.gaps, shuffled)):
            shuffled_rows(
                values, workload.depth, np.uint64(seed), r, 0, out
            )  # the same order in both
        taken[r] = _probe_budgets(shuffled_costs[:, :probe], budget, workload.cap)
        k = np.stack([np.full(n, per_instance), taken[r]], axis=1) - probe
        uniform[r], allocated[r] = _given_probe(shuffled, workload, probe, k).T
    return uniform, allocated, taken


def _probe_budgets(costs: Floats, budget: int, caps: Counts) -> Counts:
    n, probe = costs.shape
    mean = np.abs(costs.mean(axis=1))
    if (mean == 0).any():
        raise StatisticsError("a probe has mean zero: its coefficient of variation is undefined")
    variation = costs.std(axis=1, ddof=1) / mean
    rest = largest_remainder(variation, budget - n * probe, low=0, high=caps - probe)
    taken: Counts = rest + probe
    return taken


def _given_probe(shuffled: Floats, workload: Workload, probe: int, k: Counts) -> Floats:
    """Expected smallest gap of the probe and ``k`` [n, q] more samples."""
    best = shuffled[:, :probe].min(axis=1)
    rest = np.sort(np.minimum(shuffled[:, probe:], best[:, None]), axis=1)  # NaN stay last
    after = Workload(rest, workload.depth - probe, workload.cap, workload.solved)
    return np.where(k > 0, score(rest, after, "exact", np.maximum(k, 1)), best[:, None])
