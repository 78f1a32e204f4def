"""The base of all estimators: rows in, z out; files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

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
from ._shape import Slopes, follow, is_configured

E = TypeVar("E", bound="Encoder")

#: What a solution makes of rows and of what is beside them.
Encode = Callable[[Any, Any, list[Any]], NDArray[Any]]
#: What is beside so many rows.
Beside = Callable[[Any, int], list[Any]]


def not_fitted(estimator: Any) -> NotFittedError:
    """The error of an estimator that has seen no rows."""
    return NotFittedError(
        f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
        "appropriate arguments before using this estimator."
    )


class Encoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The sums of rows, and what was solved on them, which encodes rows.

    Every estimator is one level above it: it has the parameters and `fit`, by itself or by a `Part`
    beside this base. It may overrule `_new_moments`, `_ridge`, `_solve_rows`, `_encode`, `_slopes`,
    `_restore` and `_params_of`.
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

    #: The sums of the rows, where they are held: of cells, after a file and after some pickles not.
    _moments: Any = None
    #: A model with what is known of columns and labels; none where rows came after the last solution.
    _solved: Any = None

    # -- the problem ---------------------------------------------------------------------------

    def _new_moments(self) -> Moments:
        return Moments(**moment_options(self))

    def _ridge(self) -> str | dict[str, float]:
        return check_ridge(self.ridge, self.folds)

    def __sklearn_is_fitted__(self) -> bool:
        return self._solved is not None or (self._moments is not None and len(self._moments) > 0)

    def _fitted(self) -> Any:
        """The solution, computed now if rows came after the last one."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)
        if self._solved is None:
            self._solved = self._solve_rows()
        return self._solved

    def _solve_rows(self) -> Any:
        """The solution for the rows that are held."""
        raise not_fitted(self)

    def _held_out(self) -> Any:
        """The solution with its held-out losses, where there are any."""
        return self._fitted()

    def _set(self, moments: Any, solved: Any) -> None:
        """Takes over sums and their solution."""
        self._moments, self._solved = moments, solved

    def _restore(self, solved: Any) -> None:
        """Takes over a model that was read."""
        self._set(None, solved)

    @property
    def device_(self) -> str:
        """What has added up the rows of the fit: "cpu", or the name of a GPU."""
        core = getattr(self._moments, "_core", None)
        if core is None:
            raise AttributeError("device_ is known after a fit of rows only")
        device: str = core.device
        return device

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
        if on_gpu(X) and not is_configured(self):
            with named_columns(self._fitted().columns):
                z = encoded(self, X)
            if z is not None:
                return z
        return follow(self, X, self._mapped(X, self._encode), slopes=self._slopes)

    def _mapped(self, X: Any, how: Encode, beside: Beside | None = None) -> NDArray[Any]:
        """What a function gives for rows, part by part: with their codes, or what is beside them."""
        solved = self._fitted()
        rows = read_rows(self, X, reset=False)
        dense, codes = solved.columns.read(rows, unseen(self))
        more = codes if beside is None else beside(rows, dense.shape[0])
        with named_columns(solved.columns):
            done = [how(solved, part, [of[some] for of in more]) for some, part in parts(dense)]
        return done[0] if len(done) == 1 else np.concatenate(done)

    def _encode(self, solved: Any, dense: Any, beside: list[Any]) -> NDArray[Any]:
        z: NDArray[Any] = solved.model.encode(dense, beside, threads(self.n_jobs))
        return z

    def _slopes(self) -> Slopes | None:
        """Columns of X and the derivatives of z by them, where it is linear."""
        solved = self._fitted()
        linear = solved.model.is_linear and not solved.columns.categories
        return (list(solved.columns.numbers), solved.model.weights()) if linear else None

    @property
    def _n_features_out(self) -> int:
        dim: int = self._fitted().model.dim
        return dim

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
    def _params_of(cls, solved: Any) -> dict[str, Any]:
        """Parameters that a model has, where its file has none of Python's."""
        return _files.params_of(solved)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.target_tags.required = not self._erases or bool(getattr(self, "preserve", False))
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


if TYPE_CHECKING:
    Part = Encoder
else:
    #: The base of what some estimators have beside `Encoder`; scikit-learn wraps its `transform`.
    Part = TransformerMixin
