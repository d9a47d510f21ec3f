"""Write, read, export to CSV, import: the same arrays to the bit and the same names, whatever they hold."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import auditkit as ak
from auditkit.errors import UsageError
from auditkit.importers.export import export
from auditkit.importers.kinds import run_import
from auditkit.importers.mapping import read_mapping
from auditkit.schema import Member, array_specs

# unicode, quotes, commas, slashes, spaces and line ends anywhere; leading zeros; words that mean "missing" elsewhere
name = st.one_of(
    st.text(
        st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=6
    ),
    st.text('",;\t\n\r/\\ #\'"', min_size=1, max_size=4),
    st.sampled_from(
        ["007", "7", "1e3", "nan", "NA", "None", "?", "true", "a.b", "*", " x ", "é", "\ufeff"]
    ),
)
floats = st.floats(allow_nan=False, allow_infinity=False)
number = st.one_of(
    st.just(math.nan),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-0.0, 5e-324, 0.1 + 0.2]),
)
count = st.integers(0, 2**63 - 1)


@st.composite
def some(
    draw: Callable[..., Any], element: st.SearchStrategy[Any], *shape: int, dtype: type = float
) -> np.ndarray:
    size = math.prod(shape)
    return np.array(draw(st.lists(element, min_size=size, max_size=size)), dtype=dtype).reshape(
        shape
    )


def texts(
    n: int, element: st.SearchStrategy[str] = name, unique: bool = False
) -> st.SearchStrategy[list[str]]:
    return st.lists(element, min_size=n, max_size=n, unique=unique)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


@st.composite
def benchmarks(draw: Callable[..., Any]) -> ak.Benchmark:
    n, a, k = (draw(st.integers(1, 4)) for _ in range(3))
    cost = number | st.sampled_from([math.inf, -math.inf])
    return ak.Benchmark(
        utility=draw(some(number, n, a)), instances=draw(texts(n, unique=True)), algorithms=draw(texts(a, unique=True)),
        families=draw(texts(k, name | st.just(""), unique=True)),
        family_of=draw(some(st.integers(-1, k - 1), a, dtype=int)),
        cost=draw(maybe(some(cost, n, a))), penalty=draw(maybe(some(number, n))), clusters=draw(maybe(texts(n))),
    )  # fmt: skip


@st.composite
def scoreboards(draw: Callable[..., Any]) -> ak.Scoreboard:
    n, s = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    run = draw(maybe(texts(n)))
    return ak.Scoreboard(
        score=draw(some(number, n, s)), higher_is_better=draw(some(st.booleans(), n, dtype=bool)),
        datasets=draw(texts(n, unique=True)), systems=draw(texts(s, unique=True)), run=run,
        seconds=draw(maybe(some(st.floats(0, 1e300) | st.just(math.nan), n, s))),
        budget_seconds=draw(maybe(some(st.floats(0, 1e300), n))), clusters=draw(maybe(texts(n, name | st.just("")))),
        size=draw(maybe(some(count, n, dtype=int))), test_size=draw(maybe(some(count, n, dtype=int))),
        group=draw(maybe(texts(n, name | st.just("")))), candidates=draw(maybe(some(count, n, s, dtype=int))),
        claimed_winner=draw(maybe(texts(n, name | st.just("")))),
    )  # fmt: skip


@st.composite
def searches(draw: Callable[..., Any]) -> ak.Search:
    n, c = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    return ak.Search(
        validation_score=draw(some(number, n, c)), test_score=draw(some(number, n, c)),
        higher_is_better=draw(some(st.booleans(), n, dtype=bool)), datasets=draw(texts(n, unique=True)),
        reported_score=draw(maybe(some(number, n))), refit_score=draw(maybe(some(number, n))),
        test_size=draw(maybe(some(count, n, dtype=int))), group=draw(maybe(texts(n, name | st.just("")))),
    )  # fmt: skip


@st.composite
def samples(draw: Callable[..., Any]) -> ak.Samples:
    n, c = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    cost = draw(some(number, n, c))
    cost = np.take_along_axis(
        cost, np.argsort(np.isnan(cost), axis=1, kind="stable"), axis=1
    )  # NaN to the right
    return ak.Samples(
        cost=cost, instances=draw(texts(n, unique=True)), reference=draw(maybe(some(number, n))),
        label=draw(maybe(texts(n, name | st.just("")))),
    )  # fmt: skip


@st.composite
def losses(draw: Callable[..., Any]) -> ak.Losses:
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    split = st.sampled_from(["estimation", "calibration", "test", "fit"])
    model_a = draw(maybe(name))
    model_b = draw(
        maybe(name.filter(lambda text: text != model_a))
    )  # an import refuses one for both
    return ak.Losses(
        loss_a=draw(some(number, n)), loss_b=draw(some(number, n)), covariates=draw(some(number, n, d)),
        covariate_names=draw(texts(d, unique=True)), split=draw(maybe(texts(n, split))),
        model_a=model_a, model_b=model_b, loss=draw(maybe(name)),
    )  # fmt: skip


def assert_same(one: Member, other: Member) -> None:
    for field in array_specs(type(one)):
        a, b = getattr(one, field), getattr(other, field)
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b, err_msg=field)
            if a.dtype.kind == "f":
                np.testing.assert_array_equal(
                    np.signbit(a[a == 0]), np.signbit(b[b == 0]), err_msg=field
                )
        else:
            assert a == b, field


GROUPS = {
    "benchmarks": benchmarks(), "scoreboards": scoreboards(), "searches": searches(), "samples": samples(),
    "losses": losses(),
}  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_the_round_trip_is_exact(tmp_path: Path, group: str, data: st.DataObject) -> None:
    member = data.draw(GROUPS[group])
    ak.write(tmp_path / "one.h5", ak.AuditData(**{group: {"m": member}}))
    for file in (tmp_path / "m.csv", tmp_path / "m.toml"):
        file.unlink(missing_ok=True)  # of the example before
    table, mapping, _ = export(ak.open(tmp_path / "one.h5"), tmp_path / "m.csv")
    kind = {"benchmarks": "benchmark", "scoreboards": "scoreboard", "searches": "search"}.get(
        group, group
    )
    imported = run_import(kind, [table], read_mapping(mapping, kind))
    assert (imported.name, imported.warnings) == ("m", ()) or group == "benchmarks"
    imported.save(tmp_path / "two.h5")
    assert_same(member, next(ak.open(tmp_path / "two.h5").members())[2])


def test_an_empty_name_cannot_be_told_from_a_missing_one(tmp_path: Path) -> None:
    member = ak.Samples(cost=np.ones((1, 1)), instances=[""])
    with pytest.raises(UsageError, match="an empty name among the instances"):
        export(ak.AuditData(samples={"m": member}), tmp_path / "m.csv")
    assert not (tmp_path / "m.csv").exists()


def test_what_a_table_has_no_place_for_is_said(tmp_path: Path) -> None:
    demo = ak.demo_data()
    where = next(f"benchmarks/{name}" for name in demo.benchmarks)
    benchmark = next(iter(demo.benchmarks.values()))
    _, _, left_out = export(demo, tmp_path / "m.csv", member=where)
    assert left_out == (f"{len(benchmark.pipelines)} pipelines",)


def test_which_member_and_which_files(tmp_path: Path) -> None:
    demo = ak.demo_data()
    with pytest.raises(UsageError, match=r"which member\?.*benchmarks/.* or "):
        export(demo, tmp_path / "m.csv")
    with pytest.raises(UsageError, match="no such member, found 'samples/x'"):
        export(demo, tmp_path / "m.csv", member="samples/x")
    member = next(f"losses/{name}" for name in demo.losses)
    with pytest.raises(UsageError, match="would be one file"):
        export(demo, tmp_path / "m.toml", member=member)


def test_the_real_scoreboard_survives(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "orcetra" / "multi_framework_20260330_2124.jsonl"
    one = ak.import_scoreboard(
        path, dataset="dataset_id", cluster="name", score="scores.*", seconds="times.*", size="n_samples",
        direction="task_type=classification:max,regression:min",
    )  # fmt: skip
    table, mapping, _ = export(one.data, tmp_path / "m.csv")
    two = ak.import_scoreboard(table, **read_mapping(mapping, "scoreboard"))
    assert_same(one.member, two.member)
    with table.open(newline="", encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 388
