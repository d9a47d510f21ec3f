"""Rendering of an audit of 30 pipelines, 435 pairs: time and size of every format.

    python benchmarks/bench_reports.py [--quick]

No peer: nothing else renders these results. Times are medians, after one rendering that loads the libraries.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace

import numpy as np

from auditkit.audits.run import run_audits
from auditkit.demo import demo_data
from auditkit.reports.render import FORMATS, render
from auditkit.results.audit import Audit
from auditkit.schema import AuditData, Pipeline


def crowd(n_pipelines: int = 30) -> Audit:
    """An audit of random pipelines on the demo's benchmark."""
    random = np.random.default_rng(7)
    toy = demo_data().benchmarks["toy"]
    first = next(iter(toy.pipelines.values()))
    pipelines: dict[str, Pipeline] = {}
    for i in range(n_pipelines):
        families = random.integers(0, 2, (2, 100))
        within = random.integers(0, 2, (2, 100, 2)) + np.array([0, 2])
        pipelines[f"pipeline {i:02}"] = replace(
            first, family_choice=families, within_choice=within, families=None, family_of=None
        )
    return run_audits(AuditData(benchmarks={"crowd": replace(toy, pipelines=pipelines)}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    rounds = 2 if parser.parse_args().quick else 7
    audit = crowd()
    print("| format | seconds | kB |\n|---|---:|---:|")
    for format_ in FORMATS:
        size = len(render(audit, format_).encode())
        seconds = []
        for _ in range(rounds):
            start = time.perf_counter()
            render(audit, format_)
            seconds.append(time.perf_counter() - start)
        print(f"| {format_} | {statistics.median(seconds):.2f} | {size / 1000:,.0f} |")


if __name__ == "__main__":
    main()
