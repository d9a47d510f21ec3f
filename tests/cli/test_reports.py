"""The commands that report: formats of audit and check, claims, schema."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from auditkit import store
from auditkit.cli import main
from auditkit.demo import demo_data
from auditkit.schema import AuditData

QUICK = ["--replicates", "50"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("toy") / "toy.h5"
    demo = demo_data()
    store.write(path, AuditData(benchmarks=demo.benchmarks, scoreboards=demo.scoreboards))
    return str(path)


@pytest.mark.parametrize(
    ("format_", "start"),
    [
        ("table", "file "),
        ("json", "{"),
        ("html", "<!DOCTYPE html>"),
        ("markdown", "# Audit"),
        ("latex", "% Needs \\usepackage{booktabs"),
    ],
)
def test_every_format_goes_to_standard_output_or_to_a_file(
    toy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], format_: str, start: str
) -> None:
    assert main(["audit", toy, "--format", format_, *QUICK]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(start)
    assert err == ""
    target = tmp_path / "report"
    assert main(["audit", toy, "--format", format_, "--out", str(target), *QUICK]) == 0
    assert target.read_text(encoding="utf-8") == out
    assert capsys.readouterr().out == ""


def test_a_claims_file_passes_as_written_and_fails_where_it_is_changed(
    toy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = tmp_path / "claims.toml"
    assert main(["claims", toy, "--out", str(claims), *QUICK]) == 0
    assert main(["check", toy, "--claims", str(claims), *QUICK]) == 0
    old = 'n_algorithms"\nvalue = "4"'
    text = claims.read_text()
    assert text.count(old) == 1
    claims.write_text(text.replace(old, old.replace("4", "5")))
    capsys.readouterr()
    assert main(["check", toy, "--claims", str(claims), *QUICK]) == 1
    out = capsys.readouterr().out
    assert out.count("FAIL") == 2  # the claim, and the verdict
    assert "printed 5, recomputed 4" in " ".join(out.split())


def test_claims_are_judged_with_the_options_given(
    toy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = tmp_path / "claims.toml"
    claims.write_text("[[claim]]\npath = 'selection[0].tie_tolerance'\nvalue = '0.01'\n")
    assert main(["check", toy, "--claims", str(claims), *QUICK]) == 1
    assert main(["check", toy, "--claims", str(claims), "--tie", "0.01", *QUICK]) == 0


def test_check_as_junit(toy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", toy, "--format", "junit", *QUICK]) == 0
    root = ElementTree.fromstring(capsys.readouterr().out.encode())
    assert [suite.get("name") for suite in root] == ["fidelity", "selection"]
    assert root.get("failures") == "0"
    assert main(["check", toy, "--format", "junit", "--strict", *QUICK]) == 1
    root = ElementTree.fromstring(capsys.readouterr().out.encode())
    assert int(root.get("failures") or 0) == len(root.findall(".//failure")) > 0


def test_check_as_annotations(toy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", toy, "--format", "github", *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("::warning file=") for line in lines[:-1])
    assert lines[-1].startswith("auditkit check passed: ")


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "auditkit audit --format json"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[claim]]\npath = 'fidelity[0].n_instance'\nvalue = '1'", "expected fidelity[0].n_instances"),
        ("[[claim]]\npath = 'fidelity[0].n_instances'\nvalue = 'some'", "not a printed number"),
        ("[[claim]]\npath = 'fidelity[0'\nvalue = '1'", "malformed path"),
        ("claims = 3", "not a claims file"),
    ],
)  # fmt: skip
def test_a_bad_claims_file_is_refused_on_one_line(
    toy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    claims = tmp_path / "claims.toml"
    claims.write_text(text)
    assert main(["check", toy, "--claims", str(claims), *QUICK]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert str(claims) in err
    assert told in err


def test_a_claims_file_that_is_not_there(toy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", toy, "--claims", "none.toml"]) == 2
    assert "none.toml: cannot read" in capsys.readouterr().err
