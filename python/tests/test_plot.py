"""Plots: what is drawn is what was computed."""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.collections import PathCollection
from matplotlib.patches import StepPatch
from sklearn.exceptions import NotFittedError

from sarl import SARL, Eraser, KernelSARL, plot


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 8))
    return X, X[:, :4].argmax(axis=1), X[:, 2:6].argmax(axis=1)


@pytest.fixture(scope="module")
def encoder(rows):
    X, y, s = rows
    return SARL(trade_off=0.5).fit(X, y, sensitive_features=s)


@pytest.fixture(scope="module")
def nested(rows):
    """Coarse classes made of fine ones: dimensions are lost, all at nearly the same λ."""
    X = rows[0]
    fine = X[:, :6].argmax(axis=1) * 2 + (X[:, 6] > 0)
    return SARL(max_leakage=0.1).fit(X, fine // 2, sensitive_features=fine)


@pytest.fixture(scope="module")
def one(rows):
    """An encoder with a single dimension, and its classes."""
    X = rows[0]
    y, s = X[:, 0] + X[:, 1] > 0, np.where(X[:, 1] + X[:, 2] > 0, "a", "b")
    return SARL(max_leakage=0.02).fit(X, y, sensitive_features=s), y, s


def line(ax, label):
    return next(found for found in ax.get_lines() if found.get_label() == label)


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(ax):
    return np.vstack([c.get_offsets() for c in ax.collections if isinstance(c, PathCollection)])


def same_rows(a, b):
    np.testing.assert_allclose(a[np.lexsort(a.T)], b[np.lexsort(b.T)], atol=1e-12)


# -- front ---------------------------------------------------------------------------------------


def test_front_draws_the_columns(encoder):
    ax = plot.front(encoder)
    front = encoder.front_
    for label, prefix in (("training rows", ""), ("rows not fitted on, ± 1 sd", "heldout_")):
        x, y = line(ax, label).get_data()
        np.testing.assert_array_equal(x, front[prefix + "leakage"])
        np.testing.assert_array_equal(y, front[prefix + "utility"])


def test_front_marks_the_point(encoder):
    ax = plot.front(encoder)
    point, held = encoder.point_, encoder.heldout_
    for found, at in (("chosen", point), ("held-out", held)):
        text = next(t for t in texts(ax) if t.startswith(found + ":"))
        assert f"leakage {100 * at.leakage:.1f} %, utility {100 * at.utility:.1f} %" in text
        x, y = line(ax, text).get_data()
        assert (x[0], y[0]) == (at.leakage, at.utility)


def test_front_draws_the_bounds(encoder):
    ax = plot.front(encoder)
    bounds = encoder.bounds_
    leakage, utility = bounds.leakage(bounds.alpha_min), bounds.utility(bounds.gamma_max)
    assert line(ax, "_leakage at full utility").get_xdata()[0] == leakage
    assert line(ax, "_utility at no leakage").get_ydata()[0] == utility
    assert line(ax, "_no leakage").get_xdata()[0] == 0
    assert line(ax, "_full utility").get_ydata()[0] == 1


def test_front_spread_is_that_of_the_folds(encoder):
    ax = plot.front(encoder)
    band = next(p for p in ax.patches if p.get_label() == "_spread").get_xy()
    front, bounds = encoder.front_, encoder.bounds_
    dx = front["heldout_js_sd"] / bounds.alpha_max
    dy = front["heldout_jy_sd"] / (bounds.target_variance - bounds.gamma_min)
    better = np.c_[front["heldout_leakage"] - dx, front["heldout_utility"] + dy]
    np.testing.assert_allclose(band[: len(front)], better)


def test_front_of_a_table_alone_is_the_same(encoder):
    whole, table = plot.front(encoder), plot.front(encoder.front_)
    for label in ("training rows", "_leakage at full utility", "_utility at no leakage"):
        np.testing.assert_allclose(line(table, label).get_data(), line(whole, label).get_data())
    bands = [next(p for p in ax.patches if p.get_label() == "_spread") for ax in (whole, table)]
    np.testing.assert_allclose(bands[0].get_xy(), bands[1].get_xy(), rtol=1e-6, atol=1e-9)
    assert not any("chosen" in text for text in texts(table))


def test_front_leaves_out_what_is_not_wanted(encoder):
    ax = plot.front(encoder, heldout=False, bounds=False, mark=False)
    assert [found.get_label() for found in ax.get_lines()] == ["training rows"]


def test_front_without_folds(rows):
    X, y, s = rows
    ax = plot.front(SARL(folds=1).fit(X, y, sensitive_features=s))
    assert not any("not fitted on" in text or "held-out" in text for text in texts(ax))


def test_front_shows_dimensions_lost_at_neighbouring_λ(nested):
    ax = plot.front(nested)
    front = nested.front_
    x, y = line(ax, "training rows").get_data()
    drawn = set(zip(x, y, strict=True))
    assert drawn > set(zip(front["leakage"], front["utility"], strict=True))
    assert (np.diff(x) <= 1e-9).all() and (np.diff(y) <= 1e-9).all()
    point = nested.point_
    chord = np.interp(point.leakage, front["leakage"][::-1], front["utility"][::-1])
    shown = np.interp(point.leakage, x[::-1], y[::-1])
    assert abs(shown - point.utility) < 0.001 < point.utility - chord


def test_front_of_several(encoder, rows):
    X, y, s = rows
    kernel = KernelSARL(max_leakage=0.05, landmarks=30).fit(X, y, sensitive_features=s)
    ax = plot.front({"linear": encoder, "kernel": kernel})
    assert [text.partition(":")[0] for text in texts(ax)] == ["linear", "kernel", "held-out"]
    for name, estimator in (("linear", encoder), ("kernel", kernel)):
        found = next(f for f in ax.get_lines() if f.get_label().startswith(name + ":"))
        np.testing.assert_array_equal(found.get_xdata(), estimator.front_["leakage"])
    assert ax.get_ylabel() == "utility (share of what each can attain)"
    colours = [f.get_color() for f in ax.get_lines() if ":" in f.get_label()]
    assert len(set(colours)) == 2


def test_front_names_several_by_their_classes(encoder, nested, rows):
    eraser = Eraser().fit(rows[0], sensitive_features=rows[2])
    ax = plot.front([encoder, eraser, nested], heldout=False, mark=False)
    assert texts(ax) == ["SARL 1", "Eraser", "SARL 2"]


def test_front_view_holds_all_that_is_drawn(encoder, nested):
    _, ax = plt.subplots()
    assert plot.front(encoder, ax=ax) is ax
    first = ax.get_xlim(), ax.get_ylim()
    plot.front(nested, ax=ax)
    for old, new in zip(first, (ax.get_xlim(), ax.get_ylim()), strict=True):
        assert new[0] <= old[0] and new[1] >= old[1]
    assert ax.get_ylim()[0] < 0 < 1 < ax.get_ylim()[1]


def test_front_where_nothing_is_to_be_traded(rows):
    X = rows[0]
    estimator = SARL().fit(X, X[:, 0] > 0, sensitive_features=X[:, 0] > 0)
    plot.front(estimator).figure.canvas.draw()


# -- dimension -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cap", [None, 2])
def test_dimension_steps_agree_with_the_grid(nested, rows, cap):
    X = rows[0]
    fine = X[:, :6].argmax(axis=1) * 2 + (X[:, 6] > 0)
    encoders = [SARL(n_components=cap).fit(X, fine // 2, sensitive_features=fine)]
    encoders += [Eraser().fit(X, sensitive_features=fine)] if cap is None else []
    for encoder in encoders:
        front = encoder.front(points=501)
        for given in (front, encoder):
            x, dims = plot.dimension(given).get_lines()[0].get_data()
            # Where a dimension is lost the grid may be either side of it.
            away = np.abs(front["lambda"][:, None] - x[1:-1]).min(axis=1, initial=1) > 1e-9
            at = np.searchsorted(x, front["lambda"], side="right") - 1
            np.testing.assert_array_equal(dims[at][away], front["dim"][away])


def test_dimension_uses_the_exact_breakpoints(nested):
    x, dims = plot.dimension(nested).get_lines()[0].get_data()
    np.testing.assert_array_equal(x[1:-1], nested.front_.breakpoints)
    assert dims[0] == nested.front_["dim"][0] and dims[-1] == nested.front_["dim"][-1]


def test_dimension_marks_the_chosen(nested):
    _, ax = plt.subplots()
    assert plot.dimension(nested, ax=ax) is ax
    (text,) = texts(ax)
    point = nested.point_
    assert text == f"chosen: λ = {point.lambda_:.3g}, {point.dim} dimensions"
    x, y = line(ax, text).get_data()
    assert (x[0], y[0]) == (point.lambda_, point.dim)
    assert plot.dimension(nested.front_).get_legend() is None


# -- embedding -----------------------------------------------------------------------------------


def test_embedding_points_are_those_of_transform(encoder, rows):
    X, y, s = rows
    z = encoder.transform(X)
    assert z.shape[1] == 3
    for labels in ({}, {"sensitive_features": s}, {"y": y}, {"sensitive_features": s, "y": y}):
        same_rows(points(plot.embedding(encoder, X, **labels)), z[:, :2])


def test_embedding_colours_are_those_of_the_labels(encoder, rows):
    X, _, s = rows
    ax = plot.embedding(encoder, X, sensitive_features=s)
    z = encoder.transform(X)[:, :2]
    drawn = {
        tuple(p): tuple(c)
        for p, c in zip(points(ax).data, ax.collections[0].get_facecolors(), strict=True)
    }
    handles = {
        h.get_label(): matplotlib.colors.to_rgb(h.get_color())
        for h in ax.get_legend().legend_handles
    }
    for row, label in zip(z, s, strict=True):
        np.testing.assert_allclose(drawn[tuple(row)][:3], handles[str(label)])


def test_embedding_draws_a_sample(encoder, rows):
    X, _, s = rows
    drawn = points(plot.embedding(encoder, X, sensitive_features=s, max_rows=50))
    z = {tuple(row) for row in encoder.transform(X)[:, :2].round(9)}
    assert len(drawn) == 50 and {tuple(row) for row in drawn.round(9)} <= z
    again = points(plot.embedding(encoder, X, sensitive_features=s, max_rows=50))
    np.testing.assert_array_equal(drawn, again)
    other = points(plot.embedding(encoder, X, sensitive_features=s, max_rows=50, random_state=1))
    assert {tuple(row) for row in other} != {tuple(row) for row in drawn}, "other rows"


def test_embedding_of_one_dimension_gives_densities(one, rows):
    encoder, y, s = one
    ax = plot.embedding(encoder, rows[0], sensitive_features=s)
    assert texts(ax) == ["a", "b"] and ax.get_ylabel() == "density"
    drawn = [p for p in ax.patches if isinstance(p, StepPatch) and not p.get_fill()]
    z = encoder.transform(rows[0])[:, 0]
    assert len(drawn) == 2
    for patch, name in zip(drawn, "ab", strict=True):
        heights, edges, _ = patch.get_data()
        np.testing.assert_allclose(heights, np.histogram(z[s == name], edges, density=True)[0])
        assert (edges[0], edges[-1]) == (z.min(), z.max())
    both = plot.embedding(encoder, rows[0], sensitive_features=s, y=y)
    assert texts(both) == ["sensitive features", "a", "b", "y", "false", "true"]
    assert len([p for p in both.patches if isinstance(p, StepPatch)]) == 4
    assert plot.embedding(encoder, rows[0]).get_legend() is None


def test_embedding_numbers_get_a_colour_bar(encoder, rows):
    X, y, _ = rows
    ax = plot.embedding(encoder, X, sensitive_features=pd.Series(X[:, 3], name="age"), y=y)
    bar = ax.figure.axes[-1]
    assert len(ax.figure.axes) == 2 and bar.get_ylabel() == "age"
    assert texts(ax) == ["0", "1", "2", "3"]
    shown = np.concatenate([c.get_array() for c in ax.collections])
    np.testing.assert_array_equal(np.sort(shown), np.sort(X[:, 3]))
    limits = {c.get_clim() for c in ax.collections}
    assert limits == {(X[:, 3].min(), X[:, 3].max())}


def test_embedding_many_whole_numbers_are_numbers_and_few_floats_are_classes(encoder, rows):
    X, y, _ = rows
    whole = (10 * X[:, 3]).round().astype(int)
    assert len(plot.embedding(encoder, X, sensitive_features=whole).figure.axes) == 2
    assert texts(plot.embedding(encoder, X, sensitive_features=y * 0.5)) == ["0", "0.5", "1", "1.5"]


def test_embedding_of_one_dimension_against_a_number(one, rows):
    encoder, y, _ = one
    X = rows[0]
    ax = plot.embedding(encoder, X, sensitive_features=pd.Series(X[:, 2], name="age"), y=y)
    same_rows(points(ax), np.c_[encoder.transform(X), X[:, 2]])
    assert ax.get_ylabel() == "age" and texts(ax) == ["false", "true"]


def test_embedding_a_number_as_y_is_split_at_its_median(encoder, rows):
    X, _, s = rows
    ax = plot.embedding(encoder, X, sensitive_features=s, y=X[:, 0])
    middle = np.median(X[:, 0])
    assert texts(ax)[-2:] == [f"≤ {middle:.3g}", f"> {middle:.3g}"]
    assert [len(c.get_offsets()) for c in ax.collections] == [400, 400]


def test_embedding_puts_rare_classes_together(encoder, rows):
    X = rows[0]
    s = np.array(list("abcdefghij"))[np.minimum(np.abs(4 * X[:, 0]).astype(int), 9)]
    shown = texts(plot.embedding(encoder, X, sensitive_features=s))
    assert len(shown) == 7 and shown[-1] == "4 others"


@pytest.mark.parametrize("library", [pd, pl])
def test_embedding_of_tables(rows, library):
    X, y, s = rows
    table = library.DataFrame({f"c{j}": X[:, j] for j in range(8)})
    sex = (
        library.Series(name="sex", values=np.array(list("mfxo"))[s])
        if library is pl
        else (pd.Series(np.array(list("mfxo"))[s], name="sex"))
    )
    estimator = SARL(trade_off=0.5).fit(table, y, sensitive_features=sex)
    ax = plot.embedding(estimator, table, sensitive_features=sex, max_rows=300)
    assert ax.get_legend().get_title().get_text() == "sex"
    assert texts(ax) == ["f", "m", "o", "x"] and len(points(ax)) == 300
    estimator.set_output(transform="pandas")
    plot.embedding(estimator, table, sensitive_features=sex)


def test_embedding_of_an_eraser(rows):
    X, _, s = rows
    eraser = Eraser().fit(X, sensitive_features=s)
    ax = plot.embedding(eraser, X, sensitive_features=s)
    assert ax.get_xlabel().startswith("PC 1 of erased X (")
    erased = eraser.transform(X)
    spread = np.linalg.svd(erased - erased.mean(axis=0), compute_uv=False)[:2]
    np.testing.assert_allclose(np.linalg.norm(points(ax), axis=0), spread)
    two = Eraser().fit(X[:, :2], sensitive_features=X[:, 0] > 0)
    ax = plot.embedding(two, X[:, :2])
    same_rows(points(ax), two.transform(X[:, :2]))
    assert ax.get_xlabel() == "x0, erased"
    scaled = Eraser(scale="standard").fit(X * 10.0 ** np.arange(8), sensitive_features=s)
    assert "standardised" in plot.embedding(scaled, X * 10.0 ** np.arange(8)).get_xlabel()


def test_embedding_uses_the_axes(encoder, rows):
    _, ax = plt.subplots()
    assert plot.embedding(encoder, rows[0], ax=ax) is ax


# -- errors and looks ----------------------------------------------------------------------------


def test_errors(encoder, nested, rows):
    X, y, _s = rows
    for draw in (plot.front, plot.dimension):
        with pytest.raises(TypeError, match="expected a fitted SARL.*found int"):
            draw(3)
        with pytest.raises(NotFittedError):
            draw(SARL())
    with pytest.raises(TypeError, match="found str"):
        plot.front(["SARL"])
    with pytest.raises(ValueError, match="nothing to draw"):
        plot.front([])
    with pytest.raises(TypeError, match="found object"):
        plot.embedding(object(), X)
    with pytest.raises(NotFittedError):
        plot.embedding(SARL(), X)
    with pytest.raises(ValueError, match="X has 800 rows, but y has 3"):
        plot.embedding(encoder, X, y=y[:3])
    with pytest.raises(ValueError, match="sensitive_features has 8 columns"):
        plot.embedding(encoder, X, sensitive_features=X)
    with pytest.raises(ValueError, match="max_rows is 0"):
        plot.embedding(encoder, X, max_rows=0)
    missing = np.where(np.arange(800) == 700, np.nan, X[:, 0])
    with pytest.raises(ValueError, match="row 700"):
        plot.embedding(encoder, X, sensitive_features=missing, max_rows=20)
    empty = nested.retune(trade_off=0.9)
    assert empty.n_components_ == 0
    with pytest.raises(ValueError, match="no dimensions"):
        plot.embedding(empty, X)


def test_nothing_is_left_open_by_an_error(encoder, rows):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match="columns"):
        plot.embedding(encoder, rows[0], y=rows[0])
    with pytest.raises(TypeError):
        plot.front([encoder, 3])
    assert plt.get_fignums() == before


def test_without_matplotlib(encoder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (plot.front, plot.dimension):
        with pytest.raises(ImportError, match=r"plots need matplotlib: pip install 'sarl\[plot\]'"):
            draw(encoder)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_colours_stand_out_from_the_background(encoder, style):
    def light(colour):
        part = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
            for c in matplotlib.colors.to_rgb(colour)
        ]
        return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2]

    with plt.style.context(style):
        ax = plot.front(encoder)
    back = light(ax.get_facecolor())
    for found in ("training rows", "rows not fitted on, ± 1 sd"):
        fore = light(line(ax, found).get_color())
        assert (max(fore, back) + 0.05) / (min(fore, back) + 0.05) > 2
    written = light(ax.get_legend().get_texts()[0].get_color())
    assert abs(written - back) > 0.5
