"""What an estimator is given: parameters, rows, and the columns of them that are sensitive."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from . import _adding, _criterion
from ._checks import PRECISIONS, check_choice, check_folds, is_whole
from ._columns import Columns, first_category
from ._moments import Moments
from ._placed import Placed, on_gpu
from ._placed import read as placed
from ._progress import Bar
from ._rows import frame, is_table, native


def unseen(estimator: Any) -> str:
    """What to do with categories that were not there in the fit."""
    return check_choice("unseen", estimator.unseen, ("error", "ignore"))


def seed_of(estimator: Any) -> int:
    """The seed of everything random."""
    seed = estimator.random_state
    return int(seed if is_whole(seed, 0) else check_random_state(seed).randint(2**31 - 1))


def dimensions(estimator: Any) -> int | None:
    """The cap on the dimensions of z."""
    r = estimator.n_components
    if r is not None and not is_whole(r, 1):
        raise ValueError(f"n_components is {r!r}: expected None, or a whole number above 0")
    return None if r is None else int(r)


def moment_options(estimator: Any) -> dict[str, Any]:
    """The parameters of the moments."""
    return {
        "folds": check_folds(estimator.folds),
        "precision": check_choice("precision", estimator.precision, PRECISIONS),
        "device": estimator.device,
        "random_state": seed_of(estimator),
        "target_type": estimator.target_type,
        "sensitive_type": estimator.sensitive_type,
        "criterion": _criterion.check(*criterion_of(estimator)),
        "favourable": criterion_of(estimator)[1],
        "keep_features": estimator._erases,
        "n_jobs": estimator.n_jobs,
    }


def needs_target(estimator: Any) -> bool:
    """Whether y is used: kept, preserved, or what attributes are hidden beside."""
    preserves = bool(getattr(estimator, "preserve", False))
    return not estimator._erases or preserves or criterion_of(estimator)[0] != "parity"


def criterion_of(estimator: Any) -> tuple[Any, Any]:
    """The criterion that an estimator asks for, and its favourable class; parity where it has none."""
    return getattr(estimator, "criterion", "parity"), getattr(estimator, "favourable", None)


def check_criterion(estimator: Any, moments: Moments) -> None:
    """Refuses an estimator whose criterion is not that of the moments."""
    name, favourable = criterion_of(estimator)
    asked = _criterion.settle(name, favourable, moments._labels)
    if asked != moments._params()["criterion"]:
        what = "criterion" if name != moments.criterion else "favourable"
        raise ValueError(
            f"{what} is {favourable if what == 'favourable' else name!r}, but the moments were added "
            f"up with {what}={getattr(moments, what)!r}: it must be known while rows are added"
        )


def fit_params(estimator: Any, moments: Moments) -> str:
    """The parameters of the fit, as the core reads them."""
    params = moments._params()
    _criterion.check_rows(params["criterion"], moments._labels)
    scale = check_choice("scale", estimator.scale, ("standard", "none"))
    return json.dumps(
        params
        | ({"scale": scale} if moments._kernel is None else {})
        | {"ridge": estimator._ridge(), "dimensions": dimensions(estimator)}
    )


def add_rows(
    estimator: Any, moments: Moments | None, X: Any, y: Any, s: Any, w: Any, *, least: int
) -> Moments:
    """These moments, or new ones, with more rows. Nothing changes where rows are refused."""
    rows = read_rows(estimator, X, reset=moments is None, least=least, place=True)
    hidden, leave_out = read_sensitive(estimator, rows, s)
    beside = needs_target(estimator)
    if y is None and beside:
        kept = "beside which attributes are hidden" if estimator._erases else "what is to be kept"
        if getattr(estimator, "preserve", False):
            kept = "what is to be preserved"
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is "
            f"None: y is {kept}"
        )
    if moments is None:
        moments = estimator._new_moments()
    elif moments._core is not None:
        check_criterion(estimator, moments)
    title = f"{type(estimator).__name__} moments"
    with Bar(rows.shape[0], title, bool(estimator.verbose)) as progress:
        target, how = y if beside else None, unseen(estimator)
        part = _adding.read(moments, rows, target, hidden, w, leave_out=leave_out, unseen=how)
        _adding.add(moments, part, progress)
    return moments


def name_inputs(estimator: Any, columns: Columns) -> None:
    """Stores the number and the names of the columns of X."""
    estimator.n_features_in_ = len(columns.names)
    vars(estimator).pop("feature_names_in_", None)
    if columns.named:
        estimator.feature_names_in_ = np.asarray(columns.names, object)


def read_rows(estimator: Any, X: Any, *, reset: bool, least: int = 1, place: bool = False) -> Any:
    """X as an array, a sparse matrix or a table; its columns are stored, or checked.

    With `place`, rows on a GPU stay there where nothing asks for them in host memory.
    """
    place = place and estimator.device != "cpu" and estimator.sensitive is None
    X = placed(X) if place and on_gpu(X) else native(X)
    name = type(estimator).__name__
    if not is_table(X) and not isinstance(X, Placed):
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=least,
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if X.shape[0] < least:
        raise ValueError(
            f"Found array with {X.shape[0]} sample(s) (shape={tuple(X.shape)}) while a minimum "
            f"of {least} is required by {name}."
        )
    if isinstance(X, Placed):
        return X
    category = first_category(X) if estimator._erases else None
    if category is not None:
        raise ValueError(
            f"column {category!r} holds categories: {name} returns numbers, so that it accepts only "
            "numbers; make the categories one-hot first, or use SARL"
        )
    return X


def read_sensitive(estimator: Any, X: Any, given: Any) -> tuple[Any, list[int]]:
    """What is to be hidden, and the columns of X that are therefore no features."""
    if estimator.sensitive is None:
        if given is None:
            raise ValueError(
                f"{type(estimator).__name__} needs to know what to hide: pass sensitive_features=… to "
                "fit, or name columns of X with the parameter sensitive=[…]"
            )
        return given, []
    if given is not None:
        raise ValueError(
            "sensitive_features was passed and the parameter sensitive is set: use one of them"
        )
    places = _places(estimator, X)
    if is_table(X):
        table = frame(X)
        hidden: Any = table.select([table.columns[j] for j in places]).to_native()
    else:
        hidden = X[:, places]
        hidden = hidden.toarray() if hasattr(hidden, "toarray") else hidden
    leave_out = [] if estimator._erases else places
    if len(leave_out) == X.shape[1]:
        raise ValueError(
            f"X has n_features = {X.shape[1]}, and all of them are sensitive: nothing is left to "
            "encode"
        )
    return hidden, leave_out


def _places(estimator: Any, X: Any) -> list[int]:
    wanted = estimator.sensitive
    if isinstance(wanted, (str, int, np.integer)):
        wanted = [wanted]
    names = [str(n) for n in getattr(estimator, "feature_names_in_", [])]
    places = []
    for column in wanted:
        if isinstance(column, str):
            if column not in names:
                known = ", ".join(map(repr, names)) or "only numbers, as X has no names"
                raise ValueError(f"sensitive: X has no column {column!r}; there are {known}")
            places.append(names.index(column))
        elif isinstance(column, (int, np.integer)) and -X.shape[1] <= column < X.shape[1]:
            places.append(int(column) % X.shape[1])
        else:
            raise ValueError(
                f"sensitive: there is no column {column!r} in X with n_features = {X.shape[1]}"
            )
    if not places:
        raise ValueError("sensitive names no column")
    return places
