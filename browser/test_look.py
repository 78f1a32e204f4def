"""Themes, narrow screens and paper."""

from __future__ import annotations

import io

import pytest
from pypdf import PdfReader

from conftest import KINDS, PHONE, Read, Reading, Shelf

# A4 less its margins, at 96 pixels to an inch.
PAPER = (688, 900)


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
        reading.open_tables()
        reading.page.evaluate("scrollTo(1000, 0)")
        assert reading.page.evaluate("scrollX") == 0
        assert reading.page.evaluate("document.documentElement.scrollWidth") <= width


def test_slider_stays_in_view_on_a_phone(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"), PHONE)
    for chart in ("front-0", "chart-0-0", "embedding-0", "weights-0"):
        reading.page.locator(f"#{chart} figcaption").first.scroll_into_view_if_needed()
        box = reading.page.locator("#slider-0").bounding_box()
        assert box and box["y"] >= 0 and box["y"] + box["height"] <= PHONE[1]


SHOWN = """drawings => drawings.filter(drawing => drawing.clientWidth > 0).map(drawing =>
    [...drawing.children].filter(svg => svg.clientWidth > 0).map(svg =>
        [svg.classList.contains("narrow"), svg.clientWidth / drawing.clientWidth,
         Math.min(...[...svg.querySelectorAll("text")].map(text =>
            parseFloat(getComputedStyle(text).fontSize) * svg.clientWidth / svg.viewBox.baseVal.width))]))"""


@pytest.mark.parametrize(
    ("width", "narrow"), [(1440, False), (1024, False), (700, False), (360, True)]
)
def test_charts_follow_the_width(shelf: Shelf, read: Read, width: int, narrow: bool) -> None:
    reading = read(shelf.report("fit"), (width, 900))
    reading.move_to(7)
    shown = reading.page.locator(".drawing").evaluate_all(SHOWN)
    assert len(shown) > 5
    for drawings in shown:
        # One of two, as wide as its place, with letters that can be read.
        assert [drawing[0] for drawing in drawings] == [narrow]
        assert drawings[0][1] == pytest.approx(1, abs=0.01)
        assert drawings[0][2] > 9.5
    assert reading.page.locator("#slider-0").input_value() == "7"


def test_a_page_that_becomes_narrow_shows_the_same_rows(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    reading.move_to(7)
    count = """([screen]) => [...document.querySelectorAll(
        `#embedding-0 [data-dim]:not([hidden]) svg.${screen} .rows[data-label='0'] path`)]
        .map(path => path.getAttribute("d").split("M").length)"""
    wide = reading.page.evaluate(count, ["wide"])
    reading.page.set_viewport_size({"width": 360, "height": 900})
    reading.settle()
    assert reading.page.evaluate(count, ["narrow"]) == wide and sum(wide) > 400


@pytest.mark.parametrize("kind", ["fit", "demo", "reproduce"])
def test_axes_have_ticks(shelf: Shelf, read: Read, kind: str) -> None:
    reading = read(shelf.report(kind))
    for svg in reading.page.locator(".drawing > svg").all():
        assert len(svg.locator("text").all_text_contents()) >= 4


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
    reading = read(shelf.report("fit"), PAPER)
    reading.page.emulate_media(media="print")
    shown = reading.page.locator(".drawing").evaluate_all(SHOWN)
    assert len(shown) > 5
    # Each once: the front in full, those that stand side by side as on a phone.
    assert all(len(drawings) == 1 for drawings in shown)
    assert [drawings[0][0] for drawings in shown].count(False) == 1
    assert all(drawings[0][2] > 7 for drawings in shown)


@pytest.mark.parametrize("kind", ["compare", "audit", "fit"])
def test_nothing_is_cut_off_by_the_edge_of_the_paper(shelf: Shelf, read: Read, kind: str) -> None:
    reading = read(shelf.report(kind), PAPER)
    reading.page.emulate_media(media="print")
    script = """() => [...document.querySelectorAll("main *")]
        .filter(node => node.getClientRects().length && node.getBoundingClientRect().right > 689)
        .map(node => `${node.tagName} ${node.className.baseVal ?? node.className}`)"""
    assert reading.page.evaluate(script) == []


def test_printed_parts_do_not_overlap(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("fit"), PAPER)
    reading.page.emulate_media(media="print")
    script = """() => {
        const bottom = document.querySelector("#command-0").getBoundingClientRect().bottom;
        const next = document.querySelector("#explorer-0 > .charts").getBoundingClientRect().top;
        return next - bottom;
    }"""
    assert reading.page.evaluate(script) >= 0


def test_paper_has_no_buttons_and_light_colours(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("demo"), scheme="dark")
    reading.page.emulate_media(media="print", color_scheme="dark")
    assert reading.page.locator("button:visible, input:visible, select:visible").count() == 0
    assert reading.page.locator("[role=tablist]:visible, .bar:visible").count() == 0
    assert colours(reading)[0] == "rgb(255, 255, 255)"
    assert reading.page.locator("#command-0").is_visible()


@pytest.mark.parametrize("kind", ["front", "demo", "compare"])
def test_without_scripts_everything_is_there(shelf: Shelf, browser, kind: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(shelf.report(kind).path.as_uri())
    assert page.locator("h1").inner_text() and page.locator(".verdict").first.inner_text()
    for explorer in range(2 if kind != "front" else 1):
        for chart in (f"front-{explorer}", f"chart-{explorer}-0", f"embedding-{explorer}"):
            assert page.locator(f"#{chart} svg.wide").first.is_visible()
            assert page.locator(f"#{chart} svg.wide path").count() > 3
        assert page.locator(f"#weights-{explorer} table.weights").is_visible()
        assert page.locator(f"#readout-{explorer} [data-field=leakage]").inner_text()
    # What would do nothing is not there.
    assert page.locator("button:visible, select:visible, .bar:visible").count() == 0
    context.close()
