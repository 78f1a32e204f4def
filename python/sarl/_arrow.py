"""Columns of Arrow batches as numbers, codes and labels, whole columns at a time.

Lists of numbers are wide features: the rows of a matrix, read where they lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from . import _core, _forms, _labels
from ._columns import MOST_CATEGORIES, Categories, Codes, Columns, _days
from ._label import Label, Values
from ._labels import MOST_WHOLE_CLASSES
from ._rows import Floats, category


def is_text(kind: pa.DataType) -> bool:
    of = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of)
    )


def is_list(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind))


def _is_number(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(t.is_floating(kind) or t.is_integer(kind) or t.is_decimal(kind))


def column(batch: pa.RecordBatch, name: str, what: str) -> pa.Array:
    """A column without gaps."""
    place = batch.schema.get_field_index(name)
    if place < 0:
        there = ", ".join(map(repr, batch.schema.names))
        raise ValueError(f"{what}: there is no column {name!r}; the columns are {there}")
    found = batch.column(place)
    if isinstance(found, pa.ExtensionArray):
        found = found.storage
    if pa.types.is_dictionary(found.type) and not is_text(found.type):
        found = found.dictionary_decode()
    if found.null_count:
        raise ValueError(
            f"column {name!r} has no value in {found.null_count} of {len(found)} rows that came "
            "together; fill them in, or leave the rows out"
        )
    return found


def floats(found: pa.Array, name: str) -> Floats:
    """Numbers, whole or not, as floats."""
    kind = found.type
    if pa.types.is_temporal(kind):
        return _days(nw.from_native(pa.chunked_array([found]), series_only=True))
    if not _is_number(kind):
        raise ValueError(f"column {name!r} holds {kind}: expected numbers")
    if pa.types.is_decimal(kind):
        found = found.cast(pa.float64())
    elif pa.types.is_float16(kind):
        found = found.cast(pa.float32())
    values = aligned(found)
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def aligned(found: pa.Array) -> NDArray[Any]:
    """The values of a column, copied where they came over a wire that does not align them."""
    values: NDArray[Any] = found.to_numpy(zero_copy_only=False)
    return values if values.flags.aligned else values.copy()


def wide(found: pa.Array, name: str) -> Floats:
    """Lists of one length as rows of a matrix, without a copy where they are floats."""
    flat = found.flatten()
    if flat.null_count:
        raise ValueError(f"column {name!r} has lists with {flat.null_count} missing values")
    if pa.types.is_fixed_size_list(found.type):
        width = found.type.list_size
    else:
        ends = found.offsets.to_numpy()
        width = int(ends[1] - ends[0])
        lengths = np.diff(ends)
        if (lengths != width).any():
            other = int(lengths[lengths != width][0])
            raise ValueError(
                f"column {name!r} has lists of {width} and of {other} values: expected one length"
            )
    if not width:
        raise ValueError(f"column {name!r} has empty lists")
    return floats(flat, name).reshape(len(found), width)


class Block:
    """The features of a batch: numbers, single or wide, and categories."""

    def __init__(self, batch: pa.RecordBatch, names: Sequence[str]) -> None:
        self.rows = batch.num_rows
        self.numbers: list[Floats] = []
        #: Of each column of categories: its place, its name, what it holds, and itself.
        self.coded: list[tuple[int, str, str, pa.Array]] = []
        self.names: list[str] = []
        self.places: list[int] = []
        #: One list is an array of features, which have no names of their own.
        self.named = True
        for name in names:
            self._read(column(batch, name, "features"), name, alone=len(names) == 1)

    def _read(self, found: pa.Array, name: str, *, alone: bool) -> None:
        at = len(self.names)
        if is_text(found.type) or pa.types.is_boolean(found.type):
            kind = "text" if is_text(found.type) else "bool"
            self.coded.append((at, name, kind, found))
            self.names.append(name)
        elif is_list(found.type):
            values = wide(found, name)
            width = values.shape[1]
            self.named = not alone
            self.names += [f"x{j}" if alone else f"{name}_{j}" for j in range(width)]
            self.places += range(at, at + width)
            self.numbers.append(values)
        else:
            self.names.append(name)
            self.places.append(at)
            self.numbers.append(floats(found, name))

    def dense(self) -> Floats:
        """The numbers side by side."""
        if not self.numbers:
            return np.empty((self.rows, 0))
        if len(self.numbers) == 1:
            only = self.numbers[0]
            return only if only.ndim == 2 else only[:, None]
        return _core.side_by_side(self.numbers, self.rows)

    def columns(self, known: Columns | None) -> Columns:
        """What the columns are; those known may get new categories."""
        bare = tuple(Categories(at, kind, ()) for at, _, kind, _ in self.coded)
        new = Columns(tuple(self.names), tuple(self.places), bare, named=self.named)
        if known is None:
            return new
        kinds = [(c.place, c.kind) for c in known.categories]
        same = (known.names, known.numbers) == (new.names, new.numbers)
        if not same or kinds != [(c.place, c.kind) for c in bare]:
            raise ValueError(
                f"these rows have {len(new.names)} features of other names or types than the "
                f"{len(known.names)} before"
            )
        return known


def features(
    batch: pa.RecordBatch, names: Sequence[str], known: Columns | None, *, unseen: str = "add"
) -> tuple[Columns, Floats, list[Codes]]:
    """The columns, with new categories where these may be added, the numbers, and the codes."""
    block = Block(batch, names)
    columns = block.columns(known)
    categories, codes = [], []
    for before, (_, name, _, found) in zip(columns.categories, block.coded, strict=True):
        after, of = _codes(found, name, before, unseen)
        categories.append(after)
        codes.append(of)
    return replace(columns, categories=tuple(categories)), block.dense(), codes


def known(batch: pa.RecordBatch, names: Sequence[str], before: Columns | None) -> Columns:
    """What the columns are, with the categories of these rows too."""
    block = Block(batch, names)
    columns = block.columns(before)
    grown = [
        _codes(found, name, of, "add")[0]
        for of, (_, name, _, found) in zip(columns.categories, block.coded, strict=True)
    ]
    return replace(columns, categories=tuple(grown))


def encoded(found: pa.Array) -> tuple[list[Any], NDArray[np.intp]]:
    """The different values of a column, and the place of each row's among them."""
    coded = found if pa.types.is_dictionary(found.type) else found.dictionary_encode()
    places = coded.indices.to_numpy(zero_copy_only=False).astype(np.intp, copy=False)
    used, compact = np.unique(places, return_inverse=True)
    values = coded.dictionary.to_pylist()
    if len(used) == len(values):
        return values, places
    return [values[k] for k in used], compact


