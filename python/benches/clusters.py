"""Sums of a partition and fits on a cluster of Spark against the same by hand, and what a driver holds.

    python python/benches/clusters.py sums [rows]
    python python/benches/clusters.py rows FOLDER [rows]
    python python/benches/clusters.py spark FOLDER [rounds]
    python python/benches/clusters.py cost FOLDER
    python python/benches/clusters.py memory

`sums` is one partition in this process, in seconds of one core's time, the best of five in turns.
`rows` writes Parquet files, `spark` fits them with two executors of one core on this machine: each pass is
the best of some rounds, in turns. `cost` is `sarl fit` of the same files by the command in `SARL_BIN`, and what
a fit on Spark costs whatever the rows are. `memory` is the most memory of a driver for 10 and for 1,000 partitions,
each in a process of its own. All but `rows` store their figures in docs/figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from figures import FOLDER, store
from threadpoolctl import threadpool_limits

from sarl import Shard

WIDTH, FOLDS, FILES, GROUP = 100, 5, 16, 20_000
MIX = np.uint64(0xFF51AFD7ED558CCD)
NAMES = [f"x{j}" for j in range(WIDTH)]
#: The features of the driver whose memory is measured.
WIDE = 512


def say(*words: Any) -> None:
    print(f"{time.strftime('%H:%M:%S')}", *words, file=sys.stderr, flush=True)


# -- the sums by hand --------------------------------------------------------------------------


def by_list(batch: pa.RecordBatch) -> Any:
    return batch.column(0).flatten().to_numpy().reshape(-1, WIDTH)


def by_column(batch: pa.RecordBatch) -> Any:
    return np.column_stack([batch.column(j).to_numpy() for j in range(WIDTH)])


def products(batches: Any, read: Callable[[pa.RecordBatch], Any]) -> Any:
    """The sums of products of each fold; the fold follows from the content of a row."""
    sums = np.zeros((FOLDS, WIDTH + 4, WIDTH + 4))
    factors = np.arange(1, 2 * WIDTH, 2, dtype=np.uint64) * MIX
    for batch in batches:
        x = read(batch)
        bits = x.view(np.uint64) * MIX
        bits ^= bits >> np.uint64(32)
        fold = (bits @ factors) % np.uint64(FOLDS)
        labels = batch.num_columns - 2, batch.num_columns - 1
        codes = [batch.column(j).to_numpy() == k for j in labels for k in (0, 1)]
        whole = np.column_stack([x, *codes])
        for k in range(FOLDS):
            part = whole[fold == k]
            sums[k] += part.T @ part
    return sums


def made(count: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """Rows of noise with a target and what is hidden: one column of lists, and a column for each."""
    x = np.random.default_rng(seed).normal(size=(count, WIDTH))
    y, s = (x[:, 0] + x[:, 1] > 0).astype(np.int32), (x[:, 1] + x[:, 2] > 0).astype(np.int32)
    ends = pa.array(np.arange(0, x.size + 1, WIDTH, dtype=np.int32))
    lists = pa.ListArray.from_arrays(ends, pa.array(x.reshape(-1)))
    apart = pa.table([*(c.copy() for c in x.T), y, s], [*NAMES, "y", "s"])
    return pa.table([lists, y, s], ["v", "y", "s"]), apart


def sums(count: int) -> None:
    """One partition in batches of 10,000 rows, as Spark hands them over."""
    whole, apart = (of.to_batches(max_chunksize=10_000) for of in made(count, 0))

    def shard(features: Any, of: list[pa.RecordBatch]) -> Shard:
        total = Shard(features=features, target="y", sensitive="s")
        for batch in of:
            total.update(batch)
        return total

    works: dict[str, Callable[[], Any]] = {
        "numpy by hand, an array column": lambda: products(whole, by_list),
        f"numpy by hand, {WIDTH} columns": lambda: products(apart, by_column),
        "`Shard`, an array column": lambda: shard("v", whole),
        f"`Shard`, {WIDTH} columns": lambda: shard(NAMES, apart),
    }
    best = dict.fromkeys(works, np.inf)
    with threadpool_limits(1):
        for _ in range(5):
            for name, work in works.items():
                start = time.process_time()
                work()
                best[name] = min(best[name], time.process_time() - start)
    hand = next(iter(best.values()))
    rows = [[name, f"{of:.3f} s", f"{of / hand:.2f}"] for name, of in best.items()]
    size = len(shard("v", whole).to_bytes()) / 1e3
    measured = (
        f"`python python/benches/clusters.py sums {count}`, seconds of one core's time, the best of "
        f"five in turns; {count:,} × {WIDTH} doubles in batches of 10,000 rows, five folds by content"
    )
    rows.append(["bytes that travel", f"{size:.0f} kB", ""])
    store("clusters", measured, ["the sums of a partition", "time", "ratio"], rows)
    say(rows)


# -- Spark -------------------------------------------------------------------------------------


def session(memory: int = 1024, **more: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.master(f"local-cluster[2,1,{memory}]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        # Each file is a partition.
        .config("spark.sql.files.maxPartitionBytes", "1g")
        .config("spark.sql.files.openCostInBytes", "1g")
    )
    for name, value in more.items():
        builder = builder.config(name.replace("_", "."), value)
    return builder.getOrCreate()


def write(folder: Path, count: int) -> None:
    """As many files as partitions, each of a few row groups."""
    for k in range(FILES):
        for name, table in zip(("list", "columns"), made(count // FILES, k), strict=True):
            (folder / name).mkdir(parents=True, exist_ok=True)
            path = folder / name / f"{k:02}.parquet"
            how = {"compression": "none", "use_dictionary": False, "row_group_size": GROUP}
            pq.write_table(table, path, **how)
        say("written:", k + 1, "of", FILES)


def scan(rows: Any, layout: str) -> None:
    def count(batches: Any) -> Any:
        total = sum(batch.num_rows for batch in batches)
        yield pa.record_batch([pa.array([total])], ["n"])

    rows.mapInArrow(count, "n long").collect()


def by_hand(rows: Any, layout: str) -> None:
    """Sums of products by fold, where the fold follows from the content of a row."""
    read = by_list if layout == "list" else by_column

    def add(batches: Any) -> Any:
        yield pa.record_batch([pa.array([products(batches, read).tobytes()])], ["sums"])

    found = rows.mapInArrow(add, "sums binary").collect()
    np.sum([np.frombuffer(row[0]) for row in found], axis=0)


def ours(rows: Any, layout: str) -> None:
    from sarl.spark import SARL

    features = {"featuresCol": "v"} if layout == "list" else {"inputCols": NAMES}
    SARL(**features, targetCol="y", sensitiveCol="s", maxLeakage=0.01).fit(rows)


def passes(folder: Path, rounds: int) -> None:
    # What tasks run must not be looked for in this file, which workers do not have.
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules["__main__"])
    spark = session()
    works = {"bare scan by `mapInArrow`": scan, "numpy by hand": by_hand, "`SARL.fit`": ours}
    table, count = [], 0
    for layout, words in (("list", "an array column"), ("columns", f"{WIDTH} columns")):
        rows = spark.read.parquet(str(folder / layout))
        count = rows.count()
        best = dict.fromkeys(works, np.inf)
        for k in range(rounds):
            for name, work in works.items():
                start = time.perf_counter()
                work(rows, layout)
                took = time.perf_counter() - start
                say(layout, "round", k + 1, name, f"{took:.1f} s")
                best[name] = min(best[name], took)
        bare, hand, _ = best.values()
        for name, of in best.items():
            table.append(
                [f"{name}, {words}", f"{of:.1f} s", f"{of / hand:.2f}", f"{of / bare:.2f}"]
            )
    spark.stop()
    measured = (
        f"`python python/benches/clusters.py spark`, wall time, the best of {rounds} in turns; "
        f"{count:,} × {WIDTH} doubles in {FILES} Parquet files, `local-cluster[2,1,1024]`: two executors of "
        "one core on a machine of 2 cores; the fit has its merges and the solution in it"
    )
    columns = ["pass", "time", "of by hand", "of the scan"]
    store("clusters-spark", measured, columns, table)
    say(table)


def cost(folder: Path) -> None:
    """The same files by the command, and what Spark costs without rows to speak of."""
    from pyspark.sql import functions as F

    command = os.environ.get("SARL_BIN", "target/release/sarl")
    goal = ["-t", "y:class", "-s", "s:class", "--max-leakage", "0.01", "--fold-by", "content"]
    table = []

    def timed(name: str, work: Callable[[], Any], rounds: int = 1) -> Any:
        best = np.inf
        for _ in range(rounds):
            start = time.perf_counter()
            result = work()
            best = min(best, time.perf_counter() - start)
        table.append([name, f"{best:.1f} s"])
        say(table[-1])
        return result

    output = ["-o", "/dev/null", "--quiet"]
    words = [command, "fit", str(folder / "columns"), *goal, *output]
    fit = lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    timed(f"`sarl fit` of the {WIDTH} columns, one process", fit, rounds=2)
    spark = timed("the start of a session", session)
    rows = spark.range(2000, numPartitions=2).select(
        F.array(*[F.randn(j) for j in range(WIDTH)]).alias("v"),
        (F.col("id") % 2).cast("int").alias("y"),
        (F.col("id") % 3 % 2).cast("int").alias("s"),
    )
    timed("the first fit, of 2,000 rows", lambda: ours(rows, "list"))
    timed("the next fit, of 2,000 rows", lambda: ours(rows, "list"), rounds=3)
    spark.stop()
    table += crossing(*(float(row[1].split()[0]) for row in table))
    measured = (
        "`python python/benches/clusters.py cost`, wall time on the same machine; the same 5,000,000 rows for the "
        "command, the best of two; a session of two executors; of the next fits the best of three; the rows follow from "
        "these figures and those of the passes, where reading scales with the cores"
    )
    store("clusters-cost", measured, ["what", "time"], table)


def crossing(command: float, start: float, first: float, later: float) -> list[list[str]]:
    """From how many rows on a cluster is faster than one machine, by these figures alone."""
    passes = json.loads((FOLDER / "clusters-spark.json").read_text())["rows"]
    found = [row[1] for row in passes if row[0] == f"`SARL.fit`, {WIDTH} columns"]
    here, rows = float(found[0].split()[0]), 5_000_000
    cores = 2 * here / command
    table = [["cores of Spark that are as fast as the two of the command", f"{cores:.0f}"]]
    for count in (16, 64, 256):
        # Seconds for each row: two cores of the command, so many of Spark.
        ahead = (command - here * 2 / count) / rows
        what = f"rows of {WIDTH} columns from which {count} cores of Spark are faster"
        fixed = [start + first, later]
        told = [f"{of / ahead / 1e6:.0f} million" if ahead > 0 else "none" for of in fixed]
        table.append([what, f"{told[0]}; {told[1]} in a session that has run"])
    return table


# -- memory of the driver ----------------------------------------------------------------------


def wide_rows(spark: Any, parts: int) -> Any:
    def make(batches: Any) -> Any:
        for batch in batches:
            ids = batch.column(0).to_numpy()
            x = np.random.default_rng(int(ids[0]) if len(ids) else 0).normal(size=(len(ids), WIDE))
            ends = pa.array(np.arange(0, x.size + 1, WIDE, dtype=np.int32))
            lists = pa.ListArray.from_arrays(ends, pa.array(x.reshape(-1)))
            y, s = (x[:, 0] + x[:, 1] > 0), (x[:, 1] + x[:, 2] > 0)
            yield pa.record_batch([lists, y.astype(np.int32), s.astype(np.int32)], ["v", "y", "s"])

    rows = spark.range(600 * parts, numPartitions=parts)
    return rows.mapInArrow(make, "v array<double>, y int, s int")


def peak(process: int) -> float:
    """The most memory that a process has had, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def java_of(process: int) -> int:
    """The process of Java that this one started."""
    found = subprocess.run(["ps", "-eo", "pid,ppid,comm"], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in found.splitlines()[1:]]
    return next(int(p) for p, parent, c in rows if int(parent) == process and "java" in c)


