"""Second moments: all that a fit needs of the data, in one pass, mergeable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from . import _adding, _core, _criterion, _merging, _packing
from ._checks import (
    check_choice,
    check_folds,
    core_precision,
    threads,
)
from ._columns import Columns
from ._label import Label
from ._labels import Treats
from ._part import FOLD_BY
from ._placed import Placed, on_gpu
from ._placed import read as placed
from ._rows import is_table, native
from ._words import documented


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
        part = _adding.read(
            self, X, y, sensitive_features, sample_weight, row_id=row_id, unseen="add"
        )
        _adding.add(self, part)
        return self

    def _reclass(self, core: _core.Fit, place: int, to: list[int], new: Label) -> None:
        """Renumbers the classes of a label in the sums of a fit."""
        try:
            core.reclass(place + self._keeps(self._labels), to, new.size)
        except ValueError as problem:
            raise ValueError(f"{new.name} has new classes: {problem}") from None

    def _keeps(self, labels: Sequence[Label]) -> bool:
        """Whether the features themselves are kept."""
        return self.keep_features or not any(label.target for label in labels)

    def _of(self, target: bool) -> list[Label]:
        return [label for label in self._labels if label.target == target]

    def _settle(self) -> None:
        """Takes over what a GPU has added up."""
        if self._core is not None:
            self._core.settle(threads(self.n_jobs))

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
        self._columns, self._labels, self._core = _merging.merged(self, other)
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
        return _packing.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Moments:
        """The inverse of :meth:`to_bytes`.

        >>> Moments.from_bytes(Moments().to_bytes())
        Moments(no rows yet)
        """
        return _packing.from_bytes(cls, data)

    def __getstate__(self) -> dict[str, Any]:
        return _packing.state(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        _packing.set_state(self, state)
