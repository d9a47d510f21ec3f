"""Costs of the runs of an ASlib scenario: PAR-k of runtimes, qualities as stored."""

from __future__ import annotations

import numpy as np

from auditkit.errors import counted
from auditkit.importers.aslib_runs import Runs
from auditkit.importers.imported import Notes, listed
from auditkit.importers.scenario import Description
from auditkit.schema import Floats
from auditkit.statistics.utilities import penalised

_ABSURD = 1000  # a cutoff this many times above every stored value cannot have stopped any run


def runtime_cost(
    value: Floats, runs: Runs, about: Description, given: float | None, par: float, notes: Notes
) -> tuple[Floats, float | None]:
    """Costs by PAR-k; failed runs are missing where there is no cutoff to penalise them with."""
    cutoff = given
    failed = runs.present & ~runs.ok
    if cutoff is None:
        cutoff = about.cutoff
        top = np.nanmax(value) if not np.isnan(value).all() else 0.0
        if cutoff is not None and cutoff > _ABSURD * top:
            notes.warn(
                f"the cutoff of {cutoff:g} is absurd (largest stored value {top:g}) and is not used; give --cutoff"
            )
            cutoff = None
        elif cutoff is None:
            notes.warn(
                f"the description states no usable cutoff ({about.stated_cutoff!r}); give --cutoff"
            )
    if cutoff is None:
        if failed.any():
            notes.warn(
                f"{counted(int(failed.sum()), 'failed run')} without a cutoff to penalise them: missing"
            )
        return np.where(failed, np.nan, value), None
    _describe_stored(value[failed], cutoff, about.cutoff, notes)
    cost, late = penalised(value, failed, cutoff, par)
    over = int((late & runs.ok).sum())
    at = int((runs.ok & (value == cutoff)).sum())
    notes.say(
        f"cost: runtime in s, lower is better; cutoff {cutoff:g} s; {counted(int(late.sum()), 'run')} at "
        f"{par:g} x {cutoff:g} = {par * cutoff:g} ({int(failed.sum()):,} not ok, {over:,} marked ok but above "
        "the cutoff)"
    )
    if at:
        notes.warn(f"{counted(at, 'run')} marked ok at exactly the cutoff: kept at {cutoff:g}")
    mixed = _mixed_cells(runs)
    if mixed:
        notes.warn(f"{counted(mixed, 'cell')} mix ok and failed repetitions")
    return cost, cutoff


def _describe_stored(stored: Floats, cutoff: float, stated: float | None, notes: Notes) -> None:
    """What the file stores for failed runs: the rule replaces it, a reader should know it.

    A stored penalty is a multiple of the cutoff that the description states, where its failed runs reach that.
    """
    stored = stored[~np.isnan(stored)]
    if not stored.size:
        return
    typical = float(np.median(stored))
    unit = stated if stated is not None and typical >= stated else cutoff
    factor = round(typical / unit)
    penalty = factor * unit
    if factor >= 2 and np.mean(stored == penalty) > 0.5:
        same = int((stored == penalty).sum())
        of = "" if unit == cutoff else f" of the stated cutoff {unit:g} s"
        notes.say(
            f"the file stores PAR{factor}{of} already ({same:,} of {counted(stored.size, 'failed run')}); "
            "not penalised twice"
        )
        stored = stored[stored != penalty]
    above, below = stored > cutoff, stored < cutoff
    for which, word in ((above, "above"), (below, "below")):
        if which.any():
            low, high = stored[which].min(), stored[which].max()
            notes.say(
                f"the file stores {counted(int(which.sum()), 'failed run')} {word} the cutoff "
                f"({low:g} to {high:g}): replaced"
            )


def quality_cost(
    value: Floats, runs: Runs, about: Description, chosen: int, given: float | None, notes: Notes
) -> Floats:
    """Costs of a measure that is no runtime: as stored, negative where higher is better; no penalty."""
    measure, maximize = about.measures[chosen], about.maximize[chosen]
    direction = "higher is better; the cost is its negative" if maximize else "lower is better"
    failed = int((runs.present & ~runs.ok).sum())
    kept = f"; {counted(failed, 'run')} not ok keep what is stored" if failed else ""
    notes.say(f"cost: {measure} ({about.kinds[chosen]}), {direction}; no penalty{kept}")
    cost = -value if maximize else value
    cutoff = given if given is not None else about.cutoff
    if runs.runtime is not None and cutoff is not None:
        at = int((runs.ok & (runs.runtime == cutoff)).sum())
        if at:
            notes.say(f"{counted(at, 'run')} marked ok at exactly the cutoff of {cutoff:g} s")
        flipped = _flipped(cost, runs, cutoff)
        if flipped:
            notes.warn(
                f"the direction of {counted(len(flipped), 'instance')} looks flipped (the solvers that finish early "
                f"carry the worst {measure}, and slower ones better): {listed(flipped)}"
            )
    return cost


def _flipped(cost: Floats, runs: Runs, cutoff: float) -> list[str]:
    """Instances where every run that finished early is the worst of the ok runs, and a run that did not is better."""
    assert runs.runtime is not None
    ok = runs.ok & ~np.isnan(cost)
    early = ok & (runs.runtime < cutoff)
    axes = (1, 2)
    worst = np.where(ok, cost, -np.inf).max(axis=axes)
    best_early = np.where(early, cost, np.inf).min(axis=axes)
    best_late = np.where(ok & ~early, cost, np.inf).min(axis=axes)
    flipped = early.any(axis=axes) & (best_early == worst) & (best_late < worst)
    return [name for name, flag in zip(runs.instances, flipped, strict=True) if flag]


def _mixed_cells(runs: Runs) -> int:
    return int(((runs.ok & runs.present).any(axis=1) & (~runs.ok & runs.present).any(axis=1)).sum())
