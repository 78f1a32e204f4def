"""A fit over partitions: what each of them adds up, in any order, on any machine."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from . import _adding, _arrow, _core, _forms, _packing
from ._columns import FEW_VALUES, MANY_VALUES, Columns
from ._label import Label
from ._moments import Moments
from ._part import Part
from ._sample import Sample, rows_for

#: The first bytes of a shard.
MAGIC = b"sarl.sh1"
#: What rows serve for, where they are in parts.
FIT, CHOOSE, CERTIFY = range(3)
PARTS = 3


def _names(given: str | Sequence[str] | None, what: str) -> list[str]:
    """Names of columns, one or several."""
    names = [given] if isinstance(given, str) else list(given or ())
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{what} is {given!r}: expected names of columns")
        if names.count(name) > 1:
            raise ValueError(f"{what} names the column {name!r} twice")
    return names


class Shard:
    """The second moments of a partition: columns of Arrow batches in, sums out.

    Shards of one set of parameters can be merged in any order. Folds follow from the content of a
    row, or from its id, so that the result does not depend on how rows are partitioned. Categories
    and classes that only some shards have are reconciled.

    Parameters
    ----------
    features : name or list of names
        Columns of features: numbers, dates, text and booleans, and lists of numbers, which are
        wide features. One list alone is an array of features: the encoder then takes arrays.
    target : name or list of names, optional
        What is to be kept; without it the features themselves, for an :class:`Eraser`.
    sensitive : name or list of names
        What is to be hidden.
    weight : name, optional
        The column of weights.
    row_id : name, optional
        A column of ids, text or numbers, which decides on folds instead of the features.
    kernel : KernelSARL, optional
        The encoder whose kernel the features pass; see :meth:`begin`.
    **options
        Other parameters of :class:`Moments`. With "auto", whole numbers of more than 20 different
        values are refused as a label, because a partition cannot know how many there are.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from sarl import SARL, Shard
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 600))
    >>> rows = pa.record_batch({"a": a, "b": b, "y": a + b > 0, "s": np.where(a > 0, "u", "v")})
    >>> zero = Shard(features=["a", "b"], target="y", sensitive="s")
    >>> parts = [zero.empty().update(rows.slice(at, 200)).to_bytes() for at in (0, 200, 400)]
    >>> total = zero.empty()
    >>> for part in parts:
    ...     total.merge(Shard.from_bytes(part))
    Shard(200 rows)
    Shard(400 rows)
    Shard(600 rows)
    >>> encoder = SARL(max_leakage=0.01).fit_moments(total.finish())
    >>> encoder.n_components_
    1
    """

    def __init__(
        self,
        *,
        features: str | Sequence[str],
        sensitive: str | Sequence[str],
        target: str | Sequence[str] | None = None,
        weight: str | None = None,
        row_id: str | None = None,
        kernel: Any = None,
        **options: Any,
    ) -> None:
        self.features = _names(features, "features")
        self.target = _names(target, "target")
        self.sensitive = _names(sensitive, "sensitive")
        self.weight = weight
        self.row_id = row_id
        if not self.features:
            raise ValueError("features is missing: name the columns to encode")
        if not self.sensitive:
            raise ValueError(
                "sensitive is missing: name the columns that hold what is to be hidden"
            )
        options = {"n_jobs": 1} | options | {"fold_by": "content" if row_id is None else "key"}
        self._check(options)
        self._moments = Moments(**options)
        #: Rows of the parts that fit, choose and certify, where rows are in parts.
        self._parts: list[int] | None = None
        self._sampled = kernel is None and not self._learns_labels()
        if kernel is not None:
            from ._kernel import rows_of

            how, scale, public = kernel._how(), kernel.scale, rows_of(kernel.landmarks)
            if how["approximation"] == "exact":
                raise ValueError("approx='exact' needs all rows at once: use approx='landmarks'")
            self._moments = Moments._behind(how, scale, public, **options)

    def _check(self, options: dict[str, Any]) -> None:
        if options.get("criterion") == "equal-opportunity" and options.get("favourable") is None:
            raise ValueError(
                "favourable is missing: a partition cannot know all classes of the target"
            )

    def _learns_labels(self) -> bool:
        """Whether labels are made of what rows hold: bins, combinations, kernels, criteria."""
        m = self._moments
        sides = ((m.target_type, self.target), (m.sensitive_type, self.sensitive))
        forms = [form for treat, names in sides for form in _forms.read(treat, names, "type")]
        made = any(form.treat in ("bins", "kernel", "combination") for form in forms)
        return made or m.criterion != "parity"

    @property
    def columns(self) -> list[str]:
        """The columns that are read, each once."""
        beside = [name for name in (self.weight, self.row_id) if name is not None]
        return list(dict.fromkeys([*self.features, *self.target, *self.sensitive, *beside]))

    @property
    def needs_sample(self) -> bool:
        """Whether a sample of the rows must be seen first: see :meth:`begin`."""
        return not self._sampled

    def sample(self) -> Sample:
        """What gathers a sample of the rows for :meth:`begin`, on any machine."""
        size, seed = rows_for(self._moments._kernel), self._moments.random_state
        part = None if self._parts is None else (str(self.row_id), FIT, 2**64 - 1)
        return Sample(self.columns, self.features, size, seed, part)

    def begin(self, sample: Sample) -> Shard:
        """A shard without rows, whose landmarks, bins and kernels of labels are those of a sample.

        Parameters
        ----------
        sample : Sample
            A sample of all rows: see :meth:`sample`.

        Returns
        -------
        Shard
            What all shards begin with.
        """
        if not sample.rows:
            raise ValueError("there are no rows")
        new = self.empty()
        moments = new._moments
        part = new._read(sample.table(), sample.categories())
        moments._core = _adding.begin(moments, part)
        moments._columns = part.columns
        moments._labels = [label.without_rows() for label in part.labels]
        new._sampled = True
        return new

    def update(self, rows: Any) -> Shard:
        """Add the rows of an Arrow batch or table: all of a batch, or none if any is refused.

        Returns
        -------
        Shard
            Itself.
        """
        if self.needs_sample:
            raise ValueError("a sample of the rows must be seen first: see Shard.begin")
        for batch in batches(rows):
            if batch.num_rows:
                part = self._read(batch, self._moments._columns)
                if self._parts is None:
                    _adding.add(self._moments, part)
                    continue
                which = self._part_of(part)
                _adding.add(self._moments, part.take(np.flatnonzero(which == FIT)))
                more = np.bincount(which, minlength=PARTS).tolist()
                self._parts = [a + b for a, b in zip(self._parts, more, strict=True)]
        return self

    def _in_parts(self) -> Shard:
        """The same without rows, for rows of which only those of the first part are added up."""
        if self.row_id is None:
            raise ValueError(
                "row_id is missing: which rows fit, choose and certify follows from an id of each "
                "row, not from what it holds"
            )
        new = self.empty()
        new._parts = [0] * PARTS
        return new

    def _part_of(self, part: Part) -> NDArray[np.uint8]:
        """What each row serves for."""
        assert part.ids is not None
        return _core.key_parts(part.ids, self._moments.random_state)

    def _read(self, batch: pa.RecordBatch, known: Columns | None) -> Part:
        m = self._moments
        unseen = "error" if m._kernel is not None and known is not None else "add"
        columns, dense, codes = _arrow.features(batch, self.features, known, unseen=unseen)
        weights = _arrow.weights(batch, self.weight)
        labels: list[Label] = []
        values = []
        for names, treat, target in (
            (self.target, m.target_type, True),
            (self.sensitive, m.sensitive_type, False),
        ):
            before = m._of(target) if m._core is not None else None
            more = _arrow.labels(batch, names, treat, before, weights, target=target)
            labels += more[0]
            values += more[1]
        ids = None if self.row_id is None else _arrow.keys(batch, self.row_id)
        return Part(columns, dense, codes, labels, values, weights, ids)

    def merge(self, other: Shard) -> Shard:
        """Add the rows of another shard, which may have other categories and classes.

        Returns
        -------
        Shard
            Itself.
        """
        if not isinstance(other, Shard):
            raise TypeError(f"a shard can be merged with a shard, not with {type(other).__name__}")
        if self._picked() != other._picked():
            raise ValueError("these shards cannot be merged: they read other columns")
        self._moments.merge(other._moments)
        if self._parts is not None and other._parts is not None:
            self._parts = [a + b for a, b in zip(self._parts, other._parts, strict=True)]
        return self

    def finish(self) -> Moments:
        """The moments of all rows, with categories and classes as one machine orders them.

        Returns
        -------
        Moments
            For :meth:`SARL.fit_moments`.
        """
        moments = self._moments._in_order()
        if not len(moments) or moments._columns is None:
            raise ValueError("there are no rows")
        _check_identifiers(moments._columns, len(moments))
        moments.n_jobs = None
        return moments

    def empty(self) -> Shard:
        """The same without rows."""
        new = object.__new__(Shard)
        new.__dict__.update(self.__dict__)
        new._moments = self._moments.empty()
        new._parts = None if self._parts is None else [0] * PARTS
        return new

    def __len__(self) -> int:
        return len(self._moments)

    def __repr__(self) -> str:
        return f"Shard({len(self)} rows)"

    # -- bytes ---------------------------------------------------------------------------------

    def _picked(self) -> dict[str, Any]:
        names = ("features", "target", "sensitive", "weight", "row_id")
        return {name: getattr(self, name) for name in names} | {"in_parts": self._parts is not None}

    def to_bytes(self) -> bytes:
        """All of it, for another machine.

        The sums of d features in k folds are k·d² doubles, and little beside them.
        """
        m = self._moments
        chosen = None if m._core is None else m._core.chosen()
        about = {
            "picked": self._picked(),
            "sampled": self._sampled,
            "parts": self._parts,
            "options": _packing.options(m),
            "kernel": m._kernel,
            "scale": m._scale,
            "spreads": None if chosen is None else chosen[1],
            **_packing.known(m),
        }
        head = json.dumps(about).encode()
        sums = b"" if m._core is None else m._core.to_bytes({})
        features = b"" if chosen is None else chosen[0]
        sizes = struct.pack("<QQQ", len(head), len(features), len(sums))
        return b"".join((MAGIC, sizes, head, features, sums))

    @classmethod
    def from_bytes(cls, data: bytes) -> Shard:
        """The inverse of :meth:`to_bytes`."""
        view = memoryview(data)
        start = len(MAGIC) + 24
        if len(view) < start or bytes(view[: len(MAGIC)]) != MAGIC:
            raise ValueError("these are not the bytes of a shard")
        sizes = struct.unpack("<QQQ", view[len(MAGIC) : start])
        if start + sum(sizes) != len(view):
            raise ValueError("the bytes of a shard are damaged: some are missing")
        ends = [start, start + sizes[0], start + sizes[0] + sizes[1], len(view)]
        head, features, sums = (bytes(view[a:b]) for a, b in pairwise(ends))
        try:
            about = json.loads(head)
            new = object.__new__(cls)
            new.__dict__.update({n: v for n, v in about["picked"].items() if n != "in_parts"})
            new._sampled, new._parts = about["sampled"], about["parts"]
            new._moments = _restored(about, features, sums)
        except (KeyError, TypeError, ValueError) as problem:
            raise ValueError(f"the bytes of a shard are damaged: {problem}") from None
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {"bytes": self.to_bytes(), "public": self._moments._public}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(Shard.from_bytes(state["bytes"]).__dict__)
        self._moments._public = state["public"]


def _restored(about: dict[str, Any], features: bytes, sums: bytes) -> Moments:
    """The moments of a shard that travelled."""
    new = Moments(**about["options"])
    new._kernel, new._scale = about["kernel"], about["scale"]
    if not sums:
        return new
    _packing.set_known(new, about)
    if new._kernel is None:
        new._core = _core.Fit.from_bytes(json.dumps(new._params()), sums)[0]
        return new
    spreads = [(mean, sd) for mean, sd in about["spreads"]]
    _packing.restore_kernel(new, sums, (features, spreads))
    return new


def batches(rows: Any) -> Iterable[pa.RecordBatch]:
    """The batches of an Arrow batch, table or stream."""
    if isinstance(rows, pa.RecordBatch):
        return [rows]
    if not isinstance(rows, pa.Table):
        if not hasattr(rows, "__arrow_c_stream__"):
            raise TypeError(f"expected an Arrow batch or table, found {type(rows).__name__}")
        rows = pa.table(rows)
    found: list[pa.RecordBatch] = rows.to_batches()
    return found


def _check_identifiers(columns: Columns, rows: int) -> None:
    """Refuses text of which nearly every row has its own."""
    for c in columns.categories:
        count = len(c.values)
        if c.kind == "text" and (count > MANY_VALUES or (count > FEW_VALUES and 2 * count > rows)):
            raise ValueError(
                f"nothing can be learned from text with so many different values in column "
                f"{columns.names[c.place]!r}: {count} in {rows} rows; leave it out"
            )
