"""Arguments that are checked in more than one place."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

from . import _core
from ._columns import Columns

#: The goals, of which one may be given.
GOALS = ("trade_off", "alpha", "max_leakage", "min_utility")

#: One share for each label, or shares of labels by name.
Limit = float | Mapping[str, float]

#: A goal: the name of its parameter, and its value.
Goal = tuple[str, Any]

F = TypeVar("F", bound=Callable[..., Any])


def renamed(old: str, new: str) -> Callable[[F], F]:
    """Accepts a keyword under its old name, with a warning."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapper(*args: Any, **given: Any) -> Any:
            if old in given:
                if given.get(new) is not None:
                    raise TypeError(f"{old} is the old name of {new}: give one of them")
                warnings.warn(f"{old} was renamed to {new}", FutureWarning, stacklevel=2)
                given[new] = given.pop(old)
            return function(*args, **given)

        return cast(F, wrapper)

    return decorate


#: How products are formed.
PRECISIONS = ("double", "single", "fast", "auto")


def core_precision(value: Any) -> str:
    """The precision of sums: fast products are single precision."""
    return "single" if check_choice("precision", value, PRECISIONS) == "fast" else str(value)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of several words."""
    if value not in choices:
        known = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name} is {value!r}: expected one of {known}")
    return str(value)


def is_whole(value: Any, least: int, most: float = np.inf) -> bool:
    """Whether this is a whole number in a range."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and least <= value <= most


def is_number(value: Any) -> bool:
    """Whether this is a finite number."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return bool(number and np.isfinite(value))


def check_folds(folds: Any) -> int:
    """The number of folds."""
    if not is_whole(folds, 1, 1000):
        raise ValueError(f"folds is {folds!r}: expected a whole number, 1 to 1000")
    return int(folds)


def threads(n_jobs: Any) -> int | None:
    """The number of threads; None for all cores."""
    if n_jobs is None or n_jobs == -1:
        return None
    if not is_whole(n_jobs, 1):
        raise ValueError(f"n_jobs is {n_jobs!r}: expected None, -1, or a whole number above 0")
    return int(n_jobs)


def check_ridge(ridge: Any, folds: int) -> str | dict[str, float]:
    """The ridge in the form of the fit."""
    if ridge is None:
        return "default"
    if isinstance(ridge, str):
        check_choice("ridge", ridge, ("auto",))
        if folds < 2:
            raise ValueError("ridge='auto' is chosen by held-out losses: folds must be 2 or more")
        return "auto"
    if not is_number(ridge) or ridge < 0:
        raise ValueError(f"ridge is {ridge!r}: expected a finite number, 0 or more, 'auto' or None")
    return {"fixed": float(ridge)}


def check_weights(given: ArrayLike | None, rows: Any) -> NDArray[np.float64] | None:
    """A weight for each row; none where none were given."""
    if given is None:
        return None
    return np.ascontiguousarray(_check_sample_weight(given, rows, dtype=np.float64, copy=False))


def one_goal(given: Mapping[str, Any], default: Goal | None = None) -> Goal:
    """The one goal that was given: the others are None."""
    goals = [(name, value) for name, value in given.items() if value is not None]
    if len(goals) > 1:
        names = " and ".join(f"{name}={value}" for name, value in goals)
        raise ValueError(f"{names} were given: exactly one goal is needed")
    if not goals:
        if default is None:
            raise ValueError(f"a goal is missing: give one of {', '.join(given)}")
        return default
    name, value = goals[0]
    if isinstance(value, Mapping) and name not in ("trade_off", "alpha"):
        return name, {str(label): _number(f"{name} of {label!r}", v) for label, v in value.items()}
    return name, _number(name, value)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name} is {value!r}: expected a number")
    return float(value)


class named_columns:
    """Names the column and the row of a value that is not finite.

    Where only some rows of X were read, `rows` has their places in it.
    """

    def __init__(self, columns: Columns, rows: NDArray[np.intp] | None = None) -> None:
        self.columns = columns
        self.rows = rows

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, _core.NotFinite):
            row, column, value = error.args
            row = row if self.rows is None else self.rows[row]
            names = self.columns.feature_names()
            name = names[column] if column < len(names) else f"x{column}"
            found = "NaN" if value != value else ("inf" if value > 0 else "-inf")
            raise ValueError(
                f"X is {found} in row {row}, column {name!r} (rows are counted from 0); every value "
                "must be finite. Fill in missing values first, for example with "
                "sklearn.impute.SimpleImputer"
            ) from None
