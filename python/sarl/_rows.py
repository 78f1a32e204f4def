"""Rows: arrays and tables of any library as the arrays that the core reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

Floats = NDArray[np.float64] | NDArray[np.float32]
Codes = NDArray[np.uint32]

#: Rows of an array that must be copied to be read: enough to be fast, few enough to be small.
COPIED = 1 << 23

#: More categories than this are taken for a mistake.
MOST_CATEGORIES = 10_000

#: Text with more values than these is no category, unless it is of a type for categories: with
#: more than the first, or with more than the second where they are most of the rows.
MANY_VALUES, FEW_VALUES = 1000, 50

#: Microseconds of a day.
DAY = 86_400_000_000

#: A category that is none of those known: all its one-hot columns are zero.
NO_CLASS = np.uint32(0xFFFFFFFF)


def is_sparse(x: Any) -> bool:
    """Whether this is a sparse matrix or array of SciPy's."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor of PyTorch's."""
    return type(x).__module__.partition(".")[0] == "torch" and hasattr(x, "detach")


def from_tensor(x: Any) -> NDArray[Any]:
    """The array of a tensor, without a copy where its memory is the CPU's."""
    x = x.detach()
    if x.device.type != "cpu":
        raise ValueError(f"the tensor is on {x.device}: move it to the CPU with .cpu()")
    if str(x.dtype) in ("torch.float16", "torch.bfloat16"):
        x = x.float()
    return np.asarray(x.numpy())


def is_table(x: Any) -> bool:
    """Whether this is a table with named columns."""
    if isinstance(x, np.ndarray) or is_sparse(x) or is_tensor(x):
        return False
    return nw.dependencies.is_into_dataframe(x) or (
        hasattr(x, "__arrow_c_stream__") and not nw.dependencies.is_into_series(x)
    )


def frame(x: Any) -> nw.DataFrame[Any]:
    """A table of any library, through its own type or through the Arrow PyCapsule interface."""
    if nw.dependencies.is_into_dataframe(x):
        if nw.dependencies.is_pandas_dataframe(x) and not all(
            isinstance(c, str) for c in x.columns
        ):
            x = x.set_axis([str(c) for c in x.columns], axis=1)
        names = list(x.columns) if nw.dependencies.is_pandas_dataframe(x) else []
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise ValueError(f"the column {twice!r} comes twice in the table")
        return nw.from_native(x, eager_only=True)
    for backend in ("pyarrow", "polars"):
        try:
            return nw.from_arrow(x, backend=backend)
        except ImportError:
            continue
    raise ImportError("reading a table through Arrow needs pyarrow or polars")


def native(x: Any) -> Any:
    """A tensor as an array, and a table that only shows Arrow, perhaps only once, as one that stays."""
    if is_tensor(x):
        return from_tensor(x)
    if is_table(x) and not nw.dependencies.is_into_dataframe(x):
        return frame(x).to_native()
    return x


def _is_category(dtype: Any) -> bool:
    return dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean)


def _kind(series: nw.Series[Any], name: str) -> str:
    """`number`, or what the categories of a column are: `text` or `bool`."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return "bool"
    if _is_category(dtype):
        return "text"
    if dtype.is_numeric() or dtype in (nw.Date, nw.Datetime, nw.Duration):
        return "number"
    if dtype == nw.Object:
        kinds = {type(v) for v in series.to_list() if v is not None and v == v}
        if kinds and kinds <= {str}:
            return "text"
        if kinds <= {bool, np.bool_}:
            return "bool"
        if all(issubclass(k, (int, float, np.number)) for k in kinds):
            return "number"
    raise ValueError(
        f"column {name!r} holds {dtype}, which is neither numbers, dates nor text; convert it or "
        "leave it out"
    )


def first_category(x: Any) -> str | None:
    """The first column of a table that does not hold numbers."""
    table = frame(x)
    return next((name for name in table.columns if _kind(table[name], name) != "number"), None)


def texts(series: nw.Series[Any]) -> list[str | None]:
    """The cells of a column of categories as text; `None` where one is missing."""
    values = series.to_list()
    if series.dtype == nw.Boolean:
        return [None if v is None or v != v else ("true" if v else "false") for v in values]
    return [None if v is None or v != v else category(v) for v in values]


def category(value: Any) -> str:
    """A category as the model file writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def numbers(series: nw.Series[Any], name: str) -> Floats:
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


def _is_identifier(values: int, rows: int) -> bool:
    """Whether text is more likely an identifier or free text than a category."""
    return values > MANY_VALUES or (values > FEW_VALUES and 2 * values > rows)


