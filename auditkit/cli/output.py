"""Where results go: standard output or a file that appears whole; progress goes to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from auditkit.statistics.bootstrap import Progress


_OUTPUTS = {"out", "write_map"}


def emit(text: str, out: str | None) -> None:
    """Print a result, or write it to the file ``out``, which appears complete or not at all."""
    if out is None:
        click.echo(text)
        return
    from auditkit.store import atomic

    spare_inputs(out)
    with atomic(out) as temporary:
        Path(temporary).write_text(text + "\n", encoding="utf-8")
    click.echo(f"wrote {out}", err=True)


def spare_inputs(out: str) -> None:
    """Refuse an output that is one of the files that the running command was given to read."""
    import os

    from auditkit.errors import UsageError

    for name, value in click.get_current_context().params.items():
        for given in value if isinstance(value, tuple | list) else (value,):
            if name in _OUTPUTS or not isinstance(given, str) or not os.path.isfile(given):
                continue
            if os.path.exists(out) and os.path.samefile(given, out):
                raise UsageError(
                    "the output would replace an input", expected="another file", where=out
                )


def width() -> int:
    """Columns that text may take: those of the terminal (``COLUMNS`` overrides), 80 where the output is piped."""
    import shutil

    return min(max(60, shutil.get_terminal_size((80, 24)).columns), 140)


@contextmanager
def progress() -> Iterator[Progress | None]:
    """A progress bar on standard error that appears once something takes over a second; none where it is piped."""
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,}/{task.total:,}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    started = time.monotonic()
    tasks: dict[str, TaskID] = {}

    def report(task: str, done: int, total: int) -> None:
        if time.monotonic() - started < 1:
            return
        if not bar.live.is_started:
            bar.start()
        if task not in tasks:
            tasks[task] = bar.add_task(task, total=total)
        bar.update(tasks[task], completed=done, total=total)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
