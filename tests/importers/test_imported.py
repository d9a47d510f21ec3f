"""What an import hands back: a member with its provenance, a report on one line each, and a file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import auditkit as ak
from auditkit.errors import SourceError, UsageError
from auditkit.importers.imported import Notes, counted, listed, provenance
from auditkit.importers.kinds import KINDS, options_of, run_import
from auditkit.importers.sources import Source
from auditkit.version import __version__
from tests.importers.scenarios import table

ROWS = ("loss_a,loss_b,x", "1,2,3")


def test_provenance_names_hashes_options_and_version(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *ROWS)
    record = json.loads(ak.import_losses(path, loss="squared").member.provenance)
    assert record == {
        "auditkit_version": __version__,
        "import": "losses",
        "sources": [{"name": "t.csv", "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}],
        "options": {"loss_a": "loss_a", "loss_b": "loss_b", "loss": "squared"},
    }


def test_provenance_stays_below_the_limit_of_an_attribute() -> None:
    many = [Source(Path(f"{'x' * 100}{k}.csv"), f"{k:064x}", b"") for k in range(1000)]
    record = json.loads(provenance("scoreboard", many, {"dataset": "d"}))
    assert record["sources"]["count"] == 1000
    text = provenance("aslib", many[:1], {"families": {"F": ["é" * 10] * 10_000}, "par": 10.0})
    assert len(text.encode()) < 60_000
    assert json.loads(text)["left_out"] == ["families"]
    assert json.loads(text)["options"] == {"par": 10.0}


def test_a_report_is_one_line_a_fact_whatever_the_names(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", 'loss_a,loss_b,"a\nb\x1b[31m"', "1,2,3")
    report = ak.import_losses(path).report()
    assert "\x1b" not in report
    assert all(line.startswith("  ") for line in report.splitlines()[1:])


@pytest.mark.parametrize(
    ("empty", "size", "printed"),
    [(0, 4, "0 of 4"), (1, 4, "1 of 4 (25 %)"), (1, 3, "1 of 3 (33.3 %)"),
     (2, 2, "2 of 2 (100 %)"), (1999, 2000, "1,999 of 2,000 (99.9 %)"), (9999, 10_000, "9,999 of 10,000 (99.9 %)")],
)  # fmt: skip
def test_the_share_of_missing_values_in_plain_digits(empty: int, size: int, printed: str) -> None:
    notes = Notes()
    notes.missing(np.repeat([np.nan, 1.0], [empty, size - empty]), "scores")
    assert notes.understood == [f"missing scores: {printed}"]


def test_the_name_of_a_member(tmp_path: Path) -> None:
    path = table(tmp_path / "v1.2.csv", *ROWS)
    assert ak.import_losses(path).name == "v1.2"
    assert ak.import_losses(path, name="other").name == "other"
    with pytest.raises(SourceError, match="bad name of a member"):
        ak.import_losses(path, name="a/b")


def test_saving_beside_others_and_over_old_ones(tmp_path: Path) -> None:
    out = tmp_path / "o.h5"
    imported = ak.import_losses(table(tmp_path / "t.csv", *ROWS))
    imported.save(out, append=True)
    ak.import_losses(table(tmp_path / "u.csv", *ROWS)).save(out, append=True)
    assert set(ak.open(out).losses) == {"t", "u"}
    with pytest.raises(UsageError, match="a member of this name exists, found losses/t"):
        imported.save(out, append=True)
    imported.save(out)
    assert set(ak.open(out).losses) == {"t"}


def test_a_source_given_last_is_not_overwritten(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *ROWS)
    with pytest.raises(UsageError, match=r"t\.csv: exists and is no audit file"):
        ak.import_losses(path).save(path)
    assert path.read_text().startswith("loss_a")


def test_kinds_and_their_options(tmp_path: Path) -> None:
    assert set(KINDS) == {"aslib", "benchmark", "scoreboard", "search", "samples", "losses"}
    assert options_of("samples") == ("cost", "reference", "label", "instance", "separator")
    with pytest.raises(UsageError, match="unknown kind of import, found 'excel'"):
        run_import("excel", [], {})
    with pytest.raises(UsageError, match="unknown option, found 'cutoff'"):
        run_import("losses", ["t.csv"], {"cutoff": 1})
    for kind, options in (
        ("aslib", {"par": "ten"}),
        ("aslib", {"par": True}),
        ("aslib", {"families": {"F": "a"}}),
        ("aslib", {"families": []}),
        ("losses", {"separator": 5}),
        ("search", {"higher_is_better": "yes"}),
        ("samples", {"cost": ["a"]}),
    ):
        with pytest.raises(UsageError, match="option of the wrong type"):
            run_import(kind, ["t.csv"], options)
    with pytest.raises(
        UsageError, match="several sources for import aslib, found 2, expected one folder"
    ):
        run_import("aslib", ["a", "b"], {})


def test_words() -> None:
    assert [counted(n, "run") for n in (0, 1, 2000)] == ["0 runs", "1 run", "2,000 runs"]
    assert counted(2, "entry") == "2 entries"
    assert listed("abc") == "'a', 'b', 'c'"
    assert listed(map(str, range(10))).endswith("'7' and 2 more")
