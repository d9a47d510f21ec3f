"""Samples from arrays and tables; nothing pickled is ever loaded."""

from __future__ import annotations

import io
import math
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.errors import SourceError, UsageError
from tests.importers.scenarios import table

COST = np.array([[3.0, 1.0, 2.0], [5.0, 4.0, math.nan]])


def test_named_arrays_are_found(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    np.savez(
        path,
        costs=COST.astype(np.float32),
        references=[1, 2],
        label=["u", "v"],
        instance=[7, 8],
        extra=[1],
    )
    imported = ak.import_samples(path)
    s = imported.member
    np.testing.assert_array_equal(s.cost, COST)
    np.testing.assert_array_equal(s.reference, [1, 2])
    assert (s.label, s.instances) == (("u", "v"), ("7", "8"))
    assert "arrays not used: 'extra'" in imported.report()
    assert "2 instances x 3 samples; cost, lower is better" in imported.report()
    assert "missing samples: 1 of 6" in imported.report()


def test_byte_texts(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", cost=COST, label=np.array(["é".encode(), b"v"]))
    assert ak.import_samples(tmp_path / "s.npz").member.label == ("é", "v")
    np.savez(tmp_path / "s.npz", cost=COST, label=np.array([b"\xff", b"v"]))
    with pytest.raises(SourceError, match=r"array 'label': not UTF-8"):
        ak.import_samples(tmp_path / "s.npz")


def test_costs_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", COST)
    s = ak.import_samples(tmp_path / "s.npy").member
    np.testing.assert_array_equal(s.cost, COST)
    assert s.instances == ("0", "1")


def test_long_and_wide_tables(tmp_path: Path) -> None:
    wide = table(
        tmp_path / "w.csv", "instance,label,reference,c1,c2,c3", "007,u,1,3,1,2", "x,v,2,5,4,"
    )
    long = table(
        tmp_path / "l.csv",
        "instance,label,reference,cost",
        "007,u,1,3",
        "x,v,2,5",
        "007,u,1,1",
        "x,v,2,4",
        "007,u,1,2",
    )
    for path in (wide, long):
        s = ak.import_samples(path).member
        np.testing.assert_array_equal(s.cost, COST)
        np.testing.assert_array_equal(s.reference, [1, 2])
        assert (s.instances, s.label) == (("007", "x"), ("u", "v"))
    s = ak.import_samples(wide, cost="c*", label="", reference="").member
    assert s.reference is None
    assert s.label is None


def test_missing_and_infinite_samples_close_up(tmp_path: Path) -> None:
    np.save(
        tmp_path / "s.npy", np.array([[math.nan, 1.0, math.inf, 2.0], [1.0, 2.0, 3.0, math.nan]])
    )
    imported = ak.import_samples(tmp_path / "s.npy")
    nan = math.nan
    np.testing.assert_array_equal(imported.member.cost, [[1, 2, nan, nan], [1, 2, 3, nan]])
    assert "1 infinite sample taken as missing" in imported.report()
    assert (
        "2 missing samples before measured ones in 1 instance: rows closed up" in imported.report()
    )


def test_closing_up_keeps_the_order(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    cost = np.where(random.random((5, 200)) < 0.3, math.nan, random.random((5, 200)))
    np.save(tmp_path / "s.npy", cost)
    closed = ak.import_samples(tmp_path / "s.npy").member.cost
    for before, after in zip(cost, closed, strict=True):
        measured = [x for x in before if not math.isnan(x)]
        assert after[: len(measured)].tolist() == measured
        assert np.isnan(after[len(measured) :]).all()


# ----------------------------------------------------------------------------------------------- refused


class Owned:
    def __reduce__(self) -> tuple:
        return Path.touch, (Path("owned"),)


def test_nothing_pickled_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("o.npy", np.array([[Owned()]]), allow_pickle=True)
    np.savez("o.npz", cost=np.array([[Owned()]]))
    for name in ("o.npy", "o.npz"):
        with pytest.raises(SourceError, match="type that may hold objects"):
            ak.import_samples(name)
    Path("p.npy").write_bytes(pickle.dumps(Owned()))
    with pytest.raises(SourceError, match="not a NumPy array"):
        ak.import_samples("p.npy")
    assert not Path("owned").exists()


def test_an_array_that_claims_more_than_it_holds(tmp_path: Path) -> None:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**20)}
    )
    path = tmp_path / "s.npy"
    path.write_bytes(file.getvalue())
    with pytest.raises(SourceError, match="wrong size, found 0 bytes"):
        ak.import_samples(path)


def test_an_archive_that_expands_without_end(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cost.npy", bytes(100 * 2**20))
    with pytest.raises(SourceError, match="expands without end"):
        ak.import_samples(path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": COST}, "no array of costs, found 'x'"),
        ({"cost": COST[0]}, "array 'cost': wrong number of dimensions"),
        ({"cost": np.array([["a"]])}, "array 'cost': text in a number array"),
        ({"cost": COST, "reference": np.ones(3)}, "costs lie the other way round"),
        ({"cost": COST, "reference": np.ones(4)}, "reference.*wrong length of dimension"),
        ({"cost": COST, "label": np.ones((2, 2))}, "array 'label': wrong number of dimensions"),
        ({"cost": COST, "instances": np.array(["a", "a"])}, "instances.*duplicate name"),
        ({"cost": COST + 0j}, "type that may hold objects"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path: Path, arrays: dict, message: str) -> None:
    np.savez(tmp_path / "s.npz", **arrays)
    with pytest.raises(SourceError, match=rf"s\.npz.*{message}"):
        ak.import_samples(tmp_path / "s.npz")


def test_other_malformed_sources(tmp_path: Path) -> None:
    (tmp_path / "s.npz").write_bytes(b"PK nonsense")
    with pytest.raises(SourceError, match="not a readable zip file"):
        ak.import_samples(tmp_path / "s.npz")
    with zipfile.ZipFile(tmp_path / "e.npz", "w"):
        pass
    with pytest.raises(SourceError, match="empty archive"):
        ak.import_samples(tmp_path / "e.npz")
    np.savez(tmp_path / "n.npz", cost=COST)
    with pytest.raises(SourceError, match="no array 'x', found 'cost'"):
        ak.import_samples(tmp_path / "n.npz", cost="x")
    path = table(tmp_path / "t.csv", "instance,c1", "a,1", "a,2")
    with pytest.raises(SourceError, match="line 3, column 'instance': two rows for an instance"):
        ak.import_samples(path)
    with pytest.raises(SourceError, match="no column for --instance"):
        ak.import_samples(table(tmp_path / "u.csv", "cost,label", "1,a"))
    with pytest.raises(UsageError, match="several sources"):
        ak.import_samples([path, path])


def test_the_real_samples_in_one_call(shared_data: Path) -> None:
    path = shared_data / "samples" / "tsp100_softmax_sampler.npz"
    s = ak.import_samples(path).member
    with np.load(path) as arrays:
        np.testing.assert_array_equal(s.cost, arrays["cost"].astype(float))
        np.testing.assert_array_equal(s.reference, arrays["reference"])
        assert s.label == tuple(arrays["label"].tolist())


def test_a_pattern_without_columns_is_told_before_repeated_rows(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "instance,cost", "x,1", "x,2")
    with pytest.raises(SourceError, match=r"no column matches 'zz\*', which --cost names"):
        ak.import_samples(path, cost="zz*")
