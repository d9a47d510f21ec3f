"""A report as GitHub-flavoured Markdown, for pull requests; names cannot become markup, links or mentions."""

from __future__ import annotations

import re

from auditkit.reports.document import Document, Section, Table
from auditkit.reports.escaped import escaped

_ALWAYS = str.maketrans(
    {**{c: f"\\{c}" for c in "\\`*|~$"}, "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
_UNDERSCORE = re.compile(r"(?<!\w)_|_(?!\w)|__")
_LINK = re.compile(r"\](?=[(\[:])")
_START = re.compile(r"^(#+|[+=-]|\d+[.)]|\[[ xX]\])(?=\s|$)")  # heading, list, task
_HIDDEN = "<!-- -->"
# what GitHub links by itself: addresses, mentions, and :emoji:
_AUTOMATIC = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=\w)|(?<=:)(?=[\w+-]+:)")


def render_markdown(document: Document) -> str:
    """The document as Markdown: the verdicts first, then tables, each long part folded away."""
    shown = escaped(document)
    lines = [f"# {escape(shown.title)}", ""]
    for section in shown.sections:
        lines += [f"**{escape(section.title)}.** {escape(section.verdict)}", ""]
    lines += [f"- {escape(key)}: {escape(fact)}" for key, fact in shown.facts]
    lines += [f"- signature: `{shown.signature.replace('`', '')}`"] if shown.signature else []
    for section in shown.sections:
        lines += ["", f"## {escape(section.title)}", *_section(section)]
    lines += [line for note in shown.notes for line in ("", escape(note))]
    return "\n".join(lines)


def escape(text: str) -> str:
    """A text that Markdown shows as it is."""
    text = _UNDERSCORE.sub(lambda m: "".join("\\_" for _ in m[0]), text.translate(_ALWAYS))
    text = _LINK.sub(r"\\]", text)
    text = _START.sub(lambda m: f"{m[0][:-1]}\\{m[0][-1]}", text)
    return _AUTOMATIC.sub(_HIDDEN, text)


def _section(section: Section) -> list[str]:
    lines: list[str] = []
    for table in section.tables:
        lines += ["", f"### {escape(table.title)}", "", *_table(table)]
        lines += ["", escape(table.note)] if table.note else []
    if section.checklist:
        rows = tuple((p.status, p.question, p.answer) for p in section.checklist)
        points = Table(
            "Reporting checklist", ("status", "point", "what the file says"), rows, (False,) * 3
        )
        lines += ["", "### Reporting checklist", "", *_table(points)]
    for title, texts in (("Skipped", section.skipped), ("Notes", section.notes)):
        if texts:
            lines += ["", f"### {title}", "", *(f"- {escape(text)}" for text in texts)]
    return lines


def _table(table: Table) -> list[str]:
    rule = ("---:" if numeric else "---" for numeric in table.numeric)
    lines = [_row(table.columns), f"| {' | '.join(rule)} |"]
    return lines + [_row(row) for row in table.rows]


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(escape, cells))} |"
