"""Erasure of rows whose labels are known: the estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _labels
from ._encoder import Encoder
from ._known import KnownLabels
from ._label import Label
from ._shape import Slopes
from ._words import documented


@documented
class OracleEraser(KnownLabels, Encoder):
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
        solved = self._fitted()
        names = _labels.columns_of(sensitive_features, "s")
        values = self._read(sensitive_features, sensitive_features, len(names[0][1]))
        return solved.label_columns(values)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """What a unit of each label column says of X."""
        return self._fitted().model.oracle_parts()[1]

    @property
    def label_mean_(self) -> NDArray[np.float64]:
        """The mean of each label column."""
        return self._fitted().model.oracle_parts()[0]

    def _slopes(self) -> Slopes | None:
        return list(range(self.n_features_in_)), np.eye(self.n_features_in_)


@documented
class QuadraticEraser(KnownLabels, Encoder):
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
        return list(self._fitted().labels[0].classes)

    @property
    def mean_(self) -> NDArray[np.float64]:
        """The mean of all rows, which every class has afterwards."""
        return self._fitted().model.mean()

    @property
    def means_(self) -> NDArray[np.float64]:
        """The mean of each class before."""
        return np.stack([mean for mean, _ in self._parts()])

    @property
    def matrices_(self) -> NDArray[np.float64]:
        """The map of each class."""
        return np.stack([matrix for _, matrix in self._parts()])

    def _parts(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        solved = self._fitted()
        nothing = np.full(self.n_features_in_, np.nan)
        none = nothing, np.full((self.n_features_in_, self.n_features_in_), np.nan)
        return [solved.model.class_parts(k) or none for k in range(len(self.classes_))]
