"""Encoders beyond `transform`: back to features, and as models of ONNX and PyTorch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _files
from ._shape import decoded

if TYPE_CHECKING:
    from ._encoder import Encoder


def inverse_transform(self: Encoder, Z: Any) -> Any:
    """The best linear reconstruction of the features from z.

    Parameters
    ----------
    Z : array, tensor or table of shape (n_rows, n_components)
        Encoded rows.

    Returns
    -------
    array, tensor or table of shape (n_rows, n_features)
        In the units of X. Of a column of categories it is the most likely one, so that the
        result is a table: of the library of Z, or of pandas where Z is an array. Columns that
        were left out because they are sensitive stay out.
    """
    return decoded(self, self._fitted(), Z)


def to_onnx(self: Encoder, path: str | os.PathLike[str], *, double: bool = False) -> None:
    """Write the encoder as an ONNX model: whole, or not at all.

    An encoder of arrays has one input, ``X``, one of tables an input for each column, numbers
    or text, of shape (rows, 1). The output is ``z``. That of an eraser is ``X_erased``, of the
    shape of ``X``. An encoder with cells has a second output, ``cell``.

    Parameters
    ----------
    path : path
        Where to.
    double : bool, default=False
        Whether inputs and outputs are double precision; all is computed in it anyway.
    """
    _files.to_onnx(self._fitted(), path, double=double, erase=self._erases)


def to_torch(self: Encoder, *, dtype: Any = None, device: Any = None) -> Any:
    """The encoder as a module of PyTorch, for rows of any leading shape; needs ``sarl[torch]``.

    It has buffers, which move with the model that it is part of, and keeps gradients. It works
    under `torch.compile` and `torch.export`. Half rows are computed in single precision.

    Parameters
    ----------
    dtype : torch.dtype, optional
        Of the buffers: single precision, or double.
    device : torch.device or str, optional
        Where they are.

    Returns
    -------
    sarl.torch.Encoding or sarl.torch.Erasure
        The module. Kernels, cells and columns of text have none: they raise ``ValueError``.
    """
    from .torch import module_of

    return module_of(self, dtype, device)
