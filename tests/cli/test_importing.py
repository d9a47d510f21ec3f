"""The commands import, verify and export: exit codes, one line on standard error, nothing half written."""

from __future__ import annotations

import gzip
import inspect
import zipfile
from pathlib import Path

import click
import numpy as np
import pytest

import auditkit as ak
from auditkit.cli import main
from auditkit.cli.importing import import_
from auditkit.importers.kinds import KINDS
from tests.importers.scenarios import RUNS, scenario, table

LOSSES = ("loss_a,loss_b,x", "1,2,3")


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_every_option_of_an_importer_is_an_option_of_its_command() -> None:
    assert isinstance(import_, click.Group)
    assert set(import_.commands) == set(KINDS)
    for kind, command in import_.commands.items():
        ours = {p.name for p in command.params} - {"paths", "map_path", "write_map", "append"}
        ours -= {"lower_is_better"}  # the other side of higher_is_better
        theirs = {
            p.name
            for p in inspect.signature(KINDS[kind]).parameters.values()
            if p.kind is p.KEYWORD_ONLY
        }
        assert ours == theirs, kind


def test_import_prints_what_it_understood_and_verify_agrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = scenario(tmp_path / "s")
    families = table(tmp_path / "f.toml", "[families]", "F = ['a', 'b']")
    out = tmp_path / "o.h5"
    assert (
        run("import", "aslib", folder, out, "--families", families, "--par", 2, "--name", "toy")
        == 0
    )
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(
        "aslib 'toy'\n  2 instances x 2 algorithms x 1 repetition, 4 runs"
    )
    assert printed.err.endswith(f"wrote {out}\n")
    b = ak.open(out).benchmarks["toy"]
    assert (b.families, b.par_factor) == (("F",), 2)
    assert run("verify", out, folder) == 0
    assert capsys.readouterr().out == "benchmarks/toy: equal (20 cells compared with the sources)\n"
    scenario(tmp_path / "s", [RUNS[0].replace("10", "11"), *RUNS[1:]])
    assert run("verify", out, folder) == 1
    assert "cost['i1', 'a']: stored 10.0, source 11.0" in capsys.readouterr().out


def test_inspect_shows_where_a_member_came_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path / "t.csv", *LOSSES)
    imported = ak.import_losses(path)
    imported.save(tmp_path / "o.h5")
    capsys.readouterr()
    assert run("inspect", tmp_path / "o.h5") == 0
    shown = "".join(capsys.readouterr().out.split())
    assert "t.csv" in shown
    assert '"loss_a":"loss_a"' in shown


def test_a_mapping_is_written_and_taken(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "d,v,t,kind", "x,1,2,acc")
    columns = ("--dataset", "d", "--validation", "v", "--test", "t")
    mapping, one, two = tmp_path / "m.toml", tmp_path / "one.h5", tmp_path / "two.h5"
    assert (
        run(
            "import",
            "search",
            path,
            one,
            *columns,
            "--direction",
            "kind=acc:max",
            "--write-map",
            mapping,
        )
        == 0
    )
    assert run("import", "search", path, two, "--map", mapping) == 0
    assert ak.open(one).searches["t"].higher_is_better.all()
    assert one.read_bytes() == two.read_bytes()
    assert (
        run("import", "search", path, two, "--map", mapping, "--lower-is-better") == 0
    )  # given wins
    assert not ak.open(two).searches["t"].higher_is_better.any()


@pytest.mark.parametrize("kind", ["benchmark", "scoreboard", "search"])
def test_both_orientations_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    path = table(tmp_path / "t.csv", "instance,algorithm,value", "x,a,1")
    both = ["--higher-is-better", "--lower-is-better"]
    for flags in (both, both[::-1]):
        assert run("import", kind, path, tmp_path / "o.h5", *flags) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "expected one of --higher-is-better and --lower-is-better, not both" in line
    assert not (tmp_path / "o.h5").exists()


def test_a_lower_orientation_given_wins_over_a_mapping(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "instance,algorithm,value", "x,a,1", "x,b,2")
    mapping, out = tmp_path / "m.toml", tmp_path / "o.h5"
    up = ("--higher-is-better", "--write-map", mapping)
    assert run("import", "benchmark", path, out, *up) == 0
    assert "higher_is_better = true" in mapping.read_text()
    assert run("import", "benchmark", path, out, "--map", mapping) == 0
    np.testing.assert_array_equal(ak.open(out).benchmarks["t"].utility, [[1, 2]])
    assert run("import", "benchmark", path, out, "--map", mapping, "--lower-is-better") == 0
    np.testing.assert_array_equal(ak.open(out).benchmarks["t"].utility, [[-1, -2]])


@pytest.mark.parametrize("existing", ["x.csv", "x.toml"])
def test_an_export_replaces_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], existing: str
) -> None:
    out = tmp_path / "o.h5"
    assert run("import", "losses", table(tmp_path / "t.csv", *LOSSES), out) == 0
    (tmp_path / existing).write_text("mine")
    before = set(tmp_path.iterdir())
    capsys.readouterr()
    assert run("export", out, tmp_path / "x.csv") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"auditkit: {tmp_path / existing}: exists already, expected a new file"
    assert set(tmp_path.iterdir()) == before
    assert (tmp_path / existing).read_text() == "mine"


