"""How far results on a GPU, and in single precision, are from those of the processor in double precision.

The files of real data are those of the tests. The last line is JSON.

    SARL_DATA=DIR python python/benches/gpu_error.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sarl import SARL, KernelSARL

#: What is compared with the processor in double precision.
WAYS = (
    ("GPU, double", "cuda", "double"),
    ("GPU, single", "cuda", "single"),
    ("GPU, fast", "cuda", "fast"),
    ("processor, single", "cpu", "single"),
)

Labelled = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def folder() -> Path:
    """Where the files are."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("SARL_DATA", beside))


def cifar() -> Labelled:
    """Features of images, coarse classes and fine ones."""
    found = np.load(folder() / "cifar100" / "test.npz")
    return found["X"].astype(np.float64), found["y"], found["s"]


def census() -> Labelled:
    """Numbers of people, their income and their sex."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder() / "acs" / "acs_income_2018.parquet")
    names = [n for n in table.column_names if n not in ("PINCP", "SEX", "ST")]
    x = np.stack([table[n].to_numpy().astype(np.float64) for n in names], axis=1)
    return x, table["PINCP"].to_numpy(zero_copy_only=False), table["SEX"].to_numpy()


def results(encoder: Any, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Bounds, a front of 13 points with its held-out figures, and z in its standard deviations."""
    figures = np.asarray(encoder.front(13), float)
    bounds = [v for v in encoder.bounds_ if isinstance(v, float)]
    z = encoder.transform(x[:20_000])
    return np.array(bounds), figures, z / z.std(axis=0)


def apart(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The largest difference."""
    return float(np.nanmax(np.abs(a - b))) if a.shape == b.shape else float("nan")


def measured(name: str, make: Any, data: Labelled) -> list[dict[str, Any]]:
    """A line for each way."""
    x, y, s = data
    fit = lambda device, precision: make(device, precision).fit(x, y, sensitive_features=s)
    reference = results(fit("cpu", "double"), x)
    lines = []
    for way, device, precision in WAYS:
        try:
            found = results(fit(device, precision), x)
        except RuntimeError as problem:
            print(f"skipped {name}, {way}: {problem}", flush=True)
            continue
        bounds, front, z = (apart(a, b) for a, b in zip(found, reference, strict=True))
        print(f"{name}, {way}: bounds {bounds:.0e}, front {front:.0e}, z {z:.0e}", flush=True)
        lines.append({"data": name, "way": way, "bounds": bounds, "front": front, "z": z})
    return lines


def main() -> None:
    """Prints a line for each data set and way, and all of them as JSON last."""
    classes = {"max_leakage": 0.01, "target_type": "class", "sensitive_type": "class"}
    linear = lambda device, precision: SARL(**classes, device=device, precision=precision)
    kernel = lambda device, precision: KernelSARL(
        **classes, landmarks=1000, ridge=1e-4, device=device, precision=precision
    )
    people = census()
    lines = measured("CIFAR-100 features, linear", linear, cifar())
    lines += measured("ACS income, linear", linear, people)
    lines += measured("ACS income, RBF, 1000 landmarks", kernel, people)
    print(json.dumps({"lines": lines}))


if __name__ == "__main__":
    main()
