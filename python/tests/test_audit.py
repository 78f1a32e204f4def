"""The audit."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sarl import SARL, Audit, Eraser, audit
from sarl._core import probes

FEW = {"probes": ["linear", "logistic"], "seeds": 1}


@pytest.fixture(scope="module")
def encoder(rows):
    return SARL(max_leakage=0.0).fit(rows.X, rows.y, sensitive_features=rows.s)


def test_every_probe_before_and_after(encoder, rows):
    found = audit(encoder, rows.X, rows.y, sensitive_features=rows.s, seeds=2)
    assert isinstance(found, Audit) and (found.n_train, found.n_test, found.refitted) == (
        280,
        120,
        True,
    )
    table = found.to_pandas()
    assert set(table["probe"]) == {name for name, _ in probes()}
    hidden = table[table["role"] == "sensitive"]
    assert hidden["raw"].max() > 0.75, "the control: the probes do learn from the raw features"
    assert hidden["z"].max() < 0.7
    assert found.sensitive["best"]["accuracy"] == hidden["z"].max()
    assert (hidden["low"] <= hidden["z"]).all() and (hidden["z"] <= hidden["high"]).all()
    assert found.fairness is not None and 0 <= found.fairness["demographic_parity"] <= 1
    text = repr(found)
    assert "s (to hide), accuracy" in text and "equalized odds" in text
    assert found.to_dict()["control"] == found.control


def test_scores_are_those_of_scikit_learn(rows):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    train, test = slice(0, 250), slice(250, 400)
    found = audit(
        None,
        rows.X[train],
        sensitive_features=rows.s[train],
        X_test=rows.X[test],
        sensitive_features_test=rows.s[test],
        probes=["logistic"],
        seeds=1,
    )
    scale = StandardScaler().fit(rows.X[train])
    theirs = LogisticRegression(C=1e6).fit(scale.transform(rows.X[train]), rows.s[train])
    assert found.sensitive["best"]["accuracy"] == pytest.approx(
        theirs.score(scale.transform(rows.X[test]), rows.s[test]), abs=0.02
    )


def test_rows_of_their_own_to_be_tested_on(encoder, rows):
    found = audit(
        encoder,
        rows.X[:300],
        rows.y[:300],
        sensitive_features=rows.s[:300],
        X_test=rows.X[300:],
        y_test=rows.y[300:],
        sensitive_features_test=rows.s[300:],
        **FEW,
    )
    assert (found.n_train, found.n_test, found.refitted) == (300, 100, False)
    with pytest.raises(ValueError, match="X_test needs sensitive_features_test"):
        audit(encoder, rows.X, rows.y, sensitive_features=rows.s, X_test=rows.X, **FEW)


def test_any_encoder_and_any_table(rows):
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    pca = make_pipeline(PCA(2)).fit(rows.X)
    found = audit(pca, rows.X, rows.y, sensitive_features=rows.s, **FEW)
    assert not found.refitted
    table = pd.DataFrame(rows.X, columns=list("abcdef")).assign(g=np.where(rows.s, "u", "v"))
    encoder = SARL(max_leakage=0.0).fit(table, rows.y, sensitive_features=rows.s)
    labels = pl.DataFrame({"sex": np.where(rows.s, "f", "m"), "age": rows.number})
    found = audit(
        encoder,
        table,
        pd.Series(rows.y, name="income"),
        sensitive_features=pd.Series(rows.s, name="sex"),
        **FEW,
    )
    assert found.control["sensitive"]["best"]["accuracy"] == 1.0, "it is among the columns"
    assert found.target["attribute"] == "income"
    both = audit(
        Eraser().fit(rows.X, sensitive_features=labels), rows.X, sensitive_features=labels, **FEW
    )
    assert set(both.to_pandas()["attribute"]) == {"sex", "age"} and both.target is None
    kinds = {row["attribute"]: row["score"] for row in both.rows()}
    assert kinds == {"sex": "accuracy", "age": "r2"}


def test_fewer_rows_and_seeds(encoder, rows):
    found = audit(encoder, rows.X, rows.y, sensitive_features=rows.s, rows=100, **FEW)
    assert found.n_train + found.n_test == 100
    one, two = (
        audit(encoder, rows.X, rows.y, sensitive_features=rows.s, random_state=i, **FEW)
        for i in (0, 1)
    )
    assert one.rows() != two.rows()
    again = audit(
        encoder, rows.X, rows.y, sensitive_features=rows.s, random_state=0, n_jobs=1, **FEW
    )
    assert [r["z"] for r in again.rows()] == [r["z"] for r in one.rows()]
    alone = audit(encoder, rows.X, rows.y, sensitive_features=rows.s, control=False, **FEW)
    assert alone.control is None and np.isnan(alone.to_pandas()["raw"]).all()
