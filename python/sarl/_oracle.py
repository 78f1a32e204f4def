"""Erasure of rows whose labels are known."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight

from . import _core, _labels
from ._checks import named_columns, threads
from ._columns import Columns
from ._encoder import not_fitted
from ._inputs import name_inputs, read_rows, read_sensitive
from ._label import Label, Values
from ._rows import is_tensor, native, parts
from ._shape import Slopes, follow
from ._words import documented

E = TypeVar("E", bound="KnownLabels")


class KnownLabels(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The base of erasers that need the labels of the rows that they erase."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__transform: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    _erases: ClassVar[bool] = True
    _quadratic: ClassVar[bool] = False

    #: The sums of the rows; none after a file or a pickle.
    _sums: _core.LabelledSums | None = None
    #: None where rows came after the last solution.
    _erasure: _core.LabelledErasure | None = None
    _columns: Columns | None = None
    _labels: Sequence[Label] = ()

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
        self._add(X, sensitive_features, sample_weight, first=True)
        self._fitted()
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
        first = not self.__sklearn_is_fitted__()
        if not first and self._sums is None:
            raise ValueError(
                "the eraser was read from a file or a pickle, which does not hold the sums of its "
                "rows: more rows cannot be added"
            )
        self._add(X, sensitive_features, sample_weight, first=first)
        return self

    def merge(self: E, other: E) -> E:
        """Add the rows of another eraser of the same kind, exactly. It may have other classes.

        Returns
        -------
        estimator
            Itself.
        """
        if type(other) is not type(self) or self._sums is None or other._sums is None:
            raise ValueError(
                f"a {type(self).__name__} can be merged with another one that holds the sums of its rows"
            )
        assert self._columns is not None and other._columns is not None
        if self._columns.names != other._columns.names:
            raise ValueError("these erasers cannot be merged: their features differ")
        mine, theirs = ([(a.name, a.kind) for a in e._labels] for e in (self, other))
        if mine != theirs:
            raise ValueError("these erasers cannot be merged: their labels differ")
        sums, added, labels = self._sums.copy(), other._sums.copy(), []
        for place, (a, b) in enumerate(zip(self._labels, other._labels, strict=True)):
            both, to = _labels.union(a, b)
            labels.append(both)
            if both.is_class:
                sums.reclass(place, list(range(a.size)), both.size)
                added.reclass(place, to, both.size)
        sums.merge(added)
        self._sums, self._labels, self._erasure = sums, labels, None
        return self

    def _add(self, X: Any, s: Any, weight: ArrayLike | None, *, first: bool) -> None:
        rows = read_rows(self, X, reset=first, least=2 if first else 1)
        hidden, _ = read_sensitive(self, rows, s)
        columns = Columns.learn(rows) if first or self._columns is None else self._columns
        dense, _ = columns.read(rows, "error")
        weights = None
        if weight is not None:
            checked = _check_sample_weight(weight, dense, dtype=np.float64, copy=False)
            weights = np.ascontiguousarray(checked)
        known = None if first else self._labels
        labels, values = _labels.read(hidden, "s", False, self.sensitive_type, known, weights)
        _labels.check(labels, values, dense.shape[0])
        self._check_labels(labels)
        if first or self._sums is None:
            described = [label.core for label in labels]
            sums = _core.LabelledSums(len(columns.names), described, quadratic=self._quadratic)
        else:
            sums = self._sums.copy()
            for place, (old, new) in enumerate(zip(self._labels, labels, strict=True)):
                if new.size != old.size:
                    sums.reclass(place, list(range(old.size)), new.size)
        with named_columns(columns):
            for some, part in parts(dense):
                sums.push(
                    part,
                    [v[some] for v in values],
                    None if weights is None else weights[some],
                    threads=threads(self.n_jobs),
                )
        for label, of in zip(labels, values, strict=True):
            label.count(of, weights)
        self._columns, self._labels, self._sums, self._erasure = columns, labels, sums, None
        name_inputs(self, columns)

    def _check_labels(self, labels: Sequence[Label]) -> None:
        kernel = next((label.name for label in labels if label.kernel), None)
        if kernel is not None:
            raise ValueError(
                f"{kernel} has the type 'kernel': {type(self).__name__} takes classes and numbers; "
                "'bins' makes classes of a number"
            )

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
        erasure = self._fitted()
        assert self._columns is not None
        rows = read_rows(self, X, reset=False)
        dense, _ = self._columns.read(rows, "error")
        values = self._read(rows, sensitive_features, dense.shape[0])
        with named_columns(self._columns):
            done = [
                erasure.apply(part, [v[some] for v in values], threads(self.n_jobs))
                for some, part in parts(dense)
            ]
        z = done[0] if len(done) == 1 else np.concatenate(done)
        return follow(self, X, z, slopes=self._slopes)

    def _read(self, rows: Any, s: Any, count: int) -> list[Values]:
        """The labels of rows, as codes and numbers."""
        hidden, _ = read_sensitive(self, rows, s)
        known = [label.without_rows() for label in self._labels]
        labels, values = _labels.read(hidden, "s", False, self.sensitive_type, known)
        _labels.check(labels, values, count)
        for old, new in zip(self._labels, labels, strict=True):
            if len(new.classes) > len(old.classes):
                unknown = new.classes[len(old.classes)]
                raise ValueError(
                    f"{old.name} has the class {unknown!r}, of which there were no rows in the fit"
                )
        return values

    def _slopes(self) -> Slopes | None:
        return None

    def __sklearn_is_fitted__(self) -> bool:
        return self._erasure is not None or self._sums is not None

    def _fitted(self) -> _core.LabelledErasure:
        """The erasure, computed now if rows came after the last one."""
        if self._erasure is None:
            if self._sums is None:
                raise not_fitted(self)
            self._erasure = self._sums.solve(threads(self.n_jobs))
        return self._erasure

    @property
    def change_(self) -> float:
        """The mean of ``|x - erased|²`` over the rows of the fit."""
        return self._fitted().figures[1]

    @property
    def utility_(self) -> float:
        """One less the change as a share of the variance of X."""
        _, change, variance = self._fitted().figures
        return 1 - change / variance if variance > 0 else 1.0

    # -- files ---------------------------------------------------------------------------------

    def _extra(self) -> dict[str, str]:
        assert self._columns is not None
        plain = (str, int, float, bool, type(None), list, dict)
        about = {
            "class": type(self).__name__,
            "params": {k: v for k, v in self.get_params().items() if isinstance(v, plain)},
            "columns": self._columns.plain(),
            "labels": [label.plain() for label in self._labels],
        }
        return {"python": json.dumps(about)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: whole, or not at all.

        Parameters
        ----------
        path : path
            Where to; a safetensors file, with no code in it.
        """
        self._fitted().save(os.fspath(path), self._extra())

    @classmethod
    def load(cls: type[E], path: str | os.PathLike[str]) -> E:
        """Read a model file.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        estimator
            A fitted estimator of this class. See :func:`sarl.load` if the class is not known.
        """
        from . import _files

        return _files.load(path, cls)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if self.__sklearn_is_fitted__():
            state = {**state, "_sums": None, "_erasure": self._fitted()}
        return state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@documented
