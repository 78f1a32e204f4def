"""CertifiedSARL: each parameter changes the result, wrong values are refused, ONNX is the same."""

import numpy as np
import pandas as pd
import pytest
from test_certified import People

from conftest import real
from sarl import CertifiedSARL

BASE = {"max_advantage": 0.4, "landmarks": 40}


@pytest.fixture(scope="module")
def people():
    return People(4000)


def made(people, y=None, **params):
    y = people.y if y is None else y
    return CertifiedSARL(**{**BASE, **params}).fit(people.X, y, sensitive_features=people.s)


CHANGES = [
    ({}, {"max_advantage": 0.15}),
    ({}, {"max_advantage": None, "max_adversary_accuracy": 0.6}),
    ({}, {"confidence": 0.6}),
    ({"cell_utility": "variance"}, {"cells": 3}),
    ({}, {"cell_utility": "variance"}),
    ({}, {"kernel": "rbf"}),
    ({}, {"kernel": "laplacian"}),
    ({}, {"kernel": "polynomial"}),
    ({"kernel": "polynomial"}, {"degree": 2}),
    ({"kernel": "polynomial"}, {"coef0": 0.2}),
    ({"kernel": "rbf"}, {"gamma": 0.5}),
    ({"kernel": "rbf"}, {"approx": "random-features"}),
    ({"kernel": "rbf"}, {"sampling": "uniform"}),
    ({"kernel": "rbf"}, {"landmarks": 20}),
    ({"kernel": "rbf"}, {"tolerance": 0.3}),
    ({}, {"ridge": 5.0}),
    ({"ridge": 0.5}, {"scale": "none"}),
    ({"kernel": "rbf"}, {"folds": 1}),
    ({}, {"precision": "single"}),
    ({}, {"target_type": "number"}),
    ({}, {"random_state": 5}),
]


@pytest.mark.parametrize(("base", "changed"), CHANGES, ids=str)
def test_a_parameter_changes_what_comes_out(base, changed, people):
    if "scale" in changed:
        people = People(4000)
        people.X = people.X * np.logspace(-1, 1, 5)
    if "precision" in changed:
        people = People(4000)
        people.X = people.X.astype(np.float32)
    before, after = (made(people, **{**base, **more}) for more in ({}, changed))
    same = before.centres_.shape == after.centres_.shape and np.allclose(
        before.centres_, after.centres_, rtol=0, atol=1e-12
    )
    assert not same or before.certificate_ != after.certificate_


def test_n_components(people):
    y = people.three + 3 * people.y
    wide = made(people, y=y, max_advantage=0.8, cell_utility="variance")
    narrow = made(people, y=y, max_advantage=0.8, cell_utility="variance", n_components=1)
    assert wide.n_components_ > narrow.n_components_ == 1 == narrow.transform(people.X).shape[1]


def test_types_of_labels(people):
    ten = np.clip(np.round(3 * people.X[:, 0]), -4, 4)
    encoder = CertifiedSARL(0.9, sensitive_type="class").fit(
        people.X, people.y, sensitive_features=ten
    )
    assert encoder.certificate_.attributes["s"].groups == 9
    with pytest.raises(ValueError, match="s holds numbers: a guarantee against every adversary"):
        CertifiedSARL(0.9).fit(people.X, people.y, sensitive_features=ten)


def test_unseen_categories(people):
    encoder = CertifiedSARL(0.5).fit(people.table, people.y, sensitive_features=people.s)
    other = people.table.assign(work="none")
    for call in (encoder.transform, encoder.cell, lambda X: encoder.certify(X, people.s)):
        with pytest.raises(ValueError, match="column 'work' is 'none' in row 0 .* was not there"):
            call(other)
    encoder.set_params(unseen="ignore")
    assert len(encoder.cell(other)) == encoder.certify(other, people.s).rows.certify == 4000


def test_threads_do_not_change_the_result(people):
    one, two = made(people, n_jobs=1), made(people, n_jobs=2)
    assert one.certificate_ == two.certificate_
    np.testing.assert_allclose(one.centres_, two.centres_, atol=1e-12)


def test_a_bar_is_shown(people, capsys):
    made(people, verbose=1)
    shown = capsys.readouterr()
    assert "CertifiedSARL rows" in shown.err and "4.00k/4.00k" in shown.err
    made(people)
    assert capsys.readouterr() == ("", "")