@dataclass(frozen=True)
class Categories:
    """A column of categories: its place in X, what it holds, and the categories in order."""

    place: int
    kind: str
    values: tuple[str, ...]
    fill: int = 0
    #: Whether the last category stands for all values that have none of their own.
    pooled: bool = False
    #: Values that are known, but are none of the categories.
    spare: tuple[str, ...] = ()

    @classmethod
    def from_plain(
        cls,
        place: int,
        kind: str,
        values: Sequence[str],
        fill: int,
        pooled: bool = False,
        spare: Sequence[str] = (),
    ) -> Categories:
        """From what JSON said."""
        return cls(place, kind, tuple(values), fill, pooled, tuple(spare))


@dataclass(frozen=True)
class Columns:
    """What was learned about the columns of X: which are numbers, which are categories."""

    names: tuple[str, ...]
    numbers: tuple[int, ...]
    categories: tuple[Categories, ...] = ()
    named: bool = False
    #: Numbers that stand for missing ones, where a model fills them in.
    fills: tuple[float, ...] | None = field(default=None)
    #: How the numbers of columns are written in text files, by place, where not as programs do.
    written: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def learn(cls, x: Any, leave_out: Sequence[int] = ()) -> Columns:
        """Looks at all columns but those to be left out."""
        if not is_table(x):
            width = x.shape[1]
            names = tuple(f"x{j}" for j in range(width))
            return cls(names, tuple(j for j in range(width) if j not in leave_out))
        table = frame(x)
        names = tuple(table.columns)
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
            cells = texts(series)
            if None in cells:
                row = cells.index(None)
                raise ValueError(
                    f"column {name!r} has no value in row {row} (counted from 0); "
                    "fill it in, or leave the row out"
                )
            values = tuple(sorted({cell for cell in cells if cell is not None}))
            if len(values) > MOST_CATEGORIES:
                raise ValueError(
                    f"column {name!r} has {len(values)} different values, more than "
                    f"{MOST_CATEGORIES}: is it an identifier? leave it out"
                )
            text = series.dtype in (nw.String, nw.Object)
            if text and _is_identifier(len(values), len(cells)):
                identifiers.append(name)
            most = Counter(cells).most_common(1)[0][0]
            categories.append(Categories(place, kind, values, values.index(str(most))))
        if identifiers:
            raise ValueError(
                "nothing can be learned from text with so many different values in column"
                f"{'s' if len(identifiers) > 1 else ''} {', '.join(map(repr, identifiers))}; leave out "
                f"what is no category with X.drop(columns={identifiers!r}), or make it categorical"
            )
        return cls(names, tuple(found), tuple(categories), named=True)

    def plain(self) -> dict[str, Any]:
        """As JSON can say it."""
        categories = [
            (c.place, c.kind, c.values, c.fill, c.pooled, c.spare) for c in self.categories
        ]
        return {
            "names": self.names,
            "numbers": self.numbers,
            "categories": categories,
            "named": self.named,
            "fills": self.fills,
            "written": list(self.written.items()),
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Columns:
        """The inverse of :meth:`plain`."""
        fills = plain["fills"]
        return cls(
            tuple(plain["names"]),
            tuple(plain["numbers"]),
            tuple(Categories.from_plain(*c) for c in plain["categories"]),
            plain["named"],
            None if fills is None else tuple(fills),
            dict(plain.get("written", ())),
        )

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
            if self.categories:
                raise ValueError(
                    "X is an array, but the encoder was fitted on a table with columns of text; "
                    "pass a table with the columns " + ", ".join(map(repr, self.names))
                )
            if len(self.numbers) == x.shape[1]:
                return self._filled(x), []
            if x.shape[1] != len(self.names):
                raise ValueError(f"X has {x.shape[1]} features, but {len(self.names)} are expected")
            left_out = x[:, [j for j in range(x.shape[1]) if j not in self.numbers]]
            if not np.isfinite(left_out.data if is_sparse(x) else left_out).all():
                raise ValueError(
                    "X has NaN or inf in a column that is sensitive, and so no feature; leave it out "
                    "of X altogether by passing sensitive_features to fit"
                )
            return self._filled(x[:, list(self.numbers)]), []
        table = frame(x)
        by_name = {name: name for name in table.columns}
        missing = [self.names[j] for j in self._used() if self.names[j] not in by_name]
        if missing and not self.named and len(table.columns) == len(self.names):
            # Fitted on an array: the columns count by their places.
            by_name = dict(zip(self.names, table.columns, strict=True))
        elif missing:
            raise ValueError(f"X has no column {missing[0]!r}")
        wanted = [by_name[self.names[j]] for j in self.numbers]
        dense = self._dense(table, wanted)
        codes = [
            self._codes(table[by_name[self.names[c.place]]], c, unseen) for c in self.categories
        ]
        return self._filled(dense), codes

    def _used(self) -> Iterator[int]:
        yield from self.numbers
        yield from (c.place for c in self.categories)

    def _dense(self, table: nw.DataFrame[Any], wanted: list[Any]) -> Floats:
        if not wanted:
            return np.empty((len(table), 0))
        for name in wanted:
            if _kind(table[name], name) != "number":
                raise ValueError(
                    f"column {name!r} holds {table[name].dtype}, but it was fitted as a number"
                )
        if all(table[name].dtype in (nw.Float64, nw.Float32) for name in wanted):
            whole = table if list(wanted) == list(table.columns) else table.select(wanted)
            values = whole.to_numpy()
            if values.dtype in (np.float32, np.float64):
                return values
        columns = [numbers(table[name], name) for name in wanted]
        single = all(c.dtype == np.float32 for c in columns)
        out = np.empty((len(table), len(columns)), np.float32 if single else np.float64, order="F")
        for j, column in enumerate(columns):
            out[:, j] = column
        return out

    def _codes(self, series: nw.Series[Any], known: Categories, unseen: str) -> Codes:
        name = self.names[known.place]
        none = int(NO_CLASS)
        own = known.values[:-1] if known.pooled else known.values
        index: dict[str | None, int] = dict.fromkeys(known.spare, none)
        index |= {v: code for code, v in enumerate(own)}
        cells = texts(series)
        if known.pooled:
            index = {c: index.get(c, len(own)) for c in {*own, *cells} if c is not None}
        if self.fills is not None:
            index[None] = known.fill
        try:
            return np.fromiter(map(index.__getitem__, cells), np.uint32, len(cells))
        except KeyError:
            pass
        for row, cell in enumerate(cells):
            if cell is None and None not in index:
                raise ValueError(
                    f"column {name!r} has no value in row {row} (counted from 0); "
                    "fill it in, or leave the row out"
                )
            if cell not in index and unseen == "error":
                raise ValueError(
                    f"column {name!r} is {cell!r} in row {row} (counted from 0), a value that was "
                    "not there when the encoder was fitted; unseen='ignore' takes it for none of "
                    "the known ones"
                )
        return np.fromiter((index.get(c, none) for c in cells), np.uint32, len(cells))

    def _filled(self, dense: Any) -> Any:
        if self.fills is None or is_sparse(dense):
            return dense
        gaps = np.isnan(dense)
        if not gaps.any():
            return dense
        return np.where(gaps, np.asarray(self.fills, dense.dtype), dense)


def parts(dense: Any) -> Iterator[tuple[slice, Floats]]:
    """The rows in arrays that lie in one piece: all at once where they do, few where they do not."""
    n, width = dense.shape
    sparse = is_sparse(dense)
    if not sparse and (dense.flags.c_contiguous or dense.flags.f_contiguous):
        yield slice(0, n), dense
        return
    step = max(1, COPIED // max(1, width))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        yield rows, (dense[rows].toarray() if sparse else np.ascontiguousarray(dense[rows]))


def one_hot(dense: Floats, codes: Sequence[Codes], columns: Columns) -> Floats:
    """The numbers with the one-hot columns of the categories behind them."""
    if not codes:
        return dense
    hot = [np.zeros((len(dense), len(c.values)), dense.dtype) for c in columns.categories]
    for block, code in zip(hot, codes, strict=True):
        known = np.flatnonzero(code != NO_CLASS)
        block[known, code[known]] = 1
    return np.hstack([dense, *hot])


def array(x: Any) -> Any:
    """Rows as an array, a sparse matrix or a table."""
    return from_tensor(x) if is_tensor(x) else (x if is_table(x) or is_sparse(x) else np.asarray(x))


def matrix(x: Any) -> NDArray[Any]:
    """Rows of numbers as an array of reals, in one piece."""
    x = array(x)
    if is_table(x):
        x = frame(x).to_numpy()
    x = x.toarray() if is_sparse(x) else np.asarray(x)
    if x.ndim == 1:
        x = x[:, None]
    return np.ascontiguousarray(x, x.dtype if x.dtype in (np.float32, np.float64) else np.float64)


def length(x: Any) -> int:
    """The number of rows."""
    return int(x.shape[0]) if hasattr(x, "shape") else len(x)


def take(x: Any, which: NDArray[np.intp]) -> Any:
    """Some of the rows."""
    if x is None:
        return None
    return x[which] if is_tensor(x) or is_sparse(x) else _safe_indexing(x, which)
