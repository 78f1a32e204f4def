"""Fits and encodes DataFrames of Spark, in the manner of `pyspark.ml`.

Each task adds up its rows, the sums are merged on the executors, and the driver solves one small
problem. The result does not depend on how the rows are partitioned. A saved model has the model file
that `sarl.load` and the command line read.
"""

from __future__ import annotations

import sarl

from ._model import EncoderEstimator, EncoderModel
from ._params import CertifiedParams, EncoderParams, GoalParams, KernelParams, signed

__all__ = [
    "SARL",
    "CertifiedSARL",
    "CertifiedSARLModel",
    "Eraser",
    "EraserModel",
    "KernelSARL",
    "KernelSARLModel",
    "SARLModel",
]


class SARLModel(EncoderModel):
    """A fitted :class:`SARL`; `encoder` is that of scikit-learn."""


class KernelSARLModel(EncoderModel):
    """A fitted :class:`KernelSARL`; `encoder` is that of scikit-learn."""


class CertifiedSARLModel(EncoderModel):
    """A fitted :class:`CertifiedSARL`; `encoder` is that of scikit-learn, with its certificate."""


class EraserModel(EncoderModel):
    """A fitted :class:`Eraser`; `encoder` is that of scikit-learn."""


@signed
class SARL(EncoderEstimator, EncoderParams, GoalParams):  # type: ignore[misc]
    """A linear encoder that keeps `targetCol` predictable and hides `sensitiveCol`.

    See :class:`sarl.SARL` for what the parameters mean, and `explainParams()` for their list.
    """

    _there = sarl.SARL
    _model = SARLModel


@signed
class KernelSARL(EncoderEstimator, KernelParams, GoalParams):  # type: ignore[misc]
    """The same with a kernel: see :class:`sarl.KernelSARL`.

    Two passes: one for a sample of rows, which does not depend on the partitions and which landmarks
    are taken from, and one for the moments.
    """

    _there = sarl.KernelSARL
    _model = KernelSARLModel


@signed
class CertifiedSARL(EncoderEstimator, KernelParams, CertifiedParams):  # type: ignore[misc]
    """An encoder with a guarantee against every adversary: see :class:`sarl.CertifiedSARL`.

    Three passes: to fit, to choose cells and to certify them. `idCol` decides which rows serve for
    what: a guarantee needs rows that were parted by something else than what they hold.
    """

    _there = sarl.CertifiedSARL
    _model = CertifiedSARLModel


@signed
class Eraser(EncoderEstimator, GoalParams):  # type: ignore[misc]
    """Erasure without a target: see :class:`sarl.Eraser`."""

    _there = sarl.Eraser
    _model = EraserModel
