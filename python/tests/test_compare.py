"""Comparisons: the same as the command line's on the same rows."""

import numpy as np
import pandas as pd
import pytest

import sarl
from conftest import same
from sarl import Comparison, compare

FEW = {"probes": ["linear", "trees"], "seeds": 2, "landmarks": 60, "leakages": [0, 0.05]}
OPTIONS = ["--probes", "linear,trees", "--seeds", "2", "--landmarks", "60", "--leakages", "0,0.05"]


@pytest.fixture(scope="module")
def table(rows):
    X = pd.DataFrame(rows.X, columns=[f"c{j}" for j in range(rows.X.shape[1])])
    X["job"] = np.where(rows.X[:, 0] > 3, "x", np.where(rows.X[:, 3] > 3, "y", "z"))
    kept = pd.Series(np.where(rows.y == 1, "yes", "no"), name="kept")
    return X, kept, pd.Series(np.where(rows.s == 1, "m", "f"), name="hidden")


def written(folder, *columns):
    path = folder / "rows.csv"
    pd.concat(columns, axis=1).to_csv(path, index=False, float_format="%.17g")
    return path


def paired(ours, theirs):
    """Both without what names files and takes time."""
    for found in (ours, theirs):
        for name in ("data", "test", "rows", "files", "html", "seconds"):
            found.pop(name, None)
        for entry in found["entries"]:
            for name in ("fit_seconds", "retune_seconds"):
                entry.pop(name)
    return ours, theirs


@pytest.mark.parametrize("rivals", ["none", ["leace", "inlp", "fare"]])
def test_it_equals_the_command(cli, table, tmp_path, rivals):
    found = compare(*table, rivals=rivals, **FEW)
    assert isinstance(found, Comparison)
    words = rivals if isinstance(rivals, str) else ",".join(rivals)
    path = written(tmp_path, *table)
    named = ["-t", "kept", "-s", "hidden", "--rivals", words, "-o", tmp_path / "out"]
    theirs = cli("compare", path, *named, *OPTIONS)
    assert found.to_dict()["rows"]["encoder"]["rows"] == theirs["rows"]["encoder"]["rows"]
    same(*paired(found.to_dict(), theirs))


def test_numbers_several_labels_and_test_rows(cli, table, rows, tmp_path):
    X, kept, hidden = table
    number = pd.Series(rows.number, name="number")
    both = pd.concat([kept, hidden], axis=1)
    a, b = slice(0, 250), slice(250, None)
    found = compare(
        X[a],
        number[a],
        both[a],
        X_test=X[b],
        y_test=number[b],
        sensitive_features_test=both[b],
        rivals=["leace"],
        scale="none",
        kernel="laplacian",
        ridge=0.01,
        **FEW,
    )
    paths = []
    for name, part in (("a", a), ("b", b)):
        (tmp_path / name).mkdir()
        paths.append(written(tmp_path / name, X[part], number[part], both[part]))
    named = ["-t", "number", "-s", "kept,hidden", "--test", paths[1], "-o", tmp_path / "out"]
    fitted = ["--rivals", "leace", "--scale", "none", "--kernel", "laplacian", "--ridge", "0.01"]
    theirs = cli("compare", paths[0], *named, *fitted, *OPTIONS)
    assert found.to_dict()["test"] == ["X_test"]
    same(*paired(found.to_dict(), theirs))


def test_rows_are_drawn_as_the_command_draws_them(cli, table, tmp_path):
    few = {**FEW, "leakages": [0.0], "probes": ["linear"]}
    found = compare(*table, rivals="none", rows=200, test_size=0.4, random_state=3, **few)
    options = "--rivals none --rows 200 --test-share 0.4 --seed 3 --landmarks 60 --leakages 0"
    named = ["-t", "kept", "-s", "hidden", "--probes", "linear", "--seeds", "2"]
    path = written(tmp_path, *table)
    theirs = cli("compare", path, *named, *options.split(), "-o", tmp_path / "out")
    assert found.to_dict()["rows"]["test"] | {"files": 0} == theirs["rows"]["test"] | {"files": 0}
    same(*paired(found.to_dict(), theirs))


def test_it_can_be_read(table, tmp_path):
    found = compare(*table, rivals=["leace"], **FEW)
    text = str(found)
    assert "LEACE" in text and "kept, accuracy %" in text and "X was parted" in text
    page = found._repr_html_()
    assert page.count("<tr>") == len(found.entries) + 2 and "<th>method</th>" in page
    frame = found.to_pandas()
    assert len(frame) == len(found.entries) and frame["worst.mean"].notna().all()
    fair = found.fairness_rows()
    assert len(fair) == len(found.entries) and fair[0]["method"] == "raw"
    assert fair[0]["change"] is None and fair[1]["raw"]["demographic_parity"] == pytest.approx(
        fair[0]["demographic_parity"]
    )
    assert "Clear changes against raw features" in text
    found.report(tmp_path / "r.html", rows=50)
    html = (tmp_path / "r.html").read_text()
    assert "methods compared" in html and "sarl.KernelSARL(max_leakage=" in html
    assert "ridge=&#39;auto&#39;" in html or "ridge='auto'" in html


def test_the_features_can_be_kept(rows):
    found = compare(rows.X, sensitive_features=rows.s, rivals="none", **FEW)
    assert found.guess["target"] is None
    assert all(entry["target"] is None for entry in found.entries)


def test_arguments_are_checked(rows, table, tmp_path):
    X, y, s = rows.X, rows.y, rows.s
    for arguments, words in (
        ({"rivals": ["nobody"]}, "no rival `nobody`; there are: ssgd"),
        ({"rivals": ["all", "leace"]}, "rivals: `all` stands alone"),
        ({"probes": ["nobody"]}, "no probe"),
        ({"leakages": [5]}, r"leakages has 5: expected 0 to 1 \(5 % is 0.05\)"),
        ({"hiding": [-1]}, "hiding has -1"),
        ({"seeds": 0}, "seeds is 0"),
        ({"test_size": 1.0}, "test_size is 1.0"),
        ({"kernel": "cubic"}, "kernel is 'cubic'"),
        ({"landmarks": 0}, "landmarks is 0"),
        ({"folds": 1}, "folds must be 2 or more"),
        ({"X_test": X}, "X_test needs sensitive_features_test"),
    ):
        with pytest.raises(ValueError, match=words):
            compare(X, y, s, **arguments)
    with pytest.raises(ValueError, match="say what is to be hidden"):
        compare(X, y)
    with pytest.raises(ValueError, match="X has 400 rows, but y has 399"):
        compare(X, y[1:], s)
    with pytest.raises(ValueError, match="too few to be parted 3 ways"):
        compare(X[:2], y[:2], s[:2])
    with pytest.raises(ValueError, match='leave "lfr" out of rivals'):
        compare(X, y, rows.number, rivals=["lfr"], **FEW)
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        compare(bad, y, s, rivals="none", **FEW)
    found = compare(X, y, s, rivals="none", **FEW)
    with pytest.raises(ValueError, match="2000 at most"):
        found.report(tmp_path / "r.html", rows=2001)
    with pytest.raises(OSError):
        found.report(tmp_path / "none" / "r.html")
    assert not list(tmp_path.iterdir())


def test_progress_shows_results(table, capsys):
    compare(*table, rivals=["leace"], verbose=1, **FEW)
    said = capsys.readouterr()
    assert "LEACE" in said.out + said.err
    assert sarl.compare is compare
