"""The audit against attackers of scikit-learn's: its probes are as strong, and its interval holds."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sarl import SARL, Eraser, audit


def digits():
    """Half of scikit-learn's digits to learn from, the others to be tested on."""
    data = load_digits()
    order = np.random.default_rng(1).permutation(len(data.target))
    x, y = data.data[order], data.target[order]
    return x[:898], y[:898], x[898:], y[898:]


def embeddings(columns=50):
    """Directions of falling spread, and a group that is a smooth function of some of them."""
    fixed = np.random.default_rng(5)
    mix = fixed.normal(size=(columns, columns)) / np.sqrt(columns) * np.linspace(2, 0.2, columns)
    waves = fixed.normal(size=(columns, 20)) / np.sqrt(columns)
    heights = fixed.normal(size=20)

    def draw(rows, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(rows, columns)) @ mix
        f = np.cos(1.5 * x @ waves + np.arange(20)) @ heights
        return x, (f + rng.normal(size=rows) > -0.15).astype(int)

    return *draw(1000, 1), *draw(4000, 2)


def encoded(adult):
    """z of an encoder of Adult, of people whom it has not seen."""
    import pandas as pd

    table, income, sex = adult
    x, s = pd.get_dummies(table).to_numpy(float), (sex == "Female").to_numpy(int)
    # Income is kept, and a little of sex with it.
    encoder = SARL(trade_off=0.3).fit(x[:4000], income[:4000], sensitive_features=s[:4000])
    z = encoder.transform(x)
    return z[4000:5600], s[4000:5600], z[5600:], s[5600:]


def peers():
    """Seven support vector machines and three networks."""
    machines = [SVC(C=c, class_weight="balanced") for c in (0.3, 1, 3, 10, 100)]
    machines += [SVC(C=10, gamma=g, class_weight="balanced") for g in (0.005, 0.1)]
    widths = [(64,), (100,), (128, 128)]
    return machines + [MLPClassifier(w, max_iter=300, random_state=0) for w in widths]


@pytest.mark.parametrize("name", ["digits", "embeddings", "adult"])
def test_our_best_is_as_strong_as_the_best_of_scikit_learn(name, request):
    if name == "adult":
        x, s, fresh, truth = encoded(request.getfixturevalue("adult"))
    else:
        x, s, fresh, truth = {"digits": digits, "embeddings": embeddings}[name]()
    scale = StandardScaler().fit(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = [p.fit(scale.transform(x), s).predict(scale.transform(fresh)) for p in peers()]
    theirs = max(balanced_accuracy_score(truth, t) for t in told)
    found = audit(
        None, x, sensitive_features=s, X_test=fresh, sensitive_features_test=truth, seeds=2
    )
    ours = max(t["balanced_accuracy"] for t in found.sensitive["probes"])
    noise = 2 * np.sqrt(theirs * (1 - theirs) / len(truth))
    assert ours >= theirs - noise, f"{ours} {theirs} ± {noise}"
    assert found.sensitive["advantage"]["ci"][1] >= (theirs - 1 / len(set(s))) / (
        1 - 1 / len(set(s))
    )


def population(rows, columns, mix, rng):
    s = rng.integers(0, 2, rows)
    x = rng.normal(size=(rows, columns)) @ mix
    x[:, :3] += s[:, None]
    return x, s


def advantage(truth, scores):
    by_rate = 2 * balanced_accuracy_score(truth, scores > 0) - 1
    return max(by_rate, 2 * roc_auc_score(truth, scores) - 1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("rows", "columns"), [(1000, 300), (300, 50), (600, 100), (3000, 20)])
def test_an_attacker_with_rows_of_its_own_finds_no_more_than_the_interval(rows, columns):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        mix = np.eye(columns) + 0.3 * rng.normal(size=(columns, columns)) / np.sqrt(columns)
        x, s = population(rows, columns, mix, rng)
        eraser = Eraser().fit(x, sensitive_features=s)
        own, known = population(rows, columns, mix, rng)
        fresh, truth = population(8000, columns, mix, rng)
        z, test = eraser.transform(own), eraser.transform(fresh)
        ones = np.ones((len(z), 1)), np.ones((len(test), 1))
        weights = np.linalg.lstsq(np.hstack([z, ones[0]]), 2.0 * known - 1, rcond=None)[0]
        logistic = LogisticRegression(C=0.1, max_iter=500).fit(z, known)
        found = max(
            advantage(truth, np.hstack([test, ones[1]]) @ weights),
            advantage(truth, logistic.decision_function(test)),
        )
        told = audit(eraser, x, sensitive_features=s, control=False, seeds=1).sensitive["advantage"]
        noise = 2 / np.sqrt(len(truth))
        assert found <= told["ci"][1] + noise, f"{seed}: {found} {told}"


def test_a_rare_group_is_not_a_guess():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 4))
    s = (rng.random(20_000) < 0.002).astype(int)
    x[:, 0] += 2.4 * s
    found = audit(None, x, sensitive_features=s, probes=["linear", "logistic"], seeds=1)
    assert found.sensitive["best"]["accuracy"] <= found.sensitive["majority"] + 1e-3
    worst = found.sensitive["advantage"]
    assert worst["value"] > 0.7 and worst["ci"][0] > 0.3
    assert "chance" not in repr(found)
