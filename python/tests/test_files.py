"""Model files and ONNX models: each reads the other's."""

import json
import os
import stat

import numpy as np
import pandas as pd
import pytest

import sarl
from conftest import arrays
from sarl import SARL, Eraser, KernelSARL

ort = pytest.importorskip("onnxruntime")

MODELS = [
    SARL(max_leakage=0.02),
    SARL(max_leakage=0.02, scale="none"),
    SARL(min_utility=0.9, ridge=0.1, n_components=1),
    KernelSARL(max_leakage=0.02, landmarks=60),
    KernelSARL(max_leakage=0.02, landmarks=60, kernel="polynomial", degree=2, scale="none"),
    KernelSARL(trade_off=0.5, landmarks=60, kernel="laplacian"),
    KernelSARL(trade_off=0.5, landmarks=60, approx="random-features"),
    Eraser(leakage=0.02),
    Eraser(leakage=0.02, scale="standard"),
]
each = pytest.mark.parametrize("estimator", MODELS, ids=str)


def fit(estimator, X, y, s):
    return type(estimator)(**estimator.get_params()).fit(X, y, sensitive_features=s)


@each
def test_saved_and_loaded(estimator, rows, tmp_path):
    encoder = fit(estimator, rows.X, rows.y, rows.s)
    path = tmp_path / "m.safetensors"
    encoder.save(path)
    for again in (sarl.load(path), type(estimator).load(path)):
        assert type(again) is type(encoder)
        np.testing.assert_allclose(again.transform(rows.X), encoder.transform(rows.X), atol=1e-12)
        assert again.bounds_ == encoder.bounds_ and again.gap_ == encoder.gap_
        assert again.heldout_ == pytest.approx(encoder.heldout_)
        tuned = again.retune(max_leakage=0.1)
        np.testing.assert_allclose(
            tuned.transform(rows.X), encoder.retune(max_leakage=0.1).transform(rows.X), atol=1e-9
        )
        # A file has the folds; that of a full erasure has only what it takes off.
        held = [e.front_["heldout_jy"] for e in (again, encoder)]
        assert not np.isnan(held[0]).any()
        np.testing.assert_allclose(*held, atol=1e-9)
        assert tuned.heldout_ == pytest.approx(encoder.retune(max_leakage=0.1).heldout_)
        with pytest.raises(ValueError, match="more rows cannot be added"):
            again.partial_fit(rows.X, rows.y, sensitive_features=rows.s)


@each
def test_the_command_line_reads_ours(estimator, rows, tmp_path, cli):
    encoder = fit(estimator, rows.X, rows.y, rows.s)
    model, data, z = (tmp_path / n for n in ("m.safetensors", "d.npz", "z.npy"))
    np.savez(data, X=rows.X, y=rows.y, s=rows.s)
    encoder.save(model)
    told = cli("info", model)
    assert told["point"]["leakage"] == encoder.leakage_ and told["gap"] == encoder.gap_
    cli("encode", model, data, "-o", z)
    np.testing.assert_allclose(np.load(z), encoder.transform(rows.X), atol=1e-11)
    tuned = tmp_path / "t.safetensors"
    cli("retune", model, "--max-leakage", 0.1, "-o", tuned)
    again = sarl.load(tuned)
    assert again.max_leakage == 0.1 and type(again) is type(encoder)
    np.testing.assert_allclose(
        again.transform(rows.X), encoder.retune(max_leakage=0.1).transform(rows.X), atol=1e-9
    )


@pytest.mark.parametrize(
    "options",
    [[], ["--kernel", "rbf", "--landmarks", 50], ["--scale", "none"], ["--ridge", 0.1, "--dim", 1]],
)
def test_we_read_those_of_the_command_line(options, adult, tmp_path, cli):
    X, y, s = adult
    data = tmp_path / "adult.csv"
    pd.concat([X, y, s], axis=1).to_csv(data, index=False)
    model, z = tmp_path / "m.safetensors", tmp_path / "z.npy"
    told = cli(
        "fit", data, "-t", "income", "-s", "sex", "--max-leakage", 0.02, *options, "-o", model
    )
    cli("encode", model, data, "-o", z)
    encoder = sarl.load(model)
    assert type(encoder) is (KernelSARL if "rbf" in options else SARL)
    assert encoder.leakage_ == told["leakage"] and encoder.max_leakage == 0.02
    assert encoder.heldout_.jy == told["heldout"]["jy"]
    np.testing.assert_allclose(encoder.transform(X), np.load(z), atol=1e-10)
    # And a fit here is the fit there.
    params = {k: v for k, v in encoder.get_params().items() if k not in ("gamma",)}
    if "rbf" in options:
        params["landmarks"] = 50
    ours = type(encoder)(**params).fit(X, y, sensitive_features=s)
    assert ours.point_.jy == pytest.approx(told["jy"], abs=1e-9)


def test_the_command_line_audits_ours(adult, tmp_path, cli):
    X, y, s = adult
    data, model = tmp_path / "adult.csv", tmp_path / "m.safetensors"
    pd.concat([X, y, s], axis=1).to_csv(data, index=False)
    SARL(max_leakage=0.0).fit(X, y, sensitive_features=s).save(model)
    told = cli("audit", model, data, "--probes", "logistic", "--seeds", 1)
    assert told["sensitive"]["attribute"] == "sex" and set(told["sensitive"]["classes"]) == {
        "Female",
        "Male",
    }
    assert told["control"]["sensitive"]["best"]["accuracy"] > told["sensitive"]["best"]["accuracy"]


