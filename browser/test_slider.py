"""The slider moves everything, and everything comes back with it."""

from __future__ import annotations

import csv

import pytest

from conftest import Read, Reading, Shelf

CURSOR = "#front-0 svg.wide .cursors > g"


def followers(reading: Reading, explorer: int) -> list[str]:
    """The charts that follow the slider; in others there is nothing that could."""
    script = """explorer => [...document.querySelectorAll(`#explorer-${explorer} figure`)]
        .filter(figure => figure.checkVisibility())
        .filter(figure => figure.querySelector(".cursors") || !/^(front|chart)-/.test(figure.id))
        .map(figure => figure.id)"""
    return reading.page.evaluate(script, explorer)


def drawn(reading: Reading, chart: str) -> str:
    """What is seen of a chart: each drawing, or the words that stand for it."""
    script = """figure => [...figure.querySelectorAll(".drawing > svg, table.weights, .note")]
        .filter(node => node.getClientRects().length).map(node => node.outerHTML).join()"""
    return reading.page.locator(f"#{chart}").evaluate(script)


def table(reading: Reading, chart: str) -> str:
    return reading.page.locator(f"#{chart} details .tables").inner_text()


@pytest.mark.parametrize("kind", ["front", "kernel", "fit", "audit", "compare", "demo", "cifar100"])
def test_slider_moves_every_panel_and_back(shelf: Shelf, read: Read, kind: str) -> None:
    reading = read(shelf.report(kind))
    for explorer in reading.tabs():
        reading.open_tables()
        charts = followers(reading, explorer)
        names = ["front-{}", "chart-{}-0", "embedding-{}", "weights-{}"]
        assert {name.format(explorer) for name in names} <= set(charts)
        # Neither end: some things do not change near one.
        last = reading.positions(explorer) - 1
        here, there = last // 5, 4 * last // 5
        reading.move_to(here, explorer)
        before = {chart: drawn(reading, chart) for chart in charts}
        tables = {chart: table(reading, chart) for chart in charts}
        words = reading.page.locator(".summary:visible").inner_text()
        reading.move_to(there, explorer)
        for chart in charts:
            assert drawn(reading, chart) != before[chart], chart
        for chart in (f"embedding-{explorer}", f"weights-{explorer}"):
            assert table(reading, chart) != tables[chart], chart
        assert reading.page.locator(".summary:visible").inner_text() != words
        reading.move_to(here, explorer)
        for chart in charts:
            assert drawn(reading, chart) == before[chart], chart
            assert table(reading, chart) == tables[chart], chart
        assert reading.page.locator(".summary:visible").inner_text() == words


