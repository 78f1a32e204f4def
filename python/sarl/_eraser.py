"""Erasure without a target."""

from __future__ import annotations

import copy
import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from . import _files
from ._adversaries import LinearAdversaries
from ._checks import GOALS, Goal, Limit, check_ridge, renamed, threads
from ._encoder import Encoder
from ._inputs import fit_params
from ._moments import Moments
from ._shape import Slopes
from ._solved import Solved
from ._words import documented

NO_RIDGE = {"fixed": 0.0}

#: The goals of a full erasure.
FULL = (("max_leakage", 0.0), ("trade_off", 1.0))

#: Partial erasures of more features are solved in a space of few directions.
SMALL = 128


@documented
class Eraser(OneToOneFeatureMixin, LinearAdversaries, Encoder):  # type: ignore[misc]
    """Erasure without a target: X without what predicts `sensitive_features` linearly.

    The result has the shape, the units and the mean of X, and changes it as little as possible.
    ``leakage=0`` is LEACE (Belrose et al. 2023): no linear adversary finds anything. More leakage
    is a partial erasure that keeps more of X.

    Parameters
    ----------
    leakage : float or dict, optional
        Short for `max_leakage`.
    {goals}
    scale : {{"none", "standard"}}, default="none"
        In which units little is changed: those of X, or units of standard deviations. Full
        erasure is the same in both.
    ridge : float, "auto" or None, default=None
        Of a full erasure. From few rows the direction to erase is inexact, and an adversary with
        rows of its own finds the rest: see `heldout_`. With a ridge, a share of the mean variance
        of a feature, the direction of a ridge regression is erased too: X is changed more (see
        `utility_`) and less is found. "auto" takes the ridge from which held-out adversaries learn
        least. They have no more rows than the fit: one with many more finds more. Shrinking the
        covariance of X instead, as ``concept-erasure`` does, changes X less or more but not what a
        linear adversary finds.
    preserve : bool, default=False
        Whether the covariance of X with y, which `fit` then needs, is preserved: the erased X has none
        with `sensitive_features` and that of X with y, at the least change that does both (SPLINCE,
        Holstege et al. 2025). Only for a full erasure with ``criterion="parity"``. It changes X more than
        an erasure without it, and a linear model that is fitted anew without a penalty finds the
        same of y after both. It is for models that are not fitted anew, or that are with a penalty. What
        y and `sensitive_features` have in common cannot be preserved and erased: where they share a
        direction of X, `fit` says so and gives no result.
    {criterion}
        Other criteria than parity need y in `fit`: attributes are hidden beside it, and it is not
        kept by itself.
    {erasing}

    A full erasure stores only the directions that it removes, in :meth:`save` and in a pickle. A
    partial one stores the few directions that it was chosen from: :meth:`retune` and `front_` of a
    file are the best of these, and `gap_` says how much more there could be. A fitted eraser has the
    moments of its rows and solves every goal anew. A pickle has them where rows came by
    :meth:`partial_fit`, so that more rows can be added.

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

    _erases = True
    _goals = ("leakage", *GOALS)

    @renamed("lambda_", "trade_off")
    def __init__(
        self,
        *,
        leakage: Limit | None = None,
        trade_off: float | None = None,
        alpha: float | None = None,
        max_leakage: Limit | None = None,
        min_utility: Limit | None = None,
        scale: str = "none",
        ridge: float | str | None = None,
        folds: int = 5,
        precision: str = "auto",
        device: str = "auto",
        preserve: bool = False,
        criterion: str = "parity",
        favourable: Any = None,
        target_type: str | dict[str, str] = "auto",
        sensitive_type: str | dict[str, str] = "auto",
        sensitive: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.leakage = leakage
        self.trade_off = trade_off
        self.alpha = alpha
        self.max_leakage = max_leakage
        self.min_utility = min_utility
        self.scale = scale
        self.ridge = ridge
        self.folds = folds
        self.precision = precision
        self.device = device
        self.preserve = preserve
        self.criterion = criterion
        self.favourable = favourable
        self.target_type = target_type
        self.sensitive_type = sensitive_type
        self.sensitive = sensitive
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _ridge(self) -> str | dict[str, float]:
        return NO_RIDGE if self.ridge is None else check_ridge(self.ridge, self.folds)

    def _front_params(self, solved: Solved) -> str:
        # The ridge of a full erasure is none of the other trade-offs'.
        return json.dumps(json.loads(solved.params or "{}") | {"ridge": NO_RIDGE})

    def _solve(self, goal: Goal, moments: Moments, *, whole: bool = False) -> Solved:
        full = not whole and goal in FULL
        if self._ridge() != NO_RIDGE and not full:
            raise ValueError(
                f"ridge={self.ridge!r} is for a full erasure: other trade-offs of an eraser have none"
            )
        if self.preserve:
            self._check_preserve(full)
        whole = whole or (goal not in FULL and self._is_small(moments))
        params = fit_params(self, moments)
        return Solved.solve(
            moments, params, goal, whole, threads(self.n_jobs), preserve=bool(self.preserve)
        )

    def _check_preserve(self, full: bool) -> None:
        """Refuses what an erasure that preserves y has not."""
        if not full:
            raise ValueError(
                "preserve=True is for a full erasure: there is no partial one, and no front, that "
                "preserves y"
            )
        if self.criterion != "parity":
            raise ValueError(
                f"preserve=True and criterion={self.criterion!r}: what is preserved and what is hidden "
                "beside it would be the same y; use criterion='parity'"
            )
        if self._ridge() != NO_RIDGE:
            raise ValueError(f"preserve=True and ridge={self.ridge!r}: it has no ridge")

    @staticmethod
    def _is_small(moments: Moments) -> bool:
        return moments._columns is not None and len(moments._columns.names) <= SMALL

    def save(self, path: str | os.PathLike[str], *, whole: bool = False) -> None:
        """Write the model file: whole, or not at all.

        Parameters
        ----------
        path : path
            Where to; a safetensors file, with no code in it.
        whole : bool, default=False
            Whether the erasure is stored with the problem that it solved, which is of the size
            of n_features²: :meth:`retune` and :attr:`front_` of a full erasure need it, and the
            reports of ``sarl audit``. Solving it takes time that grows with the cube of
            n_features. Partial erasures of up to 128 features always are.
        """
        _files.save(self, self._whole() if whole else self._fitted(), path)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        solved = state.get("_solved")
        if solved is None or solved.model.is_whole or state.get("_streams"):
            return state
        return {**state, "_moments": None, "_solved": self._held_out()}

    def _with_front(self) -> Solved:
        solved = self._fitted()
        if self.preserve:
            self._check_preserve(False)
        if solved.model.is_whole or self._moments is None or self._is_small(self._moments):
            return self._whole()
        params = self._front_params(solved)
        jobs = threads(self.n_jobs)
        return Solved.solve(self._moments, params, solved.model.goal, False, jobs, front=True)

    @classmethod
    def _params_of(cls, solved: Solved) -> dict[str, Any]:
        model = solved.model
        return super()._params_of(solved) | {
            "ridge": model.ridge or None,
            "preserve": model.is_preserving,
        }

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_

    def _encode(self, solved: Solved, dense: Any, codes: list[Any]) -> NDArray[Any]:
        return solved.model.erase(dense, threads(self.n_jobs))

    def _slopes(self) -> Slopes:
        return list(range(self.n_features_in_)), self.matrix_

    def inverse_transform(self, Z: Any) -> Any:
        """Erased rows as they are: they are features already, and what was erased is lost.

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
