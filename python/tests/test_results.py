"""What a fit says about itself, and other trade-offs from it."""

import numpy as np
import pytest

from sarl import SARL, Eraser, KernelSARL


@pytest.fixture(scope="module")
def encoder(rows):
    return SARL(max_leakage=0.05).fit(rows.X, rows.y, sensitive_features=rows.s)


def loss(z, labels):
    """The mean squared error of least squares on z, summed over one-hot columns."""
    hot = np.eye(labels.max() + 1)[labels]
    a = np.column_stack([np.ones(len(z)), z])
    return ((hot - a @ np.linalg.lstsq(a, hot, rcond=None)[0]) ** 2).sum() / len(z)


def test_the_losses_are_those_of_least_squares(encoder, rows):
    z = encoder.transform(rows.X)
    assert encoder.point_.jy == pytest.approx(loss(z, rows.y), abs=1e-10)
    assert encoder.point_.js == pytest.approx(loss(z, rows.s), abs=1e-10)
    bounds = encoder.bounds_
    assert encoder.leakage_ == pytest.approx(
        1 - loss(z, rows.s) / loss(z[:, :0], rows.s), abs=1e-10
    )
    assert bounds.gamma_min == pytest.approx(loss(rows.X, rows.y), abs=1e-10)
    assert bounds.alpha_star_min == pytest.approx(loss(rows.X, rows.s), abs=1e-10)
    assert bounds.utility(bounds.gamma_min) == 1 and bounds.leakage(bounds.alpha_max) == 0


def test_the_certificate(encoder):
    assert abs(encoder.gap_) < 1e-9
    assert encoder.dual_bound_ == pytest.approx(encoder.point_.jy, abs=1e-9)
    assert encoder.leakage_ == pytest.approx(0.05, abs=1e-9)


def test_the_front(encoder):
    front = encoder.front_
    assert front.shape == (101, 12) == np.asarray(front).shape
    assert (np.diff(front["utility"]) < 1e-9).all() and (np.diff(front["leakage"]) < 1e-9).all()
    assert front["utility"][0] == pytest.approx(1)
    table = front.to_pandas()
    assert list(table.columns) == list(front.columns)
    np.testing.assert_array_equal(table["leakage"], front["leakage"])
    assert [row["dim"] for row in front][:3] == list(front["dim"][:3])
    assert "heldout_leakage" in repr(front) and "101 points" in repr(front)
    for wrong in ("loss", slice(5)):
        with pytest.raises(KeyError, match="the columns are lambda, dim"):
            front[wrong]
    assert len(encoder.front(7)) == 7


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_retune_is_a_fit_with_another_goal(cls, rows):
    base = {} if cls is not KernelSARL else {"landmarks": 40}
    start = cls(trade_off=0.5, **base).fit(rows.X, rows.y, sensitive_features=rows.s)
    for goal in ({"trade_off": 0.2}, {"max_leakage": 0.03}, {"min_utility": 0.8}, {"alpha": 0.45}):
        tuned = start.retune(**goal)
        fitted = cls(**goal, **base).fit(rows.X, rows.y, sensitive_features=rows.s)
        assert tuned.get_params() == fitted.get_params()
        np.testing.assert_allclose(tuned.transform(rows.X), fitted.transform(rows.X), atol=1e-9)
        assert tuned.heldout_ == pytest.approx(fitted.heldout_)
    assert start.trade_off == 0.5, "the first one stays"
    assert start.lambda_ == start.point_.lambda_ == 0.5
    assert start.retune(trade_off=0.2).lambda_ == 0.2


@pytest.mark.parametrize("cls", [SARL, KernelSARL, Eraser])
def test_the_old_name_of_the_trade_off(cls, rows):
    with pytest.warns(FutureWarning, match="lambda_ was renamed to trade_off"):
        old = cls(lambda_=0.3)
    assert old.get_params() == cls(trade_off=0.3).get_params() and "lambda_" not in old.get_params()
    assert not hasattr(old, "lambda_"), "an attribute of a fit"
    with pytest.raises(TypeError, match="lambda_ is the old name of trade_off"):
        cls(lambda_=0.3, trade_off=0.3)
    fitted = old.fit(rows.X, rows.y, sensitive_features=rows.s)
    with pytest.warns(FutureWarning, match="lambda_ was renamed to trade_off"):
        again = fitted.retune(lambda_=0.6)
    assert (fitted.lambda_, again.lambda_) == (0.3, 0.6)


def test_reconstruction(rows):
    encoder = SARL(min_utility=1.0).fit(rows.X, rows.y, sensitive_features=rows.s)
    z = encoder.transform(rows.X)
    back = encoder.inverse_transform(z)
    a = np.column_stack([np.ones(len(z)), z])
    np.testing.assert_allclose(back, a @ np.linalg.lstsq(a, rows.X, rcond=None)[0], atol=1e-9)
    kernel = KernelSARL(min_utility=1.0, landmarks=30, ridge=0.0).fit(
        rows.X, rows.y, sensitive_features=rows.s
    )
    z = kernel.transform(rows.X)
    a = np.column_stack([np.ones(len(z)), z])
    np.testing.assert_allclose(
        kernel.inverse_transform(z), a @ np.linalg.lstsq(a, rows.X, rcond=None)[0], atol=1e-6
    )
    assert 0 < kernel.residual_ < 0.5 and kernel.gamma_ > 0 and kernel.components_.shape == (1, 30)
    erased = Eraser().fit_transform(rows.X, sensitive_features=rows.s)
    np.testing.assert_array_equal(
        Eraser().fit(rows.X, sensitive_features=rows.s).inverse_transform(erased), erased
    )


def test_nothing_left(rows):
    """A target that is what is hidden: an encoder of no dimensions, not an error."""
    with pytest.warns(UserWarning, match="z has no columns"):
        encoder = SARL(max_leakage=0).fit(rows.X, rows.s, sensitive_features=rows.s)
    assert encoder.n_components_ == 0 and encoder.transform(rows.X).shape == (400, 0)
    np.testing.assert_allclose(
        encoder.inverse_transform(np.empty((2, 0))), [rows.X.mean(axis=0)] * 2
    )


def test_few_rows_are_told(rows):
    few = slice(0, 25)
    chosen = SARL().fit(rows.X[few], rows.y[few], sensitive_features=rows.s[few])
    assert chosen.ridge_ > 0
    with pytest.warns(UserWarning, match="25 rows for 6 directions: .* try ridge='auto'"):
        SARL(ridge=0.0).fit(rows.X[few], rows.y[few], sensitive_features=rows.s[few])
    with pytest.warns(UserWarning, match="25 rows for 6 directions: .* try ridge='auto'"):
        Eraser().fit(rows.X[few], sensitive_features=rows.s[few])
