"""Types of labels: how columns are to be treated, alone, together or combined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ._making import BINS, MOST_BINS

#: One for all columns, or one for some of them by name.
Treats = str | Mapping[str, str]


class Form(NamedTuple):
    """A label that is asked for."""

    name: str
    #: The places of its columns.
    places: list[int]
    #: `auto`, `class`, `number`, `kernel`, `bins` or `combination`.
    treat: str
    bins: int | None = None


def read(treat: Treats, columns: Sequence[str], what: str) -> list[Form]:
    """The labels that are asked for: columns in their order, then those that are made of several."""
    if not isinstance(treat, Mapping):
        return [_one(name, j, treat, what) for j, name in enumerate(columns)]
    several = [_several(key, treat[key], columns, what) for key in treat if key not in columns]
    inside = {place for form in several for place in form.places}
    alone = [
        _one(name, j, treat.get(name, "auto"), what)
        for j, name in enumerate(columns)
        if j not in inside or name in treat
    ]
    return alone + several


def _one(name: str, place: int, treat: str, what: str) -> Form:
    word, _, count = str(treat).partition("=")
    if word == "bins":
        return Form(name, [place], "bins", _bins(treat, count, what))
    if treat not in ("auto", "class", "number", "kernel"):
        raise ValueError(
            f"{what} is {treat!r}: expected 'auto', 'class', 'number', 'kernel', 'bins' or 'bins=N'"
        )
    return Form(name, [place], treat)


def _bins(treat: str, count: str, what: str) -> int:
    if treat == "bins":
        return BINS
    if not count.isdecimal() or not 2 <= int(count) <= MOST_BINS:
        raise ValueError(f"{what} is {treat!r}: expected bins=2 to bins={MOST_BINS}")
    return int(count)


def _several(key: str, treat: str, columns: Sequence[str], what: str) -> Form:
    """A combination `a*b`, or numbers `a+b` that share a kernel."""
    stars, sums = ([part.strip() for part in str(key).split(by)] for by in "*+")
    parts = stars if len(stars) > 1 else sums
    missing = next((part for part in parts if part not in columns), None)
    if missing is not None:
        there = ", ".join(map(repr, columns))
        raise ValueError(f"{what} names {missing!r}, but the columns are {there}")
    if len(set(parts)) < len(parts):
        raise ValueError(f"{what} names {key!r}: a column comes twice")
    places = [list(columns).index(part) for part in parts]
    if parts is stars:
        if treat not in ("class", "auto"):
            raise ValueError(f"{what} of {key!r} is {treat!r}: a combination is one of classes")
        return Form(key, places, "combination")
    if treat != "kernel":
        raise ValueError(
            f"{what} of {key!r} is {treat!r}: numbers of several columns go together in one kernel"
        )
    return Form(key, places, "kernel")
