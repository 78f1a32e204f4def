"""The audit: what adversaries and predictors really learn from a representation."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from . import _core, _labels, _probes
from ._checks import threads
from ._labels import Treats
from ._progress import Bar
from ._rows import Columns, array, length, matrix, native, one_hot, take

if TYPE_CHECKING:
    import pandas as pd

#: X, y and sensitive features of the same rows.
_Side = tuple[Any, Any, Any]


class Audit:
    """What every probe told of every attribute, from z and from the raw features.

    Attributes
    ----------
    target, sensitive : dict
        The findings about the (first) target and about the attribute to hide with the largest
        advantage: ``advantage`` is the worst case over probes, over guessing, with an interval
        that allows for having tried several; ``best`` is the probe with the largest accuracy or
        R², ``probes`` are all, ``majority`` is what can be told without looking.
    fairness : dict or None
        Differences between groups of the best predictor, with the conventions of fairlearn.
    control : dict or None
        The same from the raw features.
    rows_used : dict
        How many rows fitted the encoder (None if it was fitted before), taught the probes and
        tested them. No row did two of these.
    n_train, n_test : int
        Rows that the probes learnt from, and those that they were tested on.
    refitted : bool
        Whether the encoder was fitted anew on a part of the rows.
    """

    def __init__(
        self, z: dict[str, Any] | None, control: dict[str, Any] | None, about: dict[str, Any]
    ) -> None:
        found = z or control or {}
        self.target: dict[str, Any] | None = found["target"]
        self.sensitive: dict[str, Any] = found["sensitive"]
        self.fairness: dict[str, Any] | None = found["fairness"]
        self.control = control
        self.rows_used: dict[str, int | None] = about["rows"]
        self.n_train: int = about["rows"]["probes"]
        self.n_test: int = about["rows"]["test"]
        self.refitted: bool = about["refitted"]
        self._found = found
        self._z = z

    def to_dict(self) -> dict[str, Any]:
        """All of it, as the command line's JSON says it."""
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
        if self.fairness is not None:
            fair = self.fairness
            lines += [
                f"fairness of {fair['probe']} between groups of {fair['attribute']}: demographic parity "
                f"{fair['demographic_parity']:.3f}, equalized odds {fair['equalized_odds']:.3f}, "
                f"equal opportunity {fair['equal_opportunity']:.3f}",
            ]
        return "\n".join(lines)


def _findings(side: dict[str, Any] | None, role: str) -> list[dict[str, Any]]:
    if side is None:
        return []
    several = side.get(role + "s")
    if several:
        return list(several)
    return [side[role]] if side[role] is not None else []


