"""``auditkit bootstrap`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import auditkit as ak
from auditkit.cli import main


@pytest.fixture
def demo(tmp_path: Path) -> str:
    path = tmp_path / "demo.h5"
    ak.write(path, ak.demo_data())
    return str(path)


def test_prints_a_table(demo: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bootstrap", demo, "/benchmarks/toy/utility", "--method", "exact"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "resampled: 100 observations" in out
    estimate = ak.demo_data().benchmarks["toy"].utility[:, 0].mean()
    assert f"{estimate:#.6g}" in out


def test_json_is_the_python_result(demo: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["bootstrap", demo, "/scoreboards/overtime/score", "--format", "json"]
    options = ["--statistic", "difference", "--column", "fast", "--column", "slow"]
    names = ak.demo_data().scoreboards["overtime"].systems
    options[3], options[5] = names[0], names[1]
    more = ["--replicates", "300", "--seed", "4", "--method", "bca"]
    assert main([*command, *options, *more]) == 0
    found = json.loads(capsys.readouterr().out)["bootstrap"]["columns"]
    score = ak.demo_data().scoreboards["overtime"].score[:, :2]
    expected = ak.bootstrap(score, statistic="difference", replicates=300, seed=4, method="bca")
    assert found[0]["name"] == f"{names[0]} - {names[1]}"
    assert found[0]["value"]["low"] == expected.low[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["/benchmarks/toy/nothing"],
        ["/benchmarks/toy/algorithms"],
        ["/benchmarks/toy/utility", "--column", "nobody"],
        ["/benchmarks/toy/utility", "--clusters", "/benchmarks/toy/clusters"],
        ["/benchmarks/toy/utility", "--statistic", "median", "--method", "studentized"],
        ["/benchmarks/toy/utility", "--replicates", "0"],
    ],
)
def test_refuses_in_one_line(
    demo: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bootstrap", demo, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("auditkit: ")
    assert err.count("\n") == 1
