"""The Orcetra sweep as a scoreboard, straight from its JSON lines."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from auditkit.schema import Scoreboard

SWEEP = (
    "multi_framework_20260328_1739",
    "multi_framework_20260328_1841",
    "multi_framework_20260330_2124",
)
RERUN = "multi_framework_20260331_1917_regression_only_orcetra_improved"
PARTIAL = "multi_framework_20260330_2017"
SYSTEMS = ("orcetra", "autogluon", "flaml")


def orcetra(folder: Path, runs: tuple[str, ...] = SWEEP) -> Scoreboard:
    """The runs one after the other; a dataset's 20 % test split has ceil(n / 5) rows."""
    records = [
        (run, json.loads(line))
        for run in runs
        for line in (folder / "orcetra" / f"{run}.jsonl").read_text().splitlines()
    ]
    rows = [record for _, record in records]
    return Scoreboard(
        score=np.array([[float(row["scores"][s]) for s in SYSTEMS] for row in rows]),
        higher_is_better=np.array([row["task_type"] == "classification" for row in rows]),
        datasets=tuple(str(row["dataset_id"]) for row in rows),
        systems=SYSTEMS,
        seconds=np.array([[float(row["times"][s]) for s in SYSTEMS] for row in rows]),
        budget_seconds=np.array([float(row["budget_sec"]) for row in rows]),
        clusters=tuple(row["name"] for row in rows),
        size=np.array([row["n_samples"] for row in rows]),
        test_size=np.array([math.ceil(row["n_samples"] / 5) for row in rows]),
        group=tuple(row["task_type"] for row in rows),
        run=tuple(run for run, _ in records),
        claimed_winner=tuple(row["winner"] for row in rows),
    )
