"""Sums of a partition and fits on a cluster of Spark against the same by hand, and what travels.

    python python/benches/clusters.py sums [rows]
    python python/benches/clusters.py spark [rows] [partitions]

`sums` is one partition in this process, in seconds of one core's time, the best of five in turns.
`spark` has two executors of one core on this machine. Each pass is the best of three, in turns.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from threadpoolctl import threadpool_limits

from sarl import Shard
from sarl.spark import SARL

WIDTH, FOLDS, FILES = 100, 5, 16
MIX = np.uint64(0xFF51AFD7ED558CCD)


def session() -> SparkSession:
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.files.maxPartitionBytes", "1g")
        .config("spark.sql.files.openCostInBytes", "1g")
        .getOrCreate()
    )


def made(spark: SparkSession, rows: int, width: int, parts: int) -> DataFrame:
    """Rows of noise, a target and what is hidden."""

    def make(batches: Any) -> Any:
        for batch in batches:
            ids = batch.column(0).to_numpy()
            rng = np.random.default_rng(int(ids[0]) if len(ids) else 0)
            x = rng.normal(size=(len(ids), width))
            ends = np.arange(0, x.size + 1, width, dtype=np.int32)
            lists = pa.ListArray.from_arrays(pa.array(ends), pa.array(x.reshape(-1)))
            y, s = (x[:, 0] + x[:, 1] > 0), (x[:, 1] + x[:, 2] > 0)
            yield pa.record_batch([lists, y.astype(np.int32), s.astype(np.int32)], ["v", "y", "s"])

    return spark.range(rows, numPartitions=parts).mapInArrow(make, "v array<double>, y int, s int")


def scan(rows: DataFrame) -> None:
    def count(batches: Any) -> Any:
        total = sum(batch.num_rows for batch in batches)
        yield pa.record_batch([pa.array([total])], ["n"])

    rows.mapInArrow(count, "n long").collect()


def products(batches: Any) -> Any:
    """The sums of products of each fold; the fold follows from the content of a row."""
    sums = np.zeros((FOLDS, WIDTH + 4, WIDTH + 4))
    factors = np.arange(1, 2 * WIDTH, 2, dtype=np.uint64) * MIX
    for batch in batches:
        x = batch.column(0).flatten().to_numpy().reshape(-1, WIDTH)
        bits = x.view(np.uint64) * MIX
        bits ^= bits >> np.uint64(32)
        fold = (bits @ factors) % np.uint64(FOLDS)
        codes = [batch.column(j).to_numpy() == k for j in (1, 2) for k in (0, 1)]
        whole = np.column_stack([x, *codes])
        for k in range(FOLDS):
            part = whole[fold == k]
            sums[k] += part.T @ part
    return sums


def partition(count: int) -> list[list[str]]:
    """One partition in batches of 10,000 rows, as Spark hands them over."""
    step = 10_000
    x = np.random.default_rng(0).normal(size=(count, WIDTH))
    y, s = (x[:, 0] + x[:, 1] > 0).astype(np.int32), (x[:, 1] + x[:, 2] > 0).astype(np.int32)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), WIDTH)
    whole = pa.record_batch([lists, y, s], ["v", "y", "s"])
    names = [f"x{j}" for j in range(WIDTH)]
    apart = pa.record_batch([*(c.copy() for c in x.T), y, s], [*names, "y", "s"])
    batches, columns = (
        [of.slice(at, step) for at in range(0, count, step)] for of in (whole, apart)
    )

    def shard(features: Any, of: list[pa.RecordBatch]) -> Shard:
        total = Shard(features=features, target="y", sensitive="s")
        for batch in of:
            total.update(batch)
        return total

    works: dict[str, Callable[[], Any]] = {
        "numpy by hand, folds by content": lambda: products(batches),
        "`Shard`, an array column": lambda: shard("v", batches),
        f"`Shard`, {WIDTH} columns": lambda: shard(names, columns),
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(5):
        for name, work in works.items():
            start = time.process_time()
            work()
            times[name].append(time.process_time() - start)
    best = {name: min(of) for name, of in times.items()}
    hand = next(iter(best.values()))
    rows = [[name, f"{of:.2f} s", f"{of / hand:.2f}"] for name, of in best.items()]
    size = len(shard("v", batches).to_bytes()) / 1e3
    return [*rows, ["bytes that travel", f"{size:.0f} kB", ""]]


def by_hand(rows: DataFrame) -> None:
    """Sums of products by fold, where the fold follows from the content of a row."""

    def add(batches: Any) -> Any:
        yield pa.record_batch([pa.array([products(batches).tobytes()])], ["sums"])

    found = rows.mapInArrow(add, "sums binary").collect()
    np.sum([np.frombuffer(row[0]) for row in found], axis=0)


def ours(rows: DataFrame) -> None:
    SARL(featuresCol="v", targetCol="y", sensitiveCol="s", maxLeakage=0.01).fit(rows)


def seconds(work: Callable[[DataFrame], None], rows: DataFrame) -> float:
    start = time.perf_counter()
    work(rows)
    return time.perf_counter() - start


def passes(spark: SparkSession, count: int) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        made(spark, count, WIDTH, FILES).write.mode("overwrite").parquet(folder)
        rows = spark.read.parquet(folder)
        works = {"bare scan": scan, "by hand": by_hand, "sarl": ours}
        times: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(3):
            for name, work in works.items():
                times[name].append(seconds(work, rows))
    best = {name: min(of) for name, of in times.items()}
    size = f"{count:,} × {WIDTH} doubles"
    return [
        [f"bare scan of {size} by `mapInArrow`", f"{best['bare scan']:.1f} s", ""],
        ["the sums by hand, numpy", f"{best['by hand']:.1f} s", ""],
        [
            "`SARL.fit`, with the merges and the solution",
            f"{best['sarl']:.1f} s",
            f"{best['sarl'] / best['by hand']:.2f} of by hand, "
            f"{best['sarl'] / best['bare scan']:.2f} of the scan",
        ],
    ]


def memory(spark: SparkSession, parts: int) -> list[str]:
    width = 512
    rows = made(spark, 600 * parts, width, parts)
    scan(rows)
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    before = peak()
    ours(rows)
    sums = 8 * (FOLDS * (width**2 + 4 * width + 4 + 4) + width) / 1e6
    return [
        f"{parts:,} partitions of 600 rows of {width} features: memory of the driver's Python",
        f"{peak() - before:.0f} MB more",
        f"{sums:.1f} MB from each of 256 tasks at most",
    ]


def main() -> None:
    # One thread for each task, by hand too.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    given = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if sys.argv[1:2] == ["sums"]:
        with threadpool_limits(1):
            print(json.dumps(partition(given or 200_000), indent=2, ensure_ascii=False))
        return
    count = given or 5_000_000
    parts = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    spark = session()
    rows = passes(spark, count)
    print(json.dumps(rows), flush=True)
    rows.append(memory(spark, parts))
    print(json.dumps({"columns": ["work", "measured", ""], "rows": rows}, indent=2))
    spark.stop()


if __name__ == "__main__":
    main()
