"""Paths into the object that ``audit --format json`` prints, such as ``fidelity[benchmark=toy].pipelines[0].gap``.

A path is names joined by dots; ``[2]`` picks a list's member by position, ``[name=R1]`` or ``[first=R1,second=R2]`` by
the values of its own members. A name or value that holds anything but letters, digits, ``_`` and ``-`` may always be
put in double quotes, and must be where it holds one of ``. [ ] = , "``; inside quotes a backslash escapes as in TOML
(``\\"``, ``\\\\``, ``\\n``, ``\\u202e``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import combinations
from typing import Any

from auditkit.errors import UsageError

_PLAIN = re.compile(r"[\w-]+")
_BARE = re.compile(r'[^.\[\]=,"]+')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([nrtbf"\\]))', re.DOTALL)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "\\": "\\"}
_BACK = {value: f"\\{letter}" for letter, value in _LETTERS.items()}
_CLOSEST = 3
_ENDS = ("estimate", "low", "high")
_GAINS = ("d_in", "d_split", "d_label", "d_probe", "d_split_range", "residual", "split_spread")
_PARTS = (("floor", "median"), ("floor", "p90"), ("split_spread", "mean"), ("split_spread", "sd"))
_GAPS = ("uniform_gap", "exact", "blocks", "replay")


@dataclass(frozen=True, slots=True)
class Name:
    """A member of an object."""

    text: str


@dataclass(frozen=True, slots=True)
class Position:
    """A member of a list, counted from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class Where:
    """The one member of a list whose own members have these values."""

    conditions: tuple[tuple[str, str], ...]


Step = Name | Position | Where


class PathError(UsageError):
    """A path is malformed, or leads nowhere in this result."""


def parse(path: str) -> tuple[Step, ...]:
    """The steps of a path.

    Raises
    ------
    PathError
        It is malformed; the column is named.

    Examples
    --------
    >>> parse('a[name="x.y"].b')
    (Name(text='a'), Where(conditions=(('name', 'x.y'),)), Name(text='b'))
    """
    steps: list[Step] = []
    at = 0
    while at < len(path) or not steps:
        if path[at : at + 1] == "[":
            step, at = _bracket(path, at)
        elif steps and path[at : at + 1] != ".":
            raise _malformed(path, at, "a dot or [")
        else:
            text, at = _word(path, at + 1 if steps else at, "a name")
            step = Name(text)
        steps.append(step)
    return tuple(steps)


def spell(steps: Sequence[Step]) -> str:
    """The path of some steps; ``parse`` gives them back."""
    parts = []
    for i, step in enumerate(steps):
        if isinstance(step, Name):
            parts.append(f"{'.' if i else ''}{_quoted(step.text)}")
        elif isinstance(step, Position):
            parts.append(f"[{step.index}]")
        else:
            pairs = ",".join(f"{_quoted(k)}={_quoted(v)}" for k, v in step.conditions)
            parts.append(f"[{pairs}]")
    return "".join(parts)


def resolve(tree: Any, path: str) -> float | bool | str:
    """The number, text or truth value at a path; an estimate gives its ``estimate``.

    Parameters
    ----------
    tree
        What ``to_dict`` of a result gives.
    path
        See the module.

    Raises
    ------
    PathError
        The path is malformed or leads nowhere, with the nearest valid paths; or what is there, or what it would be a
        part of, was skipped.
    """
    steps = parse(path)
    node = tree
    for step in steps:
        try:
            node = descend(node, step)
        except LookupError as fault:
            if (reason := _skipped(node)) is not None:
                raise PathError("skipped", found=reason, where=path) from None
            raise _lost(tree, path, steps, str(fault)) from None
    if (reason := _skipped(node)) is not None:
        raise PathError("skipped", found=reason, where=path)
    if _has_estimate(node):
        node = node["estimate"]
    if node is None or isinstance(node, dict | list):
        raise _lost(tree, path, steps, "no number is there")
    return node  # type: ignore[no-any-return]


