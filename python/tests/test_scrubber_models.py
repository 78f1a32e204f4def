"""Scrubbers on families of models, in weights, in several processes."""

from __future__ import annotations

import copy
import os
import tempfile

import numpy as np
import pytest
import torch
import torch.multiprocessing as mp

import networks
from sarl.torch import Scrubber
from sarl.torch._hooks import matches

COUNT = 120
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
TOKENS = {"vocab_size": 40, "intermediate_size": 64, **SIZES}


def text() -> dict[str, torch.Tensor]:
    rows = networks.sentences(COUNT)
    return {k: rows[k] for k in ("input_ids", "attention_mask")}


def pictures() -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.randn(COUNT, 3, 16, 16)}


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(vocab_size=40, n_embd=32, n_layer=2, n_head=4))


def bert():
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig(**TOKENS))


def vit():
    from transformers import ViTConfig, ViTModel

    return ViTModel(ViTConfig(**SIZES, intermediate_size=64, image_size=16, patch_size=4))


def clip():
    from transformers import CLIPConfig, CLIPModel

    text = {
        **TOKENS,
        "projection_dim": 16,
        "eos_token_id": 39,
        "bos_token_id": 0,
        "pad_token_id": 38,
    }
    sees = {**SIZES, "intermediate_size": 64, "image_size": 16, "patch_size": 4}
    return CLIPModel(CLIPConfig(text_config=text, vision_config=sees, projection_dim=16))


#: A model, its layers, its inputs, and where the mask is for.
FAMILIES = {
    "llama": (networks.llama, ["model.layers.*"], text, "attention_mask"),
    "gpt-neox": (networks.neox, ["gpt_neox.layers.*"], text, "attention_mask"),
    "gpt2": (gpt2, ["transformer.h.*"], text, "attention_mask"),
    "bert": (bert, ["encoder.layer.*"], text, "attention_mask"),
    "vit": (vit, ["**.layer*.[0-9]"], pictures, "attention_mask"),
    "clip": (
        clip,
        ["text_model.encoder.layers.*", "vision_model.encoder.layers.*"],
        lambda: text() | pictures(),
        {"text_model.**": "attention_mask"},
    ),
}


def test_patterns():
    names = ["h.0", "h.1", "h.10", "h.1.attn", "h.1.attn.q", "h"]
    found = lambda pattern: [name for name in names if matches(name, pattern)]
    assert found("h.*") == ["h.0", "h.1", "h.10"]
    assert found("h.1.**") == ["h.1", "h.1.attn", "h.1.attn.q"]
    assert found("**") == names and found("**.q") == ["h.1.attn.q"] and found("h.[01]") == names[:2]


@pytest.mark.parametrize("name", FAMILIES)
def test_families(name):
    """What comes out of each layer does not vary with the concept, at positions that count."""
    make, layers, inputs_of, mask = FAMILIES[name]
    torch.manual_seed(0)
    model, inputs = make().eval(), inputs_of()
    group = torch.arange(COUNT) % 3 == 0
    given = [
        ({k: v[i : i + 40] for k, v in inputs.items()}, {"group": group[i : i + 40]})
        for i in range(0, COUNT, 40)
    ]
    scrubber = Scrubber(layers, folds=1).fit(model, given, mask=mask)
    assert len(scrubber.layers_) == (4 if name == "clip" else 2)
    found: dict[str, torch.Tensor] = {}
    hooks = scrubber.scrub(model)
    for layer in scrubber.layers_:
        note = lambda _m, _a, out, layer=layer: found.update(
            {layer: out if isinstance(out, torch.Tensor) else out[0]}
        )
        model.get_submodule(layer).register_forward_hook(note)
    with hooks, torch.no_grad():
        model(**inputs)
    for layer, hidden in found.items():
        keep = torch.ones(hidden.shape[:2], dtype=torch.bool)
        if "attention_mask" in inputs and "vision" not in layer:
            keep = inputs["attention_mask"].bool()
        s = group[:, None].expand(keep.shape)[keep]
        x = hidden[keep].double()
        gap = (x[s].mean(0) - x[~s].mean(0)).norm() / (x - x.mean(0)).norm(dim=1).mean()
        assert scrubber.layers_[layer].rows == len(x)
        assert gap < 1e-5, (layer, gap)


