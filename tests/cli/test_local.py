"""The local audit from the command line, on what it must refuse and on real losses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.cli import main


@pytest.fixture
def losses(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (240, 2))
    member = ak.Losses(
        loss_a=1 + np.sign(x[:, 0]) + rng.normal(0, 0.2, 240), loss_b=np.ones(240), covariates=x,
        covariate_names=("x", "y"), model_a="left", model_b="right",
    )  # fmt: skip
    path = tmp_path / "losses.h5"
    ak.write(path, ak.AuditData(losses={"halves": member}))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_every_option_reaches_the_audit(losses: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "audit", str(losses), "--format", "json", "--replicates", "50", "--alpha", "0.05",
        "--alpha", "0.2", "--score", "standardized", "--radius", "0.7", "--kernel", "epanechnikov", "--map-control",
    )  # fmt: skip
    assert code == 0
    parsed = json.loads(out)
    settings = parsed["settings"]["local"]
    assert settings["alpha"] == [0.05, 0.2]
    assert (settings["score"], settings["radius"], settings["kernel"]) == (
        "standardized",
        0.7,
        "epanechnikov",
    )
    assert [item["alpha"] for item in parsed["local"]] == [0.05, 0.2]
    assert [entry["rule"] for entry in parsed["local"][0]["controlled"]] == [
        "global", "local_center", "local_standardized"
    ]  # fmt: skip
    code, out, _ = run(capsys, "audit", str(losses), "--replicates", "50", "--neighbours", "7")
    assert code == 0
    assert "certifies left at" in " ".join(out.split())
    assert "the 7 nearest estimation observations" in " ".join(out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--neighbours", "9000"), "more neighbours than estimation observations"),
        (("--neighbours", "5", "--radius", "1"), "neighbours and a radius"),
        (("--kernel", "epanechnikov"), "needs a radius"),
        (("--alpha", "0.5"), "alpha"),
    ],
)
def test_what_is_refused_is_told_in_one_line(
    losses: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, "audit", str(losses), *options)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["casp", "concrete"])
def test_real_losses(
    name: str, shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At alpha 0.1 the linear model is certified nowhere, and the report says so; at 0.3 it is, in some region."""
    path = str(tmp_path / f"{name}.h5")
    source = str(shared_data / "losses" / f"{name}_mlp_vs_linear.csv")
    assert run(capsys, "import", "losses", source, path)[0] == 0
    code, out, _ = run(capsys, "audit", path, "--replicates", "200")
    assert code == 0
    assert "and B nowhere" in " ".join(out.split())
    code, out, _ = run(
        capsys, "audit", path, "--replicates", "200", "--alpha", "0.3", "--format", "json"
    )
    assert code == 0
    item = json.loads(out)["local"][0]
    rule = next(r for r in item["rules"] if r["rule"] == "local_center")
    plain = next(m for m in item["maps"] if m["rule"] == "local_mean")
    assert rule["declared_b"]["estimate"] > 0
    assert rule["conditional_gain"]["estimate"] > plain["conditional_gain"]["estimate"]
    assert all(r["false_winner_rate"]["estimate"] < 0.3 for r in item["rules"])
