"""Arrays and tables of every library: the same result, and what came in comes out."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch

from sarl import SARL, Eraser, KernelSARL

NAMES = list("abcdef")
ESTIMATORS = [
    SARL(max_leakage=0.05),
    KernelSARL(max_leakage=0.05, landmarks=30),
    Eraser(leakage=0.05),
]
by_class = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


def fitted(estimator, X, rows, **labels):
    y, s = labels.get("y", rows.y), labels.get("s", rows.s)
    return type(estimator)(**estimator.get_params()).fit(X, y, sensitive_features=s)


class Stream:
    """A table that shows nothing but the Arrow PyCapsule interface."""

    def __init__(self, table):
        self._table = table
        self.shape = table.shape

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_a_stream_that_can_be_read_once(rows):
    def reader():
        table = tables(rows.X)["pyarrow"]
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(100))

    expected = SARL(max_leakage=0.1).fit(rows.X, rows.y, sensitive_features=rows.s)
    z = SARL(max_leakage=0.1).fit_transform(reader(), rows.y, sensitive_features=rows.s)
    assert isinstance(z, pa.Table)
    np.testing.assert_allclose(z["sarl0"], expected.transform(rows.X)[:, 0], atol=1e-9)
    np.testing.assert_allclose(
        SARL(max_leakage=0.1)
        .fit(reader(), rows.y, sensitive_features=rows.s)
        .transform(reader())["sarl0"],
        z["sarl0"],
    )


def tables(X, names=NAMES):
    columns = {name: X[:, j] for j, name in enumerate(names)}
    return {
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
        "capsule": Stream(pa.table(columns)),
    }


@by_class
@pytest.mark.parametrize(
    "form", ["fortran", "strided", "reversed", "list", "csr", "csc", "coo", "torch"]
)
def test_every_array_gives_the_same(estimator, form, rows):
    expected = fitted(estimator, rows.X, rows).transform(rows.X)
    X = {
        "fortran": np.asfortranarray(rows.X),
        "strided": np.repeat(rows.X, 2, axis=1)[:, ::2],
        "reversed": rows.X[::-1].copy()[::-1],
        "list": rows.X.tolist(),
        "csr": sp.csr_array(rows.X),
        "csc": sp.csc_matrix(rows.X),
        "coo": sp.coo_array(rows.X),
        "torch": torch.from_numpy(rows.X),
    }[form]
    encoder = fitted(estimator, X, rows)
    z = encoder.transform(X)
    if form == "torch":
        assert isinstance(z, torch.Tensor) and z.dtype == torch.float64
        z = z.numpy()
    assert isinstance(z, np.ndarray)
    np.testing.assert_allclose(z, expected, atol=1e-9)


@by_class
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "capsule"])
def test_every_table_gives_the_same(estimator, library, rows):
    expected = fitted(estimator, rows.X, rows).transform(rows.X)
    table = tables(rows.X)[library]
    encoder = fitted(estimator, table, rows)
    z = encoder.transform(table)
    like = tables(rows.X)["pyarrow" if library == "capsule" else library]
    assert type(z) is type(like)
    assert encoder.n_features_in_ == 6
    columns = z.column_names if isinstance(z, pa.Table) else list(z.columns)
    assert columns == list(encoder.get_feature_names_out())
    np.testing.assert_allclose(
        np.column_stack([np.asarray(z[c]) for c in columns]), expected, atol=1e-9
    )


@by_class
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.int8, bool])
def test_precision_follows_the_input(estimator, dtype, rows):
    X = (rows.X * 10).astype(dtype) if dtype is not bool else rows.X > 3
    encoder = fitted(estimator, X, rows)
    z = encoder.transform(X)
    assert z.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert encoder.transform(torch.from_numpy(rows.X.astype(np.float32))).dtype == torch.float32
    double = fitted(estimator, X.astype(np.float64), rows).transform(X.astype(np.float64))
    # Single precision in, double inside, single precision out.
    np.testing.assert_allclose(z, double, atol=2e-6 * np.abs(double).max())


@by_class
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_of_torch(estimator, dtype, rows):
    x = torch.from_numpy(rows.X).to(dtype)
    labels = {"sensitive_features": torch.from_numpy(rows.s)}
    encoder = type(estimator)(**estimator.get_params()).fit(x, torch.from_numpy(rows.y), **labels)
    z = encoder.transform(x)
    assert z.dtype == dtype
    torch.testing.assert_close(z, encoder.transform(x.double()).to(dtype))


@pytest.mark.parametrize(
    "estimator",
    [SARL(trade_off=0.2), SARL(sensitive=1), Eraser(leakage=0.1), Eraser(sensitive=0)],
    ids=str,
)
def test_gradients_of_torch(estimator, rows):
    labels = {} if estimator.sensitive is not None else {"sensitive_features": rows.s}
    encoder = type(estimator)(**estimator.get_params()).fit(rows.X, rows.y, **labels)
    x = torch.from_numpy(rows.X[:3]).requires_grad_()
    assert torch.autograd.gradcheck(encoder.transform, (x,))
    z = encoder.transform(rows.X[:3])
    np.testing.assert_array_equal(encoder.transform(x).detach().numpy(), z)
    with torch.no_grad():
        assert not encoder.transform(x).requires_grad


def test_a_kernel_has_no_gradient_and_warns(rows):
    encoder = fitted(ESTIMATORS[1], rows.X, rows)
    with pytest.warns(UserWarning, match="the result has no gradient"):
        z = encoder.transform(torch.from_numpy(rows.X).requires_grad_())
    assert not z.requires_grad


class Capsule:
    """An array that only has DLPack's interface."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack(rows):
    encoder = fitted(ESTIMATORS[0], Capsule(rows.X), rows)
    np.testing.assert_array_equal(
        encoder.transform(Capsule(rows.X)), fitted(ESTIMATORS[0], rows.X, rows).transform(rows.X)
    )


