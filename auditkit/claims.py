"""Printed figures against recomputed ones: the precision printed is the tolerance (SPEC 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from auditkit.errors import UsageError

_NUMBER = re.compile(r"^\s*([+-−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)\s*$")


@dataclass(frozen=True, slots=True)
class Printed:
    """A figure as printed, such as ``57.1%``, ``0.024`` or ``9.5e-46``.

    Attributes
    ----------
    text
        As printed.
    value
        The number; a percentage as a fraction.
    half_unit
        Half a unit of the last printed digit.
    """

    text: str
    value: float
    half_unit: float

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
        """
        match = _NUMBER.match(text)
        if match is None:
            raise UsageError(
                "not a printed number", found=repr(text), expected="such as 57.1%, 0.024 or 9.5e-46"
            )
        try:
            number = Decimal(match[1].replace("−", "-"))
        except InvalidOperation:
            raise UsageError("not a printed number", found=repr(text)) from None
        exponent = number.as_tuple().exponent
        assert isinstance(exponent, int)  # the pattern admits no nan and no infinity
        half = Decimal((0, (5,), exponent - 1))
        scale = Decimal(100) if match[2] else Decimal(1)
        return cls(text, float(number / scale), float(half / scale))

    def covers(self, x: float) -> bool:
        """Whether ``x`` rounds to what is printed: value - half a unit <= x < value + half a unit (SPEC 7).

        A half is decided on the decimal digits of ``x``, to the precision that a float holds.
        """
        scaled = (Decimal(repr(x)) - Decimal(repr(self.value))) / Decimal(repr(self.half_unit))
        slack = Decimal("1e-9")
        return -1 - slack <= scaled < 1 - slack
