"""The command at the slider makes the encoder that the slider shows."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from conftest import Read, Shelf, obey, run

FIELDS = ["lambda", "dim", "jy", "js", "utility", "leakage", "dual_bound", "gap"]
# They rest on bounds without the ridge. Those of a kernel are ill-conditioned, and `compare` reads
# the rows in another way than `fit`.
LOOSE = ["utility", "dual_bound", "gap"]
KINDS = ["front", "kernel", "fit", "audit", "demo", "reproduce", "compare_with_test"]


@pytest.mark.parametrize("kind", KINDS)
def test_command_gives_the_numbers_shown(
    shelf: Shelf, read: Read, tmp_path: Path, kind: str
) -> None:
    report = shelf.report(kind)
    reading = read(report)
    for explorer in reading.tabs():
        last = reading.positions(explorer) - 1
        for position in sorted({0, last // 3, 2 * last // 3, last}):
            reading.move_to(position, explorer)
            said = obey(reading, explorer, report.folder, tmp_path / "model.safetensors")
            at = reading.at(explorer)
            for name in FIELDS:
                allowed = 1e-7 if name in LOOSE and kind == "compare_with_test" else 1e-9
                expected = pytest.approx(said[name], abs=allowed)
                assert at[name][0] == expected, (explorer, position, name)


def test_a_command_that_makes_another_encoder_says_so(
    shelf: Shelf, read: Read, tmp_path: Path
) -> None:
    # Without rows to be tested on, `compare` learns from a share of the rows, `fit` from all.
    report = shelf.report("compare")
    reading = read(report)
    heading = reading.page.locator("#readout-0 .command h4")
    assert heading.text_content() == "Command for such an encoder of all rows"
    obey(reading, 0, report.folder, tmp_path / "model.safetensors")


def test_command_of_the_report_makes_it_again(shelf: Shelf, read: Read, tmp_path: Path) -> None:
    report = shelf.report("front")
    code = read(report).page.locator("#about code").first.text_content() or ""
    name, *words = shlex.split(code)
    assert name == "sarl"
    words[words.index("--html") + 1] = str(tmp_path / "again.html")
    again = run(*[word for word in words if word not in ("--json", "--quiet")], cwd=report.folder)
    assert again["levels"] == report.json["levels"]
