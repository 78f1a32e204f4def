"""Moments as bytes and in pickles."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _core, _criterion
from ._columns import Columns
from ._label import Label
from ._part import layout

if TYPE_CHECKING:
    from ._moments import Moments

#: The parameters that travel: a device does not.
OPTIONS = (
    "folds",
    "precision",
    "fold_by",
    "random_state",
    "target_type",
    "sensitive_type",
    "criterion",
    "keep_features",
    "n_jobs",
)


def options(moments: Moments) -> dict[str, Any]:
    """The parameters of moments, as JSON."""
    found = {name: getattr(moments, name) for name in OPTIONS}
    return found | {"favourable": _criterion.plain(moments.favourable)}


def known(moments: Moments) -> dict[str, Any]:
    """What is known of columns and labels, as JSON; nothing without rows."""
    if moments._core is None or moments._columns is None:
        return {}
    labels = [label.plain() for label in moments._labels]
    return {"columns": moments._columns.plain(), "labels": labels}


def set_known(moments: Moments, described: dict[str, Any]) -> None:
    """The inverse of :func:`known`."""
    moments._columns = Columns.from_plain(described["columns"])
    moments._labels = [Label.from_plain(label) for label in described["labels"]]


def to_bytes(moments: Moments) -> bytes:
    """All sums, and what is known of columns and labels."""
    if moments._core is None:
        return b""
    moments._settle()
    about = {"options": options(moments), **known(moments)}
    return moments._core.to_bytes({"python": json.dumps(about)})


def from_bytes(cls: type[Moments], data: bytes) -> Moments:
    """The inverse of :func:`to_bytes`."""
    new = cls()
    if not data:
        return new
    core, extra = _core.Fit.from_bytes(json.dumps(new._params()), bytes(data))
    try:
        described = json.loads(extra["python"])
    except (KeyError, ValueError):
        raise ValueError("these are not the bytes of moments made in Python") from None
    new = cls(**described["options"])
    set_known(new, described)
    new._core = core
    return new


def restore_kernel(moments: Moments, sums: bytes, chosen: Any) -> None:
    """The fit behind a kernel, of its sums and what was chosen from rows."""
    assert moments._columns is not None
    params = json.dumps(moments._params())
    of = layout(moments._columns, moments._labels)
    moments._core = _core.Fit.from_chosen(params, sums, chosen, of)


def state(moments: Moments) -> dict[str, Any]:
    """What a pickle holds."""
    if moments._kernel is None:
        return {**options(moments), "bytes": to_bytes(moments)}
    found = dict(moments.__dict__)
    if moments._core is not None:
        moments._settle()
        found["_core"] = (moments._core.to_bytes({}), moments._core.chosen())
    return found


def set_state(moments: Moments, state: dict[str, Any]) -> None:
    """The inverse of :func:`state`."""
    if "_kernel" in state:
        moments.__dict__.update(state)
        if state["_core"] is not None:
            restore_kernel(moments, *state["_core"])
        return
    data = state.pop("bytes")
    moments.__init__(**state)  # type: ignore[misc]
    if data:
        other = from_bytes(type(moments), data)
        moments._columns, moments._labels = other._columns, other._labels
        moments._core = other._core
