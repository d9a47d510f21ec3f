"""Bootstrap intervals: auditkit against scipy, arch, resample, and plain NumPy and numba.

    env -u OPENBLAS_CORETYPE python benchmarks/bench_bootstrap.py [--quick] [--only TABLE]

Every contender gets the same data in the same process, in alternating runs after a warm-up; times are medians, ratios
are medians of the ratios of each round. Peers that would take minutes are run with fewer replicates and extrapolated
in proportion, which is said. Peak memory is that of a process of its own, less what it holds before it starts. Needs
the extra ``benchmark``.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import auditkit as ak

Run = Callable[[], Any]

_TURN = 0.2
"""Seconds that a contender runs in a round, at least once."""


@dataclass(frozen=True)
class Contender:
    """A name, what it runs, and by what its time is multiplied (replicates left out)."""

    name: str
    run: Run
    factor: float = 1.0


def race(title: str, contenders: list[Contender], rounds: int, bases: tuple[str, ...]) -> None:
    """Run all in turn; print medians and how many times slower than each of ``bases`` a contender is.

    CPU time is what all threads take together; it says more than the clock where the machine is shared.
    """
    for contender in contenders:
        if contender.factor == 1:
            contender.run()
    wall: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    cpu: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for _ in range(rounds):
        for contender in contenders:
            start, busy, runs = time.perf_counter(), time.process_time(), 0
            while runs == 0 or time.perf_counter() - start < _TURN:
                contender.run()
                runs += 1
            share = contender.factor / runs
            wall[contender.name].append((time.perf_counter() - start) * share)
            cpu[contender.name].append((time.process_time() - busy) * share)

    def ratio(one: list[float], other: list[float]) -> str:
        return f"{statistics.median(a / b for a, b in zip(one, other, strict=True)):.3g}"

    print(f"\n### {title}\n")
    print("| | ms | CPU ms | " + " | ".join(f"/ {base} (CPU)" for base in bases) + " |")
    print("|---|---:|---:|" + "---:|" * len(bases))
    for contender in contenders:
        name = contender.name
        ratios = [f"{ratio(wall[name], wall[b])} ({ratio(cpu[name], cpu[b])})" for b in bases]
        extrapolated = f" (x {contender.factor:g})" if contender.factor != 1 else ""
        medians = " | ".join(f"{1e3 * statistics.median(t[name]):.4g}" for t in (wall, cpu))
        print(f"| {name}{extrapolated} | {medians} | {' | '.join(ratios)} |", flush=True)


# ------------------------------------------------------------------------------------------ peers


def scipy_columns(x: np.ndarray, replicates: int, method: str = "percentile") -> Run:
    from scipy import stats

    def run() -> Any:
        batch = max(1, 2**21 // x.size)  # what is fastest here
        return stats.bootstrap(
            (x,), np.mean, axis=0, n_resamples=replicates, batch=batch, method=method, rng=1
        ).confidence_interval

    return run


def scipy_pair(a: np.ndarray, b: np.ndarray, replicates: int) -> Run:
    from scipy import stats

    def ratio(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return a.sum(axis=axis) / b.sum(axis=axis)

    def run() -> Any:
        return stats.bootstrap(
            (a, b), ratio, paired=True, n_resamples=replicates, method="percentile", rng=1,
            batch=max(1, 2**19 // len(a)),
        ).confidence_interval  # fmt: skip

    return run


def scipy_pair_plain(a: np.ndarray, b: np.ndarray, replicates: int) -> Run:
    """The statistic as most would write it, without an axis: scipy calls it once a resample."""
    from scipy import stats

    def ratio(a: np.ndarray, b: np.ndarray) -> float:
        return float(a.sum() / b.sum())

    def run() -> Any:
        return stats.bootstrap(
            (a, b), ratio, paired=True, n_resamples=replicates, method="percentile", rng=1
        ).confidence_interval

    return run


def arch_columns(
    x: np.ndarray, replicates: int, statistic: Callable[[np.ndarray], Any] | None = None
) -> Run:
    from arch.bootstrap import IIDBootstrap

    function = statistic or (lambda rows: rows.mean(axis=0))
    return lambda: IIDBootstrap(x, seed=1).conf_int(function, replicates, method="percentile")


def resample_columns(x: np.ndarray, replicates: int) -> Run:
    from resample.bootstrap import bootstrap

    def run() -> Any:
        means = bootstrap(lambda rows: rows.mean(axis=0), x, size=replicates, random_state=1)
        return np.quantile(means, [0.025, 0.975], axis=0)

    return run


def bincount(x: np.ndarray, replicates: int) -> Run:
    n = len(x)

    def run() -> Any:
        rng = np.random.default_rng(1)
        means = np.empty((replicates, x.shape[1]))
        for b in range(replicates):
            means[b] = np.bincount(rng.integers(0, n, n), minlength=n) @ x / n
        return np.quantile(means, [0.025, 0.975], axis=0)

    return run


def numba_loop(x: np.ndarray, replicates: int) -> Run:
    import numba

    @numba.njit
    def resampled(x, replicates, seed):  # type: ignore[no-untyped-def]
        np.random.seed(seed)  # noqa: NPY002 (numba has no other generator in a loop)
        n, m = x.shape
        means = np.zeros((replicates, m))
        for b in range(replicates):
            for _ in range(n):
                i = np.random.randint(0, n)  # noqa: NPY002
                for j in range(m):
                    means[b, j] += x[i, j]
        return means / n

    resampled(x[:2], 1, 1)
    return lambda: np.quantile(resampled(x, replicates, 1), [0.025, 0.975], axis=0)


def ours(x: np.ndarray, replicates: int, threads: int = 2, **options: Any) -> Run:
    return lambda: ak.bootstrap(x, replicates=replicates, threads=threads, **options)


# ----------------------------------------------------------------------------------------- tables


def main_case(rounds: int) -> None:
    x = np.random.default_rng(0).exponential(size=(3565, 15))
    B = 10_000
    race(
        "n = 3565, 15 columns, B = 10,000, percentile intervals of means",
        [
            Contender("auditkit, 2 threads", ours(x, B)),
            Contender("auditkit, 1 thread", ours(x, B, 1)),
            Contender("auditkit exact", ours(x, B, method="exact")),
            Contender("auditkit resampler=numpy", ours(x, B, resampler="numpy")),
            Contender("scipy, 2-D", scipy_columns(x, B // 10), 10),
            Contender("arch", arch_columns(x, B // 10), 10),
            Contender("resample", resample_columns(x, B // 10), 10),
            Contender("NumPy bincount @ x", bincount(x, B)),
            Contender("numba loop", numba_loop(x, B)),
        ],
        rounds,
        ("auditkit, 2 threads", "auditkit, 1 thread", "auditkit exact"),
    )


def methods(rounds: int) -> None:
    x = np.random.default_rng(0).exponential(size=(3565, 15))
    B = 10_000
    race(
        "The same data, kinds of interval, 2 threads",
        [
            Contender("percentile", ours(x, B)),
            Contender("basic", ours(x, B, method="basic")),
            Contender("BCa", ours(x, B, method="bca")),
            Contender("studentized", ours(x, B, method="studentized")),
            Contender("median, percentile", ours(x, B, statistic="median")),
            Contender("median, BCa", ours(x, B, statistic="median", method="bca")),
            Contender("7 ratios", ours(x[:, :14], B, statistic="ratio")),
            Contender("7 ratios, exact", ours(x[:, :14], B, statistic="ratio", method="exact")),
        ],
        rounds,
        ("percentile",),
    )
    one = x[:, 0].copy()
    race(
        "One column of it",
        [
            Contender("auditkit BCa", ours(one, B, method="bca")),
            Contender("scipy BCa", scipy_columns(one, B, "BCa")),
        ],
        rounds,
        ("auditkit BCa",),
    )


def large(rounds: int) -> None:
    x = np.random.default_rng(0).exponential(size=(200_000, 15))
    B, few = 2000, 20
    race(
        "n = 200,000, 15 columns, B = 2000",
        [
            Contender("auditkit, 2 threads", ours(x, B)),
            Contender("auditkit, 1 thread", ours(x, B, 1)),
            Contender("auditkit exact", ours(x, B, method="exact")),
            Contender("scipy, 2-D", scipy_columns(x, few), B / few),
            Contender("arch", arch_columns(x, few), B / few),
            Contender("resample", resample_columns(x, few), B / few),
            Contender("NumPy bincount @ x", bincount(x, few * 5), B / few / 5),
            Contender("numba loop", numba_loop(x, few * 5), B / few / 5),
        ],
        rounds,
        ("auditkit, 2 threads", "auditkit, 1 thread", "auditkit exact"),
    )


def small(rounds: int) -> None:
    x = np.random.default_rng(0).exponential(size=100)
    B = 10_000
    race(
        "n = 100, one column, B = 10,000",
        [
            Contender("auditkit, 2 threads", ours(x, B)),
            Contender("auditkit, 1 thread", ours(x, B, 1)),
            Contender("auditkit exact", ours(x, B, method="exact")),
            Contender("scipy", scipy_columns(x, B)),
            Contender("numba loop", numba_loop(x[:, None], B)),
        ],
        5 * rounds,
        ("auditkit, 2 threads", "auditkit exact"),
    )


def clustered(rounds: int) -> None:
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.arange(378), rng.integers(0, 378, 135)])
    x = rng.exponential(size=513)
    sums, sizes = np.bincount(labels, x), np.bincount(labels).astype(float)
    table = np.c_[sums, sizes]
    B = 10_000
    race(
        "513 observations in 378 clusters, B = 10,000, the mean as a ratio of sums",
        [
            Contender("auditkit, 2 threads", ours(x, B, clusters=labels)),
            Contender("auditkit, 1 thread", ours(x, B, 1, clusters=labels)),
            Contender("auditkit exact", ours(x, B, clusters=labels, method="exact")),
            Contender("scipy, statistic with an axis", scipy_pair(sums, sizes, B)),
            Contender("scipy, plain statistic", scipy_pair_plain(sums, sizes, B)),
            Contender(
                "arch on the cluster table",
                arch_columns(table, B, lambda rows: rows[:, 0].sum() / rows[:, 1].sum()),
            ),
        ],
        rounds,
        ("auditkit, 2 threads", "auditkit exact"),
    )


def speed_of_light(rounds: int) -> None:
    """The draws alone and the product alone, which no interval can beat with this design."""
    from auditkit.statistics.draws import Draws, Planes, reduce_resamples

    x = np.random.default_rng(0).exponential(size=(3565, 15))
    planes = Planes.of((x - x.mean(axis=0)).T)
    counts = np.random.default_rng(1).poisson(1, (144, planes.halves.shape[1])).astype(np.uint8)
    found = np.empty((15, len(counts)))

    def draws_alone() -> None:
        reduce_resamples(Draws(3565, 10_000, 0, "fast", 1), lambda counts, start, stop: None)

    def product_alone() -> None:
        for _ in range(70):
            planes.sum(counts, found)

    race(
        "Speed of light: n = 3565, 15 columns, B = 10,000, 1 thread",
        [
            Contender("auditkit, 1 thread", ours(x, 10_000, 1)),
            Contender("draws alone", draws_alone),
            Contender("product alone", product_alone, 10_000 / (70 * 144)),
        ],
        rounds,
        ("auditkit, 1 thread",),
    )


FRESH = """
import sys, time
import numpy as np
start = time.process_time()
import auditkit as ak
imported = time.process_time() - start
x = np.random.default_rng(0).normal(size=(556, 4))
start, busy = time.perf_counter(), time.process_time()
ak.bootstrap(x)
first, busy = time.perf_counter() - start, time.process_time() - busy
print(f"{imported:.4f} {first:.3f} {busy:.3f}")
"""

MEMORY = """
import sys, time
import numpy as np
import auditkit as ak
n, replicates, method = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
x = np.random.default_rng(0).normal(size=(n, 15))
ak.bootstrap(x[:500], replicates=20, method=method)
def field(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(name))
with open("/proc/self/clear_refs", "w") as clear:
    clear.write("5")