def test_the_input_of_a_module():
    """What goes into the head is erased, by keyword or by position."""
    model, inputs = networks.llama().eval(), text()
    group = torch.arange(COUNT) % 2 == 0
    scrubber = Scrubber("lm_head", at="input").fit(model, [(inputs, group)])
    layer = scrubber.layers_["lm_head"]
    assert (layer.at, layer.width) == ("input", 32)
    with torch.no_grad():
        hidden = model.model(**inputs).last_hidden_state
        expected = model.lm_head(layer.to_torch()(hidden))
        with scrubber.scrub(model):
            found = model(**inputs).logits
    torch.testing.assert_close(found, expected)
    folded = copy.deepcopy(model)
    assert scrubber.fold(folded)[0].into == ("lm_head",)
    with torch.no_grad():
        torch.testing.assert_close(folded(**inputs).logits, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("make", "layers", "into"),
    [
        (networks.llama, "model.layers.*.self_attn.[qkv]_proj", 0),
        (networks.llama, "model.layers.*.input_layernorm", 3),
        (networks.llama, "model.layers.*.post_attention_layernorm", 2),
        (gpt2, "transformer.h.*.ln_1", 1),
        (gpt2, "transformer.h.*.attn.c_attn", 0),
        (bert, "encoder.layer.*.attention.self.value", 0),
    ],
)
def test_folding_changes_no_output(make, layers, into):
    """Weights that erase give what hooks give; a fold into the layer itself is into one."""
    torch.manual_seed(1)
    model, inputs = make().eval(), text()
    group = torch.arange(COUNT) % 2 == 0
    batch = (inputs, group)
    scrubber = Scrubber(layers, order="parallel", folds=1).fit(model, [batch])
    folded = copy.deepcopy(model)
    folds = scrubber.fold(folded, batch)
    assert [fold.layer for fold in folds] == list(scrubber.layers_)
    assert all(len(fold.into) == max(1, into) and not fold.why for fold in folds), folds
    out = lambda m: m(**inputs)[0]
    with torch.no_grad():
        plain, written = out(model), out(folded)
        with scrubber.scrub(model):
            hooked = out(model)
    torch.testing.assert_close(written, hooked, atol=2e-5, rtol=1e-4)
    assert (plain - hooked).abs().max() > 1e-3, "the control: the erasure changes the output"


def test_what_cannot_be_folded_is_told():
    model, inputs = networks.llama().eval(), text()
    batch = (inputs, torch.arange(COUNT) % 2 == 0)
    layers = ["model.layers.0", "model.layers.1", "model.norm", "model.layers.0.mlp"]
    scrubber = Scrubber(layers, order="parallel", folds=1).fit(model, [batch])
    before = {k: v.clone() for k, v in model.state_dict().items()}
    without = scrubber.fold(copy.deepcopy(model))
    assert all("pass an example" in fold.why for fold in without)
    folds = {fold.layer: fold for fold in scrubber.fold(model, batch)}
    assert folds["model.norm"].into == ("lm_head",)
    for name in ("model.layers.0", "model.layers.1", "model.layers.0.mlp"):
        assert not folds[name].into and "also read by" in folds[name].why, folds[name]
    changed = [
        k for k, v in model.state_dict().items() if k not in before or not v.equal(before[k])
    ]
    assert all(name.startswith("lm_head") for name in changed), changed


def one_process(rank: int, world: int, folder: str, order: str) -> None:
    """One of several: its own batches, the erasers of all."""
    torch.set_num_threads(1)
    import torch.distributed as dist

    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world
    )
    try:
        model = networks.llama().double().eval()
        given = networks.batches(networks.sentences(160), 20)[rank::world]
        layers = ["model.layers.0", "model.layers.1"]
        scrubber = Scrubber(layers, order=order, n_jobs=1)
        scrubber.fit(model, given, concepts="group")
        scrubber.save(os.path.join(folder, f"{rank}.safetensors"))
    finally:
        dist.destroy_process_group()


def test_four_processes_are_one():
    """Sequential: each layer is merged before the next one is fitted."""
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(one_process, (4, folder, "sequential"), nprocs=4)
        found = [Scrubber.load(os.path.join(folder, f"{k}.safetensors")) for k in range(4)]
    model = networks.llama().double().eval()
    layers = ["model.layers.0", "model.layers.1"]
    given = networks.batches(networks.sentences(160), 20)
    whole = Scrubber(layers).fit(model, given, concepts="group")
    for other in found:
        for name, layer in whole.layers_.items():
            mine = other.layers_[name]
            assert mine.rows == layer.rows
            one, two = mine.found.T @ mine.taken, layer.found.T @ layer.taken
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-10)
            for figure in ("leakage", "heldout"):
                a, b = mine.concepts["group"][figure], layer.concepts["group"][figure]
                assert a == pytest.approx(b, abs=1e-10)
