"""Scoreboards, searches, samples and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from auditkit.errors import SchemaError
from auditkit.schema import rules
from auditkit.schema.specs import Flags, Floats, Indices, Labels, Member, Texts, array, attribute


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scoreboard(Member):
    """Scores of systems on datasets, with their budgets: ``/scoreboards/<name>``.

    A dataset may occur once in each ``run``: later occurrences are re-runs.
    """

    GROUP: ClassVar[str] = "scoreboards"

    score: Floats = array("float", "n S", "NaN = the system failed or was not run")
    higher_is_better: Flags = array("flag", "n", "orientation of the score, per dataset")
    datasets: Texts = array("text", "n", "dataset ids")
    systems: Texts = array("text", "S", "names of the systems", unique=True)
    seconds: Floats | None = array(
        "float", "n S", "realised wall-clock seconds", optional=True, low=0
    )
    budget_seconds: Floats | None = array(
        "float", "n", "nominal budget in seconds", optional=True, low=0
    )
    clusters: Labels | None = array(
        "label", "n", "records of one cluster are not independent", optional=True
    )
    size: Indices | None = array(
        "index", "n", "rows of the dataset; 0 = unknown", optional=True, low=0
    )
    test_size: Indices | None = array(
        "index", "n", "rows scored; 0 = unknown", optional=True, low=0
    )
    group: Texts | None = array(
        "text", "n", "stratum of the dataset, such as its task type", optional=True
    )
    run: Texts | None = array("text", "n", "source file or run id", optional=True)
    candidates: Indices | None = array(
        "index", "n S", "how many candidates the search scored; 0 = unknown", optional=True, low=0
    )
    claimed_winner: Texts | None = array(
        "text", "n", "winner as released; empty = none named", optional=True
    )
    metric: str | None = attribute("text", "what the score is", of="score")
    provenance: str | None = attribute("text", "what the member was imported from (JSON)")

    def _check(self, lengths: Mapping[str, int]) -> None:
        runs = self.run if self.run is not None else ("",) * lengths["n"]
        first: dict[tuple[str, str], int] = {}
        for row, record in enumerate(zip(self.datasets, runs, strict=True)):
            if first.setdefault(record, row) != row:
                raise SchemaError(
                    "a dataset occurs twice in one run",
                    found=f"{record[0]!r} also at [{first[record]}]",
                    expected="one record per dataset and run",
                    where=f"datasets[{row}]",
                )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Search(Member):
    """Candidate traces of one search per dataset: ``/searches/<name>``."""

    GROUP: ClassVar[str] = "searches"

    validation_score: Floats = array(
        "float",
        "n C",
        "in the order of evaluation; NaN = candidate failed, or padding on the right",
    )
    test_score: Floats = array("float", "n C", "of the same candidates; NaN = not measured")
    higher_is_better: Flags = array("flag", "n", "orientation of the scores, per dataset")
    datasets: Texts = array("text", "n", "dataset ids", unique=True)
    reported_score: Floats | None = array("float", "n", "test score as reported", optional=True)
    refit_score: Floats | None = array(
        "float", "n", "test score after refitting the choice", optional=True
    )
    test_size: Indices | None = array(
        "index", "n", "rows scored; 0 = unknown", optional=True, low=0
    )
    group: Texts | None = array("text", "n", "stratum of the dataset", optional=True)
    metric: str | None = attribute("text", "what the scores are", of="test_score")
    provenance: str | None = attribute("text", "what the member was imported from (JSON)")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples(Member):
    """Stored costs of repeated sampling: ``/samples/<name>``."""

    GROUP: ClassVar[str] = "samples"

    cost: Floats = array(
        "float", "n C", "lower is better, in the order drawn; NaN = padding on the right"
    )
    instances: Texts = array("text", "n", "names of the instances", unique=True)
    reference: Floats | None = array(
        "float", "n", "cost of a reference solution; NaN = none", optional=True
    )
    label: Texts | None = array("text", "n", "workload label", optional=True)
    provenance: str | None = attribute("text", "what the member was imported from (JSON)")

    def _check(self, lengths: Mapping[str, int]) -> None:
        missing = np.isnan(self.cost)
        hole = missing[:, :-1] & ~missing[:, 1:]
        if hole.any():
            raise SchemaError(
                "a missing sample before a measured one",
                found="NaN",
                expected="NaN only to the right of the samples",
                where=f"cost{rules.bracketed(rules.first_index(hole))}",
            )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Losses(Member):
    """Per-observation losses of two fitted models: ``/losses/<name>``."""

    GROUP: ClassVar[str] = "losses"

    loss_a: Floats = array("float", "n", "lower is better; NaN = not measured")
    loss_b: Floats = array("float", "n", "lower is better; NaN = not measured")
    covariates: Floats = array("float", "n d", "NaN = not measured")
    covariate_names: Texts = array("text", "d", "names of the covariates", unique=True)
    split: Texts | None = array(
        "text", "n", "the part each observation belongs to; fit rows are ignored",
        optional=True, values=("estimation", "calibration", "test", "fit"),
    )  # fmt: skip
    model_a: str | None = attribute("text", "name of model A")
    model_b: str | None = attribute("text", "name of model B")
    loss: str | None = attribute("text", "name of the loss")
    provenance: str | None = attribute("text", "what the member was imported from (JSON)")
