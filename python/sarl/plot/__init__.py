"""Plots of fronts, dimensions and encoded rows (needs matplotlib).

Every function draws on the axes it is given, or on those of a new figure, and returns them.

>>> import matplotlib
>>> matplotlib.use("Agg")  # no window is needed here
>>> import numpy as np
>>> from sarl import SARL, plot
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(500, 4))
>>> s = (X[:, 0] + X[:, 1] > 0).astype(int)
>>> y = (X[:, 1] + X[:, 2] > 0).astype(int)
>>> encoder = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s)
>>> ax = plot.front(encoder)
>>> ax.figure.savefig("front.png")  # doctest: +SKIP
"""

from ._dimension import dimension
from ._embedding import embedding
from ._front import front

__all__ = ["dimension", "embedding", "front"]
