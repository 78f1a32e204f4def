"""The audit: what attackers and predictors learn from a representation."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from . import _core, _labels, _probes
from ._checks import threads
from ._columns import Columns, one_hot
from ._labels import Treats
from ._progress import Bar
from ._results import Audit
from ._rows import array, category, length, matrix, native, take

#: X, y and sensitive features of the same rows.
_Side = tuple[Any, Any, Any]


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
    target_type: Treats | None = None,
    sensitive_type: Treats | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Audit:
    """Measure what attackers and predictors learn from a representation.

    A certificate is about linear adversaries. Here least squares, logistic regression, networks,
    kernels and trees are fitted on some rows of z and predict each attribute of others. The best
    of them is the worst case. The raw features are the control: there the probes do learn.

    Rows are used once: some fit the encoder, others train the probes, others test them. An
    attacker with rows of its own finds what an encoder has left in rows that it has not seen.

    Parameters
    ----------
    encoder : estimator with `transform`, or None
        The encoder, ours, another or a pipeline; None for the raw features alone.
    X, y, sensitive_features : arrays or tables
        Rows with what was to be kept and what was to be hidden. They count as rows that the
        encoder has seen, unless `refit` is False.
    X_test, y_test, sensitive_features_test : arrays or tables, optional
        Rows that the encoder has not seen: half of them train the probes, the others test them,
        and the encoder is audited as it is. Without them X is divided, and the encoder is fitted
        anew on two fifths of it.
    test_size : float, optional
        The share of X that is tested on: 0.3 where the encoder is fitted anew (of the rest, four
        sevenths are the encoder's), else 0.5.
    refit : bool, optional
        True fits a clone of the encoder anew, which is the default without `X_test`. False means
        that the encoder has not seen X: it is audited as it is, and X trains the probes.
    control : bool, default=True
        Whether the raw features are probed too.
    probes : list of str and estimators, optional
        The attackers and predictors; all of ours by default. An estimator of scikit-learn is cloned
        and fitted on z (columns of unit variance); its scores are those of `predict_proba`,
        `decision_function` or `predict`.
    seeds : int, default=3
        Seeds of everything that has randomness.
    rows : int, default=50000
        Rows of X, and of `X_test`, used at most, drawn at random.
    target_type, sensitive_type : str or dict, optional
        As in :class:`SARL`; by default those of the encoder, or of the last step of a pipeline that has
        them, else "auto". Attackers predict the numbers behind a kernel, and bins and combinations as
        classes.
    random_state : int, default=0
        The first seed.
    n_jobs : int or None, default=None
        Probes that run at the same time; None or -1 for as many as there are cores.
    verbose : int, default=0
        Above 0 a progress bar is shown (needs tqdm).

    Returns
    -------
    Audit
        The findings.

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
    used_probes = _probes.read(probes)
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
    own, train, test = _divided(data, fresh, seen, test_size, random_state)
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
    kept, hidden_type = _types(encoder, target_type, sensitive_type)
    if y is not None:
        attributes += _attributes(data[1], [side[1] for side in sides], "y", True, kept)
    targets = len(attributes)
    attributes += _attributes(data[2], [side[2] for side in sides], "s", False, hidden_type)
    second = None
    if own is not None:
        hidden = range(targets, len(attributes))
        second = (matrix(encoder.transform(own[0])), [(i, attributes[i][2][2]) for i in hidden])
    bar = Bar(0, "probing", bool(verbose)).bar
    found = _core.audit(
        views,
        [(name, classes, values[0], values[1]) for name, classes, values in attributes],
        targets,
        probes=used_probes,
        seeds=[random_state + i for i in range(seeds)],
        threads=threads(n_jobs) or os.cpu_count() or 1,
        favourable=_favourable(encoder, attributes[0][1]) if targets else None,
        own=second,
        progress=None if bar is None else _shown(bar),
    )
    if bar is not None:
        bar.close()
    findings = [json.loads(text) for text in found]
    used = {
        "encoder": length(own[0]) if refit and own is not None else None,
        "probes": length(train[0]),
        "test": length(test[0]),
    }
    about = {"rows": used, "refitted": bool(refit)}
    if encoder is None:
        return Audit(None, findings[0], about)
    return Audit(findings[0], findings[1] if control else None, about)


def _divided(data: _Side, fresh: _Side | None, seen: bool, share: float | None, seed: int) -> Any:
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
    """The rest of the rows, then a part for each share: no row is in two."""
    n = length(side[0])
    counts = [round(share * n) for share in shares]
    left = n - sum(counts)
    if not all(0 < share < 1 for share in shares) or min(counts) < 1 or left < 1:
        raise ValueError(
            f"test_size is {shares[-1]}: {name} has {n} rows, too few for {len(shares) + 1} parts"
        )
    order = check_random_state(seed).permutation(n)
    parts = np.split(order, np.cumsum([left, *counts])[:-1])
    of = [np.sort(part) for part in parts]
    return [(take(side[0], w), take(side[1], w), take(side[2], w)) for w in of]


def _attributes(whole: Any, sides: list[Any], name: str, target: bool, treat: Treats) -> list[Any]:
    """For each attribute its name, its classes and its values on each side; all rows decide on its type."""
    labels, _ = _labels.read(whole, name, target, treat, None)
    values = []
    for side in sides:
        labels, read = _labels.read(side, name, target, treat, labels)
        values.append(read)
    found = []
    for label, *of in zip(labels, *values, strict=True):
        for each in zip(*(_labels.flat(label, side) for side in of), strict=True):
            name, classes, _, _ = each[0]
            found.append((name, classes, [side[3] for side in each]))
    return found


def _favourable(encoder: Any, classes: list[str]) -> int | None:
    """The place of the class that the encoder's criterion is about, if it is about one."""
    for step in [step for _, step in getattr(encoder, "steps", [])] or [encoder]:
        found = getattr(step, "favourable_", None)
        if found is not None and category(found) in classes:
            return classes.index(category(found))
    return None


def _types(encoder: Any, *given: Treats | None) -> list[Treats]:
    """The types of targets and of what is hidden, where none are given those of the encoder."""
    steps = [step for _, step in getattr(encoder, "steps", [])] or [encoder]
    names = ("target_type", "sensitive_type")
    known = [
        next((getattr(step, name) for step in reversed(steps) if hasattr(step, name)), "auto")
        for name in names
    ]
    return [own if of is None else of for own, of in zip(known, given, strict=True)]
