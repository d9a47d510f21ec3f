"""Paths: what they lead to, how hostile names are addressed, and what a mistyped one is answered with."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.claims.paths import (
    Name,
    PathError,
    Position,
    Step,
    Where,
    in_percent,
    nearest,
    numbers,
    parse,
    resolve,
    spell,
)
from auditkit.results import allocation

TREE: dict[str, Any] = {
    "format_version": 1,
    "selection": [
        {
            "scoreboard": "sixty_seconds",
            "n_datasets": 513,
            "win_share": {
                "orcetra": {"estimate": 0.571, "low": 0.52, "high": 0.62, "n": 513},
                'a.b [c]="d"': {"estimate": 0.2, "low": 0.1, "high": 0.3, "n": 513},
                "estimate": {"estimate": 0.1, "low": 0.0, "high": 0.2, "n": 513},
            },
            "head_to_head": [
                {"first": "orcetra", "second": "flaml", "wins": 393},
                {"first": "orcetra", "second": "autogluon", "wins": 340},
                {"first": "autogluon", "second": "flaml", "wins": 338},
            ],
            "curve": [{"k": 1, "bias": 0.0}, {"k": 10, "bias": 0.5}],
            "noise_floor": {"skipped": "no candidates"},
            "safe": True,
            "transfer": "reversal",
        },
        {"scoreboard": "other", "n_datasets": 3, "alpha": 0.1},
    ],
}
BOARD = "selection[scoreboard=sixty_seconds]"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (f"{BOARD}.win_share.orcetra", 0.571),
        (f"{BOARD}.win_share.orcetra.low", 0.52),
        ("selection[0].n_datasets", 513),
        ("selection[1].n_datasets", 3),
        ("selection[n_datasets=3].scoreboard", "other"),
        ("selection[alpha=0.10].n_datasets", 3),
        (f"{BOARD}.head_to_head[first=orcetra,second=autogluon].wins", 340),
        (f"{BOARD}.head_to_head[first=autogluon].wins", 338),
        (f"{BOARD}.curve[k=10].bias", 0.5),
        (f'{BOARD}.win_share."a.b [c]=\\"d\\""', 0.2),
        (f"{BOARD}.win_share.estimate", 0.1),
        ('selection[scoreboard="sixty_seconds"].safe', True),
        (f"{BOARD}.transfer", "reversal"),
        ('"format_version"', 1),
    ],
)
def test_where_a_path_leads(path: str, found: object) -> None:
    assert resolve(TREE, path) == found


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        (f"{BOARD}.win_share.orcetr", f"{BOARD}.win_share.orcetra"),
        (f"{BOARD}.win_shares.orcetra", f"{BOARD}.win_share.orcetra"),
        ("selection[scoreboard=sixty].win_share.orcetra", f"{BOARD}.win_share.orcetra"),
        ("selektion[scoreboard=sixty].win_share.orcetra", f"{BOARD}.win_share.orcetra"),
        (f"{BOARD}.head_to_head[first=orcetra].wins", f"{BOARD}.head_to_head[first=orcetra,second=flaml].wins"),
        (f"{BOARD}.head_to_head[5].wins", f"{BOARD}.head_to_head[first=orcetra,second=flaml].wins"),
        (f"{BOARD}.curve[k=9].bias", f"{BOARD}.curve[k=10].bias"),
        ("win_share.orcetra", f"{BOARD}.win_share.orcetra"),
        (f"{BOARD}.win_share", f"{BOARD}.win_share.orcetra"),
        ("selection.n_datasets", f"{BOARD}.n_datasets"),
        (f"{BOARD}.n_datasets.low", f"{BOARD}.n_datasets"),
    ],
)  # fmt: skip
def test_a_mistyped_path_is_answered_with_the_nearest_valid_ones(path: str, answer: str) -> None:
    found = nearest(TREE, parse(path))
    assert answer in found
    assert 1 <= len(found) <= 3
    assert all(isinstance(resolve(TREE, other), int | float) for other in found)
    with pytest.raises(PathError, match="no such path"):
        resolve(TREE, path)


def test_a_skipped_quantity_gives_its_reason() -> None:
    with pytest.raises(PathError) as caught:
        resolve(TREE, f"{BOARD}.noise_floor")
    assert caught.value.what == "skipped"
    assert caught.value.found == "no candidates"


@pytest.mark.parametrize("inside", ["n", "bound.median", "skiped", "[0]"])
def test_the_parts_of_a_skipped_quantity_give_its_reason(inside: str) -> None:
    dot = "" if inside.startswith("[") else "."
    with pytest.raises(PathError) as caught:
        resolve(TREE, f"{BOARD}.noise_floor{dot}{inside}")
    assert (caught.value.what, caught.value.found) == ("skipped", "no candidates")


def test_every_gain_of_the_allocation_audit_is_known_to_be_in_percent() -> None:
    kinds = [kind for kind in vars(allocation).values() if dataclasses.is_dataclass(kind)]
    gains = {f.name for kind in kinds for f in dataclasses.fields(kind) if f.name.startswith("d_")}
    assert {"d_in", "d_split", "d_label", "d_probe", "d_split_range"} <= gains
    assert all(in_percent({}, f"allocation[0].{name}") for name in gains)


def test_what_is_in_percent_already() -> None:
    tree = {
        "allocation": [{"samples": "s", "quantity": "gap"}, {"samples": "t", "quantity": "cost"}]
    }
    one, two = "allocation[samples=s]", "allocation[1]"
    percent = (
        "d_in", "d_in.low", "d_split.estimate", "floor.median", "floor.p90", "split_spread.sd",
        "split_spread.low", "estimators[estimator=exact].floor.median", "label.residual", "probe.d_probe",
        "composition[0].d_split_range.high", "composition[0].d_in", "operating_characteristics[0].floor.p90",
    )  # fmt: skip
    assert all(in_percent(tree, f"{of}.{path}") for of in (one, two) for path in percent)
    fractions = (
        "d_in.n", "floor.false_alarms_median", "floor.sources", "composition[0].share", "curve_residual",
        "split_spread.splits", "budget", "label.ratio.a",
    )  # fmt: skip
    assert not any(in_percent(tree, f"{of}.{path}") for of in (one, two) for path in fractions)
    gaps = ("estimators[estimator=exact].uniform_gap", "curves[k=1].exact")
    assert [in_percent(tree, f"{of}.{path}") for of in (one, two) for path in gaps] == [
        True, True, False, False,
    ]  # fmt: skip
    assert not in_percent(tree, "allocation[9].curves[k=1].exact")
    assert not in_percent(tree, "selection[0].d_in")


@pytest.mark.parametrize(
    ("path", "column"),
    [
        ("", 1),
        ("a..b", 3),
        ("a.", 3),
        ("a[", 3),
        ("a[b", 4),
        ("a[b=", 5),
        ("a[b=c", 6),
        ("a[1]b", 5),
        ('a."b', 3),
        ('a."\\q"', 3),
        ("a[-1]", 5),
        ('a."\\UFFFFFFFF"', 3),
    ],
)
def test_a_malformed_path_is_refused_with_its_column(path: str, column: int) -> None:
    with pytest.raises(PathError, match=f"at column {column}"):
        parse(path)


def test_many_matches_are_no_match() -> None:
    with pytest.raises(PathError, match="2 members of the list match"):
        resolve(TREE, f"{BOARD}.head_to_head[first=orcetra].wins")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
STEPS = st.one_of(
    st.builds(Name, TEXTS),
    st.builds(Position, st.integers(0, 999)),
    st.builds(Where, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3).map(tuple)),
)


@given(st.builds(Name, TEXTS), st.lists(STEPS, max_size=5))
def test_spelling_is_undone_by_parsing(first: Step, rest: list[Step]) -> None:
    steps = (first, *rest)
    path = spell(steps)
    assert parse(path) == steps
    assert path.isprintable()


KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(
    lambda key: key not in {"estimate", "skipped"}
)
TREES = st.dictionaries(
    KEYS,
    st.recursive(
        st.one_of(st.integers(-9, 9), st.floats(-1, 1), st.booleans(), st.text(max_size=3)),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=12,
    ),
    max_size=4,
)


@given(TREES)
def test_every_number_is_found_at_its_path(tree: dict[str, Any]) -> None:
    for steps, x in numbers(tree):
        assert resolve(tree, spell(steps)) == x


def test_every_number_of_a_tree_is_listed_once() -> None:
    found = {spell(steps): x for steps, x in numbers(TREE)}
    assert found[f"{BOARD}.win_share.orcetra"] == 0.571
    assert found[f"{BOARD}.win_share.orcetra.high"] == 0.62
    assert found[f"{BOARD}.head_to_head[first=orcetra,second=flaml].wins"] == 393
    assert len(found) == 1 + 1 + 3 * 4 + 3 + 4 + 2
