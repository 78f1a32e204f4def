"""Fits and encodes DataFrames and Arrays of Dask.

The estimators are those of scikit-learn with the same parameters and results. Each partition is
added up where it is, the sums are merged in a tree, and one small problem is solved here. The result
does not depend on the partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pyarrow as pa
from dask.delayed import delayed

from . import _certified, _eraser, _files, _kernel, _linear
from ._engine import FAN_IN, encoded, encoder_of, fit_over, has_rows, merged, shard_for

__all__ = ["SARL", "CertifiedSARL", "Eraser", "KernelSARL"]

#: Where the rows of an array are in a batch.
ROWS = "X"


def _is_dask(x: Any) -> bool:
    return isinstance(x, (da.Array, dd.DataFrame, dd.Series))


def _names(x: Any, name: str) -> list[str]:
    """The columns of rows or labels, as they are called in a batch."""
    if isinstance(x, dd.DataFrame):
        return [str(column) for column in x.columns]
    if isinstance(x, dd.Series):
        return [name if x.name is None else str(x.name)]
    if name == ROWS or x.ndim == 1 or x.shape[1] == 1:
        return [name]
    return [f"{name}{j}" for j in range(x.shape[1])]


def _parts(x: Any, what: str, count: int | None) -> list[Any]:
    """The partitions, as many as those of X."""
    if x is None:
        return [None] * (count or 0)
    if not _is_dask(x):
        raise TypeError(f"{what} is a {type(x).__name__}: expected what Dask has, as X is")
    if isinstance(x, da.Array) and x.ndim == 2:
        x = x.rechunk({1: -1})  # type: ignore[no-untyped-call]
    found: list[Any] = np.ravel(x.to_delayed()).tolist()
    if count is not None and len(found) != count:
        raise ValueError(f"{what} has {len(found)} partitions, but X has {count}")
    return found


def _columns(x: Any, names: Sequence[str]) -> dict[str, pa.Array]:
    """The columns of a partition, as Arrow has them."""
    if isinstance(x, np.ndarray) and x.ndim == 2 and list(names) == [ROWS]:
        flat = pa.array(np.ascontiguousarray(x).reshape(-1))
        return {ROWS: pa.FixedSizeListArray.from_arrays(flat, x.shape[1])}
    if isinstance(x, np.ndarray):
        by_column = x.reshape(len(x), -1).T
        return {n: pa.array(c, from_pandas=True) for n, c in zip(names, by_column, strict=True)}
    frame = x.to_frame() if x.ndim == 1 else x
    frame = frame.set_axis(list(names), axis=1)
    table = pa.Table.from_pandas(frame, preserve_index=False).combine_chunks()
    return {name: table[name].combine_chunks() for name in names}


def _batch(parts: Sequence[Any], names: Sequence[Sequence[str]]) -> pa.RecordBatch | None:
    """The rows of a partition with their labels; none where there are no rows."""
    columns: dict[str, pa.Array] = {}
    rows = len(parts[0])
    for part, of in zip(parts, names, strict=True):
        if part is None:
            continue
        if len(part) != rows:
            raise ValueError(f"{of[0]} has {len(part)} rows in a partition where X has {rows}")
        for name, values in (_columns(part, of) if rows else {}).items():
            if not columns.get(name, values).equals(values):
                raise ValueError(f"two columns that differ have the name {name!r}")
            columns[name] = values
    return pa.record_batch(columns) if rows else None


def _added(
    kind: type[Any], zero: bytes, names: Sequence[Sequence[str]], *parts: Any
) -> bytes | None:
    batch = _batch(parts, names)
    return None if batch is None else bytes(kind.from_bytes(zero).update(batch).to_bytes())


def _merged(kind: type[Any], parts: Sequence[bytes | None]) -> bytes | None:
    return merged(kind, (part for part in parts if part is not None))


def _gathered(
    zero: Any, names: Sequence[Sequence[str]], partitions: Sequence[Sequence[Any]]
) -> Any:
    """Sums of all partitions, merged in a tree."""
    kind = type(zero)
    start = delayed(zero.to_bytes())
    add, merge = delayed(_added, pure=False), delayed(_merged, pure=False)
    sums = [add(kind, start, names, *parts) for parts in partitions]
    while len(sums) > 1:
        sums = [merge(kind, sums[at : at + FAN_IN]) for at in range(0, len(sums), FAN_IN)]
    return kind.from_bytes(has_rows(sums[0].compute() if sums else None))


class _Distributed:
    """`fit` and `transform` for what Dask has; all else is that of the estimator."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        row_id: Any = None,
    ) -> Any:
        """Fit the encoder on partitions.

        Parameters
        ----------
        X : DataFrame or Array of Dask
            The features.
        y : DataFrame, Series or Array of Dask
            What is to be kept, with the partitions of X.
        sensitive_features : DataFrame, Series or Array of Dask
            What is to be hidden, likewise.
        sample_weight : Series or Array of Dask, optional
            A weight for each row.
        row_id : Series or Array of Dask, optional
            Ids that decide on folds, instead of the features. :class:`CertifiedSARL` needs them: they
            decide which rows fit, choose and certify.

        Returns
        -------
        estimator
            Itself.
        """
        if not _is_dask(X):
            raise TypeError(f"X is a {type(X).__name__}: expected a DataFrame or an Array of Dask")
        features, s = self._hidden(X, sensitive_features)
        given = (X, y, s, sample_weight, row_id)
        called = (ROWS, "y", "s", "sample_weight", "row_id")
        names = [[] if x is None else _names(x, n) for x, n in zip(given, called, strict=True)]
        zero = shard_for(
            self,
            features=features or names[0],
            target=names[1],
            sensitive=names[2],
            weight=names[3][0] if names[3] else None,
            row_id=names[4][0] if names[4] else None,
        )
        whole = _parts(X, "X", None)
        beside = [_parts(x, n, len(whole)) for x, n in zip(given[1:], called[1:], strict=True)]
        partitions = list(zip(whole, *beside, strict=True))
        return fit_over(self, zero, lambda start: _gathered(start, names, partitions))

    def _hidden(self: Any, X: Any, given: Any) -> tuple[list[str], Any]:
        """The columns that are features where X has others too, and what is to be hidden."""
        if (self.sensitive is None) == (given is None):
            raise ValueError("one of sensitive_features and the parameter sensitive is needed")
        if given is not None:
            return [], given
        wanted = [self.sensitive] if isinstance(self.sensitive, str) else list(self.sensitive)
        missing = [name for name in wanted if name not in getattr(X, "columns", ())]
        if missing:
            raise ValueError(f"sensitive: X has no column {missing[0]!r}")
        left = [name for name in X.columns if self._erases or name not in wanted]
        return left, X[wanted]

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit the encoder, and encode the same rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def transform(self: Any, X: Any) -> Any:
        """Encode rows: lazily, a partition at a time, where they are of Dask.

        Parameters
        ----------
        X : DataFrame or Array of Dask, or what the estimator of scikit-learn takes
            Rows with the columns of the fit.

        Returns
        -------
        DataFrame or Array of Dask
            As X is.
        """
        if not _is_dask(X):
            return super().transform(X)  # type: ignore[misc]
        model = _files.to_bytes(self)
        if isinstance(X, da.Array):
            rows: Any = X.rechunk({1: -1})  # type: ignore[no-untyped-call]
            width = (self._n_features_out,)
            return rows.map_blocks(_z, model, chunks=(rows.chunks[0], width), dtype=np.float64)
        names = [str(name) for name in self.get_feature_names_out()]
        empty = dict.fromkeys(names, "f8")
        frame: Callable[..., Any] = X.map_partitions
        return frame(_z_frame, model, self._used(), names, meta=empty)

    def _used(self: Any) -> list[str]:
        columns = self._fitted().columns
        places = sorted([*columns.numbers, *(c.place for c in columns.categories)])
        return [columns.names[j] for j in places]


