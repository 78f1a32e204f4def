"""Results of fits and audits."""

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
    #: The greatest adversary loss of any encoder: it predicts the mean.
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
        except (KeyError, TypeError):
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


class Audit:
    """What every probe predicted of every attribute, from z and from the raw features.

    Attributes
    ----------
    target, sensitive : dict
        The findings about the (first) target and about the attribute to hide with the largest
        advantage: ``advantage`` is the worst case over probes, over guessing, with an interval
        that allows for having tried several; ``best`` is the probe with the largest accuracy or
        R², ``probes`` are all, ``majority`` is the accuracy without any features.
    fairness : dict or None
        Gaps between groups of the best predictor of the target, with the conventions of fairlearn:
        ``demographic_parity``, ``equal_opportunity`` (None where the target is a number) and
        ``equalized_odds``, with their 95 % intervals in ``ci``, those from the raw features in
        ``raw``, and in ``change`` for each the paired change from there: ``value``, ``ci`` and the
        ``verdict`` "better", "worse" or "no clear difference". It is about the attribute in
        `sensitive`.
    fairness_by : list of dict
        The same for every attribute to hide. A number makes groups of fifths.
    control : dict or None
        The same from the raw features.
    rows_used : dict
        How many rows fitted the encoder (None if it was fitted before), trained the probes and
        tested them. No row did two of these.
    n_train, n_test : int
        Rows that the probes were trained on, and those that they were tested on.
    refitted : bool
        Whether the encoder was fitted anew on a part of the rows.
    """

    def __init__(
        self, z: dict[str, Any] | None, control: dict[str, Any] | None, about: dict[str, Any]
    ) -> None:
        found = z or control or {}
        self.target: dict[str, Any] | None = found["target"]
        self.sensitive: dict[str, Any] = found["sensitive"]
        if z is not None and control is not None:
            z = _beside(z, control)
            found = z
        self.fairness: dict[str, Any] | None = found["fairness"]
        self.fairness_by: list[dict[str, Any]] = found["fairness_by"]
        self.control = control
        self.rows_used: dict[str, int | None] = about["rows"]
        self.n_train: int = about["rows"]["probes"]
        self.n_test: int = about["rows"]["test"]
        self.refitted: bool = about["refitted"]
        self._found = found
        self._z = z

    def to_dict(self) -> dict[str, Any]:
        """All of it, as in the JSON of the command line."""
        about = {"n_train": self.n_train, "n_test": self.n_test, "rows": self.rows_used}
        return {**about, "refitted": self.refitted, **self._found, "control": self.control}

    def rows(self) -> list[dict[str, Any]]:
        """A row for each attribute and probe; the interval and the advantage are those of z."""
        rows = []
        for role in ("target", "sensitive"):
            sides = [
                {f["attribute"]: f for f in _findings(side, role)}
                for side in (self._z, self.control)
            ]
            for finding in _findings(self._found, role):
                score = "accuracy" if finding["kind"] == "class" else "r2"
                z, raw = (
                    {t["probe"]: t for t in side.get(finding["attribute"], {}).get("probes", [])}
                    for side in sides
                )
                for trial in finding["probes"]:
                    rows.append(
                        {
                            "attribute": finding["attribute"],
                            "role": role,
                            "probe": trial["probe"],
                            "score": score,
                            "raw": raw.get(trial["probe"], {}).get(score, np.nan),
                            "z": z.get(trial["probe"], {}).get(score, np.nan),
                            "low": trial["ci"][0],
                            "high": trial["ci"][1],
                            "balanced_accuracy": trial.get("balanced_accuracy", np.nan),
                            "auc": trial.get("auc", np.nan),
                            "advantage": trial["advantage"],
                            "majority": finding.get("majority", 0.0),
                            "best": trial["probe"] == finding["advantage"]["probe"],
                        }
                    )
        return rows

    def to_pandas(self) -> pd.DataFrame:
        """The same as a DataFrame of pandas."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def _parts(self) -> str:
        parts = f"probes learnt on {self.n_train} rows, tested on {self.n_test} others"
        if self.refitted:
            fitted = self.rows_used["encoder"]
            return f"Audit: the encoder was fitted anew on {fitted} rows, {parts}"
        what = "the raw features alone, " if self._z is None else ""
        return f"Audit: {what}{parts}"

    def __repr__(self) -> str:
        lines = [self._parts()]
        of = None
        for row in self.rows():
            if row["attribute"] != of:
                of = row["attribute"]
                keep = "to keep" if row["role"] == "target" else "to hide"
                lines += ["", f"{of} ({keep}), {row['score']}; majority {row['majority']:.3f}"]
                head = f"  {'probe':<23}{'raw':>8}{'z':>8}   95 % interval"
                lines += [head + f"{'balanced':>12}{'AUC':>8}{'advantage':>11}"]
            mark = " *" if row["best"] else ""
            interval = f"{row['low']:.3f} to {row['high']:.3f}"
            lines.append(
                f"  {row['probe']:<23}{row['raw']:>8.3f}{row['z']:>8.3f}   {interval:<14}"
                f"{row['balanced_accuracy']:>11.3f}{row['auc']:>8.3f}{row['advantage']:>11.3f}{mark}"
            )
        worst = self.sensitive["advantage"]
        low, high = worst["ci"]
        chance = "" if low > 0 else ", which may be chance"
        lines += [
            "",
            f"worst case: {worst['probe']} has an advantage of {worst['value']:.3f} over guessing "
            f"{self.sensitive['attribute']} (95 %, for the worst of {worst['tries']} figures: "
            f"{low:.3f} to {high:.3f}){chance}",
        ]
        for fair in self.fairness_by:
            lines += ["", f"fairness of {fair['probe']} between groups of {fair['attribute']}"]
            lines += [f"  {'largest gap':<20}{'z':>7}   95 % interval      raw   95 % interval"]
            lines += [
                _gap(row) for row in self.fairness_rows() if row["attribute"] == fair["attribute"]
            ]
        return "\n".join(lines)

    def fairness_rows(self) -> list[dict[str, Any]]:
        """A row for each attribute to hide and each measure of fairness, worse ones first."""
        order = {"worse": 0, "better": 1}
        rows = []
        for fair in self.fairness_by:
            raw, change = fair.get("raw"), fair.get("change")
            of = []
            for measure in _MEASURES:
                if fair[measure] is None:
                    continue
                before = (
                    (np.nan, [np.nan] * 2) if raw is None else (raw[measure], raw["ci"][measure])
                )
                changed = {} if change is None else change[measure]
                of.append(
                    {
                        "attribute": fair["attribute"],
                        "measure": measure,
                        "z": fair[measure],
                        "low": fair["ci"][measure][0],
                        "high": fair["ci"][measure][1],
                        "raw": before[0],
                        "raw_low": before[1][0],
                        "raw_high": before[1][1],
                        "change": changed.get("value", np.nan),
                        "change_low": changed.get("ci", [np.nan] * 2)[0],
                        "change_high": changed.get("ci", [np.nan] * 2)[1],
                        "verdict": changed.get("verdict"),
                    }
                )
            rows += sorted(of, key=lambda row: order.get(row["verdict"], 2))
        return rows


_MEASURES = ("demographic_parity", "equal_opportunity", "equalized_odds")


def _beside(z: dict[str, Any], control: dict[str, Any]) -> dict[str, Any]:
    """What was found from z, with the fairness from the raw features beside it, and the change."""
    raw = {fair["attribute"]: fair for fair in control["fairness_by"]}

    def joined(fair: dict[str, Any]) -> dict[str, Any]:
        other = raw.get(fair["attribute"])
        if other is None:
            return fair
        before = {**{measure: other[measure] for measure in _MEASURES}, "ci": other["ci"]}
        return {**fair, "raw": before, "change": other.get("change")}

    fairness = z["fairness"]
    return {
        **z,
        "fairness": None if fairness is None else joined(fairness),
        "fairness_by": [joined(fair) for fair in z["fairness_by"]],
    }


def _gap(row: dict[str, Any]) -> str:
    """A measure of fairness in a line."""
    name = row["measure"].replace("_", " ")
    line = f"  {name:<20}{row['z']:>7.3f}   {row['low']:.3f} to {row['high']:.3f}"
    if row["verdict"] is None:
        return line
    raw = f"{row['raw']:>9.3f}   {row['raw_low']:.3f} to {row['raw_high']:.3f}"
    return f"{line}{raw}   {row['verdict']}"


def _findings(side: dict[str, Any] | None, role: str) -> list[dict[str, Any]]:
    if side is None:
        return []
    several = side.get(role + "s")
    if several:
        return list(several)
    return [side[role]] if side[role] is not None else []
