"""The audit: what adversaries and predictors really learn from a representation."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from . import _core, _labels
from ._base import Base
from ._checks import threads
from ._labels import Label, Treats, Values
from ._progress import Bar
from ._rows import Columns, array, length, matrix, native, one_hot, take

if TYPE_CHECKING:
    import pandas as pd


class Audit:
    """What every probe told of every attribute, from z and from the raw features.

    Attributes
    ----------
    target, sensitive : dict
        The findings about the (first) target and about the attribute to hide that is told best:
        ``best`` is the probe that tells most, ``probes`` are all, ``majority`` is what can be told
        without looking.
    fairness : dict or None
        Differences between groups of the best predictor, with the conventions of fairlearn.
    control : dict or None
        The same from the raw features.
    n_train, n_test : int
        Rows that the probes learnt from, and those that they were tested on.
    """

    def __init__(
        self, z: dict[str, Any], control: dict[str, Any] | None, about: dict[str, Any]
    ) -> None:
        self.target: dict[str, Any] | None = z["target"]
        self.sensitive: dict[str, Any] = z["sensitive"]
        self.fairness: dict[str, Any] | None = z["fairness"]
        self.control = control
        self.n_train: int = about["n_train"]
        self.n_test: int = about["n_test"]
        self.refitted: bool = about["refitted"]
        self._z = z

    def to_dict(self) -> dict[str, Any]:
        """All of it, as the command line's JSON says it."""
        about = {"n_train": self.n_train, "n_test": self.n_test, "refitted": self.refitted}
        return {**about, **self._z, "control": self.control}

    def rows(self) -> list[dict[str, Any]]:
        """A row for each attribute and probe."""
        rows = []
        for role in ("target", "sensitive"):
            raw = {f["attribute"]: f for f in _findings(self.control, role)}
            for finding in _findings(self._z, role):
                score = "accuracy" if finding["kind"] == "class" else "r2"
                before = {
                    t["probe"]: t for t in raw.get(finding["attribute"], {}).get("probes", [])
                }
                for trial in finding["probes"]:
                    rows.append(
                        {
                            "attribute": finding["attribute"],
                            "role": role,
                            "probe": trial["probe"],
                            "score": score,
                            "raw": before.get(trial["probe"], {}).get(score, float("nan")),
                            "z": trial[score],
                            "low": trial["ci"][0],
                            "high": trial["ci"][1],
                            "majority": finding.get("majority", 0.0),
                            "best": trial["probe"] == finding["best"]["probe"],
                        }
                    )
        return rows

    def to_pandas(self) -> pd.DataFrame:
        """The same as a DataFrame of pandas."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def __repr__(self) -> str:
        lines = [f"Audit: probes learnt on {self.n_train} rows, tested on {self.n_test} others"]
        of = None
        for row in self.rows():
            if row["attribute"] != of:
                of = row["attribute"]
                keep = "to keep" if row["role"] == "target" else "to hide"
                lines += ["", f"{of} ({keep}), {row['score']}; majority {row['majority']:.3f}"]
                lines += [f"  {'probe':<14}{'raw':>8}{'z':>8}   95 % interval"]
            mark = " *" if row["best"] else ""
            lines.append(
                f"  {row['probe']:<14}{row['raw']:>8.3f}{row['z']:>8.3f}   "
                f"{row['low']:.3f} to {row['high']:.3f}{mark}"
            )
        if self.fairness is not None:
            fair = self.fairness
            lines += [
                "",
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
    test_size: float = 0.3,
    refit: bool | None = None,
    control: bool = True,
    probes: Sequence[str] | None = None,
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

    Parameters
    ----------
    encoder : estimator with `transform`, or None
        The encoder, ours or another; None for the raw features alone.
    X, y, sensitive_features : arrays or tables
        The rows that the probes learn from, what was to be kept and what was to be hidden.
    X_test, y_test, sensitive_features_test : arrays or tables, optional
        The rows that they are tested on. Without them a share of X is set apart.
    test_size : float, default=0.3
        That share.
    refit : bool, optional
        Fit the encoder anew on the rows that the probes learn from, so that it has not seen those
        that they are tested on. By default that is done for the encoders of this package when
        there is no `X_test`.
    control : bool, default=True
        Whether the raw features are probed too.
    probes : list of str, optional
        Who tries; everybody by default.
    seeds : int, default=3
        Seeds of everything that has randomness.
    rows : int, default=50000
        Rows used at most on each side, drawn at random.
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
    >>> found.control["sensitive"]["best"]["accuracy"] > 0.9 > found.sensitive["best"]["accuracy"]
    True
    """
    if seeds < 1:
        raise ValueError(f"seeds is {seeds}: expected 1 or more")
    who = [name for name, _ in _core.probes()] if probes is None else list(probes)
    if not who:
        raise ValueError("probes is empty: expected one at least")
    if encoder is not None and not hasattr(encoder, "transform"):
        raise ValueError(f"{type(encoder).__name__} has no method `transform`")
    if encoder is None and not control:
        raise ValueError("there is nothing to audit: no encoder, and no control")
    train = (native(X), y, sensitive_features)
    apart = X_test is not None
    if apart:
        if sensitive_features_test is None or (y is None) != (y_test is None):
            raise ValueError("X_test needs sensitive_features_test, and y_test if there is a y")
        train = _drawn(train, rows, random_state)
        test = _drawn((native(X_test), y_test, sensitive_features_test), rows, random_state)
    else:
        train, test = _split(_drawn(train, rows, random_state), test_size, random_state)
    if refit is None:
        refit = isinstance(encoder, Base) and not apart
    if encoder is not None and refit:
        encoder = clone(encoder).fit(train[0], train[1], sensitive_features=train[2])
    views = (
        []
        if encoder is None
        else [(matrix(encoder.transform(train[0])), matrix(encoder.transform(test[0])))]
    )
    if control:
        columns = Columns.learn(array(train[0]))
        raw = [
            one_hot(matrix(d), c, columns)
            for d, c in (columns.read(array(x), "ignore") for x in (train[0], test[0]))
        ]
        views.append((raw[0], raw[1]))
    attributes: list[Any] = []
    targets = 0
    if y is not None:
        attributes += _attributes(train[1], test[1], "y", True, target_type)
        targets = len(attributes)
    attributes += _attributes(train[2], test[2], "s", False, sensitive_type)
    bar = Bar(0, "probing", bool(verbose)).bar
    found = _core.audit(
        views,
        attributes,
        targets,
        probes=who,
        seeds=[random_state + i for i in range(seeds)],
        threads=threads(n_jobs) or os.cpu_count() or 1,
        progress=None if bar is None else _shown(bar),
    )
    if bar is not None:
        bar.close()
    sides = [json.loads(text) for text in found]
    about = {"n_train": len(views[0][0]), "n_test": len(views[0][1]), "refitted": bool(refit)}
    return Audit(sides[0], sides[1] if control and encoder is not None else None, about)


