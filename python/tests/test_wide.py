"""Fewer rows than features, small erasers, and landmarks that are no rows of X."""

import pickle
import warnings

import numpy as np
import pytest

from sarl import SARL, Eraser, KernelSARL, Moments, load


def rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    s = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    y = (X[:, 1] + rng.normal(size=n) > 0).astype(int)
    return X, y, s


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_wide_fit_is_that_of_moments_that_were_added_up():
    X, y, s = rows(120, 600)
    wide = SARL(trade_off=0.5, ridge=0.1).fit(X, y, sensitive_features=s)
    halves = [Moments().update(X[i::2], y[i::2], s[i::2]) for i in range(2)]
    added = SARL(trade_off=0.5, ridge=0.1).fit_moments(halves[0].merge(halves[1]))
    assert wide.point_.jy == pytest.approx(added.point_.jy, rel=1e-9)
    assert np.abs(wide.transform(X) - added.transform(X)).max() < 1e-8
    again = pickle.loads(pickle.dumps(wide))
    assert np.array_equal(again.transform(X), wide.transform(X))


def test_a_full_erasure_is_small_and_still_retunes():
    X, _, s = rows(2000, 100)
    eraser = Eraser().fit(X, sensitive_features=s)
    assert len(pickle.dumps(eraser)) < 40_000
    partial = eraser.retune(max_leakage=0.1)
    assert 0 < partial.leakage_ <= 0.1
    assert len(eraser.front_) == 101


def test_a_file_of_a_full_erasure_says_what_it_lacks(tmp_path):
    X, _, s = rows(1000, 40)
    eraser = Eraser().fit(X, sensitive_features=s)
    eraser.save(tmp_path / "small")
    eraser.save(tmp_path / "whole", whole=True)
    small, whole = load(tmp_path / "small"), load(tmp_path / "whole")
    assert (tmp_path / "small").stat().st_size * 4 < (tmp_path / "whole").stat().st_size
    assert np.array_equal(small.transform(X), eraser.transform(X))
    assert np.abs(whole.transform(X) - eraser.transform(X)).max() < 1e-9
    assert small.heldout_ is not None
    with pytest.raises(ValueError, match="whole=True"):
        small.retune(max_leakage=0.1)
    assert whole.retune(max_leakage=0.1).leakage_ > 0


def test_a_stream_of_an_eraser_goes_on_after_a_pickle():
    X, _, s = rows(400, 10)
    stream = Eraser().partial_fit(X[:200], sensitive_features=s[:200])
    stream.transform(X)
    stream = pickle.loads(pickle.dumps(stream)).partial_fit(X[200:], sensitive_features=s[200:])
    at_once = Eraser().fit(X, sensitive_features=s)
    assert np.abs(stream.transform(X) - at_once.transform(X)).max() < 1e-9


def test_landmarks_come_from_rows_that_may_be_known():
    X, y, s = rows(300, 3)
    public = np.random.default_rng(9).normal(size=(50, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = KernelSARL(max_leakage=0.1, landmarks=public).fit(X, y, sensitive_features=s)
    assert encoder.components_.shape[1] <= 50
    assert encoder.transform(X).shape[0] == 300
    with pytest.raises(ValueError, match="landmarks has 2 columns"):
        KernelSARL(landmarks=public[:, :2]).fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="only approx='landmarks'"):
        KernelSARL(landmarks=public, approx="exact").fit(X, y, sensitive_features=s)
