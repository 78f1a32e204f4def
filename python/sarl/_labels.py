"""Labels: text, whole numbers, reals, one column or several, as codes and numbers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from . import _core
from ._columns import MOST_CATEGORIES
from ._rows import category, frame, is_missing, is_sparse, is_table, native, object_kind

Treat = Literal["auto", "class", "number"]
#: One for all columns, or one for some of them by name.
Treats = Treat | Mapping[str, Treat]
Values = NDArray[np.uint32] | NDArray[np.float64]

#: More different whole numbers than these are a number, unless a type is given.
MOST_WHOLE_CLASSES = 20


@dataclass
class Label:
    """What was learned about a label."""

    name: str
    target: bool
    #: What it holds: `text`, `integer` or `bool` are classes, `float` is a number.
    kind: str
    classes: list[Any] = field(default_factory=list)

    @property
    def is_class(self) -> bool:
        """Whether it is one of several classes."""
        return self.kind != "float"

    @property
    def size(self) -> int:
        """The number of its classes as the core counts them; 0 for a number."""
        return max(2, len(self.classes)) if self.is_class else 0

    def texts(self) -> list[str]:
        """Its classes as the model file writes them."""
        return [category(value) for value in self.classes]


def columns_of(values: Any, name: str) -> list[tuple[str, Any]]:
    """The columns of a label with their names: `name`, or `name0`, `name1`, …"""
    values = native(values)
    if is_sparse(values):
        raise ValueError(f"{name} is a sparse matrix; pass a dense array")
    if is_table(values):
        table = frame(values)
        return [(str(column), _series(table[column])) for column in table.columns]
    if nw.dependencies.is_into_series(values):
        series = nw.from_native(values, series_only=True)
        return [(str(series.name) if series.name not in (None, "") else name, _series(series))]
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        values = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    array = np.asarray(values)
    if array.ndim == 1:
        return [(name, array)]
    if array.ndim == 2 and array.shape[1] == 1:
        return [(name, array[:, 0])]
    if array.ndim == 2 and array.shape[1] > 1:
        return [(f"{name}{j}", array[:, j]) for j in range(array.shape[1])]
    raise ValueError(f"{name} has shape {array.shape}: expected one column, or rows by columns")


def _series(series: nw.Series[Any]) -> NDArray[Any]:
    """A column as an array that keeps what it holds, with `None` or NaN where a value is missing."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        if not series.null_count():
            return np.asarray(series.to_numpy())
        if dtype in (nw.Float32, nw.Float64):
            return np.asarray(series.to_numpy(), np.float64)
    array = np.empty(len(series), dtype=object)
    array[:] = series.to_list()
    return array