def audit(
    encoder: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    X_test: Any = None,
    y_test: Any = None,
    sensitive_features_test: Any = None,
    test_size: float | None = None,
    refit: bool | None = None,
    control: bool = True,
    probes: Sequence[Any] | None = None,
    seeds: int = 3,
    rows: int = 50_000,
    target_type: Treats = "auto",
    sensitive_type: Treats = "auto",
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Audit:
    """Ask adversaries and predictors what they learn from a representation.

    A certificate speaks of linear adversaries. Here least squares, logistic regression, networks,
    kernels and trees learn each attribute from some rows of z and tell it for others; the best of
    them is the worst case. The raw features are the control: there the probes do learn.

    Rows are used once: some fit the encoder, others teach the probes, others test them. An
    adversary with rows of its own finds what an encoder has left in rows that it has not seen.

    Parameters
    ----------
    encoder : estimator with `transform`, or None
        The encoder, ours, another or a pipeline; None for the raw features alone.
    X, y, sensitive_features : arrays or tables
        Rows with what was to be kept and what was to be hidden. They count as rows that the
        encoder has seen, unless `refit` is False.
    X_test, y_test, sensitive_features_test : arrays or tables, optional
        Rows that the encoder has not seen: half of them teach the probes, the others test them,
        and the encoder is audited as it is. Without them X is parted, and the encoder is fitted
        anew on two fifths of it.
    test_size : float, optional
        The share of X that is tested on: 0.3 where the encoder is fitted anew (of the rest, four
        sevenths are the encoder's), else 0.5.
    refit : bool, optional
        True fits a clone of the encoder anew, which is the default without `X_test`. False says
        that the encoder has not seen X: it is audited as it is, and X teaches the probes.
    control : bool, default=True
        Whether the raw features are probed too.
    probes : list of str and estimators, optional
        Who tries; all of ours by default. An estimator of scikit-learn is cloned and fitted on z
        (columns of unit variance); it tells by `predict_proba`, `decision_function` or `predict`.
    seeds : int, default=3
        Seeds of everything that has randomness.
    rows : int, default=50000
        Rows of X, and of `X_test`, used at most, drawn at random.
    target_type, sensitive_type : {"auto", "class", "number"} or dict, default="auto"
        Text, booleans and up to 20 different whole numbers are classes, all other numbers are
        numbers, unless said otherwise; a dict says it for columns by their names.
    random_state : int, default=0
        The first seed.
    n_jobs : int or None, default=None
        Probes that run at the same time; None or -1 for as many as there are cores.
    verbose : int, default=0
        Above 0 a progress bar is shown (needs tqdm).

    Returns
    -------
    Audit
        What was found out.

    Examples
    --------
    >>> import numpy as np, sarl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> s = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> y = (X[:, 1] + X[:, 2] > 0).astype(int)
    >>> encoder = sarl.SARL(max_leakage=0).fit(X, y, sensitive_features=s)
    >>> found = sarl.audit(encoder, X, y, sensitive_features=s, probes=["logistic"], seeds=1)
    >>> found.control["sensitive"]["advantage"]["value"] > 0.9
    True
    >>> found.sensitive["advantage"]["value"] < 0.5
    True
    """
    if seeds < 1:
        raise ValueError(f"seeds is {seeds}: expected 1 or more")
    who = _probes.read(probes)
    if encoder is not None and not hasattr(encoder, "transform"):
        raise ValueError(f"{type(encoder).__name__} has no method `transform`")
    if encoder is None and not control:
        raise ValueError("there is nothing to audit: no encoder, and no control")
    apart = X_test is not None
    if apart and (sensitive_features_test is None or (y is None) != (y_test is None)):
        raise ValueError("X_test needs sensitive_features_test, and y_test if there is a y")
    data = _drawn((native(X), y, sensitive_features), rows, random_state)
    fresh = (native(X_test), y_test, sensitive_features_test) if apart else None
    fresh = _drawn(fresh, rows, random_state) if fresh is not None else None
    seen = encoder is not None and refit is not False
    own, train, test = _parted(data, fresh, seen, test_size, random_state)
    refit = seen and (refit or not apart)
    if refit and own is not None:
        encoder = _probes.refitted(encoder, *own)
    views = []
    if encoder is not None:
        views.append((matrix(encoder.transform(train[0])), matrix(encoder.transform(test[0]))))
    if control:
        columns = Columns.learn(array(train[0]))
        raw = [
            one_hot(matrix(d), c, columns)
            for d, c in (columns.read(array(x), "ignore") for x in (train[0], test[0]))
        ]
        views.append((raw[0], raw[1]))
    sides = [side for side in (train, test, own) if side is not None]
    attributes: list[Any] = []
    if y is not None:
        attributes += _attributes(data[1], [side[1] for side in sides], "y", True, target_type)
    targets = len(attributes)
    attributes += _attributes(data[2], [side[2] for side in sides], "s", False, sensitive_type)
    second = None
    if own is not None:
        hidden = range(targets, len(attributes))
        second = (matrix(encoder.transform(own[0])), [(i, attributes[i][2][2]) for i in hidden])
    bar = Bar(0, "probing", bool(verbose)).bar
    found = _core.audit(
        views,
        [(name, classes, values[0], values[1]) for name, classes, values in attributes],
        targets,
        probes=who,
        seeds=[random_state + i for i in range(seeds)],
        threads=threads(n_jobs) or os.cpu_count() or 1,
        own=second,
        progress=None if bar is None else _shown(bar),
    )
    if bar is not None:
        bar.close()
    told = [json.loads(text) for text in found]
    used = {
        "encoder": length(own[0]) if refit and own is not None else None,
        "probes": length(train[0]),
        "test": length(test[0]),
    }
    about = {"rows": used, "refitted": bool(refit)}
    if encoder is None:
        return Audit(None, told[0], about)
    return Audit(told[0], told[1] if control else None, about)


def _parted(data: _Side, fresh: _Side | None, seen: bool, share: float | None, seed: int) -> Any:
    """Rows of the encoder (if they are at hand), rows for the probes, rows for the test."""
    if fresh is not None:
        if not seen:
            return None, data, fresh
        return data, *_split(fresh, [0.5], seed, "X_test")
    if not seen:
        return None, *_split(data, [0.5 if share is None else share], seed, "X")
    share = 0.3 if share is None else share
    return _split(data, [(1 - share) * 3 / 7, share], seed, "X")


def _shown(bar: Any) -> Any:
    bar.unit = " runs"

    def show(done: int, all_: int) -> None:
        bar.total = all_
        bar.update(done - bar.n)

    return show


def _drawn(side: _Side, rows: int, seed: int) -> _Side:
    n = length(side[0])
    for what, of in (("y", side[1]), ("sensitive_features", side[2])):
        if of is not None and length(of) != n:
            raise ValueError(f"X has {n} rows, but {what} has {length(of)}")
    if n <= rows:
        return side
    which = np.sort(check_random_state(seed).choice(n, rows, replace=False))
    return take(side[0], which), take(side[1], which), take(side[2], which)


def _split(side: _Side, shares: list[float], seed: int, name: str) -> list[_Side]:
    """A part for each share, after one of what is left: no row is in two."""
    n = length(side[0])
    counts = [round(share * n) for share in shares]
    left = n - sum(counts)
    if not all(0 < share < 1 for share in shares) or min(counts) < 1 or left < 1:
        raise ValueError(
            f"test_size is {shares[-1]}: {name} has {n} rows, too few to be parted "
            f"{len(shares) + 1} ways"
        )
    order = check_random_state(seed).permutation(n)
    parts = np.split(order, np.cumsum([left, *counts])[:-1])
    of = [np.sort(part) for part in parts]
    return [(take(side[0], w), take(side[1], w), take(side[2], w)) for w in of]


def _attributes(whole: Any, sides: list[Any], name: str, target: bool, treat: Treats) -> list[Any]:
    """For each attribute its name, its classes and its values on each side; all rows say its type."""
    labels, _ = _labels.read(whole, name, target, treat, None)
    values = []
    for side in sides:
        labels, read = _labels.read(side, name, target, treat, labels)
        values.append(read)
    return [
        (label.name, label.texts(), list(of)) for label, *of in zip(labels, *values, strict=True)
    ]
