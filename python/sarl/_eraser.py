"""Erasure without a target."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from . import _files
from ._base import Base
from ._checks import GOALS, Goal, Limit, check_ridge, one_goal, threads
from ._fits import Fits
from ._moments import Moments
from ._rows import first_category, is_table
from ._words import documented

NO_RIDGE = {"fixed": 0.0}


@documented
class Eraser(OneToOneFeatureMixin, Fits):  # type: ignore[misc]
    """Erasure without a target: X as it is, but for what tells `sensitive_features`.

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
        Of a full erasure. Few rows know badly which direction tells what is to be hidden, and an
        adversary with rows of its own finds the rest: see `heldout_`. With a ridge, a share of the
        mean variance of a feature, the direction that a ridge regression smooths goes too: X is
        changed more (see `utility_`) and less is found. "auto" takes the one from which held-out
        adversaries learn least. These have no more rows than you gave: one with many more finds
        more. Shrinking the covariance of X instead, as ``concept-erasure`` does, changes X
        less or more but not what a linear adversary finds.
    {erasing}

    A full erasure keeps only the directions that it takes off, however many columns X has: that is
    what :meth:`save` and a pickle hold. `retune` and `front_` solve the whole problem from the moments
    of the rows, which a fitted eraser still has and a file has not; see :meth:`save`. A pickle has
    them where rows came by :meth:`partial_fit`, so that a stream can go on.

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
    # There is no target, and there are no categories.
    target_type = "auto"
    unseen = "error"

    def __init__(
        self,
        *,
        leakage: Limit | None = None,
        lambda_: float | None = None,
        alpha: float | None = None,
        max_leakage: Limit | None = None,
        min_utility: Limit | None = None,
        scale: str = "none",
        ridge: float | str | None = None,
        folds: int = 5,
        precision: str = "double",
        sensitive_type: str | dict[str, str] = "auto",
        sensitive: Any = None,
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
        self.ridge = ridge
        self.folds = folds
        self.precision = precision
        self.sensitive_type = sensitive_type
        self.sensitive = sensitive
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _goal(self) -> Goal:
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

    def _ridge(self) -> str | dict[str, float]:
        return NO_RIDGE if self.ridge is None else check_ridge(self.ridge, self.folds)

    def _held_out_params(self, solved: _files.Solved, **asked: Any) -> str:
        # The ridge of a full erasure is none of the other trade-offs'.
        if "points" not in asked:
            return solved.params
        return json.dumps(json.loads(solved.params) | {"ridge": NO_RIDGE})

    def _solve(self, goal: Goal, moments: Moments, *, whole: bool = False) -> _files.Solved:
        if self._ridge() != NO_RIDGE and (
            whole or goal not in (("max_leakage", 0.0), ("lambda_", 1.0))
        ):
            raise ValueError(
                f"ridge={self.ridge!r} is for a full erasure: other trade-offs of an eraser have none"
            )
        return super()._solve(goal, moments, whole=whole)

    def save(self, path: str | os.PathLike[str], *, whole: bool = False) -> None:
        """Write the model file: whole, or not at all.

        Parameters
        ----------
        path : path
            Where to; a safetensors file, with no code in it.
        whole : bool, default=False
            Whether a full erasure is stored with the problem that it solved, which is of the size
            of n_features²: :meth:`retune`, :attr:`front_` and the command line need it.
            Partial erasures always are.
        """
        self._save(path, self._whole() if whole else self._fitted())

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        solved = state.get("_solved")
        if solved is None or solved.model.is_whole or state.get("_streams"):
            return state
        held = self.heldout_
        losses = None if held is None else list(held[:4])
        return {**state, "_moments": None, "_solved": dataclasses.replace(solved, heldout=losses)}

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
        scale = "standard" if solved.model.scaling[0] else "none"
        return {"scale": scale, "ridge": solved.model.ridge or None}

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
