"""Imports beside the parsers they rest on: same process, same files, alternating runs.

    python benchmarks/bench_importers.py [--quick] [--data FOLDER]

TSP-LION2015 (124,240 runs): the whole import against liac-arff reading the same file and nothing else. A long
CSV of a million rows: the whole import against the csv module alone, and against pandas. Times are medians over
alternating runs; peak memory is what each allocates (tracemalloc), in a run of its own.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arff
import numpy as np
import pandas as pd

import auditkit as ak

Way = Callable[[], Any]


def liac_arff(path: Path) -> Any:
    """The runs as liac-arff returns them."""
    with path.open(encoding="utf-8") as file:
        return arff.load(file)["data"]


def csv_module(path: Path) -> Any:
    """The rows as the csv module returns them."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def pandas(path: Path) -> Any:
    """The table as pandas reads it, ids as texts, and the grid it pivots to."""
    frame = pd.read_csv(path, dtype={"instance": str, "algorithm": str})
    return frame.pivot(index="instance", columns="algorithm", values="value")


def long_table(path: Path, n: int) -> None:
    """n instances by 20 algorithms, one row a cell."""
    values = np.random.default_rng(0).random((n, 20))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["instance", "algorithm", "value"])
        for i, row in enumerate(values.tolist()):
            writer.writerows(
                [f"instance {i}", f"algorithm {a}", value] for a, value in enumerate(row)
            )


def compare(title: str, ways: dict[str, Way], runs: int) -> None:
    """Print one table: seconds, ratio to the last way, peak memory."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(values) for name, values in times.items()}
    base = list(medians.values())[-1]
    print(f"\n{title}, median of {runs}\n\n| way | seconds | ratio | peak MB |\n|---|---|---|---|")
    for name, way in ways.items():
        tracemalloc.start()
        way()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"| {name} | {medians[name]:.3f} | {medians[name] / base:.2f} | {peak / 1e6:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, three runs")
    parser.add_argument("--data", type=Path, help="folder with aslib/TSP-LION2015")
    arguments = parser.parse_args()
    runs = 3 if arguments.quick else 11
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = arguments.data or Path(os.environ.get("AUDITKIT_DATA", default))
    scenario = folder / "aslib" / "TSP-LION2015"
    if scenario.is_dir():
        ways: dict[str, Way] = {
            "import_aslib": lambda: ak.import_aslib(scenario),
            "import_aslib, each repetition a row": lambda: ak.import_aslib(
                scenario, repetition="each"
            ),
            "liac-arff alone": lambda: liac_arff(scenario / "algorithm_runs.arff"),
        }
        compare("TSP-LION2015, 124,240 runs", ways, runs)
    else:
        print(f"no scenario in {scenario} (--data or AUDITKIT_DATA): skipped")
    n = 2_500 if arguments.quick else 50_000
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "long.csv"
        long_table(path, n)
        ours = ak.import_benchmark(path, higher_is_better=True).member
        peer = pandas(path).loc[list(ours.instances), list(ours.algorithms)].to_numpy()
        np.testing.assert_allclose(ours.utility, peer, rtol=1e-15)
        ways = {
            "import_benchmark": lambda: ak.import_benchmark(path, higher_is_better=True),
            "pandas: read and pivot": lambda: pandas(path),
            "csv module alone": lambda: csv_module(path),
        }
        compare(f"long CSV, {20 * n:,} rows", ways, 3 if arguments.quick else 5)


if __name__ == "__main__":
    main()
