"""A model is whole: whoever wrote the file, every reader gives the same z from rows as they are."""

import numpy as np
import pandas as pd
import pytest

import sarl

onnxruntime = pytest.importorskip("onnxruntime")
safetensors = pytest.importorskip("safetensors.numpy")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 600
    X = rng.normal(size=(n, 3)) * [1, 1e3, 1e-2] + [5, -2e3, 0]
    work = rng.choice(["a", "b", "c"], size=n)
    y = (X[:, 0] - 5 + X[:, 1] / 1e3 + 2 + (work == "a") > 0).astype(int)
    s = (X[:, 0] - 5 - 50 * X[:, 2] > 0).astype(int)
    frame = pd.DataFrame(X, columns=["p", "q", "r"]).assign(work=work, y=y, s=s)
    folder = tmp_path_factory.mktemp("whole")
    frame.to_csv(folder / "t.csv", index=False)
    return folder, frame


KERNEL = ["--kernel", "rbf", "--landmarks", "60", "--ridge", "0.01"]
WRITERS = {
    "command, linear": [],
    "command, not scaled": ["--scale", "none"],
    "command, kernel": KERNEL,
    "command, random features": [*KERNEL, "--approx", "random-features"],
    "command, polynomial": ["--kernel", "polynomial", "--landmarks", "40", "--ridge", "0.01"],
    "python, linear": sarl.SARL(max_leakage=0.05),
    "python, kernel": sarl.KernelSARL(max_leakage=0.05, landmarks=60, ridge=0.01),
    "python, eraser": sarl.Eraser(leakage=0.05),
}


def written(how, folder, frame, path, cli):
    """The file, and z as the writer gives it; none, where only a file comes out."""
    features = frame[["p", "q", "r", "work"]]
    if isinstance(how, list):
        goal = ["-t", "y", "-s", "s", "--max-leakage", "0.05"]
        cli("fit", folder / "t.csv", *goal, *how, "-o", path)
        return features, None
    if isinstance(how, sarl.Eraser):
        features = frame[["p", "q", "r"]]
    encoder = how.fit(features, frame.y, sensitive_features=frame.s)
    encoder.save(path)
    return features, encoder


def encoded_by_onnx(encoder, features, path):
    encoder.to_onnx(path, double=True)
    session = onnxruntime.InferenceSession(str(path))
    names = [i.name for i in session.get_inputs()]
    if names == ["X"]:
        feed = {"X": features.to_numpy()}
    else:
        feed = {n: features[[n]].to_numpy(object if n == "work" else float) for n in names}
    return session.run(None, feed)[0]


@pytest.mark.parametrize("writer", WRITERS)
def test_every_reader_gives_the_same(writer, table, cli, tmp_path):
    folder, frame = table
    path = tmp_path / "m.safetensors"
    features, encoder = written(WRITERS[writer], folder, frame, path, cli)
    read = sarl.load(path)
    z = np.asarray(read.transform(features), float)
    size = max(1.0, np.abs(z).max())
    if encoder is not None:
        np.testing.assert_allclose(encoder.transform(features), z, atol=1e-12 * size)
    np.testing.assert_allclose(
        encoded_by_onnx(read, features, tmp_path / "m.onnx"), z, atol=1e-6 * size
    )
    if isinstance(read, sarl.Eraser):
        return
    cli("encode", path, folder / "t.csv", "-o", tmp_path / "z.npy")
    by_command = np.load(tmp_path / "z.npy")
    np.testing.assert_allclose(by_command, z, atol=1e-12 * size)
    # z has mean 0 and variance 1 on the training rows: it is of rows as they are.
    np.testing.assert_allclose(by_command.mean(axis=0), 0, atol=1e-6)
    if writer.endswith("linear") or writer.endswith("scaled"):
        file = safetensors.load_file(path)
        hot = [features.work == c for c in "abc"]
        X = np.column_stack([features[["p", "q", "r"]], *hot]).astype(float)
        by_hand = X @ file["encoder.weights"] - file["encoder.offset"]
        np.testing.assert_allclose(by_hand, z, atol=1e-9 * size)
