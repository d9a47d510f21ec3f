"""Per-observation losses of two fitted models, from tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from auditkit.errors import SourceError, UsageError, counted
from auditkit.importers.grids import Rows
from auditkit.importers.imported import Imported, Notes, finish, listed
from auditkit.importers.mapping import Columns, expand
from auditkit.importers.sources import StrPath
from auditkit.importers.table import Table
from auditkit.importers.tables import read_tables
from auditkit.schema import Losses

_SPLITS = ("estimation", "calibration", "test", "fit")


def import_losses(
    source: StrPath,
    *,
    name: str | None = None,
    loss_a: str | None = None,
    loss_b: str | None = None,
    split: str | None = None,
    covariates: Sequence[str] | str | None = None,
    model_a: str | None = None,
    model_b: str | None = None,
    loss: str | None = None,
    separator: str | None = None,
) -> Imported:
    """Import the losses of two models on the same observations.

    Parameters
    ----------
    source
        A table, one row an observation.
    name
        Name of the losses; the source's without its ending unless given.
    loss_a, loss_b, split
        Columns; found by these names unless given. The split of an observation is ``estimation``, ``calibration``,
        ``test`` or ``fit``.
    covariates
        Columns, or one name with a star; every other column of numbers unless given.
    model_a, model_b, loss
        Names of the models and of the loss.
    separator
        Of CSV cells.

    Returns
    -------
    Imported

    Raises
    ------
    SourceError
        The source is malformed, a column is missing, or a split is unknown.
    UsageError
        Both losses or both models are the same, or a covariate is a loss or the split.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mlp.csv").write_text("loss_a,loss_b,x,split\\n1,2,0.5,test\\n")
    >>> imported = import_losses(folder / "mlp.csv", model_a="MLP")
    >>> imported.name, imported.member.covariate_names, imported.member.loss_b
    ('mlp', ('x',), array([2.]))
    """
    if isinstance(source, list | tuple):
        raise UsageError("several sources of losses", found=len(source), expected="one file")
    options: dict[str, Any] = {
        "loss_a": loss_a, "loss_b": loss_b, "split": split,
        "covariates": covariates if isinstance(covariates, str | None) else list(covariates),
        "model_a": model_a, "model_b": model_b, "loss": loss, "separator": separator,
    }  # fmt: skip
    if model_a is not None and model_a == model_b:
        raise UsageError(
            "--model-a and --model-b are one name", found=repr(model_a), expected="two names"
        )
    table = read_tables(source, separator)[0]
    notes = Notes()
    columns = Columns([table], options, notes)
    rows = Rows([table])
    arrays: dict[str, Any] = {"model_a": model_a, "model_b": model_b, "loss": loss}
    for option in ("loss_a", "loss_b"):
        arrays[option] = notes.without_infinities(
            rows.numbers(columns.need(option, option)), option
        )
    columns.refuse_same("loss_a", "loss_b")
    split = columns.find("split", "split")
    if split is not None:
        arrays["split"] = _splits(table, split)
        notes.say(
            "split: "
            + ", ".join(f"{part} {n:,}" for part, n in Counter(arrays["split"]).most_common())
        )
    chosen = _covariates(table, columns, notes)
    values = np.column_stack([rows.numbers(column) for column in chosen.values()])
    arrays["covariates"] = notes.without_infinities(values, "covariate")
    arrays["covariate_names"] = list(chosen)
    notes.say(
        f"{counted(len(table), 'observation')}, {counted(len(chosen), 'covariate')} ({listed(chosen)}); "
        "losses, lower is better"
    )
    for what in ("loss_a", "loss_b", "covariates"):
        notes.missing(arrays[what], what)
    columns.say_unused()
    return finish(
        "losses", "losses", name or table.source.stem, Losses, arrays,
        sources=[table.source], options=options, notes=notes,
    )  # fmt: skip


def _splits(table: Table, column: str) -> list[str]:
    out = [text.strip().lower() for text in table.texts(column)]
    for position, text in enumerate(out):
        if text not in _SPLITS:
            raise SourceError(
                "unknown split",
                found=repr(text),
                expected=" or ".join(_SPLITS),
                where=table.where(position, column),
            )
    return out


def _covariates(table: Table, columns: Columns, notes: Notes) -> dict[str, str]:
    """The columns of the covariates by their names."""
    given = columns.options["covariates"]
    if given is not None:
        patterns = [given] if isinstance(given, str) else given
        chosen: dict[str, str] = {}
        taken = frozenset(columns.used)
        for pattern in patterns:
            if pattern in taken:
                raise UsageError(
                    "--covariates names a loss or the split",
                    found=repr(pattern),
                    expected="another column",
                    where=table.source.where(1, pattern),
                )
            if "*" not in pattern:
                columns.require("covariates", pattern)
            found = expand(
                pattern, [c for c in table.columns if c not in columns.used or c == pattern]
            )
            if not found:
                raise SourceError(
                    f"no column matches {pattern!r}",
                    found=listed(table.columns),
                    where=table.source.where(1, 1),
                )
            chosen |= found
    else:
        left = [column for column in table.columns if column not in columns.used]
        chosen = {column: column for column in left if table.holds_numbers(column)}
        if not chosen:
            raise SourceError(
                "no covariates",
                found=f"columns {listed(table.columns)}",
                expected="a column of numbers",
                where=table.source.where(1, 1),
            )
    columns.used.update(chosen.values())
    return chosen
