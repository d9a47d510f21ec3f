"""How a gain depends on what the workload is made of: the share of one label from none to all.

Source: *Sampling Luck Masquerades as Allocation Gain* (arXiv:2608.13087); docs/allocation.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditkit.errors import StatisticsError
from auditkit.statistics.workload import Counts, Estimator, Floats, Workload, held_out, in_sample

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """Gains of random workloads with a given share of a label.

    Attributes
    ----------
    share
        Asked for.
    with_label, n
        Instances with the label, and in all.
    d_in, d_split
        [compositions] gains in percent; NaN where the uniform gap is zero.
    """

    share: float
    with_label: int
    n: int
    d_in: Floats
    d_split: Floats


def composition_sweep(
    workload: Workload, labels: Sequence[str], label: str, per_instance: int, estimator: Estimator, *,
    compositions: int, seed: int, split_seed: int, ordering_seed: int,
) -> list[Composed]:  # fmt: skip
    """Gains over random workloads of one size, drawn without replacement, by the share of a label.

    The size is the largest that allows every share from none to all.

    Raises
    ------
    StatisticsError
        Fewer than two instances have the label, or have another.
    """
    has = np.array([name == label for name in labels])
    inside, outside = np.flatnonzero(has), np.flatnonzero(~has)
    n = min(len(inside), len(outside))
    if n < 2:
        raise StatisticsError(
            "too few instances to compose workloads",
            found=n,
            expected="two with the label and two without",
        )
    out = []
    for s, share in enumerate(SHARES):
        with_label = round(share * n)
        d_in, d_split = np.empty(compositions), np.empty(compositions)
        for c in range(compositions):
            rows = np.concatenate(
                [
                    _drawn(inside, with_label, seed, s, c, 0),
                    _drawn(outside, n - with_label, seed, s, c, 1),
                ]
            )
            part = workload.take(np.sort(rows))
            d_in[c] = in_sample(part, per_instance, estimator, ordering_seed).gains()[0]
            d_split[c] = held_out(
                part,
                per_instance,
                estimator,
                repetitions=1,
                first=c,
                split_seed=split_seed,
                ordering_seed=ordering_seed,
            ).gains()[0]
        out.append(Composed(share, with_label, n, d_in, d_split))
    return out


def _drawn(rows: Counts, count: int, seed: int, share: int, composition: int, side: int) -> Counts:
    from auditkit.kernels.streams import random_order

    order = np.empty(len(rows), np.int64)
    random_order(np.uint64(seed), share, composition, side, order)
    return rows[order[:count]]
