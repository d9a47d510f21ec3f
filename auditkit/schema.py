"""What every stored array is: dimensions, type, unit, missing rule; the format version and its history.

One declaration serves reading, writing, validation and the reference page: each member of an audit file is a frozen
dataclass here, and each of its fields carries the specification of the array or attribute it holds. Building a member
from arrays in memory validates it by the same rules as reading it from a file.

Notes
-----
Dimensions are symbols: ``n`` instances (datasets, observations), ``A`` algorithms, ``K`` families, ``R`` repetitions,
``F`` folds, ``S`` systems, ``C`` candidates or samples, ``d`` covariates, ``q`` features. A symbol has one length
within a member, and no length is zero.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import SchemaError

FORMAT_NAME = "auditkit"

FORMAT_VERSION = 1
# History
# 1  2026-11  five kinds of member: benchmarks, scoreboards, searches, samples, losses

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Texts = tuple[str, ...]
Labels = Texts | Indices


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """What one stored array is.

    Attributes
    ----------
    kind
        ``float`` (float32 or float64), ``index`` (any integer), ``flag`` (bool), ``text`` (UTF-8), ``label`` (integer
        or text).
    dims
        Its dimensions as symbols, outermost first.
    note
        What it holds: unit, orientation, what a missing value means.
    optional
        Whether it may be absent.
    unique
        Whether its entries must differ from each other.
    infinite
        Whether infinite values are allowed (only in raw costs).
    low
        The smallest value allowed; NaN, "not measured", always is.
    values
        The only texts allowed.
    path
        Where it is stored below its member, when that is not the name of the field.
    """

    kind: Literal["float", "index", "flag", "text", "label"]
    dims: tuple[str, ...]
    note: str
    optional: bool = False
    unique: bool = False
    infinite: bool = False
    low: float | None = None
    values: tuple[str, ...] = ()
    path: str | None = None


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """What one stored attribute is: a text or a number, of its member (``of`` is None) or of one of its arrays."""

    kind: Literal["text", "number"]
    note: str
    of: str | None = None
    optional: bool = True
    values: tuple[str, ...] = ()


def _array(
    kind: Literal["float", "index", "flag", "text", "label"], dims: str, note: str, **rules: Any
) -> Any:
    metadata = {"spec": ArraySpec(kind, tuple(dims.split()), note, **rules)}
    return (
        field(default=None, metadata=metadata)
        if rules.get("optional")
        else field(metadata=metadata)
    )


def _attribute(kind: Literal["text", "number"], note: str, **rules: Any) -> Any:
    metadata = {"spec": AttributeSpec(kind, note, **rules)}
    return (
        field(default=None, metadata=metadata)
        if rules.get("optional", True)
        else field(metadata=metadata)
    )


def array_specs(member: type[Member]) -> dict[str, ArraySpec]:
    """The arrays that a kind of member may hold, by the name of their field."""
    return _specs(member, ArraySpec)


def attribute_specs(member: type[Member]) -> dict[str, AttributeSpec]:
    """The attributes that a kind of member may hold, by the name of their field."""
    return _specs(member, AttributeSpec)


def _specs(member: type[Member], kind: type[Any]) -> dict[str, Any]:
    fields = dataclasses.fields(member)  # type: ignore[arg-type]  # every Member below is a dataclass
    return {f.name: f.metadata["spec"] for f in fields if isinstance(f.metadata.get("spec"), kind)}


class Member:
    """Base of the members: converts and validates the arrays that the subclass declares.

    Raises
    ------
    SchemaError
        An array is missing, of the wrong type or shape, or holds a value it must not hold; ``where`` names it.
    """

    __slots__ = ()
    GROUP: ClassVar[str]

    def __post_init__(self) -> None:
        lengths: dict[str, tuple[int, str]] = {}
        for name, spec in array_specs(type(self)).items():
            values = getattr(self, name)
            path = spec.path or name
            if values is None:
                if not spec.optional:
                    raise SchemaError("missing array", expected=_describe(spec), where=path)
                continue
            try:
                values = _canonical(values, spec)
                _check_shape(values, spec, path, lengths)
                _check_values(values, spec)
            except SchemaError as error:
                raise error.within(path, separator="") from None
            object.__setattr__(self, name, values)
        for name, attribute in attribute_specs(type(self)).items():
            object.__setattr__(self, name, _checked_attribute(name, getattr(self, name), attribute))
        self._check({symbol: length for symbol, (length, _) in lengths.items()})

    def _check(self, lengths: Mapping[str, int]) -> None:
        """What the arrays must be to each other; the subclasses say it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pipeline(Member):
    """A selector's stored choices, or only its scores, on a benchmark: ``/benchmarks/<name>/pipelines/<name>``."""

    GROUP: ClassVar[str] = "pipelines"

    kind: str = _attribute(
        "text", "a family first and then its algorithm, or an algorithm at once",
        optional=False, values=("decomposed", "flat"),
    )  # fmt: skip
    family_selector: str | None = _attribute("text", "how the family is chosen")
    trained_on: str | None = _attribute(
        "text", "what the family selector was trained on: each family's best utility, or what it would deploy",
        values=("oracle", "deployed"),
    )  # fmt: skip
    within_selector: str | None = _attribute(
        "text", "how the algorithm inside the family is chosen"
    )
    feature_policy: str | None = _attribute("text", "which features the selector sees")
    family_basis: str | None = _attribute("text", "what the families rest on")
    reported_partition_score: str | None = _attribute(
        "text", "mean partition score as the source printed it"
    )
    reported_deployed_score: str | None = _attribute(
        "text", "mean deployed score as the source printed it"
    )
    reported_gap: str | None = _attribute("text", "gap as the source printed it")
    family_choice: Indices | None = _array(
        "index",
        "R n",
        "decomposed: the family the outer selector chose; -1 = no prediction",
        optional=True,
        low=-1,
    )
    within_choice: Indices | None = _array(
        "index", "R n K", "decomposed: the algorithm each family's inner selector would run; -1 = none",
        optional=True, low=-1,
    )  # fmt: skip
    predicted_utility: Floats | None = _array(
        "float", "R n A", "decomposed, instead of within_choice: the inner choice is the argmax (first on ties)",
        optional=True,
    )  # fmt: skip
    algorithm_choice: Indices | None = _array(
        "index", "R n", "flat: the algorithm chosen; -1 = no prediction", optional=True, low=-1
    )
    fold: Indices | None = _array(
        "index",
        "R n",
        "the outer test fold of each instance; -1 = never tested",
        optional=True,
        low=-1,
    )
    partition_utility: Floats | None = _array(
        "float", "R n", "partition score as released", optional=True
    )
    deployed_utility: Floats | None = _array(
        "float", "R n", "deployed score as released", optional=True
    )
    validation_partition: Floats | None = _array(
        "float", "R F n", "training-side partition score of outer fold f; NaN = not in its validation set",
        optional=True, path="validation/partition_utility",
    )  # fmt: skip
    validation_deployed: Floats | None = _array(
        "float", "R F n", "training-side deployed score of outer fold f; NaN = not in its validation set",
        optional=True, path="validation/deployed_utility",
    )  # fmt: skip
    families: Texts | None = _array(
        "text", "K", "this pipeline's own families", optional=True, unique=True
    )
    family_of: Indices | None = _array(
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
            _check_together(self, one, other)
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
            _check_below("fold", self.fold, lengths["F"], "folds of the validation arrays")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Benchmark(Member):
    """Utilities of every algorithm on every instance, with prediction caches: ``/benchmarks/<name>``."""

    GROUP: ClassVar[str] = "benchmarks"

    utility: Floats = _array("float", "n A", "higher is better; NaN = not measured")
    instances: Texts = _array("text", "n", "names of the instances", unique=True)
    algorithms: Texts = _array("text", "A", "names of the algorithms", unique=True)
    families: Texts = _array("text", "K", "names of the families", unique=True)
    family_of: Indices = _array(
        "index", "A", "index into families; -1 = the algorithm belongs to no family", low=-1
    )
    cost: Floats | None = _array(
        "float", "n A", "raw measurement, lower is better", optional=True, infinite=True
    )
    penalty: Floats | None = _array(
        "float", "n", "utility used where the chosen algorithm has none; NaN = none", optional=True
    )
    clusters: Labels | None = _array(
        "label", "n", "instances that are not independent share a label", optional=True
    )
    features: Floats | None = _array(
        "float", "n q", "instance features; NaN = not computed", optional=True
    )
    feature_names: Texts | None = _array(
        "text", "q", "names of the features", optional=True, unique=True
    )
    feature_steps: Texts | None = _array(
        "text", "q", "the feature step that provides each feature", optional=True
    )
    metric: str | None = _attribute("text", "what was measured", of="utility")
    transform: str | None = _attribute("text", "how utilities were made from costs", of="utility")
    unit: str | None = _attribute("text", "unit of the cost", of="cost")
    cutoff: float | None = _attribute(
        "number", "cutoff of a run, in the unit of the cost", of="cost"
    )
    par_factor: float | None = _attribute(
        "number", "a failed run costs this many cutoffs", of="cost"
    )
    provenance: str | None = _attribute("text", "what the member was imported from (JSON)")
    pipelines: Mapping[str, Pipeline] = field(default_factory=dict)

    def _check(self, lengths: Mapping[str, int]) -> None:
        _check_together(self, "features", "feature_names")
        _check_below("family_of", self.family_of, lengths["K"], "families")
        object.__setattr__(self, "pipelines", dict(self.pipelines))
        for name, pipeline in self.pipelines.items():
            check_name(name, "pipelines")
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
                found = _shape(values)[axis]
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
                _check_below(name, values, size, of)
        within = pipeline.within_choice
        if within is not None:
            strange = (within >= 0) & (family_of[within] != np.arange(expected["K"]))
            if strange.any():
                at = _first(strange)
                raise SchemaError(
                    "an inner choice lies outside its family",
                    found=f"algorithm {self.algorithms[within[at]]!r}",
                    expected=f"a member of family {families[at[2]]!r}",
                    where=f"within_choice{_at(at)}",
                )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scoreboard(Member):
    """Scores of systems on datasets, with their budgets: ``/scoreboards/<name>``.

    A dataset may occur once in each ``run``: later occurrences are re-runs.
    """

    GROUP: ClassVar[str] = "scoreboards"

    score: Floats = _array("float", "n S", "NaN = the system failed or was not run")
    higher_is_better: Flags = _array("flag", "n", "orientation of the score, per dataset")
    datasets: Texts = _array("text", "n", "dataset ids")
    systems: Texts = _array("text", "S", "names of the systems", unique=True)
    seconds: Floats | None = _array(
        "float", "n S", "realised wall-clock seconds", optional=True, low=0
    )
    budget_seconds: Floats | None = _array(
        "float", "n", "nominal budget in seconds", optional=True, low=0
    )
    clusters: Labels | None = _array(
        "label", "n", "records of one cluster are not independent", optional=True
    )
    size: Indices | None = _array(
        "index", "n", "rows of the dataset; 0 = unknown", optional=True, low=0
    )
    test_size: Indices | None = _array(
        "index", "n", "rows scored; 0 = unknown", optional=True, low=0
    )
    group: Texts | None = _array(
        "text", "n", "stratum of the dataset, such as its task type", optional=True
    )
    run: Texts | None = _array("text", "n", "source file or run id", optional=True)
    candidates: Indices | None = _array(
        "index", "n S", "how many candidates the search scored; 0 = unknown", optional=True, low=0
    )
    claimed_winner: Texts | None = _array(
        "text", "n", "winner as released; empty = none named", optional=True
    )
    metric: str | None = _attribute("text", "what the score is", of="score")
    provenance: str | None = _attribute("text", "what the member was imported from (JSON)")

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

    validation_score: Floats = _array(
        "float",
        "n C",
        "in the order of evaluation; NaN = candidate failed, or padding on the right",
    )
    test_score: Floats = _array("float", "n C", "of the same candidates; NaN = not measured")
    higher_is_better: Flags = _array("flag", "n", "orientation of the scores, per dataset")
    datasets: Texts = _array("text", "n", "dataset ids", unique=True)
    reported_score: Floats | None = _array("float", "n", "test score as reported", optional=True)
    refit_score: Floats | None = _array(
        "float", "n", "test score after refitting the choice", optional=True
    )
    test_size: Indices | None = _array(
        "index", "n", "rows scored; 0 = unknown", optional=True, low=0
    )
    group: Texts | None = _array("text", "n", "stratum of the dataset", optional=True)
    metric: str | None = _attribute("text", "what the scores are", of="test_score")
    provenance: str | None = _attribute("text", "what the member was imported from (JSON)")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples(Member):
    """Stored costs of repeated sampling: ``/samples/<name>``."""

    GROUP: ClassVar[str] = "samples"

    cost: Floats = _array(
        "float", "n C", "lower is better, in the order drawn; NaN = padding on the right"
    )
    instances: Texts = _array("text", "n", "names of the instances", unique=True)
    reference: Floats | None = _array(
        "float", "n", "cost of a reference solution; NaN = none", optional=True
    )
    label: Texts | None = _array("text", "n", "workload label", optional=True)
    provenance: str | None = _attribute("text", "what the member was imported from (JSON)")

    def _check(self, lengths: Mapping[str, int]) -> None:
        missing = np.isnan(self.cost)
        hole = missing[:, :-1] & ~missing[:, 1:]
        if hole.any():
            raise SchemaError(
                "a missing sample before a measured one",
                found="NaN", expected="NaN only to the right of the samples", where=f"cost{_at(_first(hole))}",
            )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Losses(Member):
    """Per-observation losses of two fitted models: ``/losses/<name>``."""

    GROUP: ClassVar[str] = "losses"

    loss_a: Floats = _array("float", "n", "lower is better; NaN = not measured")
    loss_b: Floats = _array("float", "n", "lower is better; NaN = not measured")
    covariates: Floats = _array("float", "n d", "NaN = not measured")
    covariate_names: Texts = _array("text", "d", "names of the covariates", unique=True)
    split: Texts | None = _array(
        "text", "n", "the part each observation belongs to; fit rows are ignored",
        optional=True, values=("estimation", "calibration", "test", "fit"),
    )  # fmt: skip
    model_a: str | None = _attribute("text", "name of model A")
    model_b: str | None = _attribute("text", "name of model B")
    loss: str | None = _attribute("text", "name of the loss")
    provenance: str | None = _attribute("text", "what the member was imported from (JSON)")


MEMBERS: dict[str, type[Member]] = {
    member.GROUP: member for member in (Benchmark, Scoreboard, Search, Samples, Losses)
}
"""The kinds of member of an audit file, by the name of their group."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditData:
    """All members of one audit file, or of arrays in memory; what every audit takes.

    Attributes
    ----------
    benchmarks, scoreboards, searches, samples, losses
        The members by name.
    path
        The file they were read from; None in memory.
    sha256
        SHA-256 of that file; in memory, of the contents.
    """

    benchmarks: Mapping[str, Benchmark] = field(default_factory=dict)
    scoreboards: Mapping[str, Scoreboard] = field(default_factory=dict)
    searches: Mapping[str, Search] = field(default_factory=dict)
    samples: Mapping[str, Samples] = field(default_factory=dict)
    losses: Mapping[str, Losses] = field(default_factory=dict)
    path: str | None = None
    sha256: str = ""

    def __post_init__(self) -> None:
        for group, member_type in MEMBERS.items():
            members = dict(getattr(self, group))
            object.__setattr__(self, group, members)
            for name, member in members.items():
                check_name(name, group)
                if not isinstance(member, member_type):
                    raise SchemaError(
                        "wrong kind of member", found=type(member).__name__, expected=member_type.__name__,
                        where=f"{group}/{name}",
                    )  # fmt: skip
        if not self.sha256:
            object.__setattr__(self, "sha256", _content_sha256(self))

    def members(self) -> Iterator[tuple[str, str, Member]]:
        """Every member as (group, name, member)."""
        for group in MEMBERS:
            for name, member in getattr(self, group).items():
                yield group, name, member


def check_name(name: str, where: str) -> None:
    """Refuse a name that cannot be the name of a member: empty, with a slash, or not storable as UTF-8."""
    if not isinstance(name, str) or name in {"", ".", ".."} or "/" in name:
        raise SchemaError(
            "bad name of a member", found=repr(name), expected="a text without /", where=where
        )
    try:
        _text(name, 0)
    except SchemaError:
        raise SchemaError(
            "bad name of a member", found=ascii(name), expected="UTF-8 without NUL", where=where
        ) from None


def _content_sha256(data: AuditData) -> str:
    digest = hashlib.sha256()

    def add(place: str, member: Member) -> None:
        for name in (*array_specs(type(member)), *attribute_specs(type(member))):
            value = getattr(member, name)
            if value is None:
                continue
            digest.update(f"{place}/{name}".encode())
            if isinstance(value, np.ndarray):
                digest.update(f"{value.dtype.str}{value.shape}".encode())
                digest.update(value.tobytes())
            else:
                digest.update(repr(value).encode())
        for name, pipeline in getattr(member, "pipelines", {}).items():
            add(f"{place}/pipelines/{name}", pipeline)

    for group, name, member in data.members():
        add(f"{group}/{name}", member)
    return digest.hexdigest()


# ------------------------------------------------------------------------------------------- conversion and checks

_WORDS = {
    "float": "float32 or float64",
    "index": "integers",
    "flag": "booleans",
    "text": "texts",
    "label": "integers or texts",
}


def _describe(spec: ArraySpec) -> str:
    return f"{_WORDS[spec.kind]} [{', '.join(spec.dims)}]"


def _canonical(values: Any, spec: ArraySpec) -> Any:
    """The read-only form of an array: float64, int64 or bool owned by the member, or a tuple of texts."""
    if spec.kind in {"text", "label"} and not (
        isinstance(values, np.ndarray) and values.dtype.kind in "iu"
    ):
        entries = values.tolist() if isinstance(values, np.ndarray) else values
        if isinstance(entries, str | bytes) or not isinstance(entries, list | tuple):
            raise SchemaError("wrong type", found=type(entries).__name__, expected=_describe(spec))
        if spec.kind == "text" or any(isinstance(entry, str | bytes) for entry in entries):
            return tuple(_text(entry, position) for position, entry in enumerate(entries))
    try:
        array = np.asarray(values)
    except ValueError:
        raise SchemaError("ragged array", expected=_describe(spec)) from None
    found = array.dtype.kind
    wanted = {"float": "f", "index": "iu", "flag": "b", "text": "", "label": "iu"}[spec.kind]
    if found not in wanted or (found == "f" and array.dtype.itemsize not in (4, 8)):
        raise SchemaError("wrong type", found=array.dtype, expected=_describe(spec))
    if found == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise SchemaError("integer too large", found=array.max(), expected="below 2**63")
    dtype = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}[found]
    # a copy: whoever goes on writing into the source changes nothing here
    owned: NDArray[Any] = np.array(array, dtype=dtype, order="C", copy=True)
    owned.setflags(write=False)
    return owned


def _text(entry: Any, position: int) -> str:
    if isinstance(entry, bytes):
        try:
            entry = entry.decode("utf-8")
        except UnicodeDecodeError:
            raise SchemaError(
                "text is not UTF-8", found=repr(entry[:40]), where=f"[{position}]"
            ) from None
    if not isinstance(entry, str):
        raise SchemaError(
            "wrong type", found=type(entry).__name__, expected="text", where=f"[{position}]"
        )
    if "\x00" in entry or any("\ud800" <= c <= "\udfff" for c in entry):
        raise SchemaError(
            "text that cannot be stored",
            found=ascii(entry[:40]),
            expected="UTF-8 without NUL",
            where=f"[{position}]",
        )
    return entry


def _shape(values: Any) -> tuple[int, ...]:
    return (len(values),) if isinstance(values, tuple) else tuple(values.shape)


def _first(wrong: Flags) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def _at(index: tuple[int, ...]) -> str:
    return f"[{', '.join(str(i) for i in index)}]"


def _check_shape(
    values: Any, spec: ArraySpec, path: str, lengths: dict[str, tuple[int, str]]
) -> None:
    shape = _shape(values)
    if len(shape) != len(spec.dims):
        raise SchemaError("wrong number of dimensions", found=list(shape), expected=_describe(spec))
    for axis, (symbol, length) in enumerate(zip(spec.dims, shape, strict=True)):
        known, source = lengths.setdefault(symbol, (length, path))
        if length != known:
            raise SchemaError(
                f"wrong length of dimension {axis} ({symbol})",
                found=length,
                expected=f"{known}, as in {source}",
            )
        if length == 0:
            raise SchemaError(
                f"dimension {axis} ({symbol}) is empty", found=0, expected="at least 1"
            )


def _check_values(values: Any, spec: ArraySpec) -> None:
    if isinstance(values, tuple):
        first: dict[str, int] = {}
        for position, text in enumerate(values):
            if spec.unique and first.setdefault(text, position) != position:
                raise SchemaError(
                    "duplicate name", found=f"{text!r} also at [{first[text]}]", expected="distinct names",
                    where=f"[{position}]",
                )  # fmt: skip
            if spec.values and text not in spec.values:
                raise SchemaError(
                    "unknown value",
                    found=repr(text),
                    expected=" or ".join(spec.values),
                    where=f"[{position}]",
                )
        return
    if spec.kind == "float" and not spec.infinite and np.isinf(values).any():
        at = _first(np.isinf(values))
        raise SchemaError(
            "infinite value", found=values[at], expected="finite or NaN", where=_at(at)
        )
    if spec.low is not None and (values < spec.low).any():
        at = _first(values < spec.low)
        raise SchemaError(
            "value out of range", found=values[at], expected=f"at least {spec.low:g}", where=_at(at)
        )


def _check_below(name: str, values: Indices, size: int, of: str) -> None:
    wrong = values >= size
    if wrong.any():
        at = _first(wrong)
        raise SchemaError(
            "index out of range",
            found=values[at],
            expected=f"below {size}, the number of {of}",
            where=name + _at(at),
        )


def _check_together(member: Member, one: str, other: str) -> None:
    present, absent = (one, other) if getattr(member, other) is None else (other, one)
    if getattr(member, present) is not None and getattr(member, absent) is None:
        raise SchemaError("missing array", expected=f"{absent} beside {present}")


def _checked_attribute(name: str, value: Any, spec: AttributeSpec) -> Any:
    where = f"attribute {name}" if spec.of is None else f"{spec.of}, attribute {name}"
    if value is None:
        if spec.optional:
            return None
        raise SchemaError("missing attribute", expected=f"a {spec.kind}", where=where)
    if spec.kind == "number":
        if isinstance(value, int | float | np.integer | np.floating) and not isinstance(
            value, bool
        ):
            return float(value)
        raise SchemaError(
            "wrong type", found=type(value).__name__, expected="a number", where=where
        )
    try:
        text = _text(value, 0)
    except SchemaError:
        raise SchemaError(
            "wrong type", found=type(value).__name__, expected="a text", where=where
        ) from None
    if spec.values and text not in spec.values:
        raise SchemaError(
            "unknown value", found=repr(text), expected=" or ".join(spec.values), where=where
        )
    return text