def test_every_parameter_has_a_test():
    tested = {name for _, changed in CHANGES for name in changed} | {
        "n_components",
        "device",  # test_device.py
        "sensitive_type",
        "sensitive",
        "unseen",
        "n_jobs",
        "verbose",
    }
    assert set(CertifiedSARL().get_params()) <= tested


BAD = [
    ({"max_advantage": 1.5}, r"max_advantage is 1.5: expected 0 to 1 \(1.5 % is 0.015\)"),
    ({"max_advantage": {"s": -0.1}}, "max_advantage of 's' is -0.1: expected 0 to 1"),
    ({"max_advantage": {"sex": 0.1}}, "no sensitive attribute `sex`: expected `s`"),
    ({"max_advantage": {}}, "max_advantage names nothing"),
    ({"max_advantage": "much"}, "max_advantage is 'much': expected a number"),
    (
        {"max_adversary_accuracy": 0.7},
        "max_advantage=0.4 and max_adversary_accuracy=0.7 were given",
    ),
    ({"confidence": 1.0}, "confidence is 1.0: expected above 0, below 1"),
    ({"confidence": "sure"}, "confidence is 'sure': expected above 0, below 1"),
    ({"cells": 1}, "cells is 1: expected a whole number, 2 to 32"),
    ({"cells": 33}, "cells is 33: expected a whole number, 2 to 32"),
    ({"cells": 2.5}, "cells is 2.5: expected a whole number, 2 to 32"),
    ({"cell_utility": "most"}, "cell_utility is 'most': expected one of 'accuracy', 'variance'"),
    ({"kernel": "cosine"}, "kernel is 'cosine': expected one of 'linear', 'rbf'"),
    ({"approx": "exact"}, "approx and rows as landmarks are for kernels: kernel is 'linear'"),
    ({"gamma": 0}, "gamma is 0: expected a finite number above 0"),
    ({"ridge": -1}, "ridge is -1: expected a finite number"),
    ({"n_components": 0}, "n_components is 0: expected None"),
    ({"max_advantage": 0.001}, "can be certified to an advantage of 0.001: on so many rows the"),
]


@pytest.mark.parametrize(("params", "sentence"), BAD, ids=lambda v: str(v)[:40])
def test_bad_parameters(params, sentence, people):
    with pytest.raises(ValueError, match=sentence):
        made(people, **params)


def with_gap(X, row):
    X = X.copy()
    X[row, 2] = np.nan
    return X


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_bad_rows(kernel, people):
    encoder = CertifiedSARL(0.5, kernel=kernel, landmarks=20)
    labels = {"y": people.y, "sensitive_features": people.s}
    # Rows of each of the three parts are named as X has them.
    for row in (0, 1, 2, 3, 4, 5, 777, 3998):
        with pytest.raises(ValueError, match=f"X is NaN in row {row}, column 'x2'"):
            encoder.fit(with_gap(people.X, row), **labels)
    cases = [
        ({"y": None}, "requires y to be passed"),
        ({"sensitive_features": None}, "needs to know what to hide"),
        ({"sensitive_features": people.number}, "s holds numbers: a guarantee .* needs groups"),
        ({"sensitive_features": np.zeros(4000, int)}, "label `s` takes a single value"),
        ({"sensitive_features": people.s[:9]}, "X has 4000 rows, but s has 9"),
        ({"sample_weight": np.ones(4000)}, "holds for rows that count once; leave it out"),
    ]
    for changed, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            encoder.fit(people.X, **{**labels, **changed})
    with pytest.raises(TypeError, match="unexpected keyword argument 'sex'"):
        encoder.fit(people.X, **labels, sex=people.s)
    assert encoder.fit(people.X, **labels, sample_weight=None).cells_ >= 2


def test_bad_use_of_a_fitted_one(people):
    encoder = made(people)
    cases = [
        (
            lambda: encoder.cell(people.X[:, :3]),
            "X has 3 features, but CertifiedSARL is expecting 5",
        ),
        (lambda: encoder.cell(with_gap(people.X, 7)), "X is NaN in row 7, column 'x2'"),
        (lambda: encoder.certify(with_gap(people.X, 7), people.s), "X is NaN in row 7"),
        (lambda: encoder.certify(people.X, people.s + 1), "s is 2 in a row: it was not there"),
        (lambda: encoder.certify(people.X, people.both), "s has 2 columns, but 1 are expected"),
        (lambda: encoder.certify(people.X), "needs to know what to hide"),
        (lambda: encoder.certify(people.X, people.s, confidence=0), "confidence is 0: expected"),
        (lambda: encoder.certify(people.X[:0], people.s[:0]), "0 sample"),
        (lambda: encoder.certify(people.X, people.s[1:]), "X has 4000 rows, but s has 3999"),
    ]
    for call, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            call()


