"""Printed figures against recomputed ones: the precision printed is the tolerance (docs/claims.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from auditkit.errors import UsageError

_NUMBER = re.compile(
    r"^\s*(?P<bound>[<>]?)\s*"
    r"(?P<digits>[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"\s*(?P<percent>%?)\s*$"
)
_SLACK = Decimal("1e-9")


@dataclass(frozen=True, slots=True)
class Printed:
    """A figure as printed, such as ``57.1%``, ``0.024``, ``9.5e-46`` or ``< 0.001``.

    Attributes
    ----------
    text
        As printed.
    value
        The number; a percentage as a fraction.
    half_unit
        Half a unit of the last printed digit.
    bound
        ``<`` or ``>`` where only a bound is printed, else empty.
    """

    text: str
    value: float
    half_unit: float
    bound: str = ""

    @classmethod
    def parse(cls, text: str) -> Printed:
        """Read a printed figure.

        Raises
        ------
        UsageError
            It is no number.

        Examples
        --------
        >>> Printed.parse("57.1%").covers(0.5705)
        True
        >>> Printed.parse("57.1%").covers(0.5715)
        False
        >>> Printed.parse("< 0.001").covers(3e-7)
        True
        """
        try:
            bound, value, half_unit = _read(text)
        except (ValueError, ArithmeticError):
            raise UsageError(
                "not a printed number", found=repr(text), expected="such as 57.1%, 0.024 or 9.5e-46"
            ) from None
        return cls(text, float(value), float(half_unit), bound)

    def covers(self, x: float) -> bool:
        """Whether ``x`` rounds to what is printed: value - half a unit <= x < value + half a unit (docs/claims.md).

        A half is decided on the decimal digits of ``x``, to the precision that a float holds. Where a bound is
        printed, ``x`` must lie strictly beyond it.
        """
        if self.bound:
            return x < self.value if self.bound == "<" else x > self.value
        _, value, half_unit = _read(self.text)
        scaled = (Decimal(repr(x)) - value) / half_unit
        return -1 - _SLACK <= scaled < 1 - _SLACK

    def like(self, x: float) -> str:
        """``x`` in the form printed: the same number of decimals, in percent where that is in percent."""
        match = _NUMBER.match(self.text.replace("−", "-"))
        assert match is not None
        scaled = 100 * x if match["percent"] else x
        mantissa, letter, _ = match["digits"].lower().partition("e")
        decimals = len(mantissa.partition(".")[2])
        return f"{scaled:.{decimals}{'e' if letter else 'f'}}{match['percent']}"


def _read(text: str) -> tuple[str, Decimal, Decimal]:
    """Bound, value and half a unit of the last digit, exactly; a percentage as a fraction."""
    match = _NUMBER.match(text.replace("−", "-"))
    if match is None:
        raise ValueError(text)
    number = Decimal(match["digits"].replace(",", ""))
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # the pattern admits no nan and no infinity
    scale = Decimal(100) if match["percent"] else Decimal(1)
    return match["bound"], number / scale, Decimal((0, (5,), exponent - 1)) / scale


def printed_form(x: float) -> str:
    """A number with four significant digits, or as many more as it takes to be covered by what is printed.

    Examples
    --------
    >>> printed_form(0.0231831446), printed_form(556), printed_form(0.0), printed_form(5.36e-91)
    ('0.02318', '556', '0.0000', '5.36e-91')
    """
    if isinstance(x, int):
        return str(x)
    if x == 0:
        return "0.0000"
    forms = (f"{x:.{digits}g}" for digits in range(4, 17))
    return next((text for text in forms if Printed.parse(text).covers(x)), repr(x))
