"""The estimators: linear, with a kernel, and erasure."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin
from sklearn.utils import Tags, check_array

from . import _files
from ._base import GOALS, Base, one_goal
from ._moments import KernelMoments, Moments, check_choice, threads
from ._rows import first_category, from_tensor, is_table, is_tensor, one_hot
from ._shape import follow, table_like

if TYPE_CHECKING:
    from typing_extensions import Self

_GOALS = """lambda_ : float, optional
        The weight of the adversary, 0 to 1; both ends are limits.
    alpha : float, optional
        The least loss of the adversary, a mean squared error.
    max_leakage : float, optional
        The most leakage, 0 to 1: the share of the sensitive variance that the best linear
        adversary explains. Of these four goals exactly one may be given; without any it is
        ``max_leakage=0``.
    min_utility : float, optional
        The least utility, 0 to 1: the share of what is attainable that the target keeps."""

_REST = """folds : int, default=5
        Folds for held-out losses, which cost no further pass; 1 for none.
    precision : {"double", "single"}, default="double"
        How products of features are formed. Single is about twice as fast, for embeddings that
        are single precision anyway.
    target_type, sensitive_type : {"auto", "class", "number"}, default="auto"
        Text, booleans and whole numbers are classes, reals are numbers, unless said otherwise.
    sensitive : name, place or list of them, optional
        Columns of X that hold what is to be hidden, instead of passing ``sensitive_features``.
        They are then no features.
    unseen : {"error", "ignore"}, default="error"
        What to do with a category that was not there in the fit.
    random_state : int, RandomState or None, default=0
        Seed of folds, and of landmarks or random features.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores. The result does not depend on it.
    verbose : int, default=0
        Above 0 a progress bar is shown (needs tqdm)."""

_ATTRIBUTES = """leakage_, utility_ : float
        What was reached on the training rows, in shares.
    point_, heldout_ : Point, HeldOut
        The same with λ, dimensions and losses; and on rows not fitted on.
    bounds_ : Bounds
        What any encoder of these features could achieve.
    dual_bound_, gap_ : float
        The certificate: a gap of zero proves that no encoder does better.
    front_ : Front
        All trade-offs, from λ = 0 to λ = 1.
    n_components_ : int
        The number of dimensions of z.
    moments_ : Moments
        The second moments of the training rows.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : array
        Their names, where X has names."""


def _documented(cls: Any) -> Any:
    cls.__doc__ = cls.__doc__.format(goals=_GOALS, rest=_REST, attributes=_ATTRIBUTES)
    return cls


class _Fits(Base):
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
                "the encoder was read from a file, which does not hold the moments of its rows: "
                "more rows cannot be added"
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
        self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self.transform(X)

    @property
    def moments_(self) -> Moments:
        """The second moments of the training rows."""
        self._fitted()
        if self._moments is None:
            raise AttributeError("the encoder was read from a file, which does not hold its moments")
        return self._moments

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
        if not isinstance(moments, Moments) or isinstance(moments, KernelMoments):
            raise ValueError(f"expected Moments, found {type(moments).__name__}")
        if not len(moments):
            raise ValueError("the moments have no rows")
        self._accept(moments)
        goal = self._goal()
        self._moments = moments.copy()
        self._front = None
        self._solved = self._solve(goal)
        self._name_inputs(self._solved)
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


class _Linear(ClassNamePrefixFeaturesOutMixin, _Fits):  # type: ignore[misc]
    n_components: int | None
    ridge: float | str

    def _cap(self) -> int | None:
        r = self.n_components
        if r is not None and (isinstance(r, bool) or not isinstance(r, (int, np.integer)) or r < 1):
            raise ValueError(f"n_components is {r!r}: expected None, or a whole number above 0")
        return None if r is None else int(r)

    def _ridge(self) -> float | None:
        ridge = self.ridge
        if isinstance(ridge, str):
            check_choice("ridge", ridge, ("auto",))
            if self.folds < 2:
                raise ValueError("ridge='auto' is chosen by held-out losses: folds must be 2 or more")
            return None
        if isinstance(ridge, bool) or not isinstance(ridge, (int, float, np.number)):
            raise ValueError(f"ridge is {ridge!r}: expected a number, or 'auto'")
        if not (np.isfinite(ridge) and ridge >= 0):
            raise ValueError(f"ridge is {ridge!r}: expected a finite number, 0 or more, or 'auto'")
        return float(ridge)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@_documented
class SARL(_Linear):
    """A linear encoder that keeps `y` predictable and hides `sensitive_features`.

    The globally optimal one, in closed form: spectral adversarial representation learning
    (Sadeghi, Yu, Boddeti, 2019), with exact control of the leakage and a certificate.

    Parameters
    ----------
    {goals}
    n_components : int, optional
        Dimensions of z at most; without it as many as help.
    ridge : float or "auto", default=0.0
        Added to the covariance of the (scaled) features; "auto" chooses by held-out losses.
    scale : {{"standard", "none"}}, default="standard"
        Whether numeric columns are brought to mean 0 and variance 1. Without a ridge it does not
        change what z tells.
    {rest}

    Attributes
    ----------
    {attributes}
    components_ : array of shape (n_components, n_columns)
        The weights, in the units of X: ``z = (x - mean_) @ components_.T``.
    mean_ : array of shape (n_columns,)
        A point that is encoded as zero: the mean of the features.

    See Also
    --------
    KernelSARL : The same with a kernel.
    Eraser : Erasure without a target, of the shape of X.

    Examples
    --------
    >>> import numpy as np
    >>> from sarl import SARL
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> s = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    >>> y = np.where(X[:, 1] + X[:, 2] > 0, "yes", "no")
    >>> encoder = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s)
    >>> round(encoder.leakage_, 4), bool(abs(encoder.gap_) < 1e-9)
    (0.01, True)
    >>> encoder.transform(X).shape
    (1000, 1)
    >>> looser = encoder.retune(max_leakage=0.1)  # no data needed
    >>> looser.utility_ > encoder.utility_
    True
    """

    def __init__(
        self,
        *,
        lambda_: float | None = None,
        alpha: float | None = None,
        max_leakage: float | None = None,
        min_utility: float | None = None,
        n_components: int | None = None,
        ridge: float | str = 0.0,
        scale: str = "standard",
        folds: int = 5,
        precision: str = "double",
        target_type: str = "auto",
        sensitive_type: str = "auto",
        sensitive: Any = None,
        unseen: str = "error",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lambda_ = lambda_
        self.alpha = alpha
        self.max_leakage = max_leakage
        self.min_utility = min_utility
        self.n_components = n_components
        self.ridge = ridge
        self.scale = scale
        self.folds = folds
        self.precision = precision
        self.target_type = target_type
        self.sensitive_type = sensitive_type
        self.sensitive = sensitive
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def components_(self) -> NDArray[np.float64]:
        """The weights of each dimension, in the units of X."""
        model = self._fitted().model
        weights = model.weights()
        factor = np.ones(len(weights))
        factor[: len(model.scaling[1])] = model.scaling[1]
        return np.ascontiguousarray((weights * factor[:, None]).T)

    @property
    def mean_(self) -> NDArray[np.float64]:
        """The mean of the features, which is encoded as zero."""
        solved = self._fitted()
        mean: NDArray[np.float64] = solved.model.decode(np.zeros((1, solved.model.dim)))[0]
        return mean


@_documented
class KernelSARL(_Linear):
    """An encoder with a kernel that keeps `y` predictable and hides `sensitive_features`.

    A kernel is a feature map, by landmarks or by random features, and the encoder is the globally
    optimal linear one of these features. See :class:`SARL`.

    Parameters
    ----------
    {goals}
    kernel : {{"rbf", "laplacian", "polynomial"}}, default="rbf"
        ``exp(-gamma |x-x'|²)``, ``exp(-gamma |x-x'|₁)`` or ``(gamma x·x' + coef0)^degree``.
    gamma : float or "auto", default="auto"
        The width of the kernel; "auto" is the median heuristic.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    approx : {{"landmarks", "exact", "random-features"}}, default="landmarks"
        How the kernel is represented: by landmarks among the rows (Nyström), by all rows, or by
        random Fourier features.
    sampling : {{"adaptive", "uniform"}}, default="adaptive"
        How landmarks are chosen: by randomly pivoted Cholesky, or uniformly.
    landmarks : int, default=1000
        Landmarks or random features at most.
    tolerance : float, default=1e-8
        No more landmarks are taken when this share of the kernel's trace is left.
    n_components : int, optional
        Dimensions of z at most; without it as many as help.
    ridge : float or "auto", default=0.0
        Added to the covariance of the kernel's features; "auto" chooses by held-out losses.
    scale : {{"standard", "none"}}, default="standard"
        Whether numeric columns are brought to mean 0 and variance 1 before the kernel.
    {rest}

    Attributes
    ----------
    {attributes}
    components_ : array of shape (n_components, n_landmarks)
        The weights of the kernel's columns: ``z = k(x) @ components_.T - offset``.
    gamma_ : float
        The width of the kernel, as given or as found.

    Notes
    -----
    With :meth:`partial_fit` the first rows decide on scale, width and landmarks: let them be
    representative.

    Examples
    --------
    >>> import numpy as np
    >>> from sarl import SARL, KernelSARL
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> s = (X[:, 0] > 0).astype(int)
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)  # nothing for a line
    >>> linear = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s)
    >>> kernel = KernelSARL(max_leakage=0.01, landmarks=100).fit(X, y, sensitive_features=s)
    >>> bool(kernel.point_.jy < 0.6 * linear.point_.jy)
    True
    """

    def __init__(
        self,
        *,
        lambda_: float | None = None,
        alpha: float | None = None,
        max_leakage: float | None = None,
        min_utility: float | None = None,
        kernel: str = "rbf",
        gamma: float | str = "auto",
        degree: int = 3,
        coef0: float = 1.0,
        approx: str = "landmarks",
        sampling: str = "adaptive",
        landmarks: int = 1000,
        tolerance: float = 1e-8,
        n_components: int | None = None,
        ridge: float | str = 0.0,
        scale: str = "standard",
        folds: int = 5,
        precision: str = "double",
        target_type: str = "auto",
        sensitive_type: str = "auto",
        sensitive: Any = None,
        unseen: str = "error",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lambda_ = lambda_
        self.alpha = alpha
        self.max_leakage = max_leakage
        self.min_utility = min_utility
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
        self.target_type = target_type
        self.sensitive_type = sensitive_type
        self.sensitive = sensitive
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _how(self) -> dict[str, Any]:
        """The kernel's parameters, each checked."""
        kernel = check_choice("kernel", self.kernel, ("rbf", "laplacian", "polynomial"))
        approx = check_choice("approx", self.approx, ("landmarks", "exact", "random-features"))
        if kernel == "polynomial" and approx == "random-features":
            raise ValueError(
                "there are no random Fourier features of a polynomial kernel; use approx='landmarks'"
            )
        gamma = self.gamma
        if isinstance(gamma, str):
            check_choice("gamma", gamma, ("auto",))
        for name, value, least, words in (
            ("gamma", gamma, 1e-300, "a finite number above 0, or 'auto'"),
            ("coef0", self.coef0, 0, "a finite number, 0 or more"),
        ):
            if not isinstance(value, str) and not (_is_number(value) and value >= least):
                raise ValueError(f"{name} is {value!r}: expected {words}")
        for name, value, most in (("degree", self.degree, 100), ("landmarks", self.landmarks, 100_000)):
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not whole or not 1 <= value <= most:
                raise ValueError(f"{name} is {value!r}: expected a whole number, 1 to {most}")
        if not _is_number(self.tolerance) or not 0 <= self.tolerance < 1:
            raise ValueError(f"tolerance is {self.tolerance!r}: expected 0 or more, below 1")
        return {
            "kernel": kernel,
            "gamma": None if isinstance(gamma, str) else float(gamma),
            "degree": int(self.degree),
            "coef0": float(self.coef0),
            "approx": approx,
            "sampling": check_choice("sampling", self.sampling, ("adaptive", "uniform")),
            "landmarks": int(self.landmarks),
            "tolerance": float(self.tolerance),
        }

    def _new_moments(self) -> Moments:
        return KernelMoments(scale=self.scale, kernel=self._how(), **self._options())

    def _standardises(self) -> bool:
        # The rows are scaled before the kernel, not its features after.
        check_choice("scale", self.scale, ("standard", "none"))
        return False

    def _solve(self, goal: tuple[str, float]) -> _files.Solved:
        solved = super()._solve(goal)
        moments = self._moments
        assert isinstance(moments, KernelMoments)
        model = solved.model.scaled(*moments.scaling)
        return _files.Solved(model, solved.columns, solved.labels, moments.spreads, solved.stats)

    def fit_moments(self, moments: Moments) -> Self:
        """Not for kernels, whose rows must be mapped first; use :meth:`partial_fit`."""
        raise ValueError("moments know nothing of a kernel: use SARL, or partial_fit of KernelSARL")

    def _apply(self, solved: _files.Solved, dense: Any, codes: list[Any]) -> NDArray[Any]:
        return solved.model.encode(one_hot(dense, codes, solved.columns), [], threads(self.n_jobs))

    @classmethod
    def _params_of(cls, solved: _files.Solved) -> dict[str, Any]:
        params = super()._params_of(solved)
        kernel, gamma, degree, coef0 = solved.model.kernel or ("rbf", None, None, None)
        if kernel == "random-features":
            return params | {"approx": kernel}
        known = {"gamma": gamma, "degree": degree, "coef0": coef0}
        return params | {"kernel": kernel, **{k: v for k, v in known.items() if v is not None}}

    @property
    def components_(self) -> NDArray[np.float64]:
        """The weights of the kernel's columns in each dimension."""
        return np.ascontiguousarray(self._fitted().model.weights().T)

    @property
    def gamma_(self) -> float:
        """The width of the kernel."""
        solved = self._fitted()
        if isinstance(self._moments, KernelMoments) and self._moments.map is not None:
            return self._moments.map.gamma
        gamma = (solved.model.kernel or ("", None, None, None))[1]
        if gamma is None:
            raise AttributeError("random features that were read from a file do not tell their gamma")
        return gamma


