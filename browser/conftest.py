"""Reports, each made once, and a browser to read them in."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import tables

ROOT = Path(__file__).resolve().parents[1]
SARL = Path(os.environ.get("SARL_BIN", ROOT / "target" / "release" / "sarl")).resolve()
DESKTOP = (1280, 900)
PHONE = (390, 844)


def run(*words: object, cwd: Path) -> dict[str, Any]:
    """What the command prints as JSON."""
    command = [SARL, *map(str, words), "--json", "--quiet"]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return json.loads(done.stdout)


@dataclass
class Report:
    """A report, and what the command said in its JSON when it wrote it."""

    path: Path
    json: dict[str, Any]
    # The commands in the report are relative to this folder.
    folder: Path


@dataclass
class Reading:
    """A report in a browser."""

    page: Page
    noise: list[str] = field(default_factory=list)

    def at(self, explorer: int = 0) -> dict[str, tuple[float | None, str]]:
        """The exact number and the text of every field at the slider."""
        script = """id => Object.fromEntries([...document.querySelectorAll(`#${id} [data-field]`)]
            .map(node => [node.dataset.field, [node.dataset.value ?? null, node.textContent]]))"""
        fields = self.page.evaluate(script, f"readout-{explorer}")
        return {
            name: (None if exact is None else float(exact), text)
            for name, (exact, text) in fields.items()
        }

    def positions(self, explorer: int = 0) -> int:
        return int(self.page.locator(f"#slider-{explorer}").get_attribute("max") or 0) + 1

    def move_to(self, position: int, explorer: int = 0) -> None:
        script = """([id, position]) => {
            const slider = document.getElementById(id);
            slider.value = position;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
        self.page.evaluate(script, [f"slider-{explorer}", position])
        self.settle()

    def settle(self) -> None:
        """Charts follow in the next frame."""
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
        )

    def nonsense(self) -> list[str] | None:
        """What is written where a value went missing."""
        return self.page.evaluate(
            "document.body.innerText.match(/undefined|NaN|Infinity|\\[object/g)"
        )

    def open_tables(self) -> None:
        self.page.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('details')].every(d => d.querySelector('table'))"
        )

    def table(self, chart: str, index: int = 0) -> list[list[tuple[str, float | None]]]:
        """The cells behind a chart, the header first."""
        self.page.locator(f"#{chart} details").evaluate("details => details.open = true")
        self.page.wait_for_function(f"() => document.querySelector('#{chart} details table')")
        script = """(details, index) =>
            [...details.querySelectorAll("table")[index].rows].map(row =>
                [...row.cells].map(cell => [cell.textContent, cell.dataset.value ?? null]))"""
        rows = self.page.locator(f"#{chart} details").evaluate(script, index)
        return [[(text, None if v is None else float(v)) for text, v in row] for row in rows]

    def tabs(self) -> Iterator[int]:
        """Goes through the explorers."""
        tabs = self.page.locator("[role=tab]")
        for k in range(max(1, tabs.count())):
            if tabs.count():
                self.page.locator(f"#tab-{k}").click()
                self.settle()
            yield k


Read = Callable[..., Reading]


def obey(reading: Reading, explorer: int, folder: Path, model: Path) -> dict[str, Any]:
    """Does what the command at the slider says, but writes the model elsewhere."""
    name, *words = shlex.split(reading.page.locator(f"#command-{explorer}").text_content() or "")
    assert name == "sarl"
    words[words.index("-o") + 1] = str(model)
    return run(*words, cwd=folder)


