"""Draws docs/figures/report.png anew: what a reader sees first of the demo's report."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SARL = os.environ.get("SARL_BIN", str(ROOT / "target/release/sarl"))
CHROMIUM = os.environ.get("SARL_CHROMIUM") or shutil.which("chromium")

with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    words = [SARL, "demo", "-o", "sarl-demo", "-q"]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    browser = playwright.chromium.launch(executable_path=CHROMIUM)
    page = browser.new_page(viewport={"width": 1280, "height": 1330}, color_scheme="light")
    page.goto((Path(folder) / "sarl-demo/report.html").as_uri())
    page.wait_for_function("document.documentElement.dataset.ready === 'true'")
    page.screenshot(path=ROOT / "docs/figures/report.png")
    browser.close()
