"""Layers of a model, and hooks on what comes out of them or goes into them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

#: What a hook does with the activations: gives others, or None to leave them.
Act = Callable[[Tensor], Tensor | None]

#: What `torch.compile` puts before the names of a model.
COMPILED = "_orig_mod"

#: Names that models have for the input of a layer, where it comes as a keyword.
INPUTS = ("hidden_states", "input", "x", "hidden_state")


def matches(name: str, pattern: str) -> bool:
    """Whether a module is meant: each part of its name by itself, `**` is any number of parts."""

    def from_here(parts: list[str], wanted: list[str]) -> bool:
        if not wanted:
            return not parts
        if wanted[0] == "**":
            return any(from_here(parts[k:], wanted[1:]) for k in range(len(parts) + 1))
        return bool(parts) and fnmatchcase(parts[0], wanted[0]) and from_here(parts[1:], wanted[1:])

    return from_here(name.split("."), pattern.split("."))


def find(model: nn.Module, patterns: str | Sequence[str]) -> list[str]:
    """The names of the modules that match any of the patterns, in the order of the model."""
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    names = [name.removeprefix(f"{COMPILED}.") for name, _ in model.named_modules()]
    names = [name for name in names if name not in ("", COMPILED)]
    for pattern in wanted:
        if not any(matches(name, pattern) for name in names):
            some = ", ".join(map(repr, names[:8]))
            raise ValueError(f"no module is called {pattern!r}; there are {some}, …")
    return [name for name in names if any(matches(name, p) for p in wanted)]


def module_of(model: nn.Module, name: str) -> nn.Module:
    """The layer of this name."""
    try:
        return model.get_submodule(name)
    except AttributeError:
        kind = type(model).__name__
        raise ValueError(f"the model, a {kind}, has no layer {name!r}") from None


def forget_compiled() -> None:
    """Lets compiled code be made anew, for the hooks that are there now.

    PyTorch does not look whether hooks came or went since it compiled a model: what was compiled without
    them would go on without erasing anything.
    """
    if "torch._dynamo" in sys.modules:
        torch.compiler.reset()


def is_compiled(model: nn.Module) -> bool:
    """Whether a model, or a part of it, runs by `torch.compile`."""
    modules = list(model.modules())
    wrapped = any(hasattr(module, COMPILED) for module in modules)
    return wrapped or any(getattr(m, "_compiled_call_impl", None) is not None for m in modules)


def attach(module: nn.Module, at: str, act: Act) -> RemovableHandle:
    """Lets a function act on what comes out of a module, or on what goes into it."""
    if at == "output":
        return module.register_forward_hook(lambda _m, _args, out: changed(out, act))

    def before(_m: nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
        if args:
            new = changed(args, act)
            return None if new is None else (new, given)
        name = next((n for n in (*INPUTS, *given) if isinstance(given.get(n), Tensor)), None)
        if name is None:
            raise ValueError(f"no tensor goes into a module of class {type(_m).__name__}")
        new = act(given[name])
        return None if new is None else (args, {**given, name: new})

    return module.register_forward_pre_hook(before, with_kwargs=True)


def changed(value: Any, act: Act) -> Any:
    """What a module gives, with other activations; None where they are left.

    Activations are the value itself, or the first of several.
    """
    if isinstance(value, Tensor):
        return act(value)
    if isinstance(value, Mapping):
        name = next((n for n, v in value.items() if isinstance(v, Tensor)), None)
        new = None if name is None else act(value[name])
        if new is not None:
            value[name] = new  # type: ignore[index]
        return None if new is None else value
    if isinstance(value, (tuple, list)) and value and isinstance(value[0], Tensor):
        new = act(value[0])
        if new is None:
            return None
        rest = (new, *value[1:])
        return type(value)(*rest) if hasattr(value, "_fields") else type(value)(rest)
    raise ValueError(
        f"a layer gives a {type(value).__name__}: expected a tensor, or a tuple that begins with one"
    )


class Hooks:
    """Hooks that are taken off together; also a context."""

    def __init__(self) -> None:
        self._handles: list[RemovableHandle] = []

    def add(self, module: nn.Module, at: str, act: Act) -> None:
        """One more."""
        self._handles.append(attach(module, at, act))

    def remove(self) -> None:
        """Takes all of them off."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def __enter__(self) -> Hooks:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Erasers(Hooks):
    """Hooks that stay while others run the model."""

    def remove(self) -> None:
        """Takes all of them off."""
        super().remove()
        forget_compiled()


class Stop(Exception):
    """Ends a forward pass after the layer that was wanted."""
