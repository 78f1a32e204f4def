"""The slider moves everything, and everything comes back with it."""

from __future__ import annotations

import re

import pytest

from conftest import Read, Reading, Shelf

# Both are counted up with every drawing.
IDS = re.compile(r"plot-clip-\d+|choice-\d+")


def followers(reading: Reading, explorer: int) -> list[str]:
    """The charts that follow the slider; in others there is nothing that could."""
    script = """explorer => [...document.querySelectorAll(`#explorer-${explorer} figure`)]
        .filter(figure => figure.querySelector(".cursors") || !/^(front|chart)-/.test(figure.id))
        .map(figure => figure.id)"""
    return reading.page.evaluate(script, explorer)


def drawn(reading: Reading, chart: str) -> str:
    """What is seen of a chart: each drawing, or the words that stand for it."""
    script = """figure => [...figure.querySelectorAll(".drawing > svg, .note")]
        .filter(node => node.getClientRects().length).map(node => node.outerHTML).join()"""
    return IDS.sub("", reading.page.locator(f"#{chart}").evaluate(script))


def table(reading: Reading, chart: str) -> str:
    return reading.page.locator(f"#{chart} details .tables").inner_text()


@pytest.mark.parametrize("kind", ["front", "kernel", "fit", "audit", "compare", "demo", "cifar100"])
def test_slider_moves_every_panel_and_back(shelf: Shelf, read: Read, kind: str) -> None:
    reading = read(shelf.report(kind))
    for explorer in reading.tabs():
        reading.open_tables()
        reading.draw_all()
        charts = followers(reading, explorer)
        names = ["front-{}", "chart-{}-0", "embedding-{}", "weights-{}"]
        assert {name.format(explorer) for name in names} <= set(charts)
        # Neither end: some things do not change near one.
        last = reading.positions(explorer) - 1
        here, there = last // 5, 4 * last // 5
        reading.move_to(here, explorer)
        before = {chart: drawn(reading, chart) for chart in charts}
        tables = {chart: table(reading, chart) for chart in charts}
        words = reading.page.locator(".summary").inner_text()
        reading.move_to(there, explorer)
        for chart in charts:
            assert drawn(reading, chart) != before[chart], chart
        for chart in (f"embedding-{explorer}", f"weights-{explorer}"):
            assert table(reading, chart) != tables[chart], chart
        assert reading.page.locator(".summary").inner_text() != words
        reading.move_to(here, explorer)
        for chart in charts:
            assert drawn(reading, chart) == before[chart], chart
            assert table(reading, chart) == tables[chart], chart
        assert reading.page.locator(".summary").inner_text() == words


def test_every_step_moves_the_cursor_of_the_front(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    cursor = reading.page.locator("#front-0 .cursors > g")
    places = set()
    for position in range(reading.positions()):
        reading.move_to(position)
        places.add(cursor.get_attribute("transform"))
    assert len(places) == reading.positions()


def test_cursor_stands_where_the_axes_say(shelf: Shelf, read: Read) -> None:
    report = shelf.report("front")
    reading = read(report)
    # Plot hangs its scales on the svg element.
    script = """() => {
        const svg = document.querySelector("#front-0 .drawing > svg");
        const [x, y] = svg.querySelector(".cursors > g").getAttribute("transform")
            .match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
        return [svg.scale("x").invert(x), svg.scale("y").invert(y)];
    }"""
    for position in (0, 10, reading.positions() - 1):
        reading.move_to(position)
        level = report.json["levels"][position]
        expected = [level["leakage"], level["utility"]]
        assert reading.page.evaluate(script) == pytest.approx(expected, abs=1e-9)


def test_front_chart_is_clicked(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    slider = reading.page.locator("#slider-0")
    last = reading.positions() - 1
    drawing = reading.page.locator("#front-0 .drawing")
    dot = reading.page.locator("#front-0 .cursors > g")
    for position in (last, last // 2, 0):
        reading.move_to(position)
        place, frame = dot.bounding_box(), drawing.bounding_box()
        assert place and frame
        x = place["x"] + place["width"] / 2 - frame["x"]
        y = place["y"] + place["height"] / 2 - frame["y"]
        reading.move_to((position + last // 2 + 1) % (last + 1))
        drawing.click(position={"x": x, "y": y})
        assert abs(int(slider.input_value()) - position) <= 1


def test_units_of_the_front_are_chosen(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    reading.move_to(5)
    radios = reading.page.locator(".front > .choice input")
    seen = set()
    for k in range(radios.count()):
        radios.nth(k).check(force=True)
        reading.settle()
        seen.add(drawn(reading, "front-0"))
        before = reading.page.locator("#front-0 .cursors").inner_html()
        reading.move_to(40)
        assert reading.page.locator("#front-0 .cursors").inner_html() != before
        reading.move_to(5)
        assert reading.page.locator("#front-0 .cursors").inner_html() == before
    assert len(seen) == radios.count() >= 2


def test_buttons_step_and_stop_at_the_ends(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    slider = reading.page.locator("#slider-0")
    back = reading.page.get_by_role("button", name="Previous position")
    forth = reading.page.get_by_role("button", name="Next position")
    last = reading.positions() - 1
    slider.press("Home")
    assert back.is_disabled() and forth.is_enabled()
    first = reading.at()
    forth.click()
    assert slider.input_value() == "1" and reading.at() != first
    back.click()
    assert slider.input_value() == "0" and reading.at() == first
    slider.press("End")
    assert slider.input_value() == str(last)
    assert back.is_enabled() and forth.is_disabled()


def test_keys_move_by_pages(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    slider = reading.page.locator("#slider-0")
    slider.press("Home")
    slider.press("PageUp")
    up = int(slider.input_value())
    assert up > 1
    leakage = reading.at()["leakage"]
    slider.press("PageUp")
    slider.press("PageDown")
    assert int(slider.input_value()) == up and reading.at()["leakage"] == leakage
    slider.press("ArrowLeft")
    assert int(slider.input_value()) == up - 1


def test_tabs_keep_their_own_positions(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("demo"))
    page = reading.page
    reading.move_to(3, 0)
    words = page.locator(".summary").inner_text()
    page.locator("#tab-0").press("ArrowRight")
    assert page.locator("#tab-1").get_attribute("aria-selected") == "true"
    assert page.locator("#explorer-0").is_hidden()
    reading.move_to(7, 1)
    assert page.locator(".summary").inner_text() != words
    page.locator("#tab-1").press("Home")
    assert page.locator("#slider-0").input_value() == "3"
    assert page.locator(".summary").inner_text() == words


def test_embedding_follows_the_attribute_chosen(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    reading.draw_all()
    before = drawn(reading, "embedding-0")
    reading.page.locator("#embedding-0 select").select_option(label="income")
    after = drawn(reading, "embedding-0")
    assert after != before
    assert "income" in reading.page.locator("#embedding-0 h3").inner_text()
