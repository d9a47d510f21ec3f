"""Mapping files: what was inferred can be saved, and what is saved is understood."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import auditkit as ak
from auditkit.errors import AuditkitError, SourceError, UsageError
from auditkit.importers.mapping import expand, mapping_text, parse_direction
from tests.importers.scenarios import table

names = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
numbers = st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
values = st.one_of(names, numbers, st.booleans(), st.lists(names, max_size=3))


@given(value=values, families=st.dictionaries(names, st.lists(names, max_size=3), max_size=3))
def test_what_is_written_is_the_toml_of_it(value: object, families: dict[str, list[str]]) -> None:
    read = tomllib.loads(
        mapping_text("search", {"order": value, "group": None, "families": families})
    )
    expected = {"kind": "search", "order": value}
    assert read == expected | ({"families": families} if families else {})


def test_what_was_found_is_saved(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "dataset_id,step,validation_score,test_score", "x,1,1,1")
    imported = ak.import_search(path, higher_is_better=True)
    ak.write_mapping(tmp_path / "m.toml", "search", imported.options)
    options = ak.read_mapping(tmp_path / "m.toml", "search")
    assert options == {
        "dataset": "dataset_id", "order": "step", "validation": "validation_score", "test": "test_score",
        "higher_is_better": True,
    }  # fmt: skip
    again = ak.import_search(path, **options)
    assert again.options == imported.options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "kind = 'search'",
            r"a mapping for another kind of import, found 'search', expected 'losses'",
        ),
        ("loss_c = 'x'", r"unknown option, found 'loss_c', expected perhaps 'loss_[ab]'"),
        (
            "loss_a = {x = 1}",
            r"m\.toml: option of the wrong type, found loss_a = {'x': 1}, expected a text",
        ),
        (
            "covariates = [1]",
            r"option of the wrong type, found covariates = \[1\], expected a list of texts or a text",
        ),
        ("loss_a = ", r"not TOML.*line 1"),
        ("", r"line 1, column 1: empty file"),
    ],
)
def test_a_mapping_that_does_not_fit(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AuditkitError, match=message):
        ak.read_mapping(table(tmp_path / "m.toml", text), "losses")


@pytest.mark.parametrize(
    "text",
    ["F = ['a']", "[families]", "[families]\nF = 'a'", "[families]\nF = [1]", "families = 1"],
)
def test_families_that_are_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError, match="no families"):
        ak.read_families(table(tmp_path / "m.toml", text))


def test_families_in_their_order(tmp_path: Path) -> None:
    path = table(tmp_path / "m.toml", "[families]", "Z = ['b', 'a']", "A = []")
    assert list(ak.read_families(path).items()) == [("Z", ["b", "a"]), ("A", [])]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("s.*", {"a": "s.a", "b.c": "s.b.c"}),
        ("*", {"s.a": "s.a", "s.b.c": "s.b.c", "s.": "s.", "t": "t"}),
        ("*.c", {"s.b": "s.b.c"}),
        ("t", {"t": "t"}),
        ("x*", {}),
        ("u", {}),
    ],
)
def test_what_a_star_stands_for(pattern: str, expected: dict[str, str]) -> None:
    assert expand(pattern, ["s.a", "s.b.c", "s.", "t"]) == expected


def test_a_direction() -> None:
    assert parse_direction("task=a:b:max, c:min") == ("task", {"a:b": True, "c": False})
    with pytest.raises(UsageError):
        parse_direction("task=a")
