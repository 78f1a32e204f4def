"""Estimators and models of Spark around those of scikit-learn."""

from __future__ import annotations

import json
import os
from typing import Any, ClassVar

from pyspark.ml import Estimator, Model
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import DataFrame

from .. import _files
from .._engine import shard_for
from ._params import NAMES_THERE, ColumnParams, FitParams
from ._passes import fit_rows, with_z
from ._storage import metadata_by, read, write

#: The model file in the folder of a saved model.
FILE = "model.safetensors"
#: Tasks at most, unless a parameter says otherwise.
TASKS = 256


class EncoderModel(Model, ColumnParams, MLReadable, MLWritable):  # type: ignore[misc, type-arg]
    """A fitted encoder that encodes the rows of a DataFrame."""

    def __init__(self, encoder: Any = None, **params: Any) -> None:
        super().__init__()
        self._encoder = encoder
        self._bytes: bytes | None = None
        self._setDefault(outputCol="z")
        self._given(params)

    @property
    def encoder(self) -> Any:
        """The fitted estimator of scikit-learn: its figures, `retune`, `save` and the rest."""
        return self._encoder

    def _model(self) -> bytes:
        """The model file, as it is sent to workers."""
        if self._bytes is None:
            self._bytes = _files.to_bytes(self._encoder)
        return self._bytes

    def _transform(self, dataset: DataFrame) -> DataFrame:
        return with_z(dataset, self._model(), self._features(), self.getOrDefault("outputCol"))

    def write(self) -> MLWriter:
        """What writes a folder with the parameters and the model file."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        """What reads such a folder."""
        return _Reader(cls)


class _Writer(MLWriter):
    def __init__(self, model: EncoderModel) -> None:
        super().__init__()
        self._of = model

    def saveImpl(self, path: str) -> None:
        spark = self.sparkSession
        DefaultParamsWriter.saveMetadata(self._of, path, metadata_by(spark))
        write(spark, os.path.join(path, FILE), self._of._model())


class _Reader(MLReader[Any]):
    def __init__(self, cls: type[EncoderModel]) -> None:
        super().__init__()
        self._cls = cls

    def load(self, path: str) -> Any:
        spark = self.sparkSession
        about = DefaultParamsReader.loadMetadata(path, metadata_by(spark))
        file = os.path.join(path, FILE)
        data = read(spark, file)
        model = self._cls(_files.from_bytes(data, file))
        model._bytes = data
        model._resetUid(about["uid"])
        DefaultParamsReader.getAndSetParams(model, about)
        return model


class EncoderEstimator(  # type: ignore[misc]
    Estimator,  # type: ignore[type-arg]
    FitParams,
    DefaultParamsReadable,  # type: ignore[type-arg]
    DefaultParamsWritable,
):
    """An estimator whose moments are added up where the rows are."""

    #: The estimator of scikit-learn, and the model of Spark.
    _there: ClassVar[type]
    _model: ClassVar[type[EncoderModel]]

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._setDefault(outputCol="z", maxTasks=TASKS)
        self._given(params)

    def setParams(self, **params: Any) -> Any:
        """Sets parameters by name."""
        self._given(params)
        return self

    def _set(self, **params: Any) -> Any:
        # They are saved as JSON: what is no JSON is refused here, not there.
        for name, value in params.items():
            try:
                json.dumps(value)
            except TypeError:
                kind = type(value).__name__
                raise TypeError(f"{name} is a {kind}: expected text, numbers, lists") from None
        return super()._set(**params)

    def _fit(self, dataset: DataFrame) -> EncoderModel:
        given = {there: self._value(here) for here, there in NAMES_THERE.items() if self._has(here)}
        estimator = self._there(**given)
        tasks = self.getOrDefault("maxTasks")
        if tasks < 1:
            raise ValueError(f"maxTasks is {tasks}: expected 1 or more")
        if not self._value("sensitiveCol"):
            raise ValueError("sensitiveCol is missing: it names what is to be hidden")
        zero = shard_for(
            estimator,
            features=self._features(),
            target=self._value("targetCol"),
            sensitive=self._value("sensitiveCol"),
            weight=self._value("weightCol"),
            row_id=self._value("idCol"),
        )
        fit_rows(estimator, dataset, zero, tasks)
        return self._copyValues(self._model(estimator))

    def _has(self, name: str) -> bool:
        return self.hasParam(name) and self.isSet(name)
