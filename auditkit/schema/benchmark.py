"""Benchmarks and the pipelines on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from auditkit.errors import SchemaError
from auditkit.schema import rules
from auditkit.schema.specs import (
    Floats,
    Indices,
    Labels,
    Member,
    Texts,
    array,
    array_specs,
    attribute,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pipeline(Member):
    """A selector's stored choices, or only its scores, on a benchmark: ``/benchmarks/<name>/pipelines/<name>``."""

    GROUP: ClassVar[str] = "pipelines"

    kind: str = attribute(
        "text", "a family first and then its algorithm, or an algorithm at once",
        optional=False, values=("decomposed", "flat"),
    )  # fmt: skip
    family_selector: str | None = attribute("text", "how the family is chosen")
    trained_on: str | None = attribute(
        "text", "what the family selector was trained on: each family's best utility, or what it would deploy",
        values=("oracle", "deployed"),
    )  # fmt: skip
    within_selector: str | None = attribute("text", "how the algorithm inside the family is chosen")
    feature_policy: str | None = attribute("text", "which features the selector sees")
    family_basis: str | None = attribute("text", "what the families rest on")
    reported_partition_score: str | None = attribute(
        "text", "mean partition score as the source printed it"
    )
    reported_deployed_score: str | None = attribute(
        "text", "mean deployed score as the source printed it"
    )
    reported_gap: str | None = attribute("text", "gap as the source printed it")
    family_choice: Indices | None = array(
        "index",
        "R n",
        "decomposed: the family the outer selector chose; -1 = no prediction",
        optional=True,
        low=-1,
    )
    within_choice: Indices | None = array(
        "index", "R n K", "decomposed: the algorithm each family's inner selector would run; -1 = none",
        optional=True, low=-1,
    )  # fmt: skip
    predicted_utility: Floats | None = array(
        "float", "R n A", "decomposed, instead of within_choice: the inner choice is the argmax (first on ties)",
        optional=True,
    )  # fmt: skip
    algorithm_choice: Indices | None = array(
        "index", "R n", "flat: the algorithm chosen; -1 = no prediction", optional=True, low=-1
    )
    fold: Indices | None = array(
        "index",
        "R n",
        "the outer test fold of each instance; -1 = never tested",
        optional=True,
        low=-1,
    )
    partition_utility: Floats | None = array(
        "float", "R n", "partition score as released", optional=True
    )
    deployed_utility: Floats | None = array(
        "float", "R n", "deployed score as released", optional=True
    )
    validation_partition: Floats | None = array(
        "float", "R F n", "training-side partition score of outer fold f; NaN = not in its validation set",
        optional=True, path="validation/partition_utility",
    )  # fmt: skip
    validation_deployed: Floats | None = array(
        "float", "R F n", "training-side deployed score of outer fold f; NaN = not in its validation set",
        optional=True, path="validation/deployed_utility",
    )  # fmt: skip
    families: Texts | None = array(
        "text", "K", "this pipeline's own families", optional=True, unique=True
    )
    family_of: Indices | None = array(
        "index",
        "A",
        "this pipeline's own partition: index into its families; -1 = none",
        optional=True,
        low=-1,
    )

    @property
    def has_choices(self) -> bool:
        """Whether the choices are stored, so that partition and deployed scores can be recomputed."""
        if self.kind == "flat":
            return self.algorithm_choice is not None
        inner = self.within_choice is not None or self.predicted_utility is not None
        return self.family_choice is not None and inner

    @property
    def has_scores(self) -> bool:
        """Whether the partition and deployed scores are stored as released."""
        return self.partition_utility is not None

    def _check(self, lengths: Mapping[str, int]) -> None:
        for one, other in (
            ("partition_utility", "deployed_utility"),
            ("validation_partition", "validation_deployed"),
            ("families", "family_of"),
        ):
            rules.check_together(self, one, other)
        if not (self.has_choices or self.has_scores):
            choices = (
                "algorithm_choice"
                if self.kind == "flat"
                else "family_choice with within_choice or predicted_utility"
            )
            raise SchemaError(
                f"a {self.kind} pipeline holds neither choices nor scores",
                expected=f"{choices}, or partition_utility with deployed_utility",
            )
        strange = (
            ("family_choice", "within_choice") if self.kind == "flat" else ("algorithm_choice",)
        )
        for name in strange:
            if getattr(self, name) is not None:
                raise SchemaError(
                    f"a {self.kind} pipeline holds {name}", expected="none", where=name
                )
        if self.fold is not None and "F" in lengths:
            rules.check_below("fold", self.fold, lengths["F"], "folds of the validation arrays")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Benchmark(Member):
    """Utilities of every algorithm on every instance, with prediction caches: ``/benchmarks/<name>``."""

    GROUP: ClassVar[str] = "benchmarks"

    utility: Floats = array("float", "n A", "higher is better; NaN = not measured")
    instances: Texts = array("text", "n", "names of the instances", unique=True)
    algorithms: Texts = array("text", "A", "names of the algorithms", unique=True)
    families: Texts = array("text", "K", "names of the families", unique=True)
    family_of: Indices = array(
        "index", "A", "index into families; -1 = the algorithm belongs to no family", low=-1
    )
    cost: Floats | None = array(
        "float", "n A", "raw measurement, lower is better", optional=True, infinite=True
    )
    penalty: Floats | None = array(
        "float", "n", "utility used where the chosen algorithm has none; NaN = none", optional=True
    )
    clusters: Labels | None = array(
        "label", "n", "instances that are not independent share a label", optional=True
    )
    features: Floats | None = array(
        "float", "n q", "instance features; NaN = not computed", optional=True
    )
    feature_names: Texts | None = array(
        "text", "q", "names of the features", optional=True, unique=True
    )
    feature_steps: Texts | None = array(
        "text", "q", "the feature step that provides each feature", optional=True
    )
    metric: str | None = attribute("text", "what was measured", of="utility")
    transform: str | None = attribute("text", "how utilities were made from costs", of="utility")
    unit: str | None = attribute("text", "unit of the cost", of="cost")
    cutoff: float | None = attribute(
        "number", "cutoff of a run, in the unit of the cost", of="cost"
    )
    par_factor: float | None = attribute(
        "number", "a failed run costs this many cutoffs", of="cost"
    )
    provenance: str | None = attribute("text", "what the member was imported from (JSON)")
    pipelines: Mapping[str, Pipeline] = field(default_factory=dict)

    def _check(self, lengths: Mapping[str, int]) -> None:
        rules.check_together(self, "features", "feature_names")
        rules.check_below("family_of", self.family_of, lengths["K"], "families")
        object.__setattr__(self, "pipelines", dict(self.pipelines))
        for name, pipeline in self.pipelines.items():
            rules.check_name(name, "pipelines")
            try:
                self._check_pipeline(pipeline)
            except SchemaError as error:
                raise error.within(f"pipelines/{name}") from None

    def partition_of(self, pipeline: Pipeline) -> tuple[Texts, Indices]:
        """The families and the family of each algorithm that this pipeline works with."""
        if pipeline.families is None or pipeline.family_of is None:
            return self.families, self.family_of
        return pipeline.families, pipeline.family_of

    def _check_pipeline(self, pipeline: Pipeline) -> None:
        families, family_of = self.partition_of(pipeline)
        expected = {"n": len(self.instances), "A": len(self.algorithms), "K": len(families)}
        for name, spec in array_specs(Pipeline).items():
            values = getattr(pipeline, name)
            if values is None:
                continue
            for axis, symbol in enumerate(spec.dims):
                found = rules.shape_of(values)[axis]
                if expected.get(symbol, found) != found:
                    raise SchemaError(
                        f"wrong length of dimension {axis} ({symbol})",
                        found=found, expected=expected[symbol], where=spec.path or name,
                    )  # fmt: skip
        for name, size, of in (
            ("family_of", expected["K"], "families"),
            ("family_choice", expected["K"], "families"),
            ("within_choice", expected["A"], "algorithms"),
            ("algorithm_choice", expected["A"], "algorithms"),
        ):
            values = getattr(pipeline, name)
            if values is not None:
                rules.check_below(name, values, size, of)
        within = pipeline.within_choice
        if within is not None:
            strange = (within >= 0) & (family_of[within] != np.arange(expected["K"]))
            if strange.any():
                at = rules.first_index(strange)
                raise SchemaError(
                    "an inner choice lies outside its family",
                    found=f"algorithm {self.algorithms[within[at]]!r}",
                    expected=f"a member of family {families[at[2]]!r}",
                    where=f"within_choice{rules.bracketed(at)}",
                )
