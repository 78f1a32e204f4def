"""Estimators of scikit-learn as probes, and encoders fitted anew."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from . import _core

#: A name of ours; or a name, a function that fits and predicts, and whether for classes and numbers.
Probe = str | tuple[str, Callable[..., Any], tuple[bool, bool]]
#: A name that fits into a table.
_SHORT = 40


def read(probes: Sequence[Any] | None) -> list[Probe]:
    """Names of ours and estimators as the core wants them."""
    if probes is None:
        return [name for name, _ in _core.probes()]
    if isinstance(probes, str) or not isinstance(probes, Sequence):
        raise ValueError("probes: expected a list of names and estimators")
    read: list[Probe] = []
    taken: set[str] = set()
    for probe in probes:
        if isinstance(probe, str):
            read.append(probe)
            continue
        if isinstance(probe, type) or not (hasattr(probe, "fit") and hasattr(probe, "predict")):
            raise ValueError(f"probes: {probe!r} is no name and has no methods `fit` and `predict`")
        name = _name(probe, taken)
        taken.add(name)
        classes, numbers = is_classifier(probe), is_regressor(probe)
        learns = (classes, numbers) if classes or numbers else (True, True)
        read.append((name, _learner(probe), learns))
    if not read:
        raise ValueError("probes is empty: expected one at least")
    return read


def _name(probe: Any, taken: set[str]) -> str:
    text = repr(probe)
    name = text if len(text) <= _SHORT and "\n" not in text else type(probe).__name__
    unique, n = name, 1
    while unique in taken:
        n += 1
        unique = f"{name} ({n})"
    return unique


def _learner(estimator: Any) -> Callable[..., tuple[str, NDArray[np.float64]]]:
    def learn(
        x: NDArray[np.float64], labels: NDArray[Any], test: NDArray[np.float64], seed: int, k: int
    ) -> tuple[str, NDArray[np.float64]]:
        model = clone(estimator)
        if model.get_params().get("random_state", 0) is None:
            model.set_params(random_state=seed % 2**32)
        model.fit(x, labels)
        if k == 0:
            found = np.asarray(model.predict(test), np.float64)
            return "numbers", np.ascontiguousarray(found.reshape(len(test), -1)[:, :1])
        return _classes(model, test, k)

    return learn


def _classes(model: Any, test: NDArray[np.float64], k: int) -> tuple[str, NDArray[np.float64]]:
    """Scores of `k` classes; those that the model has never seen are the least likely."""
    seen = np.asarray(getattr(model, "classes_", np.arange(k)), np.intp)
    n = len(test)
    if hasattr(model, "predict_proba"):
        found = np.asarray(model.predict_proba(test), np.float64)
        if found.shape == (n, len(seen)):
            scores = np.zeros((n, k))
            scores[:, seen] = found
            return "shares", scores
    if hasattr(model, "decision_function"):
        found = np.asarray(model.decision_function(test), np.float64)
        if found.ndim == 1 and len(seen) == 2:
            found = np.column_stack([np.zeros(n), found])
        if found.shape == (n, len(seen)):
            scores = np.full((n, k), found.min(initial=0.0) - 1e3)
            scores[:, seen] = found
            return "logits", scores
    scores = np.zeros((n, k))
    scores[np.arange(n), np.asarray(model.predict(test), np.intp)] = 1.0
    return "shares", scores


def refitted(encoder: Any, x: Any, y: Any, sensitive: Any) -> Any:
    """A clone of the encoder, fitted on these rows."""
    advice = "; pass refit=False if it has not seen X, or rows that it has not seen as X_test"
    if not hasattr(encoder, "fit"):
        raise ValueError(f"{type(encoder).__name__} has no method `fit` to be fitted anew{advice}")
    try:
        fresh = clone(encoder)
        return fresh.fit(x, y, **_fit_params(fresh, sensitive))
    except Exception as error:
        error.add_note(f"while the encoder was fitted anew on a part of X{advice}")
        raise


def _fit_params(encoder: Any, sensitive: Any) -> dict[str, Any]:
    """Sensitive features under the names of the steps that want them."""
    if not isinstance(encoder, Pipeline):
        wants = "sensitive_features" in inspect.signature(encoder.fit).parameters
        return {"sensitive_features": sensitive} if wants else {}
    if get_config()["enable_metadata_routing"]:
        return {"sensitive_features": sensitive}
    return {
        f"{name}__{key}": value
        for name, step in encoder.steps
        if hasattr(step, "fit")
        for key, value in _fit_params(step, sensitive).items()
    }
