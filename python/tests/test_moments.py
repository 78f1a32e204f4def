"""Moments: streams, shards, bytes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sarl import SARL, Eraser, KernelSARL, Moments


def close(a, b):
    np.testing.assert_allclose(a, b, atol=1e-10)


def test_shards_in_any_order(rows):
    whole = SARL(max_leakage=0.05).fit(rows.X, rows.y, sensitive_features=rows.s)
    shards = [Moments().update(rows.X[i::4], rows.y[i::4], rows.s[i::4]) for i in range(4)]
    travelled = [pickle.loads(pickle.dumps(m)) for m in shards[:2]]
    travelled += [Moments.from_bytes(m.to_bytes()) for m in shards[2:]]
    forth = (
        Moments().merge(travelled[0]).merge(travelled[1]).merge(travelled[2]).merge(travelled[3])
    )
    back = (travelled[3] + travelled[2]) + (travelled[1] + travelled[0]) + Moments()
    for total in (forth, back):
        assert len(total) == len(rows.y)
        close(SARL(max_leakage=0.05).fit_moments(total).transform(rows.X), whole.transform(rows.X))
    assert len(travelled[0]) == 100, "a sum leaves its parts as they were"


def test_shards_that_met_other_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    s = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=600), [-0.6, 0.6])]
    y = np.digitize(X[:, 1] + X[:, 0] + rng.normal(size=600), [-1, 0, 1]) * 10
    order = np.argsort(s, kind="stable")
    parts = np.array_split(order, 5)
    assert [len(set(s[p])) for p in parts].count(1) >= 2, "some shards met one class only"
    total = Moments()
    for part in parts[::-1]:
        total += Moments().update(X[part], y[part], s[part])
    whole = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s)
    merged = SARL(max_leakage=0.01).fit_moments(total)
    close(merged.transform(X), whole.transform(X))
    stream = SARL(max_leakage=0.01)
    for part in parts:
        stream.partial_fit(X[part], y[part], sensitive_features=s[part])
    close(stream.transform(X), whole.transform(X))


@pytest.mark.parametrize(
    "estimator",
    [SARL(max_leakage=0.05), Eraser(leakage=0.05), Eraser(scale="standard", leakage=0.1)],
)
def test_a_stream_is_the_whole(estimator, rows):
    stream = type(estimator)(**estimator.get_params())
    for start in range(0, 400, 90):
        part = slice(start, start + 90)
        stream.partial_fit(
            rows.X[part],
            rows.y[part],
            sensitive_features=rows.s[part],
            sample_weight=rows.weights[part],
        )
        stream.transform(rows.X)
    estimator.fit(rows.X, rows.y, sensitive_features=rows.s, sample_weight=rows.weights)
    close(stream.transform(rows.X), estimator.transform(rows.X))
    assert stream.front_["heldout_jy"][0] == pytest.approx(estimator.front_["heldout_jy"][0])


@pytest.mark.parametrize("estimator", [SARL(max_leakage=0.05), Eraser()], ids=str)
def test_a_stream_may_begin_with_one_row(estimator, rows):
    whole = clone(estimator).fit(rows.X, rows.y, sensitive_features=rows.s)
    for part in (slice(0, 1), slice(1, 400)):
        estimator.partial_fit(rows.X[part], rows.y[part], sensitive_features=rows.s[part])
    close(estimator.transform(rows.X), whole.transform(rows.X))


def test_a_stream_with_a_kernel(rows):
    stream = KernelSARL(max_leakage=0.05, landmarks=50)
    stream.partial_fit(rows.X[:200], rows.y[:200], sensitive_features=rows.s[:200])
    stream = pickle.loads(pickle.dumps(stream))
    stream.partial_fit(rows.X[200:], rows.y[200:], sensitive_features=rows.s[200:])
    z = stream.transform(rows.X)
    assert abs(np.corrcoef(z[:, 0], rows.s)[0, 1]) ** 2 == pytest.approx(0.05, abs=1e-6)


def test_what_is_refused_changes_nothing(rows):
    moments = Moments().update(rows.X, rows.y, rows.s)
    before = moments.to_bytes()
    bad = rows.X.copy()
    bad[399, 5] = np.nan
    for X, y, s in [
        (bad, rows.y, rows.s),
        (rows.X, rows.y[:5], rows.s),
        (rows.X[:, :2], rows.y, rows.s),
        (rows.X, rows.number, rows.s),
        (rows.X, None, rows.s),
        (rows.X, rows.y, None),
        (rows.X, rows.y, np.where(rows.s, "u", "v")),
    ]:
        with pytest.raises(ValueError):
            moments.update(X, y, s)
        assert moments.to_bytes() == before
    encoder = SARL().fit(rows.X, rows.y, sensitive_features=rows.s)
    z = encoder.transform(rows.X)
    with pytest.raises(ValueError):
        encoder.partial_fit(bad, rows.y, sensitive_features=rows.s)
    np.testing.assert_array_equal(encoder.transform(rows.X), z)


def test_what_cannot_be_merged(rows):
    moments = Moments().update(rows.X, rows.y, rows.s)
    cases = [
        (Moments(folds=3).update(rows.X, rows.y, rows.s), "folds, seeds or precisions differ"),
        (Moments().update(rows.X[:, 1:], rows.y, rows.s), "their columns differ"),
        (Moments().update(rows.X, rows.number, rows.s), "their labels differ"),
        (Moments().update(rows.X, sensitive_features=rows.s), "their labels differ|zip"),
    ]
    for other, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            moments.merge(other)
    with pytest.raises(TypeError, match="not with int"):
        moments.merge(3)
    with pytest.raises(ValueError, match="damaged"):
        Moments.from_bytes(moments.to_bytes()[:-9])


def test_tables_with_text_in_a_stream(rows):
    table = pd.DataFrame(rows.X, columns=list("abcdef")).assign(
        g=np.where(rows.X[:, 0] > 3, "u", "v")
    )
    whole = SARL(max_leakage=0.05).fit(table, rows.y, sensitive_features=rows.s)
    moments = Moments().update(table[:100], rows.y[:100], rows.s[:100])
    moments = Moments.from_bytes(moments.to_bytes()).update(table[100:], rows.y[100:], rows.s[100:])
    encoder = SARL(max_leakage=0.05).fit_moments(moments)
    assert list(encoder.feature_names_in_) == [*"abcdef", "g"]
    close(encoder.transform(table), whole.transform(table))
    assert repr(moments) == "Moments(400 rows, 8 features, labels y, s)"


def test_erasure_from_moments(rows):
    moments = Moments().update(rows.X, sensitive_features=rows.s)
    erased = Eraser().fit(rows.X, sensitive_features=rows.s).transform(rows.X)
    close(Eraser().fit_moments(moments).transform(rows.X), erased)


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_one_encoder_does_not_change_another(cls, rows):
    first = cls(trade_off=0.5).fit(rows.X, rows.y, sensitive_features=rows.s)
    held, z = first.heldout_, first.transform(rows.X)
    other = first.retune(trade_off=0.4)
    other.partial_fit(rows.X[:50], rows.y[:50], sensitive_features=rows.s[:50])
    assert (len(other.moments_), len(first.moments_)) == (450, 400)
    if cls is not KernelSARL:
        first.moments_.merge(first.moments_)
    assert len(first.moments_) == 400 and first.heldout_ == held
    np.testing.assert_array_equal(first.transform(rows.X), z)


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_a_fit_that_fails_leaves_what_was_there(cls, rows):
    encoder = cls(trade_off=0.5).fit(rows.X, rows.y, sensitive_features=rows.s)
    held, z = encoder.heldout_, encoder.transform(rows.X)
    bad = rows.X.copy()
    bad[7, 2] = np.nan
    for X, s in ((bad, rows.s), (rows.X, np.zeros(400, int))):
        with pytest.raises(ValueError):
            encoder.fit(X, rows.y, sensitive_features=s)
        assert len(encoder.moments_) == 400 and encoder.heldout_ == held
        np.testing.assert_array_equal(encoder.transform(rows.X), z)
