"""``auditkit build``: from an ASlib folder to an audited file; a killed build goes on; refusals in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.cli import main
from tests.importers.scenarios import DESCRIPTION, scenario, table

pytest.importorskip("sklearn", reason="the optional extra fit is not installed")

SMALL = ("--seeds", "1", "--folds", "2", "--validation-folds", "3", "--trees", "4", "--seed", "3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """36 instances, four algorithms; one that none solves, one without features."""
    random = np.random.default_rng(8)
    x = random.normal(size=(36, 2))
    seconds = np.exp(np.column_stack([x[:, 0], -x[:, 0], x[:, 1], -x[:, 1]]) + 2)
    seconds[0] = 1000
    runs = [
        f"i{i:02},1,{name},{seconds[i, a]:.6f},{'ok' if seconds[i, a] <= 100 else 'timeout'}"
        for i in range(36)
        for a, name in enumerate("abcd")
    ]
    header = (
        "@RELATION f\n@ATTRIBUTE instance_id STRING\n@ATTRIBUTE repetition NUMERIC\n"
        "@ATTRIBUTE f1 NUMERIC\n@ATTRIBUTE f2 NUMERIC\n@DATA\n"
    )
    values = "".join(
        f"i{i:02},1,{'?,?' if i == 1 else f'{x[i, 0]:.6f},{x[i, 1]:.6f}'}\n" for i in range(36)
    )
    about = DESCRIPTION.replace(
        "  b: {", "  b: {configuration: ''}\n  c: {configuration: ''}\n  d: {"
    )
    return scenario(tmp_path / "toy", runs, description=about, features=header + values)


@pytest.fixture
def families(tmp_path: Path) -> Path:
    return table(tmp_path / "families.toml", "[families]", "one = ['a', 'b']", "two = ['c', 'd']")


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_a_scenario_is_built_checked_and_verified(
    folder: Path, families: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "built.h5"
    command = ("build", "aslib", folder, out, "--families", families, *SMALL, "--jobs", "1")
    assert run(*command) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("aslib 'toy'\n  36 instances x 4 algorithms")
    assert "2 cells missing, imputed by the median of the training rows" in printed.err
    assert "1 instance has no feature at all" in printed.err
    assert "1 instance without any utility is tested but never trained on" in printed.err
    assert "  22 steps\n" in printed.err
    assert printed.err.endswith(f"wrote {out} (next: auditkit audit {out})\n")
    benchmark = ak.open(out).benchmarks["toy"]
    assert len(benchmark.pipelines) == 14
    assert benchmark.pipelines["pairwise-forest"].within_choice is not None
    assert run("check", out, "--replicates", "50") == 0
    assert run("verify", out, folder) == 0
    capsys.readouterr()
    assert run("sensitivity", out, "--replicates", "50", "--format", "json") == 0
    assert '"sensitivity": [' in capsys.readouterr().out


def test_a_killed_process_leaves_nothing_behind_but_its_finished_steps(
    folder: Path, families: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, whole = tmp_path / "built.h5", tmp_path / "whole.h5"
    options = ["--families", str(families), *SMALL, "--trees", "12"]
    code = "import sys; from auditkit.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "build", "aslib", str(folder)]
    process = subprocess.Popen(
        [*command, str(out), *options, "--jobs", "2"], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    steps: list[Path] = []
    while len(steps) < 4 and time.monotonic() < deadline and process.poll() is None:
        steps = list(tmp_path.glob(".built.h5.build-*/*.npz"))
        time.sleep(0.02)
    workers = _children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(steps) >= 4
    assert not out.exists()
    assert workers
    while any(map(_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_alive, workers))
    assert run("build", "aslib", folder, out, *options, "--jobs", "1") == 0
    assert "of them by an earlier build" in capsys.readouterr().err
    assert run("build", "aslib", folder, whole, *options, "--jobs", "1") == 0
    assert out.read_bytes() == whole.read_bytes()
    assert not list(tmp_path.glob(".*"))


def _children(pid: int) -> list[int]:
    """Processes started by a process, from /proc; none where there is no /proc."""
    try:
        return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        pytest.skip("no /proc to look for children in")


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_ctrl_c_says_how_to_go_on(
    folder: Path, families: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("auditkit.fit.build.run_task", interrupt)
    out = tmp_path / "built.h5"
    assert run("build", "aslib", folder, out, "--families", families, *SMALL, "--jobs", "1") == 130
    assert "the same command goes on from the finished steps" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--seeds", "0"), "too few seeds"),
        (("--folds", "9"), "too few instances for these folds, found 35 with a utility"),
        (("--inner-selectors", "boosting,magic"), "'magic'"),
        (("--steps", "dear"), "unknown feature step, found 'dear', expected 'cheap'"),
        (("--jobs", "0"), "too few jobs"),
    ],
)
def test_bad_options_are_refused_in_one_line(
    folder: Path, families: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...], says: str,
) -> None:  # fmt: skip
    out = tmp_path / "built.h5"
    assert run("build", "aslib", folder, out, "--families", families, *options) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("auditkit: ")
    assert says in lines[-1]
    assert not out.exists()
    assert not list(tmp_path.glob(".*"))


def test_without_features_there_is_nothing_to_learn_from(
    folder: Path, families: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "feature_values.arff").unlink()
    assert run("build", "aslib", folder, tmp_path / "o.h5", "--families", families) == 2
    assert "no instance features stored" in capsys.readouterr().err


def test_without_scikit_learn_the_message_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from auditkit.fit.selectors import require_sklearn\n"
        "try:\n    require_sklearn()\nexcept Exception as error:\n    print(type(error).__name__, error)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert found.stdout.startswith("MissingDependencyError scikit-learn is not installed")
    assert "auditkit-arrays[fit]" in found.stdout
