"""Columns of X: which are numbers, which are categories, and what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from ._rows import Floats, category, frame, is_missing, is_sparse, is_table, object_kind

Codes = NDArray[np.uint32]

#: More categories than this are refused.
MOST_CATEGORIES = 10_000

#: Text with more values than these is no category, unless it is of a type for categories: with
#: more than the first, or with more than the second where they are most of the rows.
MANY_VALUES, FEW_VALUES = 1000, 50

#: Microseconds of a day.
DAY = 86_400_000_000

#: A category that is none of those known: all its one-hot columns are zero.
NO_CLASS = np.uint32(0xFFFFFFFF)


def _kind(series: nw.Series[Any], name: str) -> str:
    """`number`, or what the categories of a column are: `text` or `bool`."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return "bool"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if dtype.is_numeric() or dtype in (nw.Date, nw.Datetime, nw.Duration):
        return "number"
    if dtype == nw.Object:
        found = object_kind(v for v in series.to_list() if not is_missing(v))
        if found is not None:
            return "number" if found == "integer" else found
    raise ValueError(
        f"column {name!r} holds {dtype}, which is neither numbers, dates nor text; convert it or "
        "leave it out"
    )


def first_category(x: Any) -> str | None:
    """The first column of a table that does not hold numbers."""
    table = frame(x)
    return next((name for name in table.columns if _kind(table[name], name) != "number"), None)


def _cells(series: nw.Series[Any], name: str, missing_allowed: bool = False) -> list[str | None]:
    """The cells of a column of categories as text; `None` where one is missing."""
    cells = [None if is_missing(v) else category(v) for v in series.to_list()]
    if not missing_allowed and None in cells:
        raise ValueError(
            f"column {name!r} has no value in row {cells.index(None)} (counted from 0); "
            "fill it in, or leave the row out"
        )
    return cells


def _numbers(series: nw.Series[Any], name: str) -> Floats:
    """The cells of a column of numbers, dates as days since 1970; NaN where one is missing."""
    if series.dtype in (nw.Date, nw.Datetime, nw.Duration):
        return _days(series)
    try:
        values = series.to_numpy()
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"column {name!r} does not hold numbers: {problem}") from None
    return values


