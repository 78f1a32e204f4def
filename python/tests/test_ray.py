"""Ray: two workers on this machine, against one machine's moments."""

import os

import numpy as np
import pytest

import sarl
from conftest import ACS, People, engine, same_cells, same_fit

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
ray = engine("ray")
engine("ray.data")

import sarl.ray  # noqa: E402

NAMES = list(People.features)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        logging_level="ERROR",
        log_to_driver=False,
        object_store_memory=300_000_000,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def fit(encoder, parts, **named):
    named = {"features": NAMES, "sample_weight": "weight", "sensitive_features": "group"} | named
    return encoder.fit(ray.data.from_arrow(parts), "income", **named)


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_blocks_are_one_machine(people, count):
    whole = sarl.SARL(max_leakage=0.01).fit_moments(people.moments())
    parts = people.parts(count, seed=count)
    encoder = fit(sarl.ray.SARL(max_leakage=0.01), parts)
    same_fit(encoder, whole, people.X)
    done = encoder.transform(ray.data.from_arrow(parts)).to_pandas()
    z = np.asarray(whole.transform(done[NAMES]))
    np.testing.assert_allclose(np.stack(done["z"]), z, atol=1e-10)


def test_folds_by_id(people):
    whole = sarl.SARL(max_leakage=0.01).fit_moments(people.moments(fold_by="key"))
    encoder = fit(sarl.ray.SARL(max_leakage=0.01), people.parts(5), row_id="person")
    same_fit(encoder, whole, people.X)


def test_tensors(rows):
    data = ray.data.from_numpy(np.column_stack([rows.X, rows.y, rows.s]))

    def split(batch):
        a = batch["data"]
        return {"v": a[:, :-2], "y": a[:, -2].astype(int), "s": a[:, -1].astype(int)}

    data = data.repartition(3).map_batches(split)
    encoder = sarl.ray.SARL(max_leakage=0.05).fit(data, "y", sensitive_features="s")
    one = sarl.Moments(fold_by="content").update(rows.X, rows.y, rows.s)
    same_fit(encoder, sarl.SARL(max_leakage=0.05).fit_moments(one), rows.X)
    z = encoder.transform(data, output="code").to_pandas()["code"]
    expected = encoder.transform(rows.X)
    np.testing.assert_allclose(np.sort(np.stack(z)[:, 0]), np.sort(expected[:, 0]), atol=1e-10)


def test_a_kernel_and_an_eraser(people):
    fits, erasers = [], []
    for count in (1, 5):
        parts = people.parts(count)
        fits.append(fit(sarl.ray.KernelSARL(max_leakage=0.05, landmarks=40), parts))
        erasers.append(fit(sarl.ray.Eraser(), parts, features=["age", "hours", "score"]))
    same_fit(fits[1], fits[0], people.X, atol=1e-9)
    same_fit(erasers[1], erasers[0], people.X[["age", "hours", "score"]])


def test_cells(people):
    frame = people.frame
    whole = sarl.CertifiedSARL(max_advantage=0.5).fit(
        people.X, frame["income"], sensitive_features=frame["group"], row_id=frame["person"]
    )
    for count in (2, 7):
        encoder = fit(
            sarl.ray.CertifiedSARL(max_advantage=0.5),
            people.parts(count),
            sample_weight=None,
            row_id="person",
        )
        same_cells(encoder, whole, people.X)


def test_empty_blocks(people):
    parts = people.parts(4)
    parts.insert(2, parts[0].slice(0, 0))
    whole = sarl.SARL(max_leakage=0.01).fit_moments(people.moments())
    same_fit(fit(sarl.ray.SARL(max_leakage=0.01), parts), whole, people.X)
    with pytest.raises(ValueError, match="there are no rows"):
        fit(sarl.ray.SARL(), [parts[0].slice(0, 0)])


def test_what_is_refused(people):
    import pyarrow as pa

    table = people.table
    gap = pa.array([None, *table["score"].to_pylist()[1:]])
    holes = table.set_column(table.schema.get_field_index("score"), "score", gap)
    with pytest.raises(ValueError, match="column 'score' has no value in 1 of"):
        fit(sarl.ray.SARL(), [holes])
    with pytest.raises(ValueError, match="there is no column 'missing'; the columns are 'age'"):
        fit(sarl.ray.SARL(), [table], sensitive_features="missing")
    with pytest.raises(TypeError, match="X is a Table: expected a Dataset of Ray"):
        sarl.ray.SARL().fit(table, "income", sensitive_features="group")


def test_census(acs):
    features, target, sensitive = ACS
    rows = ray.data.from_arrow(acs).repartition(9)
    encoder = sarl.ray.SARL(max_leakage=0.01).fit(
        rows, target, sensitive_features=sensitive, features=features
    )
    frame = acs.to_pandas()
    one = sarl.Moments(fold_by="content")
    one.update(frame[features], frame[target], frame[sensitive])
    same_fit(encoder, sarl.SARL(max_leakage=0.01).fit_moments(one), frame[features])
