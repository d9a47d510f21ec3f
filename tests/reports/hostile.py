"""Names that a stranger's file may hold, and audits full of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from auditkit.audits.run import run_audits
from auditkit.demo import demo_data
from auditkit.results.audit import Audit
from auditkit.schema import AuditData, Benchmark, Pipeline

QUICK = {"allocation": {"floor_sources": 2, "floor_repetitions": 5, "compositions": 2}}
"""Options of audits whose figures do not matter."""

NAMES = (
    "<script>alert(1)<\\script>",
    'quote" onload="alert(1)',
    "pi|pe",
    "new\nline",
    "long" * 2500,
    "right\u202eto left",
    "=cmd()",
    "$x^2$",
    "[link](javascript:alert(1))",
    "@everyone",
    "*bold* __it__ `code` ~~no~~",
    "\\input{secret} & 100% #1",
    "%0A::error::injected",
    "]]> &amp; \x1b[31mred\x07",
    "'single' .dot[0]=x,",
    "- item",
)
"""No two alike within the part that is shown."""


def hostile_benchmark() -> Benchmark:
    """The demo's benchmark, its pipelines, families, algorithms and free texts renamed."""
    toy = demo_data().benchmarks["toy"]
    first, second = toy.pipelines.values()
    renamed = {
        name: replace(first if i % 2 else second, family_basis=name, family_selector=name)
        for i, name in enumerate(NAMES)
    }
    return replace(
        toy,
        algorithms=NAMES[:4],
        families=NAMES[4:6],
        pipelines=renamed,
        metric=NAMES[0],
    )


def hostile_data() -> AuditData:
    """Every kind of member with hostile names."""
    demo = demo_data()
    scoreboard = replace(
        demo.scoreboards["overtime"],
        systems=NAMES[:3],
        group=tuple(NAMES[i % len(NAMES)] for i in range(60)),
        metric=NAMES[1],
    )
    losses = replace(demo.losses["two_halves"], model_a=NAMES[0], model_b=NAMES[3], loss=NAMES[9])
    samples = replace(
        demo.samples["two_workloads"], label=tuple((NAMES[0], NAMES[2])[i % 2] for i in range(24))
    )
    search = replace(demo.searches["peeking"], metric=NAMES[12])
    return AuditData(
        benchmarks={NAMES[0]: hostile_benchmark()},
        scoreboards={NAMES[3]: scoreboard},
        searches={NAMES[12]: search},
        samples={NAMES[2]: samples},
        losses={NAMES[1]: losses},
    )


@cache
def hostile_audit() -> Audit:
    """Its audit."""
    return run_audits(hostile_data(), replicates=50, options=QUICK)


@cache
def crowded_audit(n_pipelines: int = 30) -> Audit:
    """The audit of many pipelines, and so of very many pairs."""
    random = np.random.default_rng(7)
    toy = demo_data().benchmarks["toy"]
    first = next(iter(toy.pipelines.values()))
    assert first.within_choice is not None
    pipelines: dict[str, Pipeline] = {}
    for i in range(n_pipelines):
        families = random.integers(0, 2, (2, 100))
        within = np.stack(
            [random.integers(0, 2, (2, 100)), random.integers(2, 4, (2, 100))], axis=2
        )
        pipelines[f"pipeline {i:02}"] = replace(
            first, family_choice=families, within_choice=within, families=None, family_of=None
        )
    return run_audits(
        AuditData(benchmarks={"crowd": replace(toy, pipelines=pipelines)}), replicates=200
    )