before, start = field("VmRSS"), time.perf_counter()
ak.bootstrap(x, replicates=replicates, method=method)
print(f"{time.perf_counter() - start:.2f} {field('VmHWM') - before:.0f}")
"""


def processes(rounds: int) -> None:
    """What a fresh process pays, and peak memory (Linux)."""
    root = Path(__file__).parents[1]

    def child(code: str, *arguments: str) -> list[float]:
        command = [sys.executable, "-c", code, *arguments]
        output = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        return [float(word) for word in output.stdout.split()]

    fresh = [child(FRESH) for _ in range(rounds + 1)][1:]
    imported, first, busy = (statistics.median(column) for column in zip(*fresh, strict=True))
    print("\n### A fresh process, warm cache\n")
    print("| import auditkit, CPU s beyond numpy | first bootstrap, s | CPU s |\n|---:|---:|---:|")
    print(f"| {imported:.4f} | {first:.2f} | {busy:.2f} |")
    replicates = 10_000 if rounds > 1 else 200
    print(f"\n### n = 1,000,000, 15 columns, B = {replicates:,}\n")
    print("| | s | MB beyond the data |\n|---|---:|---:|")
    for method in ("percentile", "exact"):
        seconds, memory = child(MEMORY, "1000000", str(replicates), method)
        print(f"| {method} | {seconds:.1f} | {memory:.0f} |", flush=True)


TABLES: dict[str, Callable[[int], None]] = {
    "main": main_case,
    "methods": methods,
    "large": large,
    "small": small,
    "clusters": clustered,
    "light": speed_of_light,
    "processes": processes,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="one round instead of five")
    parser.add_argument("--only", choices=TABLES, action="append", help="only this table")
    options = parser.parse_args()
    for name in options.only or TABLES:
        TABLES[name](1 if options.quick else 5)
