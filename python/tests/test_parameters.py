"""Each parameter changes the result; each wrong value is refused in a sentence."""

import numpy as np
import pytest

from sarl import SARL, Eraser, KernelSARL, Moments, audit

BASE = {
    SARL: {"max_leakage": 0.05},
    KernelSARL: {"max_leakage": 0.05, "landmarks": 40},
    Eraser: {"leakage": 0.05},
}


def z_of(estimator, rows, **fit):
    labels = {"y": rows.y, "sensitive_features": rows.s} | fit
    y = labels.pop("y")
    return estimator.fit(rows.X, y, **labels).transform(rows.X)


CHANGES = [
    (SARL, {"max_leakage": None, "trade_off": 0.3}),
    (SARL, {"max_leakage": None, "alpha": 0.4}),
    (SARL, {"max_leakage": 0.01}),
    (SARL, {"max_leakage": None, "min_utility": 0.9}),
    (SARL, {"ridge": 5.0}),
    (SARL, {"criterion": "equalized-odds"}),
    (SARL, {"criterion": "equal-opportunity", "favourable": 0}),
    (KernelSARL, {"max_leakage": None, "trade_off": 0.3}),
    (KernelSARL, {"max_leakage": None, "alpha": 0.4}),
    (KernelSARL, {"max_leakage": 0.01}),
    (KernelSARL, {"max_leakage": None, "min_utility": 0.9}),
    (KernelSARL, {"kernel": "laplacian"}),
    (KernelSARL, {"kernel": "polynomial"}),
    (KernelSARL, {"gamma": 0.5}),
    (KernelSARL, {"approx": "random-features"}),
    (KernelSARL, {"approx": "exact"}),
    (KernelSARL, {"sampling": "uniform"}),
    (KernelSARL, {"landmarks": 20}),
    (KernelSARL, {"tolerance": 0.3}),
    (KernelSARL, {"ridge": 0.1}),
    (KernelSARL, {"scale": "none"}),
    (KernelSARL, {"random_state": 5}),
    (KernelSARL, {"criterion": "equalized-odds"}),
    (KernelSARL, {"criterion": "equal-opportunity", "favourable": 0}),
    (Eraser, {"leakage": None, "trade_off": 0.3}),
    (Eraser, {"leakage": None, "alpha": 0.4}),
    (Eraser, {"leakage": 0.01}),
    (Eraser, {"leakage": None, "max_leakage": 0.01}),
    (Eraser, {"leakage": None, "min_utility": 0.9}),
    (Eraser, {"scale": "standard"}),
    (Eraser, {"leakage": None, "ridge": 1.0}),
]


