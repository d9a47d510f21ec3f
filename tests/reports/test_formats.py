"""Names from a stranger's file are shown as they are in every format, and do nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from auditkit.checks.common import Check
from auditkit.checks.run import CheckReport
from auditkit.errors import printable
from auditkit.reports.checks import render_checks
from auditkit.reports.document import Document, Figure, Point, Section, Table
from auditkit.reports.escaped import CELL
from auditkit.reports.html import render_html
from auditkit.reports.latex import escape as latex_escape
from auditkit.reports.latex import render_latex
from auditkit.reports.markdown import escape as markdown_escape
from auditkit.reports.markdown import render_markdown
from auditkit.reports.table import render_table
from auditkit.results.common import Stamp
from tests.reports.hostile import NAMES

SHOWN = tuple(printable(name, CELL) for name in NAMES)


def document(name: str) -> Document:
    """One name in every place of a document."""
    rows = ((name, "0.50 [0.25, 0.75]"), (f"{name} over {name}", "–"))
    section = Section(
        title=f"fidelity: {name}",
        verdict=f"{name} wins.",
        tables=(Table(f"Of {name}", (name, "x"), rows, (False, True), f"Note {name}"),),
        figures=(Figure(name, f"A bar: {name}", lambda axes: axes.set_title(name)),),
        skipped=(f"{name}: none stored",),
        notes=(f"{name} is a name.",),
        checklist=(Point(f"Is {name} named?", "missing", f"Add {name}."),),
    )
    return Document(f"Audit of {name}", (("file", name),), (section,), f"auditkit:1|{name}")


class Page(HTMLParser):
    """Texts, tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_html(name: str) -> None:
    page = Page(render_html(document(name)))
    shown = printable(name, CELL)
    assert page.texts.count(shown) >= 2  # a heading of the table and a cell
    assert f"{shown} wins." in page.texts or len(name) > CELL
    assert page.tags.isdisjoint({"script", "iframe", "img", "object", "embed", "form", "base"})
    assert not [attribute for attribute in page.attributes if attribute.startswith("on")]
    assert page.attributes.isdisjoint({"src", "srcset", "action"})


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_markdown(name: str) -> None:
    text = render_markdown(document(name))
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    inline = [token for token in tokens if token.type == "inline"]
    children = [child for token in inline for child in token.children or ()]
    seen = {"".join(c.content for c in t.children or () if c.type != "html_inline") for t in inline}
    shown = printable(name, CELL)
    assert shown in seen
    assert {c.content for c in children if c.type == "html_inline"} <= {"<!-- -->"}
    allowed = {"text", "code_inline", "strong_open", "strong_close", "html_inline", "text_special"}
    assert {c.type for c in children} <= allowed
    assert sum(c.type == "strong_open" for c in children) == 1  # the title above the verdict
    assert sum(c.type == "code_inline" for c in children) == 1  # the signature
    assert not [t for t in tokens if t.type in ("html_block", "fence", "code_block")]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 4 + 3  # the table, the checklist


def test_markdown_does_not_call_people_or_link() -> None:
    assert "@e" not in markdown_escape("@everyone")
    assert "://" not in markdown_escape("see https://evil.example")
    assert ":tada:" not in markdown_escape(":tada:")
    assert markdown_escape("0.9700 [0.9581, 0.9802]") == "0.9700 [0.9581, 0.9802]"
    assert markdown_escape("[-0.21, 0.05]") == "[-0.21, 0.05]"
    assert markdown_escape("single_best over multi_class") == "single_best over multi_class"


LATEX = {
    r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~", r"\textless{}": "<",
    r"\textgreater{}": ">", r"\textbar{}": "|", r"\textquotedbl{}": '"', r"\textasciigrave{}": "`",
    **{f"\\{c}": c for c in "{}$&%#_"}, "$-$": "-", "{}": "", r"$\to$": "→", "--": "–",
}  # fmt: skip


def unlatex(text: str) -> str:
    """What LaTeX prints; refuses every special character that is not one of the known escapes."""
    out = []
    pattern = re.compile("|".join(re.escape(key) for key in sorted(LATEX, key=len, reverse=True)))
    at = 0
    for match in pattern.finditer(text):
        plain = text[at : match.start()]
        assert not re.search(r"[\\{}$&%#_^~]", plain), plain
        out += [plain, LATEX[match[0]]]
        at = match.end()
    assert not re.search(r"[\\{}$&%#_^~]", text[at:]), text[at:]
    return "".join([*out, text[at:]])


@pytest.mark.parametrize("name", [*NAMES, "a--b---c", "-0.5", "''quotes''", "x→y"])
def test_latex(name: str) -> None:
    shown = printable(name, CELL)
    assert unlatex(latex_escape(shown)) == shown
    text = render_latex(document(name))
    assert text.count("{tabular}") == 2
    body = [line for line in text.splitlines() if line and not line.startswith("%")]
    assert body[0] == r"\begin{table}"
    assert body[-1] == r"\end{table}"
    assert sum(line.endswith(r" \\") for line in body) == 3
    for line in body[body.index(r"\midrule") + 1 : body.index(r"\bottomrule")]:
        first, second = line.removesuffix(r" \\").split(" & ") if "\\&" not in line else (line, "")
        assert second or first


def test_latex_keeps_a_bracket_from_the_end_of_the_line_before() -> None:
    table = Table("t", ("a", "b"), (("[x]", "[0.1, 0.2]"),), (False, True))
    text = render_latex(Document("d", (), (Section("s", "v", (table,)),)))
    assert r"{[x]} & {[0.1, 0.2]} \\" in text


