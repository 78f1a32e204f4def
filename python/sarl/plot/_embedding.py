"""Encoded rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .. import _labels
from .._adversaries import LinearAdversaries
from .._eraser import Eraser
from .._rows import length, matrix, take
from ._front import _unknown
from ._looks import ON_LIGHT, OTHERS, add_legend, axes_of, colours_of, handle_of, ink_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_MARKERS = ("o", "^", "s", "D", "v")
_LINES = ("-", "--", ":", "-.")

#: Numbers with more different values than this get a colour map rather than a legend.
_MOST_CLASSES = 12


def embedding(
    estimator: LinearAdversaries,
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
        What the colours show: classes, with a legend, or numbers, with a colour bar.
    y : array or column of a table, optional
        What the markers (of points) or line styles (of densities) show; the colours, if there are
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
    if not isinstance(estimator, LinearAdversaries):
        raise _unknown(estimator)
    n = length(X)
    colour, shape = _tags(sensitive_features, "sensitive_features", n), _tags(y, "y", n)
    which, order = _sample(n, max_rows, random_state)
    z, names = _encoded(estimator, X if len(which) == n else take(X, which))
    z = z[order]
    colour = None if colour is None else colour.rows(which[order])
    shape = None if shape is None else shape.rows(which[order])
    if colour is None:
        colour, shape = shape, None
    ax = axes_of(ax)
    if z.shape[1] > 1:
        _points(ax, z[:, 0], z[:, 1], colour, shape)
        ax.set_ylabel(names[1])
    elif colour is not None and colour.numbers is not None:
        # The axis shows the number, which leaves the colours to the other label.
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
    if length(values) != rows:
        raise ValueError(f"X has {rows} rows, but {name} has {length(values)}")
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


def _sample(n: int, max_rows: int, random_state: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which rows to draw, and in which order: a random one, so that no class covers the others."""
    if isinstance(max_rows, bool) or not isinstance(max_rows, (int, np.integer)) or max_rows < 1:
        raise ValueError(f"max_rows is {max_rows!r}: expected a whole number above 0")
    drawn = check_random_state(random_state).permutation(n)[:max_rows]
    which = np.sort(drawn)
    return which, np.searchsorted(which, drawn)


def _encoded(estimator: LinearAdversaries, X: Any) -> tuple[Floats, list[str]]:
    """The columns to draw, one or two, and what they are called."""
    if not estimator.n_components_:
        raise ValueError(
            "the encoder has no dimensions: at this goal nothing can be kept, so that there is "
            "nothing to draw; allow more leakage"
        )
    z = matrix(estimator.transform(X)).astype(np.float64, copy=False)
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
    classes = None if colour is None or numbers is not None else colour.few(len(ON_LIGHT))
    palette = colours_of(ax, 1) if classes is None else _palette_of(ax, classes)
    marks = None if shape is None else shape.few(len(_MARKERS))
    colours = np.array(palette)[np.zeros(len(x), int) if classes is None else classes.codes]
    style: dict[str, Any] = {"s": float(np.clip(3e4 / len(x), 6, 30)), "lw": 0, "alpha": 0.65}
    if numbers is not None:
        colours = numbers
        style |= {"cmap": "viridis", "vmin": numbers.min(), "vmax": numbers.max()}
    for code, marker in enumerate(_MARKERS[: 1 if marks is None else len(marks.names)]):
        here = np.ones(len(x), bool) if marks is None else marks.codes == code
        drawn = ax.scatter(
            x[here], y[here], c=colours[here], marker=marker, rasterized=len(x) > 1000, **style
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
    bar.ax.tick_params(colors=ink_of(ax))
    bar.ax.yaxis.label.set_color(ink_of(ax))


def _densities(ax: Axes, z: Floats, colour: _Tags | None, shape: _Tags | None) -> None:
    groups = None if colour is None else colour.few(len(ON_LIGHT))
    lines = None if shape is None else shape.few(len(_LINES))
    palette = colours_of(ax, 1) if groups is None else _palette_of(ax, groups)
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
            handles.append(handle_of(ls="none", label=tags.name))
        for code, name in enumerate(tags.names):
            shade = palette[code] if tags is colour else ink_of(ax)
            look = looks[0] if tags is colour else looks[code]
            how = {"ls": look, "lw": 1.8}
            if looks is _MARKERS:
                how = {"marker": look, "ls": "none", "ms": 6, "mew": 0}
            handles.append(handle_of(color=shade, label=name, **how))
    title = both[0].name if len(both) == 1 and both[0].named else None
    legend = add_legend(ax, handles, title=title, **place)
    for text in legend.get_texts():
        if len(both) > 1 and text.get_text() in (both[0].name, both[1].name):
            text.set_fontweight("bold")


def _palette_of(ax: Axes, tags: _Tags) -> list[str]:
    palette = colours_of(ax, len(tags.names))
    if tags.names[-1].endswith(" others"):
        palette[-1] = OTHERS
    return palette
