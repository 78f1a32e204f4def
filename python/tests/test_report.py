"""Pages of encoders: what is in them equals what the command line shows."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from conftest import same
from sarl import SARL, Eraser, KernelSARL, load


@pytest.fixture(scope="module")
def table(rows):
    X = pd.DataFrame(rows.X, columns=[f"c{j}" for j in range(rows.X.shape[1])])
    X["job"] = np.where(rows.X[:, 0] > 3, "x", np.where(rows.X[:, 3] > 3, "y", "z"))
    kept = pd.Series(np.where(rows.y == 1, "yes", "no"), name="kept")
    return X, kept, pd.Series(np.where(rows.s == 1, "m", "f"), name="hidden")


def page(path):
    """What the scripts of a page have, and its text."""
    html = path.read_text()
    data = json.loads(html.split('id="data">')[1].split("</script>")[0])
    return data, re.sub(r"<[^>]+>", " ", html.split("<main")[1])


def without_commands(data):
    for explorer in data["explorers"]:
        del explorer["fields"]["command"]
        # What it says of an audit names the option.
        del explorer["fields"]["audit"]
    return data


@pytest.mark.parametrize("kernel", [False, True])
def test_it_equals_the_page_of_the_command(cli, table, tmp_path, kernel):
    X, y, s = table
    path = tmp_path / "rows.csv"
    pd.concat(table, axis=1).to_csv(path, index=False, float_format="%.17g")
    how = ["--kernel", "rbf", "--landmarks", "40", "--ridge", "0.01"] if kernel else []
    labels = ["-t", "kept", "-s", "hidden", "--max-leakage", "0.03", *how]
    cli("fit", path, *labels, "-o", tmp_path / "m", "--html", tmp_path / "cli.html")
    goal = {"max_leakage": 0.03}
    encoder = KernelSARL(landmarks=40, ridge=0.01, **goal) if kernel else SARL(**goal)
    encoder.fit(X, y, sensitive_features=s)
    encoder.report(tmp_path / "ours.html", X, y, sensitive_features=s)
    (theirs, said), (ours, words) = page(tmp_path / "cli.html"), page(tmp_path / "ours.html")
    assert "encoder.retune(max_leakage=0.03)" in words and "sarl retune" in said
    for part in ("Keep kept, hide hidden", "6 numeric and 1 categorical columns", "What is kept"):
        assert part in words or part in (tmp_path / "ours.html").read_text()
    ours, theirs = without_commands(ours), without_commands(theirs)
    if kernel:
        # Embeddings are stored as bytes: of a kernel they differ in the last digits.
        for data in (ours, theirs):
            del data["explorers"][0]["rows"]["z"], data["explorers"][0]["rows"]["bins"]
            del data["explorers"][0]["weights"]
    same(ours, theirs)


def test_what_is_not_given_is_left_out(table, tmp_path):
    X, y, s = table
    encoder = SARL(max_leakage=0.03).fit(X, y, sensitive_features=s)
    encoder.report(tmp_path / "bare.html")
    encoder.report(tmp_path / "rows.html", X)
    bare, rows = (page(tmp_path / f"{name}.html")[0]["explorers"][0] for name in ("bare", "rows"))
    assert bare.get("rows") is None and rows["rows"]["count"] == 400
    assert bare["fields"]["utility"] == rows["fields"]["utility"]


def test_an_encoder_of_a_file_has_the_same_page(table, tmp_path):
    X, y, s = table
    encoder = SARL(max_leakage=0.03).fit(X, y, sensitive_features=s)
    encoder.save(tmp_path / "m.safetensors")
    encoder.report(tmp_path / "a.html", X, y, sensitive_features=s)
    load(tmp_path / "m.safetensors").report(tmp_path / "b.html", X, y, sensitive_features=s)
    same(page(tmp_path / "b.html")[0], page(tmp_path / "a.html")[0])
    load(tmp_path / "m.safetensors").report(tmp_path / "c.html")
    figures = [page(tmp_path / f"{n}.html")[0]["explorers"][0]["fields"]["jy"] for n in "ac"]
    same(*figures)


def test_an_audit_along_the_front(table, tmp_path):
    X, y, s = table
    encoder = SARL(max_leakage=0.03).fit(X, y, sensitive_features=s)
    encoder.report(tmp_path / "r.html", X, y, sensitive_features=s, audit=True, rows=0)
    _, words = page(tmp_path / "r.html")
    assert "What the strongest attackers predict" in words
    assert "X was parted (seed 0): 160 rows fitted the encoder" in words


def test_sensitive_columns_of_X(table, tmp_path):
    X, y, s = table
    whole = X.assign(hidden=s)
    encoder = SARL(max_leakage=0.0, sensitive="hidden").fit(whole, y)
    encoder.report(tmp_path / "r.html", whole, y)
    assert page(tmp_path / "r.html")[0]["explorers"][0]["rows"]["count"] == 400


def test_several_limits_and_streams(rows, tmp_path):
    both = pd.DataFrame({"a": rows.s, "b": rows.number})
    encoder = SARL(max_leakage={"a": 0.01, "b": 0.1})
    for part in (slice(0, 200), slice(200, None)):
        encoder.partial_fit(rows.X[part], rows.y[part], sensitive_features=both[part])
    encoder.report(tmp_path / "r.html", rows.X)
    html = (tmp_path / "r.html").read_text()
    assert "Each label" in html and "max_leakage={" in html


def test_wrong_calls_write_nothing(rows, tmp_path):
    path = tmp_path / "r.html"
    encoder = SARL().fit(rows.X, rows.y, sensitive_features=rows.s)
    for arguments, words in (
        ({"y": rows.y}, "needs X"),
        ({"X": rows.X, "audit": True}, "an audit needs X, y and sensitive_features"),
        ({"rows": -1}, "rows is -1"),
        ({"rows": 3000}, "2000 at most"),
        ({"X": rows.X, "y": rows.y[1:]}, "X has 400 rows, but y has 399"),
        ({"X": rows.X[:, 1:]}, "features"),
        ({"X": rows.X, "y": rows.y + 7}, "was not there before"),
    ):
        with pytest.raises(ValueError, match=words):
            encoder.report(path, **arguments)
    with pytest.raises(NotFittedError):
        SARL().report(path)
    with pytest.raises(OSError):
        encoder.report(tmp_path / "none" / "r.html")
    assert not list(tmp_path.iterdir())
    assert not hasattr(Eraser(), "report")
