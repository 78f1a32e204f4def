"""Moments behind a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from . import _core
from ._checks import check_choice, named_columns, threads
from ._labels import Label
from ._moments import Moments
from ._rows import Columns, Floats, is_table, native, one_hot, parts

#: More rows than this are too many for the exact kernel method: its memory is their square.
EXACT_ROWS = 20_000


class KernelMoments(Moments):
    """Moments behind a kernel, whose map the first rows decide."""

    def __init__(
        self, *, scale: str, kernel: dict[str, Any], public: Any = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self.scale = scale
        #: Rows that landmarks are chosen from, instead of those that are pushed.
        self.public = public
        self.kernel = kernel
        self.spreads: list[tuple[float, float]] = []
        self.scaling: tuple[list[float], list[float]] = ([], [])
        self.map: _core.FeatureMap | None = None

    def _begin(
        self,
        columns: Columns,
        labels: list[Label],
        dense: Any,
        codes: list[NDArray[np.uint32]],
        weights: NDArray[np.float64] | None,
    ) -> _core.Moments:
        used: Any = slice(None)
        if weights is not None and (weights == 0).any():
            # A row of weight zero is no row.
            used = np.flatnonzero(weights > 0)
            weights = np.ascontiguousarray(weights[used])
            dense, codes = dense[used], [c[used] for c in codes]
        self._learn_scale(columns, dense, weights)
        self.map = self._learn_map(columns, dense, codes, weights)
        return self._empty(columns.width, [], labels, self.map)

    def _learn_scale(
        self, columns: Columns, dense: Any, weights: NDArray[np.float64] | None
    ) -> None:
        spreads = _core.Spreads()
        with named_columns(columns):
            for rows, part in parts(dense):
                spreads.push(part, None if weights is None else weights[rows])
        self.spreads = spreads.finish() or [(0.0, 0.0)] * dense.shape[1]
        if check_choice("scale", self.scale, ("standard", "none")) == "standard":
            rest = columns.width - len(self.spreads)
            self.scaling = (
                [mean for mean, _ in self.spreads] + [0.0] * rest,
                [1 / sd if sd > 0 else 1.0 for _, sd in self.spreads] + [1.0] * rest,
            )

    def _learn_map(
        self,
        columns: Columns,
        dense: Any,
        codes: list[NDArray[np.uint32]],
        weights: NDArray[np.float64] | None,
    ) -> _core.FeatureMap:
        how = self.kernel
        if self.public is not None:
            dense, codes = self._public_rows(columns)
            weights, self.public = None, None
        n = dense.shape[0]
        if how["approx"] == "exact" and n > EXACT_ROWS:
            raise ValueError(
                f"the exact kernel method needs memory for the square of {n} rows; use "
                f"approx='landmarks', or at most {EXACT_ROWS} rows"
            )
        capacity = EXACT_ROWS if how["approx"] == "exact" else max(4000, 10 * how["landmarks"])
        shift, factor = self.scaling
        weighted = weights is not None
        width = columns.width + weighted
        if weighted and shift:
            shift, factor = [*shift, 0.0], [*factor, 1.0]
        sample = _core.Sample(capacity, width, self.random_state, shift, factor)
        for rows, part in parts(dense):
            x: Any = one_hot(part, [c[rows] for c in codes], columns)
            if weights is not None:
                x = np.column_stack([x, weights[rows]])
            with named_columns(columns):
                sample.push(x)
        chosen = sample.rows()
        of = np.ascontiguousarray(chosen[:, -1]) if weighted else None
        return _core.FeatureMap.fit(
            np.ascontiguousarray(chosen[:, : columns.width]),
            of,
            seed=self.random_state,
            threads=threads(self.n_jobs),
            **how,
        )

    def _public_rows(self, columns: Columns) -> tuple[Any, list[NDArray[np.uint32]]]:
        rows = native(self.public)
        if not is_table(rows):
            rows = check_array(rows, dtype=[np.float64, np.float32], input_name="landmarks")
        if rows.shape[1] != len(columns.names):
            raise ValueError(
                f"landmarks has {rows.shape[1]} columns, but X has {len(columns.names)} features"
            )
        return columns.read(rows, "error")

    def _scaling(self) -> tuple[list[float], list[float]]:
        return self.scaling

    def _features(
        self, columns: Columns, dense: Floats, codes: list[NDArray[np.uint32]]
    ) -> tuple[Floats, list[NDArray[np.uint32]]]:
        # A kernel needs the one-hot columns themselves.
        return one_hot(dense, codes, columns), []

    def merge(self, other: Moments) -> Moments:
        raise ValueError("moments behind a kernel cannot be merged: each has a map of its own")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if self._core is not None:
            state["_core"] = self._core.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state["_core"], bytes):
            assert self._columns is not None
            self._core = _core.Moments.from_bytes(state["_core"], self.map, self._columns.width)