def test_very_few_rows_are_parted(people):
    few = slice(0, 10)
    encoder = CertifiedSARL(1.0, n_components=1, target_type="number", random_state=1)
    y, s = np.tile([0, 1], 5), np.tile([0, 1, 1, 0, 1], 2)
    encoder.fit(people.X[few], y, sensitive_features=s)
    assert sum(encoder.certificate_.rows) == 10 and min(encoder.certificate_.rows[:2]) >= 2
    with pytest.raises(ValueError, match="at least 2 are needed"):
        encoder.fit(people.X[:2], y[:2], sensitive_features=s[:2])


# -- ONNX --------------------------------------------------------------------------------------


def run(path, **inputs):
    ort = pytest.importorskip("onnxruntime")
    session = ort.InferenceSession(str(path))
    assert [o.name for o in session.get_outputs()] == ["z", "cell"]
    return session.run(None, inputs)


ONNX = [
    {"max_advantage": 0.2},
    {"max_advantage": 0.3, "kernel": "rbf", "landmarks": 80, "cell_utility": "variance"},
    {"max_advantage": 0.3, "cell_utility": "variance", "cells": 32},
]


@pytest.mark.parametrize("params", ONNX, ids=lambda p: str(len(p)))
def test_onnx_on_real_rows(params, tmp_path):
    onnx = pytest.importorskip("onnx")
    train, test = (np.load(real(f"adult/{part}.npz")) for part in ("train", "test"))
    # Education and income together give z more than one column.
    y = train["y"] + 2 * (train["X"][:, 0] > np.median(train["X"][:, 0]))
    encoder = CertifiedSARL(**params).fit(
        train["X"].astype(np.float64), y, sensitive_features=train["s"]
    )
    X, path = test["X"].astype(np.float32), tmp_path / "m.onnx"
    encoder.to_onnx(path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    z, cell = run(path, X=X)
    assert z.dtype == np.float32 and cell.dtype == np.int64 and cell.shape == (len(X),)
    ours = encoder.cell(X)
    assert len(set(ours)) > 1 and encoder.n_components_ > 1
    np.testing.assert_array_equal(cell, ours)
    np.testing.assert_allclose(z, encoder.centres_[cell], rtol=1e-6)
    encoder.to_onnx(path, double=True)
    z, cell = run(path, X=X.astype(np.float64))
    np.testing.assert_array_equal(cell, ours)
    np.testing.assert_array_equal(z, encoder.centres_[cell])
    bad = X[:3].astype(np.float64)
    bad[0, 0] = np.nan
    z, cell = run(path, X=bad)
    assert cell[0] == -1 and np.isnan(z[0]).all() and (cell[1:] == ours[1:3]).all()


def test_onnx_of_a_table(people, tmp_path):
    encoder = CertifiedSARL(0.4).fit(people.table, people.y, sensitive_features=people.s)
    path = tmp_path / "m.onnx"
    encoder.to_onnx(path, double=True)
    inputs = {
        name: people.table[[name]].to_numpy(str if name == "work" else np.float64)
        for name in people.table
    }
    inputs["work"] = people.table[["work"]].to_numpy(object)
    _, cell = run(path, **inputs)
    np.testing.assert_array_equal(cell, encoder.cell(people.table))
    named = people.table.rename(columns={"a": "cell"})
    encoder.fit(named, people.y, sensitive_features=people.s)
    with pytest.raises(ValueError, match="called `cell`, which is the name of the output"):
        encoder.to_onnx(path)


def test_a_row_on_a_cut_is_below_it(tmp_path):
    """Rows of few values lie on both sides of a cut, and the runtime agrees on each."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(3000, 2)).astype(float)
    s = rng.integers(0, 2, 3000)
    y = (X[:, 0] + 0.3 * rng.normal(size=3000) > 1.5).astype(int)
    encoder = CertifiedSARL(0.5).fit(X, y, sensitive_features=pd.Series(s, name="g"))
    encoder.to_onnx(tmp_path / "m.onnx")
    _, cell = run(tmp_path / "m.onnx", X=X.astype(np.float32))
    np.testing.assert_array_equal(cell, encoder.cell(X))
