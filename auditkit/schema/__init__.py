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

from auditkit.schema.benchmark import Benchmark, Pipeline
from auditkit.schema.data import FORMAT_NAME, FORMAT_VERSION, MEMBERS, AuditData
from auditkit.schema.members import Losses, Samples, Scoreboard, Search
from auditkit.schema.rules import check_name
from auditkit.schema.specs import (
    ArraySpec,
    AttributeSpec,
    Flags,
    Floats,
    Indices,
    Labels,
    Member,
    Texts,
    array_specs,
    attribute_specs,
)

__all__ = [
    "FORMAT_NAME",
    "FORMAT_VERSION",
    "MEMBERS",
    "ArraySpec",
    "AttributeSpec",
    "AuditData",
    "Benchmark",
    "Flags",
    "Floats",
    "Indices",
    "Labels",
    "Losses",
    "Member",
    "Pipeline",
    "Samples",
    "Scoreboard",
    "Search",
    "Texts",
    "array_specs",
    "attribute_specs",
    "check_name",
]
