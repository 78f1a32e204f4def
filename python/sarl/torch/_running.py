"""How a model is run while layers are fitted or erased."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from ._fitting import Layer
from ._hooks import is_compiled


class Erasing:
    """Erases activations on the device where they are."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.modules: dict[tuple[torch.device, torch.dtype], nn.Module] = {}

    def __call__(self, hidden: Tensor) -> Tensor:
        if hidden.shape[-1] != self.layer.width:
            raise ValueError(
                f"the layer {self.layer.name!r} has width {hidden.shape[-1]}, but was fitted with "
                f"{self.layer.width}"
            )
        dtype = torch.float64 if hidden.dtype == torch.float64 else torch.float32
        place = (hidden.device, dtype)
        if place not in self.modules:
            self.modules[place] = self.layer.to_torch(dtype=dtype).to(hidden.device)
        erased: Tensor = self.modules[place](hidden)
        return erased


def times(name: str, count: int) -> str:
    """What is wrong with a layer that does not run once."""
    if not count:
        return f"the model does not run the layer {name!r}"
    return f"the layer {name!r} runs more than once for a batch: choose modules that run once"


@contextlib.contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients, for as long as it lasts; not compiled, for hooks that change."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad(), uncompiled(model):
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def uncompiled(model: nn.Module) -> contextlib.AbstractContextManager[Any]:
    """A model that was compiled runs as it was written."""
    if not is_compiled(model):
        return contextlib.nullcontext()
    if not hasattr(torch.compiler, "set_stance"):
        raise ValueError("the model is compiled: fit it before torch.compile, or with PyTorch 2.6")
    eager: contextlib.AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
    return eager


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the rows of a batch and their count are both in."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[Any] = []
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        yield
        return
    signal.signal(signal.SIGINT, lambda *what: came.append(what))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[-1])
