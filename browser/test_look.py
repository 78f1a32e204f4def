"""Themes, narrow screens and paper."""

from __future__ import annotations

import io

import pytest
from pypdf import PdfReader

from conftest import KINDS, PHONE, Read, Reading, Shelf


def colours(reading: Reading) -> tuple[str, str, str]:
    """Of the paper, the ink and a line of a chart."""
    script = """() => {
        const style = getComputedStyle(document.body);
        const line = document.querySelector("#front-0 .drawing [stroke='var(--series-0)']");
        return [style.backgroundColor, style.color, getComputedStyle(line).stroke];
    }"""
    return tuple(reading.page.evaluate(script))


def emulate(reading: Reading, scheme: str) -> None:
    """Changes what the system asks for, and waits until the page has been told."""
    reading.page.evaluate(
        """() => matchMedia("(prefers-color-scheme: dark)")
            .addEventListener("change", () => (window.told = true), { once: true })"""
    )
    reading.page.emulate_media(color_scheme=scheme)
    reading.page.wait_for_function("() => window.told")
    reading.page.evaluate("() => delete window.told")


def test_theme_button_goes_round(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    button = reading.page.locator("#theme")
    light = colours(reading)
    seen = [button.inner_text()]
    for _ in range(3):
        button.click()
        seen.append(button.inner_text())
        if seen[-1] == "Theme: dark":
            dark = colours(reading)
    assert seen == ["Theme: auto", "Theme: light", "Theme: dark", "Theme: auto"]
    assert all(a != b for a, b in zip(light, dark, strict=True))
    assert colours(reading) == light


def test_theme_follows_the_system_until_it_is_chosen(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"), scheme="dark")
    dark = colours(reading)
    emulate(reading, "light")
    light = colours(reading)
    assert all(a != b for a, b in zip(light, dark, strict=True))
    reading.page.locator("#theme").click()
    emulate(reading, "dark")
    assert colours(reading) == light


def test_theme_is_remembered(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    reading.page.locator("#theme").click(click_count=2)
    assert reading.page.locator("#theme").inner_text() == "Theme: dark"
    reading.page.reload()
    assert reading.page.locator("#theme").inner_text() == "Theme: dark"


@pytest.mark.parametrize(
    ("kind", "width"), [*((kind, 360) for kind in [*KINDS, "cifar100"]), ("demo", 390)]
)
def test_phone_does_not_scroll_sideways(shelf: Shelf, read: Read, kind: str, width: int) -> None:
    reading = read(shelf.report(kind), (width, 800))
    for _ in reading.tabs():
        reading.draw_all()
        reading.open_tables()
        reading.page.evaluate("scrollTo(1000, 0)")
        assert reading.page.evaluate("scrollX") == 0
        assert reading.page.evaluate("document.documentElement.scrollWidth") <= width


def test_slider_stays_in_view_on_a_phone(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"), PHONE)
    reading.draw_all()
    for chart in ("front-0", "chart-0-0", "embedding-0", "weights-0"):
        reading.page.locator(f"#{chart} .drawing").first.scroll_into_view_if_needed()
        box = reading.page.locator("#slider-0").bounding_box()
        assert box and box["y"] >= 0 and box["y"] + box["height"] <= PHONE[1]


def test_charts_follow_the_width(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    reading.draw_all()
    reading.move_to(7)
    for width in (700, 360, 1280):
        reading.page.set_viewport_size({"width": width, "height": 900})
        reading.page.wait_for_function(
            """() => [...document.querySelectorAll(".drawing > svg")].every(svg =>
                Number(svg.getAttribute("width")) === svg.parentNode.clientWidth)"""
        )
        assert reading.page.locator("#slider-0").input_value() == "7"


@pytest.mark.parametrize("kind", ["fit", "demo", "reproduce"])
def test_axes_are_drawn_once(shelf: Shelf, read: Read, kind: str) -> None:
    reading = read(shelf.report(kind))
    reading.draw_all()
    # Axes that Plot adds of its own have labels with arrows; ours stand beside the drawing.
    for svg in reading.page.locator(".drawing > svg").all():
        words = svg.locator("text").all_text_contents()
        assert words and not any(arrow in word for word in words for arrow in "→↑↓←"), words


@pytest.mark.parametrize("kind", ["front", "fit", "demo"])
def test_report_prints(shelf: Shelf, read: Read, kind: str) -> None:
    reading = read(shelf.report(kind))
    reading.move_to(4)
    at = reading.at()
    title = reading.page.locator("h1").inner_text()
    command = reading.page.locator("#command-0").text_content() or ""
    pdf = reading.page.pdf()
    assert pdf.startswith(b"%PDF") and len(pdf) > 20_000
    text = "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)
    squeezed = "".join(text.split())
    for words in (title, at["leakage"][1], at["utility"][1], command):
        assert "".join(words.split()) in squeezed, words


def test_every_chart_is_on_paper(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("fit"))
    reading.page.pdf()
    # Those that were never reached on the screen as well.
    drawings = reading.page.locator(".drawing")
    assert drawings.evaluate_all("nodes => nodes.every(node => node.querySelector('svg'))")


def test_paper_has_no_buttons_and_light_colours(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("demo"), scheme="dark")
    reading.page.emulate_media(media="print", color_scheme="dark")
    assert reading.page.locator("button:visible, input:visible, select:visible").count() == 0
    assert reading.page.locator("[role=tablist]:visible, .bar:visible").count() == 0
    assert colours(reading)[0] == "rgb(255, 255, 255)"
    assert reading.page.locator("#command-0").is_visible()


def test_without_scripts_the_page_says_so(shelf: Shelf, browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(shelf.report("front").path.as_uri())
    assert "allow scripts" in page.locator("noscript").inner_text()
    context.close()
