"""What the page shows is what the command said."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from conftest import Read, Reading, Report, Shelf

FIELDS = ["lambda", "dim", "jy", "js", "utility", "leakage", "dual_bound", "gap"]
SPACE = "\u202f"


def fixed(value: float, digits: int) -> str:
    """As JavaScript rounds: half away from zero, of the exact number."""
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return str(abs(rounded) if rounded == 0 else rounded).replace("-", "−")


def percent(value: float) -> str:
    return f"{fixed(100 * value, 2)}{SPACE}%"


def gap(value: float) -> str:
    if abs(value) <= 1e-12:
        return "0"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits}e{int(exponent):+d}".replace("-", "−")


def shown(name: str, value: float) -> str:
    if name in ("leakage", "utility"):
        return percent(value)
    if name == "dim":
        return f"{value:,.0f}"
    if name == "gap":
        return gap(value)
    text = fixed(value, 6)
    return text.removesuffix("0").removesuffix("0") if name == "lambda" else text


def shares(heldout: dict[str, float], bounds: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Value and spread of the held-out shares, from the losses."""
    attainable = bounds["target_variance"] - bounds["gamma_min"]
    return {
        "heldout_leakage": (
            1 - heldout["js"] / bounds["alpha_max"],
            heldout["leaked_sd"],
        ),
        "heldout_utility": (
            (bounds["target_variance"] - heldout["jy"]) / attainable,
            heldout["kept_sd"] * bounds["target_variance"] / attainable,
        ),
    }


def compare(reading: Reading, level: dict[str, Any], bounds: dict[str, Any]) -> None:
    at = reading.at()
    for name in FIELDS:
        value, text = at[name]
        assert value == level[name], name
        assert text == shown(name, level[name]), name
    for name, (share, spread) in shares(level["heldout"], bounds).items():
        value, text = at[name]
        # Losses and shares are rounded each for itself.
        assert value == pytest.approx(share, abs=1e-11), name
        if share <= 0:
            assert text == "none measurable"
            continue
        # The spread is in no attribute: its text can be off by one in the last place.
        first, second = text.split(" ± ")
        assert first == percent(value), name
        assert hundredths(second) == pytest.approx(100 * spread, abs=0.0051), name


def hundredths(text: str) -> float:
    return float(text.removesuffix(f"{SPACE}%"))


@pytest.mark.parametrize("kind", ["front", "kernel", "fit", "cifar100"])
def test_every_position_shows_the_numbers_of_the_json(shelf: Shelf, read: Read, kind: str) -> None:
    report = shelf.report(kind)
    levels, bounds = report.json["levels"], report.json["bounds"]
    assert [level["leakage"] for level in levels] == sorted(level["leakage"] for level in levels)
    reading = read(report)
    assert reading.positions() == len(levels) > 20
    slider = reading.page.locator("#slider-0")
    slider.press("Home")
    for k, level in enumerate(levels):
        if k:
            slider.press("ArrowRight")
        assert slider.input_value() == str(k)
        compare(reading, level, bounds)
    slider.press("ArrowRight")
    assert slider.input_value() == str(len(levels) - 1)


def test_report_of_a_fit_starts_at_the_fit(shelf: Shelf, read: Read) -> None:
    report = shelf.report("fit")
    compare(read(report), report.json, report.json["bounds"])


def test_report_of_a_fit_by_utility_starts_at_the_fit(shelf: Shelf, read: Read) -> None:
    goal = ("--min-utility", "0.97", "-o", "useful.safetensors")
    report = shelf.made("useful", "fit", *shelf.PEOPLE, *goal)
    compare(read(report), report.json, report.json["bounds"])


def series(table: list, name: str) -> list[list[float | None]]:
    """x, y, low and high of a series, whichever way the table stands."""
    header, *rows = table
    titles = [text for text, _ in header]
    if titles[0] == "series":
        return [[value for _, value in row[1:]] for row in rows if row[0][0] == name]
    columns = [0, *(k for k, title in enumerate(titles) if title.startswith(name))]
    return [[row[k][1] for k in columns] for row in rows]


@pytest.mark.parametrize("kind", ["front", "kernel", "cifar100"])
def test_table_of_losses_has_the_points_of_the_front(shelf: Shelf, read: Read, kind: str) -> None:
    report = shelf.report(kind)
    points = report.json["points"]
    reading = read(report)
    for index, loss in enumerate(["js", "jy"]):
        table = reading.table("chart-0-0", index)
        training = [row[:2] for row in series(table, "training")]
        assert training == [[point["lambda"], point[loss]] for point in points]
        heldout = series(table, "held-out, ± one sd over folds")
        for row, point in zip(heldout, points, strict=True):
            middle, spread = point["heldout"][loss], point["heldout"][f"{loss}_sd"]
            assert row[:2] == [point["lambda"], middle]
            assert row[2:] == pytest.approx([middle - spread, middle + spread], abs=1e-12)


def test_bounds_stand_in_the_table_of_losses(shelf: Shelf, read: Read) -> None:
    report = shelf.report("front")
    reading = read(report)
    for index, names in enumerate([["alpha_min", "alpha_max"], ["gamma_min", "gamma_max"]]):
        _, first, *_ = reading.table("chart-0-0", index)
        values = [value for _, value in first]
        assert all(report.json["bounds"][name] in values for name in names)


def test_front_chart_has_every_level(shelf: Shelf, read: Read) -> None:
    report: Report = shelf.report("front")
    _, *rows = read(report).table("front-0")
    places = [(row[1][1], row[2][1]) for row in rows]
    for level in report.json["levels"]:
        # The chart has the share from the loss, the level the share itself: the last bits differ.
        there = pytest.approx((level["leakage"], level["utility"]), abs=1e-12)
        assert any(place == there for place in places)
