"""Names and labels come from anybody: they are shown, never obeyed."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

import tables
from conftest import Read, Reading, Report, Shelf, obey
from tables import ARABIC, BREAK_OUT, COMMENT, EMOJI, IMAGE, LONG, SCRIPT

FILE = 'it\'s an "odd" <b>name & $HOME.csv'
SCRIPTS = 2


@pytest.fixture(scope="module")
def report(shelf: Shelf) -> Report:
    tables.untrusted(shelf.folder / FILE)
    said = (
        "fit",
        FILE,
        "-t",
        SCRIPT,
        "-s",
        IMAGE,
        "--max-leakage",
        "0.01",
        "-o",
        "odd.safetensors",
    )
    return shelf.made("it's <i>odd & so", *said, "--audit")


def unfolded(reading: Reading) -> str:
    reading.open_tables()
    return reading.page.evaluate("document.body.innerText")


@pytest.mark.parametrize("name", [SCRIPT, IMAGE, COMMENT, BREAK_OUT, ARABIC, EMOJI, LONG])
def test_names_are_shown_as_they_are(report: Report, read: Read, name: str) -> None:
    assert name in unfolded(read(report))


def test_file_name_is_shown(report: Report, read: Read) -> None:
    assert FILE in unfolded(read(report))


def test_nothing_comes_of_names(report: Report, read: Read) -> None:
    reading = read(report)
    page = reading.page
    unfolded(reading)
    for position in (0, reading.positions() - 1):
        reading.move_to(position)
        assert page.locator("img, iframe, object, embed, b, i, [onerror], [onload]").count() == 0
        assert page.locator("script").count() == SCRIPTS
    assert page.title() == page.locator("h1").text_content() == f"Keep {SCRIPT}, hide {IMAGE}"


def test_tips_show_names_as_text(report: Report, read: Read) -> None:
    reading = read(report)
    reading.move_to(0)
    titles = reading.page.locator("#weights-0 table.weights tbody tr").evaluate_all(
        "rows => rows.map(row => row.title)"
    )
    assert any(title.startswith(f"{BREAK_OUT}: ") for title in titles)
    tips = reading.page.locator("#chart-0-1 svg.wide .tip title").all_text_contents()
    assert tips and all("accuracy" in tip for tip in tips)
    assert reading.page.locator("img").count() == 0


def test_commands_can_still_be_typed(report: Report, read: Read, tmp_path: Path) -> None:
    reading = read(report)
    reading.move_to(0)
    said = obey(reading, 0, report.folder, tmp_path / "model.safetensors")
    assert reading.at()["jy"][0] == pytest.approx(said["jy"], abs=1e-9)


def test_command_of_a_front_can_be_typed(shelf: Shelf, read: Read, tmp_path: Path) -> None:
    tables.untrusted(shelf.folder / FILE)
    report = shelf.made("odd-front", "front", FILE, "-t", SCRIPT, "-s", IMAGE)
    reading = read(report)
    said = obey(reading, 0, report.folder, tmp_path / "model.safetensors")
    assert reading.at()["jy"][0] == pytest.approx(said["jy"], abs=1e-9)


def test_long_names_do_not_widen_the_page(report: Report, read: Read) -> None:
    for width in (360, 1280):
        page = read(report, (width, 800)).page
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_title_is_escaped_in_the_file(report: Report) -> None:
    assert f"<title>{html.escape(f'Keep {SCRIPT}', quote=False)}" in report.path.read_text("utf-8")
