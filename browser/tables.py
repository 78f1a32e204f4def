"""Small tables for the reports, the same every time."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# What would be markup if anything took it for that, and other names that are hard on a page.
SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(2)>'
COMMENT = "<!-- data -->"
BREAK_OUT = "</script><script>alert(3)</script>"
ARABIC = "الدخل السنوي"
EMOJI = "👩🏽‍🔬 income 🏳️‍🌈"
LONG = "".join(f"{k:03d}" for k in range(100))


def write(path: Path, **columns: Sequence[object]) -> Path:
    return write_named(path, columns)


def write_named(path: Path, columns: dict[str, Sequence[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def people(path: Path, rows: int = 400) -> Path:
    """Income in three classes and sex in two, which overlap; one column is pure noise."""
    rng = np.random.default_rng(1)
    income = rng.integers(0, 3, rows)
    sex = (rng.random(rows) < 0.3 + 0.2 * income).astype(int)
    return write(
        path,
        income=np.array(["low", "middle", "high"])[income],
        sex=np.array(["female", "male"])[sex],
        school=income + 0.8 * sex + rng.normal(size=rows),
        hours=(income == 1) + 1.2 * sex + rng.normal(size=rows),
        noise=rng.normal(size=rows),
        region=np.array(["north", "south", "east"])[(income + rng.integers(0, 2, rows)) % 3],
    )


def untrusted(path: Path) -> Path:
    """Names and labels of which none is what it seems to be."""
    rng = np.random.default_rng(2)
    rows = 200
    target = rng.integers(0, 3, rows)
    hidden = (rng.random(rows) < 0.2 + 0.3 * target).astype(int)
    number = lambda *parts: sum(parts, rng.normal(size=rows))
    columns = {
        SCRIPT: np.array([BREAK_OUT, COMMENT, EMOJI])[target],
        IMAGE: np.array([SCRIPT, ARABIC])[hidden],
        COMMENT: number(target, hidden),
        BREAK_OUT: number(target),
        ARABIC: number(hidden),
        EMOJI: np.array([IMAGE, "plain", LONG])[(target + rng.integers(0, 2, rows)) % 3],
        LONG: number(0.5 * target),
    }
    return write_named(path, columns)


def numbers(path: Path, rows: int = 300) -> Path:
    """Everything is a number."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(rows, 4))
    return write(
        path,
        price=x[:, 0] + 0.5 * x[:, 1] + 0.3 * rng.normal(size=rows),
        age=x[:, 1] - 0.5 * x[:, 2] + 0.3 * rng.normal(size=rows),
        **{f"x{k}": x[:, k] for k in range(4)},
    )


def many_classes(path: Path, rows: int = 600) -> Path:
    """Thirty classes to keep, nine to hide."""
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 30, rows)
    group = (kind + rng.integers(0, 4, rows)) % 9
    centres = rng.normal(size=(30, 8))
    x = centres[kind] + rng.normal(size=(9, 8))[group] + 0.7 * rng.normal(size=(rows, 8))
    return write(
        path,
        kind=[f"kind {k}" for k in kind],
        group=[f"group {k}" for k in group],
        **{f"x{k}": x[:, k] for k in range(8)},
    )


def unrelated(path: Path, rows: int = 500) -> Path:
    """What is to be hidden has almost nothing to do with the rest."""
    rng = np.random.default_rng(5)
    target = rng.integers(0, 2, rows)
    return write(
        path,
        target=np.array(["no", "yes"])[target],
        coin=np.array(["heads", "tails"])[np.arange(rows) % 2],
        x=target + rng.normal(size=rows),
        w=rng.uniform(0.5, 2, rows),
    )


def rare(path: Path, rows: int = 400) -> Path:
    """A label that is nearly always the same, and one that is nearly the other."""
    rng = np.random.default_rng(6)
    target = rng.integers(0, 2, rows)
    hidden = np.where(np.arange(rows) % 40 == 0, "rare", "usual")
    twin = np.where(rng.random(rows) < 0.02, 1 - target, target)
    return write(
        path,
        target=np.array(["no", "yes"])[target],
        hidden=hidden,
        twin=np.array(["left", "right"])[twin],
        x=target + (hidden == "rare") + rng.normal(size=rows),
        y=rng.normal(size=rows),
    )
