"""The base of all encoders: rows in, z out; files."""

from __future__ import annotations

import os
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

from . import _files
from ._checks import check_ridge, named_columns, threads
from ._inputs import moment_options, read_rows, unseen
from ._moments import Moments
from ._placed import encoded, on_gpu
from ._rows import is_tensor, native, parts
from ._shape import Slopes, decoded, follow, is_configured
from ._solved import Solved, asked_for

E = TypeVar("E", bound="Encoder")


def not_fitted(estimator: Any) -> NotFittedError:
    """The error of an estimator that has seen no rows."""
    return NotFittedError(
        f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
        "appropriate arguments before using this estimator."
    )


class Encoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The solution of a problem, which encodes rows.

    A subclass has the parameters and `fit`. It may overrule `_new_moments`, `_ridge`, `_encode`,
    `_slopes`, `_restore` and `_params_of`.
    """

    # Requested by default: without it `fit` is an error, and pipelines must pass it on.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    #: Whether there is no target. Sensitive columns are features then, and the result is like X.
    _erases: ClassVar[bool] = False

    n_components: int | None = None
    ridge: float | str | None
    scale: str
    folds: int
    precision: str
    device: str
    target_type: Any = "auto"
    sensitive_type: Any
    sensitive: Any
    unseen: str = "error"
    random_state: Any
    n_jobs: int | None
    verbose: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    #: The moments of the rows; none after a file, and after a pickle of a full erasure.
    _moments: Moments | None = None
    #: None where rows came after the last solution.
    _solved: Solved | None = None

    # -- the problem ---------------------------------------------------------------------------

    def _new_moments(self) -> Moments:
        return Moments(**moment_options(self))

    def _ridge(self) -> str | dict[str, float]:
        return check_ridge(self.ridge, self.folds)

    def __sklearn_is_fitted__(self) -> bool:
        return self._solved is not None

    def _fitted(self) -> Solved:
        """The solution."""
        if self._solved is None:
            raise not_fitted(self)
        return self._solved

    def _held_out(self) -> Solved:
        """The solution with its held-out losses, where there are any."""
        return self._fitted()

    def _front_params(self, solved: Solved) -> str:
        """The parameters of the fit for other trade-offs."""
        return solved.params

    def _restore(self, solved: Solved) -> None:
        """Takes over a model that was read."""
        self._solved = solved

    @property
    def device_(self) -> str:
        """What has added up the rows of the fit: "cpu", or the name of a GPU."""
        moments = self._moments
        if moments is None or moments._core is None:
            raise AttributeError("device_ is known after a fit of rows only")
        return moments._core.device

    # -- encoding ------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : array, sparse matrix, tensor or table of shape (n_rows, n_features)
            Rows with the same columns as those of the fit.

        Returns
        -------
        array, tensor or table of shape (n_rows, n_components)
            Of the type and precision of X, unless :meth:`set_output` was called. A sparse matrix
            gives an array. Tensors keep their gradient, but not through a kernel.
        """
        X = X if is_tensor(X) or on_gpu(X) else native(X)
        solved = self._fitted()
        if on_gpu(X) and not is_configured(self):
            with named_columns(solved.columns):
                z = encoded(self, X)
            if z is not None:
                return z
        dense, codes = solved.columns.read(read_rows(self, X, reset=False), unseen(self))
        with named_columns(solved.columns):
            done = [self._encode(solved, part, [c[r] for c in codes]) for r, part in parts(dense)]
        z = done[0] if len(done) == 1 else np.concatenate(done)
        return follow(self, X, z, slopes=self._slopes)

    def _encode(self, solved: Solved, dense: Any, codes: list[Any]) -> NDArray[Any]:
        return solved.model.encode(dense, codes, threads(self.n_jobs))

    def _slopes(self) -> Slopes | None:
        """Columns of X and the derivatives of z by them, where it is linear."""
        solved = self._fitted()
        linear = solved.model.is_linear and not solved.columns.categories
        return (list(solved.columns.numbers), solved.model.weights()) if linear else None

    def inverse_transform(self, Z: Any) -> Any:
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

    @property
    def _n_features_out(self) -> int:
        return self._fitted().model.dim

    @property
    def n_components_(self) -> int:
        """The number of dimensions of z; of an eraser that of what is left of X."""
        return self._fitted().model.dim

    # -- files ---------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which the command line reads too: whole, or not at all.

        Parameters
        ----------
        path : path
            Where to; a safetensors file, with no code in it.
        """
        _files.save(self, self._fitted(), path)

    @classmethod
    def load(cls: type[E], path: str | os.PathLike[str]) -> E:
        """Read a model file, written here or by the command line.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        estimator
            A fitted estimator of this class. See :func:`sarl.load` if the class is not known.
        """
        return _files.load(path, cls)

    @classmethod
    def _params_of(cls, solved: Solved) -> dict[str, Any]:
        """Parameters that a model has, where its file has none of Python's."""
        model = solved.model
        scale = "standard" if model.scaling[0] else "none"
        params = {"n_components": model.cap, "ridge": model.ridge, "scale": scale}
        return params | asked_for(solved)

    def to_onnx(self, path: str | os.PathLike[str], *, double: bool = False) -> None:
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

    def to_torch(self, *, dtype: Any = None, device: Any = None) -> Any:
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.target_tags.required = not self._erases or bool(getattr(self, "preserve", False))
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
