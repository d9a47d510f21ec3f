"""The command line as a user meets it: what it prints, where, and its exit codes."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

import auditkit as ak
from auditkit.cli import auditkit as group
from auditkit.cli import main

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    path = tmp_path / "demo.h5"
    ak.write(path, ak.demo_data())
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def one_line(text: str) -> bool:
    return text.startswith("auditkit: ") and text.count("\n") == 1 and "Traceback" not in text


def test_the_demo_writes_a_file_and_audits_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "demo", "--out", str(tmp_path / "new folder"))
    assert code == 0
    assert (tmp_path / "new folder" / "auditkit_demo.h5").is_file()
    assert "Deployment reverses the ranking in 1: R1 over R2." in " ".join(out.split())
    assert "sha256:" in out
    assert "wrote" in err
    assert "wrote" not in out


def test_inspect_tells_what_is_there(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "inspect", str(demo))
    assert code == 0
    assert "It can feed: allocation, fidelity, local, selection." in out
    for name in ("toy", "overtime", "peeking", "two_workloads", "two_halves"):
        assert name in out


def test_json_is_alone_on_standard_output(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (
        "audit",
        str(demo),
        "--only",
        "fidelity",
        "--format",
        "json",
        "--replicates",
        "100",
        "--seed",
        "3",
    )
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    found = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    direct = ak.audit_fidelity(ak.open(demo), replicates=100, seed=3).to_dict()
    assert found == json.loads(json.dumps(direct))


KEYS = {
    "": {"format_version", "auditkit_version", "signature", "source", "settings", "fidelity"},
    "benchmark": {"benchmark", "n_instances", "n_algorithms", "n_families", "pipelines", "comparisons"},
    "pipeline": {
        "name", "kind", "n_valid", "n_repetitions", "partition_score", "deployed_score", "gap", "family_range",
        "violation_rate", "deployment_regret", "wilcoxon_p", "holm_p", "lemma1_residual",
    },
    "comparison": {
        "first", "second", "n_common", "partition_advantage", "deployed_advantage", "gap_difference", "lemma2_residual",
        "absorption_ratio", "deployment_safe", "identification_interval", "crosses_zero", "transfer",
        "corrected_advantage",
    },
}  # fmt: skip


def test_json_has_the_keys_of_the_contract(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(
        capsys, "audit", str(demo), "--only", "fidelity", "--format", "json", "--replicates", "50"
    )
    found = json.loads(out)
    assert set(found) >= KEYS[""]
    assert set(found["source"]) == {"path", "sha256"}
    assert set(found["settings"]) >= {"replicates", "confidence", "seed"}
    (benchmark,) = found["fidelity"]
    assert set(benchmark) >= KEYS["benchmark"]
    assert set(benchmark["pipelines"][0]) >= KEYS["pipeline"]
    assert set(benchmark["comparisons"][0]) >= KEYS["comparison"]
    assert set(benchmark["pipelines"][0]["gap"]) >= {"estimate", "low", "high"}


def test_out_is_written_whole(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "result.json"
    arguments = (
        "audit",
        str(demo),
        "--only",
        "fidelity",
        "--replicates",
        "20",
        "--format",
        "json",
        "--out",
        str(target),
    )
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (0, "")
    assert str(target) in err
    assert json.loads(target.read_text())["fidelity"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit", "nothing.h5"], "nothing.h5: no such file"),
        (["audit", "{demo}", "--only", "fidelty"], "no audit is called 'fidelty'"),
        (["audit", "{demo}", "--only", "fidelity", "--pair", "R1", "R9"], "unknown pipeline, found 'R9', expected R1 or R2"),  # noqa: E501
        (["audit", "{demo}", "--replicates", "0"], "Invalid value for '--replicates'"),
        (["audit", "{demo}", "--confidence", "1"], "Invalid value for '--confidence'"),
        (["audit", "{demo}", "--seed", "-1"], "Invalid value for '--seed'"),
        (["audit", "{demo}", "--format", "pdf"], "Invalid value for '--format'"),
        (["audit", "{demo}", "--only", "fidelity", "--replicates", "9", "--out", "/no/folder/x"], "/no/folder/x: cannot write"),  # noqa: E501
        (["audit"], "Missing argument 'FILE'"),
        (["adit", "x"], "No such command 'adit'"),
        (["check", "{demo}", "--tolerance", "-1"], "Invalid value for '--tolerance'"),
        (["audit", "{folder}"], ": a folder, expected an audit file (HDF5)"),
        (["audit", "/dev/null"], "/dev/null: not a regular file, expected an audit file (HDF5)"),
        (["sensitivity", "{demo}", "--cutoff", "-3"], "Invalid value for '--cutoff'"),
        (["sensitivity", "{demo}", "--cutoff", "0"], "Invalid value for '--cutoff'"),
        (["demo", "--out", "{demo}"], "cannot write"),
    ],
)  # fmt: skip
def test_bad_use_ends_with_one_line_and_code_2(
    demo: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    places = {"demo": str(demo), "folder": str(tmp_path)}
    code, out, err = run(capsys, *(a.format(**places) for a in arguments))
    assert (code, out) == (2, "")
    assert one_line(err)
    assert message in err


def test_a_hostile_name_cannot_move_the_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "x\x1b[2J\n<script>\u202e" + "y" * 5000
    toy = ak.demo_data().benchmarks["toy"]
    ak.write(tmp_path / "a.h5", ak.AuditData(benchmarks={name: toy}))
    for command in (["inspect"], ["audit", "--replicates", "9"], ["check", "--replicates", "9"]):
        code, out, _ = run(capsys, command[0], str(tmp_path / "a.h5"), *command[1:])
        assert code == 0
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "x\\x1b[2J\\n<script>\\u202e" in out.replace("\n", "").replace(" ", "")


def test_a_failed_check_ends_with_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    toy = ak.demo_data().benchmarks["toy"]
    pipeline = replace(toy.pipelines["R1"], fold=np.full((1, 100), -1))
    data = ak.AuditData(benchmarks={"toy": replace(toy, pipelines={"R1": pipeline})})
    ak.write(tmp_path / "a.h5", data)
    code, out, _ = run(capsys, "check", str(tmp_path / "a.h5"), "--replicates", "20")
    assert code == 1
    assert "FAIL  fidelity.folds" in out
    code, out, _ = run(
        capsys, "check", str(tmp_path / "a.h5"), "--replicates", "20", "--format", "json"
    )
    assert code == 1
    found = json.loads(out)
    assert found["passed"] is False
    assert [c["id"] for c in found["checks"] if c["status"] == "failed"] == ["fidelity.folds"]


def test_warnings_fail_only_when_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ak.write(tmp_path / "a.h5", ak.AuditData(benchmarks=ak.demo_data().benchmarks))
    assert run(capsys, "check", str(tmp_path / "a.h5"), "--replicates", "20")[0] == 0
    code, out, _ = run(capsys, "check", str(tmp_path / "a.h5"), "--replicates", "20", "--strict")
    assert code == 1
    assert "warn  fidelity.reversal" in out


def test_an_internal_error_has_its_own_code(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditkit.store.open", lambda path: 1 / 0)
    code, out, err = run(capsys, "audit", str(demo))
    assert (code, out) == (3, "")
    assert one_line(err)
    assert "internal error: ZeroDivisionError" in err


def test_a_closed_pipe_is_no_error(demo: Path) -> None:
    audit = f"{sys.executable} -m auditkit audit {demo} --only fidelity --replicates 20"
    command = f"{audit} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("width", [80, 100])
def test_tables_fit(demo: Path, width: int) -> None:
    from auditkit.reports.render import document
    from auditkit.reports.table import render_table

    audit = ak.run_audits(ak.open(demo), only=["fidelity"], replicates=50)
    lines = render_table(document(audit), width=width).splitlines()
    assert max(len(line) for line in lines if not line.startswith("signature")) <= width


def test_help_is_instant() -> None:
    code = (
        "import sys, time; from auditkit.cli import main; main(['--help']); "
        "print(time.process_time(), file=sys.stderr); print(*sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert {"numpy", "numba", "h5py", "rich", "pandas"}.isdisjoint(loaded)
    assert float(done.stderr) < 0.3


def test_a_second_run_compiles_nothing(demo: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "NUMBA_DEBUG_CACHE": "1",
    }
    command = [sys.executable, "-m", "auditkit", "audit", str(demo), "--replicates", "20"]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        for _ in range(2)
    ]
    assert "data saved to" in runs[0]
    assert "data loaded from" in runs[1]
    assert "data saved to" not in runs[1]


def commands(node: click.Command, path: str = "auditkit") -> list[tuple[str, click.Command]]:
    if isinstance(node, click.Group):
        return [
            item
            for key, child in node.commands.items()
            for item in commands(child, f"{path} {key}")
        ]
    return [(path, node)]


@pytest.mark.parametrize(("path", "command"), commands(group))
def test_every_command_and_option_explains_itself(path: str, command: click.Command) -> None:
    assert command.help
    assert all(option.help for option in command.params if isinstance(option, click.Option))


@pytest.mark.parametrize("page", ["commands.md", "format.md"])
def test_derived_pages_are_current(page: str) -> None:
    spec = importlib.util.spec_from_file_location("make", DOCS / "make.py")
    assert spec is not None
    make = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(make)
    assert (DOCS / page).read_text(encoding="utf-8") == make.PAGES[page](), (
        "run python docs/make.py"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "{demo}", "--only", "fidelity", "--replicates", "9", "--out", "{demo}"),
        ("check", "{demo}", "--replicates", "9", "--out", "{folder}/../{name}/demo.h5"),
        ("export", "{demo}", "{demo}", "--member", "samples/two_workloads"),
        ("import", "losses", "{csv}", "{folder}/x.h5", "--write-map", "{csv}"),
    ],
)
def test_an_output_never_replaces_an_input(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    csv = tmp_path / "s.csv"
    csv.write_text("loss_a,loss_b,x\n" + "1.0,2.0,3.0\n" * 9)
    before = demo.read_bytes(), csv.read_bytes()
    places = {"demo": demo, "folder": tmp_path, "name": tmp_path.name, "csv": csv}
    code, out, err = run(capsys, *(a.format(**places) for a in arguments))
    assert (code, out) == (2, "")
    assert "the output would replace an input" in err
    assert (demo.read_bytes(), csv.read_bytes()) == before


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    "arguments", [("check", "{demo}", "--tolerance"), ("sensitivity", "{demo}", "--cutoff")]
)
def test_a_number_must_be_finite(
    demo: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], number: str
) -> None:
    code, out, err = run(capsys, *(a.format(demo=demo) for a in arguments), number)
    assert (code, out) == (2, "")
    assert one_line(err)


def test_too_much_to_hold_is_refused(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str) -> None:
        raise MemoryError("Unable to allocate 17.5 TiB")

    monkeypatch.setattr("auditkit.store.open", full)
    code, out, err = run(capsys, "audit", str(demo))
    assert (code, out) == (2, "")
    assert "not enough memory" in err


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
def test_a_full_disk_is_told_in_one_line(demo: Path) -> None:
    command = [sys.executable, "-m", "auditkit", "inspect", str(demo)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert one_line(done.stderr)
    assert "cannot write the result" in done.stderr


def test_a_closed_output_is_no_internal_error(demo: Path) -> None:
    command = f"{sys.executable} -m auditkit inspect {demo} >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_that_was_swallowed_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    import signal
    import time

    from auditkit import cli

    def deaf(*_: object, **__: object) -> int:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)  # as a callback of compiled code would swallow it
        time.sleep(20)
        return 0

    monkeypatch.setattr(cli.auditkit, "main", deaf)
    started = time.monotonic()
    assert main(["demo"]) == cli.INTERRUPTED
    assert time.monotonic() - started < 10


def test_an_interrupt_does_not_deny_what_was_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("auditkit.audits.run.run_audits", interrupt)
    code, out, err = run(capsys, "demo", "--out", str(tmp_path))
    path = tmp_path / "auditkit_demo.h5"
    assert (code, out) == (130, "")
    assert err.split("\n", 1) == [
        f"wrote {path}",
        "\nauditkit: interrupted, no file half written\n",
    ]
    assert list(ak.open(path).benchmarks) == ["toy"]


def test_the_reference_tells_which_options_are_required() -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    build = page.partition("## auditkit build aslib")[2].partition("\n## ")[0]
    assert "| `--families MAP.toml` | required |" in build
    assert build.count("| required |") == 1


def test_a_benchmark_without_pipelines_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    bare = replace(ak.demo_data().benchmarks["toy"], pipelines={})
    ak.write(tmp_path / "a.h5", ak.AuditData(benchmarks={"toy": bare}))
    _, out, _ = run(capsys, "inspect", str(tmp_path / "a.h5"))
    assert "It holds nothing that can be audited." in out
    assert "fidelity" not in out
    assert "auditkit build aslib" not in out
    assert "Fitting some (auditkit build) is for ASlib scenarios only." in " ".join(out.split())
    scenario = replace(bare, provenance='{"import": "aslib"}')
    ak.write(tmp_path / "b.h5", ak.AuditData(benchmarks={"toy": scenario}))
    _, out, _ = run(capsys, "inspect", str(tmp_path / "b.h5"))
    assert "auditkit build aslib fits selectors on the scenario" in " ".join(out.split())
    _, out, _ = run(capsys, "audit", str(tmp_path / "a.h5"))
    assert "No pipeline is stored" in out
    _, out, _ = run(capsys, "check", str(tmp_path / "a.h5"))
    assert "fidelity.pipelines" in out
    for strict in ((), ("--strict",)):
        code, out, _ = run(capsys, "check", str(tmp_path / "a.h5"), *strict)
        assert code == len(strict)
        assert "nothing could be checked" in out
        assert "passed" not in out
