"""An eraser for each chosen layer of a network."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from torch import nn

from .._checks import Limit, check_choice, check_folds, check_ridge, one_goal
from . import _files, _merging
from ._batch import Reader
from ._fitting import Layer, new_moments
from ._folding import Fold, fold
from ._hooks import Erasers, Hooks, forget_compiled
from ._passes import Passes
from ._running import evaluating

#: How layers are fitted.
ORDERS = ("sequential", "sequential-approximate", "parallel")


class Scrubber(Passes):
    """Erases concepts from chosen layers of any module, while it runs or in its weights.

    Each layer has an :class:`sarl.Eraser` of its own, fitted in passes over batches. Of the rows only
    second moments are kept.

    Parameters
    ----------
    layers : str or list of str
        Names of modules, or patterns for each part of a name: ``"model.layers.*"``,
        ``"model.layers.[0-5].self_attn.[qkv]_proj"``. ``**`` is any number of parts.
    at : {"output", "input"}, default="output"
        Whether what comes out of a module is erased, or what goes into it: the first tensor.
    order : {"sequential", "sequential-approximate", "parallel"}, default="sequential"
        Sequential: each layer is fitted on what the erased layers before it give, one pass for each.
        Sequential-approximate: all layers in one pass. They are solved again after twice as many
        rows each time, so that a layer is fitted on rows that an earlier solution of those before it
        gave. Parallel: all layers in one pass, on the model as it is. Then each layer alone is
        erased, not one behind another.
    max_leakage : float or dict, default=0.0
        The share of the variance of each concept that a linear adversary may explain at a layer; a
        dict has limits by concept, and what it does not name is not limited.
    ridge : float, "auto" or None, default=None
        See :class:`sarl.Eraser`.
    concept_type : str or dict, default="auto"
        "class" or "number", or by concept; see `sensitive_type` of :class:`sarl.Eraser`.
    folds : int, default=2
        Folds for held-out leakages: 1 for none. Sequences are in one fold as a whole. Each fold
        needs width² doubles while a layer is fitted.
    precision : {"double", "single"}, default="double"
        How products of activations are formed.
    n_jobs : int or None, default=None
        Threads of the sums; None or -1 for all cores.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    layers_ : dict of Layer
        The erasures by the names of layers, in the order in which rows meet them.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from sarl.torch import Scrubber
    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    >>> x = torch.randn(500, 4)
    >>> batches = [(x[i : i + 100], x[i : i + 100, 0] > 0) for i in range(0, 500, 100)]
    >>> scrubber = Scrubber(["0", "1"]).fit(model, batches)
    >>> [layer.directions for layer in scrubber.layers_.values()]
    [1, 1]
    >>> with scrubber.scrub(model):
    ...     y = model(x)
    """

    def __init__(
        self,
        layers: str | Sequence[str],
        *,
        at: str = "output",
        order: str = "sequential",
        max_leakage: Limit = 0.0,
        ridge: float | str | None = None,
        concept_type: str | dict[str, str] = "auto",
        folds: int = 2,
        precision: str = "double",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.layers = [layers] if isinstance(layers, str) else list(layers)
        self.at = check_choice("at", at, ("output", "input"))
        self.order = check_choice("order", order, ORDERS)
        self.max_leakage = one_goal({"max_leakage": max_leakage})[1]
        self.ridge = ridge
        self.concept_type = concept_type
        self.folds = check_folds(folds)
        self.precision = check_choice("precision", precision, ("double", "single"))
        self.n_jobs = n_jobs
        self.verbose = verbose
        check_ridge(ridge, folds)
        self._forget()

    @property
    def layers_(self) -> dict[str, Layer]:
        """The erasures by the names of layers, in the order in which rows meet them."""
        if not self._done:
            raise AttributeError("this Scrubber is not fitted yet: call fit first")
        return dict(self._done)

    def __repr__(self) -> str:
        return f"Scrubber({self.layers!r}, at={self.at!r}, order={self.order!r}, layers fitted: {len(self._done)})"

    # -- fits ----------------------------------------------------------------------------------

    def fit(
        self,
        model: nn.Module,
        batches: Iterable[Any],
        *,
        concepts: str | Sequence[str] | None = None,
        mask: str | Mapping[str, str | None] | None = "attention_mask",
        weights: str | None = None,
        forward: Callable[[nn.Module, Any], Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Scrubber:
        """Fit an eraser for each layer.

        Parameters
        ----------
        model : nn.Module
            It runs in evaluation mode and without gradients, and is left as it was.
        batches : iterable
            A loader. A batch is a mapping, whose keys named in `concepts` and `weights` are taken out
            and whose rest goes into the model as keywords; or (inputs, concepts), or (inputs,
            concepts, weights), where inputs are a tensor, a tuple or a mapping, and concepts one label
            or a mapping of names to labels. A label has a value for each sequence, or for each
            position; whole numbers of -100 are no label. Inputs go to the device of the model.
            Sequential passes need something that can be gone through again, not a generator.
        concepts : str or list of str, optional
            The keys of a batch that hold concepts.
        mask : str, dict or None, default="attention_mask"
            The input that says which positions count, where it is there; or by patterns of layers,
            where not all have these positions: ``{"text_model.**": "attention_mask"}``.
        weights : str, optional
            The key of a weight for each sequence, or for each position.
        forward : callable, optional
            ``forward(model, inputs)`` instead of ``model(**inputs)``.
        checkpoint : path, optional
            Where the state is written to: after each layer, every 100 batches, and when the fit is
            interrupted. :meth:`from_bytes` reads it, and :meth:`resume` goes on.

        Returns
        -------
        Scrubber
            Itself. Where `torch.distributed` is running, every process has its own batches, and gets
            the erasers of all of them.
        """
        self._forget()
        reader = Reader(concepts, mask, weights, forward)
        return self._fit(model, batches, reader, checkpoint)

    def resume(
        self,
        model: nn.Module,
        batches: Iterable[Any],
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> Scrubber:
        """Go on with a fit that was interrupted; see :meth:`fit` for the parameters.

        Batches must come in the same order, not shuffled anew: as many as are in the sums are passed
        over.
        """
        return self._fit(model, batches, Reader.of(options), checkpoint)

    def _fit(
        self, model: nn.Module, batches: Iterable[Any], reader: Reader, checkpoint: Any
    ) -> Scrubber:
        try:
            while not self.is_finished:
                self._collect(model, batches, reader, checkpoint)
                self._merge_processes()
                self.solve()
                self._write(checkpoint)
        except BaseException:
            self._write(checkpoint)
            raise
        return self

    def collect(
        self,
        model: nn.Module,
        batches: Iterable[Any],
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> Scrubber:
        """Add up the rows of one pass, without solving: for files of several machines.

        Parallel: of all layers. Sequential: of the next layer that is not solved yet. Then
        :meth:`merge` what others have added up, and :meth:`solve`. See :meth:`fit` for the
        parameters.
        """
        self._collect(model, batches, Reader.of(options), checkpoint)
        return self

    def solve(self) -> Scrubber:
        """Solve what was added up; see :meth:`collect`."""
        for name, before in self._before.items():
            # A few last rows say less than those before them.
            now = self._sums.setdefault(name, new_moments(self._options()))
            if len(now) < len(before):
                now.merge(before)
        if not any(len(m) for m in self._sums.values()):
            raise ValueError("there are no rows")
        self._done |= self._solved()
        if self._names is None:
            self._names = list(self._done)
        self._sums, self._seen, self._before = {}, {}, {}
        return self

    @property
    def is_finished(self) -> bool:
        """Whether every layer is solved."""
        return self._names is not None and all(name in self._done for name in self._names)

    # -- use -----------------------------------------------------------------------------------

    def scrub(self, model: nn.Module, only: Iterable[str] | None = None) -> Hooks:
        """Erase while the model runs, by hooks on its layers.

        Parameters
        ----------
        model : nn.Module
            The model, or one with the same layers. Any device and precision.
        only : names of layers, optional
            Not all of them: say, those that :meth:`fold` has left.

        Returns
        -------
        Hooks
            A context that takes the hooks off at its end; also `remove()`. What `torch.compile` has
            made of this or of other models is made anew, both when hooks come and when they go.
        """
        hooks = Erasers()
        self._erase(model, hooks, self.layers_ if only is None else only)
        forget_compiled()
        return hooks

    def fold(self, model: nn.Module, example: Any = None, **options: Any) -> list[Fold]:
        """Write erasures into the weights of linear layers, where that is exact.

        Into a linear layer itself, if that is what was fitted; or into the linear layers that are the
        only ones to read what is erased, as those behind a norm. Which ones these are is found out
        from an example. In half precision weights are rounded, and the erasure with them.

        Parameters
        ----------
        model : nn.Module
            Its weights are replaced; `copy.deepcopy` it first to keep them.
        example : batch, optional
            A batch as in :meth:`fit`, or only what goes into the model. Without it only linear
            layers themselves are folded into.
        **options
            `weights` and `forward` of :meth:`fit`, for the example.

        Returns
        -------
        list of Fold
            For each layer where its erasure was written `into`, or `why` it was left out. Those that
            were left out still need hooks: ``scrubber.scrub(model, only=[f.layer for f in folds if
            not f.into])``.
        """
        run = None
        if example is not None:
            known = {name for layer in self.layers_.values() for name in layer.concepts}
            reader = Reader.of({"concepts": known, **options})
            inputs = reader.inputs(example)
            run = lambda: reader.run(model, inputs)
        with evaluating(model):
            return fold(model, self.layers_, run)

    # -- files, processes ----------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the erasures: one safetensors file, which ``sarl info`` shows.

        Each layer has the tensors ``NAME/mean``, ``NAME/found`` and ``NAME/taken``.
        """
        _files.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scrubber:
        """Read a file of :meth:`save`: for :meth:`scrub` and :meth:`fold`, not for more rows."""
        new: Scrubber = _files.load(cls, path)
        return new

    def to_bytes(self) -> bytes:
        """All of it, with the sums of the pass that is under way."""
        return _merging.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Scrubber:
        """The inverse of :meth:`to_bytes`; also reads the bytes of a checkpoint."""
        new: Scrubber = _merging.from_bytes(cls, data)
        return new

    def merge(self, other: Scrubber) -> Scrubber:
        """Add the sums of another process, of the same pass over other batches.

        Examples
        --------
        >>> import torch
        >>> from torch import nn
        >>> from sarl.torch import Scrubber
        >>> model, x = nn.Sequential(nn.Linear(3, 4)), torch.randn(400, 3)
        >>> parts = [Scrubber("0", order="parallel") for _ in range(2)]
        >>> for k, part in enumerate(parts):
        ...     _ = part.collect(model, [(x[k::2], x[k::2, 0] > 0)])
        >>> sent = parts[1].to_bytes()
        >>> whole = parts[0].merge(Scrubber.from_bytes(sent)).solve()
        >>> whole.layers_["0"].rows
        400
        """
        new: Scrubber = _merging.merge(self, other)
        return new

    def _merge_processes(self) -> None:
        _merging.merge_processes(self)
