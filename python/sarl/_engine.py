"""What the engines share: shards for an estimator, merges, and rows encoded on workers."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from . import _arrow, _cells, _files
from ._certified import CertifiedSARL
from ._checks import named_columns
from ._columns import Columns
from ._inputs import moment_options, name_inputs, needs_target, unseen
from ._moments import Moments
from ._sample import Sample
from ._shard import Shard

#: Sums that one task merges.
FAN_IN = 16

T = TypeVar("T", Shard, Sample, _cells.Tally)


def shard_for(
    estimator: Any,
    *,
    features: str | Sequence[str],
    target: str | Sequence[str] | None,
    sensitive: str | Sequence[str],
    weight: str | None = None,
    row_id: str | None = None,
) -> Shard:
    """The shard without rows that an estimator asks for."""
    from ._kernel import KernelSARL

    options = moment_options(estimator) | {"n_jobs": 1}
    # All partitions must agree, and no worker takes a GPU that nobody has named.
    for name, settled in (("precision", "double"), ("device", "cpu")):
        options[name] = settled if options[name] == "auto" else options[name]
    certified = isinstance(estimator, CertifiedSARL)
    kernel = estimator if isinstance(estimator, KernelSARL) else None
    if certified:
        estimator._check_unweighted(weight)
        kernel = estimator if estimator._new_moments()._kernel is not None else None
    if not needs_target(estimator):
        target = None
    elif not target:
        raise ValueError("target is missing: name the columns that hold what is to be kept")
    zero = Shard(
        features=features,
        target=target,
        sensitive=sensitive,
        weight=weight,
        row_id=row_id,
        kernel=kernel,
        **options,
    )
    return zero._in_parts() if certified else zero


def fit_over(estimator: Any, zero: Shard, gathered: _cells.Gathered) -> Any:
    """Fits an estimator in as many passes as it needs.

    `gathered` adds up what a pass starts with, a shard, a sample or a tally, over all partitions.
    """
    if zero.needs_sample:
        zero = zero.begin(gathered(zero.sample()))
    total: Shard = gathered(zero)
    if isinstance(estimator, CertifiedSARL):
        return _cells.fit(estimator, total, gathered)
    return fitted(estimator, total.finish())


def merged(kind: type[T], parts: Iterable[bytes]) -> bytes | None:
    """The sum of shards or samples that travelled; none where there are none."""
    total: T | None = None
    for part in parts:
        other = kind.from_bytes(part)
        total = other if total is None else total.merge(other)
    return None if total is None else total.to_bytes()


def fitted(estimator: Any, moments: Moments) -> Any:
    """Fits an estimator on the moments of all rows, those behind a kernel too."""
    columns = moments._columns
    assert columns is not None
    if estimator._erases and columns.categories:
        name = columns.names[columns.categories[0].place]
        raise ValueError(
            f"column {name!r} holds categories: {type(estimator).__name__} returns numbers, so that "
            "it accepts only numbers; make the categories one-hot first, or use SARL"
        )
    moments.n_jobs = estimator.n_jobs
    estimator._set(moments, estimator._solve(estimator._goal(), moments))
    name_inputs(estimator, columns)
    return estimator


def has_rows(found: bytes | None) -> bytes:
    """Refuses data without rows."""
    if found is None:
        raise ValueError("there are no rows")
    return found


def refused(problem: Exception) -> Exception:
    """What a task has to say of its rows, without the trace of the worker."""
    said = re.findall(r"^ValueError: (.*)$", str(problem), re.MULTILINE)
    return ValueError(said[-1]) if said else problem


@functools.lru_cache(maxsize=4)
def encoder_of(data: bytes) -> Any:
    """The encoder in a model file, once for each worker."""
    encoder: Any = _files.from_bytes(data, "the model")
    encoder.n_jobs = 1
    return encoder


def encoded(encoder: Any, batch: pa.RecordBatch, features: Sequence[str]) -> NDArray[Any]:
    """z of the rows of a batch, by one thread."""
    solved = encoder._fitted()
    if solved.columns.fills is not None or any(c.pooled for c in solved.columns.categories):
        z = encoder.transform(pa.table({n: batch.column(n) for n in features}))
        return np.asarray(z)
    known = solved.columns
    block = _arrow.Block(batch, features)
    if not block.named:
        dense = _array(block.dense(), known, features[0])
        codes: list[Any] = []
    else:
        _, dense, codes = _arrow.features(batch, features, known, unseen=unseen(encoder))
    with named_columns(known):
        return np.asarray(encoder._encode(solved, np.ascontiguousarray(dense), codes))


def _array(dense: Any, known: Columns, name: str) -> Any:
    """Lists, whose numbers count by their places."""
    if known.categories or dense.shape[1] != len(known.numbers):
        raise ValueError(
            f"column {name!r} has lists of {dense.shape[1]} values, but the encoder takes "
            f"{len(known.names)} features"
        )
    return dense
