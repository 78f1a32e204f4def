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


class People:
    """A table whose categories and classes are not all in every partition of it."""

    features = ("age", "hours", "place", "score", "member")

    def __init__(self, n: int = 3000, seed: int = 3) -> None:
        import pyarrow as pa

        rng = np.random.default_rng(seed)
        age, hours, score = rng.normal(size=(3, n))
        place = np.array(["north", "east", "south", "west", "élan"])[rng.integers(0, 5, n)]
        member = rng.uniform(size=n) < 0.4
        score += (place == "north") + 0.5 * member
        keep = score + hours + rng.normal(size=n)
        hide = score + age + rng.normal(size=n)
        self.table = pa.table(
            {
                "age": np.round(20 * age + 40).astype(np.int64),
                "hours": hours.astype(np.float32),
                "place": place,
                "score": score,
                "member": member,
                "income": np.where(keep > 0.5, ">50K", "<=50K"),
                "group": np.array(["a", "b", "c"])[np.digitize(hide, [-0.5, 1.5])],
                "level": np.digitize(hide, [-1, 0, 1]) * 10,
                "wealth": keep,
                "weight": rng.uniform(0.2, 3, n),
                "person": [f"p{k}" for k in rng.integers(0, n // 2, n)],
            }
        )

    @property
    def frame(self) -> Any:
        """As a DataFrame of pandas."""
        return self.table.to_pandas()

    @property
    def X(self) -> Any:
        """The features."""
        return self.frame[list(self.features)]

    def parts(self, count: int, seed: int = 0) -> list[Any]:
        """As many partitions in some order. Few of them have all categories and classes."""
        by = self.table.sort_by([("place", "ascending"), ("group", "descending")])
        places = np.array_split(np.arange(len(by)), count)
        order = np.random.default_rng(seed).permutation(count)
        return [by.take(places[k]) for k in order]

    def moments(self, **options: Any) -> Any:
        """The moments of one machine, in one update."""
        from sarl import Moments

        frame = self.frame
        options = {"fold_by": "content"} | options
        ids = frame["person"] if options["fold_by"] == "key" else None
        return Moments(**options).update(
            self.X, frame["income"], frame["group"], frame["weight"], row_id=ids
        )


@pytest.fixture(scope="session")
def people() -> People:
    return People()


#: What two fits of the same rows must agree on.
FIGURES = ("heldout_", "point_", "bounds_")


def same_fit(ours: Any, theirs: Any, X: Any, atol: float = 1e-10) -> None:
    """Two fits of the same rows have the same losses, bounds, held-out losses and z."""
    import dataclasses

    def values(of: Any) -> Any:
        return list(dataclasses.astuple(of) if dataclasses.is_dataclass(of) else of)

    for name in FIGURES:
        one, other = values(getattr(ours, name)), values(getattr(theirs, name))
        np.testing.assert_allclose(one, other, rtol=0, atol=atol, err_msg=name)
    z, expected = np.asarray(ours.transform(X)), np.asarray(theirs.transform(X))
    np.testing.assert_allclose(z, expected, rtol=0, atol=atol)


def same_cells(ours: Any, theirs: Any, X: Any, atol: float = 1e-10) -> None:
    """Two fits of the same rows have the same cells, centres and certificates."""
    one, other = ours.certificate_.to_dict(), theirs.certificate_.to_dict()
    same(one, other)
    for name, attribute in other["attributes"].items():
        assert one["attributes"][name]["counts"] == attribute["counts"]
    np.testing.assert_allclose(ours.centres_, theirs.centres_, rtol=0, atol=atol)
    assert np.array_equal(ours.cell(X), theirs.cell(X))


def engine(name: str) -> Any:
    """A cluster engine; says plainly when it is not installed."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as problem:
        if os.environ.get("SARL_REQUIRE_ENGINES"):
            pytest.fail(f"{name} is required: {problem}")
        pytest.skip(f"{name} is not installed: pip install .[test]", allow_module_level=True)


def needs_java() -> None:
    """Spark's other half; says plainly when it is missing."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        if os.environ.get("SARL_REQUIRE_ENGINES"):
            pytest.fail("Spark needs Java, and the engines are required")
        pytest.skip("Spark needs Java, and there is none")


@pytest.fixture(scope="session")
def acs() -> Any:
    """ACSIncome: 60,000 rows with the state as text and the occupation as a category."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return acs_rows(pq.read_table(real("acs/acs_income_2018.parquet")).slice(0, 1_200_000), pa, 20)


def acs_rows(table: Any, pa: Any, step: int) -> Any:
    """Each of so many rows, with OCCP and ST as text."""
    table = table.take(np.arange(0, len(table), step))
    for name, of in (("ST", table["ST"].cast(pa.string())), ("OCCP", table["OCCP"])):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, of.cast(pa.string()))
    return table


#: The features, the target and what is hidden in ACSIncome.
ACS = (["AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "ST"], "PINCP", "SEX")
