"""Printed figures: what they cover, at the edges of their rounding."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from auditkit.claims.printed import Printed, printed_form
from auditkit.errors import UsageError


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("57.1%", (0.5705, 0.571, 0.57149999), (0.57049, 0.5715, 57.1)),
        ("57 %", (0.565, 0.5749), (0.5649, 0.575)),
        ("0.024", (0.0235, 0.02449), (0.02349, 0.0245)),
        ("9.5e-46", (9.45e-46, 9.549e-46), (9.44e-46, 9.55e-46)),
        ("120", (119.5, 120.49), (119.49, 120.5)),
        ("1,351", (1350.5, 1351.4), (1.351, 1351.5)),
        ("-0.24", (-0.245, -0.2351), (-0.2451, -0.235)),
        ("−0.24", (-0.24,), (0.24,)),
        ("+0.10", (0.1,), (0.2,)),
        ("1.30", (1.295,), (1.2949, 1.305)),
        (".5", (0.5,), (0.56,)),
        ("< 0.001", (0.0, 9.9e-4), (0.001, 0.1)),
        (">99%", (0.991,), (0.99, 0.5)),
    ],
)
def test_what_a_figure_covers(
    text: str, inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    printed = Printed.parse(text)
    assert all(printed.covers(x) for x in inside)
    assert not any(printed.covers(x) for x in outside)


@pytest.mark.parametrize(
    "text", ["", "many", "nan", "inf", "1e", "5 5", "57.1%%", "1,35", "0x10", "1e999999999999"]
)
def test_what_is_no_figure_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a printed number"):
        Printed.parse(text)


def test_the_recomputed_number_is_shown_as_printed() -> None:
    assert Printed.parse("57.1%").like(0.61234) == "61.2%"
    assert Printed.parse("9.5e-46").like(1.234e-20) == "1.2e-20"
    assert Printed.parse("0.024").like(0.0312) == "0.031"
    assert Printed.parse("120").like(146.3) == "146"


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_rounded_number_covers_what_it_was_rounded_from(x: float, decimals: int) -> None:
    exact = Decimal(repr(x))
    unit = Decimal(1).scaleb(-decimals)
    # halves go up: [value - half, value + half)
    text = str(((exact + unit / 2) // unit) * unit) if exact >= 0 else None
    if text is not None:
        text = format(exact.quantize(unit, ROUND_HALF_UP), "f")
        assert Printed.parse(text).covers(x)
        assert not Printed.parse(text).covers(float(exact + 2 * unit))


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(1.7976931348623157e308)
def test_every_number_is_covered_by_its_printed_form(x: float) -> None:
    assert Printed.parse(printed_form(x)).covers(x)


@given(st.integers(-(10**15), 10**15))
def test_counts_are_printed_whole(n: int) -> None:
    assert printed_form(n) == str(n)


def test_a_half_is_printed_so_that_it_is_covered() -> None:
    assert Printed.parse(printed_form(0.28125)).covers(0.28125)
    assert printed_form(0.28125) == "0.28125"
