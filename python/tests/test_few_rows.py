"""Erasure from few rows: what an adversary with rows of its own finds, and what helps."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from sarl import Eraser


def drawn(seed, rows, width=80):
    """Features of falling variance; what tells s lies along the directions of much variance."""
    rng = np.random.default_rng(seed)
    size = 1.0 / np.arange(1, width + 1)
    turn = np.linalg.qr(np.random.default_rng(99).normal(size=(width, width)))[0]
    along = np.random.default_rng(98).normal(size=width) * size**2
    along /= np.linalg.norm(along)
    g = rng.normal(size=(rows, width))
    s = 0.8 * g @ along + 0.6 * rng.normal(size=rows)
    return g * size @ turn, s


def found(eraser):
    """The share of s that an independent adversary with many rows of its own explains."""
    X, s = drawn(1, 20_000)
    test, truth = drawn(2, 20_000)
    adversary = RidgeCV(np.logspace(-6, 2, 9)).fit(eraser.transform(X), s)
    return adversary.score(eraser.transform(test), truth)


def test_a_ridge_hides_more_from_rows_of_its_own():
    X, s = drawn(0, 400)
    plain = Eraser().fit(X, sensitive_features=s)
    auto = Eraser(ridge="auto").fit(X, sensitive_features=s)
    assert plain.ridge_ == 0 < auto.ridge_
    # Nothing is left on the training rows.
    assert auto.leakage_ == plain.leakage_ == 0
    assert np.abs(np.corrcoef(auto.transform(X).T, s)[-1, :-1]).max() < 1e-10
    assert found(auto) < 0.8 * found(plain)
    assert auto.heldout_.leakage < plain.heldout_.leakage
    assert auto.utility_ < plain.utility_ and auto.gap_ > 0 == plain.gap_


def test_what_a_linear_adversary_finds_does_not_depend_on_shrinkage():
    torch = pytest.importorskip("torch")
    LeaceFitter = pytest.importorskip("concept_erasure").LeaceFitter
    X, s = drawn(0, 400)
    kept = []
    for shrinks in (False, True):
        fitter = LeaceFitter(X.shape[1], 1, shrinkage=shrinks, dtype=torch.float64)
        fitter.update(torch.from_numpy(X), torch.from_numpy(s))
        erased = fitter.eraser(torch.from_numpy(X)).numpy()
        # What is left of X as linear functions of it: the same space.
        kept.append(np.linalg.svd(np.linalg.lstsq(X - X.mean(0), erased, rcond=None)[0])[0][:, :-1])
    assert np.abs(kept[0] @ kept[0].T - kept[1] @ kept[1].T).max() < 1e-6


def test_it_is_kept_in_files_and_refused_elsewhere(tmp_path):
    X, s = drawn(0, 400)
    eraser = Eraser(ridge=0.1).fit(X, sensitive_features=s)
    eraser.save(tmp_path / "e.safetensors")
    again = Eraser.load(tmp_path / "e.safetensors")
    assert again.ridge == again.ridge_ == 0.1
    np.testing.assert_array_equal(again.transform(X), eraser.transform(X))
    for wrong in ({"leakage": 0.1}, {"min_utility": 0.9}):
        with pytest.raises(ValueError, match="ridge=0.1 is for a full erasure"):
            Eraser(ridge=0.1, **wrong).fit(X, sensitive_features=s)
    with pytest.raises(ValueError, match="ridge is -1: expected a finite number"):
        Eraser(ridge=-1).fit(X, sensitive_features=s)


def test_several_attributes_are_stored_as_what_goes(tmp_path):
    X, s = drawn(0, 2000)
    hidden = np.column_stack([s, X[:, 3] + 0.1 * s])
    eraser = Eraser().fit(X, sensitive_features=hidden)
    eraser.save(tmp_path / "e.safetensors")
    assert (tmp_path / "e.safetensors").stat().st_size < 25_000
    left = eraser.transform(X)
    assert np.abs(np.cov(left.T, hidden.T)[-2:, :-2]).max() < 1e-12
    assert all(figures["leakage"] == 0 for figures in eraser.attributes_["sensitive"].values())
