"""Fitting: all at once, from a stream, from moments, from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags, check_array

from . import _files
from ._base import Base
from ._checks import check_ridge
from ._moments import Moments
from ._report import report as _report
from ._rows import from_tensor, is_table, is_tensor, native
from ._shape import follow, table_like

if TYPE_CHECKING:
    from typing_extensions import Self


class Fits(Base):
    """`fit` and its relatives."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the encoder.

        Parameters
        ----------
        X : array, sparse matrix, tensor or table of shape (n_rows, n_features)
            The features. In a table, columns of text and booleans become one-hot.
        y : array or table of n_rows
            What is to be kept: classes or numbers, one column or several.
        sensitive_features : array or table of n_rows
            What is to be hidden, likewise.
        sample_weight : array of n_rows, optional
            A weight for each row.

        Returns
        -------
        estimator
            Itself.
        """
        self._fit(X, y, sensitive_features, sample_weight, reset=True)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Take more rows of a stream in; see :meth:`fit`.

        Rows that are refused change nothing. The problem is solved when a result is asked for.
        """
        new = not self.__sklearn_is_fitted__()
        if not new and self._moments is None:
            raise ValueError(
                "the encoder was read from a file or a pickle that does not hold the moments of its "
                "rows: more rows cannot be added"
            )
        self._fit(X, y, sensitive_features, sample_weight, reset=new, solve=False)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """Fit the encoder, and encode the same rows; see :meth:`fit` and :meth:`transform`."""
        X = X if is_tensor(X) else native(X)
        self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self.transform(X)

    @property
    def moments_(self) -> Moments:
        """The second moments of the training rows: a copy, which can go on by itself."""
        self._fitted()
        if self._moments is None:
            raise AttributeError(
                "the encoder was read from a file or a pickle that does not hold its moments"
            )
        return self._moments.copy()

    def fit_moments(self, moments: Moments) -> Self:
        """Fit the encoder on moments that were accumulated elsewhere.

        Parameters
        ----------
        moments : Moments
            The second moments of the rows.

        Returns
        -------
        estimator
            Itself.
        """
        if not isinstance(moments, Moments) or moments._kernel is not None:
            raise ValueError(f"expected Moments, found {type(moments).__name__}")
        if not len(moments):
            raise ValueError("the moments have no rows")
        self._accept(moments)
        moments = moments.copy()
        solved = self._solve(self._goal(), moments)
        self._moments, self._solved, self._front = moments, solved, None
        self._name_inputs(solved)
        return self

    def _accept(self, moments: Moments) -> None:
        """Refuses moments of another problem."""
        if not moments._of(True):
            raise ValueError("the moments have no target: update them with y, or use Eraser")

    def _name_inputs(self, solved: _files.Solved) -> None:
        self.n_features_in_ = len(solved.columns.names)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if solved.columns.named:
            self.feature_names_in_ = np.asarray(solved.columns.names, object)

    @classmethod
    def _restored(cls, solved: _files.Solved, params: dict[str, Any] | None) -> Self:
        """An estimator around a model that was read."""
        known = cls._get_param_names()
        params = params or cls._params_of(solved)
        new = cls(**{name: value for name, value in params.items() if name in known})
        cls._clear_goal(new)
        name, value = solved.model.goal
        setattr(new, name, value)
        new._moments, new._front, new._solved = None, None, solved
        new._name_inputs(solved)
        return new

    @classmethod
    def _params_of(cls, solved: _files.Solved) -> dict[str, Any]:
        model = solved.model
        scale = "standard" if model.scaling[0] else "none"
        return {"n_components": model.cap, "ridge": model.ridge, "scale": scale}

    def inverse_transform(self, Z: Any) -> Any:
        """The best linear reconstruction of the features from z.

        Parameters
        ----------
        Z : array, tensor or table of shape (n_rows, n_components)
            Encoded rows.

        Returns
        -------
        array, tensor or table of shape (n_rows, n_features)
            In the units of X. Of a column of categories it is the likeliest one, so that an
            encoder of such a table gives a table. Columns that were left out because they are
            sensitive stay out.
        """
        solved = self._fitted()
        z = from_tensor(Z) if is_tensor(Z) else Z
        z = check_array(z, dtype=[np.float64, np.float32], ensure_min_features=0)
        if z.shape[1] != solved.model.dim:
            raise ValueError(
                f"Z has {z.shape[1]} columns, but the encoder has {solved.model.dim} dimensions"
            )
        x = solved.model.decode(np.ascontiguousarray(z))
        columns = solved.columns
        if not columns.categories:
            x = x.astype(z.dtype, copy=False)
            return follow(self, Z, x, [columns.names[j] for j in columns.numbers])
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


class Encodes(ClassNamePrefixFeaturesOutMixin, Fits):  # type: ignore[misc]
    """Encoders of a target: with a ridge, and with as many dimensions as are wanted."""

    n_components: int | None
    ridge: float | str | None
    report = _report

    def _cap(self) -> int | None:
        r = self.n_components
        if r is not None and (isinstance(r, bool) or not isinstance(r, (int, np.integer)) or r < 1):
            raise ValueError(f"n_components is {r!r}: expected None, or a whole number above 0")
        return None if r is None else int(r)

    def _ridge(self) -> str | dict[str, float]:
        return check_ridge(self.ridge, self.folds)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
