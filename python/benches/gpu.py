"""What others take on a GPU for the same work: `LeaceFitter` on CUDA tensors, and a Nyström map with
`torch.linalg.eigh`. Run it beside `cargo run --release -p sarl-cuda --example bench`, on the same machine.

Arguments: the rows and columns of the linear problem, the rows, columns and landmarks of the kernel one.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import torch

#: Rows of a batch.
BATCH = 65_536


def seconds(work: Callable[[], object]) -> float:
    """The best of three runs after one that does not count."""
    times = []
    for _ in range(4):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def leace(x: torch.Tensor, z: torch.Tensor, *, whole: bool) -> float:
    """A full erasure by `LeaceFitter`, batch by batch, or only its moments."""
    from concept_erasure import LeaceFitter

    def work() -> object:
        fitter = LeaceFitter(x.shape[1], z.shape[1], device="cuda", dtype=x.dtype)
        for i in range(0, len(x), BATCH):
            fitter.update(x[i : i + BATCH], z[i : i + BATCH])
        return fitter.eraser if whole else fitter.sigma_xx_

    return seconds(work)


def ours(x: torch.Tensor, labels: torch.Tensor) -> tuple[float, float]:
    """Our moments of tensors where they lie, in five folds with two labels and the sums back here: of all
    rows at once, and batch by batch."""
    from sarl import Moments

    def work(batch: int) -> object:
        moments = Moments(precision="double")
        for i in range(0, len(x), batch):
            at = slice(i, i + batch)
            moments.update(x[at], labels[at], labels[at])
        moments._settle()
        return moments

    return seconds(lambda: work(len(x))), seconds(lambda: work(BATCH))


def nystroem(x: torch.Tensor, landmarks: int) -> float:
    """RBF features of uniform landmarks by `eigh`, and their covariance: no folds, no labels."""

    def features(x: torch.Tensor, u: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
        return torch.exp(-(torch.cdist(x, u) ** 2) / (2 * x.shape[1])) @ root

    def work() -> object:
        u = x[torch.randperm(len(x), device="cuda")[:landmarks]]
        values, vectors = torch.linalg.eigh(torch.exp(-(torch.cdist(u, u) ** 2) / (2 * x.shape[1])))
        root = vectors / values.clamp_min(1e-12).sqrt()
        sums = torch.zeros(landmarks, landmarks, dtype=x.dtype, device="cuda")
        for i in range(0, len(x), BATCH):
            phi = features(x[i : i + BATCH], u, root)
            sums.addmm_(phi.T, phi)
        return sums

    return seconds(work)


def main() -> None:
    """Measures each, and prints one line of JSON last."""
    sizes = [int(word) for word in sys.argv[1:]]
    rows, width, more, narrow, landmarks = (
        *sizes,
        *(1_000_000, 4096, 1_000_000, 100, 4096)[len(sizes) :],
    )
    found: dict[str, float] = {}
    for name, dtype in (("double", torch.float64), ("single", torch.float32)):
        x = torch.rand(rows, width, dtype=dtype, device="cuda") - 0.5
        z = torch.nn.functional.one_hot((x[:, 0] > 0).long(), 2).to(dtype)
        at_once, batches = ours(x, z[:, 1].long())
        found |= {f"ours_{name}_s": at_once, f"ours_batches_{name}_s": batches}
        print(
            f"ours, {rows} x {width}, {name}: {at_once:.3f} s, in batches {batches:.3f} s",
            flush=True,
        )
        moments, whole = leace(x, z, whole=False), leace(x, z, whole=True)
        found |= {f"leace_moments_{name}_s": moments, f"leace_{name}_s": whole}
        about = f"LeaceFitter, {rows} x {width}, {name}"
        print(f"{about}: moments {moments:.3f} s, with the eraser {whole:.3f} s", flush=True)
        del x, z
        torch.cuda.empty_cache()
    x = torch.rand(more, narrow, dtype=torch.float64, device="cuda") - 0.5
    found["nystroem_s"] = nystroem(x, landmarks)
    print(
        f"Nystroem and eigh, {more} x {narrow}, {landmarks} landmarks: {found['nystroem_s']:.3f} s"
    )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
