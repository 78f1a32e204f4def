"""The error of single precision: the same float32 rows erased with products in both precisions.

``left`` is the largest difference between the means of two classes that is left in a column, ``apart`` the largest
difference between rows erased in both precisions; both in standard deviations of the column. The folder of real data is
``SARL_DATA``. ``--json`` writes all numbers.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Numeric columns of ACSIncome.
ACS = ["AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "RAC1P"]

Set = tuple[str, NDArray[np.float32], NDArray[Any]]


def cifar(folder: Path) -> Set:
    """Features of a network with the coarse classes."""
    with np.load(folder / "cifar100" / "train.npz") as file:
        return "CIFAR-100 features, 20 classes", file["X"].astype(np.float32), file["y"]


def acs(folder: Path) -> Set:
    """Census rows as they are, with codes as numbers."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "acs" / "acs_income_2018.parquet", columns=[*ACS, "SEX"])
    table = table.slice(0, 200_000)
    columns = [table[name].to_numpy().astype(np.float32) for name in ACS]
    return "ACS income, sex, no scaling", np.stack(columns, axis=1), table["SEX"].to_numpy()


def random(mean: float) -> Set:
    """Correlated rows whose variances fall off."""
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 20_000)
    x = rng.standard_normal((20_000, 256)) + 0.3 * s[:, None]
    x = x @ (rng.standard_normal((256, 256)) / 16 + np.eye(256))
    x = x * np.arange(1, 257) ** -1.0 + mean
    name = "random, correlated, variances falling"
    return f"{name}, means of {mean:g}" if mean else name, x.astype(np.float32), s


def sets(folder: Path) -> Iterator[Set]:
    """All sets."""
    yield cifar(folder)
    yield acs(folder)
    yield random(0.0)
    yield random(100.0)


def left(z: NDArray[Any], s: NDArray[Any], deviations: NDArray[np.float64]) -> float:
    """The largest difference between the means of two classes."""
    z = z.astype(np.float64)
    means = np.stack([z[s == one].mean(axis=0) for one in np.unique(s)])
    return float(((means.max(axis=0) - means.min(axis=0)) / deviations).max())


def measured(x: NDArray[np.float32], s: NDArray[Any]) -> dict[str, float]:
    """What is left by each, and how far both are apart."""
    import sarl

    wide = x.astype(np.float64)
    deviations = wide.std(axis=0)
    erased = {}
    for precision in ("double", "single"):
        eraser = sarl.Eraser(precision=precision).fit(x, sensitive_features=s)
        erased[precision] = np.asarray(eraser.transform(wide))
    difference = np.abs(erased["double"] - erased["single"]) / deviations
    return {
        "left_double": left(erased["double"], s, deviations),
        "left_single": left(erased["single"], s, deviations),
        "apart": float(difference.max()),
    }


def main() -> None:
    """Prints a line for each set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here too")
    asked = parser.parse_args()
    folder = Path(os.environ.get("SARL_DATA", "../shared/data"))
    found = []
    for name, x, s in sets(folder):
        name = f"{name}, {len(x):,} × {x.shape[1]}"
        line = measured(x, s)
        found.append({"rows": name, **line})
        print(name, " ".join(f"{key} {value:.0e}" for key, value in line.items()), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps({"lines": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
