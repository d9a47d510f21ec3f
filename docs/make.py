"""Write the pages derived from the code: ``commands.md`` from the command line, ``format.md`` from the schema.

Run ``python docs/make.py`` after a change of either; a test compares the pages with what this gives.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import click

from auditkit.cli import auditkit
from auditkit.schema import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MEMBERS,
    Member,
    Pipeline,
    array_specs,
    attribute_specs,
)

HERE = Path(__file__).parent

COMMANDS = """# Commands

Results go to standard output, messages and progress to standard error. Exit codes: 0 all well; 1 a check or claim
failed (warnings, that nothing could be checked among them, only with `--strict`); 2 bad usage or unreadable input, told in one line; 3 an internal error (`AUDITKIT_TRACEBACK=1` shows where).

This page is made by `python docs/make.py`.
"""

FORMAT = f"""# The audit file

An audit file is HDF5 with the root attributes `format = "{FORMAT_NAME}"` and `format_version = {FORMAT_VERSION}`. It
holds any number of members of five kinds, as groups `/<kind>/<name>`. A *utility* is higher-is-better, a *cost* or
*loss* lower-is-better; NaN means "not measured", in every array. Strings are UTF-8, of variable or fixed length; indices
may be any integer type; floats may be float32 or float64 and are audited as float64.

Reading is strict. Unknown groups or arrays, missing arrays, wrong shapes or types, indices out of range, duplicate names,
infinite values (but for raw costs) and other format versions are errors that say what was found, what was expected, and
in which dataset of which file. Nothing is repaired silently. Because an audit file comes from a stranger, links of every
kind (soft and external), external storage, virtual datasets, types that may hold objects, and shapes that are absurd for
the bytes behind them are refused. Writing is atomic, and the same data give the same bytes.

Dimensions: `n` instances (datasets, observations), `A` algorithms, `K` families, `R` repetitions, `F` folds, `S` systems,
`C` candidates or samples, `d` covariates, `q` features. Names in brackets are optional.

This page is made by `python docs/make.py`.
"""


def commands() -> str:
    """The reference of every command and option."""
    return "\n".join([COMMANDS, *_command(auditkit, "auditkit")])


def _command(node: click.Command, path: str) -> list[str]:
    if isinstance(node, click.Group):
        children = sorted(node.commands.items())
        return [line for key, child in children for line in _command(child, f"{path} {key}")]
    context = click.Context(node)
    arguments = [p.make_metavar(context) for p in node.params if isinstance(p, click.Argument)]
    usage = " ".join([path, *arguments])
    lines = [f"## {path}", "", f"    {usage} [options]", "", inspect.cleandoc(node.help or ""), ""]
    options = [p for p in node.params if isinstance(p, click.Option)]
    if options:
        lines += ["| option | default | meaning |", "|---|---|---|"]
        lines += [_option(option, context) for option in options] + [""]
    return lines


def _option(option: click.Option, context: click.Context) -> str:
    kind = "" if option.is_flag else f" {option.make_metavar(context)}"
    names = " / ".join([*option.opts, *option.secondary_opts])
    default = option.default if isinstance(option.default, int | float | str) else ""
    if option.is_flag:
        default = ""
    return f"| `{_cell(names + kind)}` | {'required' if option.required else default} | {_cell(option.help or '')} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def file_format() -> str:
    """The reference of every member, array and attribute."""
    lines = [FORMAT]
    for group, member in MEMBERS.items():
        lines += [f"## /{group}/&lt;name&gt;", "", *_member(member)]
        if group == "benchmarks":
            lines += [f"### /{group}/&lt;name&gt;/pipelines/&lt;name&gt;", "", *_member(Pipeline)]
    return "\n".join(lines)


def _member(member: type[Member]) -> list[str]:
    lines = [inspect.cleandoc(member.__doc__ or ""), ""]
    lines += ["| array | type | dimensions | what it holds |", "|---|---|---|---|"]
    for name, spec in array_specs(member).items():
        rules = [spec.note]
        rules += ["distinct"] if spec.unique else []
        rules += ["may be infinite"] if spec.infinite else []
        rules += [f"at least {spec.low:g}"] if spec.low is not None else []
        rules += [f"one of {', '.join(spec.values)}"] if spec.values else []
        path, dims = _name(spec.path or name, spec.optional), ", ".join(spec.dims)
        lines.append(f"| {path} | {spec.kind} | {dims} | {_cell('; '.join(rules))} |")
    attributes = attribute_specs(member)
    if attributes:
        lines += ["", "| attribute | of | type | what it holds |", "|---|---|---|---|"]
    for name, attribute in attributes.items():
        note = attribute.note
        note += f"; one of {', '.join(attribute.values)}" if attribute.values else ""
        of = f"`{attribute.of}`" if attribute.of else "the group"
        lines.append(
            f"| {_name(name, attribute.optional)} | {of} | {attribute.kind} | {_cell(note)} |"
        )
    return [*lines, ""]


def _name(name: str, optional: bool) -> str:
    return f"[`{name}`]" if optional else f"`{name}`"


PAGES: dict[str, Callable[[], str]] = {"commands.md": commands, "format.md": file_format}

if __name__ == "__main__":
    for page, make in PAGES.items():
        (HERE / page).write_text(make(), encoding="utf-8")
