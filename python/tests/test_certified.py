"""A guarantee against every adversary: the same as the command line's, and it holds."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

import sarl
from conftest import arrays, real
from sarl import CertifiedSARL, audit


class People:
    """Rows with two hidden attributes, of two and of three groups."""

    def __init__(self, n=9000, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n, 5))
        X, noise = self.X, rng.normal(size=(3, n))
        self.s = (X[:, 0] + X[:, 1] + 0.5 * noise[0] > 0).astype(int)
        self.y = (X[:, 1] + X[:, 2] + 0.5 * noise[1] > 0).astype(int)
        self.three = np.digitize(X[:, 0] + noise[2], [-0.5, 0.5])
        self.number = X[:, 1] + X[:, 2] + 0.3 * X[:, 3] + 0.5 * noise[1]
        self.both = pd.DataFrame(
            {"sex": np.where(self.s, "m", "f"), "race": np.array(["a", "b", "c"])[self.three]}
        )
        self.table = pd.DataFrame(X, columns=list("abcde")).assign(
            work=np.where(X[:, 1] + noise[2] > 0.3, "public", "private")
        )


@pytest.fixture(scope="module")
def people():
    return People()


@pytest.fixture(scope="module")
def fresh():
    return People(12_000, seed=1)


@pytest.fixture(scope="module")
def fitted(people):
    return CertifiedSARL(0.2).fit(people.X, people.y, sensitive_features=people.s)


# -- the command line --------------------------------------------------------------------------


def same(estimator, told, cells):
    """The certificate and the cells are those of the command line."""
    ours, theirs = estimator.certificate_.to_dict(), told["certificate"]
    assert ours["rows"] == theirs["rows"] and ours["looks"] == theirs["looks"]
    assert ours.keys() == theirs.keys() and ours["cells"] == theirs["cells"] == estimator.cells_
    for name, attribute in theirs["attributes"].items():
        assert ours["attributes"][name]["counts"] == attribute["counts"]
        assert ours["attributes"][name] == attribute
    for mine, other in zip(ours["targets"], theirs["targets"], strict=True):
        assert mine == pytest.approx(other, abs=1e-12)
    np.testing.assert_allclose(estimator.centres_, cells.centres_, atol=1e-12, rtol=0)
    assert estimator.expected_.keys() == cells.expected_.keys()


NPZ = [
    (CertifiedSARL(0.3), ["--max-advantage", 0.3]),
    (
        CertifiedSARL(
            max_adversary_accuracy=0.7,
            confidence=0.9,
            cells=5,
            cell_utility="variance",
            random_state=3,
        ),
        [
            "--max-adversary-accuracy",
            "0.7",
            "--confidence",
            "0.9",
            "--cells",
            "5",
            "--cell-utility",
            "variance",
            "--seed",
            "3",
        ],
    ),
    (
        CertifiedSARL(0.4, kernel="rbf", landmarks=60, ridge=1e-3, scale="none"),
        [
            "--max-advantage",
            "0.4",
            "--kernel",
            "rbf",
            "--landmarks",
            "60",
            "--ridge",
            "1e-3",
            "--scale",
            "none",
        ],
    ),
    (
        CertifiedSARL(0.4, kernel="polynomial", degree=2, coef0=0.5, landmarks=50),
        [
            "--max-advantage",
            "0.4",
            "--kernel",
            "polynomial",
            "--degree",
            "2",
            "--coef0",
            "0.5",
            "--landmarks",
            "50",
        ],
    ),
]


@pytest.mark.parametrize(("estimator", "options"), NPZ, ids=lambda v: str(v)[:50])
def test_the_command_line_says_the_same(estimator, options, people, cli, tmp_path):
    path, model = tmp_path / "data.npz", tmp_path / "model.safetensors"
    np.savez(path, X=people.X, y=people.y, s=people.s)
    told = cli("fit", path, *options, "-o", model)
    encoder = clone(estimator).fit(people.X, people.y, sensitive_features=people.s)
    read = sarl.load(model)
    assert type(read) is CertifiedSARL
    same(encoder, told, read)
    np.testing.assert_array_equal(encoder.cell(people.X), read.cell(people.X))
    cli("encode", model, path, "-o", tmp_path / "z.npy")
    written = np.load(tmp_path / "z.npy")
    np.testing.assert_array_equal(written[:, 0], encoder.cell(people.X))
    np.testing.assert_allclose(written[:, 1:], encoder.transform(people.X), atol=1e-12, rtol=0)


def test_a_table_with_several_attributes(people, cli, tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "model.safetensors"
    target = pd.Series(np.where(people.y, "yes", "no"), name="y")
    pd.concat([people.table, target, people.both], axis=1).to_csv(path, index=False)
    limits = {"sex": 0.3, "race": 0.4}
    words = ["--target", "y", "--sensitive", "sex,race", "--max-advantage", "sex=0.3,race=0.4"]
    told = cli("fit", path, *words, "-o", model)
    encoder = CertifiedSARL(limits).fit(people.table, target, sensitive_features=people.both)
    same(encoder, told, sarl.load(model))
    assert sarl.load(model).max_advantage == limits
    found = encoder.certificate_.attributes
    assert found["race"].values == ("a", "b", "c") and found["race"].groups == 3
    assert found["sex"].advantage <= 0.3 and found["race"].advantage <= 0.4


def test_adult_is_that_of_the_command_line(cli, tmp_path):
    X, y, s = arrays("adult/train.npz")
    model = tmp_path / "model.safetensors"
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=y, s=s)
    told = cli("fit", path, "--max-advantage", 0.1, "-o", model)
    encoder = CertifiedSARL(0.1).fit(X, y, sensitive_features=s)
    same(encoder, told, sarl.load(model))
    assert encoder.certificate_.attributes["s"].advantage <= 0.1
    data = np.load(real("adult/test.npz"))
    X, y, s = data["X"].astype(np.float64), data["y"], data["s"]
    np.savez(tmp_path / "test.npz", X=X, y=y, s=s)
    told = cli("certify", model, tmp_path / "test.npz", "--confidence", 0.99)
    found = encoder.certify(X, s, y=y, confidence=0.99)
    assert found.to_dict() == told["certificate"]
    # A table of the best guess for each cell, and one that is learnt from the cells of training rows.
    cells = encoder.cell(X)
    assert table(cells, s) <= encoder.certificate_.attributes["s"].balanced_accuracy


def test_the_command_line_reads_our_file(fitted, people, cli, tmp_path):
    model, path = tmp_path / "model.safetensors", tmp_path / "data.npz"
    fitted.save(model)
    np.savez(path, X=people.X, y=people.y, s=people.s)
    cli("encode", model, path, "-o", tmp_path / "z.npy")
    written = np.load(tmp_path / "z.npy")
    np.testing.assert_array_equal(written[:, 0], fitted.cell(people.X))
    np.testing.assert_array_equal(written[:, 1:], fitted.transform(people.X))
    found = fitted.certify(people.X, people.s, y=people.y)
    assert cli("certify", model, path)["certificate"] == found.to_dict()
    told = json.loads(json.dumps(fitted.certificate_.to_dict()))
    assert told == fitted.certificate_.to_dict(), "plain values only"


# -- adversaries -------------------------------------------------------------------------------


def table(cells, groups):
    """What the best table from cells to groups reaches on these very rows."""
    counts = pd.crosstab(cells, groups).to_numpy()
    return (counts / counts.sum(axis=0)).max(axis=1).sum() / counts.shape[1]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_no_adversary_exceeds_the_bound(kernel, people, fresh):
    encoder = CertifiedSARL(0.25, kernel=kernel, landmarks=60)
    encoder.fit(people.X, people.y, sensitive_features=people.s)
    bound = encoder.certificate_.attributes["s"]
    half = len(fresh.s) // 2
    z, control = encoder.transform(fresh.X), fresh.X
    for adversary in (
        DecisionTreeClassifier(random_state=0, class_weight="balanced"),
        RandomForestClassifier(30, random_state=0, class_weight="balanced"),
        LogisticRegression(class_weight="balanced"),
    ):
        told = adversary.fit(z[:half], fresh.s[:half]).predict(z[half:])
        assert balanced_accuracy_score(fresh.s[half:], told) <= bound.balanced_accuracy
        told = adversary.fit(control[:half], fresh.s[:half]).predict(control[half:])
        assert balanced_accuracy_score(fresh.s[half:], told) > 0.75, "the control"
    assert table(encoder.cell(fresh.X), fresh.s) <= bound.balanced_accuracy
    assert bound.observed.balanced_accuracy < bound.balanced_accuracy <= 0.5 + 0.25 / 2
    # Something is kept.
    assert encoder.certificate_.targets["y"].score > 0.65


def test_the_audit_finds_less_than_is_certified(fitted, fresh):
    found = audit(
        fitted,
        fresh.X,
        fresh.y,
        sensitive_features=fresh.s,
        refit=False,
        probes=["logistic", "trees"],
        seeds=1,
    )
    assert found.sensitive["advantage"]["value"] <= fitted.certificate_.attributes["s"].advantage
    assert found.control["sensitive"]["advantage"]["value"] > 0.5
    again = audit(
        fitted, fresh.X, fresh.y, sensitive_features=fresh.s, probes=["logistic"], seeds=1
    )
    assert again.refitted


# -- results -----------------------------------------------------------------------------------


def test_what_is_given_are_centres(fitted, fresh):
    z, cells = fitted.transform(fresh.X), fitted.cell(fresh.X)
    assert cells.dtype == np.int64 and set(cells) == set(range(fitted.cells_))
    np.testing.assert_array_equal(z, fitted.centres_[cells])
    assert fitted.transform(fresh.X.astype(np.float32)).dtype == np.float32
    assert set(fitted.expected_["y"]) <= {0, 1}
    right = fitted.expected_["y"][cells] == fresh.y
    assert right.mean() == pytest.approx(fitted.certificate_.targets["y"].score, abs=0.03)


def test_the_certificate(fitted, people):
    found = fitted.certificate_
    assert found.rows.fit + found.rows.choose + found.rows.certify == len(people.s)
    assert np.sum(found.attributes["s"].counts) == found.rows.certify
    assert found.confidence == 0.95 and found.attributes["s"].values == (0, 1)
    with pytest.raises(AttributeError):
        found.confidence = 0.99
    shown = f"{100 * found.attributes['s'].balanced_accuracy:.2f} %"
    assert str(found).startswith(
        "With 95 % confidence, no adversary that sees only z, however powerful, predicts s with more "
        f"than {shown} balanced accuracy on rows drawn like these; guessing has 50.00 %."
    )
    assert "Not covered: rows from elsewhere" in str(found) and repr(found) == str(found)


def test_the_sentences_are_those_of_the_command_line(fitted, tmp_path, cli):
    import os
    import subprocess

    from conftest import ROOT

    fitted.save(tmp_path / "model.safetensors")
    command = os.environ.get("SARL_BIN") or ROOT / "target" / "release" / "sarl"
    words = [command, "info", tmp_path / "model.safetensors"]
    done = subprocess.run(words, capture_output=True, text=True)
    said = " ".join(done.stdout.split())
    if "With 95 % confidence" not in said:
        pytest.skip("this command does not show certificates by `info`")
    for line in str(fitted.certificate_).splitlines()[:2]:
        assert line in said


def test_other_rows_certify(fitted, fresh):
    found = fitted.certify(fresh.X, fresh.s)
    assert found.targets == {} and found.looks == 1 and found.confidence == 0.95
    assert found.rows.certify == len(fresh.s) and found.rows.fit == fitted.certificate_.rows.fit
    known = fitted.certify(fresh.X, fresh.s, y=fresh.y)
    assert known.attributes == found.attributes
    right = fitted.expected_["y"][fitted.cell(fresh.X)] == fresh.y
    assert known.targets["y"].score == pytest.approx(right.mean())
    counts = pd.crosstab(fitted.cell(fresh.X), fresh.s).to_numpy()
    np.testing.assert_array_equal(found.attributes["s"].counts, counts)
    surer = fitted.certify(fresh.X, fresh.s, confidence=0.999)
    assert surer.attributes["s"].advantage > found.attributes["s"].advantage


def test_several_attributes_and_targets(people):
    y = pd.DataFrame({"class": people.y, "number": people.number})
    encoder = CertifiedSARL({"race": 0.4}).fit(people.X, y, sensitive_features=people.both)
    found = encoder.certificate_
    assert set(found.attributes) == {"sex", "race"}
    assert found.attributes["race"].advantage <= 0.4
    assert set(found.targets) == {"class", "number"} == set(encoder.expected_)
    lines = str(found).splitlines()
    assert "predicts sex" in "".join(lines) and "guessing has 33.33 %" in "".join(lines)
