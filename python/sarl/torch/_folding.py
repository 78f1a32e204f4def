"""Erasure written into the weights of linear layers, where that is exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ._fitting import Layer
from ._hooks import Hooks, module_of

#: What may be asked of a tensor without using its values.
ASKED = {"shape", "dtype", "device", "size", "dim", "ndim", "layout", "is_floating_point", "numel"}
ASKED |= {"requires_grad", "is_cuda", "is_complex", "get_device", "stride", "is_contiguous"}

#: What may give other views of the same rows.
VIEWS = {"__getitem__", "view", "reshape", "contiguous", "to", "transpose", "flatten", "unsqueeze"}


@dataclass(frozen=True)
class Fold:
    """Where the erasure of a layer was written into, or why it was not."""

    layer: str
    #: The linear layers whose weights were changed; empty where that would not be exact.
    into: tuple[str, ...] = ()
    #: Why the erasure was left out.
    why: str = ""


@dataclass
class Uses:
    """Who reads what is erased at a layer."""

    linear: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


def is_linear(module: nn.Module) -> bool:
    """Whether this is a linear layer: of PyTorch, or the transposed one of GPT-2."""
    return type(module) is nn.Linear or is_transposed(module)


def is_transposed(module: nn.Module) -> bool:
    """Whether the weight has a row for each input."""
    return type(module).__name__ == "Conv1D" and getattr(module, "nf", None) is not None


def fold(
    model: nn.Module, layers: Mapping[str, Layer], run: Callable[[], Any] | None
) -> list[Fold]:
    """Folds each erasure that can be folded."""
    uses = {} if run is None else _uses(model, layers, run)
    return [_fold(model, layer, uses.get(name)) for name, layer in layers.items()]


def _fold(model: nn.Module, layer: Layer, uses: Uses | None) -> Fold:
    module = module_of(model, layer.name)
    if is_linear(module):
        _write(module, layer, after=layer.at == "output")
        return Fold(layer.name, (layer.name,))
    if layer.at == "input":
        return Fold(layer.name, why=f"{type(module).__name__} is not a linear layer")
    if uses is None:
        return Fold(
            layer.name, why=f"{type(module).__name__} is not a linear layer: pass an example"
        )
    if uses.other or not uses.linear:
        who = ", ".join(dict.fromkeys(uses.other)) or "nothing that is known"
        return Fold(layer.name, why=f"what comes out is also read by {who}")
    for name in uses.linear:
        _write(model.get_submodule(name), layer, after=False)
    return Fold(layer.name, tuple(uses.linear))


def _write(module: nn.Module, layer: Layer, *, after: bool) -> None:
    """Erases what comes out of a linear layer, or what goes into it.

    With P = I − found taken and c = mean found taken, a row x becomes x P + c. Out of W x + b it is
    ``Wᵀ → Wᵀ P, b → b P + c``, into it ``Wᵀ → P Wᵀ, b → b + c Wᵀ``.
    """
    found, taken = (torch.from_numpy(m.copy()) for m in (layer.found, layer.taken))
    constant = torch.from_numpy(layer.found @ layer.mean) @ taken
    given: Tensor = module.weight  # type: ignore[assignment]
    weight = given.detach().double().cpu()
    weight = weight if is_transposed(module) else weight.T
    old: Tensor | None = module.bias  # type: ignore[assignment]
    width = weight.shape[1]
    bias = torch.zeros(width, dtype=torch.double) if old is None else old.detach().double().cpu()
    if after:
        weight, bias = (
            weight - (weight @ found.T) @ taken,
            bias - (bias @ found.T) @ taken + constant,
        )
    else:
        bias = bias + constant @ weight
        weight = weight - found.T @ (taken @ weight)
    weight = weight if is_transposed(module) else weight.T
    # New parameters: an embedding that shares the weight keeps its own.
    for name, values in (("weight", weight), ("bias", bias)):
        values = values.to(given.device, given.dtype).contiguous()
        setattr(module, name, nn.Parameter(values, requires_grad=given.requires_grad))


class _Watch(TorchFunctionMode):
    """Notes the functions that read tensors which were marked, outside of linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.marked: dict[int, tuple[str, Tensor]] = {}
        self.uses: dict[str, Uses] = {}
        self.inside = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if self.inside:
            return result
        name = getattr(func, "__name__", str(func))
        if name == "__get__":
            name = getattr(getattr(func, "__self__", None), "__name__", name)
        for value in _tensors((args, kwargs)):
            found = self.marked.get(id(value))
            if found is None or name in ASKED:
                continue
            if name in VIEWS and isinstance(result, Tensor) and _same_rows(result, value):
                self.marked[id(result)] = (found[0], result)
            else:
                self.uses[found[0]].other.append(name.strip("_"))
        return result


def _same_rows(view: Tensor, of: Tensor) -> bool:
    """Whether a view has whole rows of a tensor: its last dimension is as it was."""
    shared = view.untyped_storage().data_ptr() == of.untyped_storage().data_ptr()
    kept = view.dim() > 0 and view.shape[-1] == of.shape[-1] and view.stride(-1) == of.stride(-1)
    return shared and kept and view.dtype == of.dtype


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Mapping):
        return [t for v in value.values() for t in _tensors(v)]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in _tensors(v)]
    return []


def _uses(model: nn.Module, layers: Mapping[str, Layer], run: Callable[[], Any]) -> dict[str, Uses]:
    """Who reads what comes out of each layer, in one forward pass.

    A linear layer that also reads something else is no place to fold into.
    """
    watch = _Watch()
    read: dict[str, list[str | None]] = {}
    handles = []

    def before(name: str, args: Any, kwargs: Any) -> None:
        given = _tensors((args, kwargs))
        found = [watch.marked[id(t)][0] for t in given if id(t) in watch.marked]
        read.setdefault(name, []).append(found[0] if found else None)
        watch.inside += 1

    def after() -> None:
        watch.inside -= 1

    def mark(name: str, hidden: Tensor) -> None:
        watch.uses.setdefault(name, Uses())
        watch.marked[id(hidden)] = (name, hidden)

    for name, module in model.named_modules():
        if is_linear(module):
            pre = lambda _m, a, k, name=name: before(name, a, k)
            handles.append(module.register_forward_pre_hook(pre, with_kwargs=True))
            post = lambda _m, _a, _o: after()
            handles.append(module.register_forward_hook(post, always_call=True))
    with Hooks() as hooks:
        for name, layer in layers.items():
            if layer.at == "output":
                act = lambda hidden, name=name: mark(name, hidden)
                hooks.add(module_of(model, name), "output", act)
        try:
            with watch:
                result = run()
        finally:
            for handle in handles:
                handle.remove()
    for value in _tensors(_plain(result)):
        if id(value) in watch.marked:
            watch.uses[watch.marked[id(value)][0]].other.append("the result of the model")
    for name, given in read.items():
        for layer_name in {g for g in given if g is not None}:
            if len(set(given)) > 1:
                watch.uses[layer_name].other.append(f"{name}, which reads other rows too")
            else:
                watch.uses[layer_name].linear.append(name)
    return watch.uses


def _plain(result: Any) -> Any:
    return dict(result) if isinstance(result, Mapping) else result
