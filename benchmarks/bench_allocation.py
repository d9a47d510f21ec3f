"""The null floor and the exact curve against NumPy: same process, same data, alternating runs.

    python benchmarks/bench_allocation.py [--quick]

The floor of 50 sources x 200 repetitions is 10,000 pipelines of 50 instances x 800 samples with a budget of 100 each.
auditkit runs all of them. The NumPy versions run a share, and their times are extrapolated to all (said in the table):
``plain`` is what one would write first, an instance at a time, minorant and heap in Python; ``vectorised`` sorts and
multiplies whole workloads at once and selects the gains without a heap. auditkit uses two threads, NumPy one (its BLAS
is no faster with two on matrices of this size). Times are medians over alternating runs; CPU seconds add up all threads
and depend little on other load; peak memory is what each allocates beyond the data (tracemalloc). The first
call of auditkit, which compiles, is timed apart.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import statistics
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln
from threadpoolctl import threadpool_limits

from auditkit.statistics.best_of_k import best_of_k
from auditkit.statistics.null_floor import null_floor, null_gains
from auditkit.statistics.workload import Workload, as_workload

SOURCES, N, DEPTH, BUDGET, CAP, THREADS = 50, 50, 800, 100, 400, 2


def data() -> Workload:
    """Sources of unlike spread: gaps in percent of a sampler."""
    random = np.random.default_rng(0)
    return as_workload(
        np.abs(random.normal(25, random.uniform(3, 8, (SOURCES, 1)), (SOURCES, DEPTH)))
    )


def weights() -> np.ndarray:
    """C(C-j, k-1) / C(C, k) by logarithms of gamma functions: [CAP, DEPTH]."""
    k, j = np.arange(1, CAP + 1)[:, np.newaxis], np.arange(1, DEPTH + 1)
    with np.errstate(invalid="ignore"):
        log = gammaln(DEPTH - j + 1) - gammaln(k) - gammaln(DEPTH - j - k + 2)
        log -= gammaln(DEPTH + 1) - gammaln(k + 1) - gammaln(DEPTH - k + 1)
    return np.where(j <= DEPTH - k + 1, np.exp(log), 0.0)


def minorant(curve: np.ndarray) -> list[float]:
    """Gains of single steps along the greatest convex minorant."""
    corners = [0]
    for k in range(1, len(curve)):
        while len(corners) > 1:
            a, b = corners[-2], corners[-1]
            if (curve[a] - curve[b]) * (k - b) > (curve[b] - curve[k]) * (b - a):
                break
            corners.pop()
        corners.append(k)
    gains: list[float] = []
    for a, b in itertools.pairwise(corners):
        gains += [(curve[a] - curve[b]) / (b - a)] * (b - a)
    return gains


def plain(costs: np.ndarray, w: np.ndarray, random: np.random.Generator) -> float:
    """One pipeline, an instance at a time."""
    curves = []
    for _ in range(N):
        curves.append(w @ np.sort(random.choice(costs, DEPTH)))
    gains = [minorant(curve) for curve in curves]
    taken = [1] * N
    heap = [(-gains[i][0], i) for i in range(N)]
    heapq.heapify(heap)
    for _ in range(N * BUDGET - N):
        _, i = heapq.heappop(heap)
        taken[i] += 1
        if taken[i] < CAP:
            heapq.heappush(heap, (-gains[i][taken[i] - 1], i))
    uniform = sum(curve[BUDGET - 1] for curve in curves)
    allocated = sum(curve[k - 1] for curve, k in zip(curves, taken, strict=True))
    return float(100 * (uniform - allocated) / uniform)


def vectorised(costs: np.ndarray, w: np.ndarray, random: np.random.Generator) -> float:
    """One pipeline, all instances at once; the exact curve is convex, so the best gains are the greedy ones."""
    curves = np.sort(costs[random.integers(0, DEPTH, (N, DEPTH))], axis=1) @ w.T
    gains = curves[:, :-1] - curves[:, 1:]
    best = np.argpartition(-gains.ravel(), N * BUDGET - N - 1)[: N * BUDGET - N]
    taken = 1 + np.bincount(best // (CAP - 1), minlength=N)
    uniform = curves[:, BUDGET - 1].sum()
    return float(100 * (uniform - curves[np.arange(N), taken - 1].sum()) / uniform)


def share(
    one: Callable[..., float], workload: Workload, w: np.ndarray, pipelines: int
) -> np.ndarray:
    """Some pipelines, spread over the sources."""
    random = np.random.default_rng(1)
    sources = np.linspace(0, SOURCES - 1, pipelines).astype(int)
    return np.array([one(workload.gaps[s], w, random) for s in sources])


def clock(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of one call, and CPU seconds of all its threads."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu


def peak(work: Callable[[], object]) -> float:
    """MB allocated at most during one call."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def floor_table(quick: bool) -> None:
    """The floor: auditkit whole, the others by share."""
    workload, w = data(), weights()
    repetitions, runs = (20, 3) if quick else (200, 5)
    total = SOURCES * repetitions
    few, many = (5, 50) if quick else (50, 500)

    def ours() -> np.ndarray:
        return null_gains(workload, BUDGET, repetitions=repetitions, n=N, seed=1, threads=THREADS)

    first, _ = clock(ours)
    ways: dict[str, tuple[Callable[[], object], float]] = {
        "auditkit": (ours, 1.0),
        "NumPy, vectorised": (lambda: share(vectorised, workload, w, many), total / many),
        "NumPy, plain": (lambda: share(plain, workload, w, few), total / few),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    with threadpool_limits(1):
        for _ in range(runs):
            for name, (work, scale) in ways.items():
                wall, cpu = clock(work)
                times[name].append((scale * wall, scale * cpu))
        memory = {name: peak(work) for name, (work, _) in ways.items()}
        told = {"NumPy, vectorised": many, "NumPy, plain": few}
        base, base_cpu = (statistics.median(x) for x in zip(*times["auditkit"], strict=True))
        print(f"Null floor, {total:,} pipelines of {N} x {DEPTH}, budget {BUDGET}, {runs} runs:\n")
        print(
            "| version | seconds | fastest | CPU seconds | times auditkit (CPU) | peak MB | measured on |"
        )
        print("|---|---:|---:|---:|---:|---:|---|")
        for name, pairs in times.items():
            walls, cpus = zip(*pairs, strict=True)
            middle, cpu = statistics.median(walls), statistics.median(cpus)
            on = f"{told[name]} pipelines, extrapolated" if name in told else f"all {total:,}"
            print(
                f"| {name} | {middle:.2f} | {min(walls):.2f} | {cpu:.2f} "
                f"| {middle / base:.1f} ({cpu / base_cpu:.1f}) | {memory[name]:.1f} | {on} |"
            )
        found = null_floor(ours())
        others = [np.median(share(one, workload, w, many)) for one in (vectorised,)]
    print(f"\nFirst call, compiling where nothing is cached: {first:.1f} s.")
    print(
        f"Median null gain {np.median(ours()):.4f} % here, {others[0]:.4f} % by the vectorised version on its own "
        f"draws; floor {found.median:.4f} % (p90 {found.p90:.4f} %).\n"
    )


def curve_table(quick: bool) -> None:
    """All points of exact curves up to half the depth, one thread."""
    print("Exact curve at all k up to C / 2, one instance:\n")
    print(
        "| C | auditkit ms | NumPy, weights by gammaln ms | times auditkit | largest relative difference |"
    )
    print("|---:|---:|---:|---:|---:|")
    for depth in (1_000, 4_000) if quick else (1_000, 10_000):
        costs = np.random.default_rng(2).normal(25, 6, depth)
        k = np.arange(1, depth // 2 + 1)

        def logs(costs: np.ndarray = costs, depth: int = depth, k: np.ndarray = k) -> np.ndarray:
            ordered = np.sort(costs)
            j = np.arange(1, depth + 1)
            out = np.empty(len(k))
            for i, size in enumerate(k):
                at = j[: depth - size + 1]
                log = gammaln(depth - at + 1) - gammaln(size) - gammaln(depth - at - size + 2)
                log -= gammaln(depth + 1) - gammaln(size + 1) - gammaln(depth - size + 1)
                out[i] = np.exp(log) @ ordered[: len(at)]
            return out

        def ours(costs: np.ndarray = costs, k: np.ndarray = k) -> np.ndarray:
            return best_of_k(costs, k)

        difference = np.abs(ours() / logs() - 1).max()
        one, other = [], []
        for _ in range(3 if quick else 5):
            one.append(1e3 * clock(ours)[1])
            other.append(1e3 * clock(logs)[1])
        a, b = statistics.median(one), statistics.median(other)
        print(f"| {depth:,} | {a:.1f} | {b:.1f} | {b / a:.1f} | {difference:.1e} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the repetitions, three runs"
    )
    quick = parser.parse_args().quick
    floor_table(quick)
    curve_table(quick)


if __name__ == "__main__":
    main()
