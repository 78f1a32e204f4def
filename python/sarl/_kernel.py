"""The encoder with a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._adversaries import LinearAdversaries
from ._checks import Limit, check_choice, is_number, is_whole, renamed
from ._encoder import Encoder
from ._inputs import moment_options
from ._moments import Moments
from ._report import report as _report
from ._solved import Solved
from ._words import documented

#: The kernels that there are.
KERNELS = ("rbf", "laplacian", "polynomial")


@documented
class KernelSARL(LinearAdversaries, Encoder):
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
    landmarks : int, array or table, default=1000
        Landmarks or random features at most. Rows with the columns of X instead of a number are what
        landmarks are chosen from, all of them at most; see the notes.
    tolerance : float, default=1e-8
        No more landmarks are taken when this share of the kernel's trace is left.
    n_components : int, optional
        Dimensions of z at most; without it as many as help.
    ridge : float, "auto" or None, default=None
        Added to the covariance of the kernel's features; "auto" chooses by held-out losses. None is
        "auto", where there are folds.
    scale : {{"standard", "none"}}, default="standard"
        Whether numeric columns are brought to mean 0 and variance 1 before the kernel.
    {criterion}
    {rest}

    Attributes
    ----------
    {attributes}
    criterion_, favourable_ : str, object
        What is hidden, and the class that equal opportunity is about; None for other criteria.
    components_ : array of shape (n_components, n_landmarks)
        The weights of the kernel's columns: z is ``k(x) @ components_.T`` but for a constant.
    gamma_ : float
        The width of the kernel, as given or as found.
    residual_ : float
        The share of the kernel's trace that landmarks leave unexplained; 0 for random features.

    Notes
    -----
    With :meth:`partial_fit` the first rows decide on scale, width and landmarks: they should
    be representative.

    Landmarks are rows of X, and a model file or a pickle holds them: whoever has the file can read them.
    ``approx="random-features"`` holds no rows. With ``landmarks=rows`` only rows of that table are
    held, which may be public or made up.

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

    report = _report

    @renamed("lambda_", "trade_off")
    def __init__(
        self,
        *,
        trade_off: float | None = None,
        alpha: float | None = None,
        max_leakage: Limit | None = None,
        min_utility: Limit | None = None,
        kernel: str = "rbf",
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
        criterion: str = "parity",
        favourable: Any = None,
        sensitive: Any = None,
        unseen: str = "error",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.trade_off = trade_off
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
        self.device = device
        self.target_type = target_type
        self.sensitive_type = sensitive_type
        self.criterion = criterion
        self.favourable = favourable
        self.sensitive = sensitive
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _how(self) -> dict[str, Any]:
        return kernel_params(self, KERNELS)

    def _new_moments(self) -> Moments:
        return Moments._behind(
            self._how(), self.scale, rows_of(self.landmarks), **moment_options(self)
        )

    def fit_moments(self, moments: Moments) -> Any:
        """Not for kernels, whose rows must be mapped first; use :meth:`partial_fit`."""
        raise ValueError("moments know nothing of a kernel: use SARL, or partial_fit of KernelSARL")

    @classmethod
    def _params_of(cls, solved: Solved) -> dict[str, Any]:
        params = super()._params_of(solved)
        kernel, gamma, degree, coef0 = solved.model.kernel or ("rbf", None, None, None)
        if kernel == "random-features":
            return params | {"approx": kernel}
        known = {"gamma": gamma, "degree": degree, "coef0": coef0}
        return params | {"kernel": kernel, **{k: v for k, v in known.items() if v is not None}}

    @property
    def gamma_(self) -> float:
        """The width of the kernel."""
        gamma = self._found()[0] or (self._fitted().model.kernel or ("", None))[1]
        if gamma is None:
            raise AttributeError(
                "random features that were read from a file do not have their gamma"
            )
        return gamma

    @property
    def residual_(self) -> float:
        """The share of the kernel's trace that landmarks leave unexplained."""
        residual = self._found()[1]
        if residual is None:
            raise AttributeError("an encoder that was read from a file does not have its residual")
        return residual

    def _found(self) -> tuple[float | None, float | None]:
        """The width and the residual, as the rows have them."""
        self._fitted()
        known = None if self._moments is None else self._moments._core
        return (None, None) if known is None or known.kernel is None else known.kernel


def kernel_params(estimator: Any, kernels: tuple[str, ...]) -> dict[str, Any]:
    """The parameters of a kernel, each checked."""
    kernel = check_choice("kernel", estimator.kernel, kernels)
    approx = check_choice("approx", estimator.approx, ("landmarks", "exact", "random-features"))
    if kernel == "polynomial" and approx == "random-features":
        raise ValueError(
            "there are no random Fourier features of a polynomial kernel; use approx='landmarks'"
        )
    gamma = estimator.gamma
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("auto",))
    for name, value, least, words in (
        ("gamma", gamma, 1e-300, "a finite number above 0, or 'auto'"),
        ("coef0", estimator.coef0, 0, "a finite number, 0 or more"),
    ):
        if not isinstance(value, str) and not (is_number(value) and value >= least):
            raise ValueError(f"{name} is {value!r}: expected {words}")
    public = rows_of(estimator.landmarks)
    if public is not None and approx != "landmarks":
        raise ValueError(
            f"landmarks are rows and approx is {approx!r}: only approx='landmarks' takes rows"
        )
    count = estimator.landmarks if public is None else len(public)
    for name, value, most in (
        ("degree", estimator.degree, 100),
        ("landmarks", count, 100_000),
    ):
        if not is_whole(value, 1, most):
            raise ValueError(f"{name} is {value!r}: expected a whole number, 1 to {most}")
    if not is_number(estimator.tolerance) or not 0 <= estimator.tolerance < 1:
        raise ValueError(f"tolerance is {estimator.tolerance!r}: expected 0 or more, below 1")
    sampling = check_choice("sampling", estimator.sampling, ("adaptive", "uniform"))
    if approx == "landmarks" and sampling == "uniform":
        approx = "uniform_landmarks"
    return {
        "family": kernel,
        "gamma": None if isinstance(gamma, str) else float(gamma),
        "degree": int(estimator.degree),
        "coef0": float(estimator.coef0),
        "approximation": approx.replace("-", "_"),
        "landmarks": int(count),
        "tolerance": float(estimator.tolerance),
    }


def rows_of(landmarks: Any) -> Any:
    """Rows to choose landmarks from; none if a number of them was given."""
    return None if np.ndim(landmarks) == 0 and not hasattr(landmarks, "columns") else landmarks
