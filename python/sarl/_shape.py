"""Results of the type of what came in."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from ._rows import frame, is_table, is_tensor


def follow(estimator: Any, x: Any, z: NDArray[Any], names: list[str] | None = None) -> Any:
    """z as what x is: a tensor, a table of the same library, or an array.

    What `set_output` was told goes before: scikit-learn makes that of an array.
    """
    configured = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    if (configured or get_config()["transform_output"]) != "default":
        return z
    if is_tensor(x):
        import torch

        return torch.from_numpy(z)
    if not is_table(x):
        return z
    if names is None:
        names = [str(name) for name in estimator.get_feature_names_out()]
    return table_like(x, {name: z[:, j] for j, name in enumerate(names)}, len(z))


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
