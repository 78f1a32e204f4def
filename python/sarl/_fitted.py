"""What a fitted estimator says about itself, and other trade-offs from it."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from . import _files
from ._checks import GOALS, Goal, Limit, one_goal, threads
from ._moments import Moments
from ._results import Bounds, Front, HeldOut, Point

if TYPE_CHECKING:
    from typing_extensions import Self

#: Points of `front_`.
POINTS = 101


class Fitted:
    """Results, from a solution and the moments that it was solved on."""

    n_jobs: int | None
    _moments: Moments | None
    _solved: _files.Solved | None
    _front: Front | None

    def _goal(self) -> Goal:
        raise NotImplementedError

    def _solve(self, goal: Goal, moments: Moments, *, whole: bool = True) -> _files.Solved:
        raise NotImplementedError

    def _whole(self) -> _files.Solved:
        """The solution with all other trade-offs in it."""
        solved = self._fitted()
        if solved.model.is_whole or self._moments is None:
            return solved
        return self._solve(solved.model.goal, self._moments, whole=True)

    def __sklearn_is_fitted__(self) -> bool:
        moments = getattr(self, "_moments", None)
        return getattr(self, "_solved", None) is not None or (
            moments is not None and len(moments) > 0
        )

    def _fitted(self) -> _files.Solved:
        """The solution, solved for now if rows came after the last one."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        if self._solved is None:
            assert self._moments is not None
            self._solved = self._solve(self._goal(), self._moments)
        return self._solved

    @property
    def _n_features_out(self) -> int:
        return self._fitted().model.dim

    @property
    def point_(self) -> Point:
        """The trade-off that was reached on the training rows."""
        return Point(*self._fitted().model.point)

    @property
    def leakage_(self) -> float:
        """The share of the sensitive variance that the best linear adversary explains.

        With several sensitive features the largest of their shares; see `attributes_`.
        """
        return self.point_.leakage

    @property
    def utility_(self) -> float:
        """The share of what all the features give that the target keeps.

        With several targets the least of their shares; see `attributes_`.
        """
        return self.point_.utility

    @property
    def attributes_(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Figures of each label: ``attributes_["sensitive"]["sex"]["leakage"]``.

        Under ``"target"`` each target's loss ``jy`` and ``utility``, under ``"sensitive"`` each
        sensitive feature's ``js`` and ``leakage``; with the ``limit`` that was asked for, or None,
        and both figures ``heldout``, or None. Losses are in the units of the label.
        """
        solved = self._fitted()
        name, value = solved.model.goal
        held = self._held_out(goal_name=name, value=value)
        labels = solved.heldout_labels if held is None else held["labels"]
        found: dict[str, dict[str, dict[str, Any]]] = {}
        sides = (("target", "jy", "utility"), ("sensitive", "js", "leakage"))
        for i, (side, loss, share) in enumerate(sides):
            found[side] = {
                label: {loss: error, share: part, "limit": limit, "heldout": None}
                for label, error, part, limit in solved.model.attributes()[i]
            }
            for label, error, part in labels[i] if labels is not None else []:
                found[side][label]["heldout"] = {loss: error, share: part}
        return found

    @property
    def n_components_(self) -> int:
        """The number of dimensions of z."""
        return self._fitted().model.dim

    @property
    def dual_bound_(self) -> float:
        """No encoder of these features has a smaller target loss at this leakage.

        With `min_utility`: none has a greater adversary loss at this utility.
        """
        return self._fitted().model.certificate[0]

    @property
    def gap_(self) -> float:
        """How far the encoder is from that bound: zero proves that it is the best."""
        return self._fitted().model.certificate[1]

    @property
    def bounds_(self) -> Bounds:
        """What any encoder of these features could achieve."""
        return Bounds(**self._fitted().model.bounds())

    @property
    def ridge_(self) -> float:
        """The ridge, as given or as chosen."""
        return self._fitted().model.ridge

    @property
    def front_(self) -> Front:
        """The trade-offs from λ = 0 to λ = 1, training and held-out."""
        self._fitted()
        if self._front is None:
            self._front = self.front()
        return self._front

    def front(self, points: int = POINTS) -> Front:
        """The trade-offs at as many λ, evenly spaced from 0 to 1.

        Parameters
        ----------
        points : int, default=101
            How many.

        Returns
        -------
        Front
            A table with a row for each; held-out columns are NaN where there are no folds.
        """
        if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 2:
            raise ValueError(f"points is {points!r}: expected a whole number, 2 or more")
        solved = self._whole()
        data: dict[str, NDArray[Any]] = dict(solved.model.front(int(points), threads(self.n_jobs)))
        held = self._held_out(points=int(points))
        if held is not None:
            data |= {f"heldout_{name}": column for name, column in held.items()}
        return Front(data, solved.model.breakpoints())

    @property
    def heldout_(self) -> HeldOut | None:
        """Losses on rows not fitted on, by the folds; none where there are no folds."""
        solved = self._fitted()
        name, value = solved.model.goal
        held = self._held_out(goal_name=name, value=value)
        if held is None:
            losses = solved.heldout
            if losses is None:
                return None
        else:
            losses = [float(held[column][0]) for column in HeldOut._fields]
        return HeldOut(*losses)

    def _held_out(self, **asked: Any) -> dict[str, Any] | None:
        solved = self._fitted()
        moments = self._moments
        if moments is None or moments._core is None:
            return solved.model.held_out(threads=threads(self.n_jobs), **asked)
        if moments.folds < 2:
            return None
        try:
            params = self._held_out_params(solved, **asked)
            return moments._core.held_out(params, threads=threads(self.n_jobs), **asked)
        except ValueError as problem:
            warnings.warn(f"no held-out losses: {problem}", UserWarning, stacklevel=3)
            return None

    def _held_out_params(self, solved: _files.Solved, **asked: Any) -> str:
        """Those of the solution."""
        return solved.params

    def retune(
        self,
        *,
        lambda_: float | None = None,
        alpha: float | None = None,
        max_leakage: Limit | None = None,
        min_utility: Limit | None = None,
    ) -> Self:
        """Another trade-off from the same fit, without the data.

        Exactly one goal must be given; see the class for what they mean.

        Returns
        -------
        estimator
            A new fitted estimator with the other goal.
        """
        given = [
            (name, value)
            for name, value in zip(GOALS, (lambda_, alpha, max_leakage, min_utility), strict=True)
            if value is not None
        ]
        name, value = one_goal(given)
        solved = self._fitted()
        new = copy.copy(self)
        self._clear_goal(new)
        setattr(new, name, value)
        if solved.model.is_whole or self._moments is None:
            new._solved = solved.retuned(name, value)
        else:
            new._solved = new._solve((name, value), self._moments)
        if self._moments is not None:
            # Rows that are added to one of them are not those of the other.
            new._moments = self._moments.copy()
        return new

    @staticmethod
    def _clear_goal(estimator: Any) -> None:
        for name in GOALS:
            setattr(estimator, name, None)