def _shown(bar: Any) -> Any:
    bar.unit = " runs"

    def show(done: int, all_: int) -> None:
        bar.total = all_
        bar.update(done - bar.n)

    return show


def _drawn(side: tuple[Any, Any, Any], rows: int, seed: int) -> tuple[Any, Any, Any]:
    n = length(side[0])
    for what, of in (("y", side[1]), ("sensitive_features", side[2])):
        if of is not None and length(of) != n:
            raise ValueError(f"X has {n} rows, but {what} has {length(of)}")
    if n <= rows:
        return side
    which = np.sort(check_random_state(seed).choice(n, rows, replace=False))
    return take(side[0], which), take(side[1], which), take(side[2], which)


def _split(side: tuple[Any, Any, Any], share: float, seed: int) -> Any:
    n = length(side[0])
    apart = round(share * n)
    if not 0 < share < 1 or not 0 < apart < n:
        raise ValueError(f"test_size is {share}: of {n} rows that leaves one side empty")
    order = check_random_state(seed).permutation(n)
    test, train = np.sort(order[:apart]), np.sort(order[apart:])
    return tuple(take(x, train) for x in side), tuple(take(x, test) for x in side)


def _attributes(train: Any, test: Any, name: str, target: bool, treat: Treats) -> list[Any]:
    labels, values = _labels.read(train, name, target, treat, None)
    both, others = _labels.read(test, name, target, treat, labels)
    return [_attribute(*of) for of in zip(both, values, others, strict=True)]


def _attribute(label: Label, train: Values, test: Values) -> tuple[str, list[str], Values, Values]:
    return label.name, label.texts(), train, test
