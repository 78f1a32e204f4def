"""All of ACSIncome through every engine: is the result that of one machine?

    SARL_DATA=… SARL_BIN=target/release/sarl python python/benches/partitions.py [ENGINE …]

The engines are `shards`, `command`, `spark`, `dask` and `ray`: all, or those that are named. Rows are sorted
by state and cut into 1, 2, 7 and 64 partitions, which come in a random order; the command has ten. Prints
and stores the largest differences to the moments of one machine.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from figures import FOLDER, store

import sarl

FEATURES = ["AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "ST"]
TARGET, HIDDEN, GOAL = "PINCP", "SEX", {"max_leakage": 0.01}
COUNTS = (1, 2, 7, 64)
#: Rows whose z is compared.
COMPARED = 100_000
FIGURES = {"losses": "point_", "bounds": "bounds_", "held-out losses": "heldout_"}

Fit = Callable[[list[Path]], Any]


def say(*words: Any) -> None:
    print(time.strftime("%H:%M:%S"), *words, file=sys.stderr, flush=True)


def rows() -> pa.Table:
    """All rows, with the state and the occupation as text that is no number."""
    folder = Path(os.environ.get("SARL_DATA", "../shared/data"))
    table = pq.read_table(folder / "acs/acs_income_2018.parquet")
    for name in ("ST", "OCCP"):
        place = table.schema.get_field_index(name)
        text = pc.binary_join_element_wise(name, table[name].cast(pa.string()), "")
        table = table.set_column(place, name, text)
    return table.select([*FEATURES, TARGET, HIDDEN])


def files(table: pa.Table, count: int, folder: Path) -> list[Path]:
    """As many files, in a random order, each with rows of few states in a random order."""
    rng = np.random.default_rng(count)
    order = np.lexsort((rng.uniform(size=len(table)), table["ST"].to_numpy()))
    paths = []
    for k, places in enumerate(np.array_split(order, count)):
        path = folder / f"{count}-{k:02}.parquet"
        pq.write_table(table.take(places), path)
        paths.append(path)
    return [paths[k] for k in rng.permutation(count)]


def one_machine(table: pa.Table) -> Any:
    frame = table.to_pandas()
    moments = sarl.Moments(fold_by="content")
    moments.update(frame[FEATURES], frame[TARGET], frame[HIDDEN])
    return sarl.SARL(**GOAL).fit_moments(moments)


def by_shards() -> Iterator[Fit]:
    from sarl import Shard

    zero = Shard(features=FEATURES, target=TARGET, sensitive=HIDDEN)

    def fit(paths: list[Path]) -> Any:
        total = zero.empty()
        for path in paths:
            part = zero.empty().update(pq.read_table(path)).to_bytes()
            total.merge(Shard.from_bytes(part))
        return sarl.SARL(**GOAL).fit_moments(total.finish())

    yield fit


def by_command() -> Iterator[Fit]:
    command = os.environ.get("SARL_BIN", "target/release/sarl")

    def fit(paths: list[Path]) -> Any:
        run = lambda *words: subprocess.run([command, *map(str, words), "--quiet"], check=True)
        parts = [path.with_suffix(".moments") for path in paths]
        for path, part in zip(paths, parts, strict=True):
            run("moments", path, "-t", f"{TARGET}:class", "-s", f"{HIDDEN}:class", "-o", part)
        model = paths[0].parent / "command.safetensors"
        run("fit", "--moments", *parts, "--max-leakage", GOAL["max_leakage"], "-o", model)
        return sarl.load(model)

    yield fit


def by_spark() -> Iterator[Fit]:
    from clusters import session

    from sarl.spark import SARL

    spark = session()

    def fit(paths: list[Path]) -> Any:
        # Spark sorts files by size unless each has its own scan.
        parts = [spark.read.parquet(str(path)) for path in paths]
        data = parts[0]
        for part in parts[1:]:
            data = data.union(part)
        named = {"inputCols": FEATURES, "targetCol": TARGET, "sensitiveCol": HIDDEN}
        return SARL(**named, maxLeakage=GOAL["max_leakage"]).fit(data).encoder

    yield fit
    spark.stop()


def by_dask() -> Iterator[Fit]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    import sarl.dask

    def fit(paths: list[Path]) -> Any:
        data = dd.from_map(lambda path: pq.read_table(path).to_pandas(), paths)
        encoder = sarl.dask.SARL(**GOAL)
        return encoder.fit(data[FEATURES], data[TARGET], sensitive_features=data[HIDDEN])

    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**how) as cluster, Client(cluster):
        yield fit


def by_ray() -> Iterator[Fit]:
    import ray

    import sarl.ray

    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=600_000_000
    )
    ray.data.DataContext.get_current().enable_progress_bars = False

    def fit(paths: list[Path]) -> Any:
        data = ray.data.from_arrow([pq.read_table(path) for path in paths])
        encoder = sarl.ray.SARL(**GOAL)
        return encoder.fit(data, TARGET, sensitive_features=HIDDEN, features=FEATURES)

    yield fit
    ray.shutdown()


ENGINES: dict[str, tuple[str, Callable[[], Iterator[Fit]], tuple[int, ...]]] = {
    "shards": ("`Shard`, one process", by_shards, COUNTS),
    "command": ("`sarl moments`, ten shards", by_command, (10,)),
    "spark": ("Spark, two executors", by_spark, COUNTS),
    "dask": ("Dask, two workers", by_dask, COUNTS),
    "ray": ("Ray, two workers", by_ray, COUNTS),
}


def differences(ours: Any, theirs: Any, X: Any, z: Any) -> dict[str, float]:
    """The largest difference of each kind of figures, and of z."""

    def values(of: Any) -> Any:
        return np.array(list(dataclasses.astuple(of) if dataclasses.is_dataclass(of) else of))

    found = {}
    for name, attribute in FIGURES.items():
        one, other = values(getattr(ours, attribute)), values(getattr(theirs, attribute))
        found[name] = float(np.abs(one - other).max())
    found["z"] = float(np.abs(np.asarray(ours.transform(X)) - z).max())
    return found


def main() -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    asked = sys.argv[1:] or list(ENGINES)
    table = rows()
    say(f"{len(table):,} rows, {len(table['OCCP'].unique())} occupations")
    whole = one_machine(table)
    X = table.take(np.linspace(0, len(table) - 1, COMPARED).astype(int)).to_pandas()[FEATURES]
    z = np.asarray(whole.transform(X))
    say(f"one machine: {whole.point_}, |z| up to {np.abs(z).max():.1f}")
    with tempfile.TemporaryDirectory() as folder:
        for name in asked:
            words, engine, counts = ENGINES[name]
            worst = dict.fromkeys([*FIGURES, "z"], 0.0)
            start = time.perf_counter()
            for fit in engine():
                for count in counts:
                    found = differences(fit(files(table, count, Path(folder))), whole, X, z)
                    say(name, count, {k: f"{v:.1e}" for k, v in found.items()})
                    worst = {k: max(worst[k], v) for k, v in found.items()}
            took = f"{time.perf_counter() - start:.0f} s"
            row = [words, ", ".join(map(str, counts)), *(f"{v:.0e}" for v in worst.values())]
            say(name, took, row)
            keep(table, row)


def keep(table: pa.Table, row: list[str]) -> None:
    """Stores the row of an engine beside those of the others."""
    path = FOLDER / "clusters-equal.json"
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    rows = {of[0]: of for of in before} | {row[0]: row}
    measured = (
        "`python python/benches/partitions.py`: the largest differences to the moments of one machine; "
        f"{len(table):,} rows of ACSIncome, 9 columns, {len(table['OCCP'].unique())} occupations; z of "
        f"{COMPARED:,} rows; partitions are of few states each and come in a random order"
    )
    order = [words for words, _, _ in ENGINES.values()]
    columns = ["engine", "partitions", *FIGURES, "z"]
    store("clusters-equal", measured, columns, [rows[of] for of in order if of in rows])


if __name__ == "__main__":
    main()
