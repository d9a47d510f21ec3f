"""The JSON Schema against every output."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from auditkit import store
from auditkit.audits.run import AUDITS, run_audits
from auditkit.demo import demo_data
from auditkit.reports.render import json_schema, render
from tests.reports.hostile import QUICK, crowded_audit, hostile_audit

VALIDATOR = jsonschema.Draft202012Validator(json.loads(json_schema()))


def demo() -> dict[str, Any]:
    audit = run_audits(demo_data(), replicates=50, options=QUICK)
    found: dict[str, Any] = json.loads(render(audit, "json"))
    return found


def test_the_schema_is_one() -> None:
    VALIDATOR.check_schema(VALIDATOR.schema)


def test_the_demo_has_every_audit_and_fits() -> None:
    found = demo()
    assert found.keys() >= AUDITS.keys()
    VALIDATOR.validate(found)


def test_hostile_and_crowded_audits_fit() -> None:
    for audit in (hostile_audit(), crowded_audit()):
        VALIDATOR.validate(json.loads(render(audit, "json")))


@pytest.mark.parametrize("kind", ["benchmarks", "scoreboards", "searches", "samples", "losses"])
def test_each_kind_alone_fits(kind: str) -> None:
    from auditkit.schema import AuditData

    data = AuditData(**{kind: getattr(demo_data(), kind)})
    VALIDATOR.validate(json.loads(render(run_audits(data, replicates=20, options=QUICK), "json")))


def test_a_real_file_fits(shared_data: Path) -> None:
    data = store.open(shared_data / "fidelity" / "maxsat_pms_2016.h5")
    VALIDATOR.validate(json.loads(render(run_audits(data, replicates=50), "json")))


def drop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    def change(tree: Any) -> None:
        for step in path[:-1]:
            tree = tree[step]
        del tree[path[-1]]

    return change


def put(value: object, *path: str | int) -> Callable[[dict[str, Any]], None]:
    def change(tree: Any) -> None:
        for step in path[:-1]:
            tree = tree[step]
        tree[path[-1]] = value

    return change


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return demo()


@pytest.mark.parametrize(
    "change",
    [
        drop("signature"),
        drop("source", "sha256"),
        put("ABC", "source", "sha256"),
        put(2, "format_version"),
        drop("fidelity", 0, "pipelines", 0, "gap"),
        put(None, "fidelity", 0, "pipelines", 0, "gap"),
        put({"skipped": ""}, "fidelity", 0, "pipelines", 0, "gap"),
        put(1.5, "fidelity", 0, "pipelines", 0, "holm_p"),
        put("yes", "fidelity", 0, "comparisons", 0, "deployment_safe"),
        drop("fidelity", 0, "comparisons", 0, "identification_interval", "low"),
        drop("selection", 0, "win_share"),
        put(1.2, "selection", 0, "win_share", "tie"),
        put(-1, "selection", 0, "head_to_head", 0, "wins"),
        drop("selection", 0, "nominal_budget"),
        drop("selection", 0, "nominal_budget", "median"),
        put(0, "selection", 0, "nominal_budget", "min"),
        drop("selection", 1, "curve", 0, "k"),
        drop("allocation", 0, "d_split"),
        put("best", "allocation", 0, "estimator"),
        drop("allocation", 0, "curves"),
        drop("allocation", 0, "curves", 0, "replay"),
        put(0, "allocation", 0, "curves", 0, "k"),
        put(None, "allocation", 0, "curves", 0, "exact"),
        drop("local", 0, "rules", 0, "false_winner_rate"),
        put(-0.1, "local", 0, "prevalence_a"),
    ],
)  # fmt: skip
def test_the_schema_can_fail(
    whole: dict[str, Any], change: Callable[[dict[str, Any]], None]
) -> None:
    broken = copy.deepcopy(whole)
    change(broken)
    assert not VALIDATOR.is_valid(broken)
    assert VALIDATOR.is_valid(whole)
