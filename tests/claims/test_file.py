"""Claims files: read with one-line errors, written so that they pass, judged at the precision printed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.audits.run import run_audits
from auditkit.checks.claims import check_claims
from auditkit.claims.file import Claim, claims_text, judge, read_claims, toml_string
from auditkit.demo import demo_data
from auditkit.errors import AuditkitError, SourceError
from tests.reports.hostile import QUICK


def write(folder: Path, text: str) -> Path:
    path = folder / "claims.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_reading(tmp_path: Path) -> None:
    text = '[[claim]]\nid = "Table 1"\npath = "a[0].b"\nvalue = "57.1%"\n[[claim]]\npath = \'x."y z"\'\nvalue = "1"\n'
    assert read_claims(write(tmp_path, text)) == (
        Claim("Table 1", "a[0].b", "57.1%"),
        Claim('x."y z"', 'x."y z"', "1"),
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no [[claim]]"),
        ("claim = 3", "no [[claim]]"),
        ("claim = []", "no [[claim]]"),
        ("claim = [1]", "claim 1: not a claim"),
        ("[[claims]]\npath='a'\nvalue='1'", "the key 'claims'"),
        ("[[claim]]\npath='a'", "claim 1: no value"),
        ("[[claim]]\nid='T'\nvalue='1'", "claim 1 (T): no path"),
        ("[[claim]]\npath='a'\nvalue=57.1", 'expected value = "57.1", whose digits'),
        ("[[claim]]\npath=3\nvalue='1'", "path is no string"),
        ("[[claim]]\nid=3\npath='a'\nvalue='1'", "id is no string"),
        ("[[claim]]\npath='a'\nvalue='1'\ntolerance='2'", "unknown key, found 'tolerance'"),
        ("[[claim]\npath", "not a claims file, found"),
        ("\ud83d".encode("utf-8", "surrogatepass").decode("latin-1"), "not a claims file, found"),
    ],
)
def test_what_is_wrong_is_said_on_one_line(tmp_path: Path, text: str, what: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SourceError) as caught:
        read_claims(path)
    assert what in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read"):
        read_claims(tmp_path / "none.toml")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match="not a claims file"):
        read_claims(path)


@pytest.mark.parametrize(
    ("value", "found", "holds"),
    [
        ("57.1%", 0.5711, True),
        ("57.2%", 0.5711, False),
        ("true", True, True),
        ("true", False, False),
        ("reversal", "reversal", True),
        ("transfer", "reversal", False),
        ("393", 393, True),
        ("394", 393, False),
    ],
)
def test_judging(value: str, found: float | bool | str, holds: bool) -> None:
    assert judge(Claim("c", "p", value), found)[0] is holds


def test_a_percentage_of_what_is_in_percent_already_is_pointed_out() -> None:
    tree = {
        "allocation": [
            {"samples": "s", "d_in": {"estimate": 0.174733028, "low": 0.1, "high": 0.2, "n": 9}}
        ]
    }
    for value in ("0.17%", "17%", "17.47%", "3%"):  # the second and third would hold of a fraction
        (check,) = check_claims([Claim("c", "allocation[0].d_in", value)], tree)
        assert check.status == "failed"
        assert check.reason == (
            f"printed {value}, recomputed 0.1747 %: this quantity is in percent already, write it without the % sign "
            "at allocation[0].d_in"
        )
    (check,) = check_claims([Claim("c", "allocation[0].d_in", "0.17")], tree)
    assert check.status == "passed"


def test_a_fraction_that_is_a_hundred_times_too_large_gets_no_such_hint() -> None:
    holds, reason = judge(Claim("c", "p", "0.57%"), 0.571)
    assert (holds, reason) == (False, "printed 0.57%, recomputed 57.10% (0.571)")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20))
def test_toml_strings(text: str) -> None:
    printable = "".join(c for c in text if c.isprintable())
    assert tomllib.loads(f"x = {toml_string(printable)}") == {"x": printable}


def test_a_written_file_passes_and_fails_where_a_digit_is_changed(tmp_path: Path) -> None:
    audit = run_audits(demo_data(), replicates=50, options=QUICK)
    tree = audit.to_dict()
    text = claims_text(tree)
    path = write(tmp_path, text)
    claims = read_claims(path)
    checks = check_claims(claims, tree)
    assert len(claims) > 300
    assert {check.status for check in checks} == {"passed"}
    old = 'value = "100"'  # the instances of the toy
    changed = read_claims(write(tmp_path, text.replace(old, 'value = "101"', 1)))
    checks = check_claims(changed, tree)
    failed = [check for check in checks if check.status == "failed"]
    assert [check.subject for check in failed] == ["fidelity[benchmark=toy].n_instances"]
    assert failed[0].reason == "printed 101, recomputed 100 (100)"


TREE = {"a": [{"name": "x", "gap": 0.25, "none": {"skipped": "too few"}}]}


def test_what_was_skipped_does_not_bear_a_claim_out() -> None:
    (check,) = check_claims([Claim("T", "a[name=x].none", "1")], TREE)
    assert (check.status, check.severity) == ("failed", "error")
    assert check.reason == "printed 1, not computed: too few at a[name=x].none"


@pytest.mark.parametrize("inside", ["n", "low", "[0].n", "[name=y].gap.low", "median.high"])
def test_what_is_inside_a_skipped_quantity_was_skipped_with_it(inside: str) -> None:
    path = f"a[name=x].none{'' if inside.startswith('[') else '.'}{inside}"
    inner, other = check_claims([Claim("T", path, "1"), Claim("U", "a[name=x].gap", "0.25")], TREE)
    assert inner.status == "failed"
    assert inner.reason == f"printed 1, not computed: too few at {path}"
    assert other.status == "passed"


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("a[name=x].gab", "1", "expected a[name=x].gap"),
        ("a[name=x]..", "1", "malformed path"),
        ("a[name=x].gap", "about 1", "not a printed number"),
    ],
)
def test_a_bad_claim_is_an_error_that_names_it(path: str, value: str, told: str) -> None:
    with pytest.raises(AuditkitError) as caught:
        check_claims([Claim("Table 9", path, value)], TREE, file="claims.toml")
    assert str(caught.value).startswith("claims.toml: claim Table 9: ")
    assert told in str(caught.value)
