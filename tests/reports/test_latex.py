"""The LaTeX tables, typeset: skipped where there is no pdflatex."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from auditkit.reports.render import render
from tests.reports.hostile import crowded_audit, hostile_audit

PAPER = r"""\documentclass{article}
\usepackage{booktabs,graphicx,longtable}
\usepackage[T1]{fontenc}
\begin{document}
\input{tables}
\end{document}
"""


@pytest.mark.parametrize("name", ["hostile", "crowded"])
def test_every_table_is_typeset(tmp_path: Path, name: str) -> None:
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        pytest.skip("no pdflatex here")
    if subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).returncode:
        pytest.skip("no booktabs.sty here (Debian: texlive-latex-recommended)")
    audit = hostile_audit() if name == "hostile" else crowded_audit()
    (tmp_path / "tables.tex").write_text(render(audit, "latex") + "\n", encoding="utf-8")
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    command = [
        "pdflatex",
        "-no-shell-escape",
        "-interaction=nonstopmode",
        "-halt-on-error",
        "paper.tex",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in done.stdout
