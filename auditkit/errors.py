"""Everything auditkit can refuse, one class per kind of failure.

Each error says what is wrong, what was found, what was expected, and where, on one line: names inside an audit file
come from strangers, so control characters are escaped and long texts are cut. ``printable`` does that, and ``counted``
puts numbers into sentences, for all other rooms.
"""

from __future__ import annotations

import os
import unicodedata

_LONGEST = 300


def printable(value: object, longest: int = _LONGEST) -> str:
    """The text of a value on one line: control and format characters escaped, long texts cut in the middle."""
    text = "".join(
        c if unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} else ascii(c)[1:-1]
        for c in str(value)[: 4 * longest]
    )
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def no_file(path: str | os.PathLike[str]) -> str:
    """What a path is that is no regular file, in words."""
    if os.path.isdir(path):
        return "a folder"
    return "not a regular file" if os.path.exists(path) else "no such file"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """``1 run``, ``2,000 runs``, ``3 entries``; another plural is given."""
    if n == 1:
        return f"1 {noun}"
    return f"{n:,} {plural or (f'{noun[:-1]}ies' if noun.endswith('ry') else f'{noun}s')}"


class AuditkitError(Exception):
    """Base of all errors that a user can cause and mend; the command line ends with exit code 2 on them.

    Parameters
    ----------
    what
        What is wrong, in the reader's words.
    found, expected
        What was found and what would have been right; left out where it says nothing more.
    where
        The place: a file, a dataset path, a line, an option.
    """

    def __init__(
        self, what: str, *, found: object = None, expected: object = None, where: str | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.found = found
        self.expected = expected
        self.where = where

    def within(self, place: str, separator: str = "/") -> AuditkitError:
        """The same error seen from one level up: ``place`` is put before ``where``."""
        where = place if self.where is None else f"{place}{separator}{self.where}"
        return type(self)(self.what, found=self.found, expected=self.expected, where=where)

    def __str__(self) -> str:
        parts = [self.what]
        if self.found is not None:
            parts.append(f"found {self.found}")
        if self.expected is not None:
            parts.append(f"expected {self.expected}")
        line = printable(", ".join(parts), 2 * _LONGEST)
        return line if self.where is None else f"{printable(self.where)}: {line}"


class SchemaError(AuditkitError):
    """An array or attribute is not what docs/format.md says of it."""


class StoreError(AuditkitError):
    """An audit file cannot be read or written, or holds something a stranger's file must not hold."""


class SourceError(AuditkitError):
    """A source file of an importer is malformed; ``where`` names the file and, where known, line and column."""


class UsageError(AuditkitError):
    """An option or argument is out of its range, or names something that is not there."""


class StatisticsError(AuditkitError):
    """A statistic is not defined for this sample (too few observations, missing values)."""


class MissingDependencyError(AuditkitError):
    """An optional package is needed for this and is not installed."""
