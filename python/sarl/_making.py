"""Labels that are made: bins of numbers, combinations of classes. As the command line makes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ._columns import MOST_CATEGORIES
from ._label import Label

#: Bins where nobody says how many, and the most.
BINS, MOST_BINS = 8, 100
#: A combination of fewer rows than these is rare, and so is one of less than one in so many.
FEW_ROWS, FEW_PARTS = 30, 1000
#: The most different numbers of which all count; the size of the sample of more.
MOST_NUMBERS = 100_000
#: The name of the class of rare combinations.
OTHER = "other"

Floats = NDArray[np.float64]


def shown(number: float) -> str:
    """A number with as few digits as tell it apart, without an exponent."""
    text = format(Decimal(repr(float(number))), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def bins(label: Label, values: Floats, count: int, weights: Floats | None) -> None:
    """Gives a label at most so many classes of about the same weight."""
    weights = np.ones(len(values)) if weights is None else weights
    kept = weights > 0
    values, weights = values[kept] + 0.0, weights[kept]
    if len(values) and (values == values[0]).all():
        one = shown(values[0])
        raise ValueError(f"{label.name} has the one number {one}: expected at least two")
    label.edges = _edges(values, weights, count)
    if not label.edges:
        raise ValueError(
            f"{label.name} has no bins: less than 1/{count} of the rows are below its largest number, "
            f"{shown(values.max())}; ask for more bins, or for classes"
        )
    label.classes = _names(label.edges)


def _edges(values: Floats, weights: Floats, count: int) -> list[float]:
    """The numbers below which there is at least k/count of the weight, for each k; each once."""
    different, place = np.unique(values, return_inverse=True)
    if len(different) <= MOST_NUMBERS:
        values = different
        weights = np.bincount(place, weights).astype(np.float64)
    else:
        values, weights = _sample(values, weights)
    sums = np.cumsum(weights)
    below = np.concatenate([[0.0], sums[:-1]])
    wanted = sums[-1] * np.arange(1.0, count) / count
    at = np.searchsorted(below, wanted, side="left")
    return [float(edge) for edge in np.unique(values[at[at < len(values)]])]


def _sample(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The uniform sample of the command line, sorted: a hash of a row's number is its random number."""
    seen = np.arange(MOST_NUMBERS + 1, len(values) + 1, dtype=np.uint64)
    z = seen + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    slots = ((z ^ (z >> np.uint64(31))) % seen).astype(np.intp)
    which = np.arange(MOST_NUMBERS)
    # The last row of a slot stays.
    for row in np.flatnonzero(slots < MOST_NUMBERS):
        which[slots[row]] = MOST_NUMBERS + row
    which = which[np.argsort(values[which], kind="stable")]
    return values[which], weights[which]


def _names(edges: Sequence[float]) -> list[str]:
    """`< 25`, `[25, 40)`, `≥ 40`."""
    texts = [shown(edge) for edge in edges]
    between = [f"[{a}, {b})" for a, b in pairwise(texts)]
    return [f"< {texts[0]}", *between, f"≥ {texts[-1]}"]


def bin_codes(label: Label, values: Floats) -> NDArray[np.uint32]:
    """The bin of each number."""
    return np.searchsorted(np.asarray(label.edges), values, side="right").astype(np.uint32)


def combine(label: Label, codes: Sequence[NDArray[np.uint32]]) -> None:
    """Gives a label the combinations that are frequent as classes, and one class for the others."""
    sizes = [len(part.classes) for part in label.parts]
    many = f"{label.name}: more than {MOST_CATEGORIES} combinations are too many for classes"
    if math.prod(sizes) > np.iinfo(np.intp).max:
        raise ValueError(many)
    found, counts = np.unique(_joined(codes, sizes), return_counts=True)
    if len(found) > MOST_CATEGORIES:
        raise ValueError(many)
    frequent = (counts >= FEW_ROWS) & (counts * FEW_PARTS >= counts.sum())
    label.codes = np.column_stack(np.unravel_index(found[frequent], sizes)).tolist()
    texts = [part.texts() for part in label.parts]
    label.classes = [
        "*".join(of[k] for of, k in zip(texts, row, strict=True)) for row in label.codes
    ]
    label.pooled = not frequent.all()
    if label.pooled:
        other = OTHER
        while other in label.classes:
            other += " values"
        label.classes.append(other)
    if len(label.classes) == 1:
        one = label.classes[0]
        raise ValueError(f"{label.name} has the one class {one!r}: expected at least two")


def _joined(codes: Sequence[NDArray[np.uint32]], sizes: Sequence[int]) -> NDArray[np.intp]:
    """One number for each combination, in the order of the codes."""
    return np.ravel_multi_index([code.astype(np.intp) for code in codes], sizes)


def combination_codes(label: Label, codes: Sequence[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    """The class of each combination."""
    sizes = [len(part.classes) for part in label.parts]
    found, place = np.unique(_joined(codes, sizes), return_inverse=True)
    known = {int(np.ravel_multi_index(row, sizes)): k for k, row in enumerate(label.codes)}
    other = len(label.codes) if label.pooled else -1
    of = np.array([known.get(key, other) for key in found.tolist()], np.int64)
    if (of < 0).any():
        row = int(np.flatnonzero(of[place] < 0)[0])
        cells = "*".join(p.texts()[c[row]] for p, c in zip(label.parts, codes, strict=True))
        raise ValueError(
            f"{label.name} is {cells!r} in row {row} (counted from 0), a combination that was not "
            "there in the first rows"
        )
    return of.astype(np.uint32)[place]
