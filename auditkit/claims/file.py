"""Claims files: what a paper printed, as a TOML list (docs/claims.md)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auditkit.claims.paths import Name, numbers, spell
from auditkit.claims.printed import Printed, printed_form
from auditkit.errors import AuditkitError, SourceError, printable

_KEYS = ("id", "path", "value")
_ROUNDING = 1e-12  # residuals below it differ from machine to machine
_RESIDUALS = ("residual", "largest", "difference")


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed figure.

    Attributes
    ----------
    id
        What the reader calls it, such as ``Table 1, all datasets``.
    path
        Where the result holds the figure; see ``claims.paths``.
    value
        As printed: ``57.1%``; for a text its words, for a truth value ``true`` or ``false``.
    """

    id: str
    path: str
    value: str


def read_claims(path: str | Path) -> tuple[Claim, ...]:
    """The claims of a file.

    Raises
    ------
    SourceError
        It cannot be read, is no TOML, or a claim lacks its path or its value, or has a member it should not have.
    """
    try:
        with open(path, "rb") as stream:
            content = tomllib.load(stream)
    except OSError as error:
        raise SourceError("cannot read", found=error.strerror, where=str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError("not a claims file", found=str(error), where=str(path)) from None
    entries = content.get("claim")
    unknown = sorted(content.keys() - {"claim"})
    if unknown or not isinstance(entries, list) or not entries:
        raise SourceError(
            "not a claims file",
            found=f"the key {unknown[0]!r}" if unknown else "no [[claim]]",
            expected="[[claim]] entries only",
            where=str(path),
        )
    return tuple(_claim(entry, i, str(path)) for i, entry in enumerate(entries, start=1))


def _claim(entry: Any, number: int, file: str) -> Claim:
    where = f"{file}: claim {number}"
    if not isinstance(entry, dict):
        raise SourceError("not a claim", found=type(entry).__name__, where=where)
    if "id" in entry:
        where = f"{where} ({entry['id']})"
    for key in entry:
        if key not in _KEYS:
            raise SourceError(
                "unknown key", found=repr(key), expected="id, path or value", where=where
            )
    for key in ("path", "value"):
        if key not in entry:
            raise SourceError(f"no {key}", expected="path and value", where=where)
    for key, value in entry.items():
        if not isinstance(value, str):
            raise SourceError(
                f"{key} is no string",
                found=repr(value),
                expected=f'{key} = "{value}", whose digits say how precisely it was printed'
                if key == "value"
                else "a string",
                where=where,
            )
    return Claim(entry["id"] if "id" in entry else entry["path"], entry["path"], entry["value"])


def placed(error: AuditkitError, claim: Claim, file: str | None) -> AuditkitError:
    """An error about a claim, saying in which claim of which file."""
    name = None if claim.id == error.where else f"claim {claim.id}"
    return error.within(": ".join(filter(None, (file, name))), ": ")


def claims_text(tree: Mapping[str, Any]) -> str:
    """A claims file of every number of a result, to be edited down to those that are printed somewhere.

    Parameters
    ----------
    tree
        What ``Audit.to_dict`` gives.
    """
    lines = [
        "# Every number that the audit gives. Keep those that a text prints, set each value to the digits printed,",
        '# and add an id to each, such as id = "Table 1, all datasets". Then: auditkit check FILE --claims THIS.toml',
        f"# {printable(tree['signature'])}",
        f"# settings {printable(json.dumps(tree['settings']), 2000)}",
    ]
    for name, items in tree.items():
        if not isinstance(items, list):
            continue
        for steps, x in numbers(items, (Name(name),)):
            lines += [
                "",
                "[[claim]]",
                f"path = {toml_string(spell(steps))}",
                f'value = "{_value(steps[-1], x)}"',
            ]
    return "\n".join(lines)


def _value(last: object, x: float) -> str:
    name = last.text if isinstance(last, Name) else ""
    if any(word in name for word in _RESIDUALS) and 0 <= x < _ROUNDING:
        return f"< {_ROUNDING:.0e}"
    return printed_form(x)


def toml_string(text: str) -> str:
    """A one-line text as a TOML string; without escapes where it can be."""
    if "'" not in text and text.isprintable():
        return f"'{text}'" if '"' in text or "\\" in text else f'"{text}"'
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def judge(claim: Claim, found: float | bool | str, *, in_percent: bool = False) -> tuple[bool, str]:
    """Whether a result holds what is claimed, and why.

    Parameters
    ----------
    claim
        What is claimed.
    found
        What the result holds there.
    in_percent
        Whether that is a percentage already: a claim with a % sign, which stands for a fraction, cannot hold then.

    Raises
    ------
    UsageError
        A number is claimed by something that is no printed number.
    """
    if isinstance(found, bool | str):
        text = str(found).lower() if isinstance(found, bool) else found
        return text == claim.value.strip(), f"printed {claim.value}, recomputed {text}"
    printed = Printed.parse(claim.value)
    if in_percent and "%" in claim.value:
        return False, (
            f"printed {claim.value}, recomputed {printed_form(found)} %: this quantity is in percent already, "
            "write it without the % sign"
        )
    reason = f"printed {claim.value}, recomputed {printed.like(found)} ({found:.9g})"
    return printed.covers(found), reason
