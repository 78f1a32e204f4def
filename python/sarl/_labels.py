"""Labels: text, whole numbers, reals, one column or several, as codes and numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from . import _core, _forms, _making
from ._columns import MOST_CATEGORIES
from ._forms import Form, Treats
from ._label import Label, Values, union
from ._rows import category, frame, is_missing, is_sparse, is_table, native, object_kind

__all__ = ["Label", "Treats", "Values", "check", "columns_of", "flat", "read", "union"]

#: More different whole numbers than these are a number, unless a type is given.
MOST_WHOLE_CLASSES = 20

#: A column of a label: its name, and what it holds.
Column = tuple[str, Any]


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


def _kind(array: NDArray[Any], name: str, treat: str) -> str:
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


def read(
    values: Any,
    name: str,
    target: bool,
    treat: Treats,
    known: Sequence[Label] | None,
    weights: NDArray[np.float64] | None = None,
) -> tuple[list[Label], list[Values]]:
    """The labels in `values` and what they hold, row by row.

    Known labels are found by the names of their columns, or by their places where other names are
    given. They may have new classes, but not those that are made.
    """
    what = _type_name(target)
    columns = columns_of(values, name)
    if known is None:
        forms = _forms.read(treat, [column for column, _ in columns], what)
        found = [_learned(form, columns, target, what, weights) for form in forms]
    else:
        given = _given(known, columns, name)
        found = [_known(old, of, treat, what) for old, of in zip(known, given, strict=True)]
    return [label for label, _ in found], [of for _, of in found]


def _given(known: Sequence[Label], columns: Sequence[Column], name: str) -> list[list[Column]]:
    """The columns of each known label."""
    wanted = {column: place for label in known for column, place in label.columns.items()}
    if len(columns) != len(wanted):
        raise ValueError(f"{name} has {len(columns)} columns, but {len(wanted)} are expected")
    places = {column: place for place, (column, _) in enumerate(columns)}
    if any(column not in places for column in wanted):
        places = wanted
    return [[columns[places[column]] for column in label.columns] for label in known]


def _learned(
    form: Form,
    columns: Sequence[Column],
    target: bool,
    what: str,
    weights: NDArray[np.float64] | None,
) -> tuple[Label, Values]:
    """A label of these columns, which were not seen before."""
    used = [columns[place] for place in form.places]
    of = {column: place for (column, _), place in zip(used, form.places, strict=True)}
    column, values = used[0]
    if form.treat == "combination":
        label = Label(form.name, target, "combination", columns=of)
        codes = []
        for column, values in used:
            array = _typed(np.asarray(values), column)
            part = Label(column, target, _kind(array, column, "class"))
            codes.append(_codes(array, part))
            label.parts.append(part)
        _making.combine(label, codes)
        return label, _making.combination_codes(label, codes)
    if form.treat == "kernel":
        label = Label(form.name, target, "float", columns=of, kernel=True)
        return label, _numbers(used)
    if form.bins is not None:
        label = Label(form.name, target, "bins", columns=of)
        numbers = _numbers(used)
        fits = weights is not None and len(weights) == len(numbers)
        _making.bins(label, numbers, form.bins, weights if fits else None)
        return label, _making.bin_codes(label, numbers)
    array = _typed(np.asarray(values), column)
    kind = _kind(array, column, form.treat)
    if form.treat == "auto":
        kind = _decided(array, column, kind, what, None)
    label = Label(form.name, target, kind, columns=of)
    return label, _codes(array, label) if label.is_class else _finite(array, column)


def _known(old: Label, used: list[Column], treat: Treats, what: str) -> tuple[Label, Values]:
    """The values of a label that was learned, which may get new classes."""
    column, values = used[0]
    if old.kind == "combination":
        codes = [
            _part_codes(part, name, cells)
            for part, (name, cells) in zip(old.parts, used, strict=True)
        ]
        return replace(old), _making.combination_codes(old, codes)
    if old.kernel:
        return replace(old), _numbers(used)
    if old.kind == "bins":
        return replace(old), _making.bin_codes(old, _numbers(used))
    array = _typed(np.asarray(values), column)
    given = treat.get(column, "auto") if isinstance(treat, Mapping) else treat
    kind = _kind(array, column, given)
    if given == "auto":
        kind = _decided(array, column, kind, what, old)
    label = replace(old, classes=list(old.classes))
    if old.is_class != (kind != "float"):
        was = "classes" if old.is_class else "numbers"
        raise ValueError(f"{column} holds {kind}, but it held {was} before")
    _check_text(old, column, kind)
    return label, _codes(array, label) if label.is_class else _finite(array, column)


def _check_text(old: Label, column: str, kind: str) -> None:
    if old.is_class and (old.kind == "text") != (kind == "text"):
        now, was = ("text", f"{old.kind}s") if kind == "text" else (f"{kind}s", "text")
        raise ValueError(f"{column} holds {now}, but it held {was} before")


def _part_codes(part: Label, column: str, values: Any) -> NDArray[np.uint32]:
    """The classes of a column of a combination, none of which may be new."""
    array = _typed(np.asarray(values), column)
    _check_text(part, column, _kind(array, column, "class"))
    label = replace(part, classes=list(part.classes))
    codes = _codes(array, label)
    if len(label.classes) > len(part.classes):
        row = int(np.flatnonzero(codes >= len(part.classes))[0])
        raise ValueError(
            f"{column} is {label.classes[codes[row]]!r} in row {row} (counted from 0), a value that "
            "was not there in the first rows"
        )
    return codes


def _numbers(used: list[Column]) -> NDArray[np.float64]:
    """The numbers of one column, or of several side by side."""
    columns = []
    for column, values in used:
        array = _typed(np.asarray(values), column)
        _kind(array, column, "number")
        columns.append(_finite(array, column))
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def flat(label: Label, values: Values) -> Iterator[tuple[str, list[str], str | None, Values]]:
    """What attackers predict of a label: its classes, or each of its numbers.

    The name, the classes, the kernel that stands for it in a fit, and the values.
    """
    if not label.kernel:
        yield label.name, label.texts(), None, values
        return
    if values.ndim == 1:
        yield label.name, [], label.name, values
        return
    for j, column in enumerate(label.columns):
        yield column, [], label.name, np.ascontiguousarray(values[:, j], np.float64)
