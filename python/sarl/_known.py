"""What the erasers have that need the labels of the rows that they erase."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin

from . import _files, _labels
from ._checks import check_weights, threads
from ._columns import Columns
from ._encoder import Part
from ._inputs import name_inputs, read_rows, read_sensitive
from ._label import Label, Values
from ._labelled import ByLabels, LabelSums
from ._rows import is_tensor, native
from ._shape import Slopes, follow

E = TypeVar("E", bound="KnownLabels")


class KnownLabels(OneToOneFeatureMixin, Part):  # type: ignore[misc]
    """Fits on rows and labels, and erasure by labels."""

    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__transform: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    _erases = True
    #: Whether covariances are erased too.
    _quadratic: ClassVar[bool] = False

    _moments: LabelSums | None = None
    _solved: ByLabels | None = None

    def __init__(
        self,
        *,
        sensitive_type: str | dict[str, str] = "auto",
        sensitive: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sensitive_type = sensitive_type
        self.sensitive = sensitive
        self.n_jobs = n_jobs

    # -- fits ----------------------------------------------------------------------------------

    def fit(
        self: E,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> E:
        """Fit the eraser.

        Parameters
        ----------
        X : array, sparse matrix, tensor or table of shape (n_rows, n_features)
            The features, all of them numbers.
        y : None
            Not used.
        sensitive_features : array or table of n_rows
            What is to be erased.
        sample_weight : array of n_rows, optional
            A weight for each row.

        Returns
        -------
        estimator
            Itself.
        """
        sums = self._added(None, X, sensitive_features, sample_weight)
        self._set(sums, sums.solve(threads(self.n_jobs)))
        return self

    def partial_fit(
        self: E,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> E:
        """Add more rows of a stream, which may have new classes; see :meth:`fit`."""
        if self.__sklearn_is_fitted__() and self._moments is None:
            raise ValueError(
                "the eraser was read from a file or a pickle, which does not hold the sums of its "
                "rows: more rows cannot be added"
            )
        self._set(self._added(self._moments, X, sensitive_features, sample_weight), None)
        return self

    def merge(self: E, other: E) -> E:
        """Add the rows of another eraser of the same kind, exactly. It may have other classes.

        Returns
        -------
        estimator
            Itself.
        """
        if type(other) is not type(self) or self._moments is None or other._moments is None:
            raise ValueError(
                f"a {type(self).__name__} can be merged with another one that holds the sums of its rows"
            )
        self._set(self._moments.merged(other._moments), None)
        return self

    def _added(self, sums: LabelSums | None, X: Any, s: Any, weight: ArrayLike | None) -> LabelSums:
        """These sums, or new ones, with more rows."""
        rows = read_rows(self, X, reset=sums is None, least=2 if sums is None else 1)
        hidden, _ = read_sensitive(self, rows, s)
        columns = Columns.learn(rows) if sums is None else sums.columns
        dense, _ = columns.read(rows, "error")
        weights = check_weights(weight, dense)
        known = None if sums is None else sums.labels
        labels, values = _labels.read(hidden, "s", False, self.sensitive_type, known, weights)
        _labels.check(labels, values, dense.shape[0])
        self._check_labels(labels)
        sums = sums or LabelSums.of(columns, labels, quadratic=self._quadratic)
        sums = sums.added(labels, values, dense, weights, threads(self.n_jobs))
        name_inputs(self, columns)
        return sums

    def _check_labels(self, labels: Sequence[Label]) -> None:
        kernel = next((label.name for label in labels if label.kernel), None)
        if kernel is not None:
            raise ValueError(
                f"{kernel} has the type 'kernel': {type(self).__name__} takes classes and numbers; "
                "'bins' makes classes of a number"
            )

    def _solve_rows(self) -> ByLabels:
        assert self._moments is not None
        return self._moments.solve(threads(self.n_jobs))

    def _fitted(self) -> ByLabels:
        solved: ByLabels = super()._fitted()
        return solved

    # -- encoding ------------------------------------------------------------------------------

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """Fit the eraser, and erase the same rows; see :meth:`fit` and :meth:`transform`."""
        X = X if is_tensor(X) else native(X)
        self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self.transform(X, sensitive_features=sensitive_features)

    def transform(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """Erase rows by their labels.

        Parameters
        ----------
        X : array, sparse matrix, tensor or table of shape (n_rows, n_features)
            Rows with the same columns as those of the fit.
        sensitive_features : array or table of n_rows
            The labels of these rows, as in the fit: the true ones.

        Returns
        -------
        array, tensor or table of shape (n_rows, n_features)
            Of the type and precision of X, unless :meth:`set_output` was called.
        """
        X = X if is_tensor(X) else native(X)
        z = self._mapped(X, self._encode, lambda *rows: self._read(sensitive_features, *rows))
        return follow(self, X, z, slopes=self._slopes)

    def _encode(self, solved: ByLabels, dense: Any, beside: list[Any]) -> NDArray[Any]:
        return solved.model.apply(dense, beside, threads(self.n_jobs))

    def _read(self, s: Any, rows: Any, count: int) -> list[Values]:
        """The labels of rows, as codes and numbers."""
        hidden, _ = read_sensitive(self, rows, s)
        return self._fitted().values(hidden, self.sensitive_type, count)

    def _slopes(self) -> Slopes | None:
        return None

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_

    @property
    def change_(self) -> float:
        """The mean of ``|x - erased|²`` over the rows of the fit."""
        return self._fitted().model.figures[1]

    @property
    def utility_(self) -> float:
        """One less the change as a share of the variance of X."""
        _, change, variance = self._fitted().model.figures
        return 1 - change / variance if variance > 0 else 1.0

    # -- files ---------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: whole, or not at all.

        Parameters
        ----------
        path : path
            Where to; a safetensors file, with no code in it.
        """
        solved = self._fitted()
        labels = {"labels": [label.plain() for label in solved.labels]}
        about = _files.about(self, solved.columns) | labels
        solved.model.save(os.fspath(path), {"python": json.dumps(about)})

    @classmethod
    def _params_of(cls, solved: ByLabels) -> dict[str, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if self.__sklearn_is_fitted__():
            state = {**state, "_moments": None, "_solved": self._fitted()}
        return state
