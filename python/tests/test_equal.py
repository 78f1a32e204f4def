"""Results against the Rust library, LEACE's reference and plain numpy."""

import numpy as np
import pytest

from conftest import arrays
from sarl import SARL, Eraser, KernelSARL

FIGURES = ("gamma_min", "gamma_max", "alpha_min", "alpha_max", "alpha_bar_min", "alpha_star_min")

CASES = [
    ("gaussian/train.npz", SARL(trade_off=0.5), ["--lambda", 0.5]),
    (
        "gaussian/train.npz",
        KernelSARL(max_leakage=0.05, landmarks=80),
        ["--max-leakage", 0.05, "--kernel", "rbf", "--landmarks", 80],
    ),
    (
        "gaussian/train.npz",
        KernelSARL(min_utility=0.9, kernel="polynomial", degree=2, coef0=0.5),
        ["--min-utility", 0.9, "--kernel", "polynomial", "--degree", 2, "--coef0", 0.5],
    ),
    (
        "gaussian/train.npz",
        KernelSARL(
            trade_off=0.4, approx="random-features", landmarks=60, random_state=3, scale="none"
        ),
        [
            "--lambda",
            0.4,
            "--kernel",
            "rbf",
            "--approx",
            "random-features",
            "--landmarks",
            60,
            "--seed",
            3,
            "--scale",
            "none",
        ],
    ),
    (
        "gaussian/train.npz",
        KernelSARL(
            alpha=0.4, kernel="laplacian", landmarks=50, gamma=0.3, sampling="uniform", ridge=1e-4
        ),
        [
            "--alpha",
            0.4,
            "--kernel",
            "laplacian",
            "--landmarks",
            50,
            "--gamma",
            0.3,
            "--sampling",
            "uniform",
            "--ridge",
            1e-4,
        ],
    ),
    (
        "adult/train.npz",
        SARL(max_leakage=0.01, ridge="auto"),
        ["--max-leakage", 0.01, "--ridge", "auto"],
    ),
    ("german/all.npz", SARL(max_leakage=0.0, n_components=1), ["--max-leakage", 0, "--dim", 1]),
    ("cifar100/resnet110-test.npz", SARL(alpha=0.94, folds=3), ["--alpha", 0.94, "--folds", 3]),
    ("yaleb/train.npz", SARL(max_leakage=0.05, ridge=0.3), ["--max-leakage", 0.05, "--ridge", 0.3]),
]


@pytest.mark.parametrize(("name", "estimator", "options"), CASES)
def test_the_command_line_says_the_same(name, estimator, options, cli, tmp_path):
    X, y, s = arrays(name)
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=y, s=s)
    model, z = tmp_path / "model.safetensors", tmp_path / "z.npy"
    told = cli("fit", path, *options, "-o", model)
    estimator.fit(X, y, sensitive_features=s)
    scale = told["bounds"]["alpha_max"]
    near = lambda a, b: abs(a - b) <= 1e-12 * max(scale, 1)
    assert estimator.n_components_ == told["dim"]
    for name in ("jy", "js", "utility", "leakage"):
        assert near(getattr(estimator.point_, name), told[name]), name
    assert near(estimator.dual_bound_, told["dual_bound"]) and near(estimator.gap_, told["gap"])
    assert all(near(getattr(estimator.bounds_, f), told["bounds"][f]) for f in FIGURES)
    held = estimator.heldout_
    assert all(near(getattr(held, k), told["heldout"][k]) for k in ("jy", "js", "jy_sd", "js_sd"))
    cli("encode", model, path, "-o", z)
    theirs = np.load(z)
    ours = estimator.transform(X)
    # Weights of a kernel are large and cancel: of z relative to its size.
    largest = max(1.0, np.abs(estimator.components_).max(initial=0))
    np.testing.assert_allclose(ours, theirs, atol=1e-12 * largest, rtol=0)