def _is_number(value: Any) -> bool:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return bool(number and np.isfinite(value))


@_documented
class Eraser(OneToOneFeatureMixin, _Fits):  # type: ignore[misc]
    """Erasure without a target: X as it is, but for what tells `sensitive_features`.

    The result has the shape, the units and the mean of X, and changes it as little as possible.
    ``leakage=0`` is LEACE (Belrose et al. 2023): no linear adversary finds anything. More leakage
    is a partial erasure that keeps more of X.

    Parameters
    ----------
    leakage : float, optional
        Short for `max_leakage`.
    {goals}
    scale : {{"none", "standard"}}, default="none"
        In which units little is changed: those of X, or units of standard deviations. Full
        erasure is the same in both.
    {rest}
        Here they stay features, and are erased like the others.

    Attributes
    ----------
    {attributes}
    matrix_ : array of shape (n_features, n_features)
        ``erased = mean_ + (x - mean_) @ matrix_``.
    mean_ : array of shape (n_features,)
        The mean of the features, which erasure keeps.

    Examples
    --------
    >>> import numpy as np
    >>> from sarl import Eraser
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> s = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    >>> erased = Eraser().fit_transform(X, sensitive_features=s)
    >>> erased.shape
    (1000, 5)
    >>> gap = erased[s == "a"].mean(axis=0) - erased[s == "b"].mean(axis=0)
    >>> bool(np.abs(gap).max() < 1e-12)
    True
    >>> kept = Eraser(leakage=0.2).fit_transform(X, sensitive_features=s)
    >>> bool(np.linalg.norm(kept - X) < np.linalg.norm(erased - X))
    True
    """

    _keeps_sensitive = True

    def __init__(
        self,
        *,
        leakage: float | None = None,
        lambda_: float | None = None,
        alpha: float | None = None,
        max_leakage: float | None = None,
        min_utility: float | None = None,
        scale: str = "none",
        folds: int = 5,
        precision: str = "double",
        target_type: str = "auto",
        sensitive_type: str = "auto",
        sensitive: Any = None,
        unseen: str = "error",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.leakage = leakage
        self.lambda_ = lambda_
        self.alpha = alpha
        self.max_leakage = max_leakage
        self.min_utility = min_utility
        self.scale = scale
        self.folds = folds
        self.precision = precision
        self.target_type = target_type
        self.sensitive_type = sensitive_type
        self.sensitive = sensitive
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _goal(self) -> tuple[str, float]:
        names = ("leakage", *GOALS)
        given = [(name, getattr(self, name)) for name in names if getattr(self, name) is not None]
        name, value = one_goal(given, default=("max_leakage", 0.0))
        return ("max_leakage" if name == "leakage" else name), value

    @staticmethod
    def _clear_goal(estimator: Any) -> None:
        Base._clear_goal(estimator)
        estimator.leakage = None

    def _target(self, y: Any) -> Any:
        return None

    def _rows(self, X: Any, *, reset: bool, least: int = 1) -> Any:
        X = super()._rows(X, reset=reset, least=least)
        name = first_category(X) if is_table(X) else None
        if name is not None:
            raise ValueError(
                f"column {name!r} holds categories: an eraser gives numbers back, so it can only be "
                "given numbers; make them one-hot first, or use SARL"
            )
        return X

    def _accept(self, moments: Moments) -> None:
        if moments._of(True):
            raise ValueError("the moments have a target: update them without y, or use SARL")

    @classmethod
    def _params_of(cls, solved: _files.Solved) -> dict[str, Any]:
        return {"scale": "standard" if solved.model.scaling[0] else "none"}

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_

    def _apply(self, solved: _files.Solved, dense: Any, codes: list[Any]) -> NDArray[Any]:
        return solved.model.erase(dense, threads(self.n_jobs))

    def inverse_transform(self, Z: Any) -> Any:
        """Erased rows as they are: what was erased is gone, and they are features already.

        Parameters
        ----------
        Z : array, tensor or table of shape (n_rows, n_features)
            Erased rows.

        Returns
        -------
        The same.
        """
        self._fitted()
        if Z.shape[1] != self.n_features_in_:
            raise ValueError(
                f"Z has {Z.shape[1]} columns, but {self.n_features_in_} features are expected"
            )
        return copy.copy(Z)

    def to_onnx(self, path: str | os.PathLike[str], *, double: bool = False) -> None:
        """Write the eraser as an ONNX model: whole, or not at all.

        Its input is ``X``, its output ``X_erased``, of the same shape.

        Parameters
        ----------
        path : path
            Where to.
        double : bool, default=False
            Whether they are double precision; all is computed in it anyway.
        """
        self._to_onnx(path, double, erase=True)

    @property
    def components_(self) -> NDArray[np.float64]:
        """What is erased, a direction for each row: ``(x - mean_) @ components_.T`` is taken off."""
        return self._erasure()[1]

    @property
    def mean_(self) -> NDArray[np.float64]:
        """The mean of the features, which erasure keeps."""
        return self._erasure()[0]

    @property
    def matrix_(self) -> NDArray[np.float64]:
        """``erased = mean_ + (x - mean_) @ matrix_``."""
        _, found, taken = self._erasure()
        return np.eye(found.shape[1]) - found.T @ taken

    def _erasure(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        mean, found, taken = self._fitted().model.erasure_parts()
        return mean, found, taken


__all__ = ["SARL", "Eraser", "KernelSARL"]

