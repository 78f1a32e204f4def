"""The base of the estimators with linear adversaries: fits, results, other trade-offs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import GOALS, Goal, Limit, is_whole, one_goal, renamed, threads
from ._encoder import Encoder, not_fitted
from ._inputs import add_rows, check_criterion, fit_params, name_inputs, needs_target
from ._moments import Moments
from ._placed import on_gpu
from ._results import Bounds, Front, HeldOut, Point
from ._rows import flat, is_tensor, native
from ._solved import Solved

E = TypeVar("E", bound="Estimator")


class Estimator(Encoder):
    """Second moments of rows, and the solution of a problem on them.

    A subclass has the parameters. It may overrule `_goals`, `_new_moments`, `_solve` and
    `_front_params`, and what `Encoder` names.
    """

    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    #: The parameters of which one may be given.
    _goals: ClassVar[tuple[str, ...]] = GOALS

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

    def fit_batches(self: E, batches: Iterable[Any]) -> E:
        """Fit the encoder on the batches of a loader or a generator, in one pass.

        Parameters
        ----------
        batches : iterable
            Tuples (X, y, sensitive_features), of an :class:`Eraser` (X, sensitive_features), or
            mappings of the keywords of :meth:`fit`. Tensors may be on any device and of any leading
            shape, such as (batch, sequence, hidden), with labels of that leading shape. A kernel
            chooses its landmarks from the first batch.

        Returns
        -------
        estimator
            Itself. Batches that are refused leave it as it was.
        """
        goal, moments = self._goal(), None
        names = ("X", "sensitive_features") if self._erases else ("X", "y", "sensitive_features")
        for batch in batches:
            x, y, s, w = flat(batch, names)
            moments = add_rows(self, moments, x, y, s, w, least=1)
        if moments is None:
            raise ValueError("there are no batches")
        self._set(moments, self._solve(goal, moments))
        return self

    def _set(self, moments: Moments | None, solved: Solved | None) -> None:
        self._moments, self._solved, self._front = moments, solved, None
        self._streams = solved is None

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

    def fit_moments(self: E, moments: Moments) -> E:
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
        if not isinstance(moments, Moments) or moments._kernel is not None:
            raise ValueError(f"expected Moments, found {type(moments).__name__}")
        if not len(moments):
            raise ValueError("the moments have no rows")
        if self._erases and not moments._keeps(moments._labels):
            raise ValueError("the moments have a target: update them without y, or use SARL")
        if not self._erases and moments._keeps(moments._labels):
            raise ValueError("the moments have no target: update them with y, or use Eraser")
        if self._erases and bool(moments._of(True)) != needs_target(self):
            raise ValueError(
                "the moments have a target that is neither preserved nor what attributes are hidden "
                "beside: use preserve=True, or update them without y"
                if moments._of(True)
                else "the moments have no target to preserve: update them with y"
            )
        check_criterion(self, moments)
        moments = moments.copy()
        solved = self._solve(self._goal(), moments)
        self._set(moments, solved)
        name_inputs(self, solved.columns)
        return self

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
        self._set(None, solved)

    def _set_goal(self, goal: Goal) -> None:
        for name in self._goals:
            setattr(self, name, None)
        setattr(self, *goal)

    def _solve(self, goal: Goal, moments: Moments, *, whole: bool = True) -> Solved:
        return Solved.solve(moments, fit_params(self, moments), goal, whole, threads(self.n_jobs))

    def __sklearn_is_fitted__(self) -> bool:
        return self._solved is not None or (self._moments is not None and len(self._moments) > 0)

    def _fitted(self) -> Solved:
        """The solution, computed now if rows came after the last one."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)
        if self._solved is None:
            assert self._moments is not None
            self._solved = self._solve(self._goal(), self._moments)
        return self._solved

    def _whole(self) -> Solved:
        """The solution with all other trade-offs in it."""
        solved = self._fitted()
        if solved.model.is_whole or self._moments is None:
            return solved
        return self._solve(solved.model.goal, self._moments, whole=True)

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
