"""The erasers beside LEACE: a target that is preserved, labels that are known, and fair PCA."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import sarl
from conftest import arrays
from sarl import SARL, Eraser, Moments, OracleEraser, QuadraticEraser


def cross(a, b, weights=None):
    """Covariance of the columns of two arrays."""
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    w = np.ones(len(a)) if weights is None else weights
    a, b = a - np.average(a, axis=0, weights=w), b - np.average(b, axis=0, weights=w)
    return (a * w[:, None]).T @ b / w.sum()


@pytest.fixture(scope="module")
def adult():
    """The rows of Adult that the paper has, 6,000 of them; columns that vary."""
    X, y, s = arrays("adult/train.npz")
    X, y, s = X[:6000], y[:6000], s[:6000]
    return X[:, X.std(axis=0) > 0], y, s


# -- a target that is preserved --------------------------------------------------------------------


def test_preserve_is_splince_on_real_rows(adult):
    X, y, s = adult
    eraser = Eraser(preserve=True).fit(X, y, sensitive_features=s)
    plain = Eraser().fit(X, sensitive_features=s)
    erased, leace = eraser.transform(X), plain.transform(X)
    size = np.abs(cross(X, y)).max()
    assert np.abs(cross(erased, s)).max() < 1e-10 * size
    np.testing.assert_allclose(cross(erased, y), cross(X, y), atol=1e-10 * size)
    # The control: without preserve the covariance with y changes, and less of X.
    assert np.abs(cross(leace, y) - cross(X, y)).max() > 0.01 * size
    assert eraser.utility_ < plain.utility_ and abs(eraser.gap_) < 1e-12
    # The formula of the paper, by numpy.
    C = np.cov(X.T, bias=True)
    values, vectors = np.linalg.eigh(C)
    keep = values > 1e-11 * values.max()
    W = vectors[:, keep] / np.sqrt(values[keep])
    ws, wy = W.T @ cross(X, s), W.T @ cross(X, y)
    qs, qy = ws / np.linalg.norm(ws), wy / np.linalg.norm(wy)
    r = qs - qy @ (qy.T @ qs)
    oblique = qs @ (r.T / (qs.T @ r))
    expected = X - (X - X.mean(axis=0)) @ (C @ W @ oblique @ W.T).T
    np.testing.assert_allclose(erased, expected, atol=1e-6 * np.abs(X).max())
    # A probe learns s before, and nothing after.
    probe = LogisticRegression(max_iter=2000)
    scale = X.std(axis=0)
    majority = max(np.mean(s), 1 - np.mean(s))
    assert probe.fit(X / scale, s).score(X / scale, s) > majority + 0.05
    ridge = RidgeClassifier(alpha=1e-6)
    assert ridge.fit(erased, s).score(erased, s) == pytest.approx(majority, abs=1e-9)


def test_preserve_tells_a_new_predictor_no_more(rows):
    """Linear predictions fitted anew without a penalty are those after LEACE."""
    X, y, s = rows.X, rows.y, rows.s
    fits = []
    for eraser in (Eraser(preserve=True), Eraser()):
        erased = eraser.fit(X, y, sensitive_features=s).transform(X)
        A = np.column_stack([np.ones(len(X)), erased])
        fits.append(A @ np.linalg.lstsq(A, y.astype(float), rcond=1e-10)[0])
    np.testing.assert_allclose(fits[0], fits[1], atol=1e-8)


def test_preserve_refuses_what_it_has_not(rows):
    X, y, s = rows.X, rows.y, rows.s
    with pytest.raises(ValueError, match=r"`s` cannot be erased .* `y` is preserved"):
        Eraser(preserve=True).fit(X, s, sensitive_features=s)
    with pytest.raises(ValueError, match="y is what is to be preserved"):
        Eraser(preserve=True).fit(X, sensitive_features=s)
    for parameters, reason in (
        ({"leakage": 0.1}, "no partial one"),
        ({"ridge": 0.1}, "no ridge"),
        ({"criterion": "equalized-odds"}, "use criterion='parity'"),
    ):
        with pytest.raises(ValueError, match=reason):
            Eraser(preserve=True, **parameters).fit(X, y, sensitive_features=s)
    fitted = Eraser(preserve=True).fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="no partial one"):
        fitted.retune(max_leakage=0.1)
    with pytest.raises(ValueError, match="no front"):
        fitted.front_  # noqa: B018


def test_preserve_merges_and_travels(rows, tmp_path):
    X, y, s = rows.X, rows.y, rows.s
    whole = Eraser(preserve=True).fit(X, y, sensitive_features=s)
    shards = [
        Moments(keep_features=True, fold_by="content").update(X[i::4], y[i::4], s[i::4])
        for i in range(4)
    ]
    total = shards[2].merge(shards[0]).merge(shards[3]).merge(shards[1])
    merged = Eraser(preserve=True).fit_moments(total)
    np.testing.assert_allclose(merged.transform(X), whole.transform(X), atol=1e-10)
    with pytest.raises(ValueError, match="use preserve=True"):
        Eraser().fit_moments(total)
    with pytest.raises(ValueError, match="no target to preserve"):
        Eraser(preserve=True).fit_moments(Moments().update(X, None, s))
    stream = Eraser(preserve=True)
    for i in range(0, len(X), 100):
        stream.partial_fit(X[i : i + 100], y[i : i + 100], sensitive_features=s[i : i + 100])
    np.testing.assert_allclose(stream.transform(X), whole.transform(X), atol=1e-9)
    path = tmp_path / "preserve.safetensors"
    whole.save(path)
    for again in (sarl.load(path), pickle.loads(pickle.dumps(whole))):
        assert isinstance(again, Eraser) and again.preserve
        np.testing.assert_array_equal(again.transform(X), whole.transform(X))
        assert again.heldout_ == whole.heldout_ is not None
        assert set(again.attributes_["target"]) == {":features", "y"}
    mean, found, taken = whole._erasure()
    np.testing.assert_allclose(whole.transform(X), X - (X - mean) @ found.T @ taken, atol=1e-12)


# -- fair PCA --------------------------------------------------------------------------------------


def reconstruction(encoder, X):
    return encoder.inverse_transform(encoder.transform(X))


def fair_pca(X, s, r):
    """Kleindessner et al. 2023: PCA in the null space of Xᵀ Z. The subspace, orthonormal."""
    centred, z = X - X.mean(axis=0), (s - s.mean())[:, None]
    _, _, vectors = np.linalg.svd((centred.T @ z).T)
    null = vectors[1:].T
    _, _, inside = np.linalg.svd(centred @ null, full_matrices=False)
    return null @ inside[:r].T


def test_the_encoder_of_the_features_is_the_pca_of_the_erased_features(adult):
    X, _, s = adult
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    encoder = SARL(max_leakage=0, n_components=5, ridge=0.0).fit(X, X, sensitive_features=s)
    erased = Eraser().fit_transform(X, sensitive_features=s)
    _, _, axes = np.linalg.svd(erased, full_matrices=False)
    expected = erased @ axes[:5].T @ axes[:5]
    np.testing.assert_allclose(reconstruction(encoder, X), expected, atol=1e-6)
    # Fair PCA hides as much, and the best map of its size is at least as near to X.
    U = fair_pca(X, s.astype(float), 5)
    assert np.abs(cross(X @ U, s)).max() < 1e-10
    assert np.abs(cross(encoder.transform(X), s)).max() < 1e-10
    ours, theirs = (np.mean((X - of) ** 2) for of in (expected, X @ U @ U.T))
    assert ours <= theirs + 1e-12
    # The control: plain PCA is nearer and tells s.
    _, _, plain = np.linalg.svd(X, full_matrices=False)
    assert np.mean((X - X @ plain[:5].T @ plain[:5]) ** 2) < ours
    assert np.abs(cross(X @ plain[:5].T, s)).max() > 1e-2


def test_it_is_fair_pca_where_what_tells_s_is_a_direction_of_its_own():
    """Where Cov(x) keeps the span of Cov(x, s) apart, both are one."""
    rng = np.random.default_rng(3)
    n = 4000
    inner = rng.normal(size=(n, 5)) * [3, 2.5, 2, 1.5, 1]
    s = (rng.uniform(size=n) < 0.4).astype(float)
    told = 2 * (s - s.mean()) + rng.normal(size=n)
    # Exactly uncorrelated on these rows.
    inner -= np.outer(told - told.mean(), cross(told, inner)[0] / told.var()) + inner.mean(axis=0)
    inner -= np.outer(s - s.mean(), cross(s, inner)[0] / s.var())
    rotation, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    inner -= np.outer(told - told.mean(), cross(told, inner)[0] / told.var())
    both = np.column_stack([s - s.mean(), told - told.mean()])
    inner -= both @ np.linalg.lstsq(both, inner, rcond=None)[0]
    X = np.column_stack([told - told.mean(), inner]) @ rotation.T
    U = fair_pca(X, s, 3)
    erased = Eraser().fit_transform(X, sensitive_features=s)
    _, _, axes = np.linalg.svd(erased, full_matrices=False)
    np.testing.assert_allclose(erased @ axes[:3].T @ axes[:3], X @ U @ U.T, atol=1e-8)


# -- labels that are known -------------------------------------------------------------------------


def test_an_oracle_erases_classes_numbers_and_several(adult):
    X, _, s = adult
    age = X[:, 0] + np.random.default_rng(0).normal(size=len(X))
    hidden = {"one": s, "number": age, "both": np.column_stack([s, age])}
    for name, labels in hidden.items():
        oracle = OracleEraser(sensitive_type="number" if name == "number" else "auto")
        erased = oracle.fit_transform(X, sensitive_features=labels)
        size = np.abs(cross(X, labels)).max()
        assert np.abs(cross(erased, labels)).max() < 1e-9 * size, name
        S = oracle.label_columns(labels)
        expected = X - (S - oracle.label_mean_) @ oracle.coef_
        np.testing.assert_allclose(erased, expected, atol=1e-9 * np.abs(X).max())
        change = np.mean(np.sum((X - erased) ** 2, axis=1))
        assert oracle.change_ == pytest.approx(change, rel=1e-9)
        leace = Eraser(sensitive_type=oracle.sensitive_type).fit(X, sensitive_features=labels)
        assert change <= np.mean(np.sum((X - leace.transform(X)) ** 2, axis=1)) * (1 + 1e-9)
    # On one attribute of classes it moves the means of classes.
    oracle = OracleEraser().fit(X, sensitive_features=s)
    means = {k: X[s == k].mean(axis=0) for k in np.unique(s)}
    moved = X - np.array([means[k] for k in s]) + X.mean(axis=0)
    np.testing.assert_allclose(
        oracle.transform(X, sensitive_features=s), moved, atol=1e-8 * np.abs(X).max()
    )


def test_a_linear_probe_learns_before_and_not_after_known_labels(adult):
    X, _, s = adult
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    majority = max(np.mean(s), 1 - np.mean(s))
    probe = RidgeClassifier(alpha=1e-3)
    assert probe.fit(X, s).score(X, s) > majority + 0.05
    erased = OracleEraser().fit_transform(X, sensitive_features=s)
    assert probe.fit(erased, s).score(erased, s) == pytest.approx(majority, abs=1e-9)


def some_classes(n=900, d=4, seed=0):
    rng = np.random.default_rng(seed)
    s = np.array(["a", "b", "c"])[rng.integers(0, 3, n)]
    mix = {k: rng.normal(size=(d, d)) for k in "abc"}
    shift = {k: rng.normal(size=d) for k in "abc"}
    X = np.array([shift[k] + mix[k] @ v for k, v in zip(s, rng.normal(size=(n, d)), strict=True)])
    return X, s


def test_quadratic_erasure_makes_classes_equal():
    X, s = some_classes()
    eraser = QuadraticEraser().fit(X, sensitive_features=s)
    erased = eraser.transform(X, sensitive_features=s)
    before = [np.cov(X[s == k].T, bias=True) for k in "abc"]
    after = [np.cov(erased[s == k].T, bias=True) for k in "abc"]
    assert np.abs(before[0] - before[1]).max() > 0.5
    for k, covariance in zip("abc", after, strict=True):
        np.testing.assert_allclose(covariance, after[0], atol=1e-8)
        np.testing.assert_allclose(erased[s == k].mean(axis=0), X.mean(axis=0), atol=1e-10)
    assert eraser.classes_ == ["a", "b", "c"]
    for place, k in enumerate("abc"):
        rows = eraser.mean_ + (X[s == k] - eraser.means_[place]) @ eraser.matrices_[place]
        np.testing.assert_allclose(erased[s == k], rows, atol=1e-10)
    assert eraser.change_ == pytest.approx(np.mean(np.sum((X - erased) ** 2, axis=1)), rel=1e-8)
    # Quadratic features tell the class before, and no longer linearly after.
    classes = np.stack([s == k for k in "abc"], axis=1).astype(float)
    told, left = (
        np.abs(cross(np.column_stack([Z, *[Z[:, [i]] * Z for i in range(4)]]), classes)).max()
        for Z in (X, erased)
    )
    assert told > 0.1 and left < 1e-8


def test_quadratic_erasure_on_real_rows(adult):
    X, _, s = adult
    # Columns that vary in both classes: a husband is never a woman.
    varies = np.minimum(X[s == 0].std(axis=0), X[s == 1].std(axis=0))
    X = X[:, np.argsort(-varies)[:4]]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    erased = QuadraticEraser().fit_transform(X, sensitive_features=s)
    kinds = np.unique(s)
    covariances = [np.cov(erased[s == k].T, bias=True) for k in kinds]
    np.testing.assert_allclose(covariances[0], covariances[1], atol=1e-8)
    apart = [np.cov(X[s == k].T, bias=True) for k in kinds]
    assert np.abs(apart[0] - apart[1]).max() > 0.02


def test_quadratic_erasure_refuses_what_cannot_be_equal(rows):
    few = np.arange(len(rows.X)) < 4
    with pytest.raises(ValueError, match="4 rows that vary in 3 of the 6 directions"):
        QuadraticEraser().fit(rows.X, sensitive_features=few)
    with pytest.raises(ValueError, match="needs one attribute of classes"):
        QuadraticEraser().fit(rows.X, sensitive_features=rows.number)
    with pytest.raises(ValueError, match="needs one attribute of classes"):
        QuadraticEraser().fit(rows.X, sensitive_features=np.column_stack([rows.s, rows.y]))


@pytest.mark.parametrize("kind", [OracleEraser, QuadraticEraser])
def test_rows_of_known_labels_merge_stream_and_travel(kind, tmp_path):
    X, s = some_classes()
    weights = np.random.default_rng(1).uniform(0.2, 3, len(X))
    order = np.argsort(s, kind="stable")
    X, s, weights = X[order], s[order], weights[order]
    whole = kind().fit(X, sensitive_features=s, sample_weight=weights)
    expected = whole.transform(X, sensitive_features=s)
    # Parts of which no one has all classes.
    parts = np.array_split(np.arange(len(X)), 4)
    merged, stream = None, kind()
    for rows in [parts[3], parts[0], parts[2], parts[1]]:
        stream.partial_fit(X[rows], sensitive_features=s[rows], sample_weight=weights[rows])
        part = kind().partial_fit(X[rows], sensitive_features=s[rows], sample_weight=weights[rows])
        merged = part if merged is None else merged.merge(part)
    for other in (merged, stream):
        np.testing.assert_allclose(other.transform(X, sensitive_features=s), expected, atol=1e-8)
    path = tmp_path / "erasure.safetensors"
    whole.save(path)
    for again in (sarl.load(path), kind.load(path), pickle.loads(pickle.dumps(whole))):
        assert type(again) is kind and again.get_params() == whole.get_params()
        np.testing.assert_array_equal(again.transform(X, sensitive_features=s), expected)
        assert again.change_ == whole.change_
        with pytest.raises(ValueError, match="more rows cannot be added"):
            again.partial_fit(X, sensitive_features=s)
    with pytest.raises(ValueError, match="not of Eraser"):
        Eraser.load(path)
    Eraser().fit(X, sensitive_features=s).save(path)
    with pytest.raises(ValueError, match=f"a model of Eraser, not of {kind.__name__}"):
        kind.load(path)
    with pytest.raises(ValueError, match="no rows in the fit"):
        whole.transform(X[:1], sensitive_features=np.array(["d"]))
    with pytest.raises(ValueError, match="needs to know what to hide"):
        whole.transform(X)
    single = whole.transform(X.astype(np.float32), sensitive_features=s)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=1e-4)


def test_the_command_shows_every_erasure(rows, cli, tmp_path):
    X, y, s = rows.X, rows.y, rows.s
    fitted = {
        "full": Eraser().fit(X, sensitive_features=s),
        "preserving": Eraser(preserve=True).fit(X, y, sensitive_features=s),
        "oracle": OracleEraser().fit(X, sensitive_features=s),
        "quadratic": QuadraticEraser().fit(X, sensitive_features=s),
    }
    for kind, eraser in fitted.items():
        path = tmp_path / f"{kind}.safetensors"
        eraser.save(path)
        shown = cli("info", path)
        assert shown["erasure"] == kind and shown["n"] == len(X) and shown["inputs"] == X.shape[1]
        assert shown["utility"] == pytest.approx(eraser.utility_, rel=1e-9)


def test_known_labels_pass_through_a_pipeline(rows):
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        head = LogisticRegression()
        pipe = make_pipeline(OracleEraser(), head)
        pipe.fit(rows.X, rows.y, sensitive_features=rows.s)
        found = pipe.predict(rows.X, sensitive_features=rows.s)
    erased = OracleEraser().fit_transform(rows.X, sensitive_features=rows.s)
    np.testing.assert_array_equal(found, clone(head).fit(erased, rows.y).predict(erased))


# In these checks y is sometimes the column that is to be erased, which cannot be preserved, and classes
# have fewer rows than X has columns, which cannot be made equal.
@parametrize_with_checks([OracleEraser(sensitive=0)])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_command_retunes_a_partial_erasure(cli, tmp_path):
    """A file of more columns than are solved whole: shown, retuned, and its rows erased."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 150)) @ rng.normal(size=(150, 150))
    s = X[:, 0] + 20 * rng.normal(size=3000) > 0
    eraser = Eraser(leakage=0.05).fit(X, sensitive_features=s)
    path, other = tmp_path / "partial.safetensors", tmp_path / "other.safetensors"
    eraser.save(path)
    shown = cli("info", path)
    assert shown["erasure"] == "partial" and shown["goal"] == {"max_leakage": 0.05}
    assert shown["leakage"] == pytest.approx(0.05, rel=1e-6)
    assert shown["utility"] == pytest.approx(eraser.utility_, rel=1e-9)
    told = cli("retune", path, "--max-leakage", "0.1", "-o", other)
    assert told["erasure"] == "partial" and told["leakage"] == pytest.approx(0.1, rel=1e-6)
    again, expected = sarl.load(other), Eraser.load(path).retune(max_leakage=0.1)
    assert again.get_params() == expected.get_params() and again.heldout_ is None
    np.testing.assert_allclose(again.transform(X), expected.transform(X), atol=1e-9)
    rows, erased = tmp_path / "rows.csv", tmp_path / "erased.csv"
    names = ",".join(f"x{j}" for j in range(150))
    np.savetxt(rows, X[:5], delimiter=",", header=names, comments="", fmt="%.17g")
    cli("encode", path, rows, "-o", erased)
    found = np.loadtxt(erased, delimiter=",", skiprows=1)
    np.testing.assert_allclose(found, eraser.transform(X[:5]), atol=1e-9)
