"""Sums over nearest neighbours: auditkit against scipy's cKDTree and scikit-learn's NearestNeighbors.

    python benchmarks/bench_local.py [--quick]

Every contender gets the same points, scores and queries in the same process, in alternating runs after a warm-up, and
returns the mean and the variance of the scores over the k nearest points of each query. Building the index counts.
Core seconds add up all threads: they tell the work, also on a machine that is busy with other things.
Peak memory is that of a process of its own, less what it holds before it starts. Needs the extra ``fit``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Moments = tuple[Floats, Floats]
Contender = Callable[[Floats, Floats, Floats, int], Moments]

THREADS = os.cpu_count() or 1


def auditkit(points: Floats, scores: Floats, queries: Floats, k: int) -> Moments:
    from auditkit.statistics.local import local_moments

    moments = local_moments(points, scores, queries, neighbours=k, threads=THREADS)
    return moments.mean, moments.variance


def ckdtree(points: Floats, scores: Floats, queries: Floats, k: int) -> Moments:
    from scipy.spatial import cKDTree

    return gathered(scores, cKDTree(points).query(queries, k, workers=THREADS)[1])


def sklearn_with(algorithm: str) -> Contender:
    def search(points: Floats, scores: Floats, queries: Floats, k: int) -> Moments:
        from sklearn.neighbors import NearestNeighbors

        index = NearestNeighbors(n_neighbors=k, algorithm=algorithm, n_jobs=THREADS).fit(points)
        return gathered(scores, index.kneighbors(queries, return_distance=False))

    return search


def gathered(scores: Floats, found: NDArray[np.intp]) -> Moments:
    chosen = scores[found]
    return chosen.mean(axis=1), chosen.var(axis=1)


CONTENDERS: dict[str, Contender] = {
    "auditkit": auditkit,
    "scipy cKDTree": ckdtree,
    "scikit-learn brute": sklearn_with("brute"),
    "scikit-learn kd_tree": sklearn_with("kd_tree"),
}


def sample(n: int, d: int) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng([n, d])
    return rng.standard_normal((n, d)), rng.standard_normal(n), rng.standard_normal((n, d))


def seconds(
    contender: Contender, data: tuple[Floats, Floats, Floats], k: int
) -> tuple[tuple[float, float], Moments]:
    """Seconds on the clock and of all cores together, and what was found."""
    start, spent = time.perf_counter(), time.process_time()
    found = contender(*data, k)
    return (time.perf_counter() - start, time.process_time() - spent), found


def compare(n: int, d: int, k: int, runs: int, names: list[str]) -> dict[str, tuple[float, float]]:
    """Median seconds (clock, all cores) by contender; all must find the same moments."""
    data = sample(n, d)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for name in names:
        seconds(CONTENDERS[name], sample(2000, d), min(k, 50))  # compiles, imports, warms up
    wanted = None
    for _ in range(runs):
        for name in names:
            taken, found = seconds(CONTENDERS[name], data, k)
            times[name].append(taken)
            if wanted is None:
                wanted = found
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    return {
        name: (statistics.median(t for t, _ in taken), statistics.median(c for _, c in taken))
        for name, taken in times.items()
    }


def peak(name: str, n: int, d: int, k: int) -> float:
    """Megabytes that one run adds to the peak of a fresh process."""
    command = [sys.executable, __file__, "--peak", name, str(n), str(d), str(k)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def print_peak(name: str, n: int, d: int, k: int) -> None:
    CONTENDERS[name](*sample(500, d), 20)
    data = sample(n, d)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = megabytes()
    CONTENDERS[name](*data, k)
    print(megabytes() - before)


def megabytes() -> float:
    """Peak resident memory of this process (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise OSError("no VmHWM in /proc/self/status")


def same_bits(n: int, d: int, k: int) -> bool:
    from auditkit.statistics.local import local_moments

    points, scores, queries = sample(n, d)
    found = [
        local_moments(points, scores, queries, neighbours=k, threads=threads)
        for threads in (1, 2, 4)
    ]
    return all(
        x.mean.tobytes() == found[0].mean.tobytes() and x.variance.tobytes() == found[0].variance.tobytes()
        for x in found
    )  # fmt: skip


def table(rows: list[tuple[str, ...]], columns: tuple[str, ...]) -> None:
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller, one run")
    parser.add_argument("--peak", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        name, *sizes = options.peak
        print_peak(name, *map(int, sizes))
        return
    quick = options.quick
    n, runs = (8000, 1) if quick else (50_000, 3)
    k = int(np.sqrt(n))
    for d in (8, 1):
        names = list(CONTENDERS)
        times = compare(n, d, k, runs, names)
        ours = times["auditkit"]
        print(
            f"n = {n:,} points and queries, k = {k}, d = {d}, {THREADS} threads; median of {runs}\n"
        )
        rows = [
            (
                name,
                f"{clock:.4g}",
                f"{clock / ours[0]:.1f}",
                f"{cores:.4g}",
                f"{cores / ours[1]:.1f}",
                f"{peak(name, n, d, k):.0f}",
            )
            for name, (clock, cores) in times.items()
        ]
        table(rows, ("", "seconds", "ratio", "core seconds", "ratio", "peak MB"))
        best = [
            min(taken[i] for name, taken in times.items() if name != "auditkit") for i in (0, 1)
        ]
        print(
            f"Best peer over auditkit: {best[0] / ours[0]:.1f} by the clock, {best[1] / ours[1]:.1f} in core seconds. ",
            end="",
        )
        print(f"Same bits with 1, 2 and 4 threads: {same_bits(n, d, k)}.\n")
    names = ["auditkit", "scipy cKDTree"]
    for d in (8, 1):
        sizes = (2000, 4000) if quick else (12_500, 25_000, 50_000, 100_000)
        rows = []
        for size in sizes:
            times = compare(size, d, int(np.sqrt(size)), 1, names)
            rows.append(
                (
                    f"{size:,}",
                    str(int(np.sqrt(size))),
                    *(f"{x:.4g}" for name in names for x in times[name]),
                )
            )
        print(f"Scaling at d = {d}: seconds\n")
        columns = ("n", "k", *(f"{name}{of}" for name in names for of in ("", ", core seconds")))
        table(rows, columns)


if __name__ == "__main__":
    main()
