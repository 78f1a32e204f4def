"""Passes over the rows of a DataFrame: only `mapInArrow`, so that Spark Connect has them too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.errors import PythonException
from pyspark.ml.functions import array_to_vector, vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType

from .._engine import FAN_IN, encoded, encoder_of, fit_over, has_rows, merged, refused
from .._shard import Shard

#: Sums that travel: the task that made them, and themselves.
SUMS = "part int, sums binary"

Batches = Iterable[pa.RecordBatch]


def column(name: str) -> Any:
    """A column by its name, whatever characters it has."""
    return F.col("`" + name.replace("`", "``") + "`")


def vectors(rows: DataFrame, names: Sequence[str]) -> list[str]:
    """Those of these columns that hold vectors."""
    kinds = {field.name: field.dataType for field in rows.schema.fields}
    missing = next((name for name in names if name not in kinds), None)
    if missing is not None:
        there = ", ".join(map(repr, kinds))
        raise ValueError(f"there is no column {missing!r}; the columns are {there}")
    return [name for name in names if isinstance(kinds[name], VectorUDT)]


def picked(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """These columns, with vectors as arrays."""
    wide = vectors(rows, names)
    return rows.select(
        *[vector_to_array(column(n)).alias(n) if n in wide else column(n).alias(n) for n in names]
    )


def _task() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _one(sums: bytes) -> pa.RecordBatch:
    return pa.record_batch(
        [pa.array([_task()], pa.int32()), pa.array([sums], pa.binary())], ["part", "sums"]
    )


def _adding(kind: type[Any], zero: bytes) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Adds up the rows of a task."""

    def add(batches: Batches) -> Iterator[pa.RecordBatch]:
        total = kind.from_bytes(zero)
        found = False
        for batch in batches:
            found = found or batch.num_rows > 0
            total.update(batch)
        if found:
            yield _one(total.to_bytes())

    return add


def _merging(kind: type[Any]) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Merges the sums that came to a task."""

    def merge(batches: Batches) -> Iterator[pa.RecordBatch]:
        parts = (sums.as_py() for batch in batches for sums in batch.column(1))
        total = merged(kind, parts)
        if total is not None:
            yield _one(total)

    return merge


def gathered(rows: DataFrame, zero: Any, tasks: int) -> Any:
    """Sums of all rows: of each task, then merged in a tree on the executors.

    The driver gets one of them.
    """
    kind = type(zero)
    parts = rows.coalesce(tasks).mapInArrow(_adding(kind, zero.to_bytes()), SUMS)
    while tasks > 1:
        tasks = -(-tasks // FAN_IN)
        parts = parts.repartition(tasks, "part").mapInArrow(_merging(kind), SUMS)
    try:
        found = [bytes(row["sums"]) for row in parts.collect()]
    except PythonException as problem:
        raise refused(problem) from None
    return kind.from_bytes(has_rows(merged(kind, found)))


def fit_rows(estimator: Any, rows: DataFrame, zero: Shard, tasks: int) -> Any:
    """An estimator of scikit-learn fitted on all rows, in as many passes as it needs."""
    rows = picked(rows, zero.columns)
    return fit_over(estimator, zero, lambda start: gathered(rows, start, tasks))


def with_z(rows: DataFrame, model: bytes, features: Sequence[str], output: str) -> DataFrame:
    """The rows with z beside them: an array, or a vector where the features are one."""
    wide = vectors(rows, features)
    if output in rows.columns:
        raise ValueError(f"outputCol: there is a column {output!r} already")
    names = {name: f"{name} as array" if name in wide else name for name in features}
    arrays = {names[name]: vector_to_array(column(name)) for name in wide}
    given = rows.withColumns(arrays) if wide else rows
    kept = len(rows.columns)
    fields = [*rows.schema.fields, StructField(output, ArrayType(DoubleType(), False))]

    def encode(batches: Batches) -> Iterator[pa.RecordBatch]:
        encoder = encoder_of(model)
        for batch in batches:
            z = encoded(encoder, batch, [names[name] for name in features])
            own = [batch.column(j) for j in range(kept)]
            yield pa.record_batch([*own, _lists(z)], [*batch.schema.names[:kept], output])

    done = given.mapInArrow(encode, StructType(fields))
    return done.withColumn(output, array_to_vector(column(output))) if wide else done


def _lists(z: Any) -> pa.Array:
    """Rows of a matrix as lists."""
    rows, width = z.shape
    ends = np.arange(0, rows + 1, dtype=np.int32) * np.int32(width)
    return pa.ListArray.from_arrays(ends, pa.array(np.asarray(z, np.float64).reshape(-1)))
