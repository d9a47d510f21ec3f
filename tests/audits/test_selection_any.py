"""Whatever a scoreboard or search holds: an answer or a refusal, no NaN in JSON, tables that fit."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from auditkit.audits.selection import audit_selection
from auditkit.checks.selection import check_selection
from auditkit.errors import UsageError
from auditkit.reports.document import Document
from auditkit.reports.sections.selection import sections
from auditkit.reports.table import render_table
from auditkit.schema import AuditData, Scoreboard, Search

SCORES = st.sampled_from([np.nan, -3.0, 0.0, 0.25, 0.5, 1.0, 1e100, 5e-324])
SECONDS = st.sampled_from([np.nan, 0.0, 1.0, 60.0, 1e9])
NAMES = (
    "a",
    "tie?",
    "a name far too long for any table, which goes on and on " * 3,
    "\u202e!",
    "$x$",
)


@st.composite
def boards(draw: Any) -> Scoreboard:
    n, S = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    again = draw(st.integers(0, n))

    def some(values: Any) -> Any:
        return draw(st.one_of(st.none(), values))

    def column(kind: Any, elements: Any, *width: int) -> Any:
        return arrays(kind, (n + again, *width), elements=elements)

    sizes = st.sampled_from([0, 1, 1000])
    higher = draw(arrays(bool, n))
    return Scoreboard(
        score=draw(column(float, SCORES, S)),
        higher_is_better=np.concatenate([higher, higher[:again]]),
        datasets=tuple(str(i) for i in (*range(n), *range(again))),
        systems=NAMES[:S],
        run=("one",) * n + ("two",) * again,
        seconds=some(column(float, SECONDS, S)),
        budget_seconds=some(column(float, SECONDS)),
        clusters=some(column(np.int64, st.integers(0, 2))),
        size=some(column(np.int64, sizes)),
        test_size=some(column(np.int64, sizes)),
        candidates=some(column(np.int64, sizes, S)),
        group=some(st.just(tuple(NAMES[i % 3] for i in range(n + again)))),
        claimed_winner=some(st.just(tuple(("", "a", "tie")[i % 3] for i in range(n + again)))),
    )


@st.composite
def searches(draw: Any) -> Search:
    n, C = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    one = arrays(float, n, elements=SCORES)
    return Search(
        validation_score=draw(arrays(float, (n, C), elements=SCORES)),
        test_score=draw(arrays(float, (n, C), elements=SCORES)),
        higher_is_better=draw(arrays(bool, n)),
        datasets=tuple(map(str, range(n))),
        reported_score=draw(st.one_of(st.none(), one)),
        refit_score=draw(st.one_of(st.none(), one)),
        test_size=draw(st.one_of(st.none(), st.just(np.arange(n) * 10))),
        group=draw(st.one_of(st.none(), st.just(tuple(NAMES[i % 2] for i in range(n))))),
    )


def answer(data: AuditData, **options: Any) -> None:
    result = audit_selection(data, replicates=5, **options)
    json.dumps(result.to_dict(), allow_nan=False)
    result.to_frame()
    assert all(check.reason for check in check_selection(result))
    found = sections(result)
    text = render_table(Document("audit", (), found), width=100, colour=False)
    assert "nan" not in text.split()


SETTINGS = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(boards(), st.sampled_from(["loss", "drop", "error"]), st.sampled_from([None, 1, 40]))
@SETTINGS
def test_any_scoreboard(board: Scoreboard, missing: Any, candidates: int | None) -> None:
    # refused for a missing score, or because no dataset is left
    with contextlib.suppress(UsageError):
        answer(AuditData(scoreboards={"s": board}), missing=missing, candidates=candidates)


@given(searches())
@SETTINGS
def test_any_search(search: Search) -> None:
    answer(AuditData(searches={"s": search}))
