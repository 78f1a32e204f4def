"""All norms of a small Llama: our Scrubber beside ConceptScrubber of concept-erasure, in one run.

Every method runs in a process of its own: it fits a tiny model to wake its libraries up, builds the model
from its configuration, runs a batch, and then fits all batches in one pass under the clock, the forward
pass of the model included. Then one batch is run with the erasers on. What the process needed at its peak
beyond what it held before the fit is the memory of the fit. The model without any hooks is measured in the
same way.

    export PYTHONPATH=python
    python python/benches/network.py            # writes docs/figures/networks-whole.json
    python python/benches/network.py --width 128 --batches 8 --look      # a quick look, writes nothing
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from figures import store
from scrub import peak
from torch import Tensor, nn

LAYERS, LENGTH, SEQUENCES = 4, 128, 8

#: The norms by the names of the base model.
NORMS = [
    f"layers.{k}.{n}"
    for k in range(LAYERS)
    for n in ("input_layernorm", "post_attention_layernorm")
]
NORMS.append("norm")

#: Forward passes of a batch.
TURNS = 10

Batch = tuple[dict[str, Tensor], Tensor]
#: What fits all norms, and gives a context in which they are erased.
Fit = Callable[[Any, list[Batch]], Callable[[], Any]]


def made(width: int, count: int) -> tuple[Any, list[Batch]]:
    """The model, and batches of tokens with a concept of two classes for each position."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": width, "intermediate_size": 8 * width // 3, "vocab_size": 1000}
    heads = {"num_attention_heads": width // 64, "num_key_value_heads": width // 64}
    config = LlamaConfig(**sizes, **heads, num_hidden_layers=LAYERS)
    model = LlamaForCausalLM(config).eval().requires_grad_(False)
    tokens = torch.randint(0, 1000, (count, SEQUENCES, LENGTH))
    return model, [({"input_ids": t, "use_cache": False}, t % 2) for t in tokens]


def ours(**options: Any) -> Fit:
    def fit(model: Any, batches: list[Batch]) -> Callable[[], Any]:
        from sarl.torch import Scrubber

        names = [f"model.{name}" for name in NORMS]
        scrubber = Scrubber(names, order="parallel", **options).fit(model, batches)
        return lambda: scrubber.scrub(model)

    return fit


def theirs(model: Any, batches: list[Batch]) -> Callable[[], Any]:
    from concept_erasure import ConceptScrubber, LeaceFitter

    width, scrubber = model.config.hidden_size, ConceptScrubber()
    fitters = {name.replace(".", "-"): LeaceFitter(width, 2, dtype=torch.float32) for name in NORMS}
    scrubber.erasers = dict(fitters)
    now: dict[str, Tensor] = {}

    def add(key: str, hidden: Tensor) -> None:
        fitters[key].update(hidden, nn.functional.one_hot(now["labels"], 2))

    with scrubber.apply_hook(model, add):
        for inputs, now["labels"] in batches:
            model(**inputs)
    scrubber.erasers = {key: fitter.eraser for key, fitter in fitters.items()}
    return lambda: scrubber.scrub(model)


def nothing(model: Any, batches: list[Batch]) -> Callable[[], Any]:
    for inputs, _ in batches:
        model(**inputs)
    return contextlib.nullcontext


METHODS: dict[str, tuple[str, Fit]] = {
    "sarl": ("sarl.torch.Scrubber", ours(folds=1)),
    "sarl-folds": ("sarl.torch.Scrubber, held-out leakage too (2 folds)", ours(folds=2)),
    "sarl-single": ("sarl.torch.Scrubber, precision='single'", ours(folds=1, precision="single")),
    "leace": ("concept_erasure.ConceptScrubber", theirs),
    "none": ("the model without hooks", nothing),
}


@torch.no_grad()
def measured(method: str, width: int, count: int) -> dict[str, float]:
    """Times and memory of one method in this process."""
    fit = METHODS[method][1]
    fit(*made(64, 2))
    model, batches = made(width, count)
    model(**batches[0][0])
    before = peak()
    start = time.perf_counter()
    scrub = fit(model, batches)
    seconds, extra = time.perf_counter() - start, peak() - before
    inputs, times = batches[0][0], []
    with scrub():
        for _ in range(TURNS):
            start = time.perf_counter()
            model(**inputs)
            times.append(time.perf_counter() - start)
    return {"fit_s": seconds, "forward_s": statistics.median(times), "extra_mb": extra}


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--width", type=int, default=768, help="of the model (%(default)s)")
    parser.add_argument("--batches", type=int, default=16, help="of 1,024 positions (%(default)s)")
    parser.add_argument("--turns", type=int, default=3, help="medians of so many (%(default)s)")
    parser.add_argument("--look", action="store_true", help="write nothing")
    parser.add_argument("--method", help=argparse.SUPPRESS)
    return parser.parse_args()


def run(method: str, asked: argparse.Namespace) -> dict[str, float]:
    """One method in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, "--method", method]
    command += ["--width", str(asked.width), "--batches", str(asked.batches)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """All methods, or one of them in a process that this started."""
    asked = arguments()
    if asked.method:
        print(json.dumps(measured(asked.method, asked.width, asked.batches)))
        return
    turns = [{method: run(method, asked) for method in METHODS} for _ in range(asked.turns)]
    median = lambda m, name: statistics.median(turn[m][name] for turn in turns)
    found = {m: {name: median(m, name) for name in turns[0][m]} for m in METHODS}
    rows = []
    for method, one in found.items():
        ratio = lambda name, one=one: f"{one[name] / max(found['leace'][name], 1e-9):.2f}"
        fit = [f"{one['fit_s']:.1f}", ratio("fit_s")]
        forward = [f"{1000 * one['forward_s']:.0f}", ratio("forward_s")]
        rows.append(
            [METHODS[method][0], *fit, *forward, f"{one['extra_mb']:.0f}", ratio("extra_mb")]
        )
        print("  ".join(rows[-1]))
    if asked.look:
        return
    about = (
        f"`python python/benches/network.py`, the {len(NORMS)} norms of a Llama of {LAYERS} layers and width "
        f"{asked.width}, {asked.batches * SEQUENCES * LENGTH} positions in one pass, {os.cpu_count()} cores, "
        f"each method in a process of its own, medians of {asked.turns} in turns; fits have the forward passes in them; a batch has 1024 positions"
    )
    columns = [
        "method",
        "fit, s",
        "ratio",
        "a batch with erasure, ms",
        "ratio",
        "memory of the fit, MB",
        "ratio",
    ]
    store("networks-whole", about, columns, rows)


if __name__ == "__main__":
    main()
