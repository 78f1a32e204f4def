"""Every kind of report opens from a file, with nothing from outside it."""

from __future__ import annotations

import pytest

from conftest import KINDS, LOOK_NAMES, LOOKS, ROOT, Read, Reading, Shelf

SCREENS = ROOT / "target" / "report-screens"
MOST_BYTES = 6_000_000


# These look like others.
NOT_DRAWN = ("kernel", "audit")
EMPTY = """nodes => nodes.filter(node => node.clientWidth > 0 &&
    !node.querySelector("svg path, svg line, svg rect")).length"""


@pytest.mark.parametrize("look", LOOKS, ids=LOOK_NAMES)
@pytest.mark.parametrize("kind", [*KINDS, "cifar100"])
def test_report_works_from_a_file(shelf: Shelf, read: Read, kind: str, look: tuple) -> None:
    report = shelf.report(kind)
    assert report.path.stat().st_size < MOST_BYTES
    reading = read(report, *look)
    page = reading.page
    assert page.title() == page.locator("h1").inner_text() != ""
    for explorer in reading.tabs():
        assert page.locator(".drawing").evaluate_all(EMPTY) == 0
        for position in (0, reading.positions(explorer) - 1):
            reading.move_to(position, explorer)
    reading.open_tables()
    assert reading.nonsense() is None
    if kind not in NOT_DRAWN:
        screenshot(reading, f"{kind}-{LOOK_NAMES[LOOKS.index(look)]}")


def screenshot(reading: Reading, name: str) -> None:
    """For a person to look at."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    reading.page.reload()
    reading.page.wait_for_function("() => document.documentElement.dataset.ready === 'true'")
    reading.page.screenshot(path=SCREENS / f"{name}.png", full_page=True)
