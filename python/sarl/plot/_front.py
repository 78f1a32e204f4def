"""The trade-off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._adversaries import LinearAdversaries
from .._results import Front
from ._looks import SMALL, add_legend, axes_of, colours_of, handle_of, ink_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


def front(
    estimator_or_front: LinearAdversaries
    | Front
    | Mapping[str, LinearAdversaries | Front]
    | Sequence[LinearAdversaries | Front],
    *,
    ax: Axes | None = None,
    heldout: bool = True,
    bounds: bool = True,
    mark: bool = True,
) -> Axes:
    """Draw utility against leakage, from λ = 0 to λ = 1.

    Parameters
    ----------
    estimator_or_front : fitted estimator or Front, or several
        What to draw. A dict of several names them, a list calls them by their classes.
    ax : Axes of matplotlib, optional
        Where to draw; a new figure by default.
    heldout : bool, default=True
        Whether to draw what the folds say of rows not fitted on: a dashed line, in a band of one
        standard deviation over the folds. Several are drawn without bands.
    bounds : bool, default=True
        Whether to draw lines at full utility, at no leakage, at the least leakage of full utility
        and at the most utility without leakage.
    mark : bool, default=True
        Whether to mark the trade-off that an estimator has chosen.

    Returns
    -------
    Axes
        The axes. Their coordinates are shares, 0 to 1, though the labels are in percent.

    Notes
    -----
    Under and right of the front is what can be reached. Where a dimension is lost the front is a
    straight line: no encoder is above it, and the best may be a little below; the estimator's
    `gap_` says how far. Utility is a share of what that estimator's features can attain, so that
    100 % of two estimators need not be the same loss; see `bounds_.gamma_min`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from sarl import SARL, KernelSARL, plot
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 4))
    >>> s = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> y = (X[:, 1] + X[:, 2] > 0).astype(int)
    >>> linear = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s)
    >>> plot.front(linear).get_xlabel()
    'leakage (share of the sensitive variance)'
    >>> kernel = KernelSARL(max_leakage=0.01, landmarks=50).fit(X, y, sensitive_features=s)
    >>> ax = plot.front({"linear": linear, "kernel": kernel}, heldout=False)
    """
    curves = _curves(estimator_or_front)
    new = ax is None
    ax = axes_of(ax)
    limits = None if new or not ax.has_data() else (*ax.get_xlim(), *ax.get_ylim())
    alone = len(curves) == 1
    handles: list[Any] = []
    for curve, colour in zip(curves, colours_of(ax, len(curves)), strict=True):
        handles += _draw_curve(ax, curve, colour, alone, heldout=heldout, bounds=bounds, mark=mark)
    if not alone and heldout and any(c.has_heldout for c in curves):
        handles.append(handle_of(color=ink_of(ax), ls="--", lw=1.1, label="held-out"))
    _limit(ax, curves, heldout, limits)
    if alone and bounds:
        _name_bounds(ax, curves[0])
    _percent(ax)
    ax.set_xlabel("leakage (share of the sensitive variance)")
    # Another kernel or cap attains more or less: then the shares are of different wholes.
    whole = "the attainable" if alone else "what each can attain"
    ax.set_ylabel(f"utility (share of {whole})")
    add_legend(ax, handles, loc="lower right")
    return ax


@dataclass
class _Curve:
    """What is drawn of one front, in shares."""

    name: str
    leakage: Floats
    utility: Floats
    front: Front
    #: The greatest leakage, and what one unit of loss is in shares: of js, of jy.
    most: float
    units: tuple[float, float]
    #: The least leakage of full utility, and the most utility without leakage.
    ends: tuple[float, float]
    estimator: LinearAdversaries | None

    @property
    def held(self) -> tuple[Floats, Floats]:
        """Leakage and utility on rows not fitted on."""
        return self.front["heldout_leakage"], self.front["heldout_utility"]

    @property
    def has_heldout(self) -> bool:
        """Whether there are any."""
        return bool(np.isfinite(self.held[0]).any())

    @property
    def spread(self) -> tuple[Floats, Floats]:
        """Their standard deviations over the folds."""
        js, jy = self.units
        return self.front["heldout_js_sd"] * js, self.front["heldout_jy_sd"] * jy


def _curves(given: Any) -> list[_Curve]:
    if isinstance(given, (LinearAdversaries, Front)):
        named = [(type(given).__name__, given)]
    elif isinstance(given, Mapping):
        named = [(str(name), one) for name, one in given.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        named = list(zip(_class_names(given), given, strict=True))
    else:
        raise _unknown(given)
    if not named:
        raise ValueError("there is nothing to draw: expected one estimator or front at least")
    return [_curve(name, one) for name, one in named]


def _class_names(several: Sequence[Any]) -> list[str]:
    """The name of each one's class, numbered where it comes more than once."""
    names = [type(one).__name__ for one in several]
    return [
        f"{name} {names[: i + 1].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]


def _unknown(given: Any) -> TypeError:
    return TypeError(
        f"expected a fitted SARL, KernelSARL or Eraser, or a Front, found {type(given).__name__}"
    )


def _curve(name: str, given: Any) -> _Curve:
    if isinstance(given, Front):
        leakage, utility = given["leakage"], given["utility"]
        # λ = 0 and λ = 1 are the encoders of these bounds.
        ends = float(leakage[0]), float(utility[-1])
        units = _unit(given["js"], leakage), _unit(given["jy"], utility)
        return _Curve(name, leakage, utility, given, 1.0, units, ends, None)
    if not isinstance(given, LinearAdversaries):
        raise _unknown(given)
    table = given.front_
    known = given.bounds_
    leakage, utility = _refined(given, table)
    attainable = known.target_variance - known.gamma_min
    units = 1 / known.alpha_max, 1 / attainable if attainable > 0 else 0.0
    ends = known.leakage(known.alpha_min), known.utility(known.gamma_max)
    most = known.leakage(known.alpha_star_min)
    return _Curve(name, leakage, utility, table, most, units, ends, given)


def _unit(losses: Floats, shares: Floats) -> float:
    """How many shares one unit of loss is: each is a line in the other."""
    span = float(np.ptp(losses))
    return float(np.ptp(shares)) / span if span > 0 else 0.0


def _refined(estimator: LinearAdversaries, table: Front) -> tuple[Floats, Floats]:
    """Leakage and utility, with a point between dimensions that are lost at neighbouring λ.

    One loss between two λ is a straight line, several are a polygon that the two ends do not show.
    """
    grid = table["lambda"]
    lost = np.unique(table.breakpoints)
    between = (lost[1:] + lost[:-1]) / 2
    same = np.searchsorted(grid, lost[1:]) == np.searchsorted(grid, lost[:-1])
    apart = lost[1:] - lost[:-1] > 1e-9
    extra = [(at, estimator.retune(trade_off=float(at)).point_) for at in between[same & apart]]
    order = np.searchsorted(grid, [at for at, _ in extra])
    leakage = np.insert(table["leakage"], order, [point.leakage for _, point in extra])
    utility = np.insert(table["utility"], order, [point.utility for _, point in extra])
    return leakage, utility


def _draw_curve(
    ax: Axes, curve: _Curve, colour: str, alone: bool, *, heldout: bool, bounds: bool, mark: bool
) -> list[Any]:
    """Draws one front; the handles for the legend."""
    if bounds:
        _draw_bounds(ax, curve, ink_of(ax) if alone else colour)
    _draw_region(ax, curve, colour, 0.12 if alone else 0.06)
    name = "training rows" if alone else curve.name
    (line,) = ax.plot(curve.leakage, curve.utility, color=colour, lw=1.8, label=name, zorder=3)
    handles: list[Any] = [line]
    if heldout and curve.has_heldout:
        second = colours_of(ax, 2)[1] if alone else colour
        handles += _draw_heldout(ax, curve, second, alone)
    if not mark or curve.estimator is None:
        return handles
    point = curve.estimator.point_
    shown = _shares(point.leakage, point.utility)
    if not alone:
        line.set_label(f"{curve.name}: {shown}")
    dot = _dot(ax, point.leakage, point.utility, colour, f"chosen: {shown}")
    if not alone:
        return handles
    handles.append(dot)
    held = curve.estimator.heldout_ if heldout else None
    if held is not None:
        second = colours_of(ax, 2)[1]
        text = f"held-out: {_shares(held.leakage, held.utility)}"
        handles.append(_dot(ax, held.leakage, held.utility, second, text, ring=True))
    return handles


def _draw_region(ax: Axes, curve: _Curve, colour: str, alpha: float) -> None:
    from matplotlib.patches import Polygon

    # The far corners lie outside of the view, and must not widen it: so no patch, but an artist.
    most, least = max(curve.most, float(curve.leakage.max())), min(0.0, float(curve.utility.min()))
    corners = [(curve.leakage[-1], least - 1), (most, least - 1), (most, curve.utility[0])]
    outline = [*corners, *zip(curve.leakage, curve.utility, strict=True)]
    region = Polygon(outline, closed=True, facecolor=colour, alpha=alpha, lw=0, zorder=0)
    ax.add_artist(region).set_label("_reachable")


def _draw_heldout(ax: Axes, curve: _Curve, colour: str, alone: bool) -> list[Any]:
    x, y = curve.held
    label = "rows not fitted on, ± 1 sd" if alone else f"_{curve.name} held-out"
    (line,) = ax.plot(x, y, color=colour, ls="--", lw=1.3 if alone else 1.1, label=label, zorder=4)
    if not alone:
        return []
    dx, dy = curve.spread
    # From one deviation better in both to one worse.
    around = np.r_[np.c_[x - dx, y + dy], np.c_[x + dx, y - dy][::-1]]
    around = around[np.isfinite(around).all(axis=1)]
    if len(around):
        ax.fill(*around.T, facecolor=colour, alpha=0.22, lw=0, zorder=2, label="_spread")
    return [line]


def _draw_bounds(ax: Axes, curve: _Curve, colour: str) -> None:
    leakage, utility = curve.ends
    style: dict[str, Any] = {"color": colour, "lw": 0.8, "zorder": 1}
    ax.axvline(0, alpha=0.35, label="_no leakage", **style)
    ax.axhline(1, alpha=0.35, label="_full utility", **style)
    ax.axvline(leakage, ls=":", alpha=0.8, label="_leakage at full utility", **style)
    ax.axhline(utility, ls=":", alpha=0.8, label="_utility at no leakage", **style)


def _name_bounds(ax: Axes, curve: _Curve) -> None:
    """Says at the far sides what the dotted lines are."""
    leakage, utility = curve.ends
    top, right = ax.secondary_xaxis("top"), ax.secondary_yaxis("right")
    top.set_xticks([leakage], [f"full utility leaks {_share(leakage)}"])
    right.set_yticks([utility], [f"no leakage\nkeeps {_share(utility)}"])
    for side in (top, right):
        side.tick_params(length=0, labelsize=SMALL, labelcolor=ink_of(ax), pad=3)
        side.spines[:].set_visible(False)


def _dot(ax: Axes, x: float, y: float, colour: str, label: str, *, ring: bool = False) -> Any:
    """A dot with a rim of the background's colour, or a ring that lets one be seen through it."""
    background = ax.get_facecolor()
    style: dict[str, Any] = {"marker": "o", "ms": 8, "mec": background, "mew": 1.2, "ls": "none"}
    if ring:
        style |= {"mec": colour, "mew": 1.8, "mfc": "none", "ms": 9}
    return ax.plot([x], [y], color=colour, label=label, zorder=6, **style)[0]


def _limit(ax: Axes, curves: list[_Curve], heldout: bool, old: tuple[float, ...] | None) -> None:
    """A view of all curves with room around, and of what was there before."""
    shown = [(c.leakage, c.utility) for c in curves]
    shown += [(np.array([0, c.ends[0]]), np.array([c.ends[1], 1])) for c in curves]
    if heldout:
        shown += [c.held for c in curves if c.has_heldout]
    points = [c.estimator.point_ for c in curves if c.estimator is not None]
    shown += [(np.array([p.leakage]), np.array([p.utility])) for p in points]
    x, y = (np.concatenate(side) for side in zip(*shown, strict=True))
    left, right = min(0.0, float(np.nanmin(x))), float(np.nanmax(x))
    low, high = float(np.nanmin(y)), max(1.0, float(np.nanmax(y)))
    wide, tall = max(right - left, 1e-3), max(high - low, 1e-2)
    # Below and to the right is only what is reachable too: room for the legend.
    floor = max(low - 0.5 * tall, min(low, 0.0) - 0.06 * tall)
    view: tuple[float, ...] = (left - 0.04 * wide, right + 0.2 * wide, floor, high + 0.06 * tall)
    if old is not None:
        pick = (min, max, min, max)
        view = tuple(of(pair) for of, pair in zip(pick, zip(view, old, strict=True), strict=True))
    ax.set_xlim(view[0], view[1])
    ax.set_ylim(view[2], view[3])


def _percent(ax: Axes) -> None:
    from matplotlib.ticker import PercentFormatter

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(PercentFormatter(1, symbol=" %"))


def _share(value: float) -> str:
    percent = 100 * value
    text = f"{percent:.1f}" if abs(percent) >= 0.995 else f"{percent:.2f}"
    return f"{text} %" if float(text) else "0 %"


def _shares(leakage: float, utility: float) -> str:
    return f"leakage {_share(leakage)}, utility {_share(utility)}"
