"""A fit from Python against the Rust library, concept-erasure and numpy, in one run, as ratios.

The data is made once, in a temporary folder. Then everybody takes turns, each time in a process of
its own: it reads the data, fits a few rows to wake its libraries up, and fits all of them three
times under the clock, as the first time also pays for memory that the system hands out afresh. What
the process needed at its peak beyond what it held before is the memory of the fit.

    maturin develop --release        # or: export PYTHONPATH=python
    pip install concept-erasure scipy
    python python/benches/fit.py --rows 1000000 --columns 128 --repeats 5 --json fit.json

Whoever is not installed is left out. The Rust library's own time comes from the benchmark `fit` of
the crate `sarl`, built by cargo unless SARL_FIT_BENCH is the path of one that is built already.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jobs import (
    CHUNK,
    Data,
    Doubles,
    Work,
    careful_covariances,
    chunks,
    eraser_job,
    eraser_transform,
    lazy_covariances,
    leace_job,
    leace_transform,
    make,
    numpy_encoding,
    numpy_erasure,
    numpy_job,
    one_hot,
    partial_erasure,
    read,
    retunes,
    sarl_job,
    sarl_transform,
)

ROOT = Path(__file__).resolve().parents[2]

#: Rows of the fit before the one that counts.
WARM_UP = 4_096

#: Times that each process does its work.
TIMES = 3

#: The claims: the most time, as a multiple of the Rust library's, and no copy of X.
MOST_TIME = 1.1

#: How far the losses of two encoders that are both the best may lie apart.
SAME = 1e-6

#: What each turn of each job measured.
Runs = dict[str, list[dict[str, Any]]]


# -- one process ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """Something to be timed: its name for people, what it needs, and how it is done."""

    name: str
    needs: tuple[str, ...]
    #: Readies the work, outside of the clock; none is the Rust library.
    prepare: Callable[[Data], Work] | None = None


RUST = "the Rust library"
OURS = "sarl.SARL.fit"
SINGLE = {"precision": "single"}

#: By heading; ratios are to the first one.
JOBS: dict[str, dict[str, Job]] = {
    "fit: an encoder at leakage 0": {
        "encode": Job(RUST, ()),
        "sarl": Job(OURS, ("sarl",), sarl_job()),
        "sarl-single": Job("sarl.SARL.fit, precision='single'", ("sarl",), sarl_job(**SINGLE)),
        "numpy": Job("numpy, careful, no folds", ("scipy",), numpy_job(careful_covariances)),
        "numpy-lazy": Job("numpy, as written down", ("scipy",), numpy_job(lazy_covariances)),
    },
    "fit: erasure": {
        "erase": Job(RUST, ()),
        "eraser": Job("sarl.Eraser.fit", ("sarl",), eraser_job()),
        "eraser-single": Job(
            "sarl.Eraser.fit, precision='single'", ("sarl",), eraser_job(**SINGLE)
        ),
        "leace": Job("LeaceFitter, one update", ("concept_erasure",), leace_job(None)),
        "leace-batches": Job(
            f"LeaceFitter, {CHUNK:,} at a time", ("concept_erasure",), leace_job(CHUNK)
        ),
    },
    "transform: erasure, the result included in the memory": {
        "eraser-transform": Job("Eraser.transform", ("sarl",), eraser_transform),
        "leace-transform": Job("LeaceEraser.__call__", ("concept_erasure",), leace_transform),
        "numpy-erasure": Job("numpy, X @ P + b", ("sarl",), numpy_erasure),
    },
    "transform: an encoder": {
        "sarl-transform": Job("SARL.transform", ("sarl",), sarl_transform),
        "numpy-encoding": Job("numpy, X @ W - b", ("sarl",), numpy_encoding),
    },
    "without another look at the rows": {
        "retune": Job("SARL.retune, 1,000 times", ("sarl",), retunes),
        "partial": Job("Eraser(leakage=0.05), after the pass", ("sarl",), partial_erasure),
    },
}


#: Encoders of the same precision, whose losses must be the same.
SAME_LOSS = ("encode", "sarl", "numpy", "numpy-lazy")


def peak() -> float:
    """The most memory so far, in megabytes.

    The system counts what the parent had when it started this process too, which is why the parent
    never holds X.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def gap_left(data: Data, matrix: Doubles) -> float:
    """The share of the difference between the means of the classes of s that a matrix leaves."""
    sums, counts = np.zeros((2, data.x.shape[1])), np.zeros(2)
    for part in chunks(len(data.x)):
        classes = one_hot(data.s[part])
        sums += classes.T @ data.x[part].astype(np.float64)
        counts += classes.sum(axis=0)
    gap = np.subtract(*(sums / counts[:, None]))
    return float(np.linalg.norm(gap @ matrix) / np.linalg.norm(gap))


