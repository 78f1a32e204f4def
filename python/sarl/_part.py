"""Rows as the core takes them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from . import _core, _merging
from ._checks import check_choice, named_columns
from ._columns import Codes, Columns
from ._label import Label, Values
from ._rows import is_table, native, parts

#: What decides on the fold of a row.
FOLD_BY = ("position", "content", "key")

#: From so many columns on, "auto" multiplies rows of single precision as such.
WIDE = 256


def layout(
    columns: Columns, labels: list[Label]
) -> tuple[int, list[int], list[tuple[str, bool, int, int]]]:
    """Columns and labels, as the core is told of them."""
    return (
        len(columns.numbers),
        [len(c.values) for c in columns.categories],
        [label.core for label in labels],
    )


class Part(NamedTuple):
    """Rows as the core takes them, with what is known of their columns and labels."""

    columns: Columns
    dense: Any
    codes: list[Codes]
    labels: list[Label]
    values: list[Values]
    weights: NDArray[np.float64] | None = None
    #: What decides on the folds of rows, by their ids.
    ids: NDArray[np.uint64] | None = None

    def take(self, rows: NDArray[np.intp]) -> Part:
        """Some of the rows."""
        return self._replace(
            dense=self.dense[rows],
            codes=[c[rows] for c in self.codes],
            values=[v[rows] for v in self.values],
            weights=None if self.weights is None else self.weights[rows],
            ids=None if self.ids is None else self.ids[rows],
        )

    def keys(self, fold_by: str) -> NDArray[np.uint64] | None:
        """What decides on the fold of each row, beside its numbers or alone."""
        by = check_choice("fold_by", fold_by, FOLD_BY)
        if (self.ids is None) == (by == "key"):
            raise ValueError(
                "row_id is missing: with fold_by='key' it decides on the folds"
                if by == "key"
                else f"row_id was passed, but fold_by is {by!r}: use fold_by='key'"
            )
        if by != "content":
            return self.ids
        return _merging.category_keys(self.columns, self.codes, self.dense.shape[0])

    def precision(self) -> str:
        """What "auto" means for rows like these, without a kernel."""
        single = self.dense.shape[1] >= WIDE and self.dense.dtype == np.float32
        return "single" if single else "double"

    def sample(self, core: _core.Fit, public: Any, which: NDArray[np.intp] | None) -> None:
        """Lets a kernel see the rows, or those at some places, and rows to take landmarks from."""
        with named_columns(self.columns, which):
            for rows, some in parts(self.dense, which):
                beside = [c[rows] for c in self.codes], [v[rows] for v in self.values]
                core.sample(some, *beside, None if self.weights is None else self.weights[rows])
            if public is not None:
                given, codes = self._landmarks(public)
                for rows, some in parts(given):
                    core.sample(some, [c[rows] for c in codes], [], landmarks=True)

    def _landmarks(self, public: Any) -> tuple[Any, list[Codes]]:
        rows = native(public)
        if not is_table(rows):
            rows = check_array(rows, dtype=[np.float64, np.float32], input_name="landmarks")
        expected = len(self.columns.names)
        if rows.shape[1] != expected:
            raise ValueError(
                f"landmarks has {rows.shape[1]} columns, but X has {expected} features"
            )
        return self.columns.read(rows, "error")
