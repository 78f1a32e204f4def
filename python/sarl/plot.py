"""Plots of fronts, dimensions and encoded rows (needs matplotlib).

Every function draws on the axes it is given, or on those of a new figure, and returns them.

>>> import matplotlib
>>> matplotlib.use("Agg")  # no window is needed here
>>> import numpy as np
>>> from sarl import SARL, plot
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(500, 4))
>>> s = (X[:, 0] + X[:, 1] > 0).astype(int)
>>> y = (X[:, 1] + X[:, 2] > 0).astype(int)
>>> encoder = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s)
>>> ax = plot.front(encoder)
>>> ax.figure.savefig("front.png")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from . import _labels
from ._audit import _length, _matrix, _take
from ._base import Base
from ._estimators import Eraser
from ._results import Front

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

#: Colours of Okabe and Ito, which colour-blind readers can tell apart; the palest come last.
_ON_LIGHT = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
_ON_DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#0072B2")
_OTHERS = "#999999"

_MARKERS = ("o", "^", "s", "D", "v")
_LINES = ("-", "--", ":", "-.")

#: Numbers with more different values than this get a colour map rather than a legend.
_MOST_CLASSES = 12

_SMALL = "small"


# -- the front -----------------------------------------------------------------------------------


def front(
    estimator_or_front: Base | Front | Mapping[str, Base | Front] | Sequence[Base | Front],
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
    100 % of two estimators need not be the same loss; `bounds_.gamma_min` tells.

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
    ax = _axes(ax)
    limits = None if new or not ax.has_data() else (*ax.get_xlim(), *ax.get_ylim())
    alone = len(curves) == 1
    handles: list[Any] = []
    for curve, colour in zip(curves, _palette(ax, len(curves)), strict=True):
        handles += _draw_curve(ax, curve, colour, alone, heldout=heldout, bounds=bounds, mark=mark)
    if not alone and heldout and any(c.has_heldout for c in curves):
        handles.append(_handle(color=_ink(ax), ls="--", lw=1.1, label="held-out"))
    _limit(ax, curves, heldout, limits)
    if alone and bounds:
        _name_bounds(ax, curves[0])
    _percent(ax)
    ax.set_xlabel("leakage (share of the sensitive variance)")
    # Another kernel or cap attains more or less: then the shares are of different wholes.
    whole = "the attainable" if alone else "what each can attain"
    ax.set_ylabel(f"utility (share of {whole})")
    _legend(ax, handles, loc="lower right")
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
    estimator: Base | None

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
    if isinstance(given, (Base, Front)):
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
    if not isinstance(given, Base):
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


def _refined(estimator: Base, table: Front) -> tuple[Floats, Floats]:
    """Leakage and utility, with a point between dimensions that are lost at neighbouring λ.

    One loss between two λ is a straight line, several are a polygon that the two ends do not show.
    """
    grid = table["lambda"]
    lost = np.unique(table.breakpoints)
    between = (lost[1:] + lost[:-1]) / 2
    same = np.searchsorted(grid, lost[1:]) == np.searchsorted(grid, lost[:-1])
    apart = lost[1:] - lost[:-1] > 1e-9
    extra = [(at, estimator.retune(lambda_=float(at)).point_) for at in between[same & apart]]
    order = np.searchsorted(grid, [at for at, _ in extra])
    leakage = np.insert(table["leakage"], order, [point.leakage for _, point in extra])
    utility = np.insert(table["utility"], order, [point.utility for _, point in extra])
    return leakage, utility


def _draw_curve(
    ax: Axes, curve: _Curve, colour: str, alone: bool, *, heldout: bool, bounds: bool, mark: bool
) -> list[Any]:
    """Draws one front; the handles for the legend."""
    if bounds:
        _draw_bounds(ax, curve, _ink(ax) if alone else colour)
    _draw_region(ax, curve, colour, 0.12 if alone else 0.06)
    name = "training rows" if alone else curve.name
    (line,) = ax.plot(curve.leakage, curve.utility, color=colour, lw=1.8, label=name, zorder=3)
    handles: list[Any] = [line]
    if heldout and curve.has_heldout:
        second = _palette(ax, 2)[1] if alone else colour
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
        second = _palette(ax, 2)[1]
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
        side.tick_params(length=0, labelsize=_SMALL, labelcolor=_ink(ax), pad=3)
        side.spines[:].set_visible(False)


def _dot(ax: Axes, x: float, y: float, colour: str, label: str, *, ring: bool = False) -> Any:
    """A dot with a rim of the background's colour, or a ring that lets one be seen through it."""
    background = ax.get_facecolor()
    style: dict[str, Any] = {"marker": "o", "ms": 8, "mec": background, "mew": 1.2, "ls": "none"}
    if ring:
        style |= {"mec": colour, "mew": 1.8, "mfc": "none", "ms": 9}
    return ax.plot([x], [y], color=colour, label=label, zorder=6, **style)[0]


