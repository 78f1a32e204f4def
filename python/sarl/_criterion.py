"""What of an attribute is to be hidden: the criterion, and its favourable class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._checks import check_choice
from ._label import Label
from ._rows import category

CRITERIA = ("parity", "equal-opportunity", "equalized-odds")


def plain(favourable: Any) -> Any:
    """A class as a value of Python's own."""
    return favourable.item() if isinstance(favourable, np.generic) else favourable


def check(criterion: Any, favourable: Any) -> str:
    """The name of the criterion."""
    name = check_choice("criterion", criterion, CRITERIA)
    if favourable is not None and name != "equal-opportunity":
        raise ValueError("favourable needs criterion='equal-opportunity'")
    return name


def settle(criterion: Any, favourable: Any, labels: Sequence[Label], *, add: bool = False) -> Any:
    """The criterion as the core is told of it, for these labels.

    A favourable class that the target does not have yet can be added: rows may have it later.
    """
    name = check(criterion, favourable)
    targets = [label for label in labels if label.target]
    if name == "equalized-odds" and not targets:
        raise ValueError("equalized-odds needs a target: without y there is none")
    if name != "equal-opportunity":
        return name
    if len(targets) != 1:
        raise ValueError("equal-opportunity needs one target: it is about one of its classes")
    (target,) = targets
    if not target.is_class:
        raise ValueError(
            f"{target.name} holds numbers: equal-opportunity is about a class; use "
            "criterion='equalized-odds', or target_type='bins=2'"
        )
    return {name: {"favourable": _code(target, plain(favourable), add)}}


def _code(target: Label, favourable: Any, add: bool) -> int:
    if favourable is None:
        if len(target.classes) == 2:
            return 1
        count = "more than two classes" if len(target.classes) > 2 else "one class in these rows"
        raise ValueError(
            f"favourable is missing: {target.name} has {count}; name one of: {_listed(target)}"
        )
    for same in (lambda c: c == favourable, lambda c: category(c) == category(favourable)):
        found = next((k for k, c in enumerate(target.classes) if same(c)), None)
        if found is not None:
            return found
    types: dict[str, Any] = {"text": str, "bool": bool, "integer": int}
    kind = types.get(target.kind)
    if not add or kind is None or type(favourable) is not kind:
        raise _unknown(target, favourable)
    target.classes.append(favourable)
    return len(target.classes) - 1


def check_rows(criterion: Any, labels: Sequence[Label]) -> None:
    """Refuses a favourable class that no row has."""
    if not isinstance(criterion, dict):
        return
    code = criterion["equal-opportunity"]["favourable"]
    (target,) = (label for label in labels if label.target)
    if code >= len(target.counts) or not target.counts[code]:
        raise _unknown(target, target.classes[code])


def _unknown(target: Label, favourable: Any) -> ValueError:
    return ValueError(
        f"favourable is {favourable!r}: {target.name} has no such class; its classes are: "
        f"{_listed(target)}"
    )


def _listed(target: Label) -> str:
    there = [k for k, count in enumerate(target.counts) if count] or range(len(target.classes))
    return ", ".join(repr(target.classes[k]) for k in there)
