"""A limit for each of several labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sarl
from sarl import SARL, Eraser, KernelSARL


def r2(z, label) -> float:
    """The share of a label's variance that least squares on z explains."""
    number = pd.api.types.is_numeric_dtype(label)
    label = np.asarray(label) if number else pd.get_dummies(label).to_numpy(float)
    label = label.reshape(len(label), -1) - label.reshape(len(label), -1).mean(axis=0)
    z = np.asarray(z) - np.asarray(z).mean(axis=0)
    found = z @ np.linalg.lstsq(z, label, rcond=None)[0]
    return float(1 - ((label - found) ** 2).sum() / (label**2).sum())


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 9)) @ rng.normal(size=(9, 9))
    sex = np.where(x[:, 0] + 2 * rng.normal(size=600) > 0, "f", "m").astype(object)
    age = 40 + 12 * (x[:, 1] - x[:, 0]) + 5 * rng.normal(size=600)
    hidden = pd.DataFrame({"sex": sex, "age": age})
    y = pd.DataFrame(
        {
            "income": 1000 * (x[:, 2] + x[:, 1] + rng.normal(size=600)),
            "job": np.array(["a", "b", "c"], object)[np.digitize(x[:, 3] + x[:, 0], [-1, 1])],
        }
    )
    return x, y, hidden


@pytest.mark.parametrize("kind", [SARL, KernelSARL])
def test_one_limit_is_for_each(people, kind) -> None:
    x, y, hidden = people
    encoder = kind(max_leakage=0.02).fit(x, y, sensitive_features=hidden)
    z = encoder.transform(x)
    for name in ("sex", "age"):
        figures = encoder.attributes_["sensitive"][name]
        assert figures["leakage"] <= 0.02
        assert figures["limit"] == 0.02
        assert r2(z, hidden[name]) == pytest.approx(figures["leakage"], abs=1e-6)
        assert np.isfinite(figures["heldout"]["leakage"])
    assert encoder.leakage_ <= 0.02
    assert encoder.leakage_ == max(f["leakage"] for f in encoder.attributes_["sensitive"].values())


def test_names_have_limits_of_their_own(people) -> None:
    x, y, hidden = people
    limits = {"sex": 0.005, "age": 0.1}
    encoder = SARL(max_leakage=limits).fit(x, y, sensitive_features=hidden)
    z = encoder.transform(x)
    for name, limit in limits.items():
        assert encoder.attributes_["sensitive"][name]["leakage"] <= limit
        assert r2(z, hidden[name]) <= limit + 1e-9
    assert abs(encoder.gap_) < 1e-9
    only = encoder.retune(max_leakage={"sex": 0.001})
    assert only.attributes_["sensitive"]["age"]["limit"] is None
    assert only.attributes_["sensitive"]["sex"]["leakage"] <= 0.001
    assert only.get_params()["max_leakage"] == {"sex": 0.001}
    kept = encoder.retune(min_utility={"income": 0.9, "job": 0.4})
    for name, least in {"income": 0.9, "job": 0.4}.items():
        figures = kept.attributes_["target"][name]
        assert figures["utility"] >= least
        assert figures["utility"] == pytest.approx(r2(kept.transform(x), y[name]) / r2(x, y[name]))


def test_erasure_in_part_for_each(people) -> None:
    x, _, hidden = people
    limits = {"sex": 0.0, "age": 0.05}
    eraser = Eraser(leakage=limits).fit(x, sensitive_features=hidden)
    erased = eraser.transform(x)
    assert r2(erased, hidden["sex"]) < 1e-10
    assert r2(erased, hidden["age"]) <= 0.05 + 1e-8
    full = Eraser().fit(x, sensitive_features=hidden).transform(x)
    assert np.linalg.norm(erased - x) < np.linalg.norm(full - x)


def test_limits_are_met_in_floating_point(people) -> None:
    x, y, hidden = people
    encoder = SARL().fit(x, y["income"], sensitive_features=hidden["sex"])
    for limit in (0.0, 1e-9, 0.003, 0.1, 0.3):
        assert encoder.retune(max_leakage=limit).leakage_ <= limit
    for least in (0.1, 0.77, 0.95, 0.999999, 1.0):
        assert encoder.retune(min_utility=least).utility_ >= least


def test_files_keep_each_label(people, tmp_path) -> None:
    x, y, hidden = people
    encoder = SARL(max_leakage={"age": 0.01}).fit(x, y, sensitive_features=hidden)
    encoder.save(tmp_path / "m.safetensors")
    again = sarl.load(tmp_path / "m.safetensors")
    assert again.max_leakage == {"age": 0.01}
    assert again.attributes_ == encoder.attributes_
    assert again.heldout_ == encoder.heldout_


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"race": 0.1}, "there is no sensitive attribute `race`: expected `sex` or `age`"),
        ({"sex": 2.0}, 'max_leakage of "sex" is 2: expected 0 to 1 \\(2 % is 0.02\\)'),
        ({"sex": "x"}, "max_leakage of 'sex' is 'x': expected a number"),
        ({}, "max_leakage names nothing"),
    ],
)
def test_wrong_limits_are_named(people, limits, message) -> None:
    x, y, hidden = people
    with pytest.raises(ValueError, match=message):
        SARL(max_leakage=limits).fit(x, y, sensitive_features=hidden)
