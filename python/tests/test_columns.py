"""What columns are taken for: whole numbers, dates, identifiers, and types by name."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sarl import SARL, Moments, load

N = 400


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, N)
    return pd.DataFrame(
        {
            "a": rng.normal(size=N) + age / 20,
            "b": rng.normal(size=N),
            "age": age,
            "sex": rng.choice(["f", "m"], N),
            "y": rng.integers(0, 3, N),
        }
    )


def fit(table, **options):
    return SARL(max_leakage=0.1, **options).fit(
        table[["a", "b"]], table["y"], sensitive_features=table[["age", "sex"]]
    )


def kinds(encoder):
    return {label.name: label.kind for label in encoder._solved.labels}


def test_many_whole_numbers_are_a_number(table):
    with pytest.warns(UserWarning, match="age has .* different whole numbers, taken as a number"):
        encoder = fit(table)
    assert kinds(encoder) == {"y": "integer", "age": "float", "sex": "text"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = fit(table, sensitive_type={"age": "number"})
        classes = fit(table, sensitive_type={"age": "class"}, target_type="number")
    np.testing.assert_allclose(said.leakage_, encoder.leakage_)
    assert kinds(classes) == {"y": "float", "age": "integer", "sex": "text"}


def test_types_by_name_are_checked(table):
    with pytest.raises(ValueError, match="sensitive_type names 'Age', but the columns are 'age'"):
        fit(table, sensitive_type={"Age": "number"})
    with pytest.raises(ValueError, match="sensitive_type is 'real': expected"):
        fit(table, sensitive_type={"age": "real"})


def test_what_was_decided_stays(table):
    moments = Moments()
    X, age = table[["a", "b"]].to_numpy(), table["age"].to_numpy()
    with pytest.warns(UserWarning, match="taken as a number"):
        moments.update(X, table["y"], age)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moments.update(X[:10], table["y"][:10], age[:10])
    assert [label.kind for label in moments._labels] == ["integer", "float"]


def test_dates_are_days(table):
    days = np.random.default_rng(1).integers(0, 20_000, N)
    start = datetime.datetime(1970, 1, 1)
    times = [start + datetime.timedelta(days=int(d), hours=6) for d in days]
    labels = {"sensitive_features": table["sex"]}
    numbers = table[["a"]].assign(when=days + 0.25)
    expected = SARL(max_leakage=0.1).fit_transform(numbers, table["y"], **labels)
    for X in (
        table[["a"]].assign(when=times),
        pl.DataFrame({"a": table["a"].to_numpy(), "when": times}),
    ):
        z = SARL(max_leakage=0.1).fit_transform(X, table["y"], **labels)
        np.testing.assert_allclose(np.asarray(z), expected, atol=1e-9)
    dates = pl.DataFrame({"a": table["a"].to_numpy(), "when": [t.date() for t in times]})
    z = SARL(max_leakage=0.1).fit_transform(dates, table["y"], **labels)
    np.testing.assert_allclose(np.asarray(z), expected, atol=1e-9)


def test_identifiers_are_named_together(table):
    X = table[["a"]].assign(name=[f"n{i}" for i in range(N)], case=[f"c{i}" for i in range(N)])
    with pytest.raises(
        ValueError, match=r"columns 'name', 'case'; .*drop\(columns=\['name', 'case'"
    ):
        SARL().fit(X, table["y"], sensitive_features=table["sex"])
    said = X.drop(columns="case").astype({"name": "category"})
    with pytest.warns(UserWarning, match="rows for"):
        SARL(ridge=0.0).fit(said, table["y"], sensitive_features=table["sex"])


def test_models_of_messy_tables(table, tmp_path, cli):
    rng = np.random.default_rng(2)
    city = rng.choice(list("abcdefgh"), N, p=[0.3, 0.3, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])
    fee = rng.integers(1, 9, N) * 1000
    written = [f'"${v:,}"' for v in fee]
    lines = zip(table["a"], city, written, table["sex"], table["y"], strict=True)
    text = "a,city,fee,sex,y\n" + "".join(f"{a!r},{c},{f},{s},{y}\n" for a, c, f, s, y in lines)
    (tmp_path / "t.csv").write_text(text)
    model, data = tmp_path / "m.safetensors", tmp_path / "t.csv"
    labels = "-t y -s sex --max-categories 3 --lambda 0.5"
    cli("fit", data, *labels.split(), "-o", model)
    cli("encode", model, data, "-o", tmp_path / "z.npy")
    encoder = load(model)
    X = pd.DataFrame({"a": table["a"], "city": city, "fee": fee})
    np.testing.assert_allclose(encoder.transform(X), np.load(tmp_path / "z.npy"), atol=1e-9)
    encoder.save(tmp_path / "again.safetensors")
    cli("encode", tmp_path / "again.safetensors", data, "-o", tmp_path / "again.npy")
    np.testing.assert_allclose(np.load(tmp_path / "again.npy"), np.load(tmp_path / "z.npy"))