def _limit(
    ax: Axes, curves: list[_Curve], heldout: bool, old: tuple[float, ...] | None
) -> None:
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


# -- dimensions ----------------------------------------------------------------------------------


def dimension(estimator_or_front: Base | Front, *, ax: Axes | None = None) -> Axes:
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
    >>> encoder = SARL(lambda_=0.5).fit(X, fine // 2, sensitive_features=fine)
    >>> ax = plot.dimension(encoder)
    >>> ax.get_lines()[0].get_ydata()[[0, -1]].tolist()
    [1, 0]
    """
    given = estimator_or_front
    if not isinstance(given, (Base, Front)):
        raise _unknown(given)
    table = given if isinstance(given, Front) else given.front_
    ax = _axes(ax)
    from matplotlib.ticker import MaxNLocator

    colour, second = _palette(ax, 2)
    x, steps = _steps(table)
    ax.step(x, steps, where="post", color=colour, lw=1.8, label="best", zorder=3)
    ax.fill_between(x, steps, step="post", color=colour, alpha=0.12, lw=0, zorder=1)
    top = int(steps.max())
    if isinstance(given, Base):
        point = given.point_
        top = max(top, point.dim)
        plural = "dimension" if point.dim == 1 else "dimensions"
        text = f"chosen: λ = {point.lambda_:.3g}, {point.dim} {plural}"
        ax.axvline(point.lambda_, color=second, lw=0.8, ls=":", zorder=2)
        _legend(ax, [_dot(ax, point.lambda_, point.dim, second, text)], **_free_corner(steps, x))
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


# -- encoded rows --------------------------------------------------------------------------------


def embedding(
    estimator: Base,
    X: Any,
    *,
    sensitive_features: Any = None,
    y: Any = None,
    ax: Axes | None = None,
    max_rows: int = 5000,
    random_state: Any = 0,
) -> Axes:
    """Draw the encoded rows, coloured by their labels.

    One dimension gives a density for each class, or points against a number (and the colours to
    `y`, if it is given too); more dimensions give the first two as points. What an Eraser gives
    has the columns of X: of more than two, the first two principal components are drawn.

    Parameters
    ----------
    estimator : fitted estimator
        The encoder.
    X : array, sparse matrix, tensor or table
        The rows.
    sensitive_features : array or column of a table, optional
        What the colours tell: classes, with a legend, or numbers, with a colour bar.
    y : array or column of a table, optional
        What the markers (of points) or line styles (of densities) tell; the colours, if there are
        no sensitive features. A number is split at its median.
    ax : Axes of matplotlib, optional
        Where to draw; a new figure by default.
    max_rows : int, default=5000
        Rows drawn at most; of more a sample is taken.
    random_state : int, RandomState or None, default=0
        Seed of the sample, and of the order in which points are drawn.

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
    >>> s = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    >>> y = X[:, 1:].argmax(axis=1)
    >>> encoder = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s)
    >>> ax = plot.embedding(encoder, X, sensitive_features=s)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    if not isinstance(estimator, Base):
        raise _unknown(estimator)
    n = _length(X)
    colour, shape = _tags(sensitive_features, "sensitive_features", n), _tags(y, "y", n)
    which, order = _sample(n, max_rows, random_state)
    z, names = _encoded(estimator, X if len(which) == n else _take(X, which))
    z = z[order]
    colour = None if colour is None else colour.rows(which[order])
    shape = None if shape is None else shape.rows(which[order])
    if colour is None:
        colour, shape = shape, None
    ax = _axes(ax)
    if z.shape[1] > 1:
        _points(ax, z[:, 0], z[:, 1], colour, shape)
        ax.set_ylabel(names[1])
    elif colour is not None and colour.numbers is not None:
        # The axis tells the number, which leaves the colours to the other label.
        _points(ax, z[:, 0], colour.numbers, shape, None)
        ax.set_ylabel(colour.name)
    else:
        _densities(ax, z[:, 0], colour, shape)
        ax.set_ylabel("density")
    ax.set_xlabel(names[0])
    return ax


