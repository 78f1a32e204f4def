"""What is known of a label: its classes or numbers, what they are made of, and how many there were."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._rows import category

Values = NDArray[np.uint32] | NDArray[np.float64]

#: How moments of other rows get the same labels.
MERGING = "; they are learned from the first rows: begin the others with empty() of the first"

#: The weight of the rows, the mean, and the sum of squares about it.
Spread = tuple[float, float, float]


@dataclass
class Label:
    """What was learned about a label."""

    name: str
    target: bool
    #: What it holds: `text`, `integer` or `bool` are classes, `bins` and `combination` classes that
    #: are made, `float` is a number.
    kind: str
    classes: list[Any] = field(default_factory=list)
    #: The columns that it is read from, with their places.
    columns: dict[str, int] = field(default_factory=dict)
    #: Whether its numbers stand for the features of a kernel.
    kernel: bool = False
    #: Of bins: class k has the numbers with k of these at or below them.
    edges: list[float] = field(default_factory=list)
    #: Of a combination: its columns, and for each class the code in each of them.
    parts: list[Label] = field(default_factory=list)
    codes: list[list[int]] = field(default_factory=list)
    #: Whether the last class stands for all combinations that are rare.
    pooled: bool = False
    #: What a model file says of the cells, where that is another word than the kind.
    cells: str = ""
    #: How the numbers of columns are written in text files, where not as programs do.
    written: dict[str, Any] = field(default_factory=dict)
    #: The rows of each class.
    counts: list[int] = field(default_factory=list)
    #: Of each column of numbers.
    spreads: list[Spread] = field(default_factory=list)

    @property
    def is_class(self) -> bool:
        """Whether it is one of several classes."""
        return self.kind != "float"

    @property
    def is_made(self) -> bool:
        """Whether its classes are made of other values, and stay as the first rows had them."""
        return self.kind in ("bins", "combination")

    @property
    def size(self) -> int:
        """The number of its classes as the core counts them; 0 for a number."""
        return max(2, len(self.classes)) if self.is_class else 0

    @property
    def core(self) -> tuple[str, bool, int, int]:
        """As the core is told of it."""
        return self.name, self.target, self.size, len(self.columns) if self.kernel else 0

    @property
    def treat(self) -> str:
        """How to ask for such a label."""
        if self.kind == "bins":
            return f"bins={len(self.classes)}"
        return "kernel" if self.kernel else "class" if self.is_class else "number"

    def texts(self) -> list[str]:
        """Its classes as the model file writes them."""
        return [category(value) for value in self.classes]

    def count(self, values: Values, weights: NDArray[np.float64] | None = None) -> None:
        """Counts rows. Those of no weight are in no bin."""
        if not self.is_class:
            columns = values[:, None] if values.ndim == 1 else values
            new = [_spread(column, weights) for column in columns.T]
            self.spreads = _merged(self.spreads, new)
            return
        if self.kind == "bins" and weights is not None:
            values = values[weights > 0]
        found = np.bincount(values.astype(np.intp), minlength=len(self.classes))
        self.counts = _summed(self.counts, found.tolist())

    def without_rows(self) -> Label:
        """The same, of which nothing was counted."""
        return replace(self, classes=list(self.classes), counts=[], spreads=[])

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Label:
        """The inverse of :meth:`plain`."""
        parts = [cls.from_plain(part) for part in plain["parts"]]
        return cls(**plain | {"parts": parts, "spreads": [tuple(s) for s in plain["spreads"]]})


def _spread(values: NDArray[Any], weights: NDArray[np.float64] | None) -> Spread:
    weights = np.ones(len(values)) if weights is None else weights
    weight = float(weights.sum())
    if weight <= 0:
        return 0.0, 0.0, 0.0
    mean = float(weights @ values) / weight
    mean += float(weights @ (values - mean)) / weight
    return weight, mean, float(weights @ (values - mean) ** 2)


def _merged(a: list[Spread], b: list[Spread]) -> list[Spread]:
    if not a or not b:
        return a or b
    return [_joined(one, other) for one, other in zip(a, b, strict=True)]


def _joined(a: Spread, b: Spread) -> Spread:
    if not a[0] or not b[0]:
        return a if a[0] else b
    total, step = a[0] + b[0], b[1] - a[1]
    squares = a[2] + b[2] + step * step * a[0] * b[0] / total
    return total, a[1] + step * b[0] / total, squares


def _summed(a: list[int], b: list[int]) -> list[int]:
    size = max(len(a), len(b))
    return [sum(c[k] for c in (a, b) if k < len(c)) for k in range(size)]


def union(a: Label, b: Label) -> tuple[Label, list[int]]:
    """A label with the classes and the rows of both, and where classes of the second are in it."""
    for what, of in (("bins", "edges"), ("combinations", "codes")):
        if getattr(a, of) != getattr(b, of):
            raise ValueError(
                f"these moments cannot be merged: the {what} of {a.name} differ{MERGING}"
            )
    if [p.classes for p in a.parts] != [p.classes for p in b.parts] or a.pooled != b.pooled:
        raise ValueError(f"these moments cannot be merged: the classes of {a.name} differ{MERGING}")
    both = replace(a, classes=a.classes + [c for c in b.classes if c not in a.classes])
    to = [both.classes.index(c) for c in b.classes]
    moved = [0] * len(both.classes)
    for k, count in zip(to, b.counts, strict=False):
        moved[k] = count
    both.counts, both.spreads = _summed(a.counts, moved), _merged(a.spreads, b.spreads)
    # A class without rows, which the core counts because a label has two at least.
    to += [k for k in range(both.size) if k not in to][: b.size - len(to)]
    return both, to
