"""The report can be read and used by everybody."""

from __future__ import annotations

from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe

import tables
from conftest import KINDS, LOOK_NAMES, LOOKS, PHONE, Read, Reading, Shelf

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa"]},
    "resultTypes": ["violations"],
}
# Of what repeats, a dozen are enough: thousands of cells would take minutes.
THIN = """() => document.querySelectorAll("tbody tr:nth-child(n+12), svg g > :nth-child(n+30)")
    .forEach(node => node.remove())"""


def violations(reading: Reading) -> list[tuple]:
    reading.open_tables()
    reading.page.evaluate(THIN)
    found = Axe().run(reading.page, options=RULES).response["violations"]
    return [(rule["id"], node["html"][:200]) for rule in found for node in rule["nodes"]]


# Two of them in every look, the others in the two that differ most.
CHECKED = [
    pytest.param(kind, look, id=f"{kind}-{name}")
    for kind in KINDS
    for look, name in zip(LOOKS, LOOK_NAMES, strict=True)
    if kind in ("fit", "demo") or name in ("desktop-light", "phone-dark")
]


@pytest.mark.parametrize(("kind", "look"), CHECKED)
def test_axe_finds_nothing(shelf: Shelf, read: Read, kind: str, look: tuple) -> None:
    reading = read(shelf.report(kind), *look)
    for _ in reading.tabs():
        assert violations(reading) == []


def test_axe_finds_nothing_where_numbers_are_colours(shelf: Shelf, read: Read) -> None:
    tables.numbers(shelf.folder / "colours.csv")
    words = ("front", "colours.csv", "-t", "price,x3", "-s", "age")
    reading = read(shelf.made("colours", *words))
    reading.page.locator("#slider-0").press("End")
    assert violations(reading) == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_is_described_and_has_a_table(shelf: Shelf, read: Read, kind: str) -> None:
    reading = read(shelf.report(kind))
    reading.open_tables()
    page = reading.page
    charts = page.locator("figure:visible")
    # The front, over λ, the embedding, the weights; whatever else there is.
    assert charts.count() >= 4
    for chart in charts.all():
        assert chart.locator("h3").inner_text()
        assert chart.locator("details table tbody tr").count() > 0
        drawings = chart.locator(".drawing > svg").all()
        # Weights are a table of their own, with bars in it.
        assert drawings or chart.locator("table.weights").count() == 1
        for drawing in drawings:
            assert drawing.get_attribute("role") == "img"
            label = drawing.get_attribute("aria-label") or ""
            assert "Horizontal axis: " in label and "Vertical axis: " in label


@pytest.mark.parametrize("kind", KINDS)
def test_headings_are_in_order(shelf: Shelf, read: Read, kind: str) -> None:
    script = """() => [...document.querySelectorAll("h1,h2,h3,h4,h5,h6")]
        .filter(node => node.checkVisibility() && node.textContent)
        .map(node => Number(node.tagName[1]))"""
    levels = read(shelf.report(kind)).page.evaluate(script)
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_slider_says_what_it_is_and_where(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    slider = reading.page.get_by_role("slider", name="Trade-off")
    for position in (0, 9):
        reading.move_to(position)
        at = reading.at()
        said = slider.get_attribute("aria-valuetext")
        assert said == f"leakage {at['leakage'][1]}, utility {at['utility'][1]}"


def test_ids_are_unique(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("demo"))
    ids = reading.page.evaluate("[...document.querySelectorAll('[id]')].map(node => node.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("size", [None, PHONE], ids=["desktop", "phone"])
def test_page_is_walked_by_tab(shelf: Shelf, read: Read, size: tuple | None) -> None:
    reading = read(shelf.report("fit"), *([size] if size else []))
    page = reading.page
    script = """() => {
        const node = document.activeElement;
        const box = node.getBoundingClientRect();
        const bar = document.querySelector(".bar").getBoundingClientRect();
        const covered = !node.closest(".bar") && box.top >= bar.top && box.bottom <= bar.bottom;
        return [node.id || node.className || node.textContent.slice(0, 20),
            node === document.body, covered || box.bottom < 0 || box.top > innerHeight];
    }"""
    seen = []
    for _ in range(200):
        page.keyboard.press("Tab")
        # Scrolling is smooth where the reader has not asked for less motion.
        page.wait_for_timeout(20)
        name, done, hidden = page.evaluate(script)
        if done:
            break
        if hidden:
            page.wait_for_timeout(600)
            name, done, hidden = page.evaluate(script)
        assert not hidden, f"{name} has the focus and is not in view"
        seen.append(name)
    assert done and seen[0] == "skip"
    assert {"theme", "slider-0", "command-0", "arrow", "copy live"} <= set(seen)
    summaries = page.locator("summary:visible").count()
    assert len(seen) > summaries


def test_tables_open_by_keyboard(shelf: Shelf, read: Read) -> None:
    page = read(shelf.report("front")).page
    page.locator("#front-0 summary").press("Enter")
    # It is filled when the browser has told of its opening.
    page.locator("#front-0 details table tbody tr").first.wait_for()


def test_command_is_copied(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    page = reading.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reading.move_to(4)
    page.get_by_role("button", name="Copy the command").click()
    page.wait_for_function("() => document.getElementById('status').textContent === 'Copied'")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#command-0").text_content()
