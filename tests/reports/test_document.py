"""What a report consists of, and how its texts are made safe to look at."""

from __future__ import annotations

import pytest

from auditkit.reports.document import Table
from auditkit.reports.escaped import CELL, PROSE, escaped, prose
from auditkit.reports.render import document
from tests.reports.hostile import hostile_audit


@pytest.mark.parametrize(
    ("rows", "numeric"),
    [((("a",),), (False, True)), ((("a", "b"), ("c",)), (False, True)), ((), (True,))],
)
def test_a_table_has_rows_as_long_as_its_header(
    rows: tuple[tuple[str, ...], ...], numeric: tuple[bool, ...]
) -> None:
    with pytest.raises(ValueError, match="a row is not as long as the header"):
        Table("t", ("x", "y"), rows, numeric)


def test_prose_is_one_line_and_cuts_names_but_no_sentence() -> None:
    assert prose("a\nb\u202ec") == "a\\nb\\u202ec"
    assert prose("word " * 100) == "word " * 100
    long = prose(f"{'x' * 10_000} over {'y' * 10_000} wins.")
    assert len(long) < 400
    assert long.endswith(" wins.")
    assert PROSE - 1 <= len(prose("word " * 10_000)) <= PROSE


def test_escaping_twice_changes_nothing() -> None:
    once = escaped(document(hostile_audit()))
    assert escaped(once) == once


def test_every_text_of_a_report_is_one_line_of_bounded_length() -> None:
    told = escaped(document(hostile_audit()))
    for section in told.sections:
        cells = [cell for table in section.tables for row in table.rows for cell in row]
        texts = [section.title, section.verdict, *section.notes, *section.skipped]
        assert all(text.isprintable() for text in (*cells, *texts))
        assert max(map(len, cells)) <= CELL
        assert max(map(len, texts)) <= PROSE