def _typed(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Objects as what they all are: text, booleans or numbers."""
    if array.dtype.kind != "O":
        return array
    values = array.tolist()
    row = next((row for row, value in enumerate(values) if is_missing(value)), None)
    if row is not None:
        raise ValueError(f"{name} has no value in row {row} (counted from 0)")
    kind = object_kind(values)
    if kind is not None:
        types = {"bool": np.bool_, "integer": np.int64, "number": np.float64}
        return array.astype(types[kind]) if kind in types else array
    found = ", ".join(sorted(k.__name__ for k in set(map(type, values))))
    raise ValueError(f"{name} holds {found}: expected text, whole numbers, booleans or reals")


def _type_name(target: bool) -> str:
    return "target_type" if target else "sensitive_type"


def _kind(array: NDArray[Any], name: str, treat: Treat) -> str:
    """What a column of a label holds."""
    natural = {"U": "text", "S": "text", "O": "text", "b": "bool", "i": "integer", "u": "integer"}
    kind = natural.get(array.dtype.kind, "float" if array.dtype.kind == "f" else "")
    if not kind:
        example = "dates" if array.dtype.kind in "Mm" else str(array.dtype)
        raise ValueError(f"{name} holds {example}: expected text, whole numbers, booleans or reals")
    if treat == "number":
        if kind == "text":
            raise ValueError(f"{name} holds text, which cannot be treated as a number")
        return "float"
    if treat == "class" and kind == "float":
        return "integer" if np.all(np.mod(array, 1) == 0) else "text"
    return kind


def _treatments(treat: Treats, columns: Sequence[str], what: str) -> list[Treat]:
    """How each column is to be treated."""
    if isinstance(treat, Mapping):
        unknown = [name for name in treat if name not in columns]
        if unknown:
            there = ", ".join(map(repr, columns))
            raise ValueError(f"{what} names {unknown[0]!r}, but the columns are {there}")
        each = [treat.get(name, "auto") for name in columns]
    else:
        each = [treat] * len(columns)
    for given in each:
        if given not in ("auto", "class", "number"):
            raise ValueError(f"{what} is {given!r}: expected 'auto', 'class' or 'number'")
    return each


def _decided(array: NDArray[Any], name: str, kind: str, what: str, known: Label | None) -> str:
    """What whole numbers are where no type is given: classes, or a number if they are many."""
    if kind != "integer":
        return kind
    if known is not None:
        return kind if known.is_class else "float"
    different = len(np.unique(array))
    if different <= MOST_WHOLE_CLASSES:
        return kind
    warnings.warn(
        f"{name} has {different} different whole numbers, taken as a number; pass {what}='number' if "
        f"that is right, or {what}='class' if they are classes",
        UserWarning,
        stacklevel=2,
    )
    return "float"


def _finite(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    values = np.ascontiguousarray(array, np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        found = values[bad[0]]
        shown = "NaN" if np.isnan(found) else str(found)
        raise ValueError(f"{name} is {shown} in row {bad[0]} (counted from 0)")
    return values


def _codes(array: NDArray[Any], label: Label) -> NDArray[np.uint32]:
    if label.kind in ("integer", "bool"):
        if array.dtype.kind == "f":
            array = _finite(array, label.name)
        found, codes = _core.integer_codes(np.ascontiguousarray(array, np.int64))
        values_found = [bool(v) for v in found] if label.kind == "bool" else found.tolist()
    else:
        values = (
            [category(v) for v in array.tolist()] if array.dtype.kind == "f" else array.tolist()
        )
        values_found = sorted(dict.fromkeys(values))
        index = {value: code for code, value in enumerate(values_found)}
        codes = np.fromiter(map(index.__getitem__, values), np.uint32, len(values))
    known = {value: code for code, value in enumerate(label.classes)}
    label.classes += [value for value in values_found if value not in known]
    if len(label.classes) > MOST_CATEGORIES:
        hint = f"; {_type_name(label.target)}='number' takes numbers as they are"
        raise ValueError(
            f"{label.name} has {len(label.classes)} classes, more than {MOST_CATEGORIES}"
            f"{hint if label.kind == 'integer' else ''}"
        )
    known = {value: code for code, value in enumerate(label.classes)}
    if all(known[value] == code for code, value in enumerate(values_found)):
        return codes
    return np.array([known[value] for value in values_found], np.uint32)[codes]


def check(labels: Sequence[Label], values: Sequence[Values], rows: int) -> None:
    """Refuses other numbers of rows, and gives each label a name of its own."""
    for i, (label, of) in enumerate(zip(labels, values, strict=True)):
        if len(of) != rows:
            raise ValueError(
                f"X has {rows} rows, but {label.name} has {len(of)}: "
                "found input variables with inconsistent numbers of samples"
            )
        while label.name in [other.name for other in labels[:i]]:
            label.name += "_"


def union(a: Label, b: Label) -> tuple[Label, list[int]]:
    """A label with the classes of both, and where those of the second are in it."""
    both = Label(a.name, a.target, a.kind, a.classes + [c for c in b.classes if c not in a.classes])
    to = [both.classes.index(c) for c in b.classes]
    # A class without rows, which the core counts because a label has two at least.
    to += [k for k in range(both.size) if k not in to][: b.size - len(to)]
    return both, to


def read(
    values: Any,
    name: str,
    target: bool,
    treat: Treats,
    known: Sequence[Label] | None,
) -> tuple[list[Label], list[Values]]:
    """The labels in `values` and what they hold, row by row.

    Known labels must come in the same order. They may have new classes.
    """
    what = _type_name(target)
    columns = columns_of(values, name)
    treats = _treatments(treat, [column for column, _ in columns], what)
    if known is not None and len(columns) != len(known):
        raise ValueError(f"{name} has {len(columns)} columns, but {len(known)} are expected")
    labels: list[Label] = []
    read_: list[Values] = []
    for j, (column, values_) in enumerate(columns):
        array = _typed(np.asarray(values_), column)
        kind = _kind(array, column, treats[j])
        if treats[j] == "auto":
            kind = _decided(array, column, kind, what, known[j] if known is not None else None)
        if known is None:
            label = Label(column, target, kind)
        else:
            old = known[j]
            label = Label(old.name, target, old.kind, list(old.classes))
            if old.is_class != (kind != "float"):
                was = "classes" if old.is_class else "numbers"
                raise ValueError(f"{column} holds {kind}, but it held {was} before")
            if old.is_class and (old.kind == "text") != (kind == "text"):
                now, was = ("text", f"{old.kind}s") if kind == "text" else (f"{kind}s", "text")
                raise ValueError(f"{column} holds {now}, but it held {was} before")
        read_.append(_codes(array, label) if label.is_class else _finite(array, column))
        labels.append(label)
    return labels, read_