def _skipped(node: Any) -> str | None:
    """Why a quantity was skipped, if it was."""
    if isinstance(node, dict) and set(node) == {"skipped"} and isinstance(node["skipped"], str):
        return node["skipped"]
    return None


def in_percent(tree: Any, path: str) -> bool:
    """Whether the number at a path is a percentage already, of which a printed ``%`` would make a hundredth.

    Gains and floors of the allocation audit are; its gaps are where they are not costs.

    Raises
    ------
    PathError
        The path is malformed.
    """
    steps = parse(path)
    if steps[0] != Name("allocation"):
        return False
    names = [step.text for step in steps if isinstance(step, Name)]
    if len(names) > 1 and names[-1] in _ENDS:
        names.pop()
    if names[-1] in _GAPS:
        try:
            return bool(descend(descend(tree, steps[0]), steps[1])["quantity"] == "gap")
        except (LookupError, TypeError):
            return False
    return names[-1] in _GAINS or tuple(names[-2:]) in _PARTS


def descend(node: Any, step: Step) -> Any:
    """One step further.

    Raises
    ------
    LookupError
        There is no such member, or more than one.
    """
    if isinstance(step, Name):
        if not isinstance(node, dict) or step.text not in node:
            raise LookupError(f"nothing is called {step.text!r} there")
        return node[step.text]
    if not isinstance(node, list):
        raise LookupError("no list is there")
    if isinstance(step, Position):
        if step.index >= len(node):
            raise LookupError(f"the list has {len(node)} members")
        return node[step.index]
    found = [m for m in node if all(_is(m, key, value) for key, value in step.conditions)]
    if len(found) != 1:
        raise LookupError(
            f"{len(found) or 'no'} members of the list match {spell((step,))}, not one"
        )
    return found[0]


def numbers(tree: Any, before: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], float]]:
    """Every number under a node with the path to it; the estimate of an interval stands for the whole."""
    if isinstance(tree, dict):
        for key, member in tree.items():
            whole = key == "estimate" and _has_estimate(tree)
            steps = before if whole else (*before, Name(key))
            yield from numbers(member, steps)
    elif isinstance(tree, list):
        for step, member in zip(_members(tree), tree, strict=True):
            yield from numbers(member, (*before, step))
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        yield before, tree


def _has_estimate(node: Any) -> bool:
    return (
        isinstance(node, dict)
        and {"estimate", "low", "high"} <= node.keys()
        and not isinstance(node["estimate"], dict)
    )


def nearest(tree: Any, steps: Sequence[Step]) -> list[str]:
    """The valid paths that are most like one that leads nowhere."""
    tries = sorted(_corrected(tree, tuple(steps), (), 0.0), key=lambda found: found[0])
    if tries and tries[0][0] <= 0.5:
        return list(dict.fromkeys(spell(found) for _, found in tries))[:_CLOSEST]
    wanted = spell(steps)
    paths = [spell(found) for found, _ in numbers(tree)]
    return sorted(paths, key=lambda path: -_likeness(wanted, path))[:_CLOSEST]


def _corrected(
    node: Any, steps: tuple[Step, ...], before: tuple[Step, ...], cost: float
) -> Iterator[tuple[float, tuple[Step, ...]]]:
    """Complete paths, each wrong step replaced by one of the closest right ones; the cost counts the changes."""
    if not steps or not isinstance(node, dict | list):
        found = [path for path, _ in numbers(node, before)][:_CLOSEST]
        yield from ((cost + (0.1 if steps else 0.0), path) for path in found)
        return
    try:
        right = [(0.0, steps[0], descend(node, steps[0]))]
    except LookupError:
        right = _alternatives(node, steps[0])
    for added, step, member in right:
        yield from _corrected(member, steps[1:], (*before, step), cost + added)


