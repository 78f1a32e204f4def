"""Cells: rows in three parts, of which one fits, one chooses and one certifies."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _adding, _core, _labels, _merging
from ._certificate import Certificate
from ._checks import is_number, named_columns, threads
from ._columns import Columns
from ._inputs import fit_params, read_rows, read_sensitive, unseen
from ._label import Label, Values
from ._part import Part
from ._progress import Bar
from ._rows import parts
from ._solved import Solved

#: Rows to choose cells on: fewer than the core keeps, so that it keeps all of them.
ROWS = 249_000
#: Numbers in these rows.
NUMBERS = 1 << 25


def below(rows: int, width: int) -> int:
    """The keys of rows to choose on are up to this, where there are so many rows of a width."""
    kept = min(ROWS, NUMBERS // max(width, 1))
    return 2**64 - 1 if rows <= kept else int(2.0**64 * (kept / rows))


def _three(
    shape: tuple[int, int], seed: int, keys: NDArray[np.uint64] | None
) -> list[NDArray[np.intp]]:
    """The rows that fit, that choose and that certify, by their places or by keys."""
    rows, width = shape
    part = _core.parts(rows, seed) if keys is None else _core.key_parts(keys, seed)
    fit, choose, certify = (np.flatnonzero(part == which) for which in range(3))
    if keys is None:
        return [fit, choose, certify]
    choose = choose[keys[choose] <= np.uint64(below(len(choose), width))]
    return [fit, choose[np.argsort(keys[choose], kind="stable")], certify]


def cut(estimator: Any, goal: dict[str, Any], X: Any, y: Any, s: Any, ids: Any = None) -> Solved:
    """A model whose cells are certified to meet a goal; ids decide what rows serve for."""
    moments = estimator._new_moments()
    moments.fold_by = "position" if ids is None else "key"
    jobs = threads(estimator.n_jobs)
    rows = read_rows(estimator, X, reset=True, least=2)
    hidden, leave_out = read_sensitive(estimator, rows, s)
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is "
            "None: y is what is to be kept"
        )
    columns = Columns.learn(rows, leave_out)
    dense, codes = columns.read(rows, unseen(estimator))
    labels, values = _adding.read_labels(moments, y, hidden)
    _labels.check(labels, values, dense.shape[0])
    check_groups(labels)
    keys = None if ids is None else _merging.id_keys(ids, dense.shape[0])
    shape = dense.shape[0], len(columns.names)
    fit, choose, certify = _three(shape, moments.random_state, keys)
    name = type(estimator).__name__
    with Bar(dense.shape[0], f"{name} rows", bool(estimator.verbose)) as progress:
        core = _adding.begin(moments, Part(columns, dense, codes, labels, values), fit)
        params = fit_params(estimator, moments)
        with named_columns(columns, fit):
            for at, x in parts(dense, fit):
                of = [c[at] for c in codes], [v[at] for v in values]
                own = None if keys is None else keys[at]
                core.push(x, *of, None, keys=own, threads=jobs, progress=progress)
        cutter = _core.Cutter(core, params, json.dumps(goal), moments.random_state, threads=jobs)
        for which in (choose, certify):
            if which is certify:
                cutter.choose(len(certify), threads=jobs)
            with named_columns(columns, which):
                for at, x in parts(dense, which):
                    of = [c[at] for c in codes], [v[at] for v in values]
                    cutter.push(x, *of, threads=jobs)
                    if progress is not None:
                        progress(len(at))
    model, spreads = cutter.finish()
    for label, value in zip(labels, values, strict=True):
        label.count(value[fit])
    return Solved(model, columns, labels, spreads, params)


def check_groups(labels: list[Label]) -> None:
    number = next((a.name for a in labels if not a.target and not a.is_class), None)
    if number is not None:
        raise ValueError(
            f"{number} holds numbers: a guarantee against every adversary needs groups; make groups "
            "of the numbers with sensitive_type='bins', or pass sensitive_type='class'"
        )


def check_confidence(confidence: Any) -> float:
    """How sure a certificate is."""
    if not is_number(confidence) or not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence!r}: expected above 0, below 1")
    return float(confidence)


def certified(
    estimator: Any, solved: Solved, X: Any, y: Any, s: Any, confidence: Any
) -> Certificate:
    """What other rows prove of the cells of a model."""
    confidence = check_confidence(confidence)
    rows = read_rows(estimator, X, reset=False)
    hidden, _ = read_sensitive(estimator, rows, s)
    dense, codes = solved.columns.read(rows, unseen(estimator))
    counted = dense.shape[0]
    values = _no_values(solved, counted) if y is None else _read(estimator, solved, y, True)
    values = [*values, *_read(estimator, solved, hidden, False)]
    _labels.check(solved.labels, values, counted)
    counter = _core.Counter(solved.model)
    with named_columns(solved.columns):
        for at, x in parts(dense):
            of = [c[at] for c in codes], [v[at] for v in values]
            counter.push(x, *of, threads=threads(estimator.n_jobs))
    found = json.loads(counter.certificate(confidence, y is not None))
    return Certificate._read(found, groups(solved))


def groups(solved: Solved) -> dict[str, list[Any]]:
    """The values of each sensitive attribute."""
    return {a.name: a.classes for a in solved.labels if not a.target and a.classes}


def _no_values(solved: Solved, rows: int) -> list[Values]:
    """Stand-ins for targets that are not known: their figures are left out then."""
    targets = [label for label in solved.labels if label.target]
    wide = [len(a.columns) for a in targets]
    return [
        np.zeros(rows, np.uint32) if a.is_class else np.zeros(rows if n == 1 else (rows, n))
        for a, n in zip(targets, wide, strict=True)
    ]


def _read(estimator: Any, solved: Solved, given: Any, target: bool) -> list[Values]:
    """The values of known labels; classes that are not known are refused."""
    known = [label for label in solved.labels if label.target == target]
    kind = estimator.target_type if target else estimator.sensitive_type
    labels, values = _labels.read(given, "y" if target else "s", target, kind, known)
    for old, new in zip(known, labels, strict=True):
        if len(new.classes) > len(old.classes):
            raise ValueError(
                f"{old.name} is {new.classes[len(old.classes)]!r} in a row: it was not there in the fit"
            )
    return values
