"""The eraser of one layer: sums of rows, the solution, its figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _adding, _labels
from .._columns import Columns
from .._eraser import Eraser
from .._moments import Moments
from .._part import Part
from ._batch import Rows
from ._modules import Erasure

#: Numbers that are added up in one block.
BLOCK = 1 << 23


@dataclass(frozen=True)
class Layer:
    """The erasure of a layer, and what the fit has found there."""

    #: What the model calls the layer.
    name: str
    #: "output" or "input".
    at: str
    #: Rows of the fit.
    rows: int
    #: For each concept: its `limit`, and the share of its variance that a linear adversary explains,
    #: on the rows of the fit (`leakage`) and on others (`heldout`); None where there is none.
    concepts: dict[str, dict[str, float | None]]
    mean: NDArray[np.float64] = field(repr=False)
    #: What is found of each erased direction, and what is taken off for it, a direction to a row.
    found: NDArray[np.float64] = field(repr=False)
    taken: NDArray[np.float64] = field(repr=False)

    @property
    def width(self) -> int:
        """The length of a row."""
        return len(self.mean)

    @property
    def directions(self) -> int:
        """How many directions are erased."""
        return len(self.found)

    def to_torch(self, **options: Any) -> Erasure:
        """The module that erases; see :class:`Erasure` for its options."""
        return Erasure(self.mean, self.found, self.taken, **options)

    def about(self) -> dict[str, Any]:
        """What the file says of it."""
        concepts = [{"name": name, **figures} for name, figures in self.concepts.items()]
        return {"name": self.name, "at": self.at, "rows": self.rows, "concepts": concepts}

    @classmethod
    def from_about(cls, about: dict[str, Any], matrices: tuple[Any, Any, Any]) -> Layer:
        """The inverse of :meth:`about`, with its matrices."""
        figures = ("limit", "leakage", "heldout")
        concepts = {c["name"]: {name: c[name] for name in figures} for c in about["concepts"]}
        return cls(about["name"], about["at"], about["rows"], concepts, *matrices)


def new_moments(options: dict[str, Any]) -> Moments:
    """Sums without rows. Folds go by sequences, whose positions are much alike."""
    names = ("folds", "precision", "n_jobs")
    return Moments(fold_by="key", **{name: options[name] for name in names})


def add(name: str, moments: Moments, rows: Rows, types: Any) -> None:
    """Adds the rows of a batch at a layer: all of a block, or none."""
    try:
        _add(moments, rows, types)
    except ValueError as problem:
        why = "some activations are not finite" if "must be finite" in str(problem) else problem
        raise ValueError(f"layer {name!r}: {why}") from None


def _add(moments: Moments, rows: Rows, types: Any) -> None:
    moments._in_place = True
    width = rows.x.shape[1]
    step = max(1, BLOCK // max(1, width))
    for start in range(0, len(rows.x), step):
        at = slice(start, start + step)
        weights = None if rows.weights is None else np.ascontiguousarray(rows.weights[at])
        x = np.ascontiguousarray(rows.x[at])
        labels, values = _read(moments, rows, at, types, weights)
        columns = moments._columns or Columns.unnamed(width)
        if width != len(columns.numbers):
            raise ValueError(f"rows have {width} columns, but had {len(columns.numbers)} before")
        ids = np.ascontiguousarray(rows.keys[at])
        _adding.add(moments, Part(columns, x, [], labels, values, weights, ids))


def _read(
    moments: Moments, rows: Rows, at: slice, types: Any, weights: NDArray[np.float64] | None
) -> tuple[list[Any], list[Any]]:
    """The labels of some rows, concept by concept."""
    known = {label.name: label for label in moments._labels}
    if known and list(known) != list(rows.concepts):
        raise ValueError(f"the concepts are {list(rows.concepts)}, but were {list(known)} before")
    labels, values = [], []
    for name, of in rows.concepts.items():
        kind = types.get(name, "auto") if isinstance(types, dict) else types
        before = [known[name]] if known else None
        more = _labels.read(np.ascontiguousarray(of[at]), name, False, kind, before, weights)
        labels += more[0]
        values += more[1]
    return labels, values


def solve(name: str, at: str, moments: Moments, options: dict[str, Any]) -> Layer:
    """The erasure that meets the limits on these rows."""
    names = ("max_leakage", "ridge", "folds", "precision", "n_jobs")
    try:
        eraser = Eraser(**{of: options[of] for of in names}).fit_moments(moments._in_order())
        found = eraser.attributes_["sensitive"]
    except ValueError as problem:
        raise ValueError(f"layer {name!r}: {problem}") from None
    concepts: dict[str, dict[str, float | None]] = {}
    for concept, figures in found.items():
        held = figures["heldout"]
        concepts[concept] = {
            "limit": figures["limit"],
            "leakage": figures["leakage"],
            "heldout": None if held is None else held["leakage"],
        }
    return Layer(name, at, len(moments), concepts, *eraser._erasure())