def test_lazy_tables_and_missing_booleans_are_refused(rows):
    with pytest.raises(ValueError, match="the table is lazy: pass .collect()"):
        fitted(ESTIMATORS[0], tables(rows.X)["polars"].lazy(), rows)
    gaps = pd.array([True, None] * 200, dtype="boolean")
    with pytest.raises(ValueError, match="column 'g' has no value in row 1"):
        fitted(ESTIMATORS[0], tables(rows.X)["pandas"].assign(g=gaps), rows)
    with pytest.raises(ValueError, match="s has no value in row 1"):
        fitted(ESTIMATORS[0], rows.X, rows, s=pd.Series(gaps))


def test_an_index_is_kept(rows):
    table = tables(rows.X)["pandas"].set_index(np.arange(len(rows.y)) + 1000)
    z = SARL(max_leakage=0.1).fit(table, rows.y, sensitive_features=rows.s).transform(table)
    assert list(z.index[:2]) == [1000, 1001]


def labels(rows):
    words = np.where(rows.s, "yes", "no")
    return {
        "ints": rows.s,
        "bools": rows.s.astype(bool),
        "small ints": rows.s.astype(np.int8),
        "large ints": rows.s * 10**12 - 5,
        "unsigned": rows.s.astype(np.uint8),
        "text": words,
        "bytes": words.astype("S"),
        "objects": words.astype(object),
        "list": words.tolist(),
        "series": pd.Series(words, name="g"),
        "categorical": pd.Series(words, name="g").astype("category"),
        "polars": pl.Series("g", words),
        "pyarrow": pa.array(words.tolist()),
        "chunks": pa.chunked_array([words[:100].tolist(), words[100:].tolist()]),
        "tensor": torch.from_numpy(rows.s),
        "column": rows.s[:, None],
        "table": pd.DataFrame({"g": words}),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "ints",
        "bools",
        "small ints",
        "large ints",
        "unsigned",
        "text",
        "bytes",
        "objects",
        "list",
        "series",
        "categorical",
        "polars",
        "pyarrow",
        "chunks",
        "tensor",
        "column",
        "table",
    ],
)
def test_labels_of_every_kind_are_classes(kind, rows):
    expected = SARL(max_leakage=0.05).fit(rows.X, rows.y, sensitive_features=rows.s)
    encoder = SARL(max_leakage=0.05).fit(rows.X, rows.y, sensitive_features=labels(rows)[kind])
    np.testing.assert_allclose(encoder.transform(rows.X), expected.transform(rows.X), atol=1e-12)
    as_target = SARL(max_leakage=0.05).fit(rows.X, labels(rows)[kind], sensitive_features=rows.y)
    assert as_target.bounds_.target_variance == pytest.approx(expected.bounds_.alpha_max)


