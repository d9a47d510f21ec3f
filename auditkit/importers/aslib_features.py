"""Features of an ASlib scenario (``feature_values.arff``), kept beside the runs for whoever fits selectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from auditkit.errors import SourceError, counted
from auditkit.importers.arff_file import read_arff
from auditkit.importers.aslib_runs import Runs, floats, line_of_row, whole
from auditkit.importers.grids import check_cells
from auditkit.importers.imported import Notes, listed
from auditkit.importers.repetitions import over_repetitions
from auditkit.importers.scenario import Description
from auditkit.importers.sources import Source, read_source


@dataclass(frozen=True, slots=True)
class Features:
    """The source, and the arrays it fills."""

    source: Source
    arrays: dict[str, Any]


def read_features(
    folder: Path, about: Description, runs: Runs, repetition: str, notes: Notes
) -> Features | None:
    """The features of the rows of the benchmark; None where there is no ``feature_values.arff``."""
    path = folder / "feature_values.arff"
    if not path.is_file():
        notes.warn("no feature_values.arff: no features (build needs them)")
        return None
    table = read_arff(read_source(path), texts=("instance_id", "repetition"))
    if "instance_id" not in table.columns:
        raise SourceError(
            "no column 'instance_id'", found=listed(table.columns), where=table.source.where(1, 1)
        )
    names = [column for column in table.columns if column not in {"instance_id", "repetition"}]
    if not names:
        return None
    index = {name: position for position, name in enumerate(runs.instances)}
    layers = {text: position for position, text in enumerate(runs.repetitions)}
    texts = table.columns.get("repetition", ["1"] * len(table))
    rows, keep, seen = [], [], set()
    unknown: set[str] = set()
    for position, (instance, text) in enumerate(
        zip(table.columns["instance_id"], texts, strict=True)
    ):
        key = (index.get(instance, -1), layers.setdefault(whole(text), len(layers)))
        if key[0] < 0:
            unknown.add(str(instance))
            continue
        if key in seen:
            line = line_of_row(table.source, position)
            raise SourceError(
                "features occur twice",
                found=f"{instance!r}, repetition {text}",
                where=table.source.where(line, "instance_id"),
            )
        seen.add(key)
        rows.append(key)
        keep.append(position)
    if unknown:
        notes.warn(
            f"features of {counted(len(unknown), 'instance')} without runs dropped: {listed(sorted(unknown))}"
        )
    values = np.array([floats(table, name) for name in names]).T[keep]
    check_cells((len(index), len(layers), len(names)), table.source.where())
    cube = np.full((len(index), len(layers), len(names)), np.nan)
    if rows:
        cube[tuple(np.array(rows).T)] = notes.without_infinities(values, "feature value")
    if repetition == "each" and len(runs.repetitions) > 1:
        kept = runs.present.any(axis=2).reshape(-1)
        features = cube[:, : len(runs.repetitions)].reshape(-1, len(names))[kept]
    else:
        features = over_repetitions(cube, "mean" if repetition == "each" else repetition, axis=1)
    lacking = int(np.isnan(features).all(axis=1).sum())
    missing = int(np.isnan(features).sum())
    notes.say(
        f"features: {len(names)} kept, {missing:,} cells missing ({counted(lacking, 'instance')} without any)"
    )
    steps = [about.steps.get(name, "") for name in names]
    if "" in steps:
        notes.warn(f"{counted(steps.count(''), 'feature')} that no feature step provides")
    return Features(
        table.source, {"features": features, "feature_names": names, "feature_steps": steps}
    )
