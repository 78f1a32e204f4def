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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]

#: Rows that are made, and that the careful ones read, at a time.
CHUNK = 65_536

#: Rows of the fit before the one that counts.
WARM_UP = 4_096

#: Times that each process does its work.
TIMES = 3

#: Rows that are fitted before a transform counts.
LEARNED = 50_000

#: The claims: the most time, as a multiple of the Rust library's, and no copy of X.
MOST_TIME = 1.1

#: How far the losses of two encoders that are both the best may lie apart.
SAME = 1e-6

Doubles = NDArray[np.float64]

#: What each turn of each job measured.
Runs = dict[str, list[dict[str, Any]]]


# -- data --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """Features, what is to be kept and what is to be hidden, this also in one-hot columns."""

    x: NDArray[np.float32]
    y: NDArray[np.int64]
    s: NDArray[np.int64]
    z: NDArray[np.float32]

    def head(self, rows: int) -> Data:
        """The first rows."""
        return Data(self.x[:rows], self.y[:rows], self.s[:rows], self.z[:rows])


#: Does the work on the data, and says what came out.
Work = Callable[[Data], dict[str, Any]]


def chunks(rows: int) -> Iterator[slice]:
    """All rows, some at a time."""
    for start in range(0, rows, CHUNK):
        yield slice(start, min(start + CHUNK, rows))


def make(folder: Path, rows: int, columns: int) -> None:
    """Correlated features about means of their own, and two classes each that depend on them."""
    rng = np.random.default_rng(0)
    mixing = np.eye(columns) + rng.normal(size=(columns, columns)) / (2 * np.sqrt(columns))
    means = rng.normal(size=columns).astype(np.float32)
    kept, hidden = rng.normal(size=(2, columns)) / np.sqrt(columns)
    towards = np.column_stack([kept, hidden + kept / 2]).astype(np.float32)
    with (
        open(folder / "x.f32", "wb") as x_file,
        open(folder / "y.u32", "wb") as y_file,
        open(folder / "s.u32", "wb") as s_file,
    ):
        for part in chunks(rows):
            size = part.stop - part.start
            x = rng.standard_normal((size, columns), dtype=np.float32) @ mixing.astype(np.float32)
            told = x @ towards + rng.standard_normal((size, 2), dtype=np.float32)
            (x + means).tofile(x_file)
            (told[:, 0] > 0).astype(np.uint32).tofile(y_file)
            (told[:, 1] > 0.5).astype(np.uint32).tofile(s_file)


def read(folder: Path, columns: int) -> Data:
    """The data that was made, all of it in memory."""
    x = np.fromfile(folder / "x.f32", np.float32).reshape(-1, columns)
    y, s = (np.fromfile(folder / f"{name}.u32", np.uint32).astype(np.int64) for name in "ys")
    return Data(x, y, s, np.equal(s[:, None], np.arange(2)).astype(np.float32))


# -- numpy -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Covariances:
    """Of the features, and of the features with the classes of y and of s."""

    features: Doubles
    with_y: Doubles
    with_s: Doubles
    y_variance: float


def one_hot(codes: NDArray[np.int64]) -> Doubles:
    """A column of zeros and ones for each of two classes."""
    return np.equal(codes[:, None], np.arange(2)).astype(np.float64)


def careful_covariances(data: Data) -> Covariances:
    """In double precision and about a shift, with memory for some rows at a time."""
    rows, columns = data.x.shape
    shift = data.x[:1024].mean(axis=0, dtype=np.float64)
    buffer = np.empty((min(CHUNK, rows), columns))
    scatter, sums, counts = np.zeros((columns, columns)), np.zeros((4, columns)), np.zeros(4)
    for part in chunks(rows):
        u = np.subtract(data.x[part], shift, out=buffer[: part.stop - part.start])
        classes = np.hstack([one_hot(data.y[part]), one_hot(data.s[part])])
        scatter += u.T @ u
        sums += classes.T @ u
        counts += classes.sum(axis=0)
    mean, shares = sums[:2].sum(axis=0) / rows, counts / rows
    crossed = (sums / rows - np.outer(shares, mean)).T
    features = scatter / rows - np.outer(mean, mean)
    return Covariances(features, crossed[:, :2], crossed[:, 2:], spread(shares[:2]))


def lazy_covariances(data: Data) -> Covariances:
    """As one writes it down: a copy of X in double precision."""
    x = data.x.astype(np.float64)
    x -= x.mean(axis=0)
    y, s = one_hot(data.y), one_hot(data.s)
    rows = len(x)
    return Covariances(x.T @ x / rows, x.T @ y / rows, x.T @ s / rows, spread(y.mean(axis=0)))


def spread(shares: Doubles) -> float:
    """The variance of classes that have these shares of the rows."""
    return float((shares * (1 - shares)).sum())


