"""The linear encoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._adversaries import LinearAdversaries
from ._checks import Limit, renamed
from ._encoder import Encoder
from ._report import report as _report
from ._words import documented


@documented
class SARL(LinearAdversaries, Encoder):
    """A linear encoder that keeps `y` predictable and hides `sensitive_features`.

    The globally optimal one, in closed form: spectral adversarial representation learning
    (Sadeghi, Yu, Boddeti, 2019), with exact control of the leakage and a certificate.

    Parameters
    ----------
    {goals}
    n_components : int, optional
        Dimensions of z at most; without it as many as help.
    ridge : float, "auto" or None, default=None
        Added to the covariance of the (scaled) features; "auto" chooses by held-out losses. None is 0 for
        linear encoders of at least ten rows for each feature, and "auto" for others.
    scale : {{"standard", "none"}}, default="standard"
        Whether numeric columns are brought to mean 0 and variance 1. Without a ridge it does not
        change what can be predicted from z.
    {criterion}
    {rest}

    Attributes
    ----------
    {attributes}
    criterion_, favourable_ : str, object
        What is hidden, and the class that equal opportunity is about; None for other criteria.
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

    report = _report

    @renamed("lambda_", "trade_off")
    def __init__(
        self,
        *,
        trade_off: float | None = None,
        alpha: float | None = None,
        max_leakage: Limit | None = None,
        min_utility: Limit | None = None,
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

    @property
    def mean_(self) -> NDArray[np.float64]:
        """The mean of the features, which is encoded as zero."""
        solved = self._fitted()
        mean: NDArray[np.float64] = solved.model.decode(np.zeros((1, solved.model.dim)))[0]
        return mean
