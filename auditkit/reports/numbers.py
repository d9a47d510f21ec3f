"""The one formatter of numbers: three significant digits where they matter, never a false 0 or 1."""

from __future__ import annotations

import math
from decimal import Decimal

from auditkit.results.common import Estimate, Skipped

MISSING = "–"


def value(x: float | Skipped, digits: int = 4) -> str:
    """A number with fixed decimals; a nonzero number that would print as zero is given as a bound."""
    if isinstance(x, Skipped):
        return MISSING
    text = f"{x:.{digits}f}"
    if x == 0:
        return text.removeprefix("-")
    if float(text) == 0:
        limit = f"{10.0**-digits:.{digits}f}"
        return f"< {limit}" if x > 0 else f"> -{limit}"
    return text


def signed(x: float | Skipped, digits: int = 4) -> str:
    """A number with its sign, for differences."""
    text = value(x, digits)
    return f"+{text}" if isinstance(x, float) and x > 0 and not text.startswith("<") else text


def share(x: float | Skipped, digits: int = 1) -> str:
    """A share in percent; never a false 0 % or 100 %."""
    if isinstance(x, Skipped):
        return MISSING
    text = f"{100 * x:.{digits}f}"
    step = 10.0**-digits
    if x > 0 and float(text) == 0:
        return f"< {step:.{digits}f} %"
    if x < 1 and float(text) >= 100:
        return f"> {100 - step:.{digits}f} %"
    return f"{text} %"


def level(confidence: float) -> str:
    """The level of an interval in percent, with all its digits: ``95%``, ``99.5%``."""
    percent = format(100 * Decimal(repr(float(confidence))), "f")
    return f"{percent.rstrip('0').rstrip('.')}%" if "." in percent else f"{percent}%"


def p_value(p: float | Skipped) -> str:
    """A p-value: three decimals, or two digits in scientific notation below 0.001."""
    if isinstance(p, Skipped):
        return MISSING
    if p < 1e-300:
        return "< 1e-300"
    return f"{p:.1e}" if p < 0.001 else (f"{p:.3f}" if p < 0.9995 or p == 1 else "> 0.999")


def residual(x: float | Skipped) -> str:
    """A residual in scientific notation, exact zero as 0."""
    if isinstance(x, Skipped):
        return MISSING
    return "0" if x == 0 else f"{x:.1e}"


def interval(x: Estimate, digits: int = 4) -> str:
    """``[low, high]``; a dash in it where there is no interval."""
    if isinstance(x.low, Skipped) or isinstance(x.high, Skipped):
        return f"[{MISSING}]"
    return f"[{value(x.low, digits)}, {value(x.high, digits)}]"


def decimals(x: Estimate, least: int, most: int = 12) -> int:
    """Decimals, ``least`` or more, that show two figures of the largest of an estimate and its ends, and one of each.

    Examples
    --------
    >>> x = Estimate(-0.00152, -0.0031, -0.00004, 100)
    >>> decimals(x, 3), estimate(x, decimals(x, 3))
    (5, '-0.00152 [-0.00310, -0.00004]')
    """
    sizes = [abs(end) for end in (x.estimate, x.low, x.high) if isinstance(end, float) and end]
    if not sizes:
        return least
    needed = max(1 - math.floor(math.log10(max(sizes))), -math.floor(math.log10(min(sizes))))
    return max(least, min(needed, most))


def estimate(x: Estimate | Skipped, digits: int = 4) -> str:
    """``estimate [low, high]``."""
    return (
        MISSING if isinstance(x, Skipped) else f"{value(x.estimate, digits)} {interval(x, digits)}"
    )


def share_estimate(x: Estimate | Skipped, digits: int = 1) -> str:
    """A share with its interval, in percent."""
    if isinstance(x, Skipped):
        return MISSING
    if isinstance(x.low, Skipped) or isinstance(x.high, Skipped):
        return share(x.estimate, digits)
    low, high = (share(end, digits).removesuffix(" %") for end in (x.low, x.high))
    return f"{share(x.estimate, digits)} [{low}, {high}]"


def count(n: int) -> str:
    """A count with thousands separated."""
    return f"{n:,}"