def test_the_front_is_that_of_the_command_line(cli, tmp_path):
    X, y, s = arrays("cifar100/resnet110-test.npz")
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=y, s=s)
    told = cli("front", path, "--points", 21)
    front = SARL().fit(X, y, sensitive_features=s).front(21)
    np.testing.assert_allclose(front.breakpoints, told["breakpoints"], atol=1e-12)
    for name in ("lambda", "dim", "jy", "js", "utility", "leakage"):
        theirs = [p[name] for p in told["points"]]
        np.testing.assert_allclose(front[name], theirs, atol=1e-12, err_msg=name)
    for name in ("jy", "js", "jy_sd", "js_sd"):
        theirs = [p["heldout"][name] for p in told["points"]]
        np.testing.assert_allclose(front[f"heldout_{name}"], theirs, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    "name", ["cifar100/resnet110-test.npz", "adult/train.npz", "german/all.npz"]
)
def test_full_erasure_is_leace(name):
    """concept-erasure shrinks, limits the trace and cuts singular values unless told not to."""
    torch = pytest.importorskip("torch")
    leace = pytest.importorskip("concept_erasure")
    X, y, s = arrays(name)
    if "cifar" in name:
        s = y  # a hundred fine classes would leave nothing of 64 features
    X = X[:, X.std(axis=0) > 0]
    hot = np.eye(int(s.max()) + 1)[s]
    hot = hot[:, hot.any(axis=0)]
    options = {"shrinkage": False, "constrain_cov_trace": False, "svd_tol": 1e-9}
    x = torch.from_numpy(X)
    reference = leace.LeaceFitter.fit(x, torch.from_numpy(hot), **options).eraser(x).numpy()
    for eraser in (Eraser(), Eraser(leakage=0), Eraser(trade_off=1.0), Eraser(scale="standard")):
        erased = eraser.fit_transform(X, sensitive_features=s)
        size = np.abs(X).max()
        np.testing.assert_allclose(erased, reference, atol=1e-9 * size, rtol=0)
        np.testing.assert_allclose(
            eraser.mean_ + (X - eraser.mean_) @ eraser.matrix_, erased, atol=1e-9 * size
        )

    # The control: there was something to erase, and least squares find nothing now.
    def explained(a):
        a, b = a - a.mean(axis=0), hot - hot.mean(axis=0)
        rest = b - a @ np.linalg.lstsq(a, b, rcond=1e-9)[0]
        return 1 - (rest**2).sum() / (b**2).sum()

    assert explained(X) > 0.05
    assert explained(erased) < 1e-9


def test_partial_erasure_is_between(rows):
    leaks = []
    distances = []
    for leakage in (0.0, 0.05, 0.1, 0.2):
        eraser = Eraser(leakage=leakage).fit(rows.X, sensitive_features=rows.s)
        assert eraser.leakage_ == pytest.approx(leakage, abs=1e-9)
        erased = eraser.transform(rows.X)
        a = erased - erased.mean(axis=0)
        b = np.eye(2)[rows.s] - np.eye(2)[rows.s].mean(axis=0)
        rest = b - a @ np.linalg.lstsq(a, b, rcond=1e-9)[0]
        leaks.append(1 - (rest**2).sum() / (b**2).sum())
        distances.append(np.linalg.norm(erased - rows.X))
    np.testing.assert_allclose(leaks, [0.0, 0.05, 0.1, 0.2], atol=1e-9)
    assert distances == sorted(distances, reverse=True)


def test_the_numpy_version(rows):
    """Theorem 3 by hand: eigenvectors of λ As − (1−λ) Ay in whitened features."""
    X, lambda_ = rows.X, 0.6
    one_hot = np.eye(2)
    centred = [a - a.mean(axis=0) for a in (X, one_hot[rows.y], one_hot[rows.s])]
    n = len(X)
    W = np.linalg.inv(np.linalg.cholesky(centred[0].T @ centred[0] / n)).T
    Wy, Ws = (W.T @ (centred[0].T @ c / n) for c in centred[1:])
    values, vectors = np.linalg.eigh(lambda_ * Ws @ Ws.T - (1 - lambda_) * Wy @ Wy.T)
    kept = vectors[:, values < -1e-12]
    encoder = SARL(trade_off=lambda_).fit(X, rows.y, sensitive_features=rows.s)
    z = centred[0] @ W @ kept
    ours = encoder.transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(z), atol=1e-10)
    jy = (centred[1] ** 2).sum() / n - (Wy.T @ kept @ kept.T @ Wy).trace()
    assert encoder.point_.jy == pytest.approx(jy, abs=1e-12)
    np.testing.assert_allclose(ours, (X - encoder.mean_) @ encoder.components_.T, atol=1e-12)
