"""Guarantees against every adversary: what the page says equals the JSON, with scripts and without."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser
from test_access import violations
from test_opens import screenshot

import tables
from conftest import DESKTOP, LOOK_NAMES, LOOKS, PHONE, Read, Report, Shelf
from tables import ARABIC, BREAK_OUT, IMAGE, SCRIPT

WORDS = ("large.csv", "-t", "income", "-s", "sex")


@pytest.fixture(scope="module")
def fit(shelf: Shelf) -> Report:
    tables.people(shelf.folder / "large.csv", rows=4000)
    goal = ("--max-advantage", "0.25", "-o", "certified.safetensors")
    return shelf.made("certified-fit", "fit", *WORDS, *goal)


@pytest.fixture(scope="module")
def front(shelf: Shelf) -> Report:
    tables.people(shelf.folder / "large.csv", rows=4000)
    return shelf.made("certified-front", "front", *WORDS, "--certified")


def plain(text: str | None) -> str:
    """A sign stands close to its number on the page."""
    return (text or "").replace("\u202f", " ")


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def sentence(certificate: dict) -> str:
    sex = certificate["attributes"]["sex"]
    return (
        "With 95 % confidence, no adversary that sees only z, however powerful, predicts sex with "
        f"more than {percent(sex['balanced_accuracy'])} balanced accuracy on rows drawn like "
        "these; guessing has 50.00 %."
    )


def test_the_guarantee_stands_first(fit: Report, read: Read) -> None:
    page = read(fit).page
    assert plain(page.locator("#verdict").text_content()) == sentence(fit.json["certificate"])
    limits = page.locator(".note-card.not-guaranteed")
    assert limits.is_visible() and "rows from elsewhere" in limits.inner_text()
    said = plain(page.locator("#steps .intro").inner_text())
    assert "among themselves" in said and "by itself" in said


def test_the_slider_starts_at_the_fitted_model(fit: Report, read: Read) -> None:
    page = read(fit).page
    fitted = [point.get("fitted", False) for point in fit.json["certified"]]
    assert sum(fitted) == 1
    start = fitted.index(True)
    assert int(page.locator("#steps-slider").input_value()) == start
    assert fit.json["certified"][start]["certificate"] == fit.json["certificate"]
    assert page.locator(".frame:visible h3").first.inner_text() == "The fitted model"


@pytest.mark.parametrize("kind", ["fit", "front"])
def test_every_step_equals_the_json(kind: str, read: Read, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(kind)
    reading = read(report)
    page, points = reading.page, report.json["certified"]
    slider = page.get_by_role("slider", name="Certified front")
    slider.press("Home")
    places = []
    for k, point in enumerate(points):
        reading.settle()
        assert int(slider.input_value()) == k
        shown = page.locator(".frame[data-frame]").evaluate_all(
            "all => all.filter(node => !node.hidden).map(node => node.id)"
        )
        assert shown == [f"steps-frame-{k}"]
        frame = page.locator(f"#steps-frame-{k}")
        assert sentence(point["certificate"]) in plain(frame.inner_text())
        seen = point["certificate"]["attributes"]["sex"]["observed"]["advantage"]
        figures = [percent(v) for v in (point["advantage"], seen, point["utility"])]
        keys = plain(page.locator(".keys:visible").inner_text())
        assert all(figure in keys for figure in [*figures, f"{k + 1} of {len(points)}"])
        said = f"At most {figures[0]}, Seen {figures[1]}, Score {figures[2]}"
        assert slider.get_attribute("aria-valuetext") == said
        counts = point["certificate"]["attributes"]["sex"]["counts"]
        sizes = [sum(column) for column in zip(*counts, strict=True)]
        rows = reading.table(f"steps-frame-{k}-chart-0")[1:]
        for row, cell in zip(rows, counts, strict=True):
            shares = [n / size for n, size in zip(cell, sizes, strict=True)]
            shares.append(sum(cell) / sum(sizes))
            assert [value for _, value in row[1:]] == pytest.approx(shares, abs=1e-12)
        places.append(page.locator("#steps-chart svg.wide [data-at]").get_attribute("transform"))
        slider.press("ArrowRight")
    assert len(set(places)) == len(points)
    values = {value for row in reading.table("steps-chart") for _, value in row}
    assert {point["advantage"] for point in points} <= values


def test_a_click_on_the_front_moves_the_slider(front: Report, read: Read) -> None:
    page = read(front).page
    for k in (len(front.json["certified"]) - 1, 0):
        places = page.locator("#steps-chart svg.wide [data-at]").get_attribute("data-at") or ""
        x, y = map(float, places.split(" ")[k].split(","))
        svg = page.locator("#steps-chart svg.wide")
        svg.scroll_into_view_if_needed()
        scale = svg.evaluate("s => s.getBoundingClientRect().width / s.viewBox.baseVal.width")
        svg.click(position={"x": x * scale, "y": y * scale})
        assert page.locator("#steps-slider").input_value() == str(k)


@pytest.mark.parametrize("look", LOOKS, ids=LOOK_NAMES)
@pytest.mark.parametrize("kind", ["fit", "front"])
def test_axe_finds_nothing(
    kind: str, look: tuple, read: Read, request: pytest.FixtureRequest
) -> None:
    reading = read(request.getfixturevalue(kind), *look)
    screenshot(reading, f"certified-{kind}-{LOOK_NAMES[LOOKS.index(look)]}")
    assert reading.nonsense() is None
    assert reading.page.evaluate("document.documentElement.scrollWidth") <= look[0][0]
    assert violations(reading) == []


def test_without_scripts_every_step_is_shown(fit: Report, browser: Browser) -> None:
    for width, height in (DESKTOP, PHONE):
        viewport = {"width": width, "height": height}
        context = browser.new_context(java_script_enabled=False, viewport=viewport)
        page = context.new_page()
        page.goto(fit.path.as_uri())
        frames = page.locator(".frame")
        assert frames.count() == len(fit.json["certified"])
        for frame, point in zip(frames.all(), fit.json["certified"], strict=True):
            assert frame.is_visible()
            assert sentence(point["certificate"]) in plain(frame.inner_text())
        assert page.locator(".bar:visible").count() == 0
        context.close()


def test_names_are_text(shelf: Shelf, read: Read) -> None:
    path = tables.untrusted(shelf.folder / "odd-cells.csv")
    report = shelf.made("odd-cells", "front", path.name, "-t", SCRIPT, "-s", IMAGE, "--certified")
    reading = read(report)
    reading.open_tables()
    page = reading.page
    assert page.locator("img, iframe, [onerror]").count() == 0
    assert page.locator("script").count() == 2
    shown = page.evaluate("document.body.textContent")
    assert all(name in shown for name in (SCRIPT, IMAGE, BREAK_OUT, ARABIC))
