"""All members of one audit file, the kinds there are, and the format version with its history."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from auditkit.errors import SchemaError
from auditkit.schema.benchmark import Benchmark
from auditkit.schema.members import Losses, Samples, Scoreboard, Search
from auditkit.schema.rules import check_name
from auditkit.schema.specs import Member, array_specs, attribute_specs

FORMAT_NAME = "auditkit"

FORMAT_VERSION = 1
# History
# 1  2026-11  five kinds of member: benchmarks, scoreboards, searches, samples, losses

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