def measured(prepare: Callable[[Data], Work], folder: Path, columns: int) -> dict[str, Any]:
    """Times and memory of one piece of work in this process, and what it reached."""
    data = read(folder, columns)
    work = prepare(data)
    work(data.head(WARM_UP))
    before = peak()
    seconds = []
    for _ in range(TIMES):
        found: dict[str, Any] = {}  # What was found before is gone before the clock starts.
        start = time.perf_counter()
        found = work(data)
        seconds.append(time.perf_counter() - start)
    result: dict[str, Any] = {"seconds": seconds, "extra_mb": round(peak() - before, 1)}
    if "jy" in found:
        result["jy"] = float(found["jy"])
    if "matrix" in found:
        result["gap_left"] = gap_left(data, found["matrix"])
    return result


# -- all of them ---------------------------------------------------------------------------------


def rust_binary() -> str:
    """The path of the Rust benchmark, built if it is not given."""
    given = os.environ.get("SARL_FIT_BENCH")
    if given:
        return given
    command = ["cargo", "bench", "--workspace", "--bench", "fit", "--no-run"]
    built = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "fit":
            return str(message["executable"])
    raise RuntimeError(f"`{' '.join(command)}` built no benchmark")


def run(key: str, job: Job, folder: Path, rows: int, columns: int, binary: str) -> dict[str, Any]:
    """One job in a process of its own."""
    if job.prepare is None:
        command = [binary, str(folder), str(rows), str(columns), key]
    else:
        command = [sys.executable, "-W", "ignore", __file__, "--columns", str(columns)]
        command += ["--job", key, "--folder", str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def is_there(job: Job) -> bool:
    """Whether all is installed that a job needs."""
    return all(importlib.util.find_spec(module) is not None for module in job.needs)


def all_runs(folder: Path, rows: int, columns: int, repeats: int) -> Runs:
    """All jobs in turns, so that a busy moment of the machine is not one job's bad luck."""
    binary = rust_binary()
    jobs = {key: job for group in JOBS.values() for key, job in group.items() if is_there(job)}
    runs: Runs = {key: [] for key in jobs}
    for turn in range(repeats):
        for key, job in jobs.items():
            note(f"turn {turn + 1} of {repeats}: {key}")
            runs[key].append(run(key, job, folder, rows, columns, binary))
    note("")
    return runs


def note(text: str) -> None:
    """Says on a terminal what is going on."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def summary(runs: Runs) -> dict[str, dict[str, Any]]:
    """Best and median times, the most memory, and ratios to the first of each group."""
    found: dict[str, dict[str, Any]] = {}
    for heading, group in JOBS.items():
        first = None
        for key, job in group.items():
            if key not in runs:
                continue
            seconds = [time for one in runs[key] for time in one["seconds"]]
            extra = [one["extra_mb"] for one in runs[key] if one["extra_mb"] is not None]
            entry: dict[str, Any] = {
                "group": heading,
                "name": job.name,
                "best_s": min(seconds),
                "median_s": statistics.median(seconds),
                "extra_mb": max(extra, default=None),
                "seconds": seconds,
            }
            first = first or entry
            entry["ratio_best"] = entry["best_s"] / first["best_s"]
            entry["ratio_median"] = entry["median_s"] / first["median_s"]
            reached = {"jy", "gap_left"} & runs[key][0].keys()
            entry |= {name: runs[key][0][name] for name in reached}
            found[key] = entry
    return found


def show(found: dict[str, dict[str, Any]]) -> None:
    """The table for people."""
    for heading, group in JOBS.items():
        there = [key for key in group if key in found]
        if not there:
            continue
        to = group[there[0]].name.removeprefix("the ")
        print(f"\n{heading}; ratios to {to}")
        print(f"  {'':<38}{'best s':>10}{'ratio':>8}{'median s':>11}{'ratio':>8}{'extra MB':>11}")
        for key in there:
            one = found[key]
            extra = "unknown" if one["extra_mb"] is None else f"{one['extra_mb']:.0f}"
            print(
                f"  {one['name']:<38}{one['best_s']:>10.3f}{one['ratio_best']:>8.2f}"
                f"{one['median_s']:>11.3f}{one['ratio_median']:>8.2f}{extra:>11}"
            )
    missing = [job.name for g in JOBS.values() for k, job in g.items() if k not in found]
    if missing:
        print(f"\nleft out, as something is not installed: {', '.join(missing)}")


#: What is set against the best of which others, in one line.
AGAINST = (("sarl", ("numpy",)), ("eraser", ("leace", "leace-batches")))


def show_ratios(found: dict[str, dict[str, Any]]) -> None:
    """The times of the others as multiples of ours, the better where there are two ways."""
    print()
    for ours, others in AGAINST:
        there = [found[key] for key in others if key in found]
        if ours in found and there:
            other = min(there, key=lambda one: float(one["best_s"]))
            ratio = other["best_s"] / found[ours]["best_s"]
            print(f"{other['name']}: {ratio:.2f} x the time of {found[ours]['name']}")


def show_results(found: dict[str, dict[str, Any]]) -> None:
    """Whether all did the same: encoders by their loss, erasers by what they left."""
    losses = {key: one["jy"] for key, one in found.items() if key in SAME_LOSS and "jy" in one}
    apart = max(losses.values()) - min(losses.values())
    agree = "agree" if apart <= SAME else "DO NOT AGREE"
    print(f"losses of y {agree}: they lie {apart:.1e} apart, about {losses['encode']:.9f}")
    for one in found.values():
        if "gap_left" in one:
            print(f"{one['gap_left']:.1e} of the gap between class means is left by {one['name']}")


def claims(found: dict[str, dict[str, Any]], x_mb: float) -> dict[str, Any]:
    """Whether what is claimed holds."""
    ours = found.get("sarl")
    if ours is None:
        return {"time": None, "memory": None}
    return {"time": ours["ratio_best"] <= MOST_TIME, "memory": ours["extra_mb"] < x_mb}


def verdict(found: dict[str, dict[str, Any]], x_mb: float) -> str:
    """The claims in words; the best times count, as other work can only add to a time."""
    holds = claims(found, x_mb)
    if holds["time"] is None:
        return "claims: not tested, as sarl is not installed"
    ours = found["sarl"]
    words = {True: "holds", False: "DOES NOT HOLD"}
    return (
        f"claims: {OURS} takes {ours['ratio_best']:.3f} x the Rust library's time, at most "
        f"{MOST_TIME} x {words[holds['time']]}; it takes {ours['extra_mb']:.0f} MB beside X of "
        f"{x_mb:.0f} MB, no full copy {words[holds['memory']]}"
    )


def count(text: str) -> int:
    """A whole number above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n\n")[0],
        epilog="example: python python/benches/fit.py --rows 200000 --repeats 7 --json fit.json",
    )
    parser.add_argument("--rows", type=count, default=1_000_000, help="rows of X (%(default)s)")
    parser.add_argument("--columns", type=count, default=128, help="columns of X (%(default)s)")
    parser.add_argument("--repeats", type=count, default=5, help="turns of each (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here too")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """All jobs, or one of them in a process that this started."""
    asked = arguments()
    if asked.job:
        job = next(group[asked.job] for group in JOBS.values() if asked.job in group)
        assert job.prepare is not None
        print(json.dumps(measured(job.prepare, asked.folder, asked.columns)))
        return
    x_mb = asked.rows * asked.columns * 4 / 1e6
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="sarl-fit-") as folder:
        make(Path(folder), asked.rows, asked.columns)
        runs = all_runs(Path(folder), asked.rows, asked.columns, asked.repeats)
    found = summary(runs)
    print(
        f"{asked.rows:,} x {asked.columns} float32, {x_mb:.0f} MB; {os.cpu_count()} cores, load "
        f"{load:.1f} before; {asked.repeats} turns of {TIMES}, each in a process of its own"
    )
    show(found)
    show_ratios(found)
    show_results(found)
    print(f"\n{verdict(found, x_mb)}")
    if asked.json:
        about = {"rows": asked.rows, "columns": asked.columns, "x_mb": x_mb, "load_before": load}
        about |= {"cores": os.cpu_count(), "claims": claims(found, x_mb), "jobs": found}
        asked.json.write_text(json.dumps(about, indent=2) + "\n")


if __name__ == "__main__":
    main()
