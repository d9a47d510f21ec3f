"""Sources with bytes changed at random: an import works or is refused with a reason; it never breaks."""

from __future__ import annotations

import contextlib
import io
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import auditkit as ak
from auditkit.errors import AuditkitError
from tests.importers.scenarios import DESCRIPTION, HEADER, RUNS, scenario

FEATURES = (
    b"@RELATION f\n@ATTRIBUTE instance_id STRING\n@ATTRIBUTE f1 NUMERIC\n@DATA\ni1,1\n'i2',?\n"
)


def npz() -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, cost=np.arange(6.0).reshape(2, 3), reference=[1, 2], label=["a", "b"])
    return file.getvalue()


def parquet() -> bytes:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.table({"loss_a": [1.0, 2], "loss_b": [3.0, None], "x": ["1", "2"]}), file)
    return file.getvalue()


def within_scenario(part: str) -> Callable[[Path, bytes], object]:
    def run(folder: Path, content: bytes) -> object:
        made = scenario(folder / "s", features=FEATURES.decode())
        (made / part).write_bytes(content)
        return ak.import_aslib(made)

    return run


def from_file(
    name: str, importer: Callable[..., object], **options: object
) -> Callable[[Path, bytes], object]:
    def run(folder: Path, content: bytes) -> object:
        (folder / name).write_bytes(content)
        return importer(folder / name, **options)

    return run


CASES: dict[str, tuple[Callable[[Path, bytes], object], Callable[[], bytes]]] = {
    "description": (within_scenario("description.txt"), DESCRIPTION.encode),
    "runs": (within_scenario("algorithm_runs.arff"), (HEADER + "\n".join(RUNS)).encode),
    "features": (within_scenario("feature_values.arff"), lambda: FEATURES),
    "csv": (
        from_file("t.csv", ak.import_benchmark, higher_is_better=False),
        lambda: b'instance,algorithm,value,family\n"x",a,1,F\nx,b,2.5,G\ny,a,,F\n',
    ),
    "jsonl": (
        from_file("t.jsonl", ak.import_scoreboard, direction="k=c:max,r:min"),
        lambda: (
            b'{"dataset": 1, "k": "c", "scores": {"a": 0.5, "b": null}, "times": {"a": 1}}\n'
            b'{"dataset": "2", "k": "r", "scores": {"a": 3, "b": 1e3}, "status": "ok"}\n'
        ),
    ),
    "npz": (from_file("t.npz", ak.import_samples), npz),
    "parquet": (from_file("t.parquet", ak.import_losses), parquet),
}

put = st.binary(max_size=3) | st.sampled_from(
    [b",", b'"', b"'", b"\n", b"{", b"nan", b"-", b"1e999"]
)
edits = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 3), put), min_size=1, max_size=4)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(edits=edits)
def test_changed_bytes_never_break_an_import(
    tmp_path: Path, case: str, edits: list[tuple[int, int, bytes]]
) -> None:
    run, make = CASES[case]
    content = make()
    for at, cut, put in edits:
        at %= len(content) + 1
        content = content[:at] + put + content[at + cut :]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with contextlib.suppress(AuditkitError):
            run(tmp_path, content)


@pytest.mark.parametrize("case", CASES)
def test_the_unchanged_source_is_imported(tmp_path: Path, case: str) -> None:
    run, make = CASES[case]
    assert isinstance(run(tmp_path, make()), ak.Imported)


def test_a_zip_of_many_small_members_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for k in range(20_000):
            archive.writestr(f"{k}.npy", b"")
    with pytest.raises(AuditkitError):
        ak.import_samples(path)
