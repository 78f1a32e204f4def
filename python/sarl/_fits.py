"""Fits on what is no table of rows: batches of a stream, and moments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from ._inputs import add_rows, check_criterion, name_inputs, needs_target
from ._moments import Moments
from ._rows import flat

if TYPE_CHECKING:
    from ._adversaries import LinearAdversaries

E = TypeVar("E", bound="LinearAdversaries")


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
    _check(self, moments)
    moments = moments.copy()
    solved = self._solve(self._goal(), moments)
    self._set(moments, solved)
    name_inputs(self, solved.columns)
    return self


def _check(self: LinearAdversaries, moments: Any) -> None:
    """Refuses moments that are not of what an estimator keeps and hides."""
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
