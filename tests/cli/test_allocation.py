"""The allocation audit from the command line: options, exit codes, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from auditkit import store
from auditkit.audits.allocation import audit_allocation
from auditkit.cli import INTERRUPTED, PASSED, REFUSED, main
from auditkit.schema import AuditData, Samples

QUICK = ["--floor-repetitions", "3", "--floor-sources", "2", "--replicates", "100"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    samples = Samples(
        cost=10 + random.exponential(1, (12, 200)),
        reference=np.full(12, 10.0),
        label=("a", "b") * 6,
        instances=tuple(f"i{i}" for i in range(12)),
    )
    path = tmp_path / "samples.h5"
    store.write(path, AuditData(samples={"s": samples}))
    return path


def test_every_option_reaches_the_audit(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--per-instance", "40", "--estimator", "blocks", "--repeat-splits", "2", "--probe", "5", "--cap", "60",
        "--label-ratio", "a", "2", "--label-ratio", "b", "1", "--seed", "7",
    ]  # fmt: skip
    assert main(["audit", str(file), "--format", "json", *options, *QUICK]) == PASSED
    printed = json.loads(capsys.readouterr().out)
    result = audit_allocation(
        store.open(file), per_instance=40, estimator="blocks", repeat_splits=2, probe=5, cap=60,
        label_ratio={"a": 2, "b": 1}, seed=7, floor_repetitions=3, floor_sources=2, replicates=100,
    )  # fmt: skip
    assert printed["allocation"] == json.loads(json.dumps(result.to_dict()["allocation"]))
    assert printed["settings"]["allocation"]["repeat_splits"] == 2
    assert printed["allocation"][0]["estimator"] == "blocks"


def test_shallow_samples_are_a_result_and_can_be_audited(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["audit", str(file), "--per-instance", "60", *QUICK]
    assert main(call) == PASSED
    text = capsys.readouterr().out
    assert "too shallow" in text
    assert "d_in" not in text
    assert main([*call, "--shallow"]) == PASSED
    text = " ".join(capsys.readouterr().out.split())
    assert "depth guard was overridden" in text
    assert "d_split" in text


def test_checks_run_on_samples(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file), "--per-instance", "40", *QUICK, "--format", "json"]) == PASSED
    report = json.loads(capsys.readouterr().out)
    found = {c["id"]: c["status"] for c in report["checks"]}
    assert found["allocation.curve"] == found["allocation.budget"] == "passed"
    assert found["allocation.held_out"] == "failed"
    assert main(["check", str(file), "--per-instance", "40", *QUICK, "--strict"]) == 1


@pytest.mark.parametrize(
    "option",
    [["--per-instance", "0"], ["--cap", "5"], ["--probe", "1"], ["--label-ratio", "a", "0"]],
)
def test_options_out_of_range_are_one_line(
    file: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", str(file), *option]) == REFUSED
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1


def test_ctrl_c_writes_nothing(file: Path) -> None:
    out = file.with_name("result.json")
    command = [
        sys.executable, "-m", "auditkit", "audit", str(file), "--per-instance", "40", "--format", "json",
        "--floor-repetitions", "10000000", "--out", str(out),
    ]  # fmt: skip
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        time.sleep(5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=240)  # a slow machine may still be compiling
    assert process.returncode == INTERRUPTED
    assert stdout == ""
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert [path.name for path in file.parent.iterdir()] == [file.name]
