"""Who wins where: the local audit of two models' losses (docs/local.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from auditkit.audits.inputs import require
from auditkit.audits.local_rates import RATES, aggregate, rates
from auditkit.audits.local_scores import (
    Options,
    Parts,
    Score,
    Scores,
    score_rows,
    split_rows,
)
from auditkit.errors import UsageError
from auditkit.results.common import Skipped, Stamp
from auditkit.results.local import (
    Declarations,
    LocalComparison,
    LocalPoints,
    LocalResult,
    RuleDeclarations,
)
from auditkit.schema import AuditData, Losses
from auditkit.statistics.bootstrap import Progress, Resampler, Resampling
from auditkit.statistics.conformal import (
    NOBODY,
    A,
    B,
    Rule,
    benjamini_hochberg,
    check_alpha,
    declared_by_p_value,
    smallest_calibration,
)
from auditkit.statistics.local import Kernel

Floats = NDArray[np.float64]
Winners = NDArray[np.int8]

RULES = ("global", "local_center", "local_standardized")
MAPS = ("global_mean", "local_mean", "local_majority", "local_quantile")


def audit_local(
    data: AuditData,
    *,
    alpha: float | Sequence[float] = 0.1,
    score: Score = "gap",
    neighbours: int | None = None,
    radius: float | None = None,
    kernel: Kernel = "box",
    offset: float | None = None,
    variance_floor: float = 1e-6,
    standardize: bool = True,
    map_control: bool = False,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    progress: Progress | None = None,
) -> LocalResult:
    """Map where each of two models wins, and certify what can be certified.

    Around each point x the estimation split gives the local mean theta(x) and scale sigma(x) = sqrt(lambda + local
    variance) of a score that is negative where A is better. Three rules differ in centre and scale: ``global``
    (global mean, 1), ``local_center`` (theta, 1) and ``local_standardized`` (theta, sigma). Each is calibrated on the
    calibration split, and declares A at a test point where the conformal upper bound of the score is below 0, B where
    the lower bound is above 0.

    Parameters
    ----------
    data
        With ``losses``. Rows that miss a loss or a covariate are counted and left out; rows of the split ``fit`` are
        ignored. Without stored splits, the complete rows are drawn into thirds with the seed.
    alpha
        Bound on the false winner rate of each direction, above 0 and below 0.5; several make a grid.
    score
        ``gap``: loss of A minus loss of B. ``log_ratio``: log((loss_a + t) / (loss_b + t)). ``standardized``:
        gap / v(x), v(x) being the square root of lambda plus the local variance of the gap in the estimation split.
    neighbours
        How many nearest estimation rows have weight; by default floor(sqrt(n_estimation)). At equal distance the
        earlier row is nearer; distances are those of the covariates as standardised, and rounded.
    radius
        Reach of a kernel instead, in standard deviations of the covariates where they are standardised. Where it
        holds no row, all estimation rows stand in.
    kernel
        ``box`` or ``epanechnikov``, with ``radius``.
    offset
        t > 0 of ``log_ratio``; by default a hundredth of the mean absolute loss in the estimation split.
    variance_floor
        lambda as a share of the global variance of the estimation scores; where these are all equal, lambda is 1.
    standardize
        Whether covariates are brought to mean 0 and standard deviation 1 in the estimation split; those that do not
        vary there are dropped, and named.
    map_control
        Whether to apply Benjamini-Hochberg to the p-values of the whole map too, which bounds the expected share of
        wrong winners among those declared, per direction.
    replicates, confidence, seed, resampler
        Of the bootstrap over test rows; it takes the estimation and calibration splits as given.
    threads
        The result does not depend on it.

    Returns
    -------
    LocalResult
        One item a member and alpha; every rate is taken on the test split.

    Raises
    ------
    UsageError
        There are no losses, or an option is out of its range.

    Notes
    -----
    Source: *Who Wins Where?* (arXiv:2607.29053). The bound on the false winner rate is marginal: it holds on average
    over calibration and test rows if these are exchangeable, not at each x, and not among the declared winners alone.
    It holds for each direction; both together are bounded by 2 alpha. A test row on which both losses are equal has no
    winner: declaring one there is an error, and the bound covers it.

    Examples
    --------
    >>> import numpy as np
    >>> from auditkit.schema import AuditData, Losses
    >>> random = np.random.default_rng(0)
    >>> x = random.uniform(-1, 1, (600, 1))
    >>> pair = Losses(
    ...     loss_a=1 + x[:, 0] + random.normal(0, 0.1, 600), loss_b=np.ones(600), covariates=x, covariate_names=("x",)
    ... )
    >>> item = audit_local(AuditData(losses={"pair": pair}), replicates=200).items[0]
    >>> [rule.rule for rule in item.rules if rule.n_declared]
    ['local_center', 'local_standardized']
    """
    require(data, "local")
    alphas = tuple(map(check_alpha, [alpha] if isinstance(alpha, int | float) else alpha))
    options = Options(
        score, neighbours, radius, kernel, offset, variance_floor, standardize, seed, threads, progress
    )  # fmt: skip
    _check_options(alphas, options)
    plan = Resampling(
        replicates, confidence, seed, resampler=resampler, threads=threads, progress=progress
    )
    items = tuple(
        item
        for name, losses in data.losses.items()
        for item in _audit_losses(name, losses, alphas, options, map_control, plan)
    )
    settings = {
        "replicates": replicates, "confidence": confidence, "seed": seed, "method": "percentile",
        "resampler": resampler,
        "local": {
            "alpha": list(alphas), "score": score, "neighbours": neighbours, "radius": radius, "kernel": kernel,
            "offset": offset, "variance_floor": variance_floor, "standardize": standardize,
            "map_control": map_control,
        },
    }  # fmt: skip
    return LocalResult(stamp=Stamp(data.path, data.sha256, settings), items=items)


def _check_options(alphas: tuple[float, ...], options: Options) -> None:
    if not alphas:
        raise UsageError("no alpha", expected="at least one", where="alpha")
    for name, value, allowed in (
        ("score", options.score, get_args(Score)),
        ("kernel", options.kernel, get_args(Kernel)),
    ):
        if value not in allowed:
            raise UsageError(f"unknown {name}", found=repr(value), expected=" or ".join(allowed))
    if options.neighbours is not None and options.radius is not None:
        raise UsageError("neighbours and a radius", expected="one of them", where="radius")
    if options.kernel != "box" and options.radius is None:
        raise UsageError(f"the kernel {options.kernel} needs a radius", where="kernel")
    for name, number in (
        ("neighbours", options.neighbours),
        ("radius", options.radius),
        ("offset", options.offset),
        ("variance_floor", options.variance_floor),
    ):
        if number is not None and not 0 < number < np.inf:
            raise UsageError(f"{name} out of range", found=number, expected="above 0", where=name)


def _audit_losses(
    name: str,
    losses: Losses,
    alphas: tuple[float, ...],
    options: Options,
    control: bool,
    plan: Resampling,
) -> list[LocalComparison]:
    parts = split_rows(losses, options.seed)
    heads = [_head(name, losses, parts, alpha, options) for alpha in alphas]
    scores = score_rows(name, losses, parts, options, tuple(1 - alpha for alpha in alphas))
    if isinstance(scores, Skipped):
        return [_skipped(head, scores, losses.covariate_names) for head in heads]
    rules = calibrate(scores)
    declared = [declare(scores, rules, alpha, j, control) for j, alpha in enumerate(alphas)]
    found = rates(declared, scores, plan)
    shared = {**_scored(scores), **aggregate(scores, plan)}
    points = [_points(scores, rules, parts, j, winners) for j, winners in enumerate(declared)]
    return [
        LocalComparison(**heads[j], **shared, **_judged(rules, points[j], found[j], alpha))
        for j, alpha in enumerate(alphas)
    ]


def _places(scores: Scores, part: str) -> dict[str, tuple[Floats, Floats]]:
    """Centre and scale of each rule at the calibration or test rows."""
    moments = scores.calibration if part == "calibration" else scores.test
    ones = np.ones(len(moments.mean))
    return {
        "global": (ones * scores.everywhere.mean[0], ones),
        "local_center": (moments.mean, ones),
        "local_standardized": (moments.mean, scores.scale(moments)),
    }


def calibrate(scores: Scores) -> dict[str, Rule]:
    """The three rules, on the calibration split."""
    values = scores.values["calibration"]
    return {
        name: Rule.calibrate(values, *place)
        for name, place in _places(scores, "calibration").items()
    }


def declare(
    scores: Scores, rules: dict[str, Rule], alpha: float, level: int, control: bool
) -> dict[str, Winners]:
    """The winner at each test row, by rule, by map, and by rule with control over the map (``controlled NAME``)."""
    at, places = scores.test, _places(scores, "test")
    everywhere = np.sign(scores.everywhere.mean[0])
    winners = {name: rules[name].winners(*places[name], alpha) for name in RULES}
    winners |= {
        "global_mean": np.full(len(at.mean), everywhere, dtype=np.int8),
        "local_mean": np.sign(at.mean).astype(np.int8),
        "local_majority": np.sign(at.above - at.below).astype(np.int8),
        "local_quantile": _code(at.upper[:, level] < 0, at.lower[:, level] > 0),
    }
    if control:
        for name in RULES:
            p_a, p_b = rules[name].p_values(*places[name])
            winners[f"controlled {name}"] = _code(
                benjamini_hochberg(p_a, alpha), benjamini_hochberg(p_b, alpha)
            )
    return winners


def _code(for_a: NDArray[np.bool_], for_b: NDArray[np.bool_]) -> Winners:
    return np.where(for_a, A, np.where(for_b, B, NOBODY)).astype(np.int8)


def _points(
    scores: Scores, rules: dict[str, Rule], parts: Parts, level: int, winners: dict[str, Winners]
) -> LocalPoints:
    places, at = _places(scores, "test"), scores.test
    p_values = {name: rules[name].p_values(*places[name]) for name in RULES}
    return LocalPoints(
        row=parts.rows["test"],
        score=scores.values["test"],
        gap=scores.gap["test"],
        centre=at.mean,
        scale=scores.scale(at),
        upper_quantile=at.upper[:, level],
        lower_quantile=at.lower[:, level],
        p_a={name: p_a for name, (p_a, _) in p_values.items()},
        p_b={name: p_b for name, (_, p_b) in p_values.items()},
        declared=winners,
        position=scores.position,
        axes=scores.axes,
    )


def _judged(
    rules: dict[str, Rule], points: LocalPoints, found: dict[str, dict[str, Any]], alpha: float
) -> dict[str, Any]:
    controlled = tuple(Declarations(**found[key]) for key in found if key.startswith("controlled "))
    return {
        "rules": tuple(_rule(name, rules[name], points, found[name], alpha) for name in RULES),
        "maps": tuple(Declarations(**found[name]) for name in MAPS),
        "controlled": controlled or Skipped("not asked for"),
        "points": points,
    }


def _rule(
    name: str, rule: Rule, points: LocalPoints, found: dict[str, Any], alpha: float
) -> RuleDeclarations:
    n = len(rule.residuals)
    lower, upper = rule.thresholds(alpha)
    infinite = Skipped(
        f"infinite: {n} calibration observations, and alpha {alpha:g} takes {smallest_calibration(alpha)}"
    )
    again = declared_by_p_value(points.p_a[name], points.p_b[name], n, alpha)
    return RuleDeclarations(
        **found,
        lower_threshold=lower if np.isfinite(lower) else infinite,
        upper_threshold=upper if np.isfinite(upper) else infinite,
        p_value_mismatches=int((points.declared[name] != again).sum()),
    )


def _scored(scores: Scores) -> dict[str, Any]:
    return {
        "covariates": scores.covariates,
        "dropped": scores.dropped,
        "offset": scores.offset,
        "neighbours": scores.neighbours,
        "smoothing": scores.smoothing,
        "n_fallback": int(scores.test.fallback.sum()),
    }


def _head(
    name: str, losses: Losses, parts: Parts, alpha: float, options: Options
) -> dict[str, Any]:
    """Fields of ``LocalComparison`` that need no score."""
    return {
        "losses": name,
        "model_a": losses.model_a or "A",
        "model_b": losses.model_b or "B",
        "loss": losses.loss or "loss",
        "alpha": alpha,
        "n_rows": len(losses.loss_a),
        "n_fit": parts.n_fit,
        "n_excluded": parts.n_excluded,
        "missing": parts.missing,
        "split": parts.split,
        **{f"n_{part}": len(rows) for part, rows in parts.rows.items()},
        "smallest_calibration": smallest_calibration(alpha),
        "score": options.score,
        "weights": "nearest" if options.radius is None else options.kernel,
        "radius": Skipped("neighbours are counted") if options.radius is None else options.radius,
    }


def _skipped(head: dict[str, Any], why: Skipped, covariates: tuple[str, ...]) -> LocalComparison:
    nothing: dict[str, Any] = {"n_declared": 0, **dict.fromkeys(RATES, why)}
    bounds: dict[str, Any] = {"lower_threshold": why, "upper_threshold": why}
    skipped: dict[str, Any] = dict.fromkeys(
        (
            "offset", "neighbours", "smoothing", "n_fallback", "controlled", "mean_gap", "aggregate_winner",
            "prevalence_a", "prevalence_b", "win_share_a", "win_share_b", "points",
        ),
        why,
    )  # fmt: skip
    return LocalComparison(
        **head,
        **skipped,
        covariates=covariates,
        dropped=(),
        rules=tuple(
            RuleDeclarations(rule=rule, p_value_mismatches=0, **nothing, **bounds) for rule in RULES
        ),
        maps=tuple(Declarations(rule=rule, **nothing) for rule in MAPS),
        n_ties=0,
    )
