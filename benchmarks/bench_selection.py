"""The selection audit: kernels against vectorised NumPy and SciPy, and whole audits with their intervals.

    python benchmarks/bench_selection.py [--quick]

100,000 datasets x 12 systems, 20,000 traces x 500 candidates, and the Orcetra sweep where $AUDITKIT_DATA holds it.
Kernels and peers run in one process on the same data in alternation, on one thread, and agree; times are medians of
processor time. Whole audits draw 10,000 replicates on all cores. Memory is the peak beyond the data (tracemalloc).
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from auditkit.audits.selection import audit_selection
from auditkit.schema import AuditData, Scoreboard, Search
from auditkit.statistics import selection

ROOT = Path(__file__).parents[1]


def board(n: int, systems: int = 12) -> Scoreboard:
    """Accuracies with three decimals, so that some tie, and times around a budget."""
    random = np.random.default_rng(0)
    return Scoreboard(
        score=random.integers(500, 1000, (n, systems)) / 1000,
        higher_is_better=np.ones(n, dtype=bool),
        datasets=tuple(map(str, range(n))),
        systems=tuple(f"s{i}" for i in range(systems)),
        seconds=random.uniform(10, 100, (n, systems)),
        budget_seconds=np.full(n, 60.0),
        test_size=random.integers(50, 500, n),
        group=tuple("abcd"[i % 4] for i in range(n)),
    )


def search(n: int, candidates: int) -> Search:
    """Candidates of like quality, measured twice with noise."""
    random = np.random.default_rng(1)
    quality = random.uniform(0.4, 0.9, (n, 1))
    validation, test = (
        np.clip(quality + random.normal(0, 0.03, (n, candidates)), 0, 1) for _ in "vt"
    )
    return Search(
        validation_score=validation,
        test_score=test,
        higher_is_better=np.ones(n, dtype=bool),
        datasets=tuple(map(str, range(n))),
    )


def rank_and_count(score: np.ndarray) -> tuple[np.ndarray, ...]:
    """Winners, ranks and head-to-head wins with the tolerance, by the kernels."""
    winner, rank = selection.rank_records(score, 1e-6)
    return winner, rank, selection.count_wins(score, np.arange(len(score)), 1e-6)


def rank_and_count_peer(score: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same on scores that are rounded first, so that equal ones are equal: SciPy and NumPy."""
    exact = np.rint(score * 1000)
    rank = rankdata(-exact, axis=1)
    winner = np.where((rank == 1).any(axis=1), rank.argmin(axis=1), score.shape[1])
    wins = np.stack([(exact[:, [a]] > exact).sum(axis=0) for a in range(score.shape[1])])
    return winner, rank, wins


def follow(pair: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, ...]:
    """The bias after every candidate, by the kernel."""
    return (selection.follow_traces(*pair).bias,)


def follow_peer(pair: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, ...]:
    """The same for traces without gaps, with NumPy's running maxima."""
    validation, test = pair
    top = np.maximum.accumulate(validation, axis=1)
    is_new = np.concatenate([np.ones((len(top), 1), bool), top[:, 1:] > top[:, :-1]], axis=1)
    chosen = np.maximum.accumulate(np.where(is_new, np.arange(top.shape[1]), 0), axis=1)
    return (np.maximum.accumulate(test, axis=1) - np.take_along_axis(test, chosen, axis=1),)


def peak(work: Callable[[], Any]) -> float:
    """MB allocated at most while ``work`` runs."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def compare(
    name: str, data: Any, ours: Callable[[Any], Any], peer: Callable[[Any], Any], runs: int
) -> None:
    """One line: medians of alternating runs, their ratio, and peaks; after checking that they agree."""
    for one, other in zip(ours(data), peer(data), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(runs):
        for key, way in (("ours", ours), ("peer", peer)):
            start = time.process_time()
            way(data)
            times[key].append(time.process_time() - start)
    a, b = (statistics.median(times[key]) for key in ("ours", "peer"))
    memory = (peak(lambda: ours(data)), peak(lambda: peer(data)))
    print(
        f"| {name} | {a * 1e3:.0f} ms | {b * 1e3:.0f} ms | {b / a:.1f} "
        f"| {memory[0]:.0f} MB | {memory[1]:.0f} MB |"
    )


def whole(name: str, data: AuditData, replicates: int) -> None:
    """One line: wall-clock and processor time of an audit, and its peak (with 100 replicates)."""
    memory = peak(lambda: audit_selection(data, candidates=40, replicates=100))
    wall, cpu = time.perf_counter(), time.process_time()
    audit_selection(data, candidates=40, replicates=replicates)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"| {name} | {wall:.2f} s | {cpu:.2f} s | {memory:.0f} MB |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, three runs")
    quick = parser.parse_args().quick
    n, traces, runs = (10_000, 2_000, 3) if quick else (100_000, 20_000, 9)
    replicates = 1_000 if quick else 10_000
    one, two = board(n), search(traces, 500)

    print("| kernel | auditkit | peer | ratio | memory | peer |\n|---|---|---|---|---|---|")
    size = f"{n:,} datasets x 12 systems"
    scores = np.array(one.score)
    compare(f"ranks and wins, {size}", scores, rank_and_count, rank_and_count_peer, runs)
    size = f"{traces:,} traces x 500"
    pair = (np.array(two.validation_score), np.array(two.test_score))
    compare(f"selection curve, {size}", pair, follow, follow_peer, runs)
    del scores, pair

    print(f"\n| whole audit, {replicates:,} replicates | wall | CPU | memory |\n|---|---|---|---|")
    whole(f"{n:,} datasets x 12 systems", AuditData(scoreboards={"b": one}), replicates)
    whole(f"{traces:,} traces x 500", AuditData(searches={"s": two}), replicates)
    folder = Path(os.environ.get("AUDITKIT_DATA", "nowhere"))
    if folder.is_dir():
        sys.path.insert(0, str(ROOT))
        from tests.audits.orcetra import RERUN, SWEEP, orcetra

        sweep = orcetra(folder, (*SWEEP, RERUN))
        whole("Orcetra sweep and re-run", AuditData(scoreboards={"sweep": sweep}), replicates)


if __name__ == "__main__":
    main()