def _codes(
    found: pa.Array, name: str, known: Categories, unseen: str
) -> tuple[Categories, NDArray[np.uint32]]:
    values, places = encoded(found)
    texts = [category(value) for value in values]
    index = {text: code for code, text in enumerate(known.values)}
    new = sorted({text for text in texts if text not in index} - set(known.spare))
    if new and unseen == "error":
        raise ValueError(
            f"column {name!r} is {new[0]!r} in a row, a value that was not there when the encoder "
            "was fitted"
        )
    none = 0xFFFFFFFF
    if unseen == "add":
        index |= {text: len(known.values) + k for k, text in enumerate(new)}
        known = replace(known, values=(*known.values, *new))
        if len(known.values) > MOST_CATEGORIES:
            raise ValueError(
                f"column {name!r} has more than {MOST_CATEGORIES} different values: is it an "
                "identifier? leave it out"
            )
    table = np.array([index.get(text, none) for text in texts], np.uint32)
    return known, table[places] if len(table) else np.empty(0, np.uint32)


def weights(batch: pa.RecordBatch, name: str | None) -> NDArray[np.float64] | None:
    """The weights of the rows."""
    if name is None:
        return None
    found = floats(column(batch, name, "weight"), name)
    return np.ascontiguousarray(found, np.float64)


def keys(batch: pa.RecordBatch, name: str) -> NDArray[np.uint64]:
    """What decides on the folds and parts of rows, by their ids."""
    found = column(batch, name, "row_id")
    values, places = encoded(found)
    return _core.text_keys([category(value) for value in values])[places]


def labels(
    batch: pa.RecordBatch,
    names: Sequence[str],
    treat: _forms.Treats,
    known: list[Label] | None,
    weighted: NDArray[np.float64] | None,
    *,
    target: bool,
) -> tuple[list[Label], list[Values]]:
    """The labels in these columns; known ones may get new classes."""
    side = "target" if target else "sensitive"
    found = [column(batch, name, side) for name in names]
    forms = _forms.read(treat, list(names), f"{side}_type")
    plain = all(len(f.places) == 1 and f.treat in ("auto", "class", "number") for f in forms)
    if not plain:
        table = pa.table(dict(zip(names, found, strict=True)))
        return _labels.read(table, side, target, treat, known, weighted)
    read: list[Label] = []
    values: list[Values] = []
    for place, (form, name) in enumerate(zip(forms, names, strict=True)):
        before = None if known is None else [known[place]]
        (label,), (of,) = _label(found[place], name, form.treat, before, target)
        label.columns = {name: place}
        read.append(label)
        values.append(of)
    return read, values


def _label(
    found: pa.Array, name: str, treat: str, known: list[Label] | None, target: bool
) -> tuple[list[Label], list[Values]]:
    """The label of one column; texts are looked at once for each of them."""
    kind = found.type
    places = None
    if is_text(kind):
        values, places = encoded(found)
        array: Any = np.array(values, object)
    elif pa.types.is_decimal(kind):
        array = floats(found, name)
    else:
        array = aligned(found)
    undecided = treat == "auto" and pa.types.is_integer(kind)
    of = _labels.read(array, name, target, "class" if undecided else treat, known)
    label = of[0][0]
    if undecided and len(label.classes) > MOST_WHOLE_CLASSES:
        what = "target_type" if target else "sensitive_type"
        raise ValueError(
            f"{name} has more than {MOST_WHOLE_CLASSES} different whole numbers; pass "
            f"{what}='number', or {what}='class' if they are classes"
        )
    return of if places is None else (of[0], [of[1][0][places]])