def _z(block: Any, model: bytes) -> Any:
    encoder = encoder_of(model)
    if not len(block):
        return np.empty((0, encoder._n_features_out))
    return np.asarray(encoded(encoder, pa.record_batch(_columns(block, [ROWS])), [ROWS]), float)


def _z_frame(part: Any, model: bytes, used: list[str], names: list[str]) -> Any:
    import pandas as pd

    encoder = encoder_of(model)
    z = np.empty((0, len(names)))
    if len(part):
        batch = pa.record_batch(_columns(part[used], used))
        z = np.asarray(encoded(encoder, batch, used), float)
    return pd.DataFrame(z, columns=names, index=part.index)


class SARL(_Distributed, _linear.SARL):  # type: ignore[misc]
    """:class:`sarl.SARL` over partitions."""


class KernelSARL(_Distributed, _kernel.KernelSARL):  # type: ignore[misc]
    """:class:`sarl.KernelSARL` over partitions: one pass for a sample, one for the moments."""


class CertifiedSARL(_Distributed, _certified.CertifiedSARL):  # type: ignore[misc]
    """:class:`sarl.CertifiedSARL` over partitions: a pass to fit, one to choose cells, one to certify."""


class Eraser(_Distributed, _eraser.Eraser):  # type: ignore[misc]
    """:class:`sarl.Eraser` over partitions."""
