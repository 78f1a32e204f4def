"""Data for the tests: made here, or real where it is found."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


class Rows:
    """Rows whose target and hidden attribute overlap."""

    def __init__(self, n: int = 400, d: int = 6, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3
        noise = rng.normal(size=(2, n))
        score = self.X - self.X.mean(axis=0)
        self.s = (score[:, 0] + score[:, 1] + noise[0] > 0).astype(int)
        self.y = (score[:, 1] + score[:, 2] + noise[1] > 0).astype(int)
        self.number = score[:, 2] + 0.5 * score[:, 0] + noise[1]
        self.weights = rng.uniform(0.2, 3, n)


@pytest.fixture(scope="session")
def rows() -> Rows:
    return Rows()


def real(name: str) -> Path:
    """A file of real data; says plainly when there is none."""
    folders = [os.environ.get("SARL_DATA"), ROOT.parent / "shared" / "data"]
    for folder in folders:
        if folder and (Path(folder) / name).exists():
            return Path(folder) / name
    if os.environ.get("SARL_REQUIRE_DATA"):
        pytest.fail(f"{name} is not there, and the real data is required")
    pytest.skip(f"{name} is not there: set SARL_DATA to the folder of real data")


def arrays(name: str) -> tuple[Any, Any, Any]:
    """X (in doubles), y and s of a file of real data."""
    data = np.load(real(name))
    return data["X"].astype(np.float64), data["y"], data["s"]


@pytest.fixture(scope="session")
def adult() -> Any:
    """The UCI table: features, income and sex, 8,000 rows of it."""
    import pandas as pd

    names = [
        "age",
        "workclass",
        "fnlwgt",
        "education",
        "education_num",
        "marital_status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "capital_gain",
        "capital_loss",
        "hours_per_week",
        "native_country",
        "income",
    ]
    table = pd.read_csv(
        real("adult/adult.data"), header=None, names=names, skipinitialspace=True, na_values="?"
    )
    table = table.dropna().reset_index(drop=True).iloc[:8000]
    return table.drop(columns=["sex", "income"]), table["income"], table["sex"]


@pytest.fixture(scope="session")
def cli() -> Any:
    """Runs the command line; gives its JSON."""
    import json

    built = ROOT / "target" / "release" / "sarl"
    found = os.environ.get("SARL_BIN") or (str(built) if built.exists() else shutil.which("sarl"))
    if not found:
        pytest.skip("the command `sarl` is not built: cargo build --release")

    def run(*arguments: Any) -> Any:
        words = [found, *map(str, arguments), "--json", "--quiet"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def same(ours: Any, theirs: Any, at: str = "") -> None:
    """Both say the same, figures up to rounding."""
    if isinstance(ours, dict):
        assert list(ours) == list(theirs), at
        for name in ours:
            same(ours[name], theirs[name], f"{at}/{name}")
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), at
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            same(one, other, f"{at}/{i}")
    elif isinstance(ours, float) or isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9), at
    else:
        assert ours == theirs, at
