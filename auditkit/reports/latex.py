r"""The tables of a report for a paper, with booktabs rules; names cannot become commands."""

from __future__ import annotations

import re

from auditkit.reports.document import Document, Table
from auditkit.reports.escaped import escaped

_LONG = 40  # rows that fit a page
# a table wider than the text is made as wide as the text
_FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "`": r"\textasciigrave{}",
        "–": "--",
        "−": "$-$",
        "→": r"$\to$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "σ": r"$\sigma$",
        "×": r"$\times$",
    }
)
_MINUS = re.compile(r"(?<![\w-])-(?=\d)")
_LIGATURE = re.compile(r"([-',])(?=\1)")  # -- '' ,, are printed as one sign


def render_latex(document: Document) -> str:
    r"""Every table of the document as a ``table`` (or ``longtable``), and what it rests on as comments."""
    shown = escaped(document)
    lines = [
        r"% Needs \usepackage{booktabs,graphicx,longtable} and \usepackage[T1]{fontenc}.",
        *(_comment(f"{key}: {fact}") for key, fact in shown.facts),
        _comment(f"signature: {shown.signature}"),
    ]
    for i, section in enumerate(shown.sections, start=1):
        lines += ["", _comment(section.title), _comment(section.verdict)]
        for j, table in enumerate(section.tables, start=1):
            lines += ["", *_table(table, section.title, f"tab:auditkit-{i}-{j}")]
        lines += [_comment(f"skipped: {reason}") for reason in section.skipped]
        lines += [_comment(note) for note in section.notes]
    return "\n".join(lines)


def escape(text: str) -> str:
    r"""A text that LaTeX prints as it is; negative numbers get a minus sign."""
    marked = _LIGATURE.sub("\\1\0", _MINUS.sub("−", text))
    return marked.translate(_ESCAPES).replace("\0", "{}")


def _table(table: Table, subject: str, label: str) -> list[str]:
    columns = "".join("r" if numeric else "l" for numeric in table.numeric)
    note = f" {table.note}" if table.note else ""
    caption = rf"\caption{{{escape(f'{subject}. {table.title}.{note}')}}}\label{{{label}}}"
    head = _row(table.columns)
    rows = [_row(row) for row in table.rows]
    if len(rows) > _LONG:
        return [
            r"{\small\setlength{\tabcolsep}{3pt}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"{caption}\\",
            r"\toprule", head, r"\midrule", r"\endhead",
            *rows,
            r"\bottomrule", r"\end{longtable}}",
        ]  # fmt: skip
    return [
        r"\begin{table}", r"\centering\small", caption, _FIT, rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}}", r"\end{table}",
    ]  # fmt: skip


def _row(cells: tuple[str, ...]) -> str:
    # a cell that starts with [ would be an argument of the \\ before it
    return (
        " & ".join(f"{{{escape(c)}}}" if c.startswith("[") else escape(c) for c in cells) + r" \\"
    )


def _comment(text: str) -> str:
    return f"% {text}"
