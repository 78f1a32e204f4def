"""Second moments: all that a fit needs of the data, in one pass, mergeable."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight

from . import _core, _criterion, _labels, _merging
from ._checks import (
    PRECISIONS,
    check_choice,
    check_folds,
    core_precision,
    named_columns,
    threads,
)
from ._columns import Codes, Columns
from ._label import MERGING, Label, Values
from ._labels import Treats
from ._placed import Placed, here, on_gpu
from ._placed import read as placed
from ._progress import Progress
from ._rows import is_table, native, parts
from ._words import documented

#: What decides on the fold of a row.
FOLD_BY = ("position", "content", "key")

#: From so many columns on, "auto" multiplies rows of single precision as such.
WIDE = 256


class Part(NamedTuple):
    """Rows as the core takes them, with what is known of their columns and labels."""

    columns: Columns
    dense: Any
    codes: list[Codes]
    labels: list[Label]
    values: list[Values]
    weights: NDArray[np.float64] | None = None
    #: What decides on the folds of rows, by their ids.
    ids: NDArray[np.uint64] | None = None

    def take(self, rows: NDArray[np.intp]) -> Part:
        """Some of the rows."""
        return self._replace(
            dense=self.dense[rows],
            codes=[c[rows] for c in self.codes],
            values=[v[rows] for v in self.values],
            weights=None if self.weights is None else self.weights[rows],
            ids=None if self.ids is None else self.ids[rows],
        )


@documented
class Moments:
    """The second moments of rows, their targets and what is to be hidden.

    One pass over any number of rows, in memory that does not grow with them. Moments of different
    rows can be merged, in any order and on any machine, exactly; they can be pickled, or turned
    into bytes. An encoder is fitted on them with :meth:`SARL.fit_moments`.

    Parameters
    ----------
    folds : int, default=5
        Folds that are kept apart for held-out losses; 1 for none.
    precision : {{"auto", "double", "single", "fast"}}, default="double"
        How products of features are formed. Single is faster, for embeddings that are single
        precision anyway. Fast is single precision on the matrix units of a GPU; without a GPU it is
        single precision.
    device : {{"auto", "cpu", "cuda", "cuda:N"}}, default="auto"
        Where rows are added up. With "auto" that is a GPU where there is one and the work is worth the
        way to it. It does not travel with the bytes of moments.
    fold_by : {{"position", "content", "key"}}, default="position"
        What decides on the fold of a row. By position, folds are balanced, but other shards are other
        folds. By content it is the features: shards in any order, of any size, give the same
        folds and so the same held-out losses. By key it is `row_id`.
    random_state : int, default=0
        Decides which row goes to which fold.
    {labels}
    {criterion}
    keep_features : bool, default=False
        Whether the features themselves are kept, as an :class:`Eraser` does; y then only says beside
        what the criterion hides, or, with parity, what ``Eraser(preserve=True)`` preserves.
    n_jobs : int or None, default=None
        Threads; None or -1 for all cores.

    Examples
    --------
    >>> import numpy as np
    >>> from sarl import SARL, Moments
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 4))
    >>> s = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> y = (X[:, 1] + X[:, 2] > 0).astype(int)
    >>> shards = [Moments().update(X[i::3], y[i::3], s[i::3]) for i in range(3)]
    >>> total = shards[0].merge(shards[1]).merge(shards[2])
    >>> len(total)
    900
    >>> encoder = SARL(max_leakage=0.01).fit_moments(total)
    >>> encoder.transform(X).shape
    (900, 1)
    """

    def __init__(
        self,
        *,
        folds: int = 5,
        precision: str = "double",
        device: str = "auto",
        fold_by: str = "position",
        random_state: int = 0,
        target_type: Treats = "auto",
        sensitive_type: Treats = "auto",
        criterion: str = "parity",
        favourable: Any = None,
        keep_features: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.folds = folds
        self.precision = precision
        self.device = device
        self.fold_by = fold_by
        self.random_state = random_state
        self.target_type = target_type
        self.sensitive_type = sensitive_type
        self.criterion = criterion
        self.favourable = favourable
        self.keep_features = keep_features
        self.n_jobs = n_jobs
        self._columns: Columns | None = None
        self._labels: list[Label] = []
        self._core: _core.Fit | None = None
        #: A kernel and the scale of its inputs; none for the features themselves.
        self._kernel: dict[str, Any] | None = None
        self._scale = "none"
        #: Rows that landmarks are chosen from, instead of those that are pushed.
        self._public: Any = None

    #: Whether rows are added to the sums where they are, without a copy that can be gone back to.
    #: Each update must then be one block of rows.
    _in_place = False

    @classmethod
    def _behind(cls, kernel: dict[str, Any], scale: str, public: Any, **options: Any) -> Moments:
        """Moments of the features of a kernel, whose landmarks the first rows decide."""
        new = cls(**options)
        new._kernel, new._public = kernel, public
        new._scale = check_choice("scale", scale, ("standard", "none"))
        return new

    def _params(self, labels: Sequence[Label] | None = None) -> dict[str, Any]:
        """The parameters of the fit that concern the rows, with these labels."""
        labels = self._labels if labels is None else labels
        return {
            "features": "linear" if self._kernel is None else {"kernel": self._kernel},
            "scale": self._scale,
            "ridge": "default",
            "dimensions": None,
            "folds": check_folds(self.folds),
            "fold_by": check_choice("fold_by", self.fold_by, FOLD_BY),
            "seed": self.random_state,
            "precision": core_precision(self.precision),
            "criterion": _criterion.settle(self.criterion, self.favourable, labels),
        }

    def update(
        self,
        X: Any,
        y: Any = None,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        row_id: Any = None,
    ) -> Moments:
        """Add rows: all of them, or none if any is refused. They may have new categories and classes.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The features.
        y : array or table of n_rows, optional
            The target; without it the features themselves are what is to be kept.
        sensitive_features : array or table of n_rows
            What is to be hidden.
        sample_weight : array of n_rows, optional
            A weight for each row.
        row_id : array of n_rows, optional
            An id of each row, a text or a number, which decides on its fold with ``fold_by="key"``:
            rows of one person, say, are then always in one fold.

        Returns
        -------
        Moments
            Itself.
        """
        X = placed(X) if on_gpu(X) else native(X)
        if not is_table(X) and not isinstance(X, Placed):
            X = check_array(
                X,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=0,
            )
        self._update(X, y, sensitive_features, sample_weight, row_id=row_id, unseen="add")
        return self

    def _update(
        self,
        X: Any,
        y: Any,
        s: Any,
        sample_weight: ArrayLike | None,
        *,
        row_id: Any = None,
        leave_out: Sequence[int] = (),
        unseen: str = "error",
        progress: Progress | None = None,
    ) -> None:
        if s is None:
            raise ValueError("sensitive_features is missing: it is what is to be hidden")
        if isinstance(X, Placed) and not self._adds_there():
            X = X.host()
        sample_weight = here(sample_weight)
        if self._columns is None:
            columns = Columns.learn(X, leave_out)
            dense, codes = columns.read(X, unseen)
        elif unseen == "add" and self._kernel is None:
            columns, dense, codes = self._columns.read_more(X)
        else:
            columns = self._columns
            dense, codes = columns.read(X, "error" if unseen == "add" else unseen)
        weights: NDArray[np.float64] | None = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, dense, dtype=np.float64, copy=False)
            weights = np.ascontiguousarray(weights)
        labels, values = self._read_labels(y, s, weights)
        if isinstance(dense, Placed) and any(label.kernel for label in labels):
            dense = dense.host()
        ids = None if row_id is None else _merging.id_keys(here(row_id), dense.shape[0])
        self._add(Part(columns, dense, codes, labels, values, weights, ids), progress)

    def _add(self, part: Part, progress: Progress | None = None) -> None:
        """Adds rows that were read."""
        columns, dense, codes, labels, values, weights, _ = part
        target = any(label.target for label in labels)
        if self._core is not None and bool(self._of(True)) != target:
            raise ValueError(
                "y was not given before: the features are the target"
                if target
                else "y was given before, and must be given again"
            )
        _labels.check(labels, values, dense.shape[0])
        _criterion.settle(self.criterion, self.favourable, labels, add=True)
        keys = self._keys(part)
        core = self._ready(part)
        with named_columns(columns):
            if isinstance(dense, Placed):
                dense = self._push_there(core, part, keys, progress)
            for rows, some in () if dense is None else parts(dense):
                core.push(
                    some,
                    [c[rows] for c in codes],
                    [v[rows] for v in values],
                    None if weights is None else weights[rows],
                    keys=None if keys is None else keys[rows],
                    threads=threads(self.n_jobs),
                    progress=progress,
                    in_place=self._in_place,
                )
        for label, of in zip(labels, values, strict=True):
            label.count(of, weights)
        self._columns, self._labels, self._core = columns, labels, core

    def _ready(self, part: Part) -> _core.Fit:
        """A fit that these rows can be pushed into. What is refused later leaves this as it was."""
        if self._core is None or self._columns is None:
            return self._begin(part)
        same = all(a.size == b.size for a, b in zip(self._labels, part.labels, strict=True))
        # Rows on a GPU are looked at before any of them is added: no copy to go back to is needed.
        in_place = self._in_place or isinstance(part.dense, Placed)
        if in_place and same and not part.codes:
            return self._core
        self._settle()
        core = self._core.copy()
        _merging.recode(core, self._columns, part.columns)
        for place, (old, new) in enumerate(zip(self._labels, part.labels, strict=True)):
            if new.size != old.size:
                self._reclass(core, place, list(range(old.size)), new)
        return core

    def _adds_there(self) -> bool:
        """Whether rows that lie on a GPU are added up there."""
        return self.device != "cpu" and self._kernel is None and self.fold_by != "content"

    def _push_there(
        self,
        core: _core.Fit,
        part: Part,
        keys: NDArray[np.uint64] | None,
        progress: Progress | None,
    ) -> NDArray[Any] | None:
        """Adds rows where they lie; a copy of them in host memory, where no GPU takes them."""
        beside = (part.values, part.weights)
        if not core.push_placed(part.dense.core, *beside, keys=keys, threads=threads(self.n_jobs)):
            copied: NDArray[Any] = part.dense.host()
            return copied
        if progress is not None:
            progress(part.dense.shape[0])
        return None

    def _settle(self) -> None:
        """Takes over what a GPU has added up."""
        if self._core is not None:
            self._core.settle(threads(self.n_jobs))

    def _keys(self, part: Part) -> NDArray[np.uint64] | None:
        """What decides on the fold of each row, beside its numbers or alone."""
        by = check_choice("fold_by", self.fold_by, FOLD_BY)
        if (part.ids is None) == (by == "key"):
            raise ValueError(
                "row_id is missing: with fold_by='key' it decides on the folds"
                if by == "key"
                else f"row_id was passed, but fold_by is {by!r}: use fold_by='key'"
            )
        if by != "content":
            return part.ids
        return _merging.category_keys(part.columns, part.codes, part.dense.shape[0])

    def _reclass(self, core: _core.Fit, place: int, to: list[int], new: Label) -> None:
        """Renumbers the classes of a label in the sums of a fit."""
        try:
            core.reclass(place + self._keeps(self._labels), to, new.size)
        except ValueError as problem:
            raise ValueError(f"{new.name} has new classes: {problem}") from None

    def _read_labels(
        self, y: Any, s: Any, weights: NDArray[np.float64] | None = None
    ) -> tuple[list[Label], list[Values]]:
        """Targets, where there are any, and what is to be hidden, row by row."""
        known = self._core is not None
        labels, values = [], []
        for of, name, target in ((y, "y", True), (s, "s", False)):
            if of is not None:
                kind = self.target_type if target else self.sensitive_type
                before = self._of(target) if known else None
                more = _labels.read(of, name, target, kind, before, weights)
                labels += more[0]
                values += more[1]
        return labels, values

    def _keeps(self, labels: Sequence[Label]) -> bool:
        """Whether the features themselves are kept."""
        return self.keep_features or not any(label.target for label in labels)

    def _of(self, target: bool) -> list[Label]:
        return [label for label in self._labels if label.target == target]

    def _begin(self, part: Part, which: NDArray[np.intp] | None = None) -> _core.Fit:
        """A fit that rows can be pushed into; kernels look at them, or at those at some places."""
        columns, dense, codes, labels, values, weights, _ = part
        if check_choice("precision", self.precision, PRECISIONS) == "auto":
            self.precision = self._precision_of(dense)
        core = _core.Fit(
            json.dumps(self._params(labels)),
            *self._layout(columns, labels),
            features_are_target=self._keeps(labels),
            keep_inputs=self._kernel is not None,
        )
        near = dense.device if isinstance(dense, Placed) else 0
        core.on(self.device, self.precision == "fast", near)
        if core.needs_sample:
            with named_columns(columns, which):
                for rows, some in parts(dense, which):
                    beside = [c[rows] for c in codes], [v[rows] for v in values]
                    core.sample(some, *beside, None if weights is None else weights[rows])
                if self._public is not None:
                    given, of_given = self._public_rows(columns)
                    for rows, some in parts(given):
                        core.sample(some, [c[rows] for c in of_given], [], landmarks=True)
            core.choose(threads(self.n_jobs))
            self._public = None
        return core

    def _precision_of(self, dense: Any) -> str:
        """What "auto" means for rows like these."""
        wide = dense.shape[1] >= WIDE and self._kernel is None
        return "single" if wide and dense.dtype == np.float32 else "double"

    def _public_rows(self, columns: Columns) -> tuple[Any, list[NDArray[np.uint32]]]:
        rows = native(self._public)
        if not is_table(rows):
            rows = check_array(rows, dtype=[np.float64, np.float32], input_name="landmarks")
        if rows.shape[1] != len(columns.names):
            raise ValueError(
                f"landmarks has {rows.shape[1]} columns, but X has {len(columns.names)} features"
            )
        return columns.read(rows, "error")

    @staticmethod
    def _layout(
        columns: Columns, labels: list[Label]
    ) -> tuple[int, list[int], list[tuple[str, bool, int, int]]]:
        return (
            len(columns.numbers),
            [len(c.values) for c in columns.categories],
            [label.core for label in labels],
        )

    def merge(self, other: Moments) -> Moments:
        """Add the rows of other moments, exactly. They may have other categories and classes.

        Bins, combinations and kernels of labels must be the same: see :meth:`empty`.

        Returns
        -------
        Moments
            Itself.
        """
        if not isinstance(other, Moments):
            raise TypeError(f"moments can be merged with moments, not with {type(other).__name__}")
        if self._kernel != other._kernel:
            raise ValueError("these moments cannot be merged: their kernels differ")
        if other._core is None:
            return self
        self._settle()
        other._settle()
        if self.keep_features != other.keep_features:
            raise ValueError("these moments cannot be merged: one of them keeps the features")
        if (self.criterion, self.favourable) != (other.criterion, other.favourable):
            raise ValueError("these moments cannot be merged: their criteria differ")
        if self._core is None:
            self._columns, self._labels = other._columns, list(other._labels)
            self._core = other._core.copy()
            return self
        assert self._columns is not None and other._columns is not None
        columns, places = _merging.union(self._columns, other._columns)
        mine, theirs = ([(a.target, a.kind, a.kernel) for a in m._labels] for m in (self, other))
        if mine != theirs:
            raise ValueError("these moments cannot be merged: their labels differ")
        core, added = self._core.copy(), other._core.copy()
        _merging.recode(core, self._columns, columns)
        _merging.recode(added, other._columns, columns, places)
        labels = []
        for place, (a, b) in enumerate(zip(self._labels, other._labels, strict=True)):
            both, to = _labels.union(a, b)
            labels.append(both)
            for into, before, moved in ((core, a, list(range(a.size))), (added, b, to)):
                if both.is_class and (
                    moved != list(range(before.size)) or both.size != before.size
                ):
                    self._reclass(into, place, moved, both)
        _criterion.settle(self.criterion, self.favourable, labels)
        try:
            core.merge(added)
        except ValueError as problem:
            hint = MERGING if "of their labels" in str(problem) else ""
            raise ValueError(f"{problem}{hint}") from None
        self._columns, self._labels, self._core = columns, labels, core
        return self

    def _in_order(self) -> Moments:
        """The same with categories and classes in the order in which one machine has them."""
        new = self.copy()
        if new._core is not None and new._columns is not None:
            core = new._core
            new._columns, new._labels = _merging.in_order(
                core, new._columns, new._labels, self._reclass
            )
        return new

    def empty(self) -> Moments:
        """Moments without rows, for other rows with the same columns and labels.

        Bins, rare combinations and the kernels of labels are learned from the first rows. Moments of
        other rows can be merged only where they began with these.

        Returns
        -------
        Moments
            A copy without rows.

        Examples
        --------
        >>> import numpy as np
        >>> from sarl import Moments
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(900, 4))
        >>> first = Moments(sensitive_type="kernel").update(X[:300], X[:300, 0] > 0, X[:300, 1])
        >>> other = first.empty().update(X[300:], X[300:, 0] > 0, X[300:, 1])
        >>> len(first.merge(other))
        900
        """
        new = self.copy()
        if self._core is not None:
            new._core = self._core.without_rows()
            new._labels = [label.without_rows() for label in self._labels]
        return new

    def __iadd__(self, other: Moments) -> Moments:
        return self.merge(other)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        return self.copy().merge(other)

    def __len__(self) -> int:
        return 0 if self._core is None else self._core.rows

    def __repr__(self) -> str:
        if self._core is None or self._columns is None:
            return "Moments(no rows yet)"
        labels = ", ".join(label.name for label in self._labels)
        return f"Moments({len(self)} rows, {self._columns.width} features, labels {labels})"

    def copy(self) -> Moments:
        """A copy, to which rows can be added."""
        self._settle()
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        if self._core is not None:
            new._core = self._core.copy()
            new._labels = list(self._labels)
        new._in_place = False
        return new

    def to_bytes(self) -> bytes:
        """All sums in the safetensors format, with the names of columns and classes beside them."""
        if self._core is None or self._columns is None:
            return b""
        self._settle()
        return self._core.to_bytes({"python": json.dumps(self._described())})

    @classmethod
    def from_bytes(cls, data: bytes) -> Moments:
        """The inverse of :meth:`to_bytes`.

        >>> Moments.from_bytes(Moments().to_bytes())
        Moments(no rows yet)
        """
        if not data:
            return cls()
        new = cls()
        core, extra = _core.Fit.from_bytes(json.dumps(new._params()), bytes(data))
        try:
            described = json.loads(extra["python"])
        except (KeyError, ValueError):
            raise ValueError("these are not the bytes of moments made in Python") from None
        new = cls(**described["options"])
        new._columns = Columns.from_plain(described["columns"])
        new._labels = [Label.from_plain(label) for label in described["labels"]]
        new._core = core
        return new

    def _options(self) -> dict[str, Any]:
        names = (
            "folds",
            "precision",
            "fold_by",
            "random_state",
            "target_type",
            "sensitive_type",
            "criterion",
        )
        options = {name: getattr(self, name) for name in (*names, "keep_features", "n_jobs")}
        return options | {"favourable": _criterion.plain(self.favourable)}

    def _described(self) -> dict[str, Any]:
        assert self._columns is not None
        labels = [label.plain() for label in self._labels]
        return {"options": self._options(), "columns": self._columns.plain(), "labels": labels}

    def __getstate__(self) -> dict[str, Any]:
        if self._kernel is None:
            return {**self._options(), "bytes": self.to_bytes()}
        state = dict(self.__dict__)
        if self._core is not None:
            state["_core"] = (self._core.to_bytes({}), self._core.chosen())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_kernel" in state:
            self.__dict__.update(state)
            if self._core is not None:
                assert self._columns is not None
                data, chosen = state["_core"]
                layout = self._layout(self._columns, self._labels)
                params = json.dumps(self._params())
                self._core = _core.Fit.from_chosen(params, data, chosen, layout)
            return
        data = state.pop("bytes")
        self.__init__(**state)  # type: ignore[misc]
        if data:
            other = type(self).from_bytes(data)
            self._columns, self._labels, self._core = other._columns, other._labels, other._core
