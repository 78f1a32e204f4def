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
    assert isinstance(found, Audit) and found.refitted
    assert found.rows_used == {"encoder": 160, "probes": 120, "test": 120}
    assert (found.n_train, found.n_test) == (120, 120)
    table = found.to_pandas()
    again = {f"{name}, encoder's rows" for name in ("rbf", "trees")}
    assert set(table["probe"]) == {name for name, _ in probes()} | again
    hidden = table[table["role"] == "sensitive"]
    assert hidden["raw"].max() > 0.75, "the control: the probes do learn from the raw features"
    assert hidden["z"].max() < 0.75
    assert found.sensitive["best"]["accuracy"] == hidden["z"].max()
    assert (hidden["low"] <= hidden["z"]).all() and (hidden["z"] <= hidden["high"]).all()
    assert found.fairness is not None and 0 <= found.fairness["demographic_parity"] <= 1
    text = repr(found)
    assert "s (to hide), accuracy" in text and "equalized odds" in text
    assert [fair["attribute"] for fair in found.fairness_by] == ["s"]
    assert found.fairness == found.fairness_by[0]
    assert found.to_dict()["control"] == found.control
    worst = found.sensitive["advantage"]
    assert worst["ci"][0] <= worst["value"] <= worst["ci"][1]
    assert worst["value"] == pytest.approx(hidden["advantage"].max())
    assert "worst case: " in text and f"{worst['value']:.3f} over guessing s" in text


def test_fairness_is_beside_that_of_the_raw_features(encoder, rows):
    found = audit(encoder, rows.X, rows.y, sensitive_features=rows.s, **FEW)
    assert found.control is not None and found.fairness is not None
    raw = found.control["fairness"]
    table = found.fairness_rows()
    assert {row["measure"] for row in table} == {
        "demographic_parity",
        "equal_opportunity",
        "equalized_odds",
    }
    for row in table:
        assert row["raw"] == raw[row["measure"]]
        assert row["change"] == pytest.approx(row["z"] - row["raw"])
        assert 0 <= row["low"] <= row["z"] <= row["high"]
        assert row["change_low"] <= row["change"] <= row["change_high"]
        clear = (row["change_low"] > 0) - (row["change_high"] < 0)
        assert row["verdict"] == {1: "worse", -1: "better", 0: "no clear difference"}[clear]
        assert row["verdict"] in repr(found)
    assert found.to_dict()["fairness"]["change"] == found.fairness["change"]
    alone = audit(encoder, rows.X, rows.y, sensitive_features=rows.s, control=False, **FEW)
    assert alone.fairness is not None and "change" not in alone.fairness
    assert all(row["verdict"] is None for row in alone.fairness_rows())
    assert "demographic parity" in repr(alone)


def test_numbers_have_fairness_too(encoder, rows):
    ages = np.abs(rows.X[:, 0]) * 10
    found = audit(encoder, rows.X, rows.X[:, 1], sensitive_features=ages, **FEW)
    assert found.fairness is not None
    assert found.fairness["equal_opportunity"] is None
    names = [group["name"] for group in found.fairness["groups"]]
    assert len(names) == 5 and all(" to " in name for name in names)
    assert len(found.fairness_rows()) == 2


