"""Reports in a headless Chromium: they open offline, fit a desk and a phone, and can be read without eyes or mouse.

Skipped where there is no Chromium (``AUDITKIT_CHROMIUM`` names one).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from auditkit import store
from auditkit.audits.run import run_audits
from auditkit.demo import demo_data
from auditkit.reports.render import render
from auditkit.results.audit import Audit
from tests.reports.browser import Browser, browser_path
from tests.reports.hostile import NAMES, QUICK, crowded_audit, hostile_audit

LARGEST = 2_000_000  # bytes
SIZES = [(1280, False), (1280, True), (390, False), (390, True)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium here")
    with Browser(path) as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    audits: dict[str, Audit] = {
        "demo": run_audits(demo_data(), replicates=50, options=QUICK),
        "hostile": hostile_audit(),
        "crowded": crowded_audit(),
    }
    found = {}
    for name, audit in audits.items():
        found[name] = folder / f"{name}.html"
        found[name].write_text(render(audit, "html"), encoding="utf-8")
    return found


def look(browser: Browser, page: Path, width: int, dark: bool) -> None:
    """What must hold of every page on every screen."""
    browser.open(page, width, dark=dark)
    assert browser.complaints == []
    assert browser.requests == [page.resolve().as_uri()]
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(OVERFLOWING) == []
    assert browser.evaluate("document.querySelectorAll('h1').length") == 1


# texts that leave their figure, and boxes that leave the page outside a scroll region
OVERFLOWING = """
[...document.querySelectorAll('svg text')].filter(text => {
  const a = text.getBoundingClientRect(), b = text.closest('svg').getBoundingClientRect();
  return a.left < b.left - 3 || a.right > b.right + 3 || a.top < b.top - 3 || a.bottom > b.bottom + 3;
}).map(text => text.textContent).concat(
[...document.querySelectorAll('p, h1, h2, h3, figure, dl, li')].filter(box =>
  box.getBoundingClientRect().right > innerWidth + 1).map(box => box.textContent))
"""


@pytest.mark.parametrize(("width", "dark"), SIZES)
@pytest.mark.parametrize("name", ["demo", "hostile", "crowded"])
def test_a_page_fits_asks_for_nothing_and_says_nothing(
    browser: Browser, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    look(browser, pages[name], width, dark)
    assert pages[name].stat().st_size < LARGEST


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_a_real_file(
    browser: Browser, shared_data: Path, tmp_path: Path, width: int, dark: bool
) -> None:
    data = store.open(shared_data / "fidelity" / "maxsat_pms_2016.h5")
    page = tmp_path / "maxsat.html"
    page.write_text(render(run_audits(data, replicates=200), "html"), encoding="utf-8")
    look(browser, page, width, dark)
    assert page.stat().st_size < LARGEST


def test_light_and_dark_differ(browser: Browser, pages: dict[str, Path]) -> None:
    seen = []
    for dark in (False, True):
        browser.open(pages["demo"], 1280, dark=dark)
        seen.append(
            [
                browser.evaluate("getComputedStyle(document.body).backgroundColor"),
                browser.evaluate("getComputedStyle(document.querySelector('svg text')).fill"),
            ]
        )
    assert seen[0] == ["rgb(255, 255, 255)", "rgb(31, 35, 40)"]
    assert seen[1] == ["rgb(22, 25, 29)", "rgb(230, 232, 235)"]


def test_the_verdict_comes_first(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["demo"], 390)
    first = browser.evaluate("document.querySelector('main p').textContent")
    assert "decomposed pipelines lose utility" in first
    top = browser.evaluate("document.querySelector('main p').getBoundingClientRect().top")
    assert top < 300


def test_every_image_and_region_has_a_name_for_screen_readers(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["demo"], 1280)
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    named = {"image": [], "img": [], "region": [], "table": [], "link": []}  # type: dict[str, list[str]]
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in named and not node.get("ignored"):
            named[role].append(node.get("name", {}).get("value", ""))
    images = named["image"] + named["img"]
    figures = browser.evaluate("document.querySelectorAll('figure').length")
    assert len([name for name in images if name]) >= figures >= 4
    assert all(named["region"])
    assert len(named["region"]) > 5
    levels = browser.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_keyboard_reaches_everything(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["demo"], 390)
    stops = []
    for _ in range(12):
        for kind in ("keyDown", "keyUp"):
            browser.call(
                "Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9
            )
        stops.append(
            browser.evaluate(
                "document.activeElement.tagName + '.' + document.activeElement.className"
            )
        )
    assert stops[0] == "A.skip"
    assert "SUMMARY." in stops
    # wide tables scroll, and so must be reachable
    unreachable = browser.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(e => e.tabIndex !== 0).length"
    )
    assert unreachable == 0


def test_it_prints(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["crowded"], 1280, dark=True)
    pdf = browser.pdf()
    assert pdf.startswith(b"%PDF")
    pages_printed = pdf.count(b"/Type /Page\n") or pdf.count(b"/Type/Page")
    assert pages_printed > 20  # all 435 pairs, not the part that the screen shows


def test_hostile_names_are_shown_and_do_nothing(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["hostile"], 1280)
    text = browser.evaluate("document.body.innerText")
    for name in (NAMES[0], NAMES[2], NAMES[6], NAMES[7]):
        assert name in text
    assert "new\\nline" in text
    assert "right\\u202eto left" in text
    assert "\u202e" not in text
    assert browser.evaluate("document.querySelectorAll('script, [onload], img').length") == 0


def test_thirty_pipelines_render_in_under_five_seconds() -> None:
    audit = crowded_audit()
    render(audit, "html")  # once, so that nothing is measured but the rendering
    start = time.process_time()
    for format_ in ("table", "json", "html", "markdown", "latex"):
        render(audit, format_)
    assert time.process_time() - start < 5
