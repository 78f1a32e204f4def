"""Dask: a cluster of processes on this machine, against one machine's moments."""

import numpy as np
import pandas as pd
import pytest

import sarl
from conftest import ACS, People, engine, same_cells, same_fit

dask = engine("dask.dataframe")
distributed = engine("distributed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

import sarl.dask  # noqa: E402

NAMES = list(People.features)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows_of(parts):
    """A DataFrame whose partitions are these tables."""
    frames = [part.to_pandas() for part in parts]
    return dd.from_map(lambda frame: frame, frames, meta=frames[0].iloc[:0])


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_partitions_are_one_machine(people, count):
    whole = sarl.SARL(max_leakage=0.01).fit_moments(people.moments())
    rows = rows_of(people.parts(count, seed=count))
    encoder = sarl.dask.SARL(max_leakage=0.01).fit(
        rows[NAMES],
        rows["income"],
        sensitive_features=rows["group"],
        sample_weight=rows["weight"],
    )
    same_fit(encoder, whole, people.X)
    done = encoder.transform(rows[NAMES]).compute()
    z = np.asarray(whole.transform(rows[NAMES].compute()))
    np.testing.assert_allclose(done.to_numpy(), z, atol=1e-10)
    assert list(done.columns) == list(encoder.get_feature_names_out())


def test_folds_by_id(people):
    whole = sarl.SARL(max_leakage=0.01).fit_moments(people.moments(fold_by="key"))
    rows = rows_of(people.parts(5))
    encoder = sarl.dask.SARL(max_leakage=0.01).fit(
        rows[NAMES],
        rows["income"],
        sensitive_features=rows["group"],
        sample_weight=rows["weight"],
        row_id=rows["person"],
    )
    same_fit(encoder, whole, people.X)


def test_arrays_and_files(rows, tmp_path):
    both = np.column_stack([rows.s, rows.number > 1])
    X, y, s = (
        da.from_array(a, chunks=c) for a, c in ((rows.X, (90, 3)), (rows.y, 90), (both, (90, 2)))
    )
    encoder = sarl.dask.SARL(trade_off=0.5).fit(X, y, sensitive_features=s)
    one = sarl.Moments(fold_by="content")
    one.update(rows.X, rows.y, both)
    whole = sarl.SARL(trade_off=0.5).fit_moments(one)
    same_fit(encoder, whole, rows.X)
    assert list(encoder.attributes_["sensitive"]) == ["s0", "s1"]
    z = encoder.transform(X)
    assert isinstance(z, da.Array)
    np.testing.assert_allclose(z.compute(), whole.transform(rows.X), atol=1e-10)
    encoder.save(tmp_path / "m.safetensors")
    same_fit(sarl.load(tmp_path / "m.safetensors"), whole, rows.X)
    again = sarl.dask.SARL.load(tmp_path / "m.safetensors")
    np.testing.assert_allclose(again.transform(X).compute(), z.compute(), atol=1e-12)


def test_a_kernel_and_an_eraser(people):
    fits, erasers = [], []
    for count in (1, 5):
        rows = rows_of(people.parts(count))
        kernel = sarl.dask.KernelSARL(max_leakage=0.05, landmarks=40)
        fits.append(kernel.fit(rows[NAMES], rows["income"], sensitive_features=rows["group"]))
        numbers = rows[["age", "hours", "score"]]
        erasers.append(sarl.dask.Eraser().fit(numbers, sensitive_features=rows["group"]))
    same_fit(fits[1], fits[0], people.X, atol=1e-9)
    same_fit(erasers[1], erasers[0], people.X[["age", "hours", "score"]])


def test_cells(people):
    frame = people.frame
    whole = sarl.CertifiedSARL(max_advantage=0.5).fit(
        people.X, frame["income"], sensitive_features=frame["group"], row_id=frame["person"]
    )
    for count in (2, 7):
        rows = rows_of(people.parts(count))
        encoder = sarl.dask.CertifiedSARL(max_advantage=0.5).fit(
            rows[NAMES], rows["income"], sensitive_features=rows["group"], row_id=rows["person"]
        )
        same_cells(encoder, whole, people.X)
        z = encoder.transform(rows[NAMES]).compute().to_numpy()
        np.testing.assert_allclose(z, whole.transform(rows[NAMES].compute()), atol=1e-10)


def test_sensitive_columns_of_the_rows(people):
    rows = rows_of(people.parts(3))
    names = [*NAMES, "group"]
    encoder = sarl.dask.SARL(max_leakage=0.01, sensitive="group").fit(rows[names], rows["income"])
    frame = people.frame
    one = sarl.Moments(fold_by="content").update(people.X, frame["income"], frame["group"])
    same_fit(encoder, sarl.SARL(max_leakage=0.01).fit_moments(one), people.X)


def test_empty_partitions(people):
    rows = rows_of(people.parts(7))
    rows = rows[rows["place"] == "north"]
    assert 0 in rows.map_partitions(len).compute().to_list()
    encoder = sarl.dask.SARL(max_leakage=0.01).fit(
        rows[NAMES], rows["income"], sensitive_features=rows["group"]
    )
    frame = rows.compute()
    one = sarl.Moments(fold_by="content").update(frame[NAMES], frame["income"], frame["group"])
    same_fit(encoder, sarl.SARL(max_leakage=0.01).fit_moments(one), frame[NAMES])
    z = encoder.transform(rows[NAMES]).compute()
    assert len(z) == len(frame)
    with pytest.raises(ValueError, match="there are no rows"):
        none = rows[rows["age"] > 10_000]
        encoder.fit(none[NAMES], none["income"], sensitive_features=none["group"])


def test_what_is_refused(people):
    rows = rows_of(people.parts(3))
    holes = rows[NAMES].assign(score=rows["score"].where(rows["age"] < 60))
    y, s = rows["income"], rows["group"]
    with pytest.raises(ValueError, match="column 'score' has no value in"):
        sarl.dask.SARL().fit(holes, y, sensitive_features=s)
    with pytest.raises(ValueError, match="one of sensitive_features and the parameter sensitive"):
        sarl.dask.SARL().fit(rows[NAMES], y)
    with pytest.raises(ValueError, match="X has no column 'missing'"):
        sarl.dask.SARL(sensitive="missing").fit(rows[NAMES], y)
    with pytest.raises(ValueError, match="target is missing"):
        sarl.dask.SARL().fit(rows[NAMES], sensitive_features=s)
    with pytest.raises(ValueError, match="y has 2 partitions, but X has 3"):
        sarl.dask.SARL().fit(rows[NAMES], y.repartition(npartitions=2), sensitive_features=s)
    with pytest.raises(TypeError, match="X is a DataFrame: expected a DataFrame or an Array of"):
        sarl.dask.SARL().fit(people.X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="column 'place' holds categories"):
        sarl.dask.Eraser().fit(rows[NAMES], sensitive_features=s)


def test_census(acs):
    features, target, sensitive = ACS
    frame = acs.to_pandas().astype({"ST": "category"})
    rows = dd.from_pandas(frame, npartitions=9)
    encoder = sarl.dask.SARL(max_leakage=0.01).fit(
        rows[features], rows[target], sensitive_features=rows[sensitive]
    )
    one = sarl.Moments(fold_by="content")
    one.update(frame[features], frame[target], frame[sensitive])
    assert isinstance(frame["ST"].dtype, pd.CategoricalDtype)
    same_fit(encoder, sarl.SARL(max_leakage=0.01).fit_moments(one), frame[features])
