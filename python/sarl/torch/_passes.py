"""Passes over batches: sums of the rows of layers, and what is solved from them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sized
from functools import partial
from typing import Any

from torch import Tensor, nn

from .._checks import Limit
from .._moments import Moments
from .._progress import Bar
from . import _files
from ._batch import Positions, Reader, rows_at
from ._fitting import Layer, add, new_moments, solve
from ._hooks import Hooks, Stop, find, module_of
from ._merging import to_bytes
from ._running import Erasing, evaluating, times, uninterrupted

#: Rows for each column before layers are solved for the first time in one pass.
FIRST_ROWS = 4

#: Batches between two writings of a checkpoint.
CHECKPOINT = 100


class Passes:
    """What a scrubber has added up and solved so far."""

    layers: list[str]
    at: str
    order: str
    max_leakage: Limit
    ridge: float | str | None
    concept_type: str | dict[str, str]
    folds: int
    precision: str
    n_jobs: int | None
    verbose: int

    def _forget(self) -> None:
        self._done: dict[str, Layer] = {}
        #: Layers in the order in which rows meet them; None before a pass.
        self._names: list[str] | None = None
        #: Sums of the pass that is under way, and the batches that are in them.
        self._sums: dict[str, Moments] = {}
        self._seen: dict[str, int] = {}
        #: Sums of the last solution of an approximate pass.
        self._before: dict[str, Moments] = {}

    def _options(self) -> dict[str, Any]:
        names = ("at", "order", "max_leakage", "ridge", "concept_type", "folds", "precision")
        return {name: getattr(self, name) for name in (*names, "n_jobs")}

    def _collect(
        self, model: nn.Module, batches: Iterable[Any], reader: Reader, checkpoint: Any
    ) -> None:
        if self.order == "sequential" and iter(batches) is batches:
            raise ValueError(
                "batches are used up after one pass: a sequential fit needs a loader or a list; or use "
                "order='parallel'"
            )
        if self._names is None and self.order == "sequential":
            self._names = self._order_of(model, batches, reader)
        wanted = self._wanted(model)
        total = len(batches) if isinstance(batches, Sized) else None
        bar = Bar(total, self._title(wanted), bool(self.verbose), unit=" batches")
        with evaluating(model), bar as shown:
            for index, batch in enumerate(batches):
                if any(self._seen.get(name, 0) <= index for name in wanted):
                    self._pass(model, batch, reader, wanted, index)
                if shown is not None:
                    shown(1)
                if self.order == "sequential-approximate":
                    self._solve_early()
                if checkpoint is not None and (index + 1) % CHECKPOINT == 0:
                    self._write(checkpoint)

    def _title(self, wanted: list[str]) -> str:
        if self.order != "sequential":
            return f"{len(wanted)} layers"
        return f"{wanted[0]} ({len(self._done) + 1} of {len(self._names or ())})"

    def _wanted(self, model: nn.Module) -> list[str]:
        """The layers that a pass is for."""
        if self.order == "sequential":
            assert self._names is not None
            return [name for name in self._names if name not in self._done][:1]
        return find(model, self.layers)

    def _order_of(self, model: nn.Module, batches: Iterable[Any], reader: Reader) -> list[str]:
        """The layers in the order in which the first batch meets them."""
        names = find(model, self.layers)
        met: list[str] = []
        with evaluating(model), Hooks() as hooks:
            for name in names:
                hooks.add(module_of(model, name), self.at, partial(_note, met, name))
            first = next(iter(batches), None)
            if first is None:
                raise ValueError("there are no batches")
            reader.run(model, reader.read(first)[0])
        for name in names:
            if met.count(name) != 1:
                raise ValueError(times(name, met.count(name)))
        return met

    def _pass(
        self, model: nn.Module, batch: Any, reader: Reader, wanted: list[str], index: int
    ) -> None:
        """Adds a batch to the sums of layers."""
        inputs, positions = reader.read(batch)
        last = wanted[-1] if self.order == "sequential" else None
        with Hooks() as hooks:
            for name in wanted:
                act = self._collector(name, positions, index, stop=name == last)
                hooks.add(module_of(model, name), self.at, act)
            if self.order != "parallel":
                self._erase(model, hooks)
            with contextlib.suppress(Stop):
                reader.run(model, inputs)

    def _collector(
        self, name: str, positions: Positions, index: int, *, stop: bool
    ) -> Callable[[Tensor], None]:
        counted = False

        def act(hidden: Tensor) -> None:
            nonlocal counted
            if counted:
                raise ValueError(times(name, 2))
            counted = True
            if self._seen.get(name, 0) <= index:
                rows = rows_at(name, hidden, positions)
                with uninterrupted():
                    if name not in self._sums:
                        self._sums[name] = new_moments(self._options())
                    add(name, self._sums[name], rows, self.concept_type)
                    self._seen[name] = index + 1
            if stop:
                raise Stop

        return act

    def _solve_early(self) -> None:
        """Solves all layers from the rows since the last time, if these are twice as many."""
        if not self._sums:
            return
        rows = min(len(m) for m in self._sums.values())
        width = max(m._columns.width for m in self._sums.values() if m._columns)
        before = min((len(m) for m in self._before.values()), default=0)
        if rows >= max(FIRST_ROWS * width, 2 * before):
            self._done = self._solved()
            self._before, self._sums = self._sums, {}

    def _solved(self) -> dict[str, Layer]:
        options = self._options()
        return {name: solve(name, self.at, m, options) for name, m in self._sums.items()}

    def _erase(self, model: nn.Module, hooks: Hooks, names: Iterable[str] | None = None) -> None:
        for name in self._done if names is None else names:
            if name not in self._done:
                raise ValueError(f"the layer {name!r} is not among those that were fitted")
            layer = self._done[name]
            hooks.add(module_of(model, name), layer.at, Erasing(layer))

    def _write(self, checkpoint: Any) -> None:
        if checkpoint is not None:
            _files.write(checkpoint, to_bytes(self))


def _note(met: list[str], name: str, _: Tensor) -> None:
    met.append(name)
