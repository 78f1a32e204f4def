"""The same metrics by fairlearn and scikit-learn: reads cases as JSON from stdin, answers on stdout."""

import json
import sys

import numpy as np
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score, roc_auc_score


def fairness(case):
    y, p, g = case["truth"], case["told"], case["groups"]
    frame = MetricFrame(
        metrics={
            "accuracy": accuracy_score,
            "selection_rate": selection_rate,
            "true_positive_rate": true_positive_rate,
            "false_positive_rate": false_positive_rate,
        },
        y_true=y,
        y_pred=p,
        sensitive_features=g,
    )
    return {
        "demographic_parity": demographic_parity_difference(y, p, sensitive_features=g),
        "equalized_odds": equalized_odds_difference(y, p, sensitive_features=g),
        "equal_opportunity": equal_opportunity_difference(y, p, sensitive_features=g),
        "by_group": {k: list(v) for k, v in frame.by_group.items()},
    }


def one_against_rest(case):
    """With more than two classes: the largest difference over each class against the rest."""
    worst = {}
    for c in sorted(set(case["truth"])):
        y = [int(v == c) for v in case["truth"]]
        p = [int(v == c) for v in case["told"]]
        for name, value in fairness({"truth": y, "told": p, "groups": case["groups"]}).items():
            if name != "by_group":
                worst[name] = max(worst.get(name, 0.0), value)
    return worst


def scores(case):
    y, s = np.array(case["truth"]), np.array(case["scores"])
    p = s.argmax(axis=1)
    if s.shape[1] == 2:
        auc = roc_auc_score(y, s[:, 1] - s[:, 0])
    else:
        auc = np.mean([roc_auc_score(y == c, s[:, c]) for c in range(s.shape[1])])
    return {
        "accuracy": accuracy_score(y, p),
        "balanced_accuracy": balanced_accuracy_score(y, p),
        "auc": auc,
    }


def logistic(case):
    x, fresh = np.array(case["x"]), np.array(case["fresh"])
    model = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(x, case["labels"])
    return {"scores": model.decision_function(fresh).tolist()}


ANSWERS = {
    "fairness": fairness,
    "one_against_rest": one_against_rest,
    "scores": scores,
    "r2": lambda case: {"r2": r2_score(case["truth"], case["told"])},
    "logistic": logistic,
}
json.dump([ANSWERS[case["kind"]](case) for case in json.load(sys.stdin)], sys.stdout)
