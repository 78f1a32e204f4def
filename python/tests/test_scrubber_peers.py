"""Scrubbers beside concept-erasure: the same erased activations and the same logits, in one run.

`ConceptScrubber` is used as it is, with a `LeaceFitter` for each norm of a model. `scrub_llama` and
`scrub_neox` of concept-erasure 0.2.4 are not: they need the package `datasets`, and call attention
without the position embeddings that transformers 5 expects. Their loop over the layers of a Llama is
done here by hand. `scrub_neox` is left out: it fits the second norm of a layer on what the first norm
gives, which the model never computes.

Fits are compared without shrinkage. Those of LeaceFitter are in double precision, because some directions
of a trained model vary by less than a millionth of others. Activations are in single precision.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import networks
from sarl.torch import Scrubber

leace = pytest.importorskip("concept_erasure")

COUNT, BATCH = 600, 150


def fitter(width: int, classes: int = 2) -> Any:
    return leace.LeaceFitter(width, classes, shrinkage=False, dtype=torch.float64)


#: A model, the name of its base model, and that of the norm behind its last layer.
FAMILIES = {
    "llama": (networks.llama, "model", "norm"),
    "gpt-neox": (networks.neox, "gpt_neox", "final_layer_norm"),
}


def norms_of(last: str) -> list[str]:
    """Within the base model, in the order in which rows meet them."""
    norms = ("input_layernorm", "post_attention_layernorm")
    return [*(f"layers.{k}.{norm}" for k in range(2) for norm in norms), last]


def given() -> tuple[Tensor, Tensor]:
    """Sentences of one length: their scrubber knows no mask."""
    rows = networks.sentences(COUNT, padded=False)
    return rows["input_ids"], rows["group"]


def batches(tokens: Tensor, group: Tensor) -> list[tuple[dict[str, Tensor], Tensor]]:
    at = range(0, COUNT, BATCH)
    return [({"input_ids": tokens[i : i + BATCH]}, group[i : i + BATCH]) for i in at]


def add(to: Any, hidden: Tensor, group: Tensor) -> None:
    """The label of a sequence is that of its positions."""
    labels = group[:, None].expand(hidden.shape[:2])
    to.update(hidden, nn.functional.one_hot(labels, 2))


@torch.no_grad()
def one_pass(model: Any, fitting: list[str], fitted: Any, rows: Any) -> Any:
    """Their scrubber with some more norms fitted, in one pass in which those fitted before erase."""
    scrubber = leace.ConceptScrubber()
    fitters = {name.replace(".", "-"): fitter(networks.HIDDEN) for name in fitting}
    scrubber.erasers = {**fitted.erasers, **fitters}
    now: dict[str, Tensor] = {}

    def act(key: str, hidden: Tensor) -> Tensor | None:
        if key not in fitters:
            return scrubber.erasers[key](hidden).type_as(hidden)
        add(fitters[key], hidden, now["group"])
        return None

    with scrubber.apply_hook(model, act):
        for inputs, now["group"] in rows:
            model(**inputs)
    scrubber.erasers |= {key: one.eraser for key, one in fitters.items()}
    return scrubber


def theirs(model: Any, norms: list[str], order: str, rows: Any) -> Any:
    """Their scrubber of all norms: in one pass on the model as it is, or in a pass for each."""
    scrubber = leace.ConceptScrubber()
    if order == "parallel":
        return one_pass(model, norms, scrubber, rows)
    for name in norms:
        scrubber = one_pass(model, [name], scrubber, rows)
    return scrubber


@torch.no_grad()
def seen(model: Any, names: list[str], tokens: Tensor) -> dict[str, Tensor]:
    """What comes out of modules after the hooks that are there, and the logits."""
    found: dict[str, Tensor] = {}
    note = lambda name: lambda _m, _a, out: found.update({name: out})
    handles = [model.get_submodule(n).register_forward_hook(note(n)) for n in names]
    found["logits"] = model(tokens).logits
    for handle in handles:
        handle.remove()
    return found


def alike(ours: dict[str, Tensor], theirs: dict[str, Tensor], plain: dict[str, Tensor]) -> None:
    assert list(ours) == list(theirs)
    for name, one in ours.items():
        assert one.dtype == torch.float32
        scale = plain[name].abs().max()
        assert (one - theirs[name]).abs().max() < 1e-5 * scale, name
        assert (one - plain[name]).abs().max() > 1e-3 * scale, f"the control: {name}"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("order", ["parallel", "sequential"])
def test_a_concept_scrubber(family, order):
    """All norms of a model at once: each order of ours is theirs."""
    make, base, last = FAMILIES[family]
    model, (tokens, group) = make().eval(), given()
    norms, rows = norms_of(last), batches(tokens, group)
    names = [f"{base}.{name}" for name in norms]
    ours = Scrubber(names, order=order, folds=1).fit(model, rows)
    assert list(ours.layers_) == names
    peer = theirs(model, norms, order, rows)
    plain = seen(model, names, tokens)
    with peer.scrub(model):
        expected = seen(model, names, tokens)
    with ours.scrub(model):
        found = seen(model, names, tokens)
    alike(found, expected, plain)


@torch.no_grad()
def scrub_llama(model: Any, rows: Any) -> tuple[Any, Tensor]:
    """What their function of this name does, with the attention of transformers 5.

    Hidden states of all rows go through the model a layer at a time. Each norm is fitted on what the
    erased ones before it give. The logits are those of the rows.
    """
    base, scrubber = model.base_model, leace.ConceptScrubber()
    xs = [base.get_input_embeddings()(inputs["input_ids"]) for inputs, _ in rows]
    places = base.rotary_emb(xs[0], torch.arange(xs[0].shape[1])[None])

    def erased(name: str, norm: nn.Module) -> list[Tensor]:
        one = fitter(networks.HIDDEN)
        for x, (_, group) in zip(xs, rows, strict=True):
            add(one, norm(x), group)
        scrubber.erasers[name] = one.eraser
        return [one.eraser(norm(x)) for x in xs]

    for j, layer in enumerate(base.layers):
        hidden = erased(f"layers-{j}-input_layernorm", layer.input_layernorm)
        attended = [layer.self_attn(h, places, attention_mask=None)[0] for h in hidden]
        xs = [x + more for x, more in zip(xs, attended, strict=True)]
        hidden = erased(f"layers-{j}-post_attention_layernorm", layer.post_attention_layernorm)
        xs = [x + layer.mlp(h) for x, h in zip(xs, hidden, strict=True)]
    return scrubber, torch.cat([model.lm_head(base.norm(x)) for x in xs])


def test_their_loop_over_a_llama():
    """Sequential: the erasers, the activations and the logits of their loop."""
    model, (tokens, group) = networks.trained(), given()
    rows = batches(tokens, group)
    peer, logits = scrub_llama(model, rows)
    names = [f"model.{key.replace('-', '.')}" for key in peer.erasers]
    ours = Scrubber(["model.layers.*.*norm"], folds=1).fit(model, rows)
    assert list(ours.layers_) == names
    plain = seen(model, names, tokens)
    with peer.scrub(model):
        expected = seen(model, names, tokens)
    with ours.scrub(model):
        found = seen(model, names, tokens)
    alike(found, expected, plain)
    torch.testing.assert_close(expected["logits"], logits, atol=1e-4, rtol=1e-5)
    for name, key in zip(names, peer.erasers, strict=True):
        layer = ours.layers_[name]
        off = torch.from_numpy(layer.found.T @ layer.taken)
        apart = (torch.eye(networks.HIDDEN) - off).T - peer.erasers[key].P
        assert apart.abs().max() < 1e-5 * off.abs().max(), name


def test_one_layer():
    """The same erased activations as LeaceFitter's, in single precision, of three classes."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(48, 48), nn.Tanh())
    x, s = torch.randn(4000, 48), torch.randint(0, 3, (4000,))
    x[:, :3] += nn.functional.one_hot(s, 3)
    rows = [(x[i : i + 500], s[i : i + 500]) for i in range(0, 4000, 500)]
    ours = Scrubber("1").fit(model, rows)
    with torch.no_grad():
        hidden = model(x)
        one = leace.LeaceFitter(48, 3, shrinkage=False, dtype=torch.float32)
        for i in range(0, 4000, 500):
            one.update(hidden[i : i + 500], nn.functional.one_hot(s[i : i + 500], 3).float())
        with ours.scrub(model):
            erased = model(x)
    assert ours.layers_["1"].directions == 2
    torch.testing.assert_close(erased, one.eraser(hidden), atol=1e-5, rtol=1e-5)
    assert (hidden - erased).abs().max() > 0.1, "the control"


def test_positions_that_count():
    """The same at a layer of a transformer whose rows are padded, at the positions that count."""
    model, rows, name = networks.trained(), networks.sentences(1000), "model.layers.0"
    ours = Scrubber(name).fit(model, networks.batches(rows, 200), concepts="group")
    hidden = torch.from_numpy(networks.activations(model, [name], rows)[name])
    with ours.scrub(model):
        erased = torch.from_numpy(networks.activations(model, [name], rows)[name])
    one = fitter(networks.HIDDEN)
    s = torch.from_numpy(networks.labels(rows))
    one.update(hidden, nn.functional.one_hot(s, 2))
    scale = hidden.abs().max()
    assert (erased - one.eraser(hidden)).abs().max() < 1e-5 * scale
    assert (hidden - erased).abs().max() > 1e-2 * scale, "the control"
