"""The formatter of numbers: what is printed, and what must never be."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.audits.run import run_audits
from auditkit.checks.run import check
from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.checks import render_checks
from auditkit.reports.contents import contents
from auditkit.reports.render import render
from auditkit.reports.table import render_table
from auditkit.results.common import Estimate, Skipped
from auditkit.schema import AuditData, Benchmark, Losses, Pipeline, Samples, Scoreboard, Search

NO = Skipped("why")


@pytest.mark.parametrize(
    ("x", "digits", "text"),
    [
        (0.12345, 4, "0.1235"),
        (-0.5, 2, "-0.50"),
        (0.0, 3, "0.000"),
        (-0.0, 2, "0.00"),
        (0.00004, 4, "< 0.0001"),
        (-0.00004, 4, "> -0.0001"),
        (1234.5, 0, "1234"),
        (0.2, 0, "< 1"),
        (NO, 4, "–"),
    ],
)
def test_value(x: float | Skipped, digits: int, text: str) -> None:
    assert numbers.value(x, digits) == text


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.5, "+0.5000"), (-0.5, "-0.5000"), (0.0, "0.0000"), (1e-9, "< 0.0001"), (NO, "–")],
)
def test_signed(x: float | Skipped, text: str) -> None:
    assert numbers.signed(x) == text


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.571, "57.1 %"),
        (0.0, "0.0 %"),
        (1.0, "100.0 %"),
        (0.0001, "< 0.1 %"),
        (0.9999, "> 99.9 %"),
        (0.99949, "99.9 %"),
        (NO, "–"),
    ],
)
def test_share(x: float | Skipped, text: str) -> None:
    assert numbers.share(x) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.5, "0.500"),
        (0.001, "0.001"),
        (0.00099, "9.9e-04"),
        (9.5e-46, "9.5e-46"),
        (0.0, "< 1e-300"),
        (1.0, "1.000"),
        (0.9996, "> 0.999"),
        (NO, "–"),
    ],
)
def test_p_value(p: float | Skipped, text: str) -> None:
    assert numbers.p_value(p) == text


@pytest.mark.parametrize(
    ("confidence", "text"),
    [
        (0.95, "95%"), (0.9, "90%"), (0.5, "50%"), (0.995, "99.5%"), (0.999, "99.9%"), (0.005, "0.5%"),
        (0.9999999999999999, "99.99999999999999%"), (1e-05, "0.001%"),
    ],
)  # fmt: skip
def test_a_level_has_all_its_digits(confidence: float, text: str) -> None:
    assert numbers.level(confidence) == text


def test_residual() -> None:
    assert [numbers.residual(x) for x in (0.0, 2.4e-16, NO)] == ["0", "2.4e-16", "–"]


def test_estimates_carry_their_interval() -> None:
    x = Estimate(0.5, 0.25, 0.75, 10)
    assert numbers.estimate(x, 2) == "0.50 [0.25, 0.75]"
    assert numbers.share_estimate(x) == "50.0 % [25.0, 75.0]"
    assert numbers.share_estimate(Estimate(0.5, 1e-5, 0.99999, 10)) == "50.0 % [< 0.1, > 99.9]"


def test_an_estimate_without_interval_says_so() -> None:
    x = Estimate(0.5, NO, NO, 1)
    assert numbers.estimate(x, 2) == "0.50 [–]"
    assert numbers.share_estimate(x) == "50.0 %"
    assert numbers.estimate(NO) == numbers.share_estimate(NO) == "–"


def test_count() -> None:
    assert numbers.count(1234567) == "1,234,567"


@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_a_number_that_is_not_zero_never_prints_as_zero(x: float, digits: int) -> None:
    text = numbers.value(x, digits)
    if x == 0:
        assert float(text) == 0
    elif text.startswith("< "):
        assert 0 < x < float(text[2:])
    elif text.startswith("> "):
        assert float(text[2:]) < x < 0
    else:
        assert float(text) != 0
        assert abs(float(text) - x) <= 0.5 * 10**-digits * (1 + 1e-9) + math.ulp(x)


@given(st.floats(0, 1), st.integers(0, 3))
def test_a_share_never_prints_as_a_false_0_or_100(x: float, digits: int) -> None:
    number = numbers.share(x, digits).removesuffix(" %")
    if number[0] not in "<>":
        assert (float(number) == 0) == (x == 0)
        assert (float(number) == 100) == (x == 1)


@given(st.floats(0, 1))
def test_a_p_value_never_prints_as_0_or_as_a_false_1(p: float) -> None:
    text = numbers.p_value(p)
    if text[0] not in "<>":
        assert float(text) > 0
        assert (float(text) == 1) == (p == 1)


@given(*[st.floats(-1e6, 1e6, allow_nan=False)] * 3, st.integers(0, 6))
def test_decimals_show_every_part_of_an_estimate(
    estimate: float, low: float, high: float, least: int
) -> None:
    x = Estimate(estimate, low, high, 9)
    parts = [abs(part) for part in (estimate, low, high) if part]
    digits = numbers.decimals(x, least)
    assert least <= digits <= 12
    if parts and min(parts) >= 1e-11:
        assert not re.search("[<>]", numbers.estimate(x, digits))
        assert max(parts) * 10**digits >= 9.9  # two figures of the largest
    assert numbers.decimals(Estimate(estimate, NO, NO, 9), least) >= least


def test_one_is_singular() -> None:
    told = [counted(n, "second run") for n in (0, 1, 2, 2000)]
    assert told == ["0 second runs", "1 second run", "2 second runs", "2,000 second runs"]
    assert counted(1, "family", "families") == "1 family"
    assert counted(3, "family", "families") == "3 families"


def test_no_report_counts_one_in_the_plural() -> None:
    board = Scoreboard(
        score=np.array([[0.6, 0.5], [0.5, 0.6]]),
        higher_is_better=np.ones(2, dtype=bool),
        datasets=("x", "x"),
        systems=("a", "b"),
        run=("one", "two"),
        seconds=np.ones((2, 2)),
        budget_seconds=np.ones(2),
        clusters=("x", "x"),
        test_size=np.full(2, 100),
    )
    search = Search(
        validation_score=np.array([[0.5, 0.6]]),
        test_score=np.array([[0.6, 0.5]]),
        higher_is_better=np.ones(1, dtype=bool),
        datasets=("x",),
    )
    samples = Samples(cost=np.random.default_rng(0).random((1, 80)), instances=("x",), label=("a",))
    data = AuditData(scoreboards={"s": board}, searches={"s": search}, samples={"s": samples})
    options = {
        "allocation": {"per_instance": 20, "floor_repetitions": 1, "compositions": 1},
        "selection": {"candidates": 2},
    }
    text = " ".join(render(run_audits(data, replicates=1, options=options), "table").split())
    assert "1 replicate, seed" in text
    assert "1 second run" in text
    assert "1 source x 1 workload a row" in text
    nouns = "run|dataset|replicate|source|workload|record|instance|cluster|system|observation|win"
    assert re.findall(rf"(?<![\d.,])1 (?:second |random )?(?:{nouns})s\b", text) == []


def test_no_report_check_or_table_of_contents_counts_one_in_the_plural() -> None:
    pipeline = Pipeline(
        kind="decomposed",
        family_choice=np.zeros((1, 1), dtype=np.int64),
        within_choice=np.zeros((1, 1, 1), dtype=np.int64),
        fold=np.full((1, 1), -1),
    )
    benchmark = Benchmark(
        utility=np.array([[0.5]]),
        instances=("x",),
        algorithms=("a",),
        families=("f",),
        family_of=np.zeros(1, dtype=np.int64),
        pipelines={"p": pipeline},
    )
    pair = Losses(
        loss_a=np.array([0.5, 0.6, 0.7, 0.7]),
        loss_b=np.array([0.6, 0.5, 0.7, 0.7]),
        covariates=np.array([[0.1], [0.2], [0.3], [0.4]]),
        covariate_names=("c",),
        split=("estimation", "calibration", "test", "fit"),
    )
    samples = Samples(cost=np.ones((1, 1)), instances=("x",))
    board = Scoreboard(
        score=np.array([[0.6]]),
        higher_is_better=np.ones(1, dtype=bool),
        datasets=("x",),
        systems=("a",),
        run=("one",),
    )
    search = Search(
        validation_score=np.array([[0.5]]),
        test_score=np.array([[0.6]]),
        higher_is_better=np.ones(1, dtype=bool),
        datasets=("x",),
    )
    data = AuditData(
        benchmarks={"b": benchmark}, losses={"l": pair}, samples={"s": samples},
        scoreboards={"s": board}, searches={"s": search},
    )  # fmt: skip
    audit = run_audits(data, only=("fidelity", "local", "selection"), replicates=1)
    texts = (
        render(audit, "table"),
        render_checks(check(audit), "text"),
        render_table(contents(data), width=200, colour=False),
    )
    told = [" ".join(text.split()) for text in texts]
    assert "1 instance, 1 algorithm, 1 family;" in told[0]
    assert "1 instance is in no test fold of a repetition" in told[1]
    assert "1 instance x 1 algorithm, 1 family" in told[2]
    assert "4 observations, 1 covariate" in told[2]
    nouns = "algorithm|candidate|case|cell|cluster|comparison|covariate|dataset|instance|observation|pair|pipeline"
    nouns += "|record|rule|run|system|tie|time|warning|zero"
    plural = rf"(?<![\d.,])1 (?:[a-z]+ )?(?:(?:{nouns})s|families|utilities)\b"
    assert [re.findall(plural, text) for text in told] == [[]] * 3