def test_floats_are_numbers_and_can_be_classes(rows):
    floats = rows.s.astype(float)
    number = SARL(max_leakage=0.05).fit(rows.X, rows.y, sensitive_features=floats)
    assert number.bounds_.alpha_max == pytest.approx(floats.var())
    classes = SARL(max_leakage=0.05, sensitive_type="class").fit(
        rows.X, rows.y, sensitive_features=floats
    )
    assert classes.bounds_.alpha_max == pytest.approx(2 * floats.var())


def test_several_columns(rows):
    table = pd.DataFrame({"group": np.where(rows.s, "u", "v"), "age": rows.number})
    both = SARL(max_leakage=0.0).fit(rows.X, rows.y, sensitive_features=table)
    z = both.transform(rows.X)[:, 0]
    assert (
        abs(np.corrcoef(z, rows.s)[0, 1]) < 1e-9 and abs(np.corrcoef(z, rows.number)[0, 1]) < 1e-9
    )
    # As an array all columns are of one kind.
    pair = np.column_stack([rows.s, rows.y])
    encoder = SARL(min_utility=1.0).fit(rows.X, pair, sensitive_features=rows.s)
    assert encoder.n_components_ == 2


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("estimator", ESTIMATORS[:2], ids=lambda e: type(e).__name__)
def test_text_columns_are_one_hot(library, estimator, rows):
    words = np.array(["red", "green", "blue"])[(rows.X[:, 3] > 3).astype(int) + (rows.X[:, 4] > 3)]
    table = tables(rows.X[:, :4], NAMES[:4])["pandas"].assign(colour=words, flag=rows.X[:, 5] > 3)
    native = {
        "pandas": table,
        "polars": pl.from_pandas(table),
        "pyarrow": pa.Table.from_pandas(table),
    }[library]
    encoder = fitted(estimator, native, rows)
    hot = pd.get_dummies(table, columns=["colour", "flag"], dtype=float)
    # One-hot columns are not scaled.
    by_hand = hot.to_numpy(float)
    by_hand[:, :4] = (by_hand[:, :4] - by_hand[:, :4].mean(axis=0)) / by_hand[:, :4].std(axis=0)
    plain = type(estimator)(**{**estimator.get_params(), "scale": "none"})
    expected = plain.fit(by_hand, rows.y, sensitive_features=rows.s).transform(by_hand)
    z = encoder.transform(native)
    z = z.to_numpy() if library != "pyarrow" else np.column_stack([z[c] for c in z.column_names])
    np.testing.assert_allclose(z, expected, atol=1e-7)
    back = encoder.inverse_transform(z)
    assert set(back["colour"]) <= set(words) and set(back["flag"]) <= {"true", "false"}


def test_nothing_is_copied():
    """A fit of a large array takes a fraction of its memory more."""
    import subprocess
    import sys

    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of memory is only told by Linux")
    code = """
import numpy as np, re, sarl
X = np.empty((400_000, 64), np.float32)
np.random.default_rng(0).random(out=X, dtype=np.float32)
y = (X[:, 0] > 0.5).astype(int); s = (X[:, 1] > 0.5).astype(int)
sarl.SARL().fit(X[:1000], y[:1000], sensitive_features=s[:1000])
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
before = peak()
{fit}
print((peak() - before) / X.nbytes)
"""

    def growth(fit):
        done = subprocess.run(
            [sys.executable, "-c", code.format(fit=fit)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return float(done.stdout)

    assert growth("sarl.SARL().fit(X, y, sensitive_features=s)") < 0.25
    # The control: a copy would be seen.
    assert growth("X.copy()") > 0.9
