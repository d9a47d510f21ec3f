"""An audit file against its sources: equal, or the first differing cells and their number."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.errors import UsageError
from tests.importers.scenarios import RUNS, scenario, table


def test_an_import_equals_its_sources(tmp_path: Path) -> None:
    folder = scenario(tmp_path / "s")
    imported = ak.import_aslib(folder, transform="rank", par=3)
    imported.save(tmp_path / "o.h5")
    found = ak.verify(tmp_path / "o.h5", folder)
    assert found.equal
    assert (found.member, found.n_differences, found.first, found.notes) == (
        "benchmarks/s",
        0,
        (),
        (),
    )
    # utility and cost 4 each, instances 2, algorithms 2, families 2, family_of 2, and 5 attributes
    assert found.n_cells == 21
    assert found.report() == "benchmarks/s: equal (21 cells compared with the sources)"


def test_a_changed_cell_is_named(tmp_path: Path) -> None:
    folder = scenario(tmp_path / "s")
    ak.import_aslib(folder, transform="identity").save(tmp_path / "o.h5")
    scenario(tmp_path / "s", [RUNS[0].replace("10", "11"), *RUNS[1:]])
    found = ak.verify(tmp_path / "o.h5", folder)
    assert found.n_differences == 2
    assert str(found.first[0]) == "utility['i1', 'a']: stored -10.0, source -11.0"
    assert str(found.first[1]) == "cost['i1', 'a']: stored 10.0, source 11.0"
    assert found.notes == ("the sources are not the same bytes or names as at the import",)


def test_nan_equals_nan_and_nothing_else(tmp_path: Path) -> None:
    folder = scenario(tmp_path / "s", RUNS[:3])
    ak.import_aslib(folder, transform="identity").save(tmp_path / "o.h5")
    assert ak.verify(tmp_path / "o.h5", folder).equal
    scenario(tmp_path / "s", RUNS)
    found = ak.verify(tmp_path / "o.h5", folder)
    assert [str(d) for d in found.first] == [
        "utility['i2', 'b']: stored nan, source -1000.0", "cost['i2', 'b']: stored nan, source 1000.0",
    ]  # fmt: skip


def test_many_differences_are_counted_and_few_are_shown(tmp_path: Path) -> None:
    header = "instance," + ",".join(f"a{k}" for k in range(50))
    path = table(tmp_path / "t.csv", header, "x," + ",".join(["1"] * 50))
    ak.import_benchmark(path, value="*", higher_is_better=True).save(tmp_path / "o.h5")
    table(path, header, "x," + ",".join(["2"] * 50))
    found = ak.verify(tmp_path / "o.h5", path)
    assert found.n_differences == 50
    assert len(found.first) == 5
    assert found.report().splitlines()[6] == "  and 45 more"


def test_one_cell_differs(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "instance,a", "x,1", "y,2")
    ak.import_benchmark(path, value="*", higher_is_better=True).save(tmp_path / "o.h5")
    table(path, "instance,a", "x,1", "y,3")
    report = ak.verify(tmp_path / "o.h5", path).report()
    assert report.startswith("benchmarks/t: 1 cell differs (")


BOARDS = {
    "a.csv": ("dataset,s.p,s.q", "x,1,2", "y,3,4"),
    "b.csv": ("dataset,s.r,s.q,s.p", "x,5,6,7", "z,8,9,10", "w,11,12,13"),
}


def boards(folder: Path) -> list[Path]:
    paths = [table(folder / name, *lines) for name, lines in BOARDS.items()]
    ak.import_scoreboard(paths, score="s.*", higher_is_better=True, name="m").save(folder / "o.h5")
    return paths


def test_sources_in_another_order_are_matched_by_name(tmp_path: Path) -> None:
    paths = boards(tmp_path)
    found = ak.verify(tmp_path / "o.h5", paths[::-1])
    assert (found.n_differences, found.first) == (0, ())
    assert found.notes == ("matched by name, in another order in the sources: datasets, systems",)
    assert found.n_cells == ak.verify(tmp_path / "o.h5", paths).n_cells
    assert ak.verify(tmp_path / "o.h5", paths).notes == ()


def test_a_cell_changed_in_sources_in_another_order_is_the_only_one(tmp_path: Path) -> None:
    paths = boards(tmp_path)
    table(paths[1], *BOARDS["b.csv"][:2], "z,8,9,99", "w,11,12,13")
    found = ak.verify(tmp_path / "o.h5", paths[::-1])
    assert [str(d) for d in found.first] == ["score['z', 'p']: stored 10.0, source 99.0"]
    assert found.n_differences == 1


def test_the_member_is_found_by_sources_in_another_order(tmp_path: Path) -> None:
    paths = boards(tmp_path)
    other = table(tmp_path / "t.csv", "loss_a,loss_b,x", "1,2,3")
    ak.import_losses(other).save(tmp_path / "o.h5", append=True)
    assert ak.verify(tmp_path / "o.h5", paths[::-1]).member == "scoreboards/m"


def test_rows_algorithms_and_families_in_another_order(tmp_path: Path) -> None:
    lines = ["x,a,F,1", "x,b,G,2", "x,c,F,3", "y,a,F,4", "y,b,G,5", "y,c,F,6"]
    path = table(tmp_path / "t.csv", "instance,algorithm,kind,value", *lines)
    options = {"family": "kind", "higher_is_better": True}
    ak.import_benchmark(path, **options).save(tmp_path / "o.h5")
    table(path, "instance,algorithm,kind,value", *(lines[k] for k in (4, 5, 3, 1, 0, 2)))
    found = ak.verify(tmp_path / "o.h5", path)
    assert found.equal
    assert found.notes[1].endswith("instances, algorithms, families")
    table(
        path,
        "instance,algorithm,kind,value",
        *(lines[k].replace("a,F", "a,G") for k in (4, 5, 3, 1, 0, 2)),
    )
    found = ak.verify(tmp_path / "o.h5", path)
    assert [str(d) for d in found.first] == ["family_of['a']: stored 0, source 1"]


def test_a_row_gone_and_a_new_one_shift_nothing(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "instance,a", "x,1", "y,2", "z,3")
    ak.import_benchmark(path, value="*", higher_is_better=True).save(tmp_path / "o.h5")
    table(path, "instance,a", "y,2", "z,3", "new,4")
    found = ak.verify(tmp_path / "o.h5", path)
    assert [str(d) for d in found.first] == [
        "utility['x', 'a']: stored 1.0, source 4.0",
        "instances['x']: stored 'x', source 'new'",
    ]


def test_another_shape(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "instance,a", "x,1")
    ak.import_benchmark(path, value="*", higher_is_better=True).save(tmp_path / "o.h5")
    table(path, "instance,a", "x,1", "y,2")
    found = ak.verify(tmp_path / "o.h5", path)
    assert str(found.first[0]) == "utility: stored shape [1, 1], source shape [2, 1]"


def test_pipelines_added_since_are_not_compared(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "instance,a", "x,1")
    imported = ak.import_benchmark(path, value="*", higher_is_better=True)
    flat = ak.Pipeline(kind="flat", algorithm_choice=np.array([[0]]))
    ak.write(
        tmp_path / "o.h5",
        ak.AuditData(
            benchmarks={"t": dataclasses.replace(imported.member, pipelines={"flat": flat})}
        ),
    )
    assert ak.verify(tmp_path / "o.h5", path).equal


def test_which_member(tmp_path: Path) -> None:
    paths = [
        table(tmp_path / name, "loss_a,loss_b,x", f"1,2,{k}")
        for k, name in enumerate(("a.csv", "b.csv"))
    ]
    for path in paths:
        ak.import_losses(path).save(tmp_path / "o.h5", append=True)
    assert ak.verify(tmp_path / "o.h5", paths[1]).member == "losses/b"  # by the name of the source
    assert ak.verify(tmp_path / "o.h5", paths[0], member="losses/b").n_differences == 1
    other = table(tmp_path / "c.csv", "loss_a,loss_b,x", "1,2,3")
    with pytest.raises(
        UsageError, match=r"no member was imported from files of these names.*c\.csv"
    ):
        ak.verify(tmp_path / "o.h5", other)
    with pytest.raises(
        UsageError, match="no such member, found 'losses/z', expected losses/a or losses/b"
    ):
        ak.verify(tmp_path / "o.h5", other, member="losses/z")


def test_a_file_that_was_not_imported(tmp_path: Path) -> None:
    ak.write(tmp_path / "o.h5", ak.demo_data())
    with pytest.raises(UsageError, match="nothing says how its members were imported"):
        ak.verify(tmp_path / "o.h5", tmp_path / "x.csv")


@pytest.mark.parametrize(
    "text", ["no json", "[]", '{"import": "x", "options": {}}', '{"import": "losses"}']
)
def test_a_provenance_that_says_nothing(tmp_path: Path, text: str) -> None:
    member = ak.Losses(
        loss_a=np.ones(1),
        loss_b=np.ones(1),
        covariates=np.ones((1, 1)),
        covariate_names=["x"],
        provenance=text,
    )
    ak.write(tmp_path / "o.h5", ak.AuditData(losses={"m": member}))
    with pytest.raises(UsageError, match="nothing says how"):
        ak.verify(tmp_path / "o.h5", tmp_path / "x.csv")


def test_a_stranger_cannot_make_an_option_run(tmp_path: Path) -> None:
    record = {"import": "losses", "options": {"nonsense": 1}, "sources": []}
    member = ak.Losses(
        loss_a=np.ones(1), loss_b=np.ones(1), covariates=np.ones((1, 1)), covariate_names=["x"],
        provenance=json.dumps(record),
    )  # fmt: skip
    ak.write(tmp_path / "o.h5", ak.AuditData(losses={"m": member}))
    with pytest.raises(UsageError, match="unknown option, found 'nonsense'"):
        ak.verify(tmp_path / "o.h5", tmp_path / "x.csv")
    record["options"] = {"loss_a": {"a": []}}
    ak.write(
        tmp_path / "o.h5",
        ak.AuditData(losses={"m": dataclasses.replace(member, provenance=json.dumps(record))}),
    )
    with pytest.raises(UsageError, match="option of the wrong type"):
        ak.verify(tmp_path / "o.h5", table(tmp_path / "x.csv", "loss_a,loss_b,x", "1,2,3"))


def test_every_real_import_verifies(shared_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.h5"
    sources = {
        shared_data / "aslib" / "CSP-Minizinc-Obj-2016": ak.import_aslib,
        shared_data / "samples" / "tsp100_softmax_sampler.npz": ak.import_samples,
        shared_data / "losses" / "concrete_mlp_vs_linear.csv": ak.import_losses,
    }
    for path, importer in sources.items():
        importer(path).save(out, append=True)
    for path in sources:
        assert ak.verify(out, path).equal
