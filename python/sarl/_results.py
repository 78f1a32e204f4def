"""What a fit says about itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


class Bounds(NamedTuple):
    """What any encoder of these features could achieve: mean squared errors, summed over columns.

    Where there are several targets or several sensitive features, each is divided by its own variance first.

    The features are those of the kernel where there is one, and the encoders those with no more
    than `n_components` dimensions: utilities of different estimators are shares of different wholes.
    """

    #: The least target loss of any encoder.
    gamma_min: float
    #: The least target loss of an encoder that leaks nothing.
    gamma_max: float
    #: The greatest adversary loss among encoders of target loss `gamma_min`.
    alpha_min: float
    #: The greatest adversary loss of any encoder: it knows nothing but the mean.
    alpha_max: float
    #: The least adversary loss among encoders of target loss `gamma_min`.
    alpha_bar_min: float
    #: The least adversary loss of any encoder.
    alpha_star_min: float
    #: The target loss without any encoder: its variance.
    target_variance: float
    #: The part of it that all the features explain, whatever `n_components`.
    attainable: float

    def leakage(self, js: float) -> float:
        """The share of the sensitive variance that an adversary of this loss explains."""
        return 1 - js / self.alpha_max

    def utility(self, jy: float) -> float:
        """The share of what all the features give that a target loss keeps."""
        return (self.target_variance - jy) / self.attainable if self.attainable > 0 else 1.0


class Point(NamedTuple):
    """A trade-off on the training rows.

    Inside a jump of the front `lambda_` is that of the jump, and `dim` what was chosen there.
    """

    lambda_: float
    dim: int
    jy: float
    js: float
    utility: float
    leakage: float


class HeldOut(NamedTuple):
    """Losses on rows that the encoder was not fitted on: means over folds, and their spread."""

    jy: float
    js: float
    jy_sd: float
    js_sd: float
    utility: float
    leakage: float


class Front:
    """The trade-offs of a fit from λ = 0 to λ = 1, a row for each.

    A small table: `front["leakage"]` is a column, `np.asarray(front)` all of them,
    `front.to_pandas()` a DataFrame. Held-out columns are NaN where there are no folds.

    Attributes
    ----------
    breakpoints : array
        The λ at which the best number of dimensions steps down.
    """

    columns: tuple[str, ...] = (
        "lambda",
        "dim",
        "jy",
        "js",
        "utility",
        "leakage",
        "heldout_jy",
        "heldout_js",
        "heldout_jy_sd",
        "heldout_js_sd",
        "heldout_utility",
        "heldout_leakage",
    )

    def __init__(self, data: dict[str, NDArray[Any]], breakpoints: list[float]) -> None:
        count = len(data["lambda"])
        self._data = {
            name: np.asarray(data.get(name, np.full(count, np.nan))) for name in self.columns
        }
        self.breakpoints: NDArray[np.float64] = np.asarray(breakpoints, np.float64)

    def __getitem__(self, column: str) -> NDArray[Any]:
        try:
            return self._data[column]
        except KeyError:
            raise KeyError(f"{column!r}; the columns are {', '.join(self.columns)}") from None

    def __len__(self) -> int:
        return len(self._data["lambda"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for i in range(len(self)):
            yield {name: self._data[name][i].item() for name in self.columns}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.column_stack([self._data[name] for name in self.columns]).astype(
            dtype or np.float64, copy=False
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), len(self.columns)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a DataFrame of pandas."""
        import pandas as pd

        return pd.DataFrame({name: self._data[name] for name in self.columns})

    def __repr__(self) -> str:
        shown = ("lambda", "dim", "utility", "leakage", "heldout_utility", "heldout_leakage")
        step = max(1, (len(self) - 1) // 10)
        rows = [
            "  ".join(f"{self._data[name][i]:>{max(8, len(name))}.4g}" for name in shown)
            for i in range(0, len(self), step)
        ]
        head = "  ".join(f"{name:>8}" for name in shown)
        more = f"{len(self)} points, every {step}th is shown" if step > 1 else f"{len(self)} points"
        return "\n".join([head, *rows, more])
