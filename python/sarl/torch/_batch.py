"""Batches: what goes into the model, and the concepts, masks and weights of its positions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .._rows import is_tensor
from ._hooks import matches
from ._modules import HALF

#: Whole numbers that stand for no label, as in the losses of PyTorch.
IGNORED = -100

#: The name of a concept that comes without one.
UNNAMED = "concept"


@dataclass
class Positions:
    """What is known of the sequences of a batch."""

    concepts: dict[str, Any]
    masks: Mapping[str, Any]
    weights: Any
    keys: NDArray[np.uint64]


@dataclass
class Rows:
    """The rows of a batch at a layer."""

    x: NDArray[Any]
    concepts: dict[str, NDArray[Any]]
    weights: NDArray[np.float64] | None
    keys: NDArray[np.uint64]


@dataclass(frozen=True)
class Reader:
    """How batches are read: see :meth:`Scrubber.fit`."""

    concepts: str | Collection[str] | None = None
    mask: str | Mapping[str, str | None] | None = "attention_mask"
    weights: str | None = None
    forward: Callable[[nn.Module, Any], Any] | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Reader:
        """From keywords of a user."""
        known = [field.name for field in fields(cls)]
        wrong = next((name for name in options if name not in known), None)
        if wrong is not None:
            names = ", ".join(known)
            raise TypeError(f"unknown keyword {wrong!r}: expected some of {names}")
        return cls(**options)

    def inputs(self, example: Any) -> Any:
        """What of a batch goes into the model, also where it has no concepts."""
        if isinstance(example, Mapping):
            names = [self.concepts] if isinstance(self.concepts, str) else self.concepts or ()
            beside = {*names, self.weights}
            return {k: v for k, v in example.items() if k not in beside}
        return example if isinstance(example, Tensor) else self._parts(example)[0]

    def read(self, batch: Any) -> tuple[Any, Positions]:
        """What goes into the model, and what is known of its positions."""
        inputs, concepts, weights = self._parts(batch)
        if not concepts:
            raise ValueError(
                "the batch has no concepts: name the keys that hold them with concepts=…, or pass "
                "batches (inputs, concepts)"
            )
        masks = self._masks(inputs)
        size = len(next(iter(concepts.values())))
        mask = next((m for m in masks.values() if m is not None), None)
        return inputs, Positions(concepts, masks, weights, sequence_keys(inputs, mask, size))

    def _parts(self, batch: Any) -> tuple[Any, dict[str, Any], Any]:
        if isinstance(batch, Mapping):
            names = [self.concepts] if isinstance(self.concepts, str) else self.concepts or ()
            beside = [*names, *([] if self.weights is None else [self.weights])]
            missing = [name for name in beside if name not in batch]
            if missing:
                known = ", ".join(map(repr, batch))
                raise ValueError(f"the batch has no {missing[0]!r}; there are {known}")
            inputs = {k: v for k, v in batch.items() if k not in beside}
            weights = None if self.weights is None else batch[self.weights]
            return inputs, {name: batch[name] for name in names}, weights
        if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
            raise ValueError(
                f"a batch is a {type(batch).__name__}: expected a mapping, (inputs, concepts) or "
                "(inputs, concepts, weights)"
            )
        concepts = batch[1]
        if not isinstance(concepts, Mapping):
            concepts = {self.concepts if isinstance(self.concepts, str) else UNNAMED: concepts}
        return batch[0], dict(concepts), batch[2] if len(batch) == 3 else None

    def _masks(self, inputs: Any) -> dict[str, Any]:
        """Masks by the pattern of the layers that they are for."""
        wanted = self.mask if isinstance(self.mask, Mapping) else {"**": self.mask}
        given = inputs if isinstance(inputs, Mapping) else {}
        return {pattern: None if key is None else given.get(key) for pattern, key in wanted.items()}

    def run(self, model: nn.Module, inputs: Any) -> Any:
        """The forward pass."""
        inputs = moved(inputs, device_of(model))
        if self.forward is not None:
            return self.forward(model, inputs)
        if isinstance(inputs, Mapping):
            return model(**inputs)
        return model(*inputs) if isinstance(inputs, (tuple, list)) else model(inputs)


def device_of(model: nn.Module) -> torch.device:
    """Where inputs go: to the device of the first parameter."""
    tensors: Iterable[Tensor] = (*model.parameters(), *model.buffers())
    return next((t.device for t in tensors), torch.device("cpu"))


def moved(value: Any, device: torch.device) -> Any:
    """The same on a device."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, Mapping):
        return {k: moved(v, device) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(moved(v, device) for v in value)
    return value


def sequence_keys(inputs: Any, mask: Any, size: int) -> NDArray[np.uint64]:
    """A number for each sequence, made of what it holds: it decides on its fold.

    All positions of a sequence are then in one fold, and on any machine it is the same.
    """
    values = inputs.values() if isinstance(inputs, Mapping) else inputs
    values = [values] if isinstance(values, Tensor) else list(values)
    first = next((v for v in values if isinstance(v, Tensor) and v.shape[:1] == (size,)), None)
    if first is None:
        raise ValueError(
            f"no input is a tensor of {size} sequences, as many as there are labels of the concept"
        )
    rows = first.detach().cpu().contiguous()
    seen = None
    if mask is not None and tuple(mask.shape) == tuple(rows.shape[:2]):
        seen = torch.as_tensor(mask).cpu().bool()
    keys = np.empty(size, np.uint64)
    for i in range(size):
        row = rows[i] if seen is None else rows[i][seen[i]]
        data = row.contiguous().view(torch.uint8) if row.dim() else row.reshape(1).view(torch.uint8)
        digest = hashlib.blake2b(data.numpy().tobytes(), digest_size=8).digest()
        keys[i] = int.from_bytes(digest, "little")
    return keys


def rows_at(layer: str, hidden: Tensor, of: Positions) -> Rows:
    """The rows of a layer that count: not masked, and with a label of each concept."""
    lead = hidden.shape[:-1]
    keep = torch.ones(lead, dtype=torch.bool)
    mask = next((m for p, m in of.masks.items() if matches(layer, p)), None)
    if mask is not None:
        keep &= spread(torch.as_tensor(mask).cpu().bool(), lead, layer, "the mask")
    concepts = {}
    for name, given in of.concepts.items():
        values = spread(labels_of(given), lead, layer, f"the concept {name!r}")
        if not values.is_floating_point() and values.dtype != torch.bool:
            keep &= values != IGNORED
        concepts[name] = values
    weights = None
    if of.weights is not None:
        weights = spread(labels_of(of.weights), lead, layer, "the weights")
    keys = spread(torch.from_numpy(of.keys.view(np.int64)), lead, layer, "the batch")
    x = hidden.detach()
    # All positions are read where they are: a choice of them is a copy.
    x = x.reshape(-1, x.shape[-1]) if bool(keep.all()) else x[keep.to(x.device)]
    x = x.to("cpu", torch.float32 if x.dtype in HALF else x.dtype)
    return Rows(
        x.numpy(),
        {name: values[keep].numpy() for name, values in concepts.items()},
        None if weights is None else weights[keep].double().numpy(),
        keys[keep].numpy().view(np.uint64),
    )


def labels_of(values: Any) -> Tensor:
    """Labels as a tensor on the CPU."""
    if is_tensor(values):
        return torch.as_tensor(values).detach().cpu()
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"a concept holds {array.dtype}: expected whole numbers, booleans or reals"
        )
    return torch.from_numpy(np.ascontiguousarray(array))


def spread(values: Tensor, lead: Sequence[int], layer: str, what: str) -> Tensor:
    """One value for each position: values of a sequence are those of its positions."""
    lead = tuple(lead)
    if values.dim() > 1 and values.shape[-1] == 1 and values.dim() > len(lead):
        values = values.squeeze(-1)
    if tuple(values.shape) != lead[: values.dim()]:
        raise ValueError(
            f"{what} has shape {tuple(values.shape)}, but the layer {layer!r} has positions "
            f"{lead}: expected one value for each sequence, or for each position"
        )
    return values.reshape(*values.shape, *[1] * (len(lead) - values.dim())).expand(lead)