def driver(parts: int) -> None:
    """A fit in this process; prints the memory of Python and of the JVM, and seconds."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules["__main__"])
    spark = session(spark_driver_memory="1g")
    start = time.perf_counter()
    ours(wide_rows(spark, parts), "list")
    took = time.perf_counter() - start
    print(peak(os.getpid()), peak(java_of(os.getpid())), took, flush=True)
    spark.stop()


def memory() -> None:
    table = []
    for parts in (10, 1000):
        run = [sys.executable, __file__, "driver", str(parts)]
        done = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True)
        python, java, took = map(float, done.stdout.split()[-3:])
        table.append([f"{parts:,}", f"{python:.0f} MB", f"{java:.0f} MB", f"{took:.0f} s"])
        say(table[-1])
    sums = 8 * (FOLDS * (WIDE**2 + 4 * WIDE + 4 + 4) + WIDE) / 1e6
    measured = (
        "`python python/benches/clusters.py memory`: the largest resident memory of the driver, its JVM "
        f"limited to 1 GB of heap; partitions of 600 rows of {WIDE} features, whose sums are {sums:.1f} MB; "
        "the JVM has the master and the two workers of `local-cluster` in it"
    )
    columns = ["partitions", "Python of the driver", "JVM of the driver", "time"]
    store("clusters-memory", measured, columns, table)


def main() -> None:
    # One thread for each task, by hand too.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    job, *given = sys.argv[1:] or ["sums"]
    if job == "sums":
        sums(int(given[0]) if given else 50_000)
    elif job == "rows":
        write(Path(given[0]), int(given[1]) if given[1:] else 5_000_000)
    elif job == "spark":
        passes(Path(given[0]), int(given[1]) if given[1:] else 2)
    elif job == "cost":
        cost(Path(given[0]))
    elif job == "driver":
        driver(int(given[0]))
    elif job == "memory":
        memory()
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
