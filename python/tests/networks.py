"""Small transformers, built from their configuration and trained here: nothing is downloaded."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch

HIDDEN, VOCABULARY, LENGTH = 32, 40, 10

#: Tokens of the language: names of two groups, words, a pronoun for each group, padding.
NAMES, WORDS, PRONOUNS, PAD = 16, range(16, 36), (36, 37), 38


def sentences(count: int, seed: int = 0, *, padded: bool = True) -> dict[str, torch.Tensor]:
    """Sentences "name word* pronoun word*", where the pronoun is that of the name's group.

    Whoever predicts the pronoun needs the group. Names of the second group are fewer. Without padding
    all sentences have the same length.
    """
    rng = np.random.default_rng(seed)
    tokens = rng.choice(WORDS, size=(count, LENGTH))
    group = (rng.uniform(size=count) < 0.4).astype(np.int64)
    tokens[:, 0] = 2 * rng.integers(0, NAMES // 2, count) + group
    at = rng.integers(2, 5, count)
    tokens[np.arange(count), at] = np.asarray(PRONOUNS)[group]
    lengths = rng.integers(6 if padded else LENGTH, LENGTH + 1, count)
    mask = np.arange(LENGTH) < lengths[:, None]
    tokens[~mask] = PAD
    return {
        "input_ids": torch.from_numpy(tokens),
        "attention_mask": torch.from_numpy(mask.astype(np.int64)),
        "group": torch.from_numpy(group),
    }


def batches(rows: dict[str, torch.Tensor], size: int) -> list[dict[str, torch.Tensor]]:
    """The rows, as many at a time."""
    count = len(next(iter(rows.values())))
    return [{k: v[i : i + size] for k, v in rows.items()} for i in range(0, count, size)]


def llama(**options: Any) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": HIDDEN, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    config = LlamaConfig(
        vocab_size=VOCABULARY, **sizes, **heads, pad_token_id=PAD, bos_token_id=0, eos_token_id=39
    )
    torch.manual_seed(0)
    return LlamaForCausalLM(config)


def neox() -> Any:
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    sizes = {"hidden_size": HIDDEN, "intermediate_size": 64, "num_hidden_layers": 2}
    config = GPTNeoXConfig(vocab_size=VOCABULARY, **sizes, num_attention_heads=4)
    torch.manual_seed(0)
    return GPTNeoXForCausalLM(config)


def loss_of(model: Any, rows: dict[str, torch.Tensor]) -> torch.Tensor:
    """The cross entropy of the next token."""
    labels = rows["input_ids"].masked_fill(rows["attention_mask"] == 0, -100)
    out = model(rows["input_ids"], attention_mask=rows["attention_mask"], labels=labels)
    loss: torch.Tensor = out.loss
    return loss


@functools.cache
def trained() -> Any:
    """A small Llama that has learned the language."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # More only wait for each other at these sizes.
    model = llama()
    steps = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for step in range(80):
        steps.zero_grad()
        loss_of(model, sentences(64, seed=1000 + step)).backward()
        steps.step()
    torch.set_num_threads(threads)
    return model.eval().requires_grad_(False)


def activations(model: Any, names: list[str], rows: dict[str, torch.Tensor]) -> dict[str, Any]:
    """What comes out of layers, after any other hooks, at positions that count."""
    found: dict[str, Any] = {}

    def note(name: str) -> Any:
        def hook(_module: Any, _args: Any, out: Any) -> None:
            found[name] = (out if isinstance(out, torch.Tensor) else out[0]).detach()

        return hook

    handles = [model.get_submodule(n).register_forward_hook(note(n)) for n in names]
    try:
        with torch.no_grad():
            model(rows["input_ids"], attention_mask=rows["attention_mask"])
    finally:
        for handle in handles:
            handle.remove()
    keep = rows["attention_mask"].bool()
    return {name: value[keep].double().numpy() for name, value in found.items()}


def labels(rows: dict[str, torch.Tensor]) -> Any:
    """The group at each position that counts."""
    keep = rows["attention_mask"].bool()
    return rows["group"][:, None].expand(keep.shape)[keep].numpy()


def at_positions(rows: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A label for each position: the group there less its mean there, and 0 elsewhere."""
    mask = rows["attention_mask"].double()
    group = rows["group"].double()[:, None] * mask
    apart = (group - group.sum(0) / mask.sum(0)) * mask
    return {f"group at {k}": apart * (torch.arange(LENGTH) == k) for k in range(LENGTH)}
