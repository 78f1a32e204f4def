"""Shards: any partition of the rows, in any order, gives what one machine has."""

import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import ACS, People, same_fit
from sarl import SARL, Eraser, KernelSARL, Moments, Shard
from sarl._engine import FAN_IN, fitted, merged

NAMED = {
    "features": list(People.features),
    "target": "income",
    "sensitive": "group",
    "weight": "weight",
}


def total(zero, parts):
    """The shard of all parts, each of which travelled, merged in a tree."""
    sums = [zero.empty().update(part).to_bytes() for part in parts]
    while len(sums) > 1:
        sums = [merged(Shard, sums[at : at + FAN_IN]) for at in range(0, len(sums), FAN_IN)]
    return Shard.from_bytes(sums[0])


def sampled(zero, parts):
    """What all shards begin with, by a sample of all parts."""
    sample = zero.sample()
    for part in parts:
        other = zero.sample().update(part)
        sample.merge(type(sample).from_bytes(other.to_bytes()))
    return pickle.loads(pickle.dumps(zero.begin(sample)))


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_partitions_are_one_machine(people, count):
    whole = SARL(max_leakage=0.01).fit_moments(people.moments())
    zero = Shard(**NAMED)
    for seed in range(2):
        parts = people.parts(count, seed)
        if count == 64:
            assert any(len(set(p["place"].to_pylist())) == 1 for p in parts)
            assert any(len(set(p["group"].to_pylist())) == 1 for p in parts)
        moments = total(zero, parts).finish()
        assert moments._labels == SARL().fit_moments(people.moments())._moments._labels
        same_fit(SARL(max_leakage=0.01).fit_moments(moments), whole, people.X)


def test_losses_are_those_of_least_squares(people):
    """The bounds, by another computation: one-hot columns and numpy's least squares."""
    X = people.X
    hot = [X["place"].to_numpy()[:, None] == np.unique(X["place"]), X[["member"]]]
    design = np.hstack([X[["age", "hours", "score"]], *hot, np.ones((len(X), 1))]).astype(float)
    weights = people.frame["weight"].to_numpy()
    root = np.sqrt(weights)[:, None]
    encoder = SARL(max_leakage=0.01).fit_moments(total(Shard(**NAMED), people.parts(7)).finish())
    for name, least, most in (
        ("income", encoder.bounds_.gamma_min, None),
        ("group", encoder.bounds_.alpha_star_min, encoder.bounds_.alpha_max),
    ):
        of = people.frame[name].to_numpy()
        label = (of[:, None] == np.unique(of)).astype(float)
        spread = label - np.average(label, axis=0, weights=weights)
        found = np.linalg.lstsq(root * design, root * label, rcond=None)[0]
        left = ((root * (label - design @ found)) ** 2).sum() / weights.sum()
        assert least == pytest.approx(left, abs=1e-10)
        if most is not None:
            assert most == pytest.approx(((root * spread) ** 2).sum() / weights.sum(), abs=1e-10)


def test_folds_by_id(people):
    whole = SARL(max_leakage=0.01).fit_moments(people.moments(fold_by="key"))
    moments = total(Shard(**NAMED, row_id="person"), people.parts(7)).finish()
    same_fit(SARL(max_leakage=0.01).fit_moments(moments), whole, people.X)
    other = SARL(max_leakage=0.01).fit_moments(people.moments())
    assert other.heldout_ != whole.heldout_, "ids decide on folds, not the features"


def test_folds_need_what_they_follow(rows):
    with pytest.raises(ValueError, match="row_id is missing"):
        Moments(fold_by="key").update(rows.X, rows.y, rows.s)
    with pytest.raises(ValueError, match="fold_by is 'content'"):
        Moments(fold_by="content").update(rows.X, rows.y, rows.s, row_id=rows.y)
    with pytest.raises(ValueError, match="fold_by is 'rows': expected one of"):
        Moments(fold_by="rows").update(rows.X, rows.y, rows.s)
    with pytest.raises(ValueError, match="row_id has no value in row 3"):
        ids = np.where(np.arange(400) == 3, np.nan, 1.0)
        Moments(fold_by="key").update(rows.X, rows.y, rows.s, row_id=ids)
    content, position = (
        Moments(fold_by=by).update(rows.X, rows.y, rows.s) for by in ("content", "position")
    )
    with pytest.raises(ValueError, match="position, content or key"):
        content.merge(position)


def test_text_in_a_stream_may_be_new(people):
    frame = people.frame.sort_values("place")
    moments = Moments(fold_by="content")
    for at in range(0, 3000, 500):
        part = frame[at : at + 500]
        names = list(People.features)
        moments.update(part[names], part["income"], part["group"], part["weight"])
    whole = SARL(max_leakage=0.01).fit_moments(people.moments())
    same_fit(SARL(max_leakage=0.01).fit_moments(moments), whole, people.X)


def wide(X, kind):
    flat = pa.array(X.reshape(-1))
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(flat, X.shape[1])
    ends = np.arange(0, X.size + 1, X.shape[1])
    if kind == "large":
        return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), flat)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), flat)