def test_scores_are_those_of_scikit_learn(rows):
    """With the same penalty to the last digit; few rows, so that another penalty would show."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import StandardScaler

    train, test = slice(0, 60), slice(60, 400)
    found = audit(
        None,
        rows.X[train],
        sensitive_features=rows.s[train],
        X_test=rows.X[test],
        sensitive_features_test=rows.s[test],
        probes=["logistic"],
        seeds=1,
    ).sensitive["best"]
    scale = StandardScaler().fit(rows.X[train])
    x, fresh = scale.transform(rows.X[train]), scale.transform(rows.X[test])

    def theirs(penalty):
        model = LogisticRegression(C=penalty, tol=1e-10, max_iter=10_000).fit(x, rows.s[train])
        auc = roc_auc_score(rows.s[test], model.decision_function(fresh))
        return model.score(fresh, rows.s[test]), auc

    ours = (found["accuracy"], found["auc"])
    assert ours == pytest.approx(theirs(1.0), abs=1e-9)
    assert abs(ours[0] - theirs(1e6)[0]) > 0.02 and abs(ours[1] - theirs(1e6)[1]) > 0.005


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
    assert (found.n_train, found.n_test, found.refitted) == (50, 50, False)
    assert found.rows_used["encoder"] is None
    fresh = audit(
        encoder,
        rows.X[:300],
        sensitive_features=rows.s[:300],
        X_test=rows.X[300:],
        sensitive_features_test=rows.s[300:],
        refit=False,
        **FEW,
    )
    assert (fresh.n_train, fresh.n_test) == (300, 100), "X is fresh too when the caller says so"
    with pytest.raises(ValueError, match="X_test needs sensitive_features_test"):
        audit(encoder, rows.X, rows.y, sensitive_features=rows.s, X_test=rows.X, **FEW)


def test_any_encoder_and_any_table(rows):
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    pca = make_pipeline(PCA(2)).fit(rows.X)
    found = audit(pca, rows.X, rows.y, sensitive_features=rows.s, **FEW)
    assert found.refitted, "pipelines are fitted anew"
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
    assert sum(found.rows_used.values()) == 100
    one, two = (
        audit(encoder, rows.X, rows.y, sensitive_features=rows.s, random_state=i, **FEW)
        for i in (0, 1)
    )
    assert one.rows() != two.rows()
    again = audit(
        encoder, rows.X, rows.y, sensitive_features=rows.s, random_state=0, n_jobs=1, **FEW
    )
    assert [r["z"] for r in again.rows()] == [r["z"] for r in one.rows()]
    nets = [
        audit(None, rows.X, sensitive_features=rows.s, probes=["net-64"], seeds=seeds).rows()
        for seeds in (1, 1, 2)
    ]
    assert nets[0] == nets[1] != nets[2], "the second seed is another network"
    alone = audit(encoder, rows.X, rows.y, sensitive_features=rows.s, control=False, **FEW)
    assert alone.control is None and np.isnan(alone.to_pandas()["raw"]).all()


def test_pipelines_and_foreign_encoders_are_fitted_anew(rows):
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipe = make_pipeline(StandardScaler(), SARL(max_leakage=0.0))
    pipe.fit(rows.X, rows.y, sarl__sensitive_features=rows.s)
    found = audit(pipe, rows.X, rows.y, sensitive_features=rows.s, **FEW)
    assert found.refitted and found.rows_used["encoder"] == 160
    assert "fitted anew on 160 rows" in repr(found)
    kept = audit(PCA(2).fit(rows.X), rows.X, sensitive_features=rows.s, refit=False, **FEW)
    assert (kept.refitted, kept.n_train, kept.n_test) == (False, 200, 200)

    class Frozen:
        def transform(self, X):
            return X[:, :2]

    with pytest.raises(ValueError, match="no method `fit` to be fitted anew; pass refit=False"):
        audit(Frozen(), rows.X, sensitive_features=rows.s, **FEW)


def test_raw_features_alone_are_called_raw(rows):
    found = audit(None, rows.X, sensitive_features=rows.s, **FEW)
    table = found.to_pandas()
    assert table["z"].isna().all() and (table["raw"] > 0.5).all()
    assert found.control["sensitive"] == found.sensitive
    assert repr(found).startswith("Audit: the raw features alone, probes learnt on 200 rows")


def test_estimators_are_probes(rows):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    train, test = slice(0, 250), slice(250, 400)
    names = np.where(rows.s, "f", "m")
    mine = LogisticRegression(C=0.1)
    found = audit(
        None,
        rows.X[train],
        sensitive_features=names[train],
        X_test=rows.X[test],
        sensitive_features_test=names[test],
        probes=["linear", mine, SVC(), RandomForestClassifier(20), LinearRegression()],
        seeds=2,
    )
    assert not hasattr(mine, "coef_"), "a clone was fitted"
    trials = {t["probe"]: t for t in found.sensitive["probes"]}
    assert set(trials) == {
        "linear",
        "LogisticRegression(C=0.1)",
        "SVC()",
        "RandomForestClassifier(n_estimators=20)",
    }, "a regressor has no classes"
    scale = StandardScaler().fit(rows.X[train])
    x, fresh = scale.transform(rows.X[train]), scale.transform(rows.X[test])
    theirs = LogisticRegression(C=0.1).fit(x, rows.s[train])
    trial = trials["LogisticRegression(C=0.1)"]
    assert trial["accuracy"] == pytest.approx(theirs.score(fresh, rows.s[test]))
    odds = theirs.decision_function(fresh) - np.log(
        np.mean(rows.s[train]) / np.mean(rows.s[train] == 0)
    )
    assert trial["balanced_accuracy"] == pytest.approx(
        balanced_accuracy_score(rows.s[test], odds > 0)
    )
    assert trial["auc"] == pytest.approx(
        roc_auc_score(rows.s[test], theirs.decision_function(fresh))
    )
    svc = SVC().fit(x, rows.s[train])
    assert trials["SVC()"]["accuracy"] == pytest.approx(svc.score(fresh, rows.s[test]))
    both = [LinearRegression(), LinearRegression()]
    found = audit(None, rows.X, sensitive_features=rows.number, probes=both, seeds=1)
    assert [t["probe"] for t in found.sensitive["probes"]] == [
        "LinearRegression()",
        "LinearRegression() (2)",
    ]
    for wrong in ([SVC], [3], "rbf", []):
        with pytest.raises(ValueError, match="probes"):
            audit(None, rows.X, sensitive_features=rows.s, probes=wrong)
