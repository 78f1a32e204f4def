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
    ("heldout_, partial", "Eraser.fit"),
    ("front_", "Eraser.fit"),
    ("heldout_, partial", "heldout_, full"),
    ("front_", "heldout_, full"),
    ("KernelSARL.fit", "Nystroem, numpy"),
    ("KernelSARL(ridge).fit", "Nystroem, numpy"),
)

#: Seconds before each job: the threads of BLAS wait for more work a while, and take a core from whoever is next.
REST = 0.3

#: Landmarks of a kernel, rows and columns.
KERNELS = {1_000: (50_000, 100)}


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


def curved(count: int, columns: int) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any]]:
    """Rows, and two labels of which one is no linear function of them."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, columns), dtype=np.float32)
    noise = rng.standard_normal((2, count))
    y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * noise[0] > 0
    s = x[:, 3] + 0.5 * x[:, 0] + 0.7 * noise[1] > 0
    return x, y.astype(int), s.astype(int)


def by_hand(x: NDArray[np.float32], y: NDArray[Any], s: NDArray[Any], landmarks: int) -> Any:
    """An encoder of scikit-learn's landmarks by numpy, at one weight of the adversary and one ridge."""
    from scipy.linalg import solve_triangular
    from sklearn.kernel_approximation import Nystroem

    phi = Nystroem(gamma=0.5 / x.shape[1], n_components=landmarks, random_state=0).fit_transform(x)
    phi -= phi.mean(axis=0)
    covariance = phi.T @ phi / np.float32(len(phi))
    covariance[np.diag_indices(landmarks)] += np.float32(1e-5)
    labels = np.stack([y - y.mean(), s - s.mean()], axis=1).astype(np.float32)
    cross = phi.T @ labels / np.float32(len(phi))
    factor = np.linalg.cholesky(covariance)
    known = solve_triangular(factor, cross, lower=True)
    q, _ = np.linalg.qr(known)
    keep, hide = np.split(q.T @ known, 2, axis=1)
    _, vectors = np.linalg.eigh(hide @ hide.T - keep @ keep.T)
    weights = solve_triangular(factor.T, q @ vectors[:, :1], lower=False)
    return phi @ weights


def kernel_jobs(count: int, columns: int, landmarks: int) -> dict[str, Callable[[], Any]]:
    """The fits of a kernel: with the ridge that held-out losses choose, and with one that is given."""
    import sarl

    x, y, s = curved(count, columns)
    return {
        "Nystroem, numpy": lambda: by_hand(x, y, s, landmarks),
        "KernelSARL.fit": lambda: sarl.KernelSARL(landmarks=landmarks).fit(
            x, y, sensitive_features=s
        ),
        "KernelSARL(ridge).fit": lambda: sarl.KernelSARL(landmarks=landmarks, ridge=1e-5).fit(
            x, y, sensitive_features=s
        ),
    }


def measured(work: dict[str, Callable[[], Any]], turns: int, only: set[str]) -> dict[str, float]:
    """The median time of each job."""
    work = {name: job for name, job in work.items() if not only or name in only}
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(turns):
        for name, job in work.items():
            time.sleep(REST)
            start = time.perf_counter()
            job()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def show(size: str, turns: int, times: dict[str, float]) -> list[dict[str, Any]]:
    """Prints the times and the ratios of one size, and gives them."""
    print(f"{size}, medians of {turns}", flush=True)
    lines = []
    for ours, peer in RATIOS:
        if ours in times and peer in times:
            seconds = {"seconds": times[ours], "seconds_peer": times[peer]}
            ratio = times[ours] / times[peer]
            lines.append({"size": size, "work": ours, "peer": peer, **seconds, "ratio": ratio})
            print(
                f"  {ours:<26}{times[ours]:>9.3f} s  {peer:<16}{times[peer]:>9.3f} s{ratio:>8.2f}",
                flush=True,
            )
    return lines


def main() -> None:
    """Prints the times and the ratios of each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--columns", type=int, nargs="*", default=list(SIZES), help="widths")
    parser.add_argument(
        "--landmarks", type=int, nargs="*", default=list(KERNELS), help="landmarks of kernels"
    )
    parser.add_argument("--rows", type=int, help="rows of each (as many as in the documentation)")
    parser.add_argument(
        "--turns", type=int, default=3, help="times that each is done (%(default)s)"
    )
    parser.add_argument("--only", nargs="*", default=[], help="names of jobs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here too")
    asked = parser.parse_args()
    found: list[dict[str, Any]] = []
    for columns in asked.columns:
        count = asked.rows or SIZES.get(columns, 100_000)
        times = measured(jobs(*rows(count, columns)), asked.turns, set(asked.only))
        found += show(f"{count:,} × {columns:,}", asked.turns, times)
    for landmarks in asked.landmarks:
        count, columns = KERNELS.get(landmarks, (20_000, 50))
        times = measured(kernel_jobs(count, columns, landmarks), asked.turns, set(asked.only))
        size = f"{count:,} × {columns}, {landmarks:,} landmarks"
        found += show(size, asked.turns, times)
    wanted = {"turns": asked.turns, "cores": os.cpu_count(), "lines": found}
    if asked.json:
        asked.json.write_text(json.dumps(wanted, indent=2) + "\n")


if __name__ == "__main__":
    main()
