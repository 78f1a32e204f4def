"""Cells over partitions: a pass to fit, one to choose cells and one to certify them.

What a row serves for follows from its id. Of the rows to choose on a sample comes here. Rows that
certify are counted where they are.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from . import _core, _cutting
from ._checks import named_columns, threads
from ._inputs import fit_params, name_inputs
from ._moments import Moments
from ._sample import Sample
from ._shard import CERTIFY, CHOOSE, Shard, batches
from ._solved import Solved

#: Adds up what a pass starts with over all rows.
Gathered = Callable[[Any], Any]


class Tally:
    """Rows that certify, counted for each proposed model. Tallies of other rows are added."""

    def __init__(self, shard: Shard | None, models: list[bytes]) -> None:
        self._shard, self._models = shard, models
        self._counters = [_core.Counter(_core.Model.from_bytes(model)) for model in models]
        self._others: list[bytes] | None = None
        self._begun = False

    def update(self, rows: Any) -> Tally:
        """Count those of the rows that certify.

        Returns
        -------
        Tally
            Itself.
        """
        assert self._shard is not None
        self._begun = True
        for batch in batches(rows):
            if batch.num_rows:
                self._count(self._shard, batch)
        return self

    def _count(self, shard: Shard, batch: pa.RecordBatch) -> None:
        part = shard._read(batch, shard._moments._columns)
        part = part.take(np.flatnonzero(shard._part_of(part) == CERTIFY))
        with named_columns(part.columns):
            for counter in self._counters:
                counter.push(part.dense, part.codes, part.values, threads=1)

    def counted(self) -> list[bytes]:
        """What was counted for each model."""
        own = [counter.counted() for counter in self._counters]
        if self._others is None or not own:
            return own or self._others or []
        return [_core.add_counted(a, b) for a, b in zip(own, self._others, strict=True)]

    def merge(self, other: Tally) -> Tally:
        """Add what was counted on other rows.

        Returns
        -------
        Tally
            Itself.
        """
        mine, theirs = self._others, other.counted()
        if mine is not None:
            theirs = [_core.add_counted(a, b) for a, b in zip(mine, theirs, strict=True)]
        self._others, self._begun = theirs, True
        return self

    def to_bytes(self) -> bytes:
        """What was counted, or, before the first row, what it takes to count."""
        shard = b"" if self._begun or self._shard is None else self._shard.to_bytes()
        blobs = [shard, *(self.counted() if self._begun else self._models)]
        about = {"begun": self._begun, "sizes": [len(blob) for blob in blobs]}
        head = json.dumps(about).encode()
        return b"".join((struct.pack("<Q", len(head)), head, *blobs))

    @classmethod
    def from_bytes(cls, data: bytes) -> Tally:
        """The inverse of :meth:`to_bytes`."""
        (size,) = struct.unpack("<Q", data[:8])
        about = json.loads(data[8 : 8 + size])
        blobs, at = [], 8 + size
        for length in about["sizes"]:
            blobs.append(data[at : at + length])
            at += length
        if about["begun"]:
            new = cls(None, [])
            new._others, new._begun = blobs[1:], True
            return new
        return cls(Shard.from_bytes(blobs[0]), blobs[1:])


def fit(estimator: Any, total: Shard, gathered: Gathered) -> Any:
    """Chooses and certifies cells, where the first part of the rows was added up."""
    moments, goal = total.finish(), estimator._goal()
    _cutting.check_groups(moments._labels)
    reader = total.empty()
    reader._moments = moments.empty()
    jobs, counts = threads(estimator.n_jobs), total._parts
    assert moments._core is not None and moments._columns is not None and counts is not None
    params, seed = fit_params(estimator, moments), moments.random_state
    cutter = _core.Cutter(moments._core, params, json.dumps(goal), seed, threads=jobs)
    _choose(cutter, reader, moments, counts, gathered, jobs)
    models = [model.to_bytes() for model in cutter.proposals()]
    cutter.merge(gathered(Tally(reader, models)).counted())
    model, spreads = cutter.finish()
    columns, labels = moments._columns, list(moments._labels)
    estimator._solved = Solved(model, columns, labels, spreads, params)
    name_inputs(estimator, columns)
    return estimator


def _choose(
    cutter: _core.Cutter,
    reader: Shard,
    moments: Moments,
    counts: list[int],
    gathered: Gathered,
    jobs: int | None,
) -> None:
    """Lets a sample of the second part of the rows choose cells."""
    columns = moments._columns
    assert columns is not None
    limit = _cutting.below(counts[CHOOSE], len(columns.names))
    part = (str(reader.row_id), CHOOSE, limit)
    sample: Sample = gathered(
        Sample(reader.columns, reader.features, 1 << 18, moments.random_state, part)
    )
    if sample.rows:
        rows = reader._read(sample.table(), columns)
        with named_columns(columns):
            cutter.push(rows.dense, rows.codes, rows.values, threads=jobs)
    cutter.choose(counts[CERTIFY], threads=jobs)
