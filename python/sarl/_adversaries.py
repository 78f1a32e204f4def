"""What the estimators with linear adversaries have: fits, results, other trade-offs."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import GOALS, Goal, Limit, is_whole, one_goal, renamed, threads
from ._encoder import Part
from ._exports import inverse_transform, to_onnx, to_torch
from ._fits import fit_batches, fit_moments
from ._inputs import add_rows, fit_params
from ._moments import Moments
from ._placed import on_gpu
from ._results import Bounds, Front, HeldOut, Point
from ._rows import is_tensor, native
from ._solved import Solved

E = TypeVar("E", bound="LinearAdversaries")


class LinearAdversaries(Part):  # type: ignore[misc]
    """Second moments of rows, and the solution for a goal on them.

    An estimator may overrule `_goals`, `_solve` and `_front_params`, and what `Encoder` names.
    """

    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    #: The parameters of which one may be given.
    _goals: ClassVar[tuple[str, ...]] = GOALS

    _moments: Moments | None = None
    _solved: Solved | None = None
    _front: Front | None = None
    #: Whether the rows came by `partial_fit`.
    _streams: bool = False

    # -- fits ----------------------------------------------------------------------------------

    def fit(
        self: E,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> E:
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
        goal = self._goal()
        moments = add_rows(self, None, X, y, sensitive_features, sample_weight, least=2)
        self._set(moments, self._solve(goal, moments))
        return self

    def partial_fit(
        self: E,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> E:
        """Add more rows of a stream; see :meth:`fit`.

        Rows that are refused change nothing. The problem is solved when a result is needed. Later rows
        may have new classes. Bins, combinations and kernels of labels are those of the first rows.
        With a criterion other than parity, an attribute of numbers needs all classes of the target in
        the first rows, and a target of numbers all classes of the attribute.
        """
        if self.__sklearn_is_fitted__() and self._moments is None:
            raise ValueError(
                "the encoder was read from a file or a pickle that does not hold the moments of its "
                "rows: more rows cannot be added"
            )
        self._goal()
        moments = add_rows(self, self._moments, X, y, sensitive_features, sample_weight, least=1)
        self._set(moments, None)
        return self

    def _set(self, moments: Moments | None, solved: Solved | None) -> None:
        super()._set(moments, solved)
        self._front, self._streams = None, solved is None

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """Fit the encoder, and encode the same rows; see :meth:`fit` and :meth:`transform`."""
        X = X if is_tensor(X) or on_gpu(X) else native(X)
        self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self.transform(X)

    fit_batches = fit_batches
    fit_moments = fit_moments
    inverse_transform = inverse_transform
    to_onnx = to_onnx
    to_torch = to_torch

    @property
    def moments_(self) -> Moments:
        """The second moments of the training rows: a copy, to which rows can be added."""
        self._fitted()
        if self._moments is None:
            raise AttributeError(
                "the encoder was read from a file or a pickle that does not hold its moments"
            )
        return self._moments.copy()

    # -- the problem ---------------------------------------------------------------------------

    def _goal(self) -> Goal:
        given = {name: getattr(self, name) for name in self._goals}
        name, value = one_goal(given, default=("max_leakage", 0.0))
        return ("max_leakage" if name == "leakage" else name), value

    def _restore(self, solved: Solved) -> None:
        self._set_goal(solved.model.goal)
        super()._restore(solved)

    def _set_goal(self, goal: Goal) -> None:
        for name in self._goals:
            setattr(self, name, None)
        setattr(self, *goal)

    def _solve(self, goal: Goal, moments: Moments, *, whole: bool = True) -> Solved:
        return Solved.solve(moments, fit_params(self, moments), goal, whole, threads(self.n_jobs))

    def _solve_rows(self) -> Solved:
        assert self._moments is not None
        return self._solve(self._goal(), self._moments)

    def _fitted(self) -> Solved:
        solved: Solved = super()._fitted()
        return solved

    def _whole(self) -> Solved:
        """The solution with all other trade-offs in it."""
        solved = self._fitted()
        if solved.model.is_whole or self._moments is None:
            return solved
        return self._solve(solved.model.goal, self._moments, whole=True)

    def _front_params(self, solved: Solved) -> str:
        """The parameters of the fit for other trade-offs."""
        return solved.params

    def _with_front(self) -> Solved:
        """The solution with all that its front needs."""
        return self._whole()

    # -- results -------------------------------------------------------------------------------

    @property
    def point_(self) -> Point:
        """The trade-off on the training rows."""
        return Point(*self._fitted().model.point)

    @property
    def lambda_(self) -> float:
        """The λ of the solution; inside a jump of the front that of the jump."""
        return self.point_.lambda_

    @property
    def leakage_(self) -> float:
        """The share of the sensitive variance that the best linear adversary explains.

        With several sensitive features the largest of their shares; see `attributes_`.
        """
        return self.point_.leakage

    @property
    def utility_(self) -> float:
        """The share of what all the features explain of the target that z explains.

        With several targets the least of their shares; see `attributes_`.
        """
        return self.point_.utility

    @property
    def attributes_(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Figures of each label: ``attributes_["sensitive"]["sex"]["leakage"]``.

        Under ``"target"`` each target's loss ``jy`` and ``utility``, under ``"sensitive"`` each
        sensitive feature's ``js`` and ``leakage``; with the given ``limit``, or None, and both
        figures ``heldout``, or None. Losses are in the units of the label.
        """
        return self._held_out().attributes()

    @property
    def criterion_(self) -> str:
        """What of the sensitive features is hidden: see the parameter `criterion` of `SARL`."""
        return self._fitted().model.criterion[0]

    @property
    def favourable_(self) -> Any:
        """The class of the target that equal opportunity is about; None for other criteria."""
        solved = self._fitted()
        code = solved.model.criterion[1]
        targets = [label for label in solved.labels if label.target]
        return None if code is None else targets[0].classes[code]

    @property
    def components_(self) -> NDArray[np.float64]:
        """The weights of each dimension: in the units of X, or of the columns of the kernel."""
        return np.ascontiguousarray(self._fitted().model.weights().T)

    @property
    def n_components_(self) -> int:
        """The number of dimensions of z; of an eraser that of what is left of X."""
        return self._fitted().model.dim

    @property
    def dual_bound_(self) -> float:
        """No encoder of these features has a smaller target loss at this leakage.

        With `min_utility`: none has a greater adversary loss at this utility.
        """
        return self._fitted().model.certificate[0]

    @property
    def gap_(self) -> float:
        """The distance of the encoder from that bound: zero proves that it is the best."""
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
    def heldout_(self) -> HeldOut | None:
        """Losses on rows not fitted on, by the folds; none where there are no folds."""
        losses = self._held_out().heldout
        return None if losses is None else HeldOut(*losses)

    def _held_out(self) -> Solved:
        return self._fitted().held_out(self._moments, threads(self.n_jobs))

    @property
    def front_(self) -> Front:
        """The trade-offs from λ = 0 to λ = 1, training and held-out."""
        self._fitted()
        if self._front is None:
            self._front = self.front()
        return self._front

    def front(self, points: int = 101) -> Front:
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
        if not is_whole(points, 2):
            raise ValueError(f"points is {points!r}: expected a whole number, 2 or more")
        solved = self._with_front()
        params = self._front_params(solved)
        return solved.front(self._moments, params, int(points), threads(self.n_jobs))

    @renamed("lambda_", "trade_off")
    def retune(
        self: E,
        *,
        trade_off: float | None = None,
        alpha: float | None = None,
        max_leakage: Limit | None = None,
        min_utility: Limit | None = None,
    ) -> E:
        """Another trade-off from the same fit, without the data.

        Exactly one goal must be given; see the class for what they mean.

        Returns
        -------
        estimator
            A new fitted estimator with the other goal.
        """
        values = (trade_off, alpha, max_leakage, min_utility)
        goal = one_goal(dict(zip(GOALS, values, strict=True)))
        solved = self._fitted()
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._set_goal(goal)
        if solved.model.is_whole or self._moments is None:
            new._solved = solved.retuned(*goal)
        else:
            new._solved = new._solve(goal, self._moments)
        if self._moments is not None:
            # Rows that are added to one of them are not those of the other.
            new._moments = self._moments.copy()
        return new