@pytest.mark.parametrize(("cls", "changed"), CHANGES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_parameter_changes_what_comes_out(cls, changed, rows):
    before = z_of(cls(**BASE[cls]), rows)
    after = z_of(cls(**{**BASE[cls], **changed}), rows)
    assert before.shape != after.shape or np.abs(before - after).max() > 1e-4


@pytest.mark.parametrize("changed", [{"degree": 4}, {"coef0": 0.2}])
def test_parameters_of_the_polynomial_kernel(changed, rows):
    base = BASE[KernelSARL] | {"kernel": "polynomial"}
    assert (
        np.abs(z_of(KernelSARL(**base), rows) - z_of(KernelSARL(**base | changed), rows)).max()
        > 1e-4
    )


@pytest.mark.parametrize("cls", [SARL, KernelSARL])
def test_n_components(cls, rows):
    y = np.digitize(rows.number, [-2, 0, 2])
    wide = cls(trade_off=0.1, **({} if cls is SARL else {"landmarks": 40}))
    assert z_of(wide, rows, y=y).shape[1] == 3
    assert z_of(wide.set_params(n_components=2), rows, y=y).shape[1] == 2


def test_scale_matters_with_a_ridge(rows):
    X = rows.X * np.logspace(-2, 2, 6)

    def bounds(scale):
        return (
            SARL(max_leakage=0.05, ridge=0.5, scale=scale)
            .fit(X, rows.y, sensitive_features=rows.s)
            .point_.jy
        )

    assert abs(bounds("standard") - bounds("none")) > 1e-3


@pytest.mark.parametrize("cls", [SARL, KernelSARL])
def test_the_ridge_is_chosen_by_held_out_losses(cls, rows):
    few = slice(0, 60)

    def fit(ridge):
        encoder = cls(max_leakage=0.05, ridge=ridge)
        return encoder.fit(rows.X[few], rows.y[few], sensitive_features=rows.s[few])

    plain, chosen = fit(0.0), fit("auto")
    assert chosen.ridge_ > 0 == plain.ridge_
    assert chosen.heldout_.jy < plain.heldout_.jy


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_folds(cls, rows):
    # Without folds no ridge is chosen, so none is wanted here.
    plain = {} if cls is Eraser else {"ridge": 0.0}
    none = cls(**BASE[cls], **plain, folds=1).fit(rows.X, rows.y, sensitive_features=rows.s)
    assert none.heldout_ is None and np.isnan(none.front(5)["heldout_jy"]).all()
    three = cls(**BASE[cls], folds=3).fit(rows.X, rows.y, sensitive_features=rows.s)
    five = cls(**BASE[cls], **plain).fit(rows.X, rows.y, sensitive_features=rows.s)
    assert three.heldout_.js_sd != five.heldout_.js_sd
    np.testing.assert_allclose(none.transform(rows.X), five.transform(rows.X), atol=1e-9)


@pytest.mark.parametrize("cls", [SARL, Eraser])
def test_the_seed_decides_on_folds(cls, rows):
    def held(seed):
        return (
            cls(**BASE[cls], random_state=seed)
            .fit(rows.X, rows.y, sensitive_features=rows.s)
            .heldout_
        )

    assert held(0) == held(0) != held(1)
    state = np.random.RandomState
    assert held(state(3)) == held(state(3)) != held(state(4))
    assert held(None) is not None


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_single_precision_is_nearly_double(cls, rows):
    X = rows.X.astype(np.float32)
    double, single = (
        cls(**BASE[cls], precision=p).fit(X, rows.y, sensitive_features=rows.s)
        for p in ("double", "single")
    )
    assert single.point_.jy != double.point_.jy
    assert single.point_.jy == pytest.approx(double.point_.jy, abs=2e-3)


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_types_of_labels(cls, rows):
    number = cls(**BASE[cls], sensitive_type="number").fit(
        rows.X, rows.y, sensitive_features=rows.s
    )
    classes = cls(**BASE[cls]).fit(rows.X, rows.y, sensitive_features=rows.s)
    assert number.bounds_.alpha_max == pytest.approx(classes.bounds_.alpha_max / 2)
    if cls is not Eraser:
        number = cls(**BASE[cls], target_type="number").fit(
            rows.X, rows.y, sensitive_features=rows.s
        )
        assert number.bounds_.target_variance == pytest.approx(classes.bounds_.target_variance / 2)


@pytest.mark.parametrize("cls", [SARL, KernelSARL])
def test_sensitive_columns_of_x(cls, rows):
    with_s = np.column_stack([rows.s, rows.X])
    named = cls(**BASE[cls], sensitive=[0], sensitive_type="class").fit(with_s, rows.y)
    passed = cls(**BASE[cls]).fit(rows.X, rows.y, sensitive_features=rows.s)
    np.testing.assert_allclose(named.transform(with_s), passed.transform(rows.X), atol=1e-9)
    negative = cls(**BASE[cls], sensitive=-7, sensitive_type="class").fit(with_s, rows.y)
    np.testing.assert_array_equal(negative.transform(with_s), named.transform(with_s))


def test_an_eraser_erases_its_sensitive_columns_too(rows):
    erased = Eraser(sensitive=[2]).fit_transform(rows.X)
    assert erased.shape == rows.X.shape
    assert np.ptp(erased[:, 2]) < 1e-9, "only its mean is left"


def test_unseen_categories(rows):
    import pandas as pd

    table = pd.DataFrame(rows.X, columns=list("abcdef")).assign(
        g=np.where(rows.X[:, 0] > 3, "u", "v")
    )
    other = table.assign(g="w")
    encoder = SARL(max_leakage=0.1).fit(table, rows.y, sensitive_features=rows.s)
    with pytest.raises(ValueError, match="column 'g' is 'w' in row 0 .* was not there"):
        encoder.transform(other)
    assert encoder.set_params(unseen="ignore").transform(other).shape == (len(rows.y), 1)


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_threads_do_not_change_the_result(cls, rows):
    one = z_of(cls(**BASE[cls], n_jobs=1), rows)
    np.testing.assert_allclose(z_of(cls(**BASE[cls], n_jobs=2), rows), one, atol=1e-9)
    np.testing.assert_allclose(z_of(cls(**BASE[cls], n_jobs=-1), rows), one, atol=1e-9)


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_a_bar_is_shown(cls, rows, capsys):
    z_of(cls(**BASE[cls], verbose=1), rows)
    shown = capsys.readouterr()
    assert f"{cls.__name__} moments" in shown.err and "400/400" in shown.err
    z_of(cls(**BASE[cls]), rows)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_weights(cls, rows):
    plain = z_of(cls(**BASE[cls]), rows)
    assert np.abs(z_of(cls(**BASE[cls]), rows, sample_weight=rows.weights) - plain).max() > 1e-3
    np.testing.assert_allclose(
        z_of(cls(**BASE[cls]), rows, sample_weight=np.full(400, 2.0)), plain, atol=1e-9
    )


def test_every_parameter_has_a_test():
    """So that one that is added here does not go untested."""
    tested = {name for _, changed in CHANGES for name in changed} | {
        "degree",
        "coef0",
        "n_components",
        "scale",
        "ridge",
        "folds",
        "random_state",
        "precision",
        "device",  # test_device.py
        "preserve",  # test_family.py
        "sensitive_type",
        "target_type",
        "sensitive",
        "unseen",
        "n_jobs",
        "verbose",
    }
    for cls in (SARL, KernelSARL, Eraser):
        assert set(cls().get_params()) <= tested


def fit(cls, rows, X=None, y=None, s=None, **params):
    X = rows.X if X is None else X
    return cls(**params).fit(
        X, rows.y if y is None else y, sensitive_features=rows.s if s is None else s
    )


BAD_PARAMETERS = [
    (
        SARL,
        {"trade_off": 0.5, "max_leakage": 0.1},
        r"trade_off=0.5 and max_leakage=0.1 were given: exactly one",
    ),
    (Eraser, {"leakage": 0.1, "max_leakage": 0.1}, "exactly one goal is needed"),
    (SARL, {"trade_off": 1.5}, r"trade_off is 1.5: expected 0 to 1"),
    (SARL, {"max_leakage": 5}, r"max_leakage is 5: expected 0 to 1 \(5 % is 0.05\)"),
    (SARL, {"min_utility": -0.1}, "min_utility is -0.1: expected 0 to 1"),
    (SARL, {"alpha": np.inf}, "alpha is inf: expected a finite number"),
    (SARL, {"alpha": 9.0}, r"alpha of 9 cannot be reached: the reachable range is"),
    (SARL, {"max_leakage": "much"}, "max_leakage is 'much': expected a number"),
    (SARL, {"max_leakage": True}, "max_leakage is True: expected a number"),
    (SARL, {"n_components": 0}, "n_components is 0: expected None, or a whole number above 0"),
    (SARL, {"n_components": 1.5}, "n_components is 1.5: expected"),
    (SARL, {"ridge": -1}, "ridge is -1: expected a finite number, 0 or more, 'auto' or None"),
    (SARL, {"ridge": "some"}, "ridge is 'some': expected one of 'auto'"),
    (SARL, {"ridge": "auto", "folds": 1}, "ridge='auto' is chosen by held-out losses"),
    (SARL, {"scale": "minmax"}, "scale is 'minmax': expected one of 'standard', 'none'"),
    (SARL, {"folds": 0}, "folds is 0: expected a whole number, 1 to 1000"),
    (
        SARL,
        {"precision": "half"},
        "precision is 'half': expected one of 'double', 'single', 'fast'",
    ),
    (
        SARL,
        {"target_type": "text"},
        "target_type is 'text': expected 'auto', 'class', 'number', 'kernel'",
    ),
    (SARL, {"sensitive_type": 3}, "sensitive_type is 3: expected"),
    (SARL, {"unseen": "drop"}, "unseen is 'drop': expected one of 'error', 'ignore'"),
    (SARL, {"n_jobs": 0}, "n_jobs is 0: expected None, -1, or a whole number above 0"),
    (SARL, {"random_state": "zero"}, "zero"),
    (SARL, {"sensitive": [0]}, "sensitive_features was passed and the parameter sensitive is set"),
    (
        KernelSARL,
        {"kernel": "linear"},
        "kernel is 'linear': expected one of 'rbf', 'laplacian', 'polynomial'",
    ),
    (KernelSARL, {"gamma": 0}, "gamma is 0: expected a finite number above 0, or 'auto'"),
    (KernelSARL, {"gamma": "wide"}, "gamma is 'wide': expected one of 'auto'"),
    (
        KernelSARL,
        {"kernel": "polynomial", "degree": 0},
        "degree is 0: expected a whole number, 1 to 100",
    ),
    (
        KernelSARL,
        {"kernel": "polynomial", "coef0": -1},
        "coef0 is -1: expected a finite number, 0 or more",
    ),
    (KernelSARL, {"landmarks": 0}, "landmarks is 0: expected a whole number, 1 to 100000"),
    (KernelSARL, {"tolerance": 1}, "tolerance is 1: expected 0 or more, below 1"),
    (KernelSARL, {"approx": "some"}, "approx is 'some'"),
    (KernelSARL, {"sampling": "some"}, "sampling is 'some'"),
    (
        KernelSARL,
        {"kernel": "polynomial", "approx": "random-features"},
        "no random Fourier features of a polynomial",
    ),
]


@pytest.mark.parametrize(("cls", "params", "sentence"), BAD_PARAMETERS, ids=lambda v: str(v)[:40])
def test_bad_parameters(cls, params, sentence, rows):
    with pytest.raises(ValueError, match=sentence):
        fit(cls, rows, **params)


def with_gap(X, value):
    X = X.copy()
    X[7, 2] = value
    return X


def test_bad_rows(rows):
    import datetime

    import pandas as pd

    n = len(rows.y)
    table = pd.DataFrame(rows.X, columns=list("abcdef"))
    cases = [
        ({"X": with_gap(rows.X, np.nan)}, "X is NaN in row 7, column 'x2'"),
        ({"X": with_gap(rows.X, -np.inf)}, "X is -inf in row 7, column 'x2'"),
        ({"X": table.assign(c=with_gap(rows.X, np.nan)[:, 2])}, "X is NaN in row 7, column 'c'"),
        ({"X": table.assign(g=["u", None] * (n // 2))}, "column 'g' has no value in row 1"),
        (
            {"X": table.assign(d=[[1, 2]] * n)},
            "column 'd' holds .* neither numbers, dates nor text",
        ),
        ({"X": pd.concat([table, table[["a"]]], axis=1)}, "'a' 2 times|'a' comes twice"),
        ({"X": rows.X[:, :0]}, "0 feature"),
        ({"X": rows.X[:, 0]}, "Expected 2D array"),
        ({"y": rows.y[:-1]}, f"X has {n} rows, but y has {n - 1}"),
        ({"s": rows.s[:-3]}, f"X has {n} rows, but s has {n - 3}"),
        ({"y": np.zeros(n, int)}, "label `y` takes a single value in all rows"),
        ({"s": pd.Series(["a"] * n, name="sex")}, "label `sex` takes a single value"),
        ({"y": np.where(np.arange(n) == 5, np.nan, rows.number)}, "y is NaN in row 5"),
        ({"s": ["a", None] * (n // 2)}, "s has no value in row 1"),
        ({"s": np.array(["a", 1] * (n // 2), object)}, "s holds int, str"),
        ({"s": [datetime.date(2020, 1, 1)] * n}, "s holds date"),
        ({"s": np.array(["2020-01-01"] * n, "M8[D]")}, "s holds dates"),
        ({"s": np.zeros((n, 2, 2))}, "expected one column, or rows by columns"),
        ({"s": np.ones(n, complex)}, "s holds complex128"),
        (
            {"X": np.zeros((n, 3))},
            "every feature is constant up to rounding: there is nothing to encode",
        ),
    ]
    for changed, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            fit(SARL, rows, **changed)


def test_bad_use_of_a_fitted_one(rows):
    encoder = SARL(max_leakage=0.05).fit(rows.X, rows.y, sensitive_features=rows.s)
    cases = [
        (lambda: encoder.transform(rows.X[:, :3]), "X has 3 features, but SARL is expecting 6"),
        (lambda: encoder.transform(with_gap(rows.X, np.nan)), "X is NaN in row 7, column 'x2'"),
        (
            lambda: encoder.inverse_transform(rows.X),
            "Z has 6 columns, but the encoder has 1 dimensions",
        ),
        (lambda: encoder.retune(), "a goal is missing"),
        (lambda: encoder.retune(trade_off=0.1, alpha=0.3), "exactly one goal"),
        (
            lambda: encoder.retune(max_leakage=2),
            r"max_leakage is 2: expected 0 to 1 \(2 % is 0.02\)",
        ),
        (lambda: encoder.front(1), "points is 1: expected a whole number, 2 or more"),
        (
            lambda: SARL().fit(
                rows.X, rows.y, sensitive_features=rows.s, sample_weight=-rows.weights
            ),
            "weights must not be negative",
        ),
        (lambda: SARL(sensitive=["a"]).fit(rows.X, rows.y), "sensitive: X has no column 'a'"),
        (lambda: SARL(sensitive=[9]).fit(rows.X, rows.y), "sensitive: there is no column 9"),
        (lambda: SARL(sensitive=[]).fit(rows.X, rows.y), "sensitive names no column"),
        (lambda: KernelSARL().fit_moments(Moments()), "know nothing of a kernel"),
        (lambda: SARL().fit_moments(Moments()), "the moments have no rows"),
        (
            lambda: SARL().fit_moments(Moments().update(rows.X, sensitive_features=rows.s)),
            "the moments have no target",
        ),
        (
            lambda: Eraser().fit_moments(Moments().update(rows.X, rows.y, rows.s)),
            "the moments have a target",
        ),
        (
            lambda: audit(encoder, rows.X, rows.y, sensitive_features=rows.s[:9]),
            "sensitive_features has 9",
        ),
        (
            lambda: audit(encoder, rows.X, rows.y, sensitive_features=rows.s, probes=["x"]),
            'there is no probe "x"',
        ),
        (
            lambda: audit(encoder, rows.X, rows.y, sensitive_features=rows.s, test_size=1.0),
            "too few for 3 parts",
        ),
        (lambda: audit(3, rows.X, sensitive_features=rows.s), "int has no method `transform`"),
    ]
    for call, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            call()


def test_an_eraser_wants_numbers(rows):
    import pandas as pd

    table = pd.DataFrame(rows.X, columns=list("abcdef")).assign(g="u")
    with pytest.raises(ValueError, match="column 'g' holds categories: Eraser returns numbers"):
        Eraser().fit(table, sensitive_features=rows.s)
