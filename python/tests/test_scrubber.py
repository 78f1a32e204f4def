"""Concepts erased inside of networks."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import networks
from sarl import Eraser
from sarl.torch import Layer, Scrubber

LAYERS = ["model.embed_tokens", "model.layers.0", "model.layers.1"]
CONCEPTS = {"concepts": "group"}


@pytest.fixture(scope="module")
def model():
    return networks.trained()


@pytest.fixture(scope="module")
def rows():
    return networks.sentences(600)


@pytest.fixture(scope="module")
def batches(rows):
    return networks.batches(rows, 100)


@pytest.fixture(scope="module")
def scrubber(model, batches):
    return Scrubber(LAYERS).fit(model, batches, **CONCEPTS)


def random_erasure(scrubber: Scrubber) -> Scrubber:
    """The control: as many random directions as were erased, taken off around the mean."""
    rng = np.random.default_rng(0)
    new = copy.copy(scrubber)
    new._done = {}
    for name, layer in scrubber.layers_.items():
        axes = np.linalg.qr(rng.normal(size=(layer.width, layer.directions)))[0].T
        new._done[name] = Layer(name, layer.at, layer.rows, {}, layer.mean, axes, axes)
    return new


def explained(x: np.ndarray, s: np.ndarray, rounding: float = 1e-5) -> float:
    """The share of the variance of s that least squares explains.

    The direction that was erased is left with rounding, which is no noise but a function of the row:
    directions as small as that are left out.
    """
    x, s = x - x.mean(axis=0), s - s.mean()
    fitted = x @ np.linalg.lstsq(x, s, rcond=rounding)[0]
    return float(fitted @ fitted / (s @ s))


def accuracy(x: np.ndarray, s: np.ndarray) -> float:
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-9)
    return float(LogisticRegression(C=1.0, max_iter=500).fit(x, s).score(x, s))


def probes(model, rows, probe):
    s = networks.labels(rows)
    return {name: probe(x, s) for name, x in networks.activations(model, LAYERS, rows).items()}


def test_probes_learn_nothing_after_scrubbing(model, scrubber, rows):
    """Linear probes on the training rows, at every layer; a random erasure is the control."""
    majority = 1 - networks.labels(rows).mean()
    before = probes(model, rows, explained)
    with scrubber.scrub(model):
        after, guessed = probes(model, rows, explained), probes(model, rows, accuracy)
    with random_erasure(scrubber).scrub(model):
        control = probes(model, rows, explained)
    assert list(scrubber.layers_) == LAYERS
    for name in LAYERS:
        assert before[name] > 0.15 and control[name] > 0.15, (name, before, control)
        assert after[name] < 1e-9, (name, after)
        assert guessed[name] == pytest.approx(majority, abs=1e-12)
    assert probes(model, rows, explained) == before, "the hooks are gone"


def pronouns_right(model, rows) -> float:
    """The share of pronouns that are likelier than the other one where they come."""
    pronoun = torch.isin(rows["input_ids"], torch.tensor(networks.PRONOUNS))[:, 1:]
    logits = model(rows["input_ids"], attention_mask=rows["attention_mask"]).logits
    two = logits[:, :-1][:, :, list(networks.PRONOUNS)].argmax(-1)
    return float((two == rows["group"][:, None])[pronoun].float().mean())


def test_the_concept_was_used(model, scrubber):
    """Without it the model predicts worse, and a random erasure of the same rank harms less.

    A label for a whole sentence hides the group on average over positions. How many pronouns the
    model then gets wrong is not promised.
    """
    fresh = networks.sentences(400, seed=5)
    loss = networks.loss_of(model, fresh).item()
    assert pronouns_right(model, fresh) > 0.95
    with scrubber.scrub(model):
        scrubbed = networks.loss_of(model, fresh).item()
    with random_erasure(scrubber).scrub(model):
        control = networks.loss_of(model, fresh).item()
    assert scrubbed - loss > abs(control - loss)


def test_labels_of_positions_hide_it_at_each(model, rows):
    """No linear probe at any layer and position finds the group, and pronouns are guessed."""
    double, layers = copy.deepcopy(model).double(), LAYERS[1:]
    keep = rows["attention_mask"].bool()
    inputs = {k: rows[k] for k in ("input_ids", "attention_mask")}
    given = [(inputs, networks.at_positions(rows))]
    scrubber = Scrubber(layers, folds=1).fit(double, given)
    group, place = networks.labels(rows), keep.nonzero()[:, 1].numpy()
    before = networks.activations(double, layers, rows)
    with scrubber.scrub(double):
        after = networks.activations(double, layers, rows)
    for name in layers:
        for k in range(networks.LENGTH):
            at = place == k
            majority = max(group[at].mean(), 1 - group[at].mean())
            assert explained(before[name][at], group[at]) > 0.1
            assert explained(after[name][at], group[at]) < 1e-9, (name, k)
            assert accuracy(after[name][at], group[at]) == pytest.approx(majority, abs=1e-12)
    fresh = networks.sentences(2000, seed=5)
    majority = 1 - fresh["group"].double().mean().item()
    with scrubber.scrub(double):
        guessed = pronouns_right(double, fresh)
    assert guessed <= majority + 3 * np.sqrt(majority * (1 - majority) / 2000)


def test_double_precision_is_exact(model, rows, batches):
    """No share is left that is above the rounding of double precision."""
    double = copy.deepcopy(model).double()
    scrubber = Scrubber(LAYERS, folds=1).fit(double, batches, **CONCEPTS)
    s = networks.labels(rows)
    with scrubber.scrub(double):
        for x in networks.activations(double, LAYERS, rows).values():
            gap = x[s == 1].mean(axis=0) - x[s == 0].mean(axis=0)
            assert np.abs(gap).max() < 1e-12 * np.abs(x).max()
            assert explained(x, s) < 1e-20


def test_generation_with_a_cache_is_that_without(model, scrubber, rows):
    prompt = {"input_ids": rows["input_ids"][:8, :4], "attention_mask": torch.ones(8, 4).long()}
    options = {"max_new_tokens": 6, "do_sample": False, "output_scores": True}
    options["return_dict_in_generate"] = True
    plain = model.generate(**prompt, **options)
    with scrubber.scrub(model):
        cached = model.generate(**prompt, **options, use_cache=True)
        without = model.generate(**prompt, **options, use_cache=False)
    assert torch.equal(cached.sequences, without.sequences)
    for a, b in zip(cached.scores, without.scores, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)
    apart = [(a - b).abs().max() for a, b in zip(plain.scores, cached.scores, strict=True)]
    assert max(apart) > 1e-2, "the control: without scrubbing other words are likely"


def test_compiled_and_exported_models(model, scrubber, rows):
    """A scrubbed model gives the same when it is compiled or exported."""
    few = {k: rows[k][:8] for k in ("input_ids", "attention_mask")}
    options = {"use_cache": False}
    with scrubber.scrub(model), torch.no_grad():
        eager = model(**few, **options).logits
        compiled = torch.compile(model, backend="aot_eager")(**few, **options).logits
        exported = torch.export.export(model, (), {**few, **options}).module()
    torch.testing.assert_close(compiled, eager, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(exported(**few, **options).logits, eager, atol=1e-5, rtol=1e-5)
    with torch.no_grad():
        assert (model(**few, **options).logits - eager).abs().max() > 1e-2, "the control"


@pytest.mark.parametrize("order", ["parallel", "sequential"])
def test_each_layer_is_an_eraser_of_its_rows(model, rows, batches, order):
    found = Scrubber(LAYERS, order=order, max_leakage=0.02, folds=1).fit(model, batches, **CONCEPTS)
    s = networks.labels(rows)
    for place, name in enumerate(LAYERS):
        hooks = found.scrub(model, only=[] if order == "parallel" else LAYERS[:place])
        with hooks:
            x = networks.activations(model, LAYERS, rows)[name]
        expected = Eraser(leakage=0.02, folds=1).fit(x, sensitive_features=s)
        layer = found.layers_[name]
        np.testing.assert_allclose(
            layer.to_torch(dtype=torch.float64)(torch.from_numpy(x)).numpy(),
            expected.transform(x),
            atol=1e-6,
        )
        assert layer.concepts["group"]["leakage"] == pytest.approx(0.02, abs=1e-9)
        assert layer.concepts["group"]["limit"] == 0.02
        assert layer.concepts["group"]["heldout"] is None and layer.rows == len(s)


def test_the_approximate_order_is_near(model, rows):
    """One pass; what is left is far below what was there, and not exactly zero."""
    many = networks.sentences(3000, seed=2)
    found = Scrubber(LAYERS, order="sequential-approximate", folds=1)
    found.fit(model, iter(networks.batches(many, 100)), **CONCEPTS)
    before = probes(model, many, explained)
    with found.scrub(model):
        after = probes(model, many, explained)
    for name in LAYERS[1:]:
        assert after[name] < 0.1 * before[name], (before, after)


def test_concepts_of_positions_limits_and_weights(model, rows):
    """Several concepts, one for each position, with limits of their own; -100 is no label."""
    tokens = rows["input_ids"]
    is_word = torch.isin(tokens, torch.tensor(list(networks.WORDS)))
    kind = torch.where(torch.rand(tokens.shape) < 0.1, -100, is_word.long())
    weight = torch.rand(len(tokens)) + 0.5
    inputs = {k: rows[k] for k in ("input_ids", "attention_mask")}
    labels = {"group": rows["group"], "kind": kind}
    given = [
        ({k: v[i : i + 150] for k, v in inputs.items()},
         {k: v[i : i + 150] for k, v in labels.items()}, weight[i : i + 150])
        for i in range(0, 600, 150)
    ]  # fmt: skip
    limits = {"group": 0.0, "kind": 0.3}
    name = "model.layers.0"
    layer = Scrubber(name, max_leakage=limits, folds=1).fit(model, given).layers_[name]
    keep = rows["attention_mask"].bool() & (kind != -100)
    x = networks.activations(model, [name], {**inputs, "attention_mask": rows["attention_mask"]})
    x = x[name][(kind != -100)[rows["attention_mask"].bool()].numpy()]
    import pandas as pd

    spread = lambda v: v[:, None].expand(keep.shape)[keep].numpy()
    hidden = pd.DataFrame({"group": spread(rows["group"]), "kind": kind[keep].numpy()})
    eraser = Eraser(leakage=limits, folds=1)
    eraser.fit(x, sensitive_features=hidden, sample_weight=spread(weight))
    np.testing.assert_allclose(
        layer.found.T @ layer.taken, eraser._erasure()[1].T @ eraser._erasure()[2], atol=1e-6
    )
    assert layer.rows == int(keep.sum())
    assert layer.concepts["group"]["leakage"] < 1e-9
    assert layer.concepts["kind"]["leakage"] <= 0.3 + 1e-9


class Interrupted(list):
    """Batches that somebody interrupts once."""

    def __init__(self, batches, at):
        super().__init__(batches)
        self.left = at

    def __iter__(self):
        for batch in super().__iter__():
            if self.left == 0:
                self.left = -1
                raise KeyboardInterrupt
            self.left -= 1
            yield batch


@pytest.mark.parametrize(
    ("order", "at"), [("sequential", 3), ("sequential", 10), ("sequential", 18), ("parallel", 3)]
)
def test_a_fit_goes_on_after_an_interrupt(model, batches, order, at, tmp_path):
    path = tmp_path / "state"
    whole = Scrubber(LAYERS, order=order).fit(model, batches, **CONCEPTS)
    with pytest.raises(KeyboardInterrupt):
        Scrubber(LAYERS, order=order).fit(
            model, Interrupted(batches, at), checkpoint=path, **CONCEPTS
        )
    again = Scrubber.from_bytes(path.read_bytes())
    assert not again.is_finished
    again.resume(model, batches, **CONCEPTS)
    same(again, whole)


def same(ours: Scrubber, theirs: Scrubber, atol: float = 1e-10) -> None:
    assert list(ours.layers_) == list(theirs.layers_)
    for a, b in zip(ours.layers_.values(), theirs.layers_.values(), strict=True):
        assert (a.name, a.at, a.rows, list(a.concepts)) == (b.name, b.at, b.rows, list(b.concepts))
        np.testing.assert_allclose(a.mean, b.mean, atol=atol)
        np.testing.assert_allclose(a.found.T @ a.taken, b.found.T @ b.taken, atol=atol)
        for concept, figures in a.concepts.items():
            for name, figure in figures.items():
                assert figure == pytest.approx(b.concepts[concept][name], abs=atol)


def test_what_is_merged_is_that_of_all_rows(model, batches):
    double = copy.deepcopy(model).double()
    whole = Scrubber(LAYERS, order="parallel").fit(double, batches, **CONCEPTS)
    parts = []
    for k in range(3):
        part = Scrubber(LAYERS, order="parallel").collect(double, batches[k::3], **CONCEPTS)
        parts.append(part.to_bytes())
    first, *others = map(Scrubber.from_bytes, parts)
    for other in others:
        first.merge(other)
    same(first.solve(), whole)
    with pytest.raises(ValueError, match="their parameters differ"):
        first.merge(Scrubber(LAYERS, order="parallel", max_leakage=0.1))


def test_a_file(model, scrubber, rows, cli, tmp_path):
    path = tmp_path / "scrubber.safetensors"
    scrubber.save(path)
    again = Scrubber.load(path)
    same(again, scrubber, atol=0)
    told = cli("info", path)
    assert [layer["name"] for layer in told["layers"]] == LAYERS
    assert told["order"] == "sequential"
    for layer in told["layers"]:
        ours = scrubber.layers_[layer["name"]]
        assert (layer["width"], layer["directions"], layer["rows"]) == (32, 1, ours.rows)
        assert {"name": "group", **ours.concepts["group"]} == pytest.approx(layer["concepts"][0])
    from safetensors.numpy import load_file

    found = load_file(path)[f"{LAYERS[1]}/found"]
    np.testing.assert_array_equal(found.T, scrubber.layers_[LAYERS[1]].found)
    data = path.read_bytes()
    path.write_bytes(data[:-3] + b"abc")
    with pytest.raises(ValueError, match="scrubber.safetensors: .*damaged"):
        Scrubber.load(path)


def test_half_precision_models(model, scrubber, rows):
    """The erasure is that of the single-precision fit up to the rounding of the activations."""
    s = networks.labels(rows)
    half = copy.deepcopy(model).bfloat16()
    # Some processors say that they have instructions for these products, and do not.
    with torch.backends.mkldnn.flags(enabled=False):
        before = networks.activations(half, LAYERS, rows)
        with scrubber.scrub(half):
            after = networks.activations(half, LAYERS, rows)
    for name in LAYERS[:1]:
        gap = lambda x: np.abs(x[s == 1].mean(axis=0) - x[s == 0].mean(axis=0)).max()
        assert gap(after[name]) < 2**-8 * np.abs(after[name]).max()
    for name in LAYERS:
        before_, after_ = (explained(x[name], s, 2**-7) for x in (before, after))
        assert after_ < 0.05 * before_, (name, before_, after_)


def test_mistakes_are_told(model, batches):
    fit = lambda scrubber, given=batches, **options: scrubber.fit(model, given, **options)
    for scrubber, options, words in (
        (Scrubber("nothing.*"), CONCEPTS, "no module is called 'nothing.\\*'"),
        (Scrubber(LAYERS), {}, "the batch has no concepts"),
        (Scrubber(LAYERS), {"concepts": "gender"}, "the batch has no 'gender'"),
        (Scrubber(LAYERS), {**CONCEPTS, "given": iter(batches)}, "used up after one pass"),
        (Scrubber(LAYERS), {**CONCEPTS, "given": []}, "there are no batches"),
        (Scrubber("model.layers.0", order="parallel"), {**CONCEPTS, "given": []}, "no rows"),
    ):
        with pytest.raises(ValueError, match=words):
            fit(scrubber, **options)
    wrong = [{**batches[0], "group": torch.zeros(100, 7)}]
    with pytest.raises(ValueError, match="the concept 'group' has shape"):
        fit(Scrubber(LAYERS), wrong, **CONCEPTS)
    broken = copy.deepcopy(model)
    broken.model.norm.weight.data[3] = np.inf
    with pytest.raises(ValueError, match="layer 'model.norm': some activations are not finite"):
        Scrubber("model.norm").fit(broken, batches, **CONCEPTS)
    with pytest.raises(AttributeError, match="not fitted yet"):
        Scrubber(LAYERS).scrub(model)
