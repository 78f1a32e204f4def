"""Rows: arrays and tables of any library as the arrays that the core reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ._placed import Placed, flattened, here, host, on_gpu

Floats = NDArray[np.float64] | NDArray[np.float32]

#: Values that are copied at a time, where an array must be copied.
COPIED = 1 << 23


def is_sparse(x: Any) -> bool:
    """Whether this is a sparse matrix or array of SciPy's."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor of PyTorch's."""
    return type(x).__module__.partition(".")[0] == "torch" and hasattr(x, "detach")


def from_tensor(x: Any) -> NDArray[Any]:
    """The array of a tensor, without a copy where it is on the CPU and NumPy has its type."""
    x = x.detach()
    if on_gpu(x):
        return host(x)
    if x.device.type != "cpu":
        raise ValueError(f"the tensor is on {x.device}: move it to the CPU with .cpu()")
    if str(x.dtype) in ("torch.float16", "torch.bfloat16"):
        x = x.float()
    return np.asarray(x.numpy())


def flat(batch: Any, names: tuple[str, ...]) -> tuple[Any, Any, Any, Any]:
    """X, y, sensitive_features and sample_weight of a batch, with one leading dimension."""
    keywords = ("X", "y", "sensitive_features", "sample_weight")
    if isinstance(batch, Mapping):
        unknown = [name for name in batch if name not in keywords]
        if unknown or "X" not in batch:
            raise ValueError(f"a batch has the keys {list(batch)}: expected some of {keywords}")
        given = dict(batch)
    elif isinstance(batch, (tuple, list)) and len(batch) == len(names):
        given = dict(zip(names, batch, strict=True))
    else:
        raise ValueError(f"a batch is not a mapping, nor ({', '.join(names)})")
    x = given.pop("X")
    given = {
        k: from_tensor(v.detach().cpu()) if is_tensor(v) else here(v) for k, v in given.items()
    }
    # Rows on a GPU stay there.
    given["X"] = x = from_tensor(x.detach().cpu()) if is_tensor(x) and not on_gpu(x) else x
    if (isinstance(x, np.ndarray) or on_gpu(x)) and len(x.shape) > 2:
        lead = x.shape[:-1]
        for name, values in given.items():
            if values is None or values is x:
                continue
            if np.shape(values)[: len(lead)] != tuple(lead):
                raise ValueError(
                    f"{name} has shape {np.shape(values)}, but X has positions {lead}: expected a "
                    "value for each of them"
                )
            rest = np.shape(values)[len(lead) :]
            given[name] = np.asarray(values).reshape(-1, *rest)
        given["X"] = flattened(x)
    x, y, s, w = (given.get(name) for name in keywords)
    return x, y, s, w


def is_table(x: Any) -> bool:
    """Whether this is a table with named columns."""
    if isinstance(x, (np.ndarray, Placed)) or is_sparse(x) or is_tensor(x):
        return False
    return nw.dependencies.is_into_dataframe(x) or (
        hasattr(x, "__arrow_c_stream__") and not nw.dependencies.is_into_series(x)
    )


def frame(x: Any) -> nw.DataFrame[Any]:
    """A table of any library, by its own type or by the Arrow PyCapsule interface."""
    if nw.dependencies.is_into_dataframe(x):
        if nw.dependencies.is_pandas_dataframe(x):
            names = [str(c) for c in x.columns]
            if any(not isinstance(c, str) for c in x.columns):
                x = x.set_axis(names, axis=1)
            twice = next((n for n in names if names.count(n) > 1), None)
            if twice is not None:
                raise ValueError(f"the column {twice!r} comes twice in the table")
        return nw.from_native(x, eager_only=True)
    for backend in ("pyarrow", "polars"):
        try:
            return nw.from_arrow(x, backend=backend)
        except ImportError:
            continue
    raise ImportError("reading a table through Arrow needs pyarrow or polars")


def native(x: Any) -> Any:
    """A tensor as an array; a table that only has Arrow's interface as one that can be read twice."""
    if is_tensor(x):
        return from_tensor(x)
    if on_gpu(x) and not nw.dependencies.is_into_dataframe(x):
        return host(x)
    if type(x).__name__ == "LazyFrame":
        raise ValueError("the table is lazy: pass .collect() of it")
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        return np.from_dlpack(x)
    if is_table(x) and not nw.dependencies.is_into_dataframe(x):
        return frame(x).to_native()
    return x


def parts(dense: Any, which: NDArray[np.intp] | None = None) -> Iterator[tuple[Any, Floats]]:
    """The rows as contiguous arrays: all at once where they are contiguous, or some at a time.

    Of all rows, or of those at some places. With each array come the places of its rows.
    """
    n, width = dense.shape
    sparse = is_sparse(dense)
    if which is not None:
        step = max(1, COPIED // max(1, width))
        for start in range(0, len(which), step):
            at = which[start : start + step]
            yield at, (dense[at].toarray() if sparse else np.ascontiguousarray(dense[at]))
        return
    if not sparse and (dense.flags.c_contiguous or dense.flags.f_contiguous):
        yield slice(0, n), dense
        return
    step = max(1, COPIED // max(1, width))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        yield rows, (dense[rows].toarray() if sparse else np.ascontiguousarray(dense[rows]))


def array(x: Any) -> Any:
    """Rows as an array, a sparse matrix or a table."""
    return from_tensor(x) if is_tensor(x) else (x if is_table(x) or is_sparse(x) else np.asarray(x))


def matrix(x: Any) -> NDArray[Any]:
    """Rows of numbers as a contiguous array of floats."""
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


_TYPES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("text", (str, bytes)),
    ("bool", (bool, np.bool_)),
    ("integer", (int, np.integer)),
    ("number", (int, float, np.number)),
)


def object_kind(values: Iterable[Any]) -> str | None:
    """What Python objects are: `text`, `bool`, `integer` or `number`; None where they differ."""
    types = set(map(type, values))
    kinds = (kind for kind, known in _TYPES if all(issubclass(t, known) for t in types))
    return next(kinds, None)


def is_missing(value: Any) -> bool:
    """Whether this is None, NaN or the NA of pandas, which cannot be compared."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def category(value: Any) -> str:
    """A category as the model file writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)
