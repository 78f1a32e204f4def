"""Fitted encoders and erasers as modules: buffers, low rank, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

#: Types in which nothing is computed: rows come in them and go out in them.
HALF = (torch.float16, torch.bfloat16)


class _Linear(nn.Module):
    """Buffers that stay in single or double precision, and rows of any leading shape."""

    def _keep(self, dtype: torch.dtype, **buffers: NDArray[Any]) -> None:
        if dtype not in (torch.float32, torch.float64):
            raise ValueError(
                f"dtype is {dtype}: expected torch.float32 or torch.float64; rows may be half "
                "precision all the same"
            )
        for name, values in buffers.items():
            tensor = torch.from_numpy(np.array(values, order="C"))
            self.register_buffer(name, tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> Any:
        # `half()` of a model would round the directions themselves, and what is erased with them.
        before = dict(self._buffers)
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        for name, buffer in before.items():
            now = self._buffers[name]
            if buffer is not None and now is not None and now.dtype in HALF:
                self._buffers[name] = buffer.to(now.device)
        return self

    def _work(self, x: Tensor, width: int, like: Tensor) -> Tensor:
        """The rows, two-dimensional, in the precision of the computation."""
        if x.shape[-1] != width:
            raise ValueError(f"the last dimension is {x.shape[-1]}, but {width} is expected")
        dtype = torch.promote_types(x.dtype, like.dtype)
        return x.to(dtype).reshape(-1, width)

    def forward(self, x: Tensor) -> Tensor:
        """Rows of the leading shape and precision of x."""
        kind = x.device.type
        if kind != "meta" and torch.is_autocast_enabled(kind):
            # It would form the thin products in half precision.
            with torch.autocast(kind, enabled=False):
                return self._rows(x)
        return self._rows(x)

    def _rows(self, x: Tensor) -> Tensor:
        raise NotImplementedError


class Erasure(_Linear):
    """Rows without what was erased: ``x - (x @ found - offset) @ taken``, two thin products.

    Made by :meth:`sarl.Eraser.to_torch`. Rows have any leading shape, such as (batch, sequence,
    hidden), any device and any precision. They keep their gradient. Buffers stay in single
    precision where a model is made half precision: half rows are computed in single precision and
    rounded once, to 2⁻¹¹ (float16) or 2⁻⁸ (bfloat16) of each value.

    Parameters
    ----------
    mean : array of shape (width,)
        What erasure keeps as it is.
    found, taken : arrays of shape (directions, width)
        What is found of each erased direction in a row, and what is taken off for it.
    dtype : torch.dtype, default=torch.float32
        Of the buffers: single or double.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sarl import Eraser
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> module = Eraser().fit(X, sensitive_features=X[:, 0] + X[:, 1] > 0).to_torch()
    >>> module(torch.zeros(2, 3, 5, dtype=torch.bfloat16)).dtype
    torch.bfloat16
    >>> list(module.state_dict())
    ['found', 'taken', 'offset']
    """

    found: Tensor
    taken: Tensor
    offset: Tensor

    def __init__(
        self,
        mean: NDArray[Any],
        found: NDArray[Any],
        taken: NDArray[Any],
        *,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        # A row is rounded relative to its values, not to their distance from the mean. So
        # the product with the rows as they are is as exact as the rows, and saves a copy of them.
        self._keep(dtype, found=found.T, taken=taken, offset=found @ mean)

    @property
    def width(self) -> int:
        """The last dimension of rows."""
        return int(self.found.shape[0])

    @property
    def directions(self) -> int:
        """How many directions are erased."""
        return int(self.found.shape[1])

    def _rows(self, x: Tensor) -> Tensor:
        rows = self._work(x, self.found.shape[0], self.found)
        found, taken = self.found.to(rows.dtype), self.taken.to(rows.dtype)
        amount = torch.addmm(self.offset.to(rows.dtype), rows, found, beta=-1)
        erased = torch.addmm(rows, amount, taken, alpha=-1)
        return erased.reshape(x.shape).to(x.dtype if x.is_floating_point() else rows.dtype)

    def extra_repr(self) -> str:
        """For `print`."""
        return f"width={self.width}, directions={self.directions}"


class Encoding(_Linear):
    """Encoded rows: ``z = x[..., places] @ weights + bias``, of any leading shape.

    Made by :meth:`sarl.SARL.to_torch`; see :class:`Erasure` for precision and gradients.

    Parameters
    ----------
    weights : array of shape (columns, dimensions)
        The weights of the columns.
    bias : array of shape (dimensions,)
        z of a row of zeros.
    places : array of ints, optional
        The columns of x that are encoded, where it has others.
    width : int, optional
        The columns of x; those of the weights without it.
    dtype : torch.dtype, default=torch.float32
        Of the buffers: single or double.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sarl import SARL
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> s, y = X[:, 0] + X[:, 1] > 0, X[:, 1] + X[:, 2] > 0
    >>> module = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s).to_torch()
    >>> module(torch.zeros(2, 3, 5)).shape
    torch.Size([2, 3, 1])
    """

    weights: Tensor
    bias: Tensor
    places: Tensor | None

    def __init__(
        self,
        weights: NDArray[Any],
        bias: NDArray[Any],
        *,
        places: NDArray[np.int64] | None = None,
        width: int | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self._keep(dtype, weights=weights, bias=bias)
        self.width = len(weights) if width is None else width
        self.register_buffer("places", None if places is None else torch.from_numpy(places))

    def _rows(self, x: Tensor) -> Tensor:
        rows = self._work(x, self.width, self.weights)
        if self.places is not None:
            rows = rows.index_select(1, self.places)
        z = torch.addmm(self.bias.to(rows.dtype), rows, self.weights.to(rows.dtype))
        z = z.reshape(*x.shape[:-1], self.weights.shape[1])
        return z.to(x.dtype) if x.is_floating_point() else z

    def extra_repr(self) -> str:
        """For `print`."""
        return f"width={self.width}, dimensions={self.weights.shape[1]}"


def module_of(estimator: Any, dtype: torch.dtype | None, device: Any) -> Erasure | Encoding:
    """The module of a fitted estimator."""
    dtype = torch.float32 if dtype is None else dtype
    solved = estimator._fitted()
    name = type(estimator).__name__
    if solved.model.cells is not None or not solved.model.is_linear:
        why = "z is constant in each cell" if solved.model.cells is not None else "it has a kernel"
        raise ValueError(f"{name} is not linear ({why}): use to_onnx, or transform of tensors")
    if estimator._erases:
        mean, found, taken = estimator._erasure()
        return Erasure(mean, found, taken, dtype=dtype).to(device=device)
    columns = solved.columns
    if columns.categories:
        raise ValueError(f"this {name} encodes columns of text: to_torch needs numbers only")
    bias = solved.model.encode(np.zeros((1, len(columns.numbers))), [], None)[0]
    some = len(columns.numbers) != len(columns.names)
    places = np.asarray(columns.numbers, np.int64) if some else None
    width = len(columns.names)
    module = Encoding(solved.model.weights(), bias, places=places, width=width, dtype=dtype)
    return module.to(device=device)