def chromium() -> str | None:
    return os.environ.get("SARL_CHROMIUM") or shutil.which("chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    if not path:
        pytest.skip("no Chromium: install it, or set SARL_CHROMIUM to its path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@pytest.fixture
def read(browser: Browser) -> Iterator[Read]:
    """Opens reports. Whatever a test does with one, the browser must have nothing to say."""
    readings: list[Reading] = []

    def opened(report: Report, size: tuple[int, int] = DESKTOP, scheme: str = "light") -> Reading:
        viewport = {"width": size[0], "height": size[1]}
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        reading = Reading(context.new_page())
        readings.append(reading)
        page, noise = reading.page, reading.noise
        page.on("console", lambda message: noise.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: noise.append(f"error: {error}"))
        page.on("request", lambda request: listen(noise, request.url))
        page.on(
            "dialog", lambda dialog: (noise.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        page.goto(report.path.as_uri())
        page.wait_for_function("() => document.documentElement.dataset.ready === 'true'")
        return reading

    yield opened
    for reading in readings:
        reading.settle()
        reading.page.context.close()
    assert [reading.noise for reading in readings] == [[] for _ in readings]


def listen(noise: list[str], url: str) -> None:
    if not url.startswith(("file:", "data:")):
        noise.append(f"request: {url}")


def real(name: str) -> Path:
    """A file of real data; says plainly when there is none."""
    for folder in [os.environ.get("SARL_DATA"), ROOT.parent / "shared" / "data"]:
        if folder and (Path(folder) / name).exists():
            return Path(folder) / name
    if os.environ.get("SARL_REQUIRE_DATA"):
        pytest.fail(f"{name} is not there, and the real data is required")
    pytest.skip(f"{name} is not there: set SARL_DATA to the folder of real data")


class Shelf:
    """Makes each report when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        tables.people(folder / "people.csv")
        self.report = cache(self._report)

    def sarl(self, *words: object) -> dict[str, Any]:
        return run(*words, cwd=self.folder)

    def made(self, name: str, *words: object) -> Report:
        """A report of any command that takes --html."""
        html = self.folder / f"{name}.html"
        return Report(html, self.sarl(*words, "--html", html.name), self.folder)

    def _report(self, name: str) -> Report:
        return getattr(self, f"_{name}")()

    PEOPLE = ("people.csv", "-t", "income", "-s", "sex")

    def _front(self) -> Report:
        return self.made("front", "front", *self.PEOPLE)

    def _kernel(self) -> Report:
        return self.made("kernel", "front", *self.PEOPLE, "--kernel", "rbf", "--ridge", "auto")

    def _fit(self) -> Report:
        goal = ("--max-leakage", "0.02", "-o", "fit.safetensors")
        return self.made("fit", "fit", *self.PEOPLE, *goal, "--audit")

    def _audit(self) -> Report:
        self.report("fit")
        return self.made("audit", "audit", "fit.safetensors", "people.csv", "--seeds", 1)

    FEW = ("--rivals", "leace", "--probes", "linear,logistic", "--seeds", 1, "-o", "compared")

    def _compare(self) -> Report:
        return self.made("compare", "compare", *self.PEOPLE, *self.FEW)

    def _compare_with_test(self) -> Report:
        tables.people(self.folder / "others.csv", rows=200)
        test = ("--test", "others.csv")
        return self.made("compare_with_test", "compare", *self.PEOPLE, *self.FEW, *test)

    def _demo(self) -> Report:
        said = self.sarl("demo", "-o", "demo")
        return Report(self.folder / "demo" / "report.html", said, self.folder)

    def _reproduce(self) -> Report:
        said = self.sarl("reproduce", "gaussian", "--rivals", "none", "--seeds", 1, "-o", "again")
        return Report(self.folder / "again" / "gaussian" / "report.html", said, self.folder)

    def _cifar100(self) -> Report:
        return self.made("cifar100", "front", real("cifar100/train.npz"))


KINDS = ["front", "kernel", "fit", "audit", "compare", "demo", "reproduce"]
LOOKS = [(size, scheme) for size in (DESKTOP, PHONE) for scheme in ("light", "dark")]
LOOK_NAMES = [f"{'phone' if size == PHONE else 'desktop'}-{scheme}" for size, scheme in LOOKS]


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    if not SARL.exists():
        pytest.skip(f"no command at {SARL}: build it, or set SARL_BIN to its path")
    return Shelf(tmp_path_factory.mktemp("reports"))
