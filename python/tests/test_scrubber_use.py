"""Scrubbers as they are used: models that were compiled, resumed fits, mistakes."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import networks
from sarl.torch import Scrubber

LAYERS = ["model.layers.0", "model.layers.1"]


@pytest.fixture(scope="module")
def rows():
    return networks.sentences(400)


@pytest.fixture(scope="module")
def batches(rows):
    return networks.batches(rows, 100)


@pytest.fixture(scope="module")
def scrubber(batches):
    return Scrubber(LAYERS, folds=1).fit(networks.trained(), batches, concepts="group")


@pytest.fixture
def model():
    torch.compiler.reset()
    return copy.deepcopy(networks.trained())


@torch.no_grad()
def logits(model, rows):
    few = {k: rows[k][:8] for k in ("input_ids", "attention_mask")}
    return model(**few, use_cache=False).logits


def test_a_model_that_was_compiled_before_is_erased(model, scrubber, rows):
    """PyTorch would go on with the code that it made without hooks."""
    other = copy.deepcopy(model)
    compiled, beside = (torch.compile(m, backend="aot_eager") for m in (model, other))
    plain = logits(compiled, rows)
    with scrubber.scrub(model):
        expected, found, untouched = (logits(m, rows) for m in (model, compiled, beside))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    assert (expected - plain).abs().max() > 1e-2, "the control"
    torch.testing.assert_close(untouched, plain, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(logits(compiled, rows), plain, atol=1e-5, rtol=1e-5)
    with scrubber.scrub(compiled):
        torch.testing.assert_close(logits(compiled, rows), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("order", ["sequential", "parallel", "sequential-approximate"])
@pytest.mark.parametrize("in_place", [False, True])
def test_a_model_that_was_compiled_can_be_fitted(model, batches, rows, order, in_place):
    expected = Scrubber("model.layers.*", order=order, folds=1)
    expected.fit(model, batches, concepts="group")
    given = model
    if in_place:
        model.compile(backend="aot_eager")
    else:
        given = torch.compile(model, backend="aot_eager")
    logits(given, rows)
    found = Scrubber("model.layers.*", order=order, folds=1).fit(given, batches, concepts="group")
    assert list(found.layers_) == LAYERS
    for name, layer in found.layers_.items():
        theirs = expected.layers_[name]
        one, two = layer.found.T @ layer.taken, theirs.found.T @ theirs.taken
        np.testing.assert_allclose(one, two, atol=1e-9)


def test_an_example_needs_no_concepts(model, batches):
    norms = Scrubber("model.layers.*.input_layernorm", order="parallel", folds=1)
    norms.fit(model, batches, concepts="group")
    plain = {k: v for k, v in batches[0].items() if k != "group"}
    inputs = (plain, batches[0]["group"])
    for example in (plain, batches[0], inputs):
        folds = norms.fold(copy.deepcopy(model), example)
        assert all(len(fold.into) == 3 for fold in folds)


def test_half_precision_from_end_to_end(model, batches, tmp_path):
    """Fit, state, file, decoding and weights of a model in bfloat16."""
    half = model.bfloat16()
    with torch.backends.mkldnn.flags(enabled=False):
        state = tmp_path / "state"
        one = Scrubber(LAYERS).fit(half, batches, concepts="group", checkpoint=state)
        assert all(
            f["leakage"] < 1e-9 for layer in one.layers_.values() for f in layer.concepts.values()
        )
        again = Scrubber.from_bytes(state.read_bytes()).resume(half, batches, concepts="group")
        one.save(tmp_path / "file")
        prompt = {"input_ids": batches[0]["input_ids"][:4, :3]}
        prompt["attention_mask"] = torch.ones(4, 3, dtype=torch.long)
        said = []
        for scrubber in (one, again, Scrubber.load(tmp_path / "file")):
            with scrubber.scrub(half):
                said.append(half.generate(**prompt, max_new_tokens=6, do_sample=False))
        assert all(torch.equal(said[0], other) for other in said[1:])
        norms = Scrubber("model.layers.*.input_layernorm", order="parallel", folds=1)
        norms.fit(half, batches, concepts="group")
        folded = copy.deepcopy(half)
        assert all(fold.into for fold in norms.fold(folded, batches[0]))
        with norms.scrub(half):
            apart = (logits(half, batches[0]) - logits(folded, batches[0])).float().abs()
        assert apart.mean() < 2**-4, "weights are rounded"


def test_mistakes_are_told(model, scrubber, batches, tmp_path):
    state, file = tmp_path / "state", tmp_path / "file"
    state.write_bytes(scrubber.to_bytes())
    scrubber.save(file)
    for call, error, words in (
        (lambda: Scrubber.load(state), ValueError, "state: this is the state of a fit"),
        (lambda: Scrubber.from_bytes(file.read_bytes()), ValueError, "is read by Scrubber.load"),
        (lambda: scrubber.scrub(torch.nn.Linear(3, 3)), ValueError, "Linear, has no layer 'model"),
        (lambda: scrubber.fold(torch.nn.Linear(3, 3)), ValueError, "Linear, has no layer 'model"),
        (lambda: scrubber.resume(model, batches, concept="group"), TypeError, "keyword 'concept'"),
        (lambda: scrubber.fold(model, batches[0], concept="group"), TypeError, "some of concepts"),
    ):
        with pytest.raises(error, match=words):
            call()
    narrow = copy.deepcopy(model)
    narrow.model.layers[0] = torch.nn.Linear(32, 16)
    with (
        pytest.raises(ValueError, match="has width 16, but was fitted with 32"),
        scrubber.scrub(narrow),
    ):
        narrow.model.layers[0](torch.zeros(1, 32))
