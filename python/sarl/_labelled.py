"""The sums of rows and their labels, for erasure of rows whose labels are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _labels
from ._checks import named_columns
from ._columns import Columns
from ._label import Label, Values
from ._rows import parts


@dataclass(frozen=True)
class ByLabels:
    """An erasure by labels, with the names and the values of its columns and labels."""

    model: _core.LabelledErasure
    columns: Columns
    labels: list[Label]

    @classmethod
    def read(cls, model: _core.LabelledErasure, about: dict[str, Any]) -> ByLabels:
        """Around an erasure from a file, which may say more of its columns and labels."""
        if "columns" in about:
            labels = [Label.from_plain(label) for label in about["labels"]]
            return cls(model, Columns.from_plain(about["columns"]), labels)
        labels = [
            Label(name, False, "integer" if of else "float", list(range(of)), {name: place})
            for place, (name, _, of, _) in enumerate(model.labels)
        ]
        return cls(model, Columns.unnamed(model.inputs), labels)

    def values(self, hidden: Any, kind: _labels.Treats, rows: int) -> list[Values]:
        """The labels of rows, as codes and numbers; classes that are not known are refused."""
        known = [label.without_rows() for label in self.labels]
        labels, values = _labels.read(hidden, "s", False, kind, known)
        _labels.check(labels, values, rows)
        for old, new in zip(self.labels, labels, strict=True):
            if len(new.classes) > len(old.classes):
                unknown = new.classes[len(old.classes)]
                raise ValueError(
                    f"{old.name} has the class {unknown!r}, of which there were no rows in the fit"
                )
        return values

    def label_columns(self, values: Sequence[Values]) -> NDArray[np.float64]:
        """The columns that stand for labels: indicators of classes, and numbers."""
        columns = [
            np.eye(label.size)[of] if label.is_class else of[:, None]
            for label, of in zip(self.labels, values, strict=True)
        ]
        return np.concatenate(columns, axis=1)


@dataclass(frozen=True)
class LabelSums:
    """The sums of rows and their labels. Rows that are added, or merged, make new ones."""

    columns: Columns
    labels: list[Label]
    core: _core.LabelledSums

    def __len__(self) -> int:
        return self.core.rows

    @classmethod
    def of(cls, columns: Columns, labels: list[Label], *, quadratic: bool) -> LabelSums:
        """Without rows."""
        described = [label.core for label in labels]
        core = _core.LabelledSums(len(columns.names), described, quadratic=quadratic)
        return cls(columns, labels, core)

    def added(
        self,
        labels: list[Label],
        values: Sequence[Values],
        dense: Any,
        weights: NDArray[np.float64] | None,
        jobs: int | None,
    ) -> LabelSums:
        """With more rows, whose labels may have new classes."""
        core = self.core.copy()
        for place, (old, new) in enumerate(zip(self.labels, labels, strict=True)):
            if new.size != old.size:
                core.reclass(place, list(range(old.size)), new.size)
        with named_columns(self.columns):
            for some, part in parts(dense):
                own = None if weights is None else weights[some]
                core.push(part, [v[some] for v in values], own, threads=jobs)
        for label, of in zip(labels, values, strict=True):
            label.count(of, weights)
        return replace(self, labels=labels, core=core)

    def merged(self, other: LabelSums) -> LabelSums:
        """With the rows of others, which may have other classes."""
        if self.columns.names != other.columns.names:
            raise ValueError("these erasers cannot be merged: their features differ")
        mine, theirs = ([(a.name, a.kind) for a in sums.labels] for sums in (self, other))
        if mine != theirs:
            raise ValueError("these erasers cannot be merged: their labels differ")
        core, more, labels = self.core.copy(), other.core.copy(), []
        for place, (a, b) in enumerate(zip(self.labels, other.labels, strict=True)):
            both, to = _labels.union(a, b)
            labels.append(both)
            if both.is_class:
                core.reclass(place, list(range(a.size)), both.size)
                more.reclass(place, to, both.size)
        core.merge(more)
        return replace(self, labels=labels, core=core)

    def solve(self, jobs: int | None) -> ByLabels:
        """The erasure for these rows."""
        return ByLabels(self.core.solve(jobs), self.columns, self.labels)
