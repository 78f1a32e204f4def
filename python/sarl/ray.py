"""Fits and encodes Datasets of Ray.

The estimators are those of scikit-learn with the same parameters and results. Each block is added
up where it is, the sums are merged in a tree of tasks, and one small problem is solved here. The
result does not depend on the blocks.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import ray
from ray.data import Dataset
from ray.exceptions import RayTaskError

from . import _certified, _eraser, _files, _kernel, _linear
from ._engine import FAN_IN, encoded, encoder_of, fit_over, has_rows, merged, refused, shard_for

__all__ = ["SARL", "CertifiedSARL", "Eraser", "KernelSARL"]


def _added(block: pa.Table, *, kind: type[Any], zero: bytes) -> pa.Table:
    """The sums of a block; nothing of one without rows."""
    found = [kind.from_bytes(zero).update(block).to_bytes()] if block.num_rows else []
    return pa.table({"sums": pa.array(found, pa.large_binary())})


def _merge(kind: type[Any], *tables: pa.Table) -> pa.Table:
    total = merged(kind, (sums.as_py() for table in tables for sums in _sums(table)))
    return pa.table({"sums": pa.array([] if total is None else [total], pa.large_binary())})


def _sums(table: pa.Table) -> Any:
    return table["sums"] if table.num_rows else ()


def _gathered(rows: Dataset, zero: Any) -> Any:
    """Sums of all blocks, merged in a tree."""
    kind = type(zero)
    add = functools.partial(_added, kind=kind, zero=zero.to_bytes())
    parts = rows.map_batches(add, batch_size=None, batch_format="pyarrow")
    try:
        refs = parts.to_arrow_refs()
    except RayTaskError as problem:
        raise refused(problem) from None
    merge = ray.remote(_merge)
    while len(refs) > 1:
        refs = [merge.remote(kind, *refs[at : at + FAN_IN]) for at in range(0, len(refs), FAN_IN)]
    found = [bytes(sums.as_py()) for sums in _sums(ray.get(refs[0]))] if refs else []
    return kind.from_bytes(has_rows(found[0] if found else None))


class _Distributed:
    """`fit` and `transform` for Datasets; all else is that of the estimator."""

    def fit(
        self,
        X: Dataset,
        y: str | Sequence[str] | None = None,
        *,
        sensitive_features: str | Sequence[str],
        features: str | Sequence[str] | None = None,
        sample_weight: str | None = None,
        row_id: str | None = None,
    ) -> Any:
        """Fit the encoder on the blocks of a Dataset.

        Parameters
        ----------
        X : Dataset
            Rows with all columns.
        y : name or list of names
            The columns of what is to be kept.
        sensitive_features : name or list of names
            The columns of what is to be hidden.
        features : name or list of names, optional
            The columns of features; all others by default.
        sample_weight, row_id : name, optional
            The column of weights, and one of ids that decide on folds instead of the features.
            :class:`CertifiedSARL` takes no weights and needs ids: they decide which rows fit, choose
            and certify.

        Returns
        -------
        estimator
            Itself.
        """
        if not isinstance(X, Dataset):
            raise TypeError(f"X is a {type(X).__name__}: expected a Dataset of Ray")
        given = [sample_weight, row_id]
        for names in (y, sensitive_features):
            given += [names] if isinstance(names, str) else list(names or ())
        schema = X.schema()
        there = list(schema.names) if schema is not None else []
        missing = next((n for n in given if n is not None and n not in there), None)
        if missing is not None:
            raise ValueError(
                f"there is no column {missing!r}; the columns are {', '.join(map(repr, there))}"
            )
        zero = shard_for(
            self,
            features=features or [name for name in there if name not in given],
            target=y,
            sensitive=sensitive_features,
            weight=sample_weight,
            row_id=row_id,
        )
        rows = X.select_columns(zero.columns)
        self._picked = zero.features
        return fit_over(self, zero, lambda start: _gathered(rows, start))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit the encoder, and encode the same rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def transform(
        self: Any, X: Any, *, features: str | Sequence[str] | None = None, output: str = "z"
    ) -> Any:
        """Encode rows: lazily, a batch at a time, where they are a Dataset.

        Parameters
        ----------
        X : Dataset, or what the estimator of scikit-learn takes
            Rows with the columns of the fit.
        features : name or list of names, optional
            The columns of features; those of the fit by default.
        output : str, default="z"
            The column of z, which is added.

        Returns
        -------
        Dataset
            All columns, and z.
        """
        if not isinstance(X, Dataset):
            return super().transform(X)  # type: ignore[misc]
        names = [features] if isinstance(features, str) else features
        names = list(names or getattr(self, "_picked", None) or self._named())
        encode = functools.partial(_encode, model=_files.to_bytes(self), names=names, output=output)
        return X.map_batches(encode, batch_format="pyarrow")

    def _named(self: Any) -> list[str]:
        columns = self._fitted().columns
        if not columns.named:
            raise ValueError("features is missing: the encoder takes arrays, which have no names")
        places = sorted([*columns.numbers, *(c.place for c in columns.categories)])
        return [columns.names[j] for j in places]


def _encode(block: pa.Table, *, model: bytes, names: list[str], output: str) -> pa.Table:
    encoder = encoder_of(model)
    width = encoder._n_features_out
    batches = [b for b in block.to_batches() if b.num_rows]
    z = [np.asarray(encoded(encoder, batch, names), np.float64) for batch in batches]
    flat = pa.array(np.concatenate(z).reshape(-1) if z else np.empty(0))
    return block.append_column(output, pa.FixedSizeListArray.from_arrays(flat, width))


class SARL(_Distributed, _linear.SARL):  # type: ignore[misc]
    """:class:`sarl.SARL` over the blocks of a Dataset."""


class KernelSARL(_Distributed, _kernel.KernelSARL):  # type: ignore[misc]
    """:class:`sarl.KernelSARL` over blocks: one pass for a sample, one for the moments."""


class CertifiedSARL(_Distributed, _certified.CertifiedSARL):  # type: ignore[misc]
    """:class:`sarl.CertifiedSARL` over blocks: a pass to fit, one to choose cells, one to certify."""


class Eraser(_Distributed, _eraser.Eraser):  # type: ignore[misc]
    """:class:`sarl.Eraser` over the blocks of a Dataset."""