@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
@pytest.mark.parametrize("single", [False, True])
def test_lists_are_wide_features(rows, kind, single):
    X = rows.X.astype(np.float32 if single else np.float64)
    batch = pa.record_batch({"v": wide(X, kind), "y": rows.y, "s": rows.s})
    zero = Shard(features="v", target="y", sensitive="s")
    moments = total(zero, [batch.slice(at, 130) for at in (0, 130, 260, 390)]).finish()
    one = Moments(fold_by="content").update(X, rows.y, rows.s)
    encoder = SARL(max_leakage=0.05).fit_moments(moments)
    same_fit(encoder, SARL(max_leakage=0.05).fit_moments(one), rows.X)
    assert not hasattr(encoder, "feature_names_in_")


def test_lists_beside_columns(rows):
    batch = pa.record_batch(
        {"v": wide(rows.X[:, :4], "list"), "e": rows.X[:, 4], "y": rows.y, "s": rows.s}
    )
    moments = Shard(features=["e", "v"], target="y", sensitive="s").update(batch).finish()
    encoder = SARL(max_leakage=0.05).fit_moments(moments)
    assert list(encoder.feature_names_in_) == ["e", "v_0", "v_1", "v_2", "v_3"]


def test_a_kernel_over_partitions(people):
    encoders = []
    for count in (1, 7):
        encoder = KernelSARL(max_leakage=0.05, landmarks=60)
        parts = people.parts(count, count)
        start = sampled(Shard(**NAMED, kernel=encoder), parts)
        encoders.append(fitted(encoder, total(start, parts).finish()))
    assert encoders[0].leakage_ == pytest.approx(0.05, abs=1e-9)
    assert encoders[0].gamma_ == encoders[1].gamma_
    same_fit(encoders[1], encoders[0], people.X, atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"target": "wealth", "target_type": "bins=4"},
        {"sensitive": "wealth", "sensitive_type": "kernel"},
        {"criterion": "equalized-odds"},
        {"criterion": "equal-opportunity", "favourable": ">50K"},
    ],
    ids=str,
)
def test_labels_that_are_learned(people, options):
    zero = Shard(**NAMED | options)
    assert zero.needs_sample
    encoders = []
    for count in (1, 7):
        parts = people.parts(count, count)
        moments = total(sampled(zero, parts), parts).finish()
        how = {k: options[k] for k in ("criterion", "favourable") if k in options}
        encoders.append(SARL(max_leakage=0.01, **how).fit_moments(moments))
    same_fit(encoders[1], encoders[0], people.X)


def test_erasure_over_partitions(people):
    names = ["age", "hours", "score"]
    zero = Shard(features=names, sensitive="group", keep_features=True)
    moments = total(zero, people.parts(7)).finish()
    one = Moments(fold_by="content", keep_features=True)
    one.update(people.X[names], None, people.frame["group"])
    same_fit(Eraser().fit_moments(moments), Eraser().fit_moments(one), people.X[names])


@pytest.mark.parametrize(("width", "folds"), [(10, 5), (64, 5), (200, 1)])
def test_bytes_that_travel(width, folds):
    """docs/scale.md: 8 (k (d² + d c + c + c₁ c₂) + d) and some text."""
    rng = np.random.default_rng(0)
    n = 3 * width + 600
    X = rng.normal(size=(n, width))
    y, s = rng.integers(0, 3, n), rng.integers(0, 4, n)
    batch = pa.record_batch({"v": wide(X, "list"), "y": y, "s": s})
    shard = Shard(features="v", target="y", sensitive="s", folds=folds).update(batch)
    sums = 8 * (folds * (width**2 + 7 * width + 7 + 12) + width)
    assert sums < len(shard.to_bytes()) < sums + 4000 + 16 * width
    twice = Shard.from_bytes(shard.to_bytes()).update(batch)
    assert len(twice.to_bytes()) == pytest.approx(len(shard.to_bytes()), abs=100)


def test_what_is_refused(people):
    table = people.table
    gap = pa.array([None, *table["score"].to_pylist()[1:]])
    holes = table.set_column(table.schema.get_field_index("score"), "score", gap)
    zero = Shard(**NAMED)
    with pytest.raises(ValueError, match="column 'score' has no value in 1 of 3000 rows"):
        zero.empty().update(holes)
    with pytest.raises(ValueError, match="sensitive: there is no column 'group'"):
        zero.empty().update(table.drop_columns("group"))
    for change, sentence in (
        ({"sensitive": "age"}, "age has more than 20 different whole numbers"),
        ({"features": ["person", "age"]}, "so many different values in column 'person'"),
        ({"features": []}, "features is missing"),
        ({"sensitive": []}, "sensitive is missing"),
        ({"features": ["age", "age"]}, "names the column 'age' twice"),
        ({"criterion": "equal-opportunity"}, "favourable is missing"),
    ):
        with pytest.raises(ValueError, match=sentence):
            Shard(**NAMED | change).update(table).finish()
    with pytest.raises(ValueError, match="there are no rows"):
        zero.empty().update(table.slice(0, 0)).finish()
    with pytest.raises(TypeError, match="expected an Arrow batch or table, found list"):
        zero.empty().update([1, 2])
    with pytest.raises(ValueError, match="lists of 2 and of 3 values"):
        lists = pa.table({"v": [[1.0, 2.0], [1.0, 2.0, 3.0]], "y": [0, 1], "s": [0, 1]})
        Shard(features="v", target="y", sensitive="s").update(lists)
    with pytest.raises(ValueError, match="a sample of the rows must be seen first"):
        Shard(**NAMED, kernel=KernelSARL()).update(table)