def _alternatives(node: Any, step: Step) -> list[tuple[float, Step, Any]]:
    if isinstance(node, dict):
        choices: list[tuple[Step, Any]] = [(Name(key), member) for key, member in node.items()]
    else:
        choices = list(zip(_members(node), node, strict=True))
    wanted = spell((step,))
    costs = [(1 - _likeness(wanted, spell((s,))), s, member) for s, member in choices]
    return sorted(costs, key=lambda choice: choice[0])[:_CLOSEST]


def _members(items: list[Any]) -> list[Step]:
    """How to name each member of a list: by a text of its own, by two, by a count, or else by position."""
    if items and all(isinstance(item, dict) for item in items):
        common = [key for key in items[0] if all(key in item for item in items)]
        texts = [k for k in common if all(isinstance(item[k], str) for item in items)]
        counts = [k for k in common if all(type(item[k]) in (int, float) for item in items)]
        singles: list[tuple[str, ...]] = [(key,) for key in texts]
        pairs: list[tuple[str, ...]] = [*combinations(texts, 2)]
        mixed: list[tuple[str, ...]] = [(t, c) for t in texts for c in counts]
        for keys in (*singles, *pairs, *((key,) for key in counts[:1]), *mixed):
            values = [tuple(str(item[key]) for key in keys) for item in items]
            if len(set(values)) == len(items):
                return [Where(tuple(zip(keys, value, strict=True))) for value in values]
    return [Position(i) for i in range(len(items))]


def _is(member: Any, key: str, value: str) -> bool:
    if not isinstance(member, dict) or key not in member:
        return False
    found = member[key]
    if isinstance(found, bool):
        return value == str(found).lower()
    if isinstance(found, int | float):
        try:
            return float(value) == found
        except ValueError:
            return False
    return bool(found == value)


@lru_cache(maxsize=1 << 16)
def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()


def _lost(tree: Any, path: str, steps: Sequence[Step], fault: str) -> PathError:
    return PathError(
        f"no such path: {fault}", expected=" or ".join(nearest(tree, steps)) or None, where=path
    )


def _bracket(path: str, at: int) -> tuple[Step, int]:
    conditions: list[tuple[str, str]] = []
    at += 1
    while True:
        key, at = _word(path, at, "a position, or a member and its value")
        if not conditions and path[at : at + 1] == "]" and key.isdecimal() and key.isascii():
            return Position(int(key)), at + 1
        if path[at : at + 1] != "=":
            raise _malformed(path, at, "= and a value")
        value, at = _word(path, at + 1, "a value", bare=r'[^\],"]+')
        conditions.append((key, value))
        if path[at : at + 1] == "]":
            return Where(tuple(conditions)), at + 1
        if path[at : at + 1] != ",":
            raise _malformed(path, at, "]")
        at += 1


def _word(path: str, at: int, expected: str, *, bare: str = _BARE.pattern) -> tuple[str, int]:
    """A quoted or a bare word at a place, and the place after it."""
    if match := _QUOTED.match(path, at):
        return _unescaped(match[1], path, at), match.end()
    if match := re.compile(bare).match(path, at):
        return match[0].strip(), match.end()
    raise _malformed(path, at, expected)


def _unescaped(text: str, path: str, at: int) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else _LETTERS[match[3]]

    if "\\" in _ESCAPE.sub("", text):
        raise _malformed(path, at, 'the escapes of TOML, such as \\" and \\\\')
    try:
        return _ESCAPE.sub(plain, text)
    except (ValueError, OverflowError):
        raise _malformed(path, at, "a Unicode character") from None


def _malformed(path: str, at: int, expected: str) -> PathError:
    found = repr(path[at]) if at < len(path) else "the end"
    return PathError(
        "malformed path", found=f"{found} at column {at + 1}", expected=expected, where=path
    )


def _quoted(text: str) -> str:
    """A word as a path holds it: quoted where it must be, what cannot be seen as an escape."""
    if _PLAIN.fullmatch(text):
        return text
    return f'"{"".join(map(_shown, text))}"'


def _shown(c: str) -> str:
    if c in _BACK:
        return _BACK[c]
    if not c.isprintable():
        return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"
    return c
