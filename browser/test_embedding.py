"""The rows and weights on the page are those of the encoder, found by another route."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import tables
from conftest import Read, Reading, Report, Shelf, obey

# z is stored in 16 bits, and the table shows six digits of it.
TOLERANCE = 1e-3


def encoded(shelf: Shelf, model: Path, data: Path, keep: str) -> tuple[np.ndarray, np.ndarray]:
    """The labels and z of every row, by `sarl encode`."""
    out = model.with_suffix(".csv")
    shelf.sarl("encode", model, data, "--keep", keep, "-o", out)
    with out.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    labels = np.array([row[0] for row in rows])
    return labels, np.array([[float(cell) for cell in row[1:]] for row in rows])


def check_moments(reading: Reading, labels: np.ndarray, z: np.ndarray) -> None:
    """Each line of the table behind the embedding, up to the signs of its directions."""
    header, *lines = reading.table("embedding-0")
    directions = min(2, z.shape[1])
    assert len(header) == 2 + 2 * directions
    assert {line[0][0] for line in lines} == set(labels)
    for k in range(directions):
        means = np.array([z[labels == line[0][0], k].mean() for line in lines])
        spreads = np.array([z[labels == line[0][0], k].std(ddof=1) for line in lines])
        shown = np.array([[line[2 + 2 * k][1], line[3 + 2 * k][1]] for line in lines], dtype=float)
        sign = np.sign(means @ shown[:, 0]) or 1
        allowed = TOLERANCE * z[:, k].std()
        assert sign * shown[:, 0] == pytest.approx(means, abs=allowed)
        assert shown[:, 1] == pytest.approx(spreads, abs=allowed)
    for line in lines:
        assert line[1][1] == np.count_nonzero(labels == line[0][0])


@pytest.mark.parametrize("attribute", ["sex", "income"])
@pytest.mark.parametrize("kind", ["front", "kernel", "fit"])
def test_embedding_is_what_encode_gives(
    shelf: Shelf, read: Read, tmp_path: Path, kind: str, attribute: str
) -> None:
    report = shelf.report(kind)
    reading = read(report)
    if attribute == "income":
        reading.page.locator("#embedding-0 select").select_option(label="income")
    last = reading.positions() - 1
    for position in (0, last // 2, last):
        reading.move_to(position)
        model = tmp_path / "model.safetensors"
        obey(reading, 0, report.folder, model)
        check_moments(reading, *encoded(shelf, model, shelf.folder / "people.csv", attribute))


def test_points_of_the_embedding_are_all_there(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    paths = "#embedding-0 [data-dim='2'] svg.wide .rows[data-label='0'] path"
    count = "paths => paths.map(path => path.getAttribute('d').split('M').length - 1)"
    sizes = reading.page.locator(paths).evaluate_all(count)
    _, *lines = reading.table("embedding-0")
    assert sum(line[1][1] for line in lines) == 400
    assert [line[1][1] for line in lines] == sizes
    assert "400 rows" in reading.page.locator("#embedding-0 figcaption").inner_text()


def weights(reading: Reading) -> dict[str, list[str | float]]:
    """By column: its kind, its sum, its positive and its negative part."""
    _, *lines = reading.table("weights-0")
    return {line[0][0]: [line[1][0], *(cell[1] for cell in line[2:5])] for line in lines}


def spread(path: Path, column: str) -> float:
    with path.open(newline="", encoding="utf-8") as file:
        return float(np.std([float(row[column]) for row in csv.DictReader(file)]))


def moved(shelf: Shelf, model: Path, column: str) -> float:
    """How far z goes when the column goes up by a standard deviation, all else equal."""
    by = spread(shelf.folder / "people.csv", column)
    row = {"school": 1.0, "hours": 0.5, "noise": -0.2}
    columns = {name: [value, value + by * (name == column)] for name, value in row.items()}
    pair = tables.write(model.with_name("pair.csv"), **columns, region=["north"] * 2)
    _, z = encoded(shelf, model, pair, "region")
    return z[1, 0] - z[0, 0]


def test_weights_say_how_far_a_column_moves_z(shelf: Shelf, read: Read, tmp_path: Path) -> None:
    report = shelf.report("front")
    reading = read(report)
    for position in (0, reading.positions() - 1):
        reading.move_to(position)
        model = tmp_path / "model.safetensors"
        obey(reading, 0, report.folder, model)
        shown = weights(reading)
        names = ["school", "hours", "noise"]
        expected = np.array([moved(shelf, model, name) for name in names])
        values = np.array([shown[name][1] for name in names], dtype=float)
        assert np.sign(values @ expected) * values == pytest.approx(expected, rel=1e-4, abs=1e-5)
        assert abs(shown["noise"][1]) < 0.3 * abs(shown["school"][1])
        for _, net, up, down in shown.values():
            assert up >= 0 >= down and net == pytest.approx(up + down, abs=1e-6)


def test_sensitive_column_among_the_features_is_marked(shelf: Shelf, read: Read) -> None:
    features = ("--features", "school,hours,noise,sex")
    report: Report = shelf.made("marked", "front", *shelf.PEOPLE, *features)
    reading = read(report)
    kinds = {name: kind for name, (kind, *_) in weights(reading).items()}
    assert kinds == {"school": "", "hours": "", "noise": "", "sex": "sensitive"}
    marked = reading.page.locator("#weights-0 table.weights tr.sensitive")
    assert marked.locator("bdi").all_text_contents() == ["sex"]
    word = "getComputedStyle(document.querySelector('#weights-0 tr.sensitive .name'), '::after').content"
    assert "sensitive" in reading.page.evaluate(word)


def test_bars_of_weights_are_where_the_table_says(shelf: Shelf, read: Read) -> None:
    reading = read(shelf.report("front"))
    script = """() => {
        const box = document.querySelector("#weights-0 .track").getBoundingClientRect();
        return [...document.querySelectorAll("#weights-0 table.weights tbody tr")].map(row => {
            const bar = row.querySelector(".length").getBoundingClientRect();
            const zero = parseFloat(getComputedStyle(row).getPropertyValue("--zero")) / 100;
            const at = x => (x - box.left) / box.width - zero;
            return [row.querySelector("bdi").textContent, at(bar.left), at(bar.right)];
        });
    }"""
    for position in (0, reading.positions() - 1):
        reading.move_to(position)
        bars = {name: (left, right) for name, left, right in reading.page.evaluate(script)}
        shown = weights(reading)
        assert list(bars) == list(shown)
        largest = max(shown.values(), key=lambda w: w[2] - w[3])
        scale = (largest[2] - largest[3]) / max(right - left for left, right in bars.values())
        for name, (_, _, up, down) in shown.items():
            left, right = bars[name]
            assert scale * left == pytest.approx(down, abs=0.02 * abs(scale))
            assert scale * right == pytest.approx(up, abs=0.02 * abs(scale))