@dataclass
class _Tags:
    """A label of each row: a code of one of several names, or a number."""

    name: str
    #: Whether the name was given, rather than that of the argument.
    named: bool
    names: list[str]
    codes: NDArray[np.intp]
    numbers: Floats | None = None

    def rows(self, which: NDArray[np.intp]) -> _Tags:
        """Some rows."""
        numbers = None if self.numbers is None else self.numbers[which]
        return replace(self, codes=self.codes[which], numbers=numbers)

    def few(self, most: int) -> _Tags:
        """At most so many: the rarest together; a number is split at its median."""
        if self.numbers is not None:
            middle = float(np.median(self.numbers))
            names = [f"≤ {middle:.3g}", f"> {middle:.3g}"]
            codes = (self.numbers > middle).astype(np.intp)
            return replace(self, names=names, codes=codes, numbers=None)
        if len(self.names) <= most:
            return self
        counts = np.bincount(self.codes, minlength=len(self.names))
        kept = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
        place = np.full(len(self.names), most - 1)
        place[kept] = np.arange(most - 1)
        names = [self.names[i] for i in kept] + [f"{len(self.names) - most + 1} others"]
        return replace(self, names=names, codes=place[self.codes])


def _tags(values: Any, name: str, rows: int) -> _Tags | None:
    if values is None:
        return None
    if _length(values) != rows:
        raise ValueError(f"X has {rows} rows, but {name} has {_length(values)}")
    labels, read = _labels.read(values, name, False, "auto", None)
    if len(labels) != 1:
        raise ValueError(f"{name} has {len(labels)} columns: pass the one to draw")
    label, found = labels[0], read[0]
    named = label.name != name
    title = label.name if named else name.replace("_", " ")
    if label.is_class:
        codes = found.astype(np.intp)
        numbers = None
        if label.kind == "integer" and len(label.classes) > _MOST_CLASSES:
            numbers = np.array(label.classes, np.float64)[codes]
        return _Tags(title, named, label.texts(), codes, numbers)
    different, codes = np.unique(found, return_inverse=True)
    numbers = found.astype(np.float64) if len(different) > _MOST_CLASSES else None
    names = [f"{value:g}" for value in different] if numbers is None else []
    return _Tags(title, named, names, codes.astype(np.intp), numbers)