def test_latex_lets_long_tables_run_over_pages() -> None:
    table = Table("t", ("a",), tuple((str(i),) for i in range(41)), (False,))
    text = render_latex(Document("d", (), (Section("s", "v", (table,)),)))
    assert r"\begin{longtable}{l}" in text
    assert r"\begin{table}" not in text


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_table(name: str) -> None:
    text = render_table(document(name), width=200)
    shown = printable(name, 60)  # as a cell
    assert any(line.startswith(f"{shown}  ") for line in text.splitlines())
    assert all(line.isprintable() for line in text.splitlines())


def report(name: str, *, strict: bool = False) -> CheckReport:
    checks = (
        Check("fidelity.lemma1", name, "error", "passed", "equal"),
        Check("fidelity.lemma2", name, "error", "failed", f"{name} differs"),
        Check("fidelity.reversal", name, "warning", "failed", f"{name} loses"),
        Check("selection.ranks", name, "error", "skipped", f"no {name}"),
    )
    stamp = Stamp(name, "0" * 64, {"seed": 0})
    return CheckReport(stamp, checks, tolerance=1e-12, strict=strict)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_junit(name: str) -> None:
    root = ElementTree.fromstring(render_checks(report(name), "junit"))
    cases = root.findall("./testsuite/testcase")
    assert [case.get("name") for case in cases] == [printable(name)] * 4
    assert [case.get("classname") for case in cases] == [
        "fidelity.lemma1", "fidelity.lemma2", "fidelity.reversal", "selection.ranks",
    ]  # fmt: skip
    assert [[child.tag for child in case] for case in cases] == [
        [], ["failure"], ["system-out"], ["skipped"],
    ]  # fmt: skip
    suites = root.findall("testsuite")
    assert [(s.get("name"), s.get("tests"), s.get("failures"), s.get("skipped")) for s in suites] == [
        ("fidelity", "3", "1", "0"), ("selection", "1", "0", "1"),
    ]  # fmt: skip
    assert (root.get("tests"), root.get("failures")) == ("4", "1")


def test_junit_counts_warnings_when_strict() -> None:
    root = ElementTree.fromstring(render_checks(report("x", strict=True), "junit"))
    assert root.get("failures") == "2"
    failures = root.findall(".//failure")
    assert [failure.get("type") for failure in failures] == ["error", "warning"]
    assert failures[1].get("message") == "x loses"


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_github(name: str) -> None:
    lines = render_checks(report(name), "github").splitlines()
    assert len(lines) == 3
    for line, level, title in zip(
        lines, ("error", "warning"), ("lemma2", "reversal"), strict=False
    ):
        command, message = line[2:].split("::", 1)
        assert line.startswith(f"::{level} file=")
        properties = dict(part.split("=", 1) for part in command.partition(" ")[2].split(","))
        assert properties["title"] == f"fidelity.{title}"
        assert unpercent(properties["file"]) == printable(name, 2000)
        assert unpercent(message).startswith(f"{printable(name, 2000)}: "[:900])
    assert lines[2] == "auditkit check FAILED: 1 ok, 1 broken, 1 warning, 1 skipped"


def test_github_says_where_nothing_was_checked() -> None:
    skipped = Check("fidelity.pipelines", "x", "error", "skipped", "no pipeline is stored")
    lines = render_checks(
        CheckReport(report("x").stamp, (skipped,), 1e-12, False), "github"
    ).splitlines()
    assert lines == ["auditkit check: nothing could be checked: 1 skipped"]


def unpercent(text: str) -> str:
    return text.replace("%2C", ",").replace("%3A", ":").replace("%25", "%")


def test_github_puts_what_counts_first() -> None:
    lines = render_checks(report("x", strict=True), "github").splitlines()
    assert [line.split(" ")[0] for line in lines[:2]] == ["::error", "::error"]


@pytest.mark.parametrize("form", ["table", "html", "markdown", "latex"])
def test_a_signature_is_never_cut(form: str) -> None:
    settings = {"replicates": 10**9, "confidence": 0.9999999999999999, "seed": 2**63 - 1,
                "method": "studentized", "resampler": "numpy", "fidelity": {"tie": 0.1}}  # fmt: skip
    signature = Stamp("a.h5", "f" * 64, settings).signature
    assert len(signature) > 200
    shown = Document("Audit", (("file", "a.h5"),), (), signature)
    text = {
        "table": lambda: render_table(shown, width=80),
        "html": lambda: render_html(shown),
        "markdown": lambda: render_markdown(shown),
        "latex": lambda: render_latex(shown),
    }[form]()
    assert signature in re.sub(r"\n\s*", "", text)


def test_a_signature_tells_every_setting_apart() -> None:
    def signature(**own: object) -> str:
        return Stamp("a.h5", "f" * 64, {"seed": 1, "selection": {"tie": 0.1, **own}}).signature

    assert re.fullmatch(
        r"auditkit:[\d.]+\|seed:1\|settings:[0-9a-f]{12}\|sha256:f{64}", signature()
    )
    assert signature() == signature(tie=0.1)
    assert len({signature(), signature(tie=0.2), signature(candidates=40)}) == 3
    assert Stamp(None, "f" * 64, {"seed": 1}).signature.endswith(f"|seed:1|sha256:{'f' * 64}")
