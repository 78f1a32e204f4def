"""The file of a scrubber: the erasures of its layers, without the sums that they come from."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

import numpy as np

from .. import _core
from ._fitting import Layer
from ._merging import MAGIC


def save(scrubber: Any, path: str | os.PathLike[str]) -> None:
    """Writes the file: whole, or not at all."""
    layers = list(scrubber.layers_.values())
    about = json.dumps([layer.about() for layer in layers])
    plain = np.ascontiguousarray
    matrices = [(plain(m.mean), plain(m.found), plain(m.taken)) for m in layers]
    extra = {"params": json.dumps({**scrubber._options(), "layers": scrubber.layers})}
    _core.write_layers(os.fspath(path), scrubber.order, about, matrices, json.dumps(extra))


def load(cls: Any, path: str | os.PathLike[str]) -> Any:
    """Reads it."""
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(MAGIC):
        raise ValueError(
            f"{os.fspath(path)}: this is the state of a fit; Scrubber.from_bytes reads its bytes"
        )
    try:
        order, about, matrices, extra = _core.read_layers(data)
        params = json.loads(json.loads(extra).get("params", "{}"))
    except ValueError as problem:
        raise ValueError(f"{os.fspath(path)}: {problem}") from None
    described = json.loads(about)
    layers = [Layer.from_about(a, m) for a, m in zip(described, matrices, strict=True)]
    params = {"layers": [layer.name for layer in layers], "order": order} | params
    new = cls(params.pop("layers"), **params)
    new._done = {layer.name: layer for layer in layers}
    new._names = list(new._done)
    return new


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes bytes: whole, or not at all."""
    folder = os.path.dirname(os.path.abspath(os.fspath(path)))
    handle, name = tempfile.mkstemp(dir=folder, prefix=".sarl-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