def test_what_is_in_the_file(adult, tmp_path):
    from safetensors import safe_open

    X, y, s = adult
    SARL(max_leakage=0.1).fit(X, y, sensitive_features=s).save(tmp_path / "m.safetensors")
    with safe_open(tmp_path / "m.safetensors", "numpy") as file:
        about = json.loads(file.metadata()["sarl"])
        assert about["kind"] == "model" and "encoder.weights" in list(file.keys())
    schema = json.loads(about["extra"]["schema"])
    assert [f["name"] for f in schema["features"]] == list(X.columns)
    assert schema["targets"][0]["values"]["class"]["values"] == ["<=50K", ">50K"]
    assert sum(schema["sensitives"][0]["values"]["class"]["counts"]) == len(X)


def test_files_that_are_none(tmp_path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(b"nothing of ours")
    with pytest.raises(ValueError, match=r"m.safetensors: not a valid model file"):
        sarl.load(path)
    with pytest.raises(FileNotFoundError):
        sarl.load(tmp_path / "none")
    with pytest.raises(ValueError, match="is a folder"):
        sarl.load(tmp_path)


def test_a_file_of_another_class(rows, tmp_path):
    path = tmp_path / "m.safetensors"
    fit(SARL(), rows.X, rows.y, rows.s).save(path)
    with pytest.raises(ValueError, match="holds a model of SARL, not of KernelSARL"):
        KernelSARL.load(path)
    with pytest.raises(ValueError, match="not of Eraser"):
        Eraser.load(path)


def test_nothing_half_written(rows, tmp_path):
    encoder = fit(SARL(), rows.X, rows.y, rows.s)
    for write in (encoder.save, encoder.to_onnx):
        with pytest.raises(OSError, match="there is no folder"):
            write(tmp_path / "nowhere" / "m")
    assert list(tmp_path.iterdir()) == []


def run(path, **inputs):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = {i.name for i in session.get_inputs()}
    assert names == set(inputs)
    return session.run(None, inputs)[0]


@pytest.mark.parametrize("name", ["gaussian/train.npz", "german/all.npz", "adult/test.npz"])
@each
def test_onnx_on_real_rows(estimator, name, tmp_path):
    import onnx

    X, y, s = arrays(name)
    X = X[:3000].astype(np.float32)
    encoder = fit(estimator, X, y[:3000], s[:3000])
    path = tmp_path / "m.onnx"
    encoder.to_onnx(path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    expected = encoder.transform(X)
    size = max(1.0, np.abs(expected).max(initial=0))
    np.testing.assert_allclose(run(path, X=X), expected, atol=1e-5 * size)
    encoder.to_onnx(path, double=True)
    X = X.astype(np.float64)
    np.testing.assert_allclose(run(path, X=X), encoder.transform(X), atol=1e-7 * size)


@pytest.mark.parametrize(
    "estimator", [SARL(max_leakage=0.02), KernelSARL(max_leakage=0.02, landmarks=80)], ids=str
)
def test_onnx_of_a_table(estimator, adult, tmp_path):
    X, y, s = adult
    encoder = fit(estimator, X, y, s)
    path = tmp_path / "m.onnx"
    encoder.to_onnx(path)
    inputs = {}
    for name in X.columns:
        column = X[[name]].to_numpy()
        inputs[name] = (
            column.astype(str).astype(object)
            if column.dtype == object
            else column.astype(np.float32)
        )
    np.testing.assert_allclose(run(path, **inputs), encoder.transform(X).to_numpy(), atol=1e-5)


def test_onnx_without_the_sensitive_column(rows, tmp_path):
    encoder = SARL(sensitive=[0]).fit(rows.X, rows.y)
    with pytest.raises(ValueError, match="columns of X were left out because they are sensitive"):
        encoder.to_onnx(tmp_path / "m.onnx")
    table = pd.DataFrame(rows.X, columns=list("abcdef"))
    encoder = SARL(sensitive="a").fit(table, rows.y)
    encoder.to_onnx(tmp_path / "m.onnx")
    inputs = {name: table[[name]].to_numpy(np.float32) for name in "bcdef"}
    np.testing.assert_allclose(
        run(tmp_path / "m.onnx", **inputs), encoder.transform(table).to_numpy(), atol=1e-5
    )


@pytest.mark.skipif(os.name != "posix", reason="permissions, links and devices of Unix")
def test_what_was_there_before(rows, tmp_path):
    encoder = SARL(max_leakage=0.02).fit(rows.X, rows.y, sensitive_features=rows.s)
    model, link = tmp_path / "m.safetensors", tmp_path / "link"
    model.write_bytes(b"before")
    model.chmod(0o600)
    link.symlink_to(model.name)
    (tmp_path / ".sarl-left.part").write_bytes(b"half")
    encoder.save(link)
    assert link.is_symlink() and model.stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir(tmp_path)) == ["link", "m.safetensors"]
    assert type(sarl.load(model)) is SARL
    encoder.save("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