def test_append_and_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "s.npy", np.ones((2, 3)))
    out = tmp_path / "o.h5"
    assert run("import", "losses", table(tmp_path / "t.csv", *LOSSES), out) == 0
    assert run("import", "samples", tmp_path / "s.npy", out, "--append") == 0
    assert {group for group, _, _ in ak.open(out).members()} == {"losses", "samples"}
    capsys.readouterr()
    assert run("export", out, tmp_path / "x.csv", "--member", "samples/s") == 0
    assert capsys.readouterr().err == f"wrote {tmp_path / 'x.csv'} and {tmp_path / 'x.toml'}\n"
    assert (
        run(
            "import", "samples", tmp_path / "x.csv", tmp_path / "y.h5", "--map", tmp_path / "x.toml"
        )
        == 0
    )
    np.testing.assert_array_equal(ak.open(tmp_path / "y.h5").samples["x"].cost, np.ones((2, 3)))


def malformed(folder: Path) -> dict[str, tuple[list[object], str]]:
    """Arguments of import, and what the line must name."""
    bomb = folder / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(bytes(80 * 2**20)))
    archive = folder / "bomb.npz"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("cost.npy", bytes(80 * 2**20))
    csv = {
        "semicolons": (["loss_a;loss_b;x", "1;2;3"], "line 1, column 1"),
        "ragged": (["loss_a,loss_b,x", "1,2"], "line 2, column 'x'"),
        "text": (["loss_a,loss_b,x", "1,two,3"], "line 2, column 'loss_b'"),
        "gigantic": (["loss_a,loss_b,x", f"1,{'2' * 200_000},3"], "line 2, column 'loss_b'"),
        "header": (["loss_a,loss_b,x"], "line 2, column 1"),
    }
    cases: dict[str, tuple[list[object], str]] = {}
    for name, (lines, place) in csv.items():
        path = table(folder / f"{name}.csv", *lines)
        cases[name] = (["losses", path], f"{path}, {place}")
    empty = folder / "empty.csv"
    empty.write_bytes(b"")
    twice = table(folder / "twice.csv", "instance,algorithm,value", "x,a,1", "x,a,2")
    kinds = table(folder / "kinds.jsonl", '{"dataset": "x", "k": "q", "scores": {"a": 1}}')
    up = "--higher-is-better"
    cases |= {
        "empty": (["losses", empty], f"{empty}, line 1, column 1"),
        "twice": (["benchmark", twice, up], f"{twice}, line 3, column 'instance'"),
        "direction": (
            ["scoreboard", kinds, "--direction", "k=c:max"],
            f"{kinds}, line 1, column 'k'",
        ),
        "gzip": (["losses", bomb], f"{bomb}: "),
        "zip": (["samples", archive], f"{archive}, member 'cost.npy'"),
        "nothing": (["losses", folder / "none.csv"], "none.csv: no such file"),
        "arff": (
            ["aslib", scenario(folder / "s", ["i1,1,a,ten,ok"])],
            "algorithm_runs.arff, line 8, column 'runtime'",
        ),
        "orientation": (["benchmark", twice], "--higher-is-better"),
    }
    return cases


CASES = [
    "semicolons",
    "ragged",
    "text",
    "gigantic",
    "header",
    "empty",
    "twice",
    "direction",
    "gzip",
    "zip",
    "nothing",
    "arff",
    "orientation",
]


@pytest.mark.parametrize("case", CASES)
def test_a_malformed_source_ends_with_one_line_and_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    cases = malformed(tmp_path)
    assert set(cases) == set(CASES)
    (kind, source, *options), place = cases[case]
    out = tmp_path / "o.h5"
    assert run("import", kind, source, out, *options) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert place in printed.err
    assert not out.exists()


def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path / "t.csv", *LOSSES)
    assert run("import", "losses", path) == 2
    assert "the audit file to write" in capsys.readouterr().err
    assert run("import", "losses", path, path) == 2
    assert "exists and is no audit file" in capsys.readouterr().err.splitlines()[-1]
    assert path.read_text().startswith("loss_a")
    assert run("import", "losses", path, path, tmp_path / "o.h5") == 2
    assert "several sources for import losses" in capsys.readouterr().err
    assert run("verify", tmp_path / "none.h5", path) == 2


def test_the_commands_of_the_issue(shared_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.h5"
    orcetra = sorted((shared_data / "orcetra").glob("*.jsonl"))
    sweep = [
        path
        for path in orcetra
        if any(day in path.name for day in ("28_1739", "28_1841", "30_2124"))
    ]
    scoreboard = (
        "--dataset", "dataset_id", "--score", "scores.*", "--seconds", "times.*", "--size", "n_samples",
        "--test-fraction", "0.2", "--direction", "task_type=classification:max,regression:min", "--name", "sweep",
    )  # fmt: skip
    for arguments in (
        ("samples", shared_data / "samples" / "tsp100_softmax_sampler.npz", out),
        ("search", shared_data / "searches" / "tabm_single_models.csv", out, "--higher-is-better"),
        ("losses", shared_data / "losses" / "casp_mlp_vs_linear.csv", out),
        ("aslib", shared_data / "aslib" / "MAXSAT-PMS-2016", out),
        ("scoreboard", *sweep, out, *scoreboard),
    ):
        assert run("import", *arguments, "--append") == 0
    data = ak.open(out)
    assert len(data.scoreboards["sweep"].datasets) == 513
    assert {group for group, _, _ in data.members()} == {
        "benchmarks",
        "scoreboards",
        "searches",
        "samples",
        "losses",
    }
