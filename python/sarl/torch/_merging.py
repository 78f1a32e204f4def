"""Scrubbers that travel: bytes, merging, several processes."""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from typing import Any

import numpy as np

from .._moments import Moments
from ._fitting import Layer

#: The first bytes of a scrubber under way.
MAGIC = b"sarl.sc1"

#: What a scrubber has of moments by layers.
SUMS = ("_sums", "_before")


def to_bytes(scrubber: Any) -> bytes:
    """Parameters, solved layers and sums: a head in JSON, then the parts."""
    parts: list[bytes] = []
    layers = []
    for layer in scrubber._done.values():
        layers.append({**layer.about(), "width": layer.width, "directions": layer.directions})
        whole = np.concatenate([layer.mean, layer.found.ravel(), layer.taken.ravel()])
        parts.append(np.ascontiguousarray(whole, "<f8").tobytes())
    sums = []
    for of in SUMS:
        for name, moments in getattr(scrubber, of).items():
            sums.append([of, name])
            parts.append(moments.to_bytes())
    head = {
        "layers": scrubber.layers,
        "options": scrubber._options(),
        "done": layers,
        "names": scrubber._names,
        "sums": sums,
        "seen": scrubber._seen,
        "sizes": [len(part) for part in parts],
    }
    text = json.dumps(head).encode()
    return b"".join((MAGIC, struct.pack("<Q", len(text)), text, *parts))


def from_bytes(cls: Any, data: bytes) -> Any:
    """The inverse."""
    start = len(MAGIC) + 8
    if len(data) < start or bytes(data[: len(MAGIC)]) != MAGIC:
        raise ValueError(
            "these are not the bytes of Scrubber.to_bytes or of a checkpoint; a file of Scrubber.save is "
            "read by Scrubber.load"
        )
    (size,) = struct.unpack("<Q", data[len(MAGIC) : start])
    try:
        head = json.loads(data[start : start + size])
        return _restored(cls, head, memoryview(data)[start + size :])
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(f"the bytes of a scrubber are damaged: {problem}") from None


def _restored(cls: Any, head: dict[str, Any], rest: memoryview) -> Any:
    if sum(head["sizes"]) != len(rest):
        raise ValueError("some are missing")
    ends = np.cumsum([0, *head["sizes"]])
    parts = [bytes(rest[a:b]) for a, b in pairwise(ends)]
    new = cls(head["layers"], **head["options"])
    new._names, new._seen = head["names"], head["seen"]
    for about in head["done"]:
        width, many = about["width"], about["directions"]
        values = np.frombuffer(parts.pop(0), "<f8")
        found = values[width : width + many * width].reshape(many, width)
        taken = values[width + many * width :].reshape(many, width)
        new._done[about["name"]] = Layer.from_about(about, (values[:width], found, taken))
    for of, name in head["sums"]:
        getattr(new, of)[name] = Moments.from_bytes(parts.pop(0))
    return new


def merge(scrubber: Any, other: Any) -> Any:
    """Adds the sums of another scrubber of the same pass."""
    if type(other) is not type(scrubber):
        kind = type(other).__name__
        raise TypeError(f"a scrubber can be merged with a scrubber, not with {kind}")
    if scrubber._options() | {"n_jobs": None} != other._options() | {"n_jobs": None}:
        raise ValueError("these scrubbers cannot be merged: their parameters differ")
    if scrubber._before or other._before:
        raise ValueError(
            "order='sequential-approximate' solves while rows come in: there is nothing to merge"
        )
    for name in scrubber._done.keys() | other._done.keys():
        mine, theirs = scrubber._done.get(name), other._done.get(name)
        if mine is None or theirs is None or not np.array_equal(mine.found, theirs.found):
            raise ValueError(
                f"these scrubbers cannot be merged: the layer {name!r} is solved in another way"
            )
    for name, moments in other._sums.items():
        if name in scrubber._sums:
            scrubber._sums[name].merge(moments)
        else:
            scrubber._sums[name] = moments.copy()
        scrubber._seen[name] = scrubber._seen.get(name, 0)
    scrubber._names = scrubber._names or other._names
    return scrubber


def merge_processes(scrubber: Any) -> None:
    """Where `torch.distributed` is running, every process gets the sums of all of them.

    One layer of one process travels at a time, so that memory does not grow with the processes.
    """
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_initialized() or dist.get_world_size() == 1:
        return
    if scrubber.order == "sequential-approximate":
        raise ValueError(
            "order='sequential-approximate' solves while rows come in: use it in one process"
        )
    names: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(names, list(scrubber._sums))
    own, total = scrubber._sums, {}
    for name in dict.fromkeys(name for some in names for name in some):
        total[name] = Moments()
        for rank in range(dist.get_world_size()):
            mine = rank == dist.get_rank() and name in own
            sent = [own[name].to_bytes() if mine else b""]
            dist.broadcast_object_list(sent, src=rank)
            total[name].merge(Moments.from_bytes(sent[0]))
    scrubber._sums = total
