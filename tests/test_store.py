"""The audit file on disk: what was written is read back, and what a stranger could plant is refused."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import auditkit as ak
from auditkit import store
from auditkit.errors import AuditkitError, SchemaError, StoreError
from auditkit.schema import Member, array_specs, attribute_specs


def same(one: Member, other: Member) -> None:
    assert type(one) is type(other)
    for name in (*array_specs(type(one)), *attribute_specs(type(one))):
        a, b = getattr(one, name), getattr(other, name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b, name
    for name, pipeline in getattr(one, "pipelines", {}).items():
        same(pipeline, other.pipelines[name])


def test_all_kinds_survive_a_round_trip(tmp_path: Path) -> None:
    data = ak.demo_data()
    ak.write(tmp_path / "a.h5", data)
    found = ak.open(tmp_path / "a.h5")
    assert [(k, n) for k, n, _ in found.members()] == [(k, n) for k, n, _ in data.members()]
    for (_, _, one), (_, _, other) in zip(data.members(), found.members(), strict=True):
        same(one, other)


names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00/"), min_size=1, max_size=12
)
names = names.filter(lambda name: name not in {".", ".."})
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=names,
    cost=hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 3)), elements=st.floats(-1e300, 1e300)),
    ids=st.lists(texts, min_size=4, max_size=4, unique=True),
    label=texts,
)  # fmt: skip
def test_any_numbers_and_names_survive_a_round_trip(
    tmp_path: Path, name: str, cost: np.ndarray, ids: list[str], label: str
) -> None:
    member = ak.Samples(cost=cost, instances=tuple(ids[: len(cost)]), label=(label,) * len(cost))
    ak.write(tmp_path / "a.h5", ak.AuditData(samples={name: member}))
    same(ak.open(tmp_path / "a.h5").samples[name], member)


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.h5", "b.h5"):
        ak.write(tmp_path / name, ak.demo_data())
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


def test_the_hash_is_that_of_the_file(tmp_path: Path) -> None:
    import hashlib

    ak.write(tmp_path / "a.h5", ak.demo_data())
    assert (
        ak.open(tmp_path / "a.h5").sha256
        == hashlib.sha256((tmp_path / "a.h5").read_bytes()).hexdigest()
    )


def test_a_real_file_is_read_and_written_again(shared_data: Path, tmp_path: Path) -> None:
    data = ak.open(shared_data / "fidelity" / "maxsat_pms_2016.h5")
    ak.write(tmp_path / "a.h5", data)
    for (_, _, one), (_, _, other) in zip(
        data.members(), ak.open(tmp_path / "a.h5").members(), strict=True
    ):
        same(one, other)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.h5"
    ak.write(target, ak.demo_data())
    before = target.read_bytes()

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(store, "_write_member", full)
    with pytest.raises(StoreError, match="No space left"):
        ak.write(target, ak.demo_data())
    assert target.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.h5"]


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "_write_member", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ak.write(tmp_path / "a.h5", ak.demo_data())
    assert os.listdir(tmp_path) == []


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    ak.write(tmp_path / "a.h5", ak.demo_data())
    assert stat.S_IMODE((tmp_path / "a.h5").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "plain").stat().st_mode
    )


@pytest.mark.parametrize("target", ["no/such/folder/a.h5", "."])
def test_a_bad_target_is_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(StoreError, match="cannot write"):
        ak.write(tmp_path / target, ak.demo_data())


# ------------------------------------------------------------------------------------------------ hostile files


@pytest.fixture
def planted(tmp_path: Path) -> Callable[[Callable[[h5py.File], None]], str]:
    """The message with which a demo file is refused once a change was planted in it."""

    def refused(change: Callable[[h5py.File], None]) -> str:
        path = tmp_path / "a.h5"
        ak.write(path, ak.demo_data())
        with h5py.File(path, "r+") as file:
            change(file)
        with pytest.raises(AuditkitError) as error:
            ak.open(path)
        message = str(error.value)
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
        return message.removeprefix(f"{path}: ")

    return refused


def replace_array(place: str, **options: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[place]
        file.create_dataset(place, **options)

    return change


COST = "samples/two_workloads/cost"


def external_link(file: h5py.File) -> None:
    del file[COST]
    file[COST] = h5py.ExternalLink("/etc/passwd.h5", "/x")


def soft_link(file: h5py.File) -> None:
    del file[COST]
    file[COST] = h5py.SoftLink("/losses/two_halves/covariates")


def dangling_link(file: h5py.File) -> None:
    del file[COST]
    file[COST] = h5py.SoftLink("/nowhere")


def linked_group(file: h5py.File) -> None:
    file["samples/again"] = h5py.SoftLink("/samples/two_workloads")


def virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((24, 400), "f8")
    layout[:] = h5py.VirtualSource("/tmp/other.h5", "x", (24, 400))
    del file[COST]
    file.create_virtual_dataset(COST, layout)


def reference_type(file: h5py.File) -> None:
    replace_array(COST, shape=(24, 400), dtype=h5py.ref_dtype)(file)


def compound_type(file: h5py.File) -> None:
    replace_array(COST, shape=(24, 400), dtype=[("x", "f8")])(file)


def ragged_type(file: h5py.File) -> None:
    replace_array(COST, shape=(24, 400), dtype=h5py.vlen_dtype(np.float64))(file)


def long_attribute(file: h5py.File) -> None:
    file["losses/two_halves"].attrs["model_a"] = np.ones(5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (external_link, f"/{COST}: link that leaves its group, found ExternalLink"),
        (soft_link, f"/{COST}: link that leaves its group, found SoftLink"),
        (dangling_link, f"/{COST}: link that leaves its group, found SoftLink"),
        (linked_group, "/samples/again: link that leaves its group, found SoftLink"),
        (virtual, f"/{COST}: virtual dataset"),
        (replace_array(COST, shape=(24, 400), dtype="f8", external=[("raw", 0, 76800)]), f"/{COST}: external storage"),
        (reference_type, f"/{COST}: type that may hold objects"),
        (compound_type, f"/{COST}: type that may hold objects"),
        (ragged_type, f"/{COST}: type that may hold objects"),
        (replace_array(COST, shape=(10**9, 10**4), dtype="f8", chunks=(1000, 10)), f"/{COST}: absurd shape"),
        (replace_array(COST, shape=(10**5, 10**4), dtype="f8", chunks=(1000, 10), compression="gzip"),
         f"/{COST}: absurd shape"),
        (replace_array("samples/two_workloads/instances", shape=(10**9,), dtype=h5py.string_dtype(), chunks=(1000,)),
         "/samples/two_workloads/instances: absurd shape"),
        (replace_array(COST, data=1.5), f"/{COST}: wrong number of dimensions"),
        (replace_array(COST, data=h5py.Empty("f8")), f"/{COST}: wrong number of dimensions"),
        (lambda f: f.create_group("extras"), "/extras: unknown kind of group, expected benchmarks or scoreboards"),
        (lambda f: f["samples"].create_dataset("x", data=1.0), "/samples/x: wrong kind of object, found Dataset"),
        (lambda f: f[COST.rsplit("/", 1)[0]].create_dataset("costs", data=1.0),
         "/samples/two_workloads/costs: unknown array, expected cost or instances or label or reference"),
        (lambda f: f["benchmarks/toy"].create_group("validation"), "/benchmarks/toy/validation: unknown array"),
        (lambda f: f["benchmarks/toy/pipelines/R1"].create_dataset("validation/utility", data=1.0),
         "/benchmarks/toy/pipelines/R1/validation/utility: unknown array"),
        (lambda f: f.__delitem__(COST), "/samples/two_workloads/cost: missing array"),
        (lambda f: f.__delitem__("benchmarks/toy/pipelines/R1/family_choice"),
         "/benchmarks/toy/pipelines/R1: a decomposed pipeline holds neither choices nor scores"),
        (long_attribute, "/losses/two_halves, attribute model_a: wrong type of attribute"),
        (lambda f: f.attrs.__setitem__("format_version", 2), "format_version: unsupported format version, found 2, "
                                                             "expected 1"),
        (lambda f: f.attrs.__setitem__("format_version", "1"), "format_version: unsupported format version, found '1'"),
        (lambda f: f.attrs.__delitem__("format_version"), "format_version: unsupported format version, found none"),
        (lambda f: f.attrs.__setitem__("format", "other"), "not an audit file"),
        (lambda f: f.attrs.__setitem__("format", np.ones(3)), "format: wrong type of attribute"),
    ],
    ids=lambda value: None if callable(value) else value[:60],
)  # fmt: skip
def test_what_a_stranger_could_plant_is_refused(
    planted: Callable[..., str], change: Callable[[h5py.File], None], message: str
) -> None:
    assert planted(change).startswith(message)


def test_the_budget_of_bytes_is_kept(tmp_path: Path) -> None:
    ak.write(tmp_path / "a.h5", ak.demo_data())
    with pytest.raises(StoreError, match="file too large"):
        ak.open(tmp_path / "a.h5", max_bytes=1000)


def test_many_texts_may_not_share_endless_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ak.write(tmp_path / "a.h5", ak.AuditData(samples={"s": long_names()}))
    assert len(ak.open(tmp_path / "a.h5").samples["s"].instances[0]) > 1000
    with pytest.raises(StoreError, match="instances: file too large"):
        ak.open(tmp_path / "a.h5", max_bytes=20_000)


def long_names() -> ak.Samples:
    return ak.Samples(
        cost=np.ones((30, 1)), instances=tuple(f"{i:02}" + "x" * 1000 for i in range(30))
    )


@pytest.mark.parametrize("size", [0, 3, 512, 2000, 20_000])
def test_a_truncated_file_is_refused(tmp_path: Path, size: int) -> None:
    ak.write(tmp_path / "a.h5", ak.demo_data())
    whole = (tmp_path / "a.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(whole[:size])
    what = {0: "readable HDF5 file", 3: "readable HDF5 file"}.get(
        size, r"complete HDF5 file \(truncated file\), expected an audit file$"
    )
    with pytest.raises(StoreError, match=f"not a {what}"):
        ak.open(tmp_path / "cut.h5")


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bytes_are_read_as_other_numbers_or_refused(tmp_path: Path, seed: int) -> None:
    ak.write(
        tmp_path / "a.h5",
        ak.AuditData(samples={"s": ak.Samples(cost=np.ones((9, 9)), instances=tuple("abcdefghi"))}),
    )
    whole = bytearray((tmp_path / "a.h5").read_bytes())
    random = np.random.default_rng(seed)
    for at in random.integers(8, len(whole), 5):
        whole[at] ^= int(random.integers(1, 256))
    (tmp_path / "b.h5").write_bytes(whole)
    with contextlib.suppress(StoreError, SchemaError):  # anything else fails the test
        ak.open(tmp_path / "b.h5").samples["s"].cost.sum()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such file"):
        ak.open(tmp_path / "none.h5")
    with pytest.raises(StoreError, match="a folder, expected an audit file"):
        ak.open(tmp_path)
    (tmp_path / "text.h5").write_text("hello")
    with pytest.raises(StoreError, match="not a readable HDF5 file"):
        ak.open(tmp_path / "text.h5")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="not a regular file"):
        ak.open(tmp_path / "pipe")


def test_texts_of_fixed_length_are_read_too(tmp_path: Path) -> None:
    ak.write(tmp_path / "a.h5", ak.demo_data())
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        replace_array("samples/two_workloads/label", data=np.array([b"l\xc3\xa4ng"] * 24, "S8"))(
            file
        )
    assert ak.open(tmp_path / "a.h5").samples["two_workloads"].label == ("läng",) * 24


def test_a_group_that_holds_itself_ends(planted: Callable[..., str]) -> None:
    def loop(file: h5py.File) -> None:
        file["benchmarks/toy/pipelines/R1/pipelines"] = file["benchmarks/toy/pipelines"]

    assert "R1/pipelines: unknown array" in planted(loop)


def test_nothing_of_a_member_is_forgotten_by_the_writer(tmp_path: Path) -> None:
    toy = ak.demo_data().benchmarks["toy"]
    full = dataclasses.replace(
        toy,
        cost=np.full(toy.utility.shape, np.inf),
        penalty=np.zeros(100),
        clusters=tuple("c" * 100),
        features=np.ones((100, 2)),
        feature_names=("f", "g"),
        feature_steps=("s", "s"),
        unit="s",
        cutoff=10.0,
        par_factor=10.0,
        provenance="{}",
    )
    for f in dataclasses.fields(full):
        assert getattr(full, f.name) is not None, f.name
    ak.write(tmp_path / "a.h5", ak.AuditData(benchmarks={"toy": full}))
    same(ak.open(tmp_path / "a.h5").benchmarks["toy"], full)


def test_a_link_keeps_pointing_at_the_file_it_names(tmp_path: Path) -> None:
    (tmp_path / "real.h5").write_text("old")
    (tmp_path / "link.h5").symlink_to("real.h5")
    ak.write(tmp_path / "link.h5", ak.demo_data())
    assert (tmp_path / "link.h5").is_symlink()
    assert ak.open(tmp_path / "real.h5").samples


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="found no regular file"):
        ak.write(tmp_path / "pipe", ak.demo_data())
    assert (tmp_path / "pipe").is_fifo()
