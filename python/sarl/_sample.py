"""A sample of rows that does not depend on how they are partitioned.

Each row has a number that follows from its content alone. The rows with the least numbers are the
sample. The least of two partitions are among the least of each, so that samples can be merged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from . import _arrow, _core, _merging
from ._columns import Columns

#: Rows for labels alone.
LABEL_ROWS = 20_000
#: As the core keeps them: at least, and for each landmark.
ROWS, ROWS_PER_LANDMARK = 4000, 10

_MIX = np.uint64(0xFF51AFD7ED558CCD)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def rows_for(kernel: dict[str, Any] | None) -> int:
    """The size of a sample."""
    if kernel is None:
        return LABEL_ROWS
    return max(ROWS, ROWS_PER_LANDMARK * int(kernel["landmarks"]))


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for shift in (np.uint64(32), np.uint64(29)):
        bits = (bits ^ (bits >> shift)) * _MIX
    return bits ^ (bits >> np.uint64(32))


def _column_keys(batch: pa.RecordBatch, name: str) -> NDArray[np.uint64]:
    """A number for each row, which follows from what a column holds."""
    found = _arrow.column(batch, name, "columns")
    if _arrow.is_text(found.type) or pa.types.is_boolean(found.type):
        values, places = _arrow.encoded(found)
        return _core.text_keys([str(value) for value in values])[places]
    if _arrow.is_list(found.type):
        rows = _arrow.wide(found, name).astype(np.float64) + 0.0
        factors = _mixed(np.arange(1, rows.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
        keys: NDArray[np.uint64] = (_mixed(rows.view(np.uint64)) * factors).sum(axis=1)
        return keys
    return _mixed((_arrow.floats(found, name).astype(np.float64) + 0.0).view(np.uint64))


class Sample:
    """The rows with the least numbers, and all categories of the features; see the module.

    Where rows are in three parts, it is of the rows of one part: the column of their ids, the part, and
    what the numbers are below. There the numbers follow from the ids.
    """

    def __init__(
        self,
        columns: Sequence[str],
        features: Sequence[str],
        size: int,
        seed: int,
        part: tuple[str, int, int] | None = None,
    ) -> None:
        self._columns, self._features = list(columns), list(features)
        self._size, self._seed, self._part = size, seed, part
        self._known: Columns | None = None
        self._rows: pa.Table | None = None
        self._keys = np.empty(0, np.uint64)

    @property
    def rows(self) -> int:
        """The rows in the sample."""
        return len(self._keys)

    def update(self, rows: Any) -> Sample:
        """Let rows pass by.

        Returns
        -------
        Sample
            Itself.
        """
        from ._shard import batches

        for batch in batches(rows):
            if batch.num_rows:
                self._known = _arrow.known(batch, self._features, self._known)
                picked = pa.table({n: _arrow.column(batch, n, "columns") for n in self._columns})
                if self._part is None:
                    self._keep(picked, self._numbers(batch))
                    continue
                ids, which, below = self._part
                keys = _arrow.keys(batch, ids)
                own = (_core.key_parts(keys, self._seed) == which) & (keys <= np.uint64(below))
                at = np.flatnonzero(own)
                self._keep(picked.take(at), keys[at])
        return self

    def _numbers(self, batch: pa.RecordBatch) -> NDArray[np.uint64]:
        keys = np.full(batch.num_rows, np.uint64(self._seed % 2**64))
        for place, name in enumerate(self._columns):
            keys = _mixed(keys * _GOLDEN + _column_keys(batch, name) + np.uint64(place))
        return keys

    def _keep(self, rows: pa.Table, keys: NDArray[np.uint64]) -> None:
        if self._rows is not None:
            if len(self._keys) == self._size:
                small = np.flatnonzero(keys < self._keys[-1])
                rows, keys = rows.take(small), keys[small]
            rows = pa.concat_tables([self._rows, rows], promote_options="permissive")
            keys = np.concatenate([self._keys, keys])
        order = np.argsort(keys, kind="stable")[: self._size]
        self._rows, self._keys = rows.take(order), keys[order]

    def merge(self, other: Sample) -> Sample:
        """Add the rows of another sample.

        Returns
        -------
        Sample
            Itself.
        """
        if other._rows is None or other._known is None:
            return self
        known = other._known
        self._known = known if self._known is None else _merging.union(self._known, known)[0]
        self._keep(other._rows, other._keys)
        return self

    def table(self) -> pa.RecordBatch:
        """The rows, in the order of their numbers."""
        assert self._rows is not None
        return self._rows.combine_chunks().to_batches()[0]

    def categories(self) -> Columns:
        """The columns of the features, with the categories of all rows."""
        assert self._known is not None
        return _merging.in_order_of(self._known)

    def to_bytes(self) -> bytes:
        """All of it, for another machine."""
        about = {
            "columns": self._columns,
            "features": self._features,
            "size": self._size,
            "seed": self._seed,
            "part": self._part,
            "known": None if self._known is None else self._known.plain(),
        }
        rows = pa.table({}) if self._rows is None else self._rows
        if self._rows is not None:
            rows = rows.append_column("sarl.key", pa.array(self._keys))
        rows = rows.replace_schema_metadata({b"sarl": json.dumps(about).encode()})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        return bytes(sink.getvalue())

    @classmethod
    def from_bytes(cls, data: bytes) -> Sample:
        """The inverse of :meth:`to_bytes`."""
        rows = pa.ipc.open_stream(data).read_all()
        about = json.loads((rows.schema.metadata or {}).get(b"sarl", b"{}"))
        if "features" not in about:
            raise ValueError("these are not the bytes of a sample")
        part = None if about["part"] is None else tuple(about["part"])
        new = cls(about["columns"], about["features"], about["size"], about["seed"], part)
        if about["known"] is not None:
            new._known = Columns.from_plain(about["known"])
            new._keys = rows["sarl.key"].to_numpy()
            new._rows = rows.drop_columns("sarl.key").replace_schema_metadata(None)
        return new
