"""Rows with their labels, for comparisons and pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _files, _labels
from ._checks import named_columns
from ._columns import Columns, one_hot
from ._label import Label, Values
from ._labels import Treats
from ._rows import array, length, matrix, take
from ._solved import Solved

#: Rows that a page shows encoded, where nothing is said.
SHOWN = 1000

#: All inputs of some rows, their labels, their places, and how many rows there were.
Side = tuple[Any, list[Values], list[int], int]


class Rows:
    """Rows with their labels, as the comparison and the page read them."""

    def __init__(
        self, X: Any, y: Any, s: Any, target_type: Treats = "auto", sensitive_type: Treats = "auto"
    ) -> None:
        self.X = array(X)
        self.columns = Columns.learn(self.X)
        self.types = (target_type, sensitive_type)
        self.labels: list[Label] = []
        self.values: list[Values] = []
        self._read(y, s, None)
        for label, of in zip(self.labels, self.values, strict=True):
            label.count(of)

    def _read(self, y: Any, s: Any, known: list[Label] | None) -> None:
        labels: list[Label] = []
        values: list[Values] = []
        for of, name, target, treat in (
            (y, "y", True, self.types[0]),
            (s, "s", False, self.types[1]),
        ):
            if of is None:
                continue
            before = None if known is None else [a for a in known if a.target == target]
            found, read = _labels.read(of, name, target, treat, before)
            for old, new in zip(before or (), found, strict=before is not None):
                unknown = [text for text in new.texts() if text not in old.texts()]
                if old.is_class and unknown:
                    raise ValueError(f"{new.name} has {unknown[0]!r}, which was not there before")
            labels += found
            values += read
        for label, of in zip(labels, values, strict=True):
            if len(of) != length(self.X):
                raise ValueError(f"X has {length(self.X)} rows, but {label.name} has {len(of)}")
        self.labels, self.values = labels, values

    def other(self, X: Any, y: Any, s: Any) -> Rows:
        """Other rows of the same columns and labels."""
        new = object.__new__(Rows)
        new.X, new.columns, new.types = array(X), self.columns, self.types
        new._read(y, s, self.labels)
        return new

    @classmethod
    def of_model(cls, solved: Solved, X: Any, y: Any, s: Any, types: Any) -> Rows:
        """Rows for a model; labels that are not given are left out."""
        new = object.__new__(cls)
        new.X, new.columns, new.types = X, solved.columns, types
        new._read(y, s, solved.labels)
        return new

    def side(self, rows: int, seed: int, unseen: str = "error") -> Side:
        """At most so many of them, drawn as the command line draws them."""
        n = length(self.X)
        which = np.asarray(_core.draw_rows(n, rows, seed), np.intp)
        part = self.X if n <= rows else take(self.X, which)
        dense, codes = self.columns.read(part, unseen)
        x = one_hot(matrix(dense), codes, self.columns)
        bad = np.argwhere(~np.isfinite(x))
        if len(bad):
            with named_columns(self.columns):
                raise _core.NotFinite(int(which[bad[0][0]]), int(bad[0][1]), x[tuple(bad[0])])
        return x, [of[which] for *_, of in self._flat()], which.tolist(), n

    def _flat(self) -> list[tuple[str, bool, list[str], str | None, Values]]:
        pairs = zip(self.labels, self.values, strict=True)
        return [
            (name, label.target, classes, kernel, of)
            for label, values in pairs
            for name, classes, kernel, of in _labels.flat(label, values)
        ]

    def named(self) -> list[tuple[str, bool, list[str], str | None]]:
        """What attackers predict: name, whether it is to be kept, classes, kernel in a fit."""
        return [label[:4] for label in self._flat()]

    def schema(self) -> dict[str, Any]:
        """What model files say of such columns."""
        dense, _ = self.columns.read(self.X)
        x = matrix(dense)
        with np.errstate(invalid="ignore"):
            spreads = list(zip(x.mean(0, float).tolist(), x.std(0, float).tolist(), strict=True))
        return _files.schema(length(self.X), self.columns, self.labels, spreads)


def check_whole(name: str, value: Any, least: int) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {value!r}: expected a whole number, {least} or more")
    return int(value)


def check_shown(rows: Any) -> int:
    """How many rows a page shows."""
    if check_whole("rows", rows, 0) > 2000:
        raise ValueError(f"rows is {rows}: a page shows 2000 at most")
    return int(rows)
