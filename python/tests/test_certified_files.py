"""CertifiedSARL: files, copies, pipelines and kinds of rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from test_certified import People

import sarl
from sarl import SARL, CertifiedSARL, KernelSARL


@pytest.fixture(scope="module")
def people():
    return People()


@pytest.fixture(scope="module")
def fresh():
    return People(12_000, seed=1)


@pytest.fixture(scope="module")
def fitted(people):
    return CertifiedSARL(0.2).fit(people.X, people.y, sensitive_features=people.s)


def test_files_and_copies(fitted, fresh, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    for again in (sarl.load(path), CertifiedSARL.load(path), pickle.loads(pickle.dumps(fitted))):
        assert type(again) is CertifiedSARL and again.get_params() == fitted.get_params()
        assert again.certificate_ == fitted.certificate_
        np.testing.assert_array_equal(again.transform(fresh.X), fitted.transform(fresh.X))
        np.testing.assert_array_equal(again.cell(fresh.X), fitted.cell(fresh.X))
        assert again.certify(fresh.X, fresh.s) == fitted.certify(fresh.X, fresh.s)
        again.save(tmp_path / "again.safetensors")
        assert sarl.load(tmp_path / "again.safetensors").certificate_ == fitted.certificate_
    assert clone(fitted).get_params() == fitted.get_params()


def test_nothing_goes_around_the_cells(fitted, fresh, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    for cls in (SARL, KernelSARL, sarl.Eraser):
        with pytest.raises(
            ValueError, match=f"holds a model of CertifiedSARL, not of {cls.__name__}"
        ):
            cls.load(path)
    SARL().fit(fresh.X, fresh.y, sensitive_features=fresh.s).save(path)
    with pytest.raises(ValueError, match="holds a model of SARL, not of CertifiedSARL"):
        CertifiedSARL.load(path)
    for name in ("retune", "front_", "partial_fit", "fit_moments", "moments_", "components_"):
        assert not hasattr(fitted, name)
    model = fitted._fitted().model
    for call in (
        lambda: model.retune("max_leakage", 0.1),
        lambda: model.erase(fresh.X),
        model.erasure_parts,
    ):
        with pytest.raises(ValueError, match="cells with a guarantee, never z itself"):
            call()
    np.testing.assert_array_equal(model.encode(fresh.X, []), fitted.transform(fresh.X))


def test_tensors_have_no_gradient(fitted, fresh):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(fresh.X[:50]).requires_grad_()
    with pytest.warns(UserWarning, match="no gradient"):
        z = fitted.transform(x)
    np.testing.assert_array_equal(z.numpy(), fitted.transform(fresh.X[:50]))
    np.testing.assert_array_equal(fitted.cell(x), fitted.cell(fresh.X[:50]))


@pytest.mark.parametrize("routing", [False, True])
def test_in_a_pipeline(people, fresh, routing):
    steps = [
        ("scale", StandardScaler()),
        ("sarl", CertifiedSARL(0.2)),
        ("tree", DecisionTreeClassifier()),
    ]
    with sklearn.config_context(enable_metadata_routing=routing):
        name = "sensitive_features" if routing else "sarl__sensitive_features"
        pipe = Pipeline(steps).fit(people.X, people.y, **{name: people.s})
        score = pipe.score(fresh.X, fresh.y)
    assert score == pytest.approx(pipe[1].certificate_.targets["y"].score, abs=0.03)


def test_tables_and_sensitive_columns(people, fresh):
    with_s = people.table.assign(sex=people.both["sex"])
    encoder = CertifiedSARL(0.3, sensitive="sex").fit(with_s, people.y)
    passed = CertifiedSARL(0.3).fit(people.table, people.y, sensitive_features=people.both["sex"])
    z = encoder.transform(with_s)
    assert isinstance(z, pd.DataFrame) and list(z) == list(encoder.get_feature_names_out())
    np.testing.assert_array_equal(z.to_numpy(), passed.transform(people.table).to_numpy())
    assert list(encoder.feature_names_in_) == [*"abcde", "work", "sex"]
    other = fresh.table.assign(sex=fresh.both["sex"])
    assert encoder.certify(other) == passed.certify(fresh.table, fresh.both["sex"])


def test_sparse_rows_are_the_same(people, fitted):
    from scipy import sparse

    X = sparse.csr_matrix(people.X)
    other = CertifiedSARL(0.2).fit(X, people.y, sensitive_features=people.s)
    assert other.certificate_ == fitted.certificate_
    np.testing.assert_array_equal(other.cell(X), fitted.cell(people.X))
    strided = np.asfortranarray(people.X)
    other = CertifiedSARL(0.2).fit(strided, people.y, sensitive_features=people.s)
    assert other.certificate_ == fitted.certificate_
