"""How long a report of a large table takes to open, beside an empty page and its own text.

    SARL_BIN=target/release/sarl python browser/bench_open.py

Makes 100,000 rows of 500 columns, writes the report of their front and opens it five times, each
in a page of its own and in turn with the same file without its scripts and an empty one.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from conftest import SARL, chromium

ROWS, COLUMNS = 100_000, 500
TIMES = 5
STEPS = 40

# Until the frame after the page is ready has been drawn.
READY = """() => new Promise(done => requestAnimationFrame(() => setTimeout(() =>
    done(performance.now()))))"""
# To write the position, to draw in the next frame and to lay out the page, without the time until
# that frame: callbacks run in the order in which they were asked for.
STEP = """position => new Promise(done => {
    const slider = document.getElementById("slider-0");
    let framed = 0;
    requestAnimationFrame(() => (framed = performance.now()));
    const start = performance.now();
    slider.value = position;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const written = performance.now() - start;
    requestAnimationFrame(() => {
        document.body.getBoundingClientRect();
        done(written + performance.now() - framed);
    });
})"""


def table(path: Path) -> None:
    """Classes that overlap, with something to hide in every column."""
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 5, ROWS), rng.integers(0, 3, ROWS)
    x = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    x += 0.1 * rng.normal(size=(5, COLUMNS)).astype(np.float32)[y]
    x += 0.1 * rng.normal(size=(3, COLUMNS)).astype(np.float32)[s]
    np.savez(path, X=x, y=y, s=s)


def plain_pages(report: Path) -> tuple[Path, Path]:
    """The report without its scripts and their data, and a page without anything."""
    text, empty = report.with_name("text.html"), report.with_name("empty.html")
    before, _, after = report.read_text("utf-8").partition('<script type="application/json"')
    text.write_text(before + after.rpartition("</script>")[2], "utf-8")
    empty.write_text("<!doctype html><title>empty</title>\n", "utf-8")
    return text, empty


def opening(browser: Browser, path: Path) -> float:
    """Milliseconds from the start of the navigation to the frame after the page is ready."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    took = page.evaluate(READY)
    if path.name == "report.html":
        assert page.evaluate("document.documentElement.dataset.ready") == "true"
    context.close()
    return took


def stepping(browser: Browser, path: Path) -> list[float]:
    """Milliseconds of steps of the slider, with every chart drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    last = int(page.locator("#slider-0").get_attribute("max") or 0)
    return [page.evaluate(STEP, k % (last + 1)) for k in range(STEPS)]


def main() -> None:
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        table(folder / "large.npz")
        start = time.perf_counter()
        command = [SARL, "front", "large.npz", "--html", "report.html", "--quiet"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        report = folder / "report.html"
        text, empty = plain_pages(report)
        browser = playwright.chromium.launch(executable_path=chromium())
        opening(browser, empty)
        times: dict[Path, list[float]] = {report: [], text: [], empty: []}
        for _ in range(TIMES):
            for path, taken in times.items():
                taken.append(opening(browser, path))
        steps = stepping(browser, report)
        browser.close()
        opened, alone, bare = (median(taken) for taken in times.values())
        print(f"sarl front of {ROWS} × {COLUMNS}: {seconds:.1f} s")
        print(f"report: {report.stat().st_size / 1e6:.2f} MB, ready after {opened:.0f} ms", end="")
        print(f" ({', '.join(f'{t:.0f}' for t in times[report])})")
        print(f"(a) without scripts: {alone:.0f} ms; (b) empty page: {bare:.0f} ms")
        print(f"ratio to (a): {opened / alone:.2f}")
        print(f"a step of the slider: {median(steps):.1f} ms, at most {max(steps):.1f} ms")


if __name__ == "__main__":
    main()