class OracleEraser(KnownLabels):
    """Erasure of rows whose labels are known: X less what the labels say of it, linearly.

    ``erased = X - (S - label_mean_) @ coef_``, where S has a column for each class and each number
    of `sensitive_features` and `coef_` is the regression of X on S. The erased rows of the fit have
    no covariance with any of these columns, and nothing without such a covariance, whatever it is
    made of, is nearer to X (Belrose et al. 2023). So it changes X no more than :class:`Eraser`,
    which sees X only. With one attribute of classes it moves the mean of each class to that of all.

    It needs the true labels of every row that is erased. Where labels are guessed, or missing, it
    promises nothing. It says nothing about adversaries that are not linear.

    Parameters
    ----------
    sensitive_type : str or dict, default="auto"
        As of :class:`Eraser`, without "kernel".
    sensitive : name, place or list of them, optional
        Columns of X that hold what is to be erased, instead of passing ``sensitive_features``.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.

    Attributes
    ----------
    coef_ : array of shape (n_label_columns, n_features)
        What a unit of each label column says of X.
    label_mean_ : array of shape (n_label_columns,)
        The mean of each label column.
    change_, utility_ : float
        The mean squared change of a row of the fit; one less its share of the variance of X.

    See Also
    --------
    Eraser : The same without labels when rows are erased.
    QuadraticEraser : Covariances of classes are made equal too.

    Examples
    --------
    >>> import numpy as np
    >>> from sarl import Eraser, OracleEraser
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> s = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    >>> oracle = OracleEraser().fit(X, sensitive_features=s)
    >>> erased = oracle.transform(X, sensitive_features=s)
    >>> gap = erased[s == "a"].mean(axis=0) - erased[s == "b"].mean(axis=0)
    >>> bool(np.abs(gap).max() < 1e-12)
    True
    >>> oracle.utility_ > Eraser().fit(X, sensitive_features=s).utility_
    True
    """

    def label_columns(self, sensitive_features: Any) -> NDArray[np.float64]:
        """The columns that stand for labels: ``erased = X - (columns - label_mean_) @ coef_``.

        Parameters
        ----------
        sensitive_features : array or table of n_rows
            Labels, as in the fit.

        Returns
        -------
        array of shape (n_rows, n_label_columns)
            Of each attribute an indicator of each class, in the order of its classes, or its number.
        """
        self._fitted()
        names = _labels.columns_of(sensitive_features, "s")
        values = self._read(sensitive_features, sensitive_features, len(names[0][1]))
        columns = [
            np.eye(label.size)[of] if label.is_class else of[:, None]
            for label, of in zip(self._labels, values, strict=True)
        ]
        return np.concatenate(columns, axis=1)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """What a unit of each label column says of X."""
        return self._fitted().oracle_parts()[1]

    @property
    def label_mean_(self) -> NDArray[np.float64]:
        """The mean of each label column."""
        return self._fitted().oracle_parts()[0]

    def _slopes(self) -> Slopes | None:
        return list(range(self.n_features_in_)), np.eye(self.n_features_in_)


