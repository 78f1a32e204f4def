"""Erasure in PyTorch: fitted encoders as modules, and scrubbers for the layers of networks.

Needs ``sarl[torch]``. See docs/networks.md.

>>> import numpy as np, torch
>>> from sarl import Eraser
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(1000, 5))
>>> erase = Eraser().fit(X, sensitive_features=X[:, 0] > 0).to_torch()
>>> erase(torch.from_numpy(X)).shape
torch.Size([1000, 5])
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as problem:
    raise ImportError("sarl.torch needs PyTorch: pip install 'sarl[torch]'") from problem

from ._fitting import Layer
from ._folding import Fold
from ._modules import Encoding, Erasure, module_of
from ._scrubber import Scrubber

__all__ = ["Encoding", "Erasure", "Fold", "Layer", "Scrubber", "module_of"]