def test_what_cannot_be_merged(people):
    shard = Shard(**NAMED).update(people.table)
    data = shard.to_bytes()
    with pytest.raises(TypeError, match="not with int"):
        shard.merge(3)
    with pytest.raises(ValueError, match="they read other columns"):
        shard.merge(Shard(**NAMED | {"weight": None}))
    with pytest.raises(ValueError, match="folds, seeds or precisions differ"):
        shard.merge(Shard(**NAMED, folds=3).update(people.table))
    for damaged in (b"", data[:100], data[:-1], b"x" + data, data[:40] + b"x" + data[41:]):
        with pytest.raises(ValueError, match="shard"):
            Shard.from_bytes(damaged)
    assert shard.to_bytes() == data
    assert len(Shard.from_bytes(Shard(**NAMED).to_bytes())) == 0


def test_the_command_line_has_the_same(people, cli, tmp_path):
    table = people.table.drop_columns(["level", "wealth", "person"])
    path = tmp_path / "people.parquet"
    pq.write_table(table, path)
    options = ["-t", "income", "-s", "group", "--weight", "weight", "--max-leakage", 0.01]
    try:
        said = cli("fit", path, *options, "--fold-by", "content", "-o", tmp_path / "m.safetensors")
    except AssertionError as problem:
        if "unexpected argument '--fold-by'" in str(problem):
            pytest.skip("the command that is built has no --fold-by")
        raise
    encoder = SARL(max_leakage=0.01).fit_moments(total(Shard(**NAMED), people.parts(7)).finish())
    for name in ("jy", "js", "utility", "leakage"):
        assert said[name] == pytest.approx(getattr(encoder.point_, name), abs=1e-10)
    for name in ("jy", "js", "jy_sd", "js_sd"):
        assert said["heldout"][name] == pytest.approx(getattr(encoder.heldout_, name), abs=1e-10)
    theirs = SARL.load(tmp_path / "m.safetensors")
    z, expected = np.asarray(encoder.transform(people.X)), np.asarray(theirs.transform(people.X))
    np.testing.assert_allclose(z, expected, atol=1e-10)


def test_census(acs):
    features, target, sensitive = ACS
    assert len(set(acs["OCCP"].to_pylist())) > 500
    zero = Shard(features=features, target=target, sensitive=sensitive)
    states = [acs.filter(pa.compute.equal(acs["ST"], s)) for s in acs["ST"].unique()]
    merged_states = SARL(max_leakage=0.01).fit_moments(total(zero, states).finish())
    frame = acs.to_pandas()
    one = Moments(fold_by="content").update(frame[features], frame[target], frame[sensitive])
    whole = SARL(max_leakage=0.01).fit_moments(one)
    same_fit(merged_states, whole, frame[features])


def test_the_package_needs_no_engine():
    code = "import sys, sarl; print([m for m in ('pyspark', 'dask', 'ray') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_ids_are_numbers_or_texts(people):
    """A number counts as it is written, so that files without types give the same folds."""
    frame = people.frame
    ids = np.arange(len(frame)) % 700
    fits = []
    for of in (ids, ids.astype(float), ids.astype(str)):
        moments = Moments(fold_by="key").update(
            people.X, frame["income"], frame["group"], frame["weight"], row_id=of
        )
        fits.append(SARL(max_leakage=0.01).fit_moments(moments))
        table = people.table.append_column("id", pa.array(of))
        shard = Shard(**NAMED, row_id="id").update(table)
        same_fit(SARL(max_leakage=0.01).fit_moments(shard.finish()), fits[0], people.X)
    assert fits[0].heldout_ == fits[1].heldout_ == fits[2].heldout_


def test_fewer_rows_than_features():
    """Such rows travel as they are, and are held again."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 700))
    y, s = X[:, 0] + X[:, 1] > 0, X[:, 1] + X[:, 2] > 0
    batch = pa.record_batch({"v": wide(X, "fixed"), "y": y, "s": s})
    zero = Shard(features="v", target="y", sensitive="s")
    parts = [batch.slice(at, 80) for at in (160, 0, 80)]
    assert len(zero.empty().update(parts[0]).to_bytes()) < 8 * 80 * 710 + 30_000
    moments = total(zero, parts).finish()
    encoder = SARL(trade_off=0.5, ridge=0.1).fit_moments(moments)
    one = Moments(fold_by="content").update(X, y, s)
    same_fit(encoder, SARL(trade_off=0.5, ridge=0.1).fit_moments(one), X)
