"""The published figures of the Orcetra sweep against the released files, claim by claim."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auditkit import store
from auditkit.cli import main
from auditkit.schema import AuditData
from tests.audits.orcetra import RERUN, SWEEP, orcetra

CLAIMS = Path(__file__).with_name("orcetra.toml")
OPTIONS = ["--candidates", "40", "--replicates", "50", "--only", "selection"]


@pytest.fixture(scope="module")
def sweep(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("orcetra") / "sweep.h5"
    store.write(
        path, AuditData(scoreboards={"sixty_seconds": orcetra(shared_data, (*SWEEP, RERUN))})
    )
    return path


def check(sweep: Path, claims: Path, *more: str) -> int:
    return main(["check", str(sweep), "--claims", str(claims), *OPTIONS, *more])


def test_the_published_figures_pass(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(sweep, CLAIMS) == 0
    out = capsys.readouterr().out
    assert out.count("ok    claims.printed") == 93
    assert "FAIL " not in out


@pytest.mark.parametrize(
    ("old", "new", "claim"),
    [
        ('"57.1%"', '"57.2%"', "all datasets: orcetra"),
        ('"9.5e-46"', '"9.4e-46"', "Orcetra-FLAML: p"),
        ('"2.24"', '"2.25"', "time ratio to AutoGluon"),
        ('"117"', '"116"', "re-run, Orcetra identical"),
        ('"1.30%"', '"1.31%"', "noise bound, K = 40: median"),
    ],
)
def test_with_one_digit_changed_exactly_that_claim_fails(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, claim: str
) -> None:
    changed = tmp_path / "claims.toml"
    changed.write_text(CLAIMS.read_text().replace(old, new, 1))
    assert check(sweep, changed) == 1
    lines = capsys.readouterr().out.splitlines()
    failed = [i for i, line in enumerate(lines) if line.startswith("FAIL ")]
    assert len(failed) == 1
    assert claim in " ".join(lines[failed[0] : failed[0] + 2])


def test_a_mistyped_path_is_answered_with_the_right_one(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "claims.toml"
    wrong.write_text(CLAIMS.read_text().replace("win_share.orcetra", "winshare.orcettra", 1))
    assert check(sweep, wrong) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "selection[scoreboard=sixty_seconds].win_share.orcetra" in err
    assert "claim all datasets: orcetra" in err


def test_without_candidates_the_claims_on_the_noise_floor_fail_and_the_others_are_judged(
    sweep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check", str(sweep), "--claims", str(CLAIMS), *OPTIONS[2:]]
    assert main([*arguments, "--format", "json"]) == 1
    checks = json.loads(capsys.readouterr().out)["checks"]
    claims = [c for c in checks if c["id"] == "claims.printed"]
    failed = [c for c in claims if c["status"] == "failed"]
    assert len(claims) == 93
    assert {c["status"] for c in claims} == {"passed", "failed"}
    assert failed
    assert all("state it with --candidates" in c["reason"] for c in failed)
    assert all(".noise_floor." in c["reason"] for c in failed)
