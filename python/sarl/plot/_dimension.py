"""The best number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._adversaries import LinearAdversaries
from .._results import Front
from ._front import _dot, _unknown
from ._looks import add_legend, axes_of, colours_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


def dimension(estimator_or_front: LinearAdversaries | Front, *, ax: Axes | None = None) -> Axes:
    """Draw the best number of dimensions against λ: exact steps, not those of a grid.

    Parameters
    ----------
    estimator_or_front : fitted estimator or Front
        What to draw; the λ that an estimator has chosen is marked.
    ax : Axes of matplotlib, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from sarl import SARL, plot
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 4))
    >>> fine = X.argmax(axis=1)
    >>> encoder = SARL(trade_off=0.5).fit(X, fine // 2, sensitive_features=fine)
    >>> ax = plot.dimension(encoder)
    >>> ax.get_lines()[0].get_ydata()[[0, -1]].tolist()
    [1, 0]
    """
    given = estimator_or_front
    if not isinstance(given, (LinearAdversaries, Front)):
        raise _unknown(given)
    table = given if isinstance(given, Front) else given.front_
    ax = axes_of(ax)
    from matplotlib.ticker import MaxNLocator

    colour, second = colours_of(ax, 2)
    x, steps = _steps(table)
    ax.step(x, steps, where="post", color=colour, lw=1.8, label="best", zorder=3)
    ax.fill_between(x, steps, step="post", color=colour, alpha=0.12, lw=0, zorder=1)
    top = int(steps.max())
    if isinstance(given, LinearAdversaries):
        point = given.point_
        top = max(top, point.dim)
        plural = "dimension" if point.dim == 1 else "dimensions"
        text = f"chosen: λ = {point.lambda_:.3g}, {point.dim} {plural}"
        ax.axvline(point.lambda_, color=second, lw=0.8, ls=":", zorder=2)
        add_legend(ax, [_dot(ax, point.lambda_, point.dim, second, text)], **_free_corner(steps, x))
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.04 * max(top, 1), 1.12 * max(top, 1))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("λ (weight of the adversary)")
    ax.set_ylabel("dimensions of z")
    return ax


def _steps(table: Front) -> tuple[Floats, NDArray[np.int64]]:
    """Where the number of dimensions changes, and what it is from there on."""
    first, last = int(table["dim"][0]), int(table["dim"][-1])
    lost = np.sort(table.breakpoints)
    # Counted from the end: a cap on the dimensions hides the first losses, not the last.
    left = last + np.arange(len(lost), -1, -1)
    x = np.r_[0.0, lost, 1.0]
    return x, np.minimum(np.r_[left, left[-1]], first)


def _free_corner(steps: NDArray[np.int64], x: Floats) -> dict[str, Any]:
    """Where the legend hides no step: steps only fall, so above the last or below the first."""
    late = steps[np.searchsorted(x, 0.5, side="right") - 1] < 0.8 * steps[0]
    return {"loc": "upper right" if late else "lower left"}