@documented
class QuadraticEraser(KnownLabels):
    """Erasure of rows whose class is known: means and covariances of the classes are made equal.

    ``erased = mean_ + (x - means_[k]) @ matrices_[k]`` for a row of class k. Each class is moved by
    the optimal map of Gaussians to the barycentre of the classes' Gaussians (QLEACE, Belrose et al.
    2023). No x with equal means and covariances in all classes, whatever it is made of, is nearer to
    X, whether or not the classes are normal. No linear or quadratic function of the erased rows of
    the fit then has other means in other classes.

    It needs the true class of every row that is erased; see :class:`OracleEraser`. Every class must
    vary in all directions in which rows vary within classes, so that it needs more rows than there
    are such directions: otherwise `fit` is refused. `sensitive_features` is one attribute of classes;
    ``sensitive_type={{"sex*race": "class"}}`` combines several, "bins" makes classes of a number.

    Parameters
    ----------
    sensitive_type : str or dict, default="auto"
        As of :class:`Eraser`, without "kernel".
    sensitive : name, place or list of them, optional
        The column of X that holds what is to be erased, instead of passing ``sensitive_features``.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.

    Attributes
    ----------
    classes_ : list
        The classes.
    mean_ : array of shape (n_features,)
        The mean of all rows, which every class has afterwards.
    means_ : array of shape (n_classes, n_features)
        The mean of each class before.
    matrices_ : array of shape (n_classes, n_features, n_features)
        The map of each class: symmetric.
    change_, utility_ : float
        The mean squared change of a row of the fit; one less its share of the variance of X.

    Examples
    --------
    >>> import numpy as np
    >>> from sarl import QuadraticEraser
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(0, 2, 1000)
    >>> X = rng.normal(size=(1000, 3)) * np.where(s, 1, 2)[:, None]
    >>> erased = QuadraticEraser().fit_transform(X, sensitive_features=s)
    >>> apart = np.cov(erased[s == 0].T, bias=True) - np.cov(erased[s == 1].T, bias=True)
    >>> bool(np.abs(apart).max() < 1e-9)
    True
    """

    _quadratic = True

    def _check_labels(self, labels: Sequence[Label]) -> None:
        super()._check_labels(labels)
        if len(labels) != 1 or not labels[0].is_class:
            found = ", ".join(f"{label.name} ({label.treat})" for label in labels)
            raise ValueError(
                f"QuadraticEraser needs one attribute of classes, found {found}: combine several by "
                "sensitive_type={'a*b': 'class'}, and make classes of a number by 'bins'"
            )

    @property
    def classes_(self) -> list[Any]:
        """The classes."""
        self._fitted()
        return list(self._labels[0].classes)

    @property
    def mean_(self) -> NDArray[np.float64]:
        """The mean of all rows, which every class has afterwards."""
        return self._fitted().mean()

    @property
    def means_(self) -> NDArray[np.float64]:
        """The mean of each class before."""
        return np.stack([mean for mean, _ in self._parts()])

    @property
    def matrices_(self) -> NDArray[np.float64]:
        """The map of each class."""
        return np.stack([matrix for _, matrix in self._parts()])

    def _parts(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        erasure = self._fitted()
        nothing = np.full(self.n_features_in_, np.nan)
        none = nothing, np.full((self.n_features_in_, self.n_features_in_), np.nan)
        return [erasure.class_parts(k) or none for k in range(len(self._labels[0].classes))]


def restored(data: bytes, name: str, cls: Any) -> Any:
    """The fitted eraser in the bytes of a file."""
    try:
        erasure = _core.LabelledErasure.from_bytes(data)
    except ValueError as problem:
        raise ValueError(f"{name}: {problem}") from None
    found: Any = QuadraticEraser if erasure.is_quadratic else OracleEraser
    if cls is not None and not issubclass(found, cls) and not issubclass(cls, found):
        raise ValueError(f"{name} holds a model of {found.__name__}, not of {cls.__name__}")
    found = cls if cls is not None and issubclass(cls, found) else found
    about = json.loads(erasure.extra.get("python", "{}"))
    new = found(**about.get("params", {}))
    new._erasure = erasure
    if "columns" in about:
        new._columns = Columns.from_plain(about["columns"])
        new._labels = [Label.from_plain(label) for label in about["labels"]]
    else:
        places = tuple(range(erasure.inputs))
        new._columns = Columns(tuple(f"x{j}" for j in places), places)
        new._labels = [
            Label(n, False, "integer" if classes else "float", list(range(classes)), {n: place})
            for place, (n, _, classes, _) in enumerate(erasure.labels)
        ]
    name_inputs(new, new._columns)
    return new
