"""Encoders that keep one thing and hide another, globally optimal in closed form.

>>> import numpy as np
>>> from sarl import SARL
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(500, 4))
>>> s = (X[:, 0] + X[:, 1] > 0).astype(int)
>>> y = (X[:, 1] + X[:, 2] > 0).astype(int)
>>> encoder = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s)
>>> bool(encoder.leakage_ <= 0.0101)
True
"""

from typing import Any

from . import plot
from ._audit import audit
from ._certificate import Certificate
from ._certified import CertifiedSARL
from ._compare import Comparison, compare
from ._core import __version__
from ._eraser import Eraser
from ._files import load
from ._kernel import KernelSARL
from ._linear import SARL
from ._moments import Moments
from ._oracle import OracleEraser, QuadraticEraser
from ._results import Audit, Bounds, Front, HeldOut, Point

__all__ = [
    "SARL",
    "Audit",
    "Bounds",
    "Certificate",
    "CertifiedSARL",
    "Comparison",
    "Eraser",
    "Front",
    "HeldOut",
    "KernelSARL",
    "Moments",
    "OracleEraser",
    "Point",
    "QuadraticEraser",
    "Shard",
    "__version__",
    "audit",
    "compare",
    "load",
    "plot",
]


def __getattr__(name: str) -> Any:
    # A shard needs Arrow, which nothing else here does.
    if name == "Shard":
        from ._shard import Shard

        return Shard
    raise AttributeError(f"module 'sarl' has no attribute {name!r}")
