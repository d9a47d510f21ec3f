"""Members built in memory are validated by the rules of the file format: every break names what, where, expected."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

import auditkit as ak
from auditkit.errors import SchemaError, printable
from auditkit.schema import MEMBERS, array_specs, attribute_specs
from tests.random_benchmarks import random_benchmark


def benchmark(**changes: object) -> ak.Benchmark:
    arrays = {
        "utility": np.array([[0.1, 0.2], [0.3, np.nan]]),
        "instances": ("i", "j"),
        "algorithms": ("a", "b"),
        "families": ("f", "g"),
        "family_of": np.array([0, 1]),
    }
    return ak.Benchmark(**{**arrays, **changes})


def decomposed(**changes: object) -> ak.Pipeline:
    arrays = {
        "kind": "decomposed",
        "family_choice": np.array([[0, 1]]),
        "within_choice": np.array([[[0, 1], [0, 1]]]),
    }
    return ak.Pipeline(**{**arrays, **changes})


BAD_BENCHMARKS = {
    "missing array": ({"instances": None}, "instances: missing array"),
    "wrong shape": ({"utility": np.ones((2, 3))}, "algorithms: wrong length of dimension 0 (A), found 2, expected 3"),
    "wrong dimensions": ({"utility": np.ones(2)}, "utility: wrong number of dimensions"),
    "integers for floats": ({"utility": np.ones((2, 2), int)}, "utility: wrong type, found int64"),
    "half precision": ({"utility": np.ones((2, 2), np.float16)}, "utility: wrong type, found float16"),
    "floats for indices": ({"family_of": np.array([0.0, 1.0])}, "family_of: wrong type, found float64"),
    "numbers for texts": ({"instances": np.array([1, 2])}, "instances: wrong type, found int64, expected texts [n]"),
    "one text for many": ({"instances": "ij"}, "instances: wrong type, found str"),
    "not UTF-8": ({"instances": [b"\xff", b"j"]}, "instances[0]: text is not UTF-8"),
    "NUL in a text": ({"instances": ["i\0", "j"]}, "instances[0]: text that cannot be stored"),
    "duplicate instance": ({"instances": ("i", "i")}, "instances[1]: duplicate name, found 'i' also at [0]"),
    "duplicate algorithm": ({"algorithms": ("a", "a")}, "algorithms[1]: duplicate name"),
    "duplicate family": ({"families": ("f", "f")}, "families[1]: duplicate name"),
    "infinite utility": ({"utility": np.array([[0, 1], [np.inf, 0]])}, "utility[1, 0]: infinite value, found inf"),
    "infinite penalty": ({"penalty": np.array([0, -np.inf])}, "penalty[1]: infinite value"),
    "family out of range": ({"family_of": np.array([0, 2])}, "family_of[1]: index out of range, found 2"),
    "family below -1": ({"family_of": np.array([0, -2])}, "family_of[1]: value out of range, found -2"),
    "huge index": ({"family_of": np.array([0, 2**64 - 1], np.uint64)}, "family_of: integer too large"),
    "no instances": ({"utility": np.ones((0, 2)), "instances": ()}, "utility: dimension 0 (n) is empty"),
    "text for a number": ({"cutoff": "1800"}, "cost, attribute cutoff: wrong type, found str"),
    "number for a text": ({"metric": 3}, "utility, attribute metric: wrong type, found int"),
    "features without names": ({"features": np.ones((2, 1))}, "missing array, expected feature_names beside features"),
    "slash in a name": ({"pipelines": {"a/b": None}}, "pipelines: bad name of a member, found 'a/b'"),
}  # fmt: skip

BAD_PIPELINES = {
    "unknown kind": (
        lambda: decomposed(kind="nested"),
        "attribute kind: unknown value, found 'nested'",
    ),
    "no kind": (lambda: decomposed(kind=None), "attribute kind: missing attribute"),
    "no choices": (
        lambda: ak.Pipeline(kind="flat"),
        "a flat pipeline holds neither choices nor scores",
    ),
    "half the choices": (
        lambda: decomposed(within_choice=None),
        "a decomposed pipeline holds neither choices nor scores",
    ),
    "half the scores": (
        lambda: ak.Pipeline(kind="flat", partition_utility=np.ones((1, 2))),
        "missing array, expected deployed_utility beside partition_utility",
    ),
    "flat with families": (
        lambda: ak.Pipeline(
            kind="flat", algorithm_choice=np.array([[0, 1]]), family_choice=np.array([[0, 1]])
        ),
        "family_choice: a flat pipeline holds family_choice",
    ),
    "decomposed with algorithms": (
        lambda: decomposed(algorithm_choice=np.array([[0, 1]])),
        "algorithm_choice: a decomposed pipeline holds algorithm_choice",
    ),
    "repetitions differ": (
        lambda: decomposed(fold=np.array([[0, 1], [0, 1]])),
        "fold: wrong length of dimension 0 (R), found 2, expected 1",
    ),
    "fold beyond the validation folds": (
        lambda: decomposed(
            fold=np.array([[0, 2]]),
            validation_partition=np.ones((1, 2, 2)),
            validation_deployed=np.ones((1, 2, 2)),
        ),
        "fold[0, 1]: index out of range, found 2",
    ),
    "own families without a map": (
        lambda: decomposed(families=("x", "y")),
        "missing array, expected family_of beside families",
    ),
}

BAD_IN_CONTEXT = {
    "too few instances": (
        decomposed(family_choice=np.array([[0]]), within_choice=np.array([[[0, 1]]])),
        "pipelines/p/family_choice: wrong length of dimension 1 (n), found 1, expected 2",
    ),
    "too many families": (
        decomposed(within_choice=np.array([[[0, 1, -1], [0, 1, -1]]])),
        "pipelines/p/within_choice: wrong length of dimension 2 (K), found 3, expected 2",
    ),
    "unknown family": (
        decomposed(family_choice=np.array([[0, 2]])),
        "pipelines/p/family_choice[0, 1]: index out of range, found 2",
    ),
    "unknown algorithm": (
        decomposed(within_choice=np.array([[[0, 2], [0, 1]]])),
        "pipelines/p/within_choice[0, 0, 1]: index out of range, found 2",
    ),
    "outside its family": (
        decomposed(within_choice=np.array([[[0, 1], [1, 1]]])),
        "pipelines/p/within_choice[0, 1, 0]: an inner choice lies outside its family, found algorithm 'b', "
        "expected a member of family 'f'",
    ),
    "unknown flat algorithm": (
        ak.Pipeline(kind="flat", algorithm_choice=np.array([[0, 5]])),
        "pipelines/p/algorithm_choice[0, 1]: index out of range, found 5",
    ),
    "own map of another length": (
        decomposed(families=("x", "y"), family_of=np.array([0, 1, 0])),
        "pipelines/p/family_of: wrong length of dimension 0 (A), found 3, expected 2",
    ),
}


@pytest.mark.parametrize("case", BAD_BENCHMARKS)
def test_a_bad_benchmark_is_refused(case: str) -> None:
    changes, message = BAD_BENCHMARKS[case]
    with pytest.raises(SchemaError) as error:
        benchmark(**changes)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("case", BAD_PIPELINES)
def test_a_bad_pipeline_is_refused(case: str) -> None:
    make, message = BAD_PIPELINES[case]
    with pytest.raises(SchemaError) as error:
        make()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("case", BAD_IN_CONTEXT)
def test_a_pipeline_that_does_not_fit_its_benchmark_is_refused(case: str) -> None:
    pipeline, message = BAD_IN_CONTEXT[case]
    with pytest.raises(SchemaError) as error:
        benchmark(pipelines={"p": pipeline})
    assert str(error.value).startswith(message)


def test_the_sound_ones_are_accepted() -> None:
    sound = benchmark(
        pipelines={"p": decomposed()},
        clusters=np.array([3, 3]),
        cost=np.array([[1, np.inf], [2, 3]]),
    )
    assert sound.pipelines["p"].has_choices
    assert not sound.pipelines["p"].has_scores
    assert sound.utility.dtype == np.float64


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ak.Scoreboard(**board(datasets=("d", "d"))), "datasets[1]: a dataset occurs twice in one run"),
        (lambda: ak.Scoreboard(**board(seconds=np.array([[1.0], [-1.0]]))), "seconds[1, 0]: value out of range"),
        (lambda: ak.Scoreboard(**board(higher_is_better=np.array([1, 0]))), "higher_is_better: wrong type"),
        (lambda: ak.Scoreboard(**board(size=np.array([1, -5]))), "size[1]: value out of range"),
        (lambda: ak.Samples(cost=np.array([[np.nan, 1.0]]), instances=("i",)), "cost[0, 0]: a missing sample before"),
        (lambda: ak.Losses(**losses(split=("test", "train"))), "split[1]: unknown value, found 'train'"),
        (lambda: ak.Losses(**losses(covariate_names=("x", "y"))), "covariate_names: wrong length of dimension 0 (d)"),
        (lambda: ak.AuditData(samples={"x": benchmark()}), "samples/x: wrong kind of member, found Benchmark"),
        (lambda: ak.AuditData(benchmarks={"": benchmark()}), "benchmarks: bad name of a member, found ''"),
    ],
)  # fmt: skip
def test_other_bad_members_are_refused(make: object, message: str) -> None:
    with pytest.raises(SchemaError) as error:
        make()
    assert str(error.value).startswith(message)


def board(**changes: object) -> dict[str, object]:
    arrays = {
        "score": np.array([[0.5], [0.6]]),
        "higher_is_better": np.array([True, False]),
        "datasets": ("d", "e"),
        "systems": ("s",),
    }
    return {**arrays, **changes}


def losses(**changes: object) -> dict[str, object]:
    arrays = {
        "loss_a": np.ones(2),
        "loss_b": np.ones(2),
        "covariates": np.ones((2, 1)),
        "covariate_names": ("x",),
    }
    return {**arrays, **changes}


def test_a_dataset_may_occur_once_a_run() -> None:
    assert ak.Scoreboard(**board(datasets=("d", "d"), run=("a", "b"))).datasets == ("d", "d")


def test_members_own_their_numbers() -> None:
    source = np.array([[0.1, 0.2], [0.3, 0.4]])
    member = benchmark(utility=source)
    source[0, 0] = 9
    assert member.utility[0, 0] == 0.1
    with pytest.raises(ValueError, match="read-only"):
        member.utility[0, 0] = 9


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8"])
def test_floats_of_any_byte_order_become_native_doubles(dtype: str) -> None:
    assert benchmark(utility=np.array([[0.5, 1], [2, 4]], dtype)).utility.tolist() == [
        [0.5, 1],
        [2, 4],
    ]


def test_every_field_is_declared_and_explained() -> None:
    for member in (*MEMBERS.values(), ak.Pipeline):
        specs = {**array_specs(member), **attribute_specs(member)}
        names = {f.name for f in dataclasses.fields(member)} - {"pipelines"}
        assert names == set(specs)
        assert all(spec.note for spec in specs.values())


def test_the_contents_decide_the_fingerprint() -> None:
    one = ak.AuditData(benchmarks={"b": random_benchmark(1)})
    same = ak.AuditData(benchmarks={"b": random_benchmark(1)})
    renamed = ak.AuditData(benchmarks={"c": random_benchmark(1)})
    utility = random_benchmark(1).utility.copy()
    utility[0, 0] = np.nextafter(utility[0, 0], 2)
    touched = ak.AuditData(benchmarks={"b": replace(random_benchmark(1), utility=utility)})
    assert one.sha256 == same.sha256
    assert len({one.sha256, renamed.sha256, touched.sha256}) == 3


def test_messages_stay_on_one_line_and_short() -> None:
    assert printable("a\nb\x1b[31m\u202e") == "a\\nb\\x1b[31m\\u202e"
    assert len(printable("x" * 10_000)) <= 300
    error = SchemaError("bad\nname", found="\x00" * 500, where="f\n")
    assert "\n" not in str(error)
    assert len(str(error)) < 1000
