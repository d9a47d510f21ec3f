"""Figures as inline SVG: well-formed, named for screen readers, colours that follow the page, names as they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from auditkit.reports import style
from auditkit.reports.document import Figure
from auditkit.reports.svg import render_svg

SVG = "{http://www.w3.org/2000/svg}"


def plain(axes: Any) -> None:
    axes.plot([0, 1], [0, 1], "o-", label="line")
    axes.bar([0], [1], color=style.VERMILION)
    axes.legend()


def drawn(draw: Callable[[Any], None] = plain, key: str = "f1") -> ElementTree.Element:
    return ElementTree.fromstring(render_svg(Figure("The title", "What it shows: 0.5.", draw), key))


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_it_is_an_image_with_a_title_and_a_description() -> None:
    root = drawn()
    assert root.get("role") == "img"
    by_id = {element.get("id"): element for element in root.iter()}
    named = [by_id[key].text for key in (root.get("aria-labelledby") or "").split()]
    assert named == ["The title", "What it shows: 0.5."]


def test_ids_are_its_own_and_every_reference_leads_to_one() -> None:
    one, other = (
        {e.get("id") for e in drawn(key=key).iter() if e.get("id")} for key in ("s1f1", "s1f11")
    )
    assert not one & other
    text = render_svg(Figure("t", "a", plain), "s1f1")
    references = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text)
    assert references
    assert {a or b for a, b in references} <= one


def test_palette_colours_follow_the_page() -> None:
    text = render_svg(Figure("t", "a", plain), "f")
    assert f"var(--blue, {style.BLUE})" in text
    assert f"var(--vermilion, {style.VERMILION})" in text
    assert f"var(--ink, {style.INK})" in text
    assert not re.search(rf"(?<!, )({'|'.join((style.BLUE, style.VERMILION, style.INK))})", text)


def test_it_is_the_same_every_time_and_loads_nothing() -> None:
    text = render_svg(Figure("t", "a", plain), "f")
    assert text == render_svg(Figure("t", "a", plain), "f")
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip
    assert "<image" not in text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("$x^2$", "$x^2$"),
        ("<b>&amp;", "<b>&amp;"),
        ("a\u202eb", "a\\u202eb"),
        ("a\x07b", "a\\x07b"),
        ("$broken{", "$broken{"),
        ("比較", "比較"),
    ],
)
def test_names_are_shown_as_they_are(name: str, shown: str) -> None:
    assert shown in texts(drawn(lambda axes: axes.set_xlabel(name)))


def test_a_very_long_name_is_cut() -> None:
    assert max(map(len, texts(drawn(lambda axes: axes.text(0, 0, "x" * 10_000))))) <= 200
    assert len(style.label("x" * 10_000)) <= 28


def test_logarithmic_axes_have_plain_numbers() -> None:
    def draw(axes: Any) -> None:
        axes.plot([1, 1000], [1, 2])
        axes.set_xscale("log")

    assert {"1", "10", "100", "1000"} <= set(texts(drawn(draw)))


def luminance(colour: str) -> float:
    """Relative luminance of sRGB (WCAG 2.2)."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", [0, 1], ids=["light", "dark"])
def test_contrast(page: int) -> None:
    """Graphics at least 3:1 against the paper and the shade, text 4.5:1 (WCAG 2.2, 1.4.11 and 1.4.3)."""
    colours = {name: pair[page] for name, pair in style.PALETTE.items()}
    for name in ("blue", "vermilion", "green", "purple", "amber", "grey"):
        assert contrast(colours[name], colours["paper"]) >= 3, name
    for name in ("ink", "grey", "green", "amber", "blue"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
    assert contrast(colours["ink"], colours["shade"]) >= 4.5


def confused(colour: str, kind: str) -> tuple[float, float, float]:
    """How a dichromat sees a colour: the matrices of Viénot, Brettel and Mollon (1999), in linear RGB."""
    matrices = {
        "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
        "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    }
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    seen = [sum(m * x for m, x in zip(row, linear, strict=True)) for row in matrices[kind]]
    encoded = [max(0.0, min(1.0, x)) ** (1 / 2.4) for x in seen]
    return encoded[0], encoded[1], encoded[2]


@pytest.mark.parametrize("kind", ["protan", "deutan"])
@pytest.mark.parametrize("page", [0, 1], ids=["light", "dark"])
def test_the_first_two_colours_differ_for_colour_blind_readers(page: int, kind: str) -> None:
    one, other = (confused(style.PALETTE[name][page], kind) for name in ("blue", "vermilion"))
    assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.4


def test_things_differ_by_more_than_colour() -> None:
    assert len(set(style.MARKERS)) == len(style.CYCLE) == len(style.MARKERS)
