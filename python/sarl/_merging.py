"""Categories and classes that only some rows have: where they are among those of all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _criterion
from ._columns import Categories, Codes, Columns
from ._label import MERGING, Label
from ._label import union as union_of_labels
from ._rows import category, is_missing

if TYPE_CHECKING:
    from ._moments import Moments

#: For each column of categories, the new place of each of its categories.
Places = list[list[int]]

UNEQUAL = "these moments cannot be merged: their columns differ"


def union(a: Columns, b: Columns) -> tuple[Columns, Places]:
    """Columns with the categories of both, first those of `a`, and the places of those of `b`."""
    if without_values(a) != without_values(b):
        raise ValueError(UNEQUAL)
    both: list[Categories] = []
    places: Places = []
    for mine, theirs in zip(a.categories, b.categories, strict=True):
        known = set(mine.values)
        values = (*mine.values, *(v for v in theirs.values if v not in known))
        both.append(replace(mine, values=values))
        at = {value: place for place, value in enumerate(values)}
        places.append([at[value] for value in theirs.values])
    return replace(a, categories=tuple(both)), places


def merged(a: Moments, b: Moments) -> tuple[Columns, list[Label], _core.Fit]:
    """The columns, the labels and the sums of the rows of both."""
    assert a._columns is not None and b._columns is not None
    assert a._core is not None and b._core is not None
    columns, places = union(a._columns, b._columns)
    mine, theirs = ([(of.target, of.kind, of.kernel) for of in m._labels] for m in (a, b))
    if mine != theirs:
        raise ValueError("these moments cannot be merged: their labels differ")
    core, added = a._core.copy(), b._core.copy()
    recode(core, a._columns, columns)
    recode(added, b._columns, columns, places)
    labels = []
    for place, (old, other) in enumerate(zip(a._labels, b._labels, strict=True)):
        both, to = union_of_labels(old, other)
        labels.append(both)
        for into, before, moved in ((core, old, list(range(old.size))), (added, other, to)):
            if both.is_class and (moved != list(range(before.size)) or both.size != before.size):
                a._reclass(into, place, moved, both)
    _criterion.settle(a.criterion, a.favourable, labels)
    try:
        core.merge(added)
    except ValueError as problem:
        hint = MERGING if "of their labels" in str(problem) else ""
        raise ValueError(f"{problem}{hint}") from None
    return columns, labels, core


def without_values(columns: Columns) -> Columns:
    """The same columns, of whose categories nothing is known."""
    bare = tuple(replace(c, values=(), fill=0) for c in columns.categories)
    return replace(columns, categories=bare)


def recode(core: _core.Fit, before: Columns, after: Columns, places: Places | None = None) -> None:
    """Moves the sums of categories to their new places; without places new ones come last."""
    for j, (old, new) in enumerate(zip(before.categories, after.categories, strict=True)):
        to = list(range(len(old.values))) if places is None else places[j]
        if to != list(range(len(new.values))):
            core.recode(j, to, len(new.values))


def in_order_of(columns: Columns) -> Columns:
    """The same with sorted categories."""
    categories = []
    for c in columns.categories:
        values = tuple(sorted(c.values))
        categories.append(
            replace(c, values=values, fill=values.index(c.values[c.fill]) if values else 0)
        )
    return replace(columns, categories=tuple(categories))


def in_order(
    core: _core.Fit,
    columns: Columns,
    labels: Sequence[Label],
    reclass: Callable[[_core.Fit, int, list[int], Label], None],
) -> tuple[Columns, list[Label]]:
    """Categories and classes in the order in which one machine has them: sorted."""
    new = in_order_of(columns)
    places = []
    for before, after in zip(columns.categories, new.categories, strict=True):
        at = {value: place for place, value in enumerate(after.values)}
        places.append([at[value] for value in before.values])
    recode(core, columns, new, places)
    return new, [_sorted_label(core, j, label, reclass) for j, label in enumerate(labels)]


def _sorted_label(
    core: _core.Fit,
    place: int,
    label: Label,
    reclass: Callable[[_core.Fit, int, list[int], Label], None],
) -> Label:
    order = sorted(range(len(label.classes)), key=lambda k: label.classes[k])
    if not label.is_class or label.is_made or order == list(range(len(order))):
        return label
    counts = label.counts + [0] * (len(order) - len(label.counts))
    new = replace(
        label,
        classes=[label.classes[k] for k in order],
        counts=[counts[k] for k in order],
    )
    to = [0] * len(order)
    for at, k in enumerate(order):
        to[k] = at
    reclass(core, place, to, new)
    return new


def category_keys(columns: Columns, codes: Sequence[Codes], rows: int) -> NDArray[np.uint64]:
    """What the categories of each row add to what decides on its fold: their texts, not their codes."""
    keys = np.zeros(rows, np.uint64)
    for place, (known, of) in enumerate(zip(columns.categories, codes, strict=True)):
        # A category that is none of those known adds nothing.
        table = np.append(_core.text_keys(known.values, place), np.uint64(0))
        keys += table[np.minimum(of, len(known.values))]
    return keys


def id_keys(ids: Any, rows: int) -> NDArray[np.uint64]:
    """What decides on the fold of each row, by its id: a text, or a number as it is written."""
    array = np.asarray(ids)
    if array.ndim != 1 or len(array) != rows:
        raise ValueError(f"row_id has shape {array.shape}: expected one id for each of {rows} rows")
    values = array.tolist()
    missing = next((row for row, value in enumerate(values) if is_missing(value)), None)
    if missing is not None:
        raise ValueError(f"row_id has no value in row {missing} (counted from 0)")
    return _core.text_keys([category(value) for value in values])
