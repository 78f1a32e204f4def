"""Rows that are added to moments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _criterion, _labels, _merging
from ._checks import PRECISIONS, check_choice, check_weights, named_columns, threads
from ._columns import Columns
from ._label import Label, Values
from ._part import Part, layout
from ._placed import Placed, here
from ._progress import Progress
from ._rows import parts

if TYPE_CHECKING:
    from ._moments import Moments


def read(
    moments: Moments,
    X: Any,
    y: Any,
    s: Any,
    sample_weight: ArrayLike | None,
    *,
    row_id: Any = None,
    leave_out: Sequence[int] = (),
    unseen: str = "error",
) -> Part:
    """Rows with their labels, as the core takes them."""
    if s is None:
        raise ValueError("sensitive_features is missing: it is what is to be hidden")
    if isinstance(X, Placed) and not _adds_there(moments):
        X = X.host()
    if moments._columns is None:
        columns = Columns.learn(X, leave_out)
        dense, codes = columns.read(X, unseen)
    elif unseen == "add" and moments._kernel is None:
        columns, dense, codes = moments._columns.read_more(X)
    else:
        columns = moments._columns
        dense, codes = columns.read(X, "error" if unseen == "add" else unseen)
    weights = check_weights(here(sample_weight), dense)
    labels, values = read_labels(moments, y, s, weights)
    if isinstance(dense, Placed) and any(label.kernel for label in labels):
        dense = dense.host()
    ids = None if row_id is None else _merging.id_keys(here(row_id), dense.shape[0])
    return Part(columns, dense, codes, labels, values, weights, ids)


def read_labels(
    moments: Moments, y: Any, s: Any, weights: NDArray[np.float64] | None = None
) -> tuple[list[Label], list[Values]]:
    """Targets, where there are any, and what is to be hidden, row by row."""
    known = moments._core is not None
    labels, values = [], []
    for of, name, target in ((y, "y", True), (s, "s", False)):
        if of is not None:
            kind = moments.target_type if target else moments.sensitive_type
            before = moments._of(target) if known else None
            more = _labels.read(of, name, target, kind, before, weights)
            labels += more[0]
            values += more[1]
    return labels, values


def add(moments: Moments, part: Part, progress: Progress | None = None) -> None:
    """Adds rows that were read."""
    columns, dense, codes, labels, values, weights, _ = part
    target = any(label.target for label in labels)
    if moments._core is not None and bool(moments._of(True)) != target:
        raise ValueError(
            "y was not given before: the features are the target"
            if target
            else "y was given before, and must be given again"
        )
    _labels.check(labels, values, dense.shape[0])
    _criterion.settle(moments.criterion, moments.favourable, labels, add=True)
    keys = part.keys(moments.fold_by)
    core = _ready(moments, part)
    with named_columns(columns):
        if isinstance(dense, Placed):
            dense = _push_there(moments, core, part, keys, progress)
        for rows, some in () if dense is None else parts(dense):
            core.push(
                some,
                [c[rows] for c in codes],
                [v[rows] for v in values],
                None if weights is None else weights[rows],
                keys=None if keys is None else keys[rows],
                threads=threads(moments.n_jobs),
                progress=progress,
                in_place=moments._in_place,
            )
    for label, of in zip(labels, values, strict=True):
        label.count(of, weights)
    moments._columns, moments._labels, moments._core = columns, labels, core


def _ready(moments: Moments, part: Part) -> _core.Fit:
    """A fit that these rows can be pushed into. What is refused later leaves this as it was."""
    if moments._core is None or moments._columns is None:
        return begin(moments, part)
    same = all(a.size == b.size for a, b in zip(moments._labels, part.labels, strict=True))
    # Rows on a GPU are looked at before any of them is added: no copy to go back to is needed.
    in_place = moments._in_place or isinstance(part.dense, Placed)
    if in_place and same and not part.codes:
        return moments._core
    moments._settle()
    core = moments._core.copy()
    _merging.recode(core, moments._columns, part.columns)
    for place, (old, new) in enumerate(zip(moments._labels, part.labels, strict=True)):
        if new.size != old.size:
            moments._reclass(core, place, list(range(old.size)), new)
    return core


def _adds_there(moments: Moments) -> bool:
    """Whether rows that lie on a GPU are added up there."""
    return moments.device != "cpu" and moments._kernel is None and moments.fold_by != "content"


def _push_there(
    moments: Moments,
    core: _core.Fit,
    part: Part,
    keys: NDArray[np.uint64] | None,
    progress: Progress | None,
) -> NDArray[Any] | None:
    """Adds rows where they lie; a copy of them in host memory, where no GPU takes them."""
    beside = (part.values, part.weights)
    if not core.push_placed(part.dense.core, *beside, keys=keys, threads=threads(moments.n_jobs)):
        copied: NDArray[Any] = part.dense.host()
        return copied
    if progress is not None:
        progress(part.dense.shape[0])
    return None


def begin(moments: Moments, part: Part, which: NDArray[np.intp] | None = None) -> _core.Fit:
    """A fit that rows can be pushed into; kernels look at them, or at those at some places."""
    if check_choice("precision", moments.precision, PRECISIONS) == "auto":
        moments.precision = "double" if moments._kernel is not None else part.precision()
    core = _core.Fit(
        json.dumps(moments._params(part.labels)),
        *layout(part.columns, part.labels),
        features_are_target=moments._keeps(part.labels),
        keep_inputs=moments._kernel is not None,
    )
    near = part.dense.device if isinstance(part.dense, Placed) else 0
    core.on(moments.device, moments.precision == "fast", near)
    if core.needs_sample:
        part.sample(core, moments._public, which)
        core.choose(threads(moments.n_jobs))
        moments._public = None
    return core
