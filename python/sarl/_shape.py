"""Results of the type of the input."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import check_array

from ._placed import like, on_gpu
from ._rows import frame, is_table, is_tensor, native
from ._solved import Solved

#: Columns of X, and the derivatives of z by them.
Slopes = tuple[list[int], NDArray[np.float64]]


def is_configured(estimator: Any) -> bool:
    """Whether scikit-learn converts results, after `set_output`."""
    configured = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    return bool((configured or get_config()["transform_output"]) != "default")


def follow(
    estimator: Any,
    x: Any,
    z: NDArray[Any],
    names: list[str] | None = None,
    slopes: Callable[[], Slopes | None] = lambda: None,
) -> Any:
    """z as what x is: a tensor, a table of the same library, or an array.

    After `set_output` it is an array, which scikit-learn converts. `slopes` are for gradients.
    """
    if is_configured(estimator):
        return z
    if is_tensor(x):
        return _tensor(x, z, slopes)
    if on_gpu(x):
        return like(x, z)
    if not is_table(x):
        return z
    if names is None:
        names = [str(name) for name in estimator.get_feature_names_out()]
    return table_like(x, {name: z[:, j] for j, name in enumerate(names)}, len(z))


def _tensor(x: Any, z: NDArray[Any], slopes: Callable[[], Slopes | None]) -> Any:
    import torch

    out = torch.from_numpy(z)
    out = out.to(x.device, x.dtype if x.is_floating_point() else None)
    if not (x.requires_grad and torch.is_grad_enabled()):
        return out
    linear = slopes()
    if linear is None:
        warnings.warn(
            "the result has no gradient: gradients are kept by linear encodings only", stacklevel=5
        )
        return out
    # Adds zero, which has the gradient of the encoder.
    places, weights = linear
    return out + (x - x.detach())[:, places] @ torch.from_numpy(weights).to(x)


def table_like(x: Any, columns: dict[str, Any], rows: int) -> Any:
    """A table of the library of x, with its index if it has one."""
    like = frame(x)
    if like.implementation.is_pandas_like():
        native = nw.to_native(like)
        return type(native)(columns, index=native.index)
    columns = {
        n: np.ascontiguousarray(v) if isinstance(v, np.ndarray) else v for n, v in columns.items()
    }
    return nw.from_dict(columns, backend=like.implementation).to_native()


def decoded(estimator: Any, solved: Solved, Z: Any) -> Any:
    """The best linear reconstruction of the features, of the type of Z."""
    z = check_array(
        Z if is_table(Z) else native(Z), dtype=[np.float64, np.float32], ensure_min_features=0
    )
    if z.shape[1] != solved.model.dim:
        raise ValueError(
            f"Z has {z.shape[1]} columns, but the encoder has {solved.model.dim} dimensions"
        )
    x = solved.model.decode(np.ascontiguousarray(z))
    columns = solved.columns
    if not columns.categories:
        x = x.astype(z.dtype, copy=False)
        return follow(estimator, Z, x, [columns.names[j] for j in columns.numbers])
    found: dict[int, Any] = {place: x[:, j] for j, place in enumerate(columns.numbers)}
    at = len(columns.numbers)
    for c in columns.categories:
        best = np.argmax(x[:, at : at + len(c.values)], axis=1)
        found[c.place] = np.asarray(c.values, object)[best]
        at += len(c.values)
    named = {columns.names[j]: found[j] for j in sorted(found)}
    if is_table(Z):
        return table_like(Z, named, len(z))
    import pandas as pd

    return pd.DataFrame(named)
