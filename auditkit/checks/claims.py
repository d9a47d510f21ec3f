"""Checks of claims: each printed figure against the recomputed one (docs/claims.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from auditkit.checks.common import Check
from auditkit.claims.file import Claim, judge, placed
from auditkit.claims.paths import PathError, in_percent, resolve
from auditkit.errors import UsageError

ID = "claims.printed"


def check_claims(
    claims: Iterable[Claim], tree: Mapping[str, Any], *, file: str | None = None
) -> list[Check]:
    """One check a claim; what the audit skipped is a failure, for it does not bear the claim out.

    Parameters
    ----------
    claims
        Of ``read_claims``.
    tree
        What ``Audit.to_dict`` gives.
    file
        The claims file, for messages.

    Raises
    ------
    UsageError
        A path is malformed or leads nowhere, or a value is no printed number.
    """
    return [_check(claim, tree, file) for claim in claims]


def _check(claim: Claim, tree: Mapping[str, Any], file: str | None) -> Check:
    try:
        found = resolve(tree, claim.path)
        holds, reason = judge(claim, found, in_percent=in_percent(tree, claim.path))
    except PathError as error:
        if error.what != "skipped":
            raise placed(error, claim, file) from None
        holds, reason = False, f"printed {claim.value}, not computed: {error.found}"
    except UsageError as error:
        raise placed(error, claim, file) from None
    if claim.id != claim.path:
        reason = f"{reason} at {claim.path}"
    return Check(ID, claim.id, "error", "passed" if holds else "failed", reason)
