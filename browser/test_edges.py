"""Data and options at the edge of what the command takes: the report opens and moves."""

from __future__ import annotations

import pytest

import tables
from conftest import Read, Reading, Shelf


def walk(reading: Reading) -> None:
    """Opens everything and goes from end to end."""
    reading.open_tables()
    page = reading.page
    slider = page.locator("#slider-0")
    last = reading.positions() - 1
    seen = set()
    for position in sorted({0, 1, last // 2, last} & set(range(last + 1))):
        reading.move_to(position)
        assert slider.input_value() == str(position)
        seen.add(page.locator("#readout-0").inner_text())
        for chart in page.locator("figure:visible").all():
            assert chart.locator("details table tbody tr").count() > 0
        assert reading.nonsense() is None
        paths = page.locator("svg path").evaluate_all(
            "all => all.map(p => p.getAttribute('d') ?? '')"
        )
        assert not any("NaN" in path for path in paths)
    assert len(seen) == min(last + 1, 4) or last < 3
    assert slider.is_disabled() == (last == 0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


MAKERS = {
    "people": tables.people,
    "numbers": tables.numbers,
    "many": tables.many_classes,
    "unrelated": tables.unrelated,
    "rare": tables.rare,
}

PEOPLE = "people -t income -s sex"
CASES = {
    "no rows shown": f"{PEOPLE} --html-rows 0",
    "few rows shown": f"{PEOPLE} --html-rows 7",
    "no folds": f"{PEOPLE} --folds 1",
    "no folds, no rows": f"{PEOPLE} --folds 1 --html-rows 0",
    "two folds": f"{PEOPLE} --folds 2",
    "few points": f"{PEOPLE} --points 2",
    "two sensitive columns": "people -t income -s sex,region",
    "two targets": "people -t income,school -s sex",
    "one feature": "people -t income -s sex --features school",
    "a text feature alone": "people -t income -s sex --features region",
    "the sensitive column alone": "people -t income -s sex --features sex",
    "one dimension": f"{PEOPLE} --dim 1",
    "ridge": f"{PEOPLE} --ridge 0.1",
    "random features": f"{PEOPLE} --kernel rbf --approx random-features --landmarks 50",
    "polynomial": f"{PEOPLE} --kernel polynomial --degree 2 --ridge 0.01",
    "not scaled": f"{PEOPLE} --scale none",
    "features kept": "people -t :features -s sex",
    "features kept, audited": "people -t :features -s sex --audit",
    "target is a number": "people -t school -s sex --audit",
    "sensitive is a number": "people -t income -s hours --audit",
    "all numbers": "numbers -t price -s age",
    "all numbers, audited": "numbers -t price -s age --audit",
    "thirty classes": "many -t kind -s group",
    "nine classes kept": "many -t group -s kind",
    "unrelated": "unrelated -t target -s coin --drop w",
    "weights": "unrelated -t target -s coin --weight w",
    "rare": "rare -t target -s hidden --drop twin",
    "twins": "rare -t target -s twin --drop hidden",
}


@pytest.mark.parametrize("case", CASES)
def test_front(shelf: Shelf, read: Read, case: str) -> None:
    name, *options = CASES[case].split()
    data = shelf.folder / f"edge-{name}.csv"
    if not data.exists():
        MAKERS[name](data)
    report = shelf.made(f"edge {case}", "front", data.name, *options)
    reading = read(report)
    assert reading.positions() == len(report.json["levels"])
    walk(reading)
    page = reading.page
    has_rows = "--html-rows 0" not in CASES[case]
    assert page.locator("#embedding-0").count() == has_rows
    if "--folds 1" in CASES[case]:
        assert reading.at()["heldout_leakage"] == (None, "not measured")
        assert reading.at()["heldout_utility"] == (None, "not measured")
        assert "held-out" not in page.locator("#front-0 .legend").inner_text()


GOALS = ["--min-utility 1", "--min-utility 0.9", "--max-leakage 0", "--lambda 0.3", "--alpha 0.45"]


@pytest.mark.parametrize("goal", GOALS)
def test_fit(shelf: Shelf, read: Read, goal: str) -> None:
    model = ("-o", "edge.safetensors")
    report = shelf.made(f"edge {goal}", "fit", *shelf.PEOPLE, *goal.split(), *model)
    reading = read(report)
    assert reading.at()["js"][0] == report.json["js"]
    assert reading.at()["jy"][0] == report.json["jy"]
    walk(reading)


def test_dimensions_stay_below_the_cap(shelf: Shelf, read: Read) -> None:
    tables.many_classes(shelf.folder / "cap.csv")
    report = shelf.made("cap", "front", "cap.csv", "-t", "kind", "-s", "group", "--dim", 2)
    reading = read(report)
    reading.page.locator("#slider-0").press("End")
    assert reading.at()["dim"][0] == 2
    assert max(level["dim"] for level in report.json["levels"]) == 2


def test_many_classes_are_grouped(shelf: Shelf, read: Read) -> None:
    tables.many_classes(shelf.folder / "grouped.csv")
    report = shelf.made("grouped", "front", "grouped.csv", "-t", "kind", "-s", "group")
    reading = read(report)
    reading.page.locator("#slider-0").press("End")
    reading.page.locator("#embedding-0 select").select_option(label="kind")
    names = [line[0][0] for line in reading.table("embedding-0")[1:]]
    assert len(names) == 7 and names[-1] == "other (24 classes)"
    assert sum(line[1][1] for line in reading.table("embedding-0")[1:]) == 600


def test_numbers_are_shown_in_thirds(shelf: Shelf, read: Read) -> None:
    tables.numbers(shelf.folder / "shades.csv")
    report = shelf.made("shades", "front", "shades.csv", "-t", "price,x3", "-s", "age")
    reading = read(report)
    reading.page.locator("#slider-0").press("End")
    _, *lines = reading.table("embedding-0")
    assert [line[1][1] for line in lines] == [100, 100, 100]
    assert reading.at()["dim"][0] == 2
    legend = reading.page.locator("#embedding-0 .legend:visible li").all_inner_texts()
    assert legend == [line[0][0] for line in lines] and legend[0].startswith("up to ")
