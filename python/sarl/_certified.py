"""The encoder with a guarantee against every adversary."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cutting
from ._certificate import Certificate
from ._checks import Limit, check_choice, is_whole, one_goal, threads
from ._encoder import Encoder
from ._exports import inverse_transform, to_onnx, to_torch
from ._inputs import moment_options
from ._kernel import KERNELS, KernelSARL, kernel_params, rows_of
from ._moments import Moments
from ._rows import is_tensor, native
from ._solved import Solved
from ._words import documented

#: What is limited, by parameter.
ADVERSARIES = {"max_advantage": "advantage", "max_adversary_accuracy": "accuracy"}


@documented
class CertifiedSARL(Encoder):
    """An encoder with a guarantee against every adversary, not only linear ones.

    z is cut into few cells, and the centre of the cell is all that is given. Whatever an adversary
    computes from it, it is a table from cells to groups, so that counts of cells and groups on rows
    apart bound what any of them reaches. The rows of :meth:`fit` are parted in three: two fifths fit
    encoders of every leakage, three tenths choose the cells that keep most, three tenths certify
    them.

    Parameters
    ----------
    max_advantage : float or dict, optional
        How far the balanced accuracy of any adversary may be above guessing, 0 to 1.
        ``{{"sex": 0.05, "race": 0.1}}`` limits those that it names, and no others. Without this and
        `max_adversary_accuracy` it is 0.05.
    max_adversary_accuracy : float or dict, optional
        The same for its accuracy. Only one of the two may be given.
    confidence : float, default=0.95
        How sure the certificate is, above 0 and below 1.
    cells : int, default=8
        The most cells, 2 to 32.
    cell_utility : {{"accuracy", "variance"}}, default="accuracy"
        What of the classes of a target is kept: the accuracy of the best prediction, for which few
        cells are enough, or how likely each class is. Of numbers it is always the variance.
    kernel : {{"linear", "rbf", "laplacian", "polynomial"}}, default="linear"
        The features of the encoder: X itself, or those of a kernel, with the parameters of
        :class:`KernelSARL`.
    gamma : float or "auto", default="auto"
        The width of the kernel; "auto" is the median heuristic.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    approx : {{"landmarks", "exact", "random-features"}}, default="landmarks"
        How the kernel is represented.
    sampling : {{"adaptive", "uniform"}}, default="adaptive"
        How landmarks are chosen.
    landmarks : int, array or table, default=1000
        Landmarks or random features at most, or rows that landmarks are chosen from.
    tolerance : float, default=1e-8
        No more landmarks are taken when this share of the kernel's trace is left.
    n_components : int, optional
        Dimensions of z at most; without it as many as help.
    ridge : float, "auto" or None, default=None
        Added to the covariance of the features, as in :class:`SARL` and :class:`KernelSARL`.
    scale : {{"standard", "none"}}, default="standard"
        Whether numeric columns are brought to mean 0 and variance 1.
    {rest}

    Attributes
    ----------
    certificate_ : Certificate
        What is guaranteed: printed, in plain sentences. ``certificate_.attributes["sex"]`` has
        `advantage`, `balanced_accuracy`, `accuracy` and `tv`, which no adversary exceeds on rows
        drawn alike, what was `observed`, and the `counts` that prove it.
    cells_ : int
        The number of cells.
    centres_ : array of shape (n_cells, n_components)
        What :meth:`transform` gives for each cell: the mean z of the rows that the cells were
        chosen on.
    expected_ : dict
        For each target and cell, the most frequent class, or the mean.
    n_components_ : int
        The number of dimensions of z.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array
        Their names, where X has names.

    See Also
    --------
    SARL : z itself, with a certificate for linear adversaries.

    Notes
    -----
    The guarantee is about rows drawn like those that certify. To fit again with other seeds until a
    certificate pleases proves nothing. :meth:`certify` counts rows that no fit has seen.

    With a kernel, a model file or a pickle holds rows of X as landmarks; see :class:`KernelSARL`.

    Examples
    --------
    >>> import numpy as np
    >>> from sarl import CertifiedSARL
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(6000, 4))
    >>> s = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    >>> y = np.where(X[:, 1] + X[:, 2] > 0, "yes", "no")
    >>> encoder = CertifiedSARL(max_advantage=0.2).fit(X, y, sensitive_features=s)
    >>> encoder.certificate_.attributes["s"].advantage <= 0.2
    True
    >>> encoder.cells_, len(np.unique(encoder.transform(X), axis=0))
    (2, 2)
    >>> np.unique(encoder.cell(X))
    array([0, 1])
    """

    def __init__(
        self,
        max_advantage: Limit | None = None,
        *,
        max_adversary_accuracy: Limit | None = None,
        confidence: float = 0.95,
        cells: int = 8,
        cell_utility: str = "accuracy",
        kernel: str = "linear",
        gamma: float | str = "auto",
        degree: int = 3,
        coef0: float = 1.0,
        approx: str = "landmarks",
        sampling: str = "adaptive",
        landmarks: int | Any = 1000,
        tolerance: float = 1e-8,
        n_components: int | None = None,
        ridge: float | str | None = None,
        scale: str = "standard",
        folds: int = 5,
        precision: str = "auto",
        device: str = "auto",
        target_type: str | dict[str, str] = "auto",
        sensitive_type: str | dict[str, str] = "auto",
        sensitive: Any = None,
        unseen: str = "error",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_advantage = max_advantage
        self.max_adversary_accuracy = max_adversary_accuracy
        self.confidence = confidence
        self.cells = cells
        self.cell_utility = cell_utility
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approx = approx
        self.sampling = sampling
        self.landmarks = landmarks
        self.tolerance = tolerance
        self.n_components = n_components
        self.ridge = ridge
        self.scale = scale
        self.folds = folds
        self.precision = precision
        self.device = device
        self.target_type = target_type
        self.sensitive_type = sensitive_type
        self.sensitive = sensitive
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fits ----------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        row_id: Any = None,
        **other: Any,
    ) -> Any:
        """Fit encoders, choose cells and certify them.

        Parameters
        ----------
        X : array, sparse matrix, tensor or table of shape (n_rows, n_features)
            The features. In a table, columns of text and booleans become one-hot.
        y : array or table of n_rows
            What is to be kept: classes or numbers, one column or several.
        sensitive_features : array or table of n_rows
            What is to be hidden: classes, one column or several.
        row_id : array of n_rows, optional
            An id of each row, a text or a number, which decides what it serves for, as on a
            cluster: the order of rows then changes nothing. Without it their places decide.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        ValueError
            Where no cells that keep anything of the target can be certified to the limit.
        """
        for name, value in other.items():
            if name != "sample_weight":
                raise TypeError(f"fit() got an unexpected keyword argument {name!r}")
            self._check_unweighted(value)
        self._set(None, _cutting.cut(self, self._goal(), X, y, sensitive_features, row_id))
        return self

    def _check_unweighted(self, weights: Any) -> None:
        if weights is not None:
            raise ValueError(
                "sample_weight: a guarantee against every adversary holds for rows that count once; "
                "leave it out"
            )

    def _how(self) -> dict[str, Any]:
        return kernel_params(self, ("linear", *KERNELS))

    def fit_transform(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, **other: Any
    ) -> Any:
        """Fit, and give the centres of the same rows; see :meth:`fit` and :meth:`transform`."""
        X = X if is_tensor(X) else native(X)
        self.fit(X, y, sensitive_features=sensitive_features, **other)
        return self.transform(X)

    def _goal(self) -> dict[str, Any]:
        """The goal, as a model file has it."""
        given = {name: getattr(self, name) for name in ADVERSARIES}
        name, value = one_goal(given, default=("max_advantage", 0.05))
        named = value if isinstance(value, Mapping) else {"": value}
        if not named:
            raise ValueError(f"{name} names nothing")
        for label, limit in named.items():
            if not 0 <= limit <= 1:
                what = f"{name} of {label!r}" if label else name
                percent = f" ({limit:g} % is {limit / 100:g})" if 1 < limit <= 100 else ""
                raise ValueError(f"{what} is {limit:g}: expected 0 to 1{percent}")
        if not is_whole(self.cells, 2, 32):
            raise ValueError(f"cells is {self.cells!r}: expected a whole number, 2 to 32")
        return {
            "adversary": ADVERSARIES[name],
            "limits": {"named": value} if isinstance(value, Mapping) else {"each": value},
            "utility": check_choice("cell_utility", self.cell_utility, ("accuracy", "variance")),
            "confidence": _cutting.check_confidence(self.confidence),
            "cells": int(self.cells),
        }

    def _new_moments(self) -> Moments:
        how = self._how()
        public = rows_of(self.landmarks)
        if self.kernel != "linear":
            return Moments._behind(how, self.scale, public, **moment_options(self))
        if self.approx != "landmarks" or public is not None:
            raise ValueError("approx and rows as landmarks are for kernels: kernel is 'linear'")
        return Moments(**moment_options(self))

    def _fitted(self) -> Solved:
        solved: Solved = super()._fitted()
        return solved

    # -- results -------------------------------------------------------------------------------

    inverse_transform = inverse_transform
    to_onnx = to_onnx
    to_torch = to_torch

    def cell(self, X: Any) -> NDArray[np.int64]:
        """The cell of each row, counted from 0.

        Parameters
        ----------
        X : array, sparse matrix, tensor or table of shape (n_rows, n_features)
            Rows with the same columns as those of the fit.

        Returns
        -------
        array of shape (n_rows,)
            ``centres_[cell(X)]`` is ``transform(X)``.
        """
        jobs = threads(self.n_jobs)
        return self._mapped(X, lambda solved, x, codes: solved.model.cell(x, codes, jobs))

    def certify(
        self, X: Any, sensitive_features: Any = None, *, y: Any = None, confidence: Any = None
    ) -> Certificate:
        """What other rows prove: they must be such as no fit has seen.

        Parameters
        ----------
        X : array, sparse matrix, tensor or table of shape (n_rows, n_features)
            Rows with the same columns as those of the fit.
        sensitive_features : array or table of n_rows
            What is hidden, as in :meth:`fit`.
        y : array or table of n_rows, optional
            The targets, for how well cells predict them.
        confidence : float, optional
            How sure the certificate is; as in the fit by default.

        Returns
        -------
        Certificate
            What no adversary exceeds on rows drawn like these.
        """
        solved = self._fitted()
        if confidence is None:
            confidence = self._cells()["goal"]["confidence"]
        return _cutting.certified(self, solved, X, y, sensitive_features, confidence)

    def _cells(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._fitted().model.cells or "{}")
        return found

    def _slopes(self) -> None:
        """There is no gradient: z is constant in each cell."""
        return None

    @property
    def certificate_(self) -> Certificate:
        """What is guaranteed against every adversary."""
        found = self._cells()["certificate"]
        if found is None:
            raise AttributeError("the cells of this model were not certified")
        return Certificate._read(found, _cutting.groups(self._fitted()))

    @property
    def n_components_(self) -> int:
        """The number of dimensions of z."""
        return self._n_features_out

    @property
    def cells_(self) -> int:
        """The number of cells."""
        return len(self.centres_)

    @property
    def centres_(self) -> NDArray[np.float64]:
        """What `transform` gives for each cell."""
        return self._fitted().model.centres()

    @property
    def expected_(self) -> dict[str, NDArray[Any]]:
        """For each target and cell, the most frequent class, or the mean."""
        targets = [label for label in self._fitted().labels if label.target]
        return {
            target.name: np.array(
                [
                    target.classes[int(v[0])] if target.classes else v if len(v) > 1 else v[0]
                    for v in values
                ]
            )
            for target, values in zip(targets, self._cells()["expected"], strict=True)
        }

    # -- files ---------------------------------------------------------------------------------

    @classmethod
    def _params_of(cls, solved: Solved) -> dict[str, Any]:
        linear = solved.model.is_linear
        params = super()._params_of(solved) if linear else KernelSARL._params_of(solved)
        goal = json.loads(solved.model.cells or "{}")["goal"]
        (limit,) = goal["limits"].values()
        names = {adversary: name for name, adversary in ADVERSARIES.items()}
        return params | {
            names[goal["adversary"]]: limit,
            "confidence": goal["confidence"],
            "cells": goal["cells"],
            "cell_utility": goal["utility"],
        }
