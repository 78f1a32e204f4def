"""Arguments that are checked in more than one place, and errors that name a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._rows import Columns


class named_columns:
    """Names the column and the row of a value that is not finite."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, _core.NotFinite):
            row, column, value = error.args
            names = self.columns.feature_names()
            name = names[column] if column < len(names) else f"x{column}"
            found = "NaN" if value != value else ("inf" if value > 0 else "-inf")
            raise ValueError(
                f"X is {found} in row {row}, column {name!r} (rows are counted from 0); every value "
                "must be finite. Fill missing values in first, with "
                "sklearn.impute.SimpleImputer for example"
            ) from None


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of several words."""
    if value not in choices:
        known = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name} is {value!r}: expected one of {known}")
    return str(value)


def check_folds(folds: Any) -> int:
    """The number of folds."""
    if (
        isinstance(folds, bool)
        or not isinstance(folds, (int, np.integer))
        or not 1 <= folds <= 1000
    ):
        raise ValueError(f"folds is {folds!r}: expected a whole number, 1 to 1000")
    return int(folds)


def threads(n_jobs: Any) -> int | None:
    """The number of threads; None for all cores."""
    if n_jobs is None or n_jobs == -1:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs < 1:
        raise ValueError(f"n_jobs is {n_jobs!r}: expected None, -1, or a whole number above 0")
    return int(n_jobs)


def check_ridge(ridge: Any, folds: int) -> float | None:
    """A ridge; None where it is to be chosen."""
    if ridge is None:
        return None
    if isinstance(ridge, str):
        check_choice("ridge", ridge, ("auto",))
        if folds < 2:
            raise ValueError("ridge='auto' is chosen by held-out losses: folds must be 2 or more")
        return None
    if isinstance(ridge, bool) or not isinstance(ridge, (int, float, np.number)):
        raise ValueError(f"ridge is {ridge!r}: expected a number, 'auto' or None")
    if not (np.isfinite(ridge) and ridge >= 0):
        raise ValueError(f"ridge is {ridge!r}: expected a finite number, 0 or more, 'auto' or None")
    return float(ridge)


#: The goals, of which one may be given.
GOALS = ("lambda_", "alpha", "max_leakage", "min_utility")


#: One share for each label, or shares of labels by name.
Limit = float | Mapping[str, float]

#: A goal: the name of its parameter, and its value.
Goal = tuple[str, Any]


def one_goal(given: list[tuple[str, Any]], default: Goal | None = None) -> Goal:
    """The one goal that was given."""
    if len(given) > 1:
        names = " and ".join(f"{name}={value}" for name, value in given)
        raise ValueError(f"{names} were given: exactly one goal is needed")
    if not given:
        if default is None:
            raise ValueError(f"a goal is missing: give one of {', '.join(GOALS)}")
        return default
    name, value = given[0]
    if isinstance(value, Mapping) and name in ("leakage", "max_leakage", "min_utility"):
        return name, {str(label): _number(f"{name} of {label!r}", v) for label, v in value.items()}
    return name, _number(name, value)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name} is {value!r}: expected a number")
    return float(value)
