"""Criteria and labels that are made, in files: the command line says the same, both ways."""

import json

import numpy as np
import pandas as pd
import pytest
from test_criteria import CRITERIA, Made

import sarl
from conftest import same

#: What is hidden, as the command line and as Python ask for it.
HIDDEN = {
    "class": ("sex", ["sex"], "auto"),
    "number": ("age:number", ["age"], "number"),
    "kernel": ("age:kernel", ["age"], "kernel"),
    "bins": ("age:bins=5", ["age"], "bins=5"),
    "default bins": ("hours:bins", ["hours"], "bins"),
    "combination": ("sex*race", ["sex", "race"], {"sex*race": "class"}),
    "together": ("hours+age:kernel", ["age", "hours"], {"hours+age": "kernel"}),
}
FEATURES = ["x0", "x1", "x2", "x3", "x4", "work"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rows = Made(n=800, seed=3)
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rows.X, columns=[f"x{j}" for j in range(5)])
    frame = frame.assign(
        work=rng.choice(["a", "b", "c"], size=800),
        y=rows.y,
        sex=rows.sex,
        race=rows.race,
        age=rows.age.astype(int),
        hours=rows.income,
        w=rows.weights,
    )
    path = tmp_path_factory.mktemp("criteria") / "t.csv"
    frame.to_csv(path, index=False)
    return path, frame


def options(criterion):
    asked = CRITERIA[criterion]
    return [word for name, value in asked.items() for word in (f"--{name}", value)]


def schema(path):
    """What a file says of the labels."""
    extra = sarl._core.Model.from_bytes(path.read_bytes()).extra
    read = json.loads(extra["schema"])
    return read["targets"], read["sensitives"]