def _days(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Dates as days since 1970, durations as days; NaN where one is missing."""
    missing = series.is_null().to_numpy()
    if series.dtype == nw.Duration:
        micros = series.dt.total_microseconds()
    else:
        micros = series.cast(nw.Datetime("us")) if series.dtype == nw.Date else series
        micros = micros.dt.timestamp("us")
    whole = np.zeros(len(series), np.int64)
    whole[~missing] = micros.filter((~series.is_null()).to_list()).to_numpy().astype(np.int64)
    days = np.floor_divide(whole, DAY) + np.remainder(whole, DAY) / DAY
    days[missing] = np.nan
    return days


@dataclass(frozen=True)
class Categories:
    """A column of categories: its place in X, what it holds, and the categories in order."""

    place: int
    kind: str
    values: tuple[str, ...]
    #: The category that stands for missing cells, where a model fills them in.
    fill: int = 0
    #: Whether the last category stands for all values that have none of their own.
    pooled: bool = False
    #: Values that are known, but are none of the categories.
    spare: tuple[str, ...] = ()

    @classmethod
    def learn(cls, place: int, name: str, kind: str, series: nw.Series[Any]) -> Categories:
        """From the cells of a column."""
        counts = Counter(_cells(series, name))
        values = tuple(sorted(value for value in counts if value is not None))
        if len(values) > MOST_CATEGORIES:
            raise ValueError(
                f"column {name!r} has {len(values)} different values, more than "
                f"{MOST_CATEGORIES}: is it an identifier? leave it out"
            )
        return cls(place, kind, values, values.index(str(counts.most_common(1)[0][0])))


@dataclass(frozen=True)
class Columns:
    """What was learned about the columns of X: which are numbers, which are categories."""

    names: tuple[str, ...]
    numbers: tuple[int, ...]
    categories: tuple[Categories, ...] = ()
    named: bool = False
    #: Numbers that stand for missing ones, where a model fills them in.
    fills: tuple[float, ...] | None = None
    #: How the numbers of columns are written in text files, by place, where not as programs do.
    written: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def learn(cls, x: Any, leave_out: Sequence[int] = ()) -> Columns:
        """From all columns but those to be left out."""
        if not is_table(x):
            names = tuple(f"x{j}" for j in range(x.shape[1]))
            return cls(names, tuple(j for j in range(x.shape[1]) if j not in leave_out))
        table = frame(x)
        found: list[int] = []
        categories: list[Categories] = []
        identifiers: list[str] = []
        for place, name in enumerate(table.columns):
            if place in leave_out:
                continue
            series = table[name]
            kind = _kind(series, name)
            if kind == "number":
                found.append(place)
                continue
            categories.append(Categories.learn(place, name, kind, series))
            count = len(categories[-1].values)
            many = count > MANY_VALUES or (count > FEW_VALUES and 2 * count > len(series))
            if many and series.dtype in (nw.String, nw.Object):
                identifiers.append(name)
        if identifiers:
            raise ValueError(
                "nothing can be learned from text with so many different values in column"
                f"{'s' if len(identifiers) > 1 else ''} {', '.join(map(repr, identifiers))}; leave out "
                f"what is no category with X.drop(columns={identifiers!r}), or make it categorical"
            )
        return cls(tuple(table.columns), tuple(found), tuple(categories), named=True)

    @classmethod
    def unnamed(cls, count: int) -> Columns:
        """So many numbers without names."""
        return cls(tuple(f"x{j}" for j in range(count)), tuple(range(count)))

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return self.__dict__ | {
            "categories": [astuple(c) for c in self.categories],
            "written": list(self.written.items()),
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Columns:
        """The inverse of :meth:`plain`."""
        fixed: dict[str, Any] = {k: _frozen(v) for k, v in plain.items()}
        fixed["categories"] = tuple(Categories(*map(_frozen, c)) for c in fixed["categories"])
        return cls(**fixed | {"written": dict(fixed.get("written", ()))})

    @property
    def width(self) -> int:
        """Columns with every category as one."""
        return len(self.numbers) + sum(len(c.values) for c in self.categories)

    def feature_names(self) -> list[str]:
        """Their names: numbers first, then `column=category`."""
        names = [self.names[j] for j in self.numbers]
        for c in self.categories:
            names += [f"{self.names[c.place]}={value}" for value in c.values]
        return names

    def read(self, x: Any, unseen: str = "error") -> tuple[Any, list[Codes]]:
        """The numbers of X (an array, or a sparse matrix) and the codes of its categories."""
        if not is_table(x):
            return self._filled(self._read_array(x)), []
        table = frame(x)
        by_name = {name: name for name in table.columns}
        used = [*self.numbers, *(c.place for c in self.categories)]
        missing = [self.names[j] for j in used if self.names[j] not in by_name]
        if missing and not self.named and len(table.columns) == len(self.names):
            # Fitted on an array: the columns count by their places.
            by_name = dict(zip(self.names, table.columns, strict=True))
        elif missing:
            raise ValueError(f"X has no column {missing[0]!r}")
        dense = _dense(table, [by_name[self.names[j]] for j in self.numbers])
        codes = [
            self._codes(table[by_name[self.names[c.place]]], c, unseen) for c in self.categories
        ]
        return self._filled(dense), codes

    def _read_array(self, x: Any) -> Any:
        if self.categories:
            raise ValueError(
                "X is an array, but the encoder was fitted on a table with columns of text; "
                "pass a table with the columns " + ", ".join(map(repr, self.names))
            )
        if len(self.numbers) == x.shape[1]:
            return x
        if x.shape[1] != len(self.names):
            raise ValueError(f"X has {x.shape[1]} features, but {len(self.names)} are expected")
        left_out = x[:, [j for j in range(x.shape[1]) if j not in self.numbers]]
        if not np.isfinite(left_out.data if is_sparse(x) else left_out).all():
            raise ValueError(
                "X has NaN or inf in a column that is sensitive, and so no feature; leave it out "
                "of X altogether by passing sensitive_features to fit"
            )
        return x[:, list(self.numbers)]

    def _codes(self, series: nw.Series[Any], known: Categories, unseen: str) -> Codes:
        name = self.names[known.place]
        none = int(NO_CLASS)
        own = known.values[:-1] if known.pooled else known.values
        index: dict[str | None, int] = dict.fromkeys(known.spare, none)
        index |= {v: code for code, v in enumerate(own)}
        cells = _cells(series, name, missing_allowed=self.fills is not None)
        if known.pooled:
            index = {c: index.get(c, len(own)) for c in {*own, *cells} if c is not None}
        if self.fills is not None:
            index[None] = known.fill
        new = set(cells) - set(index)
        if new and unseen == "error":
            row = next(row for row, cell in enumerate(cells) if cell in new)
            raise ValueError(
                f"column {name!r} is {cells[row]!r} in row {row} (counted from 0), a value that was "
                "not there when the encoder was fitted; unseen='ignore' takes it for none of "
                "the known ones"
            )
        index |= dict.fromkeys(new, none)
        return np.fromiter(map(index.__getitem__, cells), np.uint32, len(cells))

    def read_more(self, x: Any) -> tuple[Columns, Any, list[Codes]]:
        """The same for rows that may have new categories, with the columns that have these too."""
        if not self.categories or not is_table(x):
            return self, *self.read(x)
        table = frame(x)
        grown = tuple(self._grown(table, c) for c in self.categories)
        columns = replace(self, categories=grown)
        return columns, *columns.read(x)

    def _grown(self, table: nw.DataFrame[Any], known: Categories) -> Categories:
        name = self.names[known.place]
        if name not in table.columns:
            return known
        found = table[name].unique().to_list()
        new = {category(v) for v in found if not is_missing(v)} - {*known.values, *known.spare}
        return replace(known, values=(*known.values, *sorted(new)))

    def _filled(self, dense: Any) -> Any:
        if self.fills is None or is_sparse(dense):
            return dense
        gaps = np.isnan(dense)
        if not gaps.any():
            return dense
        return np.where(gaps, np.asarray(self.fills, dense.dtype), dense)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _dense(table: nw.DataFrame[Any], wanted: list[str]) -> Floats:
    """These columns of a table as one array."""
    if not wanted:
        return np.empty((len(table), 0))
    for name in wanted:
        if _kind(table[name], name) != "number":
            raise ValueError(
                f"column {name!r} holds {table[name].dtype}, but it was fitted as a number"
            )
    if all(table[name].dtype in (nw.Float64, nw.Float32) for name in wanted):
        whole = table if wanted == list(table.columns) else table.select(wanted)
        values = whole.to_numpy()
        if values.dtype in (np.float32, np.float64):
            return values
    columns = [_numbers(table[name], name) for name in wanted]
    single = all(c.dtype == np.float32 for c in columns)
    out = np.empty((len(table), len(columns)), np.float32 if single else np.float64, order="F")
    for j, column in enumerate(columns):
        out[:, j] = column
    return out


def one_hot(dense: Floats, codes: Sequence[Codes], columns: Columns) -> Floats:
    """The numbers, then the one-hot columns of the categories."""
    if not codes:
        return dense
    hot = [np.zeros((len(dense), len(c.values)), dense.dtype) for c in columns.categories]
    for block, code in zip(hot, codes, strict=True):
        known = np.flatnonzero(code != NO_CLASS)
        block[known, code[known]] = 1
    return np.hstack([dense, *hot])
