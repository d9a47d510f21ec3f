"""The per-instance kernel against vectorised NumPy: same process, same data, alternating runs.

    python benchmarks/bench_fidelity.py [--quick]

n = 200,000 instances, A = 20, K = 4, R = 5, one thread. Both compute partition, deployed, range, violation, regret.
Times are medians over alternating runs; peak memory is what each allocates beyond the data (tracemalloc).
"""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np

from auditkit.statistics import per_instance

Arrays = dict[str, np.ndarray]


def data(n: int) -> Arrays:
    """Random utilities with 5 % missing cells, four families of five algorithms, random choices."""
    random = np.random.default_rng(0)
    utility = random.random((n, 20))
    utility[random.random(utility.shape) < 0.05] = np.nan
    family_of = np.repeat(np.arange(4), 5)
    return {
        "utility": utility,
        "penalty": np.zeros(n),
        "family_of": family_of,
        "family_choice": random.integers(0, 4, (5, n)),
        "within_choice": random.integers(0, 5, (5, n, 4)) + np.array([0, 5, 10, 15]),
    }


def ours(a: Arrays) -> tuple[np.ndarray, ...]:
    """The kernel, on one thread."""
    s = per_instance.decomposed(
        a["utility"],
        a["penalty"],
        a["family_of"],
        a["family_choice"],
        a["within_choice"],
        threads=1,
    )
    return s.partition, s.deployed, s.family_range, s.violation, s.regret


def peer(a: Arrays) -> tuple[np.ndarray, ...]:
    """What one would write with NumPy: a reduction per family, then gathers over repetitions."""
    u, s = a["utility"], a["family_choice"]
    n = len(u)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # families without a measured member
        high = np.stack([np.nanmax(u[:, a["family_of"] == k], axis=1) for k in range(4)], axis=1)
        low = np.stack([np.nanmin(u[:, a["family_of"] == k], axis=1) for k in range(4)], axis=1)
    rows = np.arange(n)
    partition = high[rows, s]
    spread = np.where(np.isnan(partition), 0.0, partition - low[rows, s])
    partition = np.where(np.isnan(partition), a["penalty"], partition)
    inner = u[rows[:, np.newaxis], a["within_choice"]]
    deployed = np.take_along_axis(inner, s[:, :, np.newaxis], axis=2)[:, :, 0]
    deployed = np.where(np.isnan(deployed), a["penalty"], deployed)
    best = np.fmax(np.where(np.isnan(inner), -np.inf, inner).max(axis=2), deployed)
    return partition, deployed, spread, (best > deployed).astype(float), best - deployed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the instances, three runs")
    quick = parser.parse_args().quick
    n, runs = (20_000, 3) if quick else (200_000, 11)
    arrays = data(n)
    ways: dict[str, Callable[[Arrays], tuple[np.ndarray, ...]]] = {"auditkit": ours, "NumPy": peer}
    for one, other in zip(ours(arrays), peer(arrays), strict=True):
        np.testing.assert_array_equal(one, other)
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            start = time.perf_counter()
            way(arrays)
            times[name].append(time.perf_counter() - start)
    peaks = {}
    for name, way in ways.items():
        tracemalloc.start()
        way(arrays)
        peaks[name] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    base = statistics.median(times["auditkit"])
    print(f"n = {n:,}, A = 20, K = 4, R = 5, one thread, {runs} alternating runs\n")
    print("| | median | times ours | peak memory |\n|---|---|---|---|")
    for name in ways:
        median = statistics.median(times[name])
        print(f"| {name} | {1e3 * median:.1f} ms | {median / base:.1f} | {peaks[name]:.0f} MiB |")


if __name__ == "__main__":
    main()
