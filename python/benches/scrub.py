"""One layer of a network: our Scrubber beside LeaceFitter, in one run, as ratios.

Activations come in batches, as a model would give them: a few different ones, which take turns. Each
method runs in a process of its own: it makes the batches, fits one of them to wake its libraries up,
and then fits all of them under the clock. What the process needed at its peak beyond what it held
before is the memory of the fit. Applying is timed on one batch, many times.

    export PYTHONPATH=python
    python python/benches/scrub.py --width 4096 --tokens 200000 --json scrub.json
    python python/benches/scrub.py --width 256 --tokens 20000         # a quick look
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

#: Different batches, which take turns.
DIFFERENT = 4

#: Times that a batch is erased.
APPLIED = 10

#: What is measured, by its name on the command line.
METHODS = {
    "sarl": "sarl.torch.Scrubber",
    "sarl-folds": "sarl.torch.Scrubber, held-out leakage too (2 folds)",
    "sarl-single": "sarl.torch.Scrubber, precision='single'",
    "leace": "concept_erasure.LeaceFitter",
}

Batch = tuple[Tensor, Tensor]


def made(width: int, size: int) -> list[Batch]:
    """Batches of activations that vary together, with a concept of two classes in them."""
    torch.manual_seed(0)
    mix = torch.randn(width, 64) / 8
    batches = []
    for _ in range(DIFFERENT):
        s = torch.randint(0, 2, (size,))
        x = torch.randn(size, 64) @ mix.T + torch.randn(size, width)
        x[:, :8] += 0.5 * s[:, None]
        batches.append((x, s))
    return batches


class Taken:
    """Batches in turn, as many as it takes."""

    def __init__(self, batches: list[Batch], tokens: int) -> None:
        self.batches, self.tokens = batches, tokens

    def __iter__(self) -> Any:
        left, place = self.tokens, 0
        while left > 0:
            x, s = self.batches[place % len(self.batches)]
            yield x[:left], s[:left]
            left, place = left - len(x), place + 1


def ours(**options: Any) -> Callable[[int, Taken], Any]:
    """Our fit of one layer; what is erased of it."""

    def fit(width: int, batches: Taken) -> Any:
        from sarl.torch import Scrubber

        model = nn.Sequential(nn.Identity())
        scrubber = Scrubber("0", order="parallel", **options).fit(model, batches)
        return scrubber.layers_["0"].to_torch()

    return fit


def theirs(width: int, batches: Taken) -> Any:
    """The fit of concept-erasure."""
    from concept_erasure import LeaceFitter

    fitter = LeaceFitter(width, 2, dtype=torch.float32)
    for x, s in batches:
        fitter.update(x, nn.functional.one_hot(s, 2).float())
    return fitter.eraser


FITS: dict[str, Callable[[int, Taken], Any]] = {
    "sarl": ours(folds=1),
    "sarl-folds": ours(folds=2),
    "sarl-single": ours(folds=1, precision="single"),
    "leace": theirs,
}


def peak() -> float:
    """The most memory so far, in megabytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


@torch.no_grad()
def measured(method: str, width: int, tokens: int, size: int) -> dict[str, Any]:
    """Times and memory of one method in this process, and what is left of the concept."""
    batches, fit = made(width, size), FITS[method]
    fit(64, Taken([(x[:, :64].contiguous(), s) for x, s in batches], 2 * size))
    before = peak()
    start = time.perf_counter()
    erase = fit(width, Taken(batches, tokens))
    seconds, extra = time.perf_counter() - start, peak() - before
    x = batches[0][0]
    applied = []
    for _ in range(APPLIED):
        start = time.perf_counter()
        erase(x)
        applied.append(time.perf_counter() - start)
    s = torch.cat([s for _, s in batches])
    gap = lambda x: (x[s == 1].mean(0) - x[s == 0].mean(0)).norm().item()
    before, after = (torch.cat(of) for of in zip(*((x, erase(x)) for x, _ in batches), strict=True))
    return {
        "fit_s": seconds,
        "apply_s": statistics.median(applied) * tokens / size,
        "extra_mb": extra,
        "gap_left": gap(after) / gap(before),
    }


def run(method: str, asked: argparse.Namespace) -> dict[str, Any]:
    """One method in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, "--method", method]
    for name in ("width", "tokens", "batch"):
        command += [f"--{name}", str(getattr(asked, name))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--width", type=int, default=4096, help="of a row (%(default)s)")
    parser.add_argument("--tokens", type=int, default=200_000, help="rows (%(default)s)")
    parser.add_argument("--batch", type=int, default=2048, help="rows at a time (%(default)s)")
    parser.add_argument("--methods", default=",".join(METHODS), help="some of %(default)s")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here too")
    parser.add_argument("--method", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """All methods, or one of them in a process that this started."""
    asked = arguments()
    if asked.method:
        print(json.dumps(measured(asked.method, asked.width, asked.tokens, asked.batch)))
        return
    found = {method: run(method, asked) for method in asked.methods.split(",")}
    base = found.get("leace") or next(iter(found.values()))
    print(f"{asked.tokens:,} x {asked.width} float32, {os.cpu_count()} cores")
    print(
        f"{'':<52}{'fit s':>8}{'ratio':>7}{'apply s':>9}{'ratio':>7}{'MB':>7}{'ratio':>7}  gap left"
    )
    for method, one in found.items():
        ratios = {name: one[name] / base[name] for name in ("fit_s", "apply_s", "extra_mb")}
        one |= {"name": METHODS[method], "ratios": ratios}
        print(
            f"{METHODS[method]:<52}{one['fit_s']:>8.1f}{ratios['fit_s']:>7.2f}"
            f"{one['apply_s']:>9.2f}{ratios['apply_s']:>7.2f}{one['extra_mb']:>7.0f}"
            f"{ratios['extra_mb']:>7.2f}  {one['gap_left']:.1e}"
        )
    if asked.json:
        about = {name: getattr(asked, name) for name in ("width", "tokens", "batch")}
        about["cores"] = os.cpu_count()
        asked.json.write_text(json.dumps({**about, "methods": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
