"""What all plots look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours of Okabe and Ito, which colour-blind readers can distinguish; the palest come last.
ON_LIGHT = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
ON_DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#0072B2")
OTHERS = "#999999"

SMALL = "small"


def axes_of(ax: Axes | None) -> Axes:
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


def ink_of(ax: Axes) -> Any:
    """The colour that the axes are written in."""
    return ax.xaxis.label.get_color()


def colours_of(ax: Axes, count: int) -> list[str]:
    """So many colours that stand out from the background."""
    from matplotlib.colors import to_rgb

    colours = ON_DARK if sum(to_rgb(ink_of(ax))) > 1.5 else ON_LIGHT
    return [colours[i % len(colours)] for i in range(count)]


def handle_of(**style: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **style)


def add_legend(ax: Axes, handles: list[Any], **place: Any) -> Any:
    legend = ax.legend(
        handles=handles,
        labelcolor=ink_of(ax),
        fontsize=SMALL,
        framealpha=0.75,
        edgecolor="none",
        facecolor=ax.get_facecolor(),
        title_fontproperties={"size": SMALL, "weight": "bold"},
        alignment="left",
        **place,
    )
    legend.get_title().set_color(ink_of(ax))
    legend.set_zorder(7)
    return legend
