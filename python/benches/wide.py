"""Erasure and encoding at the widths of language models, beside concept-erasure and numpy.

All work is done in one process, in turns, on float32 rows, with medians of the turns; a ratio is our time
over that of the peer. ``--json`` writes all numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Columns, and rows for each of them.
SIZES = {768: 200_000, 2_048: 100_000, 4_096: 50_000}

#: What is measured against what.
RATIOS = (
    ("Eraser.fit", "LeaceFitter"),
    ("Eraser.transform", "LeaceEraser"),
    ("SARL.fit", "ssyrk"),
    ("SARL.transform", "X @ W"),
    ("Eraser(leakage=0.05).fit", "Eraser.fit"),
    ("retune", "Eraser.fit"),
    ("heldout_, partial", "heldout_, full"),
    ("front_", "heldout_, full"),
)


def rows(count: int, columns: int) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any]]:
    """Rows whose variances fall off as those of activations do, and two labels that they tell."""
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, count), rng.integers(0, 2, count)
    size = np.arange(1, columns + 1, dtype=np.float32) ** -0.5
    x = rng.standard_normal((count, columns), dtype=np.float32)
    x[:, ::7] += np.float32(0.3) * s[:, None].astype(np.float32)
    x[:, ::5] += np.float32(0.3) * y[:, None].astype(np.float32)
    turn = rng.standard_normal((columns, 64), dtype=np.float32) / np.float32(columns**0.5)
    x += (x @ turn) @ turn.T
    x *= size
    return x, y, s


def jobs(x: NDArray[np.float32], y: NDArray[Any], s: NDArray[Any]) -> dict[str, Callable[[], Any]]:
    """What is timed, by name; later ones may need earlier ones."""
    import torch
    from concept_erasure import LeaceFitter
    from scipy.linalg.blas import ssyrk

    import sarl

    torch.set_num_threads(os.cpu_count() or 1)
    xt, st = torch.from_numpy(x), torch.from_numpy(s)
    full = sarl.Eraser().fit(x, sensitive_features=s)
    partial = sarl.Eraser(leakage=0.05).fit(x, sensitive_features=s)
    encoder = sarl.SARL().fit(x, y, sensitive_features=s)
    weights = np.ascontiguousarray(encoder.components_.T.astype(np.float32))
    eraser = LeaceFitter.fit(xt, st).eraser
    return {
        "LeaceFitter": lambda: LeaceFitter.fit(xt, st).eraser,
        "Eraser.fit": lambda: sarl.Eraser().fit(x, sensitive_features=s),
        "Eraser(leakage=0.05).fit": lambda: sarl.Eraser(leakage=0.05).fit(x, sensitive_features=s),
        "LeaceEraser": lambda: eraser(xt),
        "Eraser.transform": lambda: full.transform(x),
        "ssyrk": lambda: ssyrk(1.0, x.T),
        "SARL.fit": lambda: sarl.SARL().fit(x, y, sensitive_features=s),
        "X @ W": lambda: x @ weights,
        "SARL.transform": lambda: encoder.transform(x),
        "retune": lambda: partial.retune(max_leakage=0.1),
        "heldout_, full": lambda: full.heldout_,
        "heldout_, partial": lambda: partial.heldout_,
        "front_": lambda: partial.front(101),
    }


def measured(count: int, columns: int, turns: int, only: set[str]) -> dict[str, float]:
    """The median time of each job."""
    work = jobs(*rows(count, columns))
    work = {name: job for name, job in work.items() if not only or name in only}
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(turns):
        for name, job in work.items():
            start = time.perf_counter()
            job()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def main() -> None:
    """Prints the times and the ratios of each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--columns", type=int, nargs="+", default=list(SIZES), help="widths")
    parser.add_argument("--rows", type=int, help="rows of each (as many as in the documentation)")
    parser.add_argument(
        "--turns", type=int, default=3, help="times that each is done (%(default)s)"
    )
    parser.add_argument("--only", nargs="*", default=[], help="names of jobs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here too")
    asked = parser.parse_args()
    found = {}
    for columns in asked.columns:
        count = asked.rows or SIZES.get(columns, 100_000)
        times = measured(count, columns, asked.turns, set(asked.only))
        found[f"{count}x{columns}"] = times
        print(f"{count:,} x {columns} float32, medians of {asked.turns}", flush=True)
        for ours, peer in RATIOS:
            if ours in times and peer in times:
                ratio = times[ours] / times[peer]
                print(
                    f"  {ours:<26}{times[ours]:>9.3f} s  {peer:<16}{times[peer]:>9.3f} s{ratio:>8.2f}"
                )
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
