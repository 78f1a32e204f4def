"""The parameters of estimators and models, with Spark's names."""

from __future__ import annotations

import inspect
from typing import Any

from pyspark.ml.param import Param, Params, TypeConverters

NAME, NAMES = TypeConverters.toString, TypeConverters.toListString
WHOLE, REAL, TEXT = TypeConverters.toInt, TypeConverters.toFloat, TypeConverters.toString


def _names(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else NAMES(value)


def _param(name: str, doc: str, convert: Any = None) -> Param[Any]:
    return Param(Params._dummy(), name, doc, typeConverter=convert)


class ColumnParams(Params):
    """Which columns hold the features, and where z goes."""

    featuresCol = _param(
        "featuresCol", "a column of features: a vector, or an array of numbers", NAME
    )
    inputCols = _param(
        "inputCols", "columns of features: numbers, dates, text, booleans, arrays of numbers", NAMES
    )
    outputCol = _param("outputCol", "the column of z, a vector where the features are one", NAME)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in dir(cls):
            if isinstance(getattr(cls, name, None), Param):
                _accessors(cls, name)

    def _features(self) -> list[str]:
        """The columns of features."""
        given = [name for name in ("featuresCol", "inputCols") if self.isSet(name)]
        if len(given) != 1:
            found = "both are set" if given else "none is set"
            raise ValueError(f"one of featuresCol and inputCols is needed: {found}")
        return _names(self.getOrDefault(given[0]))

    def _value(self, name: str) -> Any:
        return self.getOrDefault(name) if self.isDefined(name) else None

    def _given(self, params: dict[str, Any]) -> None:
        known = {param.name for param in self.params}
        wrong = next((name for name in params if name not in known), None)
        if wrong is not None:
            raise TypeError(f"{type(self).__name__} has no parameter {wrong!r}")
        self._set(**{name: value for name, value in params.items() if value is not None})


def _accessors(cls: type, name: str) -> None:
    """Spark's `getName` and `setName`."""
    upper = name[0].upper() + name[1:]

    def get(self: Any) -> Any:
        return self.getOrDefault(name)

    def put(self: Any, value: Any) -> Any:
        return self._set(**{name: value})

    get.__doc__, put.__doc__ = f"The parameter {name}.", f"Sets the parameter {name}."
    for prefix, function in (("get", get), ("set", put)):
        if f"{prefix}{upper}" not in vars(cls):
            setattr(cls, f"{prefix}{upper}", function)


class FitParams(ColumnParams):
    """What an estimator is fitted to."""

    targetCol = _param("targetCol", "what is to be kept: a column, or a list of them", _names)
    sensitiveCol = _param("sensitiveCol", "what is to be hidden: a column or several", _names)
    weightCol = _param("weightCol", "the column of weights", NAME)
    idCol = _param(
        "idCol",
        "a column of ids that decides on folds, and on what rows serve for where some certify; "
        "without it the features decide on folds",
        NAME,
    )
    maxTasks = _param(
        "maxTasks", "tasks at most: each adds up its rows, and its sums travel", WHOLE
    )
    ridge = _param("ridge", "added to the covariance of the features: a number, or 'auto'")
    scale = _param("scale", "whether numeric columns are scaled: 'standard' or 'none'", TEXT)
    folds = _param("folds", "folds for held-out losses; 1 for none", WHOLE)
    precision = _param("precision", "how products are formed: 'double' or 'single'", TEXT)
    targetType = _param("targetType", "what the target is taken for: see sarl.SARL")
    sensitiveType = _param("sensitiveType", "what is hidden of an attribute: see sarl.SARL")
    seed = _param("seed", "the seed of folds, landmarks and random features", WHOLE)


class GoalParams(FitParams):
    """How much is hidden from linear adversaries, and of what."""

    tradeOff = _param("tradeOff", "the weight of the adversary, 0 to 1", REAL)
    alpha = _param("alpha", "the least loss of the adversary", REAL)
    maxLeakage = _param("maxLeakage", "the most leakage, 0 to 1, or a dict of names and shares")
    minUtility = _param("minUtility", "the least utility, 0 to 1, or a dict of names and shares")
    criterion = _param("criterion", "'parity', 'equal-opportunity' or 'equalized-odds'", TEXT)
    favourable = _param("favourable", "the class of the target that equal opportunity is about")


class EncoderParams(FitParams):
    """Those of encoders, which have fewer dimensions than the features."""

    nComponents = _param("nComponents", "dimensions of z at most", WHOLE)
    unseen = _param("unseen", "a category that was not there in the fit: 'error' or 'ignore'", TEXT)


class CertifiedParams(FitParams):
    """How much is hidden from every adversary."""

    maxAdvantage = _param(
        "maxAdvantage", "how far any adversary may be above guessing, or a dict of names and shares"
    )
    maxAdversaryAccuracy = _param(
        "maxAdversaryAccuracy", "the most accuracy of any adversary, or a dict of names and shares"
    )
    confidence = _param("confidence", "how sure the certificate is, above 0 and below 1", REAL)
    cells = _param("cells", "the most cells, 2 to 32", WHOLE)
    cellUtility = _param("cellUtility", "what of classes is kept: 'accuracy' or 'variance'", TEXT)


class KernelParams(EncoderParams):
    """Those of a kernel."""

    kernel = _param("kernel", "'rbf', 'laplacian' or 'polynomial'; 'linear' for cells", TEXT)
    gamma = _param("gamma", "the width of the kernel, or 'auto'")
    degree = _param("degree", "the degree of the polynomial kernel", WHOLE)
    coef0 = _param("coef0", "the constant of the polynomial kernel", REAL)
    approx = _param("approx", "'landmarks' or 'random-features'", TEXT)
    sampling = _param("sampling", "how landmarks are chosen: 'adaptive' or 'uniform'", TEXT)
    landmarks = _param("landmarks", "landmarks or random features at most", WHOLE)
    tolerance = _param("tolerance", "the share of the kernel's trace that may be left", REAL)


#: Parameters that the scikit-learn estimator has too, with its names.
NAMES_THERE = {
    "tradeOff": "trade_off",
    "alpha": "alpha",
    "maxLeakage": "max_leakage",
    "minUtility": "min_utility",
    "ridge": "ridge",
    "scale": "scale",
    "folds": "folds",
    "precision": "precision",
    "targetType": "target_type",
    "sensitiveType": "sensitive_type",
    "criterion": "criterion",
    "favourable": "favourable",
    "seed": "random_state",
    "nComponents": "n_components",
    "unseen": "unseen",
    "kernel": "kernel",
    "gamma": "gamma",
    "degree": "degree",
    "coef0": "coef0",
    "approx": "approx",
    "sampling": "sampling",
    "landmarks": "landmarks",
    "tolerance": "tolerance",
    "maxAdvantage": "max_advantage",
    "maxAdversaryAccuracy": "max_adversary_accuracy",
    "confidence": "confidence",
    "cells": "cells",
    "cellUtility": "cell_utility",
}


def signed(cls: type) -> type:
    """Gives the constructor a signature that names the parameters."""
    names = [name for name in dir(cls) if isinstance(getattr(cls, name, None), Param)]
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [inspect.Parameter(name, keyword, default=None) for name in names]
    cls.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    return cls