def best_encoder(of: Covariances) -> tuple[Doubles, float]:
    """The weights of the encoder that keeps most of y and nothing of s, and its loss of y."""
    from scipy.linalg import cholesky, eigh, solve_triangular, svd

    lower = cholesky(of.features, lower=True)
    y = solve_triangular(lower, of.with_y, lower=True)
    found, sizes, _ = svd(solve_triangular(lower, of.with_s, lower=True), full_matrices=False)
    found = found[:, sizes > 1e-10 * sizes[0]]
    y -= found @ (found.T @ y)
    told, directions = eigh(y.T @ y)
    kept = told > 1e-10 * told[-1]
    weights = y @ directions[:, kept] / np.sqrt(told[kept])
    loss = of.y_variance - float(told[kept].sum())
    return solve_triangular(lower, weights, lower=True, trans="T"), loss


def numpy_job(covariances: Callable[[Data], Covariances]) -> Callable[[Data], Work]:
    """An encoder by numpy, on covariances made in this way."""

    def prepare(_: Data) -> Work:
        return lambda data: {"jy": best_encoder(covariances(data))[1]}

    return prepare


# -- the others --------------------------------------------------------------------------------


def sarl_job(**params: Any) -> Callable[[Data], Work]:
    """`sarl.SARL` with these parameters."""

    def prepare(_: Data) -> Work:
        from sarl import SARL

        def work(data: Data) -> dict[str, Any]:
            fitted = SARL(max_leakage=0, **params).fit(data.x, data.y, sensitive_features=data.s)
            return {"jy": fitted.point_.jy}

        return work

    return prepare


def eraser_job(**params: Any) -> Callable[[Data], Work]:
    """`sarl.Eraser` with these parameters."""

    def prepare(_: Data) -> Work:
        from sarl import Eraser

        def work(data: Data) -> dict[str, Any]:
            return {"matrix": Eraser(**params).fit(data.x, sensitive_features=data.s).matrix_}

        return work

    return prepare


def leace(data: Data, step: int) -> Any:
    """An eraser of concept-erasure's, from as many rows at a time."""
    import torch
    from concept_erasure import LeaceFitter

    x, z = torch.from_numpy(data.x), torch.from_numpy(data.z)
    fitter = LeaceFitter(x.shape[1], 2, dtype=torch.float32)
    for start in range(0, len(x), step):
        fitter.update(x[start : start + step], z[start : start + step])
    return fitter.eraser


def wake_torch() -> None:
    """Lets torch use all cores."""
    import torch

    torch.set_num_threads(os.cpu_count() or 1)


def leace_job(step: int | None) -> Callable[[Data], Work]:
    """concept-erasure's LEACE, with all rows at once or some at a time."""

    def prepare(_: Data) -> Work:
        wake_torch()

        def work(data: Data) -> dict[str, Any]:
            return {"matrix": leace(data, step or len(data.x)).P.numpy().T}

        return work

    return prepare


def eraser_transform(data: Data) -> Work:
    """`sarl.Eraser.transform`."""
    from sarl import Eraser

    head = data.head(LEARNED)
    eraser = Eraser().fit(head.x, sensitive_features=head.s)
    return lambda data: {"erased": eraser.transform(data.x)}


def leace_transform(data: Data) -> Work:
    """`LeaceEraser.__call__`."""
    import torch

    wake_torch()
    eraser = leace(data.head(LEARNED), LEARNED)
    return lambda data: {"erased": eraser(torch.from_numpy(data.x)).numpy()}


def numpy_erasure(data: Data) -> Work:
    """The product with the matrix of the erasure, in single precision."""
    from sarl import Eraser

    head = data.head(LEARNED)
    eraser = Eraser().fit(head.x, sensitive_features=head.s)
    matrix = eraser.matrix_.astype(np.float32)
    offset = (eraser.mean_ - eraser.mean_ @ eraser.matrix_).astype(np.float32)
    return lambda data: {"erased": data.x @ matrix + offset}


def sarl_transform(data: Data) -> Work:
    """`sarl.SARL.transform`."""
    from sarl import SARL

    head = data.head(LEARNED)
    encoder = SARL(max_leakage=0).fit(head.x, head.y, sensitive_features=head.s)
    return lambda data: {"z": encoder.transform(data.x)}


def numpy_encoding(data: Data) -> Work:
    """The product with the weights of the encoder, in single precision."""
    from sarl import SARL

    head = data.head(LEARNED)
    encoder = SARL(max_leakage=0).fit(head.x, head.y, sensitive_features=head.s)
    weights = encoder.components_.T.astype(np.float32)
    offset = (encoder.mean_ @ encoder.components_.T).astype(np.float32)
    return lambda data: {"z": data.x @ weights - offset}


def retunes(data: Data) -> Work:
    """`sarl.SARL.retune`, a thousand times."""
    from sarl import SARL

    head = data.head(LEARNED)
    encoder = SARL(max_leakage=0).fit(head.x, head.y, sensitive_features=head.s)
    goals = np.linspace(0.001, 0.1, 1000)
    return lambda data: {"leakage": [encoder.retune(max_leakage=goal).leakage_ for goal in goals]}


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
    "a thousand other leakages from one fit": {
        "retune": Job("SARL.retune, 1,000 times", ("sarl",), retunes),
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