def near(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    np.testing.assert_allclose(ours, theirs, atol=1e-12 * max(1.0, np.abs(theirs).max()), rtol=0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_command_line_fits_and_reads_the_same(
    criterion, hidden, weighted, table, cli, tmp_path
):
    path, frame = table
    column, names, treat = HIDDEN[hidden]
    asked = ["-t", "y", "-s", column, "--max-leakage", "0.02", *options(criterion)]
    asked += ["--features", ",".join(FEATURES), *(["--weight", "w"] if weighted else [])]
    theirs = tmp_path / "theirs.safetensors"
    told = cli("fit", path, *asked, "-o", theirs)
    encoder = sarl.SARL(max_leakage=0.02, sensitive_type=treat, **CRITERIA[criterion])
    weights = frame.w if weighted else None
    encoder.fit(frame[FEATURES], frame.y, sensitive_features=frame[names], sample_weight=weights)
    assert encoder.leakage_ == pytest.approx(told["leakage"], abs=1e-12)
    assert encoder.heldout_.leakage == pytest.approx(told["heldout"]["leakage"], abs=1e-9)
    ours = tmp_path / "ours.safetensors"
    encoder.save(ours)
    same(*(json.loads(json.dumps(schema(of))) for of in (ours, theirs)))
    # The command line reads ours, we read theirs: z is the same.
    z = encoder.transform(frame[FEATURES]).to_numpy()
    for file in (ours, theirs):
        cli("encode", file, path, "-o", tmp_path / "z.npy")
        near(np.load(tmp_path / "z.npy"), z)
        read = sarl.load(file)
        near(read.transform(frame[FEATURES]), z)
        assert (read.criterion_, read.favourable_) == (encoder.criterion_, encoder.favourable_)
        info = cli("info", file)
        assert info["criterion"] == criterion and info.get("favourable") == encoder.favourable_
        cli("retune", file, "--max-leakage", "0.1", "-o", tmp_path / "looser.safetensors")
        looser = sarl.load(tmp_path / "looser.safetensors")
        near(
            looser.transform(frame[FEATURES]),
            encoder.retune(max_leakage=0.1).transform(frame[FEATURES]),
        )
        assert looser.criterion_ == criterion


@pytest.mark.parametrize("hidden", ["kernel", "combination"])
def test_a_kernel_encoder_says_the_same(hidden, table, cli, tmp_path):
    path, frame = table
    column, names, treat = HIDDEN[hidden]
    asked = ["-t", "y", "-s", column, "--max-leakage", "0.05", *options("equalized-odds")]
    asked += ["--kernel", "rbf", "--landmarks", "40", "--ridge", "0.01"]
    cli("fit", path, *asked, "--features", ",".join(FEATURES), "-o", tmp_path / "m.safetensors")
    encoder = sarl.KernelSARL(
        max_leakage=0.05, landmarks=40, ridge=0.01, sensitive_type=treat, criterion="equalized-odds"
    ).fit(frame[FEATURES], frame.y, sensitive_features=frame[names])
    theirs = sarl.load(tmp_path / "m.safetensors")
    largest = np.abs(encoder.components_).max()
    ours = encoder.transform(frame[FEATURES]).to_numpy()
    np.testing.assert_allclose(ours, theirs.transform(frame[FEATURES]), atol=1e-12 * largest)


@pytest.mark.parametrize("kept", ["number", "kernel", "bins=3"])
def test_targets_of_numbers(kept, table, cli, tmp_path):
    path, frame = table
    asked = ["-t", f"hours:{kept}", "-s", "age:kernel", "--criterion", "equalized-odds"]
    asked += ["--max-leakage", "0.02", "--features", ",".join(FEATURES)]
    cli("fit", path, *asked, "-o", tmp_path / "m.safetensors")
    encoder = sarl.SARL(
        max_leakage=0.02, target_type=kept, sensitive_type="kernel", criterion="equalized-odds"
    ).fit(frame[FEATURES], frame.hours, sensitive_features=frame.age)
    encoder.save(tmp_path / "ours.safetensors")
    files = (tmp_path / "ours.safetensors", tmp_path / "m.safetensors")
    same(*(json.loads(json.dumps(schema(of))) for of in files))
    near(sarl.load(files[1]).transform(frame[FEATURES]), encoder.transform(frame[FEATURES]))


def test_a_file_of_the_command_line_asks_for_the_same_again(table, cli, tmp_path):
    path, frame = table
    asked = ["-t", "y", "-s", "sex*race,age:bins=4,hours:kernel,sex", *options("equal-opportunity")]
    asked += ["--max-leakage", "0.05", "--features", ",".join(FEATURES)]
    cli("fit", path, *asked, "-o", tmp_path / "m.safetensors")
    read = sarl.load(tmp_path / "m.safetensors")
    assert (read.criterion, read.favourable) == ("equal-opportunity", "b")
    assert read.sensitive_type == {
        "sex*race": "class",
        "age": "bins=4",
        "hours": "kernel",
        "sex": "class",
    }
    s = frame[["sex", "race", "age", "hours"]]
    again = sarl.SARL(**read.get_params() | {"ridge": None})
    again.fit(frame[FEATURES], frame.y, sensitive_features=s)
    assert again.leakage_ == pytest.approx(read.leakage_, abs=1e-9)
    assert again.utility_ == pytest.approx(read.utility_, abs=1e-9)
    assert set(again.attributes_["sensitive"]) == set(read.attributes_["sensitive"])
    # Rows with their labels for a page: columns by name, in any order.
    read.report(tmp_path / "r.html", frame[FEATURES], frame.y, sensitive_features=s.iloc[:, ::-1])
    # Files of files keep what they do not need.
    read.save(tmp_path / "copy.safetensors")
    same(
        *(
            json.loads(json.dumps(schema(tmp_path / f)))
            for f in ("copy.safetensors", "m.safetensors")
        )
    )


def test_more_different_numbers_than_are_counted(cli, tmp_path):
    rng = np.random.default_rng(0)
    n = 130_000
    frame = pd.DataFrame({"x": rng.normal(size=n), "age": rng.normal(size=n)})
    frame["y"] = np.where(frame.x + frame.age > 0, "a", "b")
    frame.to_parquet(tmp_path / "t.parquet")
    asked = ["-t", "y", "-s", "age:bins=6", "--features", "x", "--max-leakage", "0.5"]
    cli("fit", tmp_path / "t.parquet", *asked, "-o", tmp_path / "m.safetensors")
    ours = sarl.SARL(sensitive_type="bins=6", max_leakage=0.5)
    ours.fit(frame[["x"]], frame.y, sensitive_features=frame.age)
    _, (theirs,) = schema(tmp_path / "m.safetensors")
    label = ours._fitted().labels[1]
    assert label.edges == theirs["values"]["class"]["of"]["bins"]["edges"]
    assert label.classes == theirs["values"]["class"]["values"]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kernel", [False, True])
def test_onnx_is_the_encoder(criterion, kernel, table, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    _, frame = table
    x = frame[FEATURES[:5]].to_numpy()
    make = sarl.KernelSARL if kernel else sarl.SARL
    more = {"landmarks": 30} if kernel else {}
    encoder = make(max_leakage=0.05, sensitive_type="kernel", **CRITERIA[criterion], **more)
    z = encoder.fit_transform(x, frame.y, sensitive_features=frame.age)
    encoder.to_onnx(tmp_path / "m.onnx", double=True)
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
    found = session.run(None, {"X": x})[0]
    np.testing.assert_allclose(found, z, atol=1e-6 * max(1.0, np.abs(z).max()))


# -- audits, comparisons, pages -------------------------------------------------------------------


def test_attackers_predict_numbers_bins_and_combinations(table):
    _, frame = table
    s = frame[["sex", "race", "age", "hours"]]
    types = {"sex*race": "class", "age": "bins=3", "hours": "kernel"}
    encoder = sarl.SARL(max_leakage=0.05, sensitive_type=types, criterion="equalized-odds")
    encoder.fit(frame[FEATURES], frame.y, sensitive_features=s)
    probes = {"probes": ["linear"], "seeds": 1}
    found = sarl.audit(encoder, frame[FEATURES], frame.y, sensitive_features=s, **probes)
    kinds = [(a["attribute"], a["kind"]) for a in found.to_dict()["sensitives"]]
    assert kinds == [("age", "class"), ("hours", "number"), ("sex*race", "class")]
    assert found.refitted
    plain = sarl.audit(
        encoder, frame[FEATURES], frame.y, sensitive_features=s, sensitive_type="auto", **probes
    )
    names = [a["attribute"] for a in plain.to_dict()["sensitives"]]
    assert names == ["sex", "race", "age", "hours"]


def test_the_comparison_of_the_command_line(table, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the command writes its figure
    path, frame = table
    asked = ["-t", "y", "-s", "hours+age:kernel", *options("equal-opportunity")]
    asked += ["--features", ",".join(FEATURES[:5]), "--rivals", "none", "--leakages", "0.02"]
    theirs = cli("compare", path, *asked, "--probes", "linear", "--seeds", "1", "--landmarks", "30")
    ours = sarl.compare(
        frame[FEATURES[:5]],
        frame.y,
        frame[["age", "hours"]],
        sensitive_type={"hours+age": "kernel"},
        criterion="equal-opportunity",
        favourable="b",
        rivals="none",
        leakages=[0.02],
        probes=["linear"],
        seeds=1,
        landmarks=30,
    )
    for one, other in zip(ours.entries, theirs["entries"], strict=True):
        for name in ("method", "setting", "dim", "linear_leakage"):
            same(one[name], other[name], name)
    ours.report(tmp_path / "compared.html")
    page = (tmp_path / "compared.html").read_text()
    assert "criterion='equal-opportunity', favourable='b'" in page.replace("&#39;", "'").replace(
        "&#x27;", "'"
    )
    with pytest.raises(ValueError, match="favourable is 'z'"):
        sarl.compare(
            frame[FEATURES], frame.y, frame.sex, criterion="equal-opportunity", favourable="z"
        )


@pytest.mark.parametrize("hidden", ["kernel", "combination"])
def test_pages_with_an_audit(hidden, table, tmp_path):
    _, frame = table
    _, names, treat = HIDDEN[hidden]
    encoder = sarl.SARL(max_leakage=0.05, sensitive_type=treat, **CRITERIA["equalized-odds"])
    encoder.fit(frame[FEATURES], frame.y, sensitive_features=frame[names])
    page = tmp_path / "report.html"
    encoder.report(page, frame[FEATURES], frame.y, sensitive_features=frame[names], audit=True)
    assert "among rows of the same y" in page.read_text()


@pytest.mark.parametrize("writer", ["command", "python"])
def test_the_command_line_audits(writer, table, cli, tmp_path):
    path, frame = table
    file = tmp_path / "m.safetensors"
    asked = ["-t", "y", "-s", "age:kernel,sex*race", "--features", ",".join(FEATURES)]
    if writer == "command":
        cli("fit", path, *asked, *options("equal-opportunity"), "--max-leakage", "0.05", "-o", file)
    else:
        types = {"age": "kernel", "sex*race": "class"}
        sarl.SARL(max_leakage=0.05, sensitive_type=types, **CRITERIA["equal-opportunity"]).fit(
            frame[FEATURES], frame.y, sensitive_features=frame[["age", "sex", "race"]]
        ).save(file)
    told = cli("audit", file, path, "--probes", "linear", "--seeds", "1")
    kinds = [(a["attribute"], a["kind"]) for a in told["sensitives"]]
    assert kinds == [("age", "number"), ("sex*race", "class")]


def test_cells_of_combinations_bins_and_kernels(tmp_path, cli):
    rows = Made(n=6000, seed=5)
    s = pd.DataFrame({"sex": rows.sex, "race": rows.race})
    encoder = sarl.CertifiedSARL(
        0.4, sensitive_type={"sex*race": "class"}, target_type="kernel", cells=4
    )
    encoder.fit(rows.X, rows.income, sensitive_features=s)
    assert encoder.certificate_.attributes["sex*race"].advantage <= 0.4
    assert encoder.expected_["y"].shape == (encoder.cells_,)
    encoder.save(tmp_path / "m.safetensors")
    again = sarl.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.transform(rows.X), encoder.transform(rows.X))
    again.certify(rows.X, s)
    by_age = sarl.CertifiedSARL(0.4, sensitive_type="bins=2")
    by_age.fit(rows.X, rows.y, sensitive_features=rows.age)
    assert list(by_age.certificate_.attributes) == ["s"]
    with pytest.raises(ValueError, match="holds numbers"):
        sarl.CertifiedSARL(sensitive_type="kernel").fit(rows.X, rows.y, sensitive_features=rows.age)