def test_every_step_moves_the_cursor_of_the_front(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    cursor = reading.page.locator(CURSOR)
    places = set()
    for position in range(reading.positions()):
        reading.move_to(position)
        places.add(cursor.get_attribute("transform"))
    assert len(places) == reading.positions()


def test_cursor_stands_where_the_axes_say(shelf: Shelf, read: Read) -> None:
    report = shelf.report("front")
    reading = read(report)
    # Two ticks of each axis say where everything is; they are drawn to the middle of a pixel.
    script = """() => {
        const svg = document.querySelector("#front-0 svg.wide");
        const ticks = anchor => [...svg.querySelectorAll(`text[text-anchor=${anchor}]:not(.over)`)]
            .map(text => [Number(text.getAttribute(anchor === "middle" ? "x" : "y")),
                          parseFloat(text.textContent) / 100]);
        const place = svg.querySelector(".cursors > g").getAttribute("transform")
            .match(/-?[\\d.]+/g).map(Number);
        const value = (ticks, at, off) => {
            const [[p, a], [q, b]] = [ticks[0], ticks[ticks.length - 1]];
            return a + (b - a) * (at - (p - off)) / (q - p);
        };
        // Letters of a vertical axis stand on their baseline.
        return [value(ticks("middle"), place[0], 0), value(ticks("end"), place[1], 4.3)];
    }"""
    for position in (0, 10, reading.positions() - 1):
        reading.move_to(position)
        level = report.json["levels"][position]
        expected = [level["leakage"], level["utility"]]
        assert reading.page.evaluate(script) == pytest.approx(expected, abs=2e-3)


def test_front_chart_is_clicked(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    slider = reading.page.locator("#slider-0")
    last = reading.positions() - 1
    drawing = reading.page.locator("#front-0 .drawing")
    dot = reading.page.locator(CURSOR)
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
        figure = reading.page.locator(".front .unit:visible figure")
        assert figure.count() == 1
        seen.add(figure.get_attribute("id"))
        cursors = figure.locator("svg.wide .cursors")
        before = cursors.inner_html()
        reading.move_to(40)
        assert cursors.inner_html() != before
        reading.move_to(5)
        assert cursors.inner_html() == before
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
    words = page.locator(".summary:visible").inner_text()
    page.locator("#tab-0").press("ArrowRight")
    assert page.locator("#tab-1").get_attribute("aria-selected") == "true"
    assert page.locator("#explorer-0").is_hidden()
    reading.move_to(7, 1)
    assert page.locator(".summary:visible").inner_text() != words
    page.locator("#tab-1").press("Home")
    assert page.locator("#slider-0").input_value() == "3"
    assert page.locator(".summary:visible").inner_text() == words


def test_embedding_follows_the_attribute_chosen(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    before = drawn(reading, "embedding-0")
    reading.page.locator("#embedding-0 select").select_option(label="income")
    after = drawn(reading, "embedding-0")
    assert after != before
    assert "income" in reading.page.locator("#embedding-0 h3").inner_text()


def test_bounds_of_experts_are_shown_when_asked_for(shelf: Shelf, read: Read) -> None:
    page = read(shelf.report("front")).page
    lines = page.locator("#front-0 svg.wide .expert")
    assert lines.count() > 0 and lines.first.is_hidden()
    page.locator("#front-0 .switch input").check()
    assert lines.first.is_visible()
    assert "dual bound" in page.locator("#front-0 .legend").inner_text()


def test_audit_says_where_it_holds(shelf: Shelf, read: Read) -> None:
    for kind in ("fit", "audit"):
        reading = read(shelf.report(kind))
        section = reading.page.locator("section[data-holds]")
        here = section.get_attribute("data-holds") or ""
        start = int(reading.page.locator("#slider-0").input_value())
        note = section.locator(".elsewhere")
        assert here[start] == "1" and note.is_hidden()
        reading.move_to(here.index("0"))
        assert note.is_visible() and "dim" in (section.get_attribute("class") or "")
        section.get_by_role("button", name="Move the slider there").click()
        reading.settle()
        assert note.is_hidden()


def test_verdict_follows_the_slider(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("fit"))
    verdict = reading.page.locator(".verdict")
    reading.move_to(reading.positions() - 1)
    leaking = verdict.inner_text()
    assert "(guessing: " in leaking
    reading.move_to(0)
    assert verdict.inner_text() != leaking
    # It stands above everything but the title.
    box, cards = verdict.bounding_box(), reading.page.locator(".cards").bounding_box()
    assert box and cards and box["y"] + box["height"] < cards["y"] < 400


def test_bad_news_of_every_encoder_is_in_sight(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("demo"))
    linear, kernel = reading.page.locator(".verdict").all()
    assert linear.is_visible() and linear.inner_text().startswith("Linear encoder:")
    assert kernel.is_visible() and "NOT hidden from non-linear ones" in kernel.inner_text()
    assert "bad" in (kernel.get_attribute("class") or "")
    # In the worst case of the audit, not in the small print.
    assert "(guessing: 51.6" in kernel.inner_text()


def test_tables_are_saved_with_every_digit(shelf: Shelf, read: Read) -> None:
    report = shelf.report("front")
    reading = read(report)
    reading.table("chart-0-0")
    with reading.page.expect_download() as download:
        reading.page.locator("#chart-0-0 .save").first.click()
    with download.value.path().open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    saved = [float(line["training"]) for line in lines]
    assert saved == [point["js"] for point in report.json["points"]]
