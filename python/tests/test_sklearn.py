"""The estimators among scikit-learn's own."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sarl import SARL, CertifiedSARL, Eraser, KernelSARL

# scikit-learn's checks call fit(X, y): they cannot pass required metadata. Told by a parameter
# which column is sensitive, the estimators pass all of them, and none is excluded. A ridge that is
# chosen on folds of rows would tell a row of weight 2 from two rows.
CHECKED = [
    SARL(sensitive=0, ridge=0.0),
    KernelSARL(sensitive=0, ridge=0.0),
    Eraser(sensitive=0),
    # Of the 4 to 30 rows that choose cells there, any cut of one column says something of numbers.
    CertifiedSARL(
        1.0,
        sensitive=0,
        sensitive_type="class",
        target_type="number",
        n_components=1,
    ),
]
ALL = [
    SARL(max_leakage=0.02),
    KernelSARL(max_leakage=0.02, landmarks=40, ridge=0.0),
    Eraser(leakage=0.02),
]


@parametrize_with_checks(CHECKED)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_sensitive_features_are_required(estimator, rows):
    with pytest.raises(ValueError, match="needs to know what to hide"):
        clone(estimator).fit(rows.X, rows.y)


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_clone_and_pickle(estimator, rows):
    fitted = clone(estimator).fit(rows.X, rows.y, sensitive_features=rows.s)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(fitted.transform(rows.X), again.transform(rows.X))
    np.testing.assert_array_equal(np.asarray(fitted.front_), np.asarray(again.front_))
    assert again.get_params() == clone(fitted).get_params() == estimator.get_params()
    assert again.heldout_ == fitted.heldout_ and again.attributes_ == fitted.attributes_
    more = again.partial_fit(rows.X, rows.y, sensitive_features=rows.s)
    np.testing.assert_allclose(more.transform(rows.X), fitted.transform(rows.X), atol=1e-9)


def test_a_pickle_of_a_full_erasure_has_its_figures(rows):
    fitted = Eraser().fit(rows.X, sensitive_features=rows.s)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.heldout_ == fitted.heldout_ is not None
    assert again.attributes_ == fitted.attributes_
    np.testing.assert_array_equal(fitted.transform(rows.X), again.transform(rows.X))


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_passes_them_on(rows, routing):
    steps = [
        ("scale", StandardScaler()),
        ("sarl", SARL(max_leakage=0.0)),
        ("lr", LogisticRegression()),
    ]
    with sklearn.config_context(enable_metadata_routing=routing):
        pipe = Pipeline(steps)
        name = "sensitive_features" if routing else "sarl__sensitive_features"
        pipe.fit(rows.X, rows.y, **{name: rows.s})
        told = pipe.predict(rows.X)
    # The control: what is hidden can be told from X, and not from what the pipeline makes of it.
    z = pipe[:-1].transform(rows.X)
    raw = LogisticRegression().fit(rows.X, rows.s).score(rows.X, rows.s)
    assert raw > 0.75 > 0.6 > LogisticRegression().fit(z, rows.s).score(z, rows.s)
    assert (told == rows.y).mean() > 0.6


def test_a_search_over_leakages(rows):
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(SARL(), LogisticRegression())
        search = GridSearchCV(pipe, {"sarl__max_leakage": [0.0, 0.05, 0.3]}, cv=3)
        search.fit(rows.X, rows.y, sensitive_features=rows.s)
        scores = search.cv_results_["mean_test_score"]
        assert scores[2] > scores[0], "more leakage, more utility"
        with pytest.raises(TypeError):
            search.fit(rows.X, rows.y, sensitive=rows.s)
        folds = cross_val_score(pipe, rows.X, rows.y, params={"sensitive_features": rows.s}, cv=3)
        assert len(folds) == 3
    assert search.best_estimator_[0].max_leakage == 0.3


def test_in_a_column_transformer(rows):
    table = pd.DataFrame(rows.X, columns=list("abcdef")).assign(g=np.where(rows.s, "u", "v"))
    with sklearn.config_context(enable_metadata_routing=True):
        parts = ColumnTransformer(
            [("sarl", SARL(max_leakage=0.01), list("abcdef")), ("hot", OneHotEncoder(), ["g"])]
        )
        both = parts.fit_transform(table, rows.y, sensitive_features=rows.s)
    assert both.shape == (len(rows.y), 3)
    assert list(parts.get_feature_names_out()) == ["sarl__sarl0", "hot__g_u", "hot__g_v"]


def test_metadata_is_requested_by_default():
    with sklearn.config_context(enable_metadata_routing=True):
        for estimator in ALL:
            request = estimator.get_metadata_routing().fit.requests
            assert request["sensitive_features"] is True
            assert request["sample_weight"] is None
            other = clone(estimator).set_fit_request(sensitive_features="group", sample_weight=True)
            assert other.get_metadata_routing().fit.requests["sensitive_features"] == "group"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(rows, library):
    encoder = SARL(max_leakage=0.1).fit(rows.X, rows.y, sensitive_features=rows.s)
    z = encoder.transform(rows.X)
    table = encoder.set_output(transform=library).transform(rows.X)
    assert list(table.columns) == list(encoder.get_feature_names_out()) == ["sarl0"]
    np.testing.assert_array_equal(table.to_numpy(), z)


def test_names_of_features(rows):
    table = pd.DataFrame(rows.X, columns=list("abcdef"))
    encoder = Eraser().fit(table, sensitive_features=rows.s)
    assert (
        list(encoder.feature_names_in_) == list("abcdef") == list(encoder.get_feature_names_out())
    )
    with pytest.raises(ValueError, match="feature names should match"):
        encoder.transform(table[list("fabcde")])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        encoder.transform(rows.X)
