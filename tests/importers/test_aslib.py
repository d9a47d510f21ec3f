"""ASlib scenarios: the rules on small ones, the real ones against files and counts made otherwise."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.errors import SourceError, UsageError
from tests.importers.scenarios import DESCRIPTION, HEADER, RUNS, scenario


def costs(imported: ak.Imported) -> dict[tuple[str, str], float]:
    b = imported.member
    return {
        (i, a): float(b.cost[r, c])
        for r, i in enumerate(b.instances)
        for c, a in enumerate(b.algorithms)
    }


def test_a_small_scenario(tmp_path: Path) -> None:
    imported = ak.import_aslib(scenario(tmp_path / "TOY"))
    b = imported.member
    assert (imported.name, b.instances, b.algorithms) == ("TOY", ("i1", "i2"), ("a", "b"))
    np.testing.assert_array_equal(b.cost, [[10, 50], [20, 1000]])
    np.testing.assert_array_equal(b.utility, [[1, 0], [1, 0]])
    assert (b.unit, b.cutoff, b.par_factor, b.metric, b.transform) == (
        "s",
        100,
        10,
        "runtime",
        "minmax",
    )
    assert b.families == ("a", "b")
    assert b.family_of.tolist() == [0, 1]


# --------------------------------------------------------------------------------------------------- PAR-k


@pytest.mark.parametrize(
    ("value", "status", "expected"),
    [
        ("10", "ok", 10),
        ("100", "ok", 100),  # at the cutoff is not above it
        ("100.01", "ok", 1000),
        ("1000", "ok", 1000),  # penalised in the file, but marked ok
        ("100", "timeout", 1000),  # the file stores the cutoff
        ("1000", "timeout", 1000),  # the file stores PAR10: not penalised twice
        ("101.5", "timeout", 1000),  # a little above
        ("0.3", "crash", 1000),  # far below
        ("?", "memout", 1000),
        ("?", "ok", math.nan),
        ("10", "OK", 10),
        ("10", "not_applicable", 1000),
        ("10", "?", 1000),
    ],
)
def test_what_a_run_costs(tmp_path: Path, value: str, status: str, expected: float) -> None:
    header = HEADER.replace("{ok, timeout, memout, not_applicable, crash, other}", "STRING")
    runs = [f"i1,1,a,{value},{status}", *RUNS[1:]]
    cost = costs(ak.import_aslib(scenario(tmp_path / "s", runs, header=header)))
    np.testing.assert_equal(cost["i1", "a"], expected)
    assert cost["i1", "b"] == 50


def test_another_factor_and_cutoff(tmp_path: Path) -> None:
    b = ak.import_aslib(scenario(tmp_path / "s"), par=2, cutoff=40).member
    np.testing.assert_array_equal(b.cost, [[10, 80], [20, 80]])
    assert (b.cutoff, b.par_factor) == (40, 2)


def test_an_already_penalised_column_is_recognised(tmp_path: Path) -> None:
    stored = ("i1,1,a,10,ok", "i1,1,b,1000,timeout", "i2,1,a,20,ok", "i2,1,b,1000,timeout")
    report = ak.import_aslib(scenario(tmp_path / "s", stored)).report()
    assert "stores PAR10 already (2 of 2 failed runs); not penalised twice" in report


def test_a_stored_penalty_counts_in_the_cutoff_of_the_description(tmp_path: Path) -> None:
    stored = ("i1,1,a,10,ok", "i1,1,b,100,timeout", "i2,1,a,20,ok", "i2,1,b,10,ok")
    report = ak.import_aslib(scenario(tmp_path / "s", stored), cutoff=1).report()
    assert "PAR100" not in report  # the cutoff itself, stored as it is
    assert "the file stores 1 failed run above the cutoff (100 to 100): replaced" in report
    stored = (*stored[:1], "i1,1,b,1000,timeout", *stored[2:])
    report = ak.import_aslib(scenario(tmp_path / "s", stored), cutoff=1).report()
    stores = "the file stores PAR10 of the stated cutoff 100 s already (1 of 1 failed run)"
    assert f"{stores}; not penalised twice" in report


def test_a_stored_penalty_where_the_stated_cutoff_is_absurd(tmp_path: Path) -> None:
    description = DESCRIPTION.replace("time: 100", "time: 1e9")
    stored = ("i1,1,a,10,ok", "i1,1,b,1000,timeout", "i2,1,a,20,ok", "i2,1,b,1000,timeout")
    folder = scenario(tmp_path / "s", stored, description=description)
    assert "stores PAR10 already" in ak.import_aslib(folder, cutoff=100).report()


@pytest.mark.parametrize("stated", ["0", "?", "'?'", '"?"', ".inf", "-5", "none", "[1, 2]"])
def test_a_cutoff_that_is_none_leaves_failed_runs_missing(tmp_path: Path, stated: str) -> None:
    description = DESCRIPTION.replace("time: 100", f"time: {stated}")
    imported = ak.import_aslib(scenario(tmp_path / "s", description=description))
    np.testing.assert_array_equal(imported.member.cost, [[10, 50], [20, math.nan]])
    assert imported.member.cutoff is None
    assert "no usable cutoff" in imported.report()
    assert "1 failed run without a cutoff" in imported.report()


def test_an_absurd_cutoff_is_not_used_unless_given(tmp_path: Path) -> None:
    description = DESCRIPTION.replace("time: 100", "time: 1e12")
    folder = scenario(tmp_path / "s", description=description)
    imported = ak.import_aslib(folder)
    assert math.isnan(imported.member.cost[1, 1])
    assert "absurd" in imported.report()
    assert ak.import_aslib(folder, cutoff=1e12).member.cost[1, 1] == 1e13


# ------------------------------------------------------------------------------------------- description


@pytest.mark.parametrize("form", ["false", "'false'", "[false]", "\n  - FALSE", "no"])
def test_maximize_as_scalar_or_list(tmp_path: Path, form: str) -> None:
    description = DESCRIPTION.replace("maximize: false", f"maximize: {form}")
    description = description.replace("performance_type: runtime", "performance_type: [runtime]")
    assert (
        ak.import_aslib(scenario(tmp_path / "s", description=description)).member.cost[0, 0] == 10
    )


def test_a_maximized_quality_is_a_negative_cost_without_penalty(tmp_path: Path) -> None:
    description = DESCRIPTION.replace("maximize: false", "maximize: true").replace(
        "performance_type: runtime", "performance_type: [solution_quality]"
    )
    imported = ak.import_aslib(scenario(tmp_path / "s", description=description))
    np.testing.assert_array_equal(imported.member.cost, [[-10, -50], [-20, -100]])
    np.testing.assert_array_equal(imported.member.utility, [[0, 1], [0, 1]])
    assert "1 run not ok keep what is stored" in imported.report()
    assert imported.member.cutoff is None


def test_an_unknown_direction_is_an_error(tmp_path: Path) -> None:
    description = DESCRIPTION.replace("maximize: false", "maximize: sometimes")
    with pytest.raises(SourceError, match=r"unknown direction, found 'sometimes'"):
        ak.import_aslib(scenario(tmp_path / "s", description=description))


def test_a_list_of_the_wrong_length_is_an_error(tmp_path: Path) -> None:
    description = DESCRIPTION.replace("maximize: false", "maximize: [false, true]")
    with pytest.raises(SourceError, match="wrong length of maximize"):
        ak.import_aslib(scenario(tmp_path / "s", description=description))


def test_an_unknown_measure_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no such measure, found 'runtim', expected perhaps 'runtime'"
    ):
        ak.import_aslib(scenario(tmp_path / "s"), measure="runtim")


def test_broken_yaml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"description\.txt, line 2.*not YAML"):
        ak.import_aslib(scenario(tmp_path / "s", description="a: [1\nb: 2\n"))


def test_yaml_builds_no_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    description = DESCRIPTION + "x: !!python/object/apply:os.system ['touch owned']\n"
    assert ak.import_aslib(scenario(tmp_path / "s", description=description)).member.cutoff == 100
    assert not Path("owned").exists()


def test_yaml_that_multiplies_itself_is_read_at_once(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60)
    )
    assert (
        ak.import_aslib(scenario(tmp_path / "s", description=DESCRIPTION + bomb)).member.cutoff
        == 100
    )


# ------------------------------------------------------------------------------------------------- names


def test_quoted_and_numeric_names_stay_texts(tmp_path: Path) -> None:
    header = HEADER.replace("instance_id STRING", "instance_id NUMERIC").replace(
        "STRING", "{a, '007'}"
    )
    runs = ["007,1,'b, c',10,ok", "007,1,MZN/x,50,ok", '010,1,"b, c",20,ok', "010,1,MZN/x,1,ok"]
    imported = ak.import_aslib(scenario(tmp_path / "s", runs, header=header))
    assert imported.member.instances == ("007", "010")
    assert imported.member.algorithms == ("MZN/x", "b, c")
    report = imported.report()
    assert "2 rows with quoted names" in report
    assert "1 algorithm name with a slash" in report
    assert "2 algorithms with runs but not in metainfo_algorithms: 'MZN/x', 'b, c'" in report
    assert "2 algorithms in metainfo_algorithms without runs: 'a', 'b'" in report


def test_names_in_yaml_that_look_like_numbers(tmp_path: Path) -> None:
    description = DESCRIPTION.replace("  a:", "  1.70:").replace("  b:", "  yes:")
    runs = [run.replace(",a,", ",1.70,").replace(",b,", ",yes,") for run in RUNS]
    imported = ak.import_aslib(scenario(tmp_path / "s", runs, description=description))
    assert imported.member.algorithms == ("1.70", "yes")
    assert "metainfo" not in imported.report()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_and_lower_case_types(tmp_path: Path, newline: str) -> None:
    header = HEADER.lower().replace(" numeric", "\treal").replace("@attribute ", "@attribute\t")
    folder = scenario(tmp_path / "s", header="% a comment\n\n" + header, newline=newline)
    np.testing.assert_array_equal(ak.import_aslib(folder).member.cost, [[10, 50], [20, 1000]])


def test_families_by_mapping(tmp_path: Path) -> None:
    folder = scenario(tmp_path / "s")
    imported = ak.import_aslib(folder, families={"F": ["b"]})
    assert imported.member.families == ("F",)
    assert imported.member.family_of.tolist() == [-1, 0]
    assert "1 algorithm in no family: 'a'" in imported.report()
    with pytest.raises(SourceError, match="no such algorithm, found 'bb', expected perhaps 'b'"):
        ak.import_aslib(folder, families={"F": ["bb"]})
    with pytest.raises(SourceError, match="an algorithm in two families"):
        ak.import_aslib(folder, families={"F": ["b"], "G": ["b"]})


# ------------------------------------------------------------------------------------ missing and repeated


def test_a_missing_run_is_nan_and_counted(tmp_path: Path) -> None:
    imported = ak.import_aslib(scenario(tmp_path / "s", RUNS[:3]))
    np.testing.assert_array_equal(imported.member.cost, [[10, 50], [20, math.nan]])
    assert "missing runs: 1" in imported.report()


def test_a_duplicated_run_is_an_error_that_names_it(tmp_path: Path) -> None:
    runs = [*RUNS, "% comment", "", "i2,1,a,21,ok"]
    with pytest.raises(SourceError) as caught:
        ak.import_aslib(scenario(tmp_path / "s", runs))
    message = str(caught.value)
    assert "algorithm_runs.arff, line 14, column 'instance_id': a run occurs twice" in message
    assert "'i2', '1', 'a', as in run 3" in message


REPEATED = (
    "i1,1,a,10,ok", "i1,10,a,30,ok", "i1,2,a,100,timeout",
    "i1,1,b,5,ok", "i1,2,b,7,ok", "i1,10,b,6,ok",
    "i2,1,a,1,ok", "i2,2,a,2,ok", "i2,1,b,4,ok", "i2,2,b,8,ok",
)  # fmt: skip


@pytest.mark.parametrize(
    ("how", "expected"),
    [("mean", [[1040 / 3, 6], [1.5, 6]]), ("median", [[30, 6], [1.5, 6]])],
)
def test_repetitions_are_averaged_after_the_penalty(
    tmp_path: Path, how: str, expected: list[list[float]]
) -> None:
    imported = ak.import_aslib(scenario(tmp_path / "s", REPEATED), repetition=how)
    np.testing.assert_allclose(imported.member.cost, expected, rtol=1e-15)
    assert "repetitions in order of their numbers: 1, 2, 10" in imported.report()
    assert f"{how} of those measured (2 cells lack some)" in imported.report()
    assert "1 cell mix ok and failed repetitions" in imported.report()


def test_each_repetition_a_row_in_a_cluster(tmp_path: Path) -> None:
    b = ak.import_aslib(scenario(tmp_path / "s", REPEATED), repetition="each").member
    assert b.instances == ("i1#1", "i1#2", "i1#10", "i2#1", "i2#2")
    assert b.clusters == ("i1", "i1", "i1", "i2", "i2")
    np.testing.assert_array_equal(b.cost, [[10, 5], [1000, 7], [30, 6], [1, 4], [2, 8]])


# ---------------------------------------------------------------------------------------------- features

FEATURES = """@RELATION f
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE f1 NUMERIC
@ATTRIBUTE f9 NUMERIC
@DATA
i2,1,3,?
i1,1,1,2
elsewhere,1,7,7
"""


def test_features_are_kept_beside(tmp_path: Path) -> None:
    imported = ak.import_aslib(scenario(tmp_path / "s", features=FEATURES))
    b = imported.member
    np.testing.assert_array_equal(b.features, [[1, 2], [3, math.nan]])
    assert (b.feature_names, b.feature_steps) == (("f1", "f9"), ("cheap", ""))
    assert "features of 1 instance without runs dropped: 'elsewhere'" in imported.report()
    assert "1 feature that no feature step provides" in imported.report()
    assert [source["name"] for source in json.loads(b.provenance)["sources"]] == [
        "description.txt", "algorithm_runs.arff", "feature_values.arff",
    ]  # fmt: skip


def test_features_of_one_repetition_go_with_each_row(tmp_path: Path) -> None:
    features = FEATURES.replace("elsewhere,1,7,7", "i1,10,5,6")
    b = ak.import_aslib(
        scenario(tmp_path / "s", REPEATED, features=features), repetition="each"
    ).member
    nan = math.nan
    np.testing.assert_array_equal(b.features, [[1, 2], [nan, nan], [5, 6], [3, nan], [nan, nan]])
    b = ak.import_aslib(scenario(tmp_path / "s", REPEATED, features=features)).member
    np.testing.assert_array_equal(b.features, [[3, 4], [3, nan]])


def test_features_twice_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"feature_values\.arff, line 10.*features occur twice"):
        ak.import_aslib(scenario(tmp_path / "s", features=FEATURES + "i1,1,1,2\n"))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("  cheap:\n    provides: [f1, f9]", ("cheap", "cheap")),
        ("  cheap:\n    provides: f1, f9", ("cheap", "cheap")),
        ("  cheap: f1,f9", ("cheap", "cheap")),
        ("  cheap:\n    provides: [f1]\n  all:\n    provides: [f1, f9]", ("cheap", "all")),
        ("  ?", ("", "")),
    ],
)
def test_forms_of_feature_steps(tmp_path: Path, steps: str, expected: tuple[str, ...]) -> None:
    description = DESCRIPTION.partition("feature_steps:")[0] + "feature_steps:\n" + steps + "\n"
    folder = scenario(tmp_path / "s", description=description, features=FEATURES)
    assert ak.import_aslib(folder).member.feature_steps == expected


# ----------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    "options",
    [
        {"transform": "log"},
        {"par": 0.5},
        {"cutoff": 0},
        {"cutoff": math.inf},
        {"repetition": "max"},
    ],
)
def test_options_out_of_range(tmp_path: Path, options: dict) -> None:
    with pytest.raises(UsageError):
        ak.import_aslib(scenario(tmp_path / "s"), **options)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such folder"):
        ak.import_aslib(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match=r"description\.txt: no such file"):
        ak.import_aslib(tmp_path / "empty")


# --------------------------------------------------------------------------------------------- real files


def runs_of(path: Path) -> list[dict[str, str]]:
    """The runs of an ARFF file by the csv module alone."""
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().upper() == "@DATA")
    names = [line.split()[1] for line in lines[:start] if line.upper().startswith("@ATTRIBUTE")]
    rows = csv.reader(line for line in lines[start + 1 :] if line.strip())
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_maxsat_equals_the_audit_file_made_elsewhere(shared_data: Path) -> None:
    imported = ak.import_aslib(shared_data / "aslib" / "MAXSAT-PMS-2016")
    b = imported.member
    assert b.utility.shape == (601, 19)
    ranged = ~np.isnan(b.utility).all(axis=1)
    assert ranged.sum() == 556
    assert np.isnan(b.utility[ranged]).sum() == 0
    other = ak.open(shared_data / "fidelity" / "maxsat_pms_2016.h5").benchmarks["MAXSAT-PMS-2016"]
    assert other.algorithms == b.algorithms
    assert {name for name, keep in zip(b.instances, ranged, strict=True) if keep} == set(
        other.instances
    )
    rows = [b.instances.index(name) for name in other.instances]
    np.testing.assert_array_equal(b.utility[rows], other.utility)
    np.testing.assert_array_equal(b.cost[rows], other.cost)
    assert (b.cutoff, b.par_factor, b.unit) == (other.cutoff, other.par_factor, other.unit)
    assert b.features.shape == (601, 37)
    assert set(b.feature_steps) == {"base"}
    assert "45 instances without a range" in imported.report()


def test_csp_imports_with_its_quirks(shared_data: Path) -> None:
    folder = shared_data / "aslib" / "CSP-Minizinc-Obj-2016"
    imported = ak.import_aslib(folder)
    b, report = imported.member, imported.report()
    assert b.utility.shape == (100, 22)
    assert b.metric == "obj"
    for quirk in (
        "measures: obj (solution_quality, lower is better), time (runtime, lower is better)",
        "4 rows with quoted names",
        "5 algorithm names with a slash",
        "378 runs not ok keep what is stored",
        "679 runs marked ok at exactly the cutoff of 1200 s",
    ):
        assert quirk in report
    assert "metainfo" not in report  # the quoted names are the metainfo's once unquoted
    by_instance = defaultdict(list)
    for run in runs_of(folder / "algorithm_runs.arff"):
        cell = b.cost[b.instances.index(run["instance_id"]), b.algorithms.index(run["algorithm"])]
        assert cell == float(run["obj"])
        if run["runstatus"] == "ok":
            by_instance[run["instance_id"]].append((float(run["time"]) < 1200, float(run["obj"])))
    flipped = []
    for instance, runs in by_instance.items():
        worst = max(obj for _, obj in runs)
        early = [obj for done, obj in runs if done]
        late = [obj for done, obj in runs if not done]
        if early and all(obj == worst for obj in early) and any(obj < worst for obj in late):
            flipped.append(instance)
    assert len(flipped) == 10
    assert "the direction of 10 instances looks flipped" in report
    assert repr(sorted(flipped)[0]) in report


def test_csp_by_time_keeps_ok_runs_at_the_cutoff(shared_data: Path) -> None:
    imported = ak.import_aslib(shared_data / "aslib" / "CSP-Minizinc-Obj-2016", measure="time")
    assert (imported.member.cost == 1200).sum() == 679
    assert (imported.member.cost == 12000).sum() == 378
    assert "679 runs marked ok at exactly the cutoff: kept at 1200" in imported.report()


def test_tsp_averages_ten_repetitions_after_the_penalty(shared_data: Path) -> None:
    folder = shared_data / "aslib" / "TSP-LION2015"
    imported = ak.import_aslib(folder)
    b, report = imported.member, imported.report()
    assert b.utility.shape == (3106, 4)
    costs, statuses = defaultdict(list), defaultdict(set)
    for run in runs_of(folder / "algorithm_runs.arff"):
        cell = run["instance_id"], run["algorithm"]
        statuses[cell].add(run["runstatus"])
        costs[cell].append(float(run["runtime"]) if run["runstatus"] == "ok" else 36000.0)
    expected = [[sum(costs[i, a]) / 10 for a in b.algorithms] for i in b.instances]
    # sums of ten positive numbers in another order: at most nine roundings each
    np.testing.assert_allclose(b.cost, expected, rtol=18 * np.finfo(float).eps)
    mixed = sum(len(seen) > 1 for seen in statuses.values())
    assert f"{mixed} cells mix ok and failed repetitions" in report
    assert "repetitions in order of their numbers: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10" in report
    assert "10 failed runs above the cutoff (3600.24 to 3638.24): replaced" in report
    assert "no feature_values.arff" in report


def test_tsp_with_each_repetition_a_row(shared_data: Path) -> None:
    b = ak.import_aslib(shared_data / "aslib" / "TSP-LION2015", repetition="each").member
    assert b.cost.shape == (31060, 4)
    assert len(set(b.clusters)) == 3106
