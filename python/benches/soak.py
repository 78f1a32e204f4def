"""One process that fits, encodes, saves, loads and audits until its seconds are over.

``cargo xtask soak`` runs it. Each line has the seconds, the rounds, the resident megabytes and the open files.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from sarl import SARL, Eraser, KernelSARL, audit, load


def resident() -> float:
    """The resident memory of this process in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main(seconds: float) -> None:
    """Rounds until the time is over, with about forty lines about them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    s = X[:, 0] + rng.normal(size=1500) > 0
    y = X[:, 0] + X[:, 1] + rng.normal(size=1500) > 0
    start, told, rounds = time.monotonic(), 0.0, 0
    print(" seconds  rounds  resident MB  open files")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        while (now := time.monotonic() - start) < seconds:
            kernel = KernelSARL(max_leakage=0.05, landmarks=60)
            for encoder in (SARL(max_leakage=0.05), kernel, Eraser()):
                encoder.fit(X, y, sensitive_features=s)
                encoder.save(path)
                z = encoder.transform(X)
                np.testing.assert_array_equal(load(path).transform(X), z)
            if rounds % 10 == 0:
                encoder = SARL(max_leakage=0.05).fit(X, y, sensitive_features=s)
                few = {"probes": ["linear", "logistic"], "seeds": 1}
                audit(encoder, X, y, sensitive_features=s, **few)
            rounds += 1
            if now - told >= seconds / 40:
                told = now
                files = len(os.listdir("/proc/self/fd"))
                print(f"{now:8.0f} {rounds:7d} {resident():12.1f} {files:11d}", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]))
