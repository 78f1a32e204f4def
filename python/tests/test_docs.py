"""Runs the blocks of code in README.md and docs/*.md.

The blocks of a page share a folder with small made-up tables, and run in order. A block that no
test can run has ``<!-- not run: reason -->`` on the line before it. Rust blocks are doctests of the
crate `sarl`.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT, Rows, real

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL = ("sh", "bash")
#: Blocks that are no code.
WORDS = ("text", "json", "math")
#: Pages whose Rust blocks are doctests: see crates/sarl/src/lib.rs.
DOCTESTS = ("README.md", "library.md")

NOT_RUN = re.compile(r"<!-- not run: \S.* -->")


@dataclass
class Block:
    """A block of code of a page."""

    line: int
    kind: str
    text: str
    run: bool


def blocks(page: Path) -> list[Block]:
    """Fenced blocks, and indented ones that begin with a call of `sarl`."""
    found: list[Block] = []
    lines = page.read_text().splitlines()
    at = 0
    while at < len(lines):
        before, line = lines[at - 1] if at else "", lines[at]
        start, run = at + 1, not NOT_RUN.fullmatch(before)
        if line.startswith("```"):
            end = lines.index("```", at + 1)
            found.append(Block(start, line[3:].strip(), "\n".join(lines[at + 1 : end]) + "\n", run))
            at = end
        elif line.startswith("    sarl ") and not before.strip():
            end = next((i for i in range(at, len(lines)) if not lines[i].startswith("    ")), at)
            found.append(Block(start, "sh", "\n".join(text[4:] for text in lines[at:end]), run))
            at = end
        at += 1
    return found


def named(page: Path) -> str:
    return page.name


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_block_says_what_it_is(page):
    for block in blocks(page):
        place = f"{page.name}:{block.line}"
        assert block.kind in (*SHELL, *WORDS, "python", "rust"), f"{place}: `{block.kind}`"
        if block.kind == "rust":
            assert page.name in DOCTESTS, f"{place}: the page is not among the doctests"


def write(path: Path, header: str, rows: list[list[Any]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The tables that the pages speak of."""
    rng = np.random.default_rng(5)

    def people(count: int) -> list[list[Any]]:
        a, b, c, d, e = rng.normal(size=(5, count))
        work = np.where(b + rng.normal(size=count) > 0.5, "public", "private")
        income = np.where(a + 0.5 * b + d > 0.3, "high", "low")
        sex = np.where(b + c + 0.7 * e > 0, "m", "f")
        columns = (np.round(40 + 9 * a + 3 * c), np.round(38 + 6 * b + 2 * c, 2), work, income, sex)
        return [list(row) for row in zip(*columns, strict=True)]

    header = "age,hours,work,income,sex"
    write(tmp_path / "people.csv", header, people(400))
    write(tmp_path / "data.csv", header, people(400))
    write(tmp_path / "test.csv", header, people(200))
    write(tmp_path / "census.csv", header, people(6000))
    write(tmp_path / "fresh.csv", header, people(3000))
    rows = [[f"p{i}", *row[:3]] for i, row in enumerate(people(50))]
    write(tmp_path / "new.csv", "name,age,hours,work", rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command() -> str:
    built = ROOT / "target" / "release" / "sarl"
    found = os.environ.get("SARL_BIN") or (str(built) if built.exists() else shutil.which("sarl"))
    if not found:
        pytest.skip("the command `sarl` is not built: cargo build --release")
    return found


def pages_with(kinds: tuple[str, ...]) -> list[Path]:
    return [page for page in PAGES if any(b.kind in kinds and b.run for b in blocks(page))]


@pytest.mark.parametrize("page", pages_with(SHELL), ids=named)
def test_commands(page, folder):
    """Every line of every shell block succeeds."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "sarl").symlink_to(command())
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "NO_COLOR": "1"}
    for block in blocks(page):
        if block.kind in SHELL and block.run:
            script = ["bash", "-euo", "pipefail", "-c", block.text]
            done = subprocess.run(script, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{page.name}:{block.line}\n{block.text}\n{done.stderr}"


@pytest.mark.parametrize("page", pages_with(("python",)), ids=named)
def test_python(page, folder, monkeypatch):
    """Every Python block runs; the text below one is what it prints."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    if page.name == "tutorial.md":
        for name in ("adult.data", "adult.test"):
            (folder / name).symlink_to(real(f"adult/{name}"))
    rows = Rows()
    names: dict[str, object] = {"X": rows.X, "y": rows.y, "s": rows.s, "X_new": rows.X[:10]}
    printed: str | None = None
    with restored_configuration():
        for block in blocks(page):
            if block.kind == "text" and printed is not None:
                assert printed.strip() == block.text.strip(), f"{page.name}:{block.line}"
            printed = None
            if block.kind == "python" and block.run:
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(block.text, f"{page.name}:{block.line}", "exec"), names)
                printed = out.getvalue()


@contextlib.contextmanager
def restored_configuration():
    """What a page sets in scikit-learn is no matter of other tests."""
    import sklearn

    with sklearn.config_context():
        yield


def test_links_lead_somewhere():
    """Files and headings that the pages link to are there."""
    for page in (*PAGES, ROOT / "CONTRIBUTING.md"):
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, heading = target.partition("#")
            if "://" in target:
                continue
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), f"{page.name}: {target}"
            if heading:
                assert heading in anchors(file), f"{page.name}: {target}"


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.M)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}
