"""Terminal tables: they fit, whatever they hold; numbers stay whole; colour only where it is wanted."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from rich.cells import cell_len

from auditkit.reports.document import Document, Section, Table
from auditkit.reports.render import render
from auditkit.reports.table import folded, render_table
from tests.reports.hostile import crowded_audit, hostile_audit

ROWS = (
    ("first pipeline", "0.1234 [0.1000, 0.1500]", "0.2345 [0.2000, 0.2500]"),
    ("second", "12.3400 [10.0000, 15.0000]", "–"),
)
TABLE = Table(
    "Scores", ("pipeline", "gap [95%]", "regret [95%]"), ROWS, (False, True, True), "Why."
)


def of(*tables: Table, signature: str = "") -> Document:
    return Document(
        "Audit", (("file", "a.h5"),), (Section("fidelity: x", "It holds.", tables),), signature
    )


def lines(document: Document, width: int) -> list[str]:
    text = render_table(document, width=width, colour=False)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    return text.splitlines()


def test_a_table_that_fits_is_left_as_it_is() -> None:
    assert lines(of(TABLE), 80) == [
        "file  a.h5",
        "",
        "fidelity: x",
        "It holds.",
        "",
        "Scores",
        "pipeline                         gap [95%]             regret [95%]",
        "─" * 67,
        "first pipeline     0.1234 [0.1000, 0.1500]  0.2345 [0.2000, 0.2500]",
        "second          12.3400 [10.0000, 15.0000]                        –",
        "Why.",
    ]


def test_a_wide_table_breaks_its_intervals_off() -> None:
    assert lines(of(TABLE), 60)[6:13] == [
        "pipeline                 gap [95%]      regret [95%]",
        "─" * 52,
        "first pipeline              0.1234            0.2345",
        "                  [0.1000, 0.1500]  [0.2000, 0.2500]",
        "second                     12.3400                 –",
        "                [10.0000, 15.0000]",
        "Why.",
    ]


def test_a_very_wide_table_becomes_records() -> None:
    assert lines(of(TABLE), 40)[6:12] == [
        "first pipeline",
        "  gap [95%]     0.1234 [0.1000, 0.1500]",
        "  regret [95%]  0.2345 [0.2000, 0.2500]",
        "second",
        "  gap [95%]     12.3400 [10.0000,",
        "                15.0000]",
    ]


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_everything_fits_whatever_it_is_called(width: int) -> None:
    for audit in (hostile_audit(), crowded_audit()):
        text = render(audit, "table", width=width)
        assert max(cell_len(line) for line in text.splitlines()) <= width


def test_no_number_is_cut() -> None:
    text = render_table(of(TABLE), width=40, colour=False)
    assert not {"…", "..."} & set(text.split())
    for number in ("0.1234", "12.3400", "0.2345"):
        assert number in text


def test_a_terminal_shows_the_most_telling_rows_and_says_how_many_it_does_not() -> None:
    rows = tuple((f"pair {i:03}", f"{i}.0") for i in range(435))
    told = lines(of(Table("Pairs", ("pair", "x"), rows, (False, True), "", brief=12)), 80)
    assert sum(line.startswith("pair 0") for line in told) == 12
    assert "... and 423 more rows, in --format html, markdown and json." in told


def test_thirty_pipelines_stay_readable() -> None:
    text = render(crowded_audit(), "table")
    assert len(text.splitlines()) < 400
    assert text.count("... and 423 more rows") == 3
    assert render(crowded_audit(), "markdown").count("\n| pipeline ") >= 3 * 435


def test_colour_is_off_when_piped_and_when_it_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "\x1b" not in render_table(of(TABLE))  # pytest captures: no terminal
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in render_table(of(TABLE))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in render_table(of(TABLE))


def test_a_signature_is_broken_between_its_parts_only() -> None:
    signature = f"signature auditkit:0.1.0|seed:0|replicates:10000|sha256:{'0' * 64}"
    text = folded(signature, 80)
    assert "".join(line.strip() for line in text.splitlines()) == signature
    assert max(map(len, text.splitlines())) <= 80
    assert folded("signature a|b", 80) == "signature a|b"


def test_wide_characters_are_counted_by_their_columns() -> None:
    rows = (("比較手法", "1.0"), ("x", "22.0"))
    told = lines(of(Table("t", ("name", "x"), rows, (False, True))), 80)
    assert told[-2:] == ["比較手法   1.0", "x         22.0"]


WORDS = (
    "median",
    "CatBoost",
    "/",
    "over-budget",
    "ratio",
    "binomial",
    "比較手法",
    "XGBoost",
    "of",
    "one per",
    "q25",
)


def random_table(rng: random.Random) -> Table:
    """Headings of one to three words, some with a space at the end; numbers, intervals and names."""
    columns = rng.randint(1, 10)
    numeric = (False, *(rng.random() < 0.8 for _ in range(columns - 1)))
    names = tuple(
        " ".join(rng.choices(WORDS, k=rng.randint(1, 3))) + rng.choice(("", "", " "))
        for _ in range(columns)
    )
    return Table(
        "t",
        names,
        tuple(tuple(random_cell(rng, n) for n in numeric) for _ in range(3)),
        numeric,
    )


def random_cell(rng: random.Random, numeric: bool) -> str:
    if not numeric:
        return " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
    number = f"{rng.uniform(0, 10 ** rng.randint(0, 6)):.{rng.randint(1, 4)}f}"
    return rng.choice(("–", number, number, f"{number} [{number}, {number}]"))


def characters(text: str) -> Counter[str]:
    """How often each character is there, whatever the order of lines."""
    return Counter(c for c in text if not c.isspace() and c != "─")


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_every_heading_and_cell_appears_whole(width: int) -> None:
    rng = random.Random(width)
    layouts = Counter[bool]()
    for _ in range(300):
        table = random_table(rng)
        text = "\n".join(lines(of(table), width)[6:])
        records = "──" not in text
        layouts[records] += 1
        headings = table.columns[1:] * len(table.rows) if records else table.columns
        cells = [cell for row in table.rows for cell in row]
        assert characters(text) == characters("".join([*headings, *cells])), text
        if not records:
            for j in (j for j, numeric in enumerate(table.numeric) if numeric):
                for number in (row[j].split(" [")[0] for row in table.rows):
                    assert number in text.split(), text
    assert min(layouts[True], layouts[False]) > 20


def test_the_last_heading_folds_where_no_interval_is_broken_off() -> None:
    row = ("x" * 10, "1.44", "2.33")
    told = lines(
        of(Table("t", ("system", "over budget", "CatBoost /"), (row,), (False, True, True))), 30
    )
    assert told[6:] == [
        "              over  CatBoost",
        "system      budget         /",
        "────────────────────────────",
        "xxxxxxxxxx    1.44      2.33",
    ]


def test_a_long_name_of_a_record_folds() -> None:
    name = "a heading longer than the terminal is wide"
    names = ("x", *(f"{name} {i}" for i in range(9)))
    table = Table("t", names, (("first", *"123456789"),), (False, *(True,) * 9))
    told = lines(of(table), 40)
    assert characters("".join(told[6:])) == characters(
        "first" + "".join(f"{name} {i}{i + 1}" for i in range(9))
    )