def _sample(
    n: int, max_rows: int, random_state: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which rows to draw, and in which order: a random one, so that no class covers the others."""
    if isinstance(max_rows, bool) or not isinstance(max_rows, (int, np.integer)) or max_rows < 1:
        raise ValueError(f"max_rows is {max_rows!r}: expected a whole number above 0")
    drawn = check_random_state(random_state).permutation(n)[:max_rows]
    which = np.sort(drawn)
    return which, np.searchsorted(which, drawn)


def _encoded(estimator: Base, X: Any) -> tuple[Floats, list[str]]:
    """The columns to draw, one or two, and what they are called."""
    if not estimator.n_components_:
        raise ValueError(
            "the encoder has no dimensions: at this goal nothing can be kept, so that there is "
            "nothing to draw; allow more leakage"
        )
    z = _matrix(estimator.transform(X)).astype(np.float64, copy=False)
    if isinstance(estimator, Eraser):
        return _erased(estimator, z)
    if z.shape[1] == 1:
        return z, ["z"]
    of = f" (of {z.shape[1]})" if z.shape[1] > 2 else ""
    return z[:, :2], [f"z1{of}", f"z2{of}"]


def _erased(eraser: Eraser, x: Floats) -> tuple[Floats, list[str]]:
    """Columns of erased X, or its first two principal components."""
    if x.shape[1] <= 2:
        return x, [f"{name}, erased" for name in eraser.get_feature_names_out()]
    x = x - x.mean(axis=0)
    what = "erased X"
    if eraser.scale == "standard":
        spread = x.std(axis=0)
        # A column that is erased altogether is rounding only, and stays as small.
        x = x / np.where(spread > 1e-9 * spread.max(), spread, 1)
        what = "erased X, standardised"
    _, size, axes = np.linalg.svd(x, full_matrices=False)
    shares = size**2 / max(float((size**2).sum()), np.finfo(np.float64).tiny)
    names = [f"PC {j + 1} of {what} ({100 * shares[j]:.0f} % of variance)" for j in range(2)]
    return x @ axes[:2].T, names


def _points(ax: Axes, x: Floats, y: Floats, colour: _Tags | None, shape: _Tags | None) -> None:
    numbers = None if colour is None else colour.numbers
    classes = None if colour is None or numbers is not None else colour.few(len(_ON_LIGHT))
    palette = _palette(ax, 1) if classes is None else _palette_of(ax, classes)
    marks = None if shape is None else shape.few(len(_MARKERS))
    told = np.array(palette)[np.zeros(len(x), int) if classes is None else classes.codes]
    style: dict[str, Any] = {"s": float(np.clip(3e4 / len(x), 6, 30)), "lw": 0, "alpha": 0.65}
    if numbers is not None:
        told = numbers
        style |= {"cmap": "viridis", "vmin": numbers.min(), "vmax": numbers.max()}
    for code, marker in enumerate(_MARKERS[: 1 if marks is None else len(marks.names)]):
        here = np.ones(len(x), bool) if marks is None else marks.codes == code
        drawn = ax.scatter(
            x[here], y[here], c=told[here], marker=marker, rasterized=len(x) > 1000, **style
        )
    if colour is not None and numbers is not None:
        _bar(ax, drawn, colour.name)
    # Points fill the axes: the legend goes beside them, if the figure makes room for it.
    beside = numbers is None and ax.figure.get_layout_engine() is not None
    place = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if beside else {"loc": "best"}
    _legend_of(ax, classes, palette, marks, _MARKERS, **place)


def _bar(ax: Axes, drawn: Any, name: str) -> None:
    bar = ax.figure.colorbar(drawn, ax=ax, label=name, pad=0.02)
    bar.outline.set_visible(False)
    if bar.solids is not None:
        bar.solids.set_alpha(1)
    bar.ax.tick_params(colors=_ink(ax))
    bar.ax.yaxis.label.set_color(_ink(ax))


def _densities(ax: Axes, z: Floats, colour: _Tags | None, shape: _Tags | None) -> None:
    groups = None if colour is None else colour.few(len(_ON_LIGHT))
    lines = None if shape is None else shape.few(len(_LINES))
    palette = _palette(ax, 1) if groups is None else _palette_of(ax, groups)
    looks = _LINES[: 1 if lines is None else len(lines.names)]
    edges = _edges(z, len(palette) * len(looks))
    for code, shade in enumerate(palette):
        for line, look in enumerate(looks):
            here = np.ones(len(z), bool) if groups is None else groups.codes == code
            if lines is not None:
                here &= lines.codes == line
            if not here.any():
                continue
            heights, _ = np.histogram(z[here], edges, density=True)
            ax.stairs(heights, edges, color=shade, lw=1.5, ls=look, zorder=3)
            if lines is None:
                ax.stairs(heights, edges, fill=True, color=shade, alpha=0.18, zorder=2)
    ax.set_ylim(bottom=0)
    _legend_of(ax, groups, palette, lines, _LINES, loc="best")


def _edges(z: Floats, groups: int) -> Floats:
    """Bins that all groups share: as wide as the bulk of a group of usual size asks for."""
    low, high = float(z.min()), float(z.max())
    if not high > low:
        return np.array([low - 0.5, low + 0.5])
    quarter = float(np.subtract(*np.percentile(z, [75, 25])))
    width = 2 * quarter / (len(z) / groups) ** (1 / 3) or (high - low) / 30
    bins = int(np.clip(np.ceil((high - low) / width), 10, 80))
    return np.linspace(low, high, bins + 1)


def _legend_of(
    ax: Axes,
    colour: _Tags | None,
    palette: Sequence[str],
    shape: _Tags | None,
    looks: Sequence[str],
    **place: Any,
) -> None:
    """Colours first, then markers or line styles; each under its name where there are both."""
    both = [tags for tags in (colour, shape) if tags is not None]
    if not both:
        return
    handles: list[Any] = []
    for tags in both:
        if len(both) > 1:
            handles.append(_handle(ls="none", label=tags.name))
        for code, name in enumerate(tags.names):
            shade = palette[code] if tags is colour else _ink(ax)
            look = looks[0] if tags is colour else looks[code]
            how = {"ls": look, "lw": 1.8}
            if looks is _MARKERS:
                how = {"marker": look, "ls": "none", "ms": 6, "mew": 0}
            handles.append(_handle(color=shade, label=name, **how))
    title = both[0].name if len(both) == 1 and both[0].named else None
    legend = _legend(ax, handles, title=title, **place)
    for text in legend.get_texts():
        if len(both) > 1 and text.get_text() in (both[0].name, both[1].name):
            text.set_fontweight("bold")


# -- looks ---------------------------------------------------------------------------------------


def _axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'sarl[plot]'") from None
    if ax is not None:
        return ax
    _, new = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    new.spines[["top", "right"]].set_visible(False)
    return new


def _ink(ax: Axes) -> Any:
    """The colour that the axes are written in."""
    return ax.xaxis.label.get_color()


def _palette(ax: Axes, count: int) -> list[str]:
    """So many colours that stand out from the background."""
    from matplotlib.colors import to_rgb

    colours = _ON_DARK if sum(to_rgb(_ink(ax))) > 1.5 else _ON_LIGHT
    return [colours[i % len(colours)] for i in range(count)]


def _palette_of(ax: Axes, tags: _Tags) -> list[str]:
    palette = _palette(ax, len(tags.names))
    if tags.names[-1].endswith(" others"):
        palette[-1] = _OTHERS
    return palette


def _handle(**style: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **style)


def _legend(ax: Axes, handles: list[Any], **place: Any) -> Any:
    legend = ax.legend(
        handles=handles, labelcolor=_ink(ax), fontsize=_SMALL, framealpha=0.75, edgecolor="none",
        facecolor=ax.get_facecolor(), title_fontproperties={"size": _SMALL, "weight": "bold"},
        alignment="left", **place,
    )
    legend.get_title().set_color(_ink(ax))
    legend.set_zorder(7)
    return legend


__all__ = ["dimension", "embedding", "front"]
