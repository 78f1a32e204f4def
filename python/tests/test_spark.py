"""Spark: a cluster of two executors on this machine, against one machine's moments."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sarl
from conftest import ACS, People, engine, needs_java, same_cells, same_fit

pyspark = engine("pyspark")

from pyspark.ml import Pipeline, PipelineModel  # noqa: E402
from pyspark.ml.feature import VectorAssembler  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

from sarl.spark import (  # noqa: E402
    SARL,
    CertifiedSARL,
    CertifiedSARLModel,
    Eraser,
    EraserModel,
    KernelSARL,
    SARLModel,
)

NAMED = {
    "inputCols": list(People.features),
    "targetCol": "income",
    "sensitiveCol": "group",
    "weightCol": "weight",
    "maxTasks": 8,
}


@pytest.fixture(scope="module")
def spark():
    needs_java()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        # What is refused is refused again.
        .config("spark.task.maxFailures", "2")
        # Each file is a partition.
        .config("spark.sql.files.maxPartitionBytes", "1m")
        .config("spark.sql.files.openCostInBytes", "1m")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def rows_of(spark, tmp_path_factory):
    """A DataFrame whose partitions are the given tables."""

    def make(parts):
        path = tmp_path_factory.mktemp("rows")
        for k, part in enumerate(parts):
            pq.write_table(part, path / f"{k:03}.parquet")
        rows = spark.read.parquet(str(path))
        assert rows.rdd.getNumPartitions() == len(parts)
        return rows

    return make


@pytest.fixture(scope="module")
def table(spark, people):
    return spark.createDataFrame(people.frame).repartition(3).cache()


@pytest.mark.parametrize(("count", "tasks"), [(1, 1), (2, 8), (7, 8), (64, 40)])
def test_partitions_are_one_machine(people, rows_of, count, tasks):
    whole = sarl.SARL(max_leakage=0.01).fit_moments(people.moments())
    rows = rows_of(people.parts(count, seed=count))
    model = SARL(**NAMED | {"maxTasks": tasks}, maxLeakage=0.01).fit(rows)
    same_fit(model.encoder, whole, people.X)


def test_transform(people, table):
    model = SARL(**NAMED, maxLeakage=0.01).fit(table)
    done = model.transform(table)
    assert done.schema["z"].dataType.simpleString() == "array<double>"
    assert done.columns == [*table.columns, "z"]
    done = done.toPandas()
    z = np.asarray(model.encoder.transform(done[list(People.features)]))
    np.testing.assert_allclose(np.stack(done["z"]), z, atol=1e-12)
    with pytest.raises(ValueError, match="there is a column 'age' already"):
        model.setOutputCol("age").transform(table)


def test_folds_by_id(people, table):
    whole = sarl.SARL(max_leakage=0.01).fit_moments(people.moments(fold_by="key"))
    model = SARL(**NAMED, maxLeakage=0.01, idCol="person").fit(table)
    same_fit(model.encoder, whole, people.X)


def test_a_pipeline_with_vectors(people, table, tmp_path, cli):
    names = ["age", "hours", "score"]
    stages = [
        VectorAssembler(inputCols=names, outputCol="v"),
        SARL(
            featuresCol="v",
            targetCol="income",
            sensitiveCol="group",
            maxLeakage=0.05,
            outputCol="encoded",
            maxTasks=4,
        ),
    ]
    pipeline = Pipeline(stages=stages).fit(table)
    done = pipeline.transform(table)
    assert done.schema["encoded"].dataType.typeName() == "vectorudt"
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    got = again.transform(table).select("encoded", *names).toPandas()
    encoder = pipeline.stages[1].encoder
    z = encoder.transform(got[names].to_numpy(np.float64))
    np.testing.assert_allclose(np.stack([v.toArray() for v in got["encoded"]]), z, atol=1e-12)
    (file,) = (tmp_path / "pipeline").rglob("model.safetensors")
    same_fit(sarl.load(file), encoder, got[names].to_numpy(np.float64))
    said = cli("info", file)
    assert said["point"]["leakage"] == pytest.approx(encoder.leakage_, abs=1e-12)


def test_files_and_copies(people, table, tmp_path):
    estimator = SARL(**NAMED, maxLeakage={"group": 0.02}, seed=3)
    estimator.save(str(tmp_path / "estimator"))
    again = SARL.load(str(tmp_path / "estimator"))
    assert again.getMaxLeakage() == {"group": 0.02} and again.getInputCols() == NAMED["inputCols"]
    assert again.uid == estimator.uid
    copy = estimator.copy({estimator.maxLeakage: 0.1})
    assert (copy.getMaxLeakage(), estimator.getMaxLeakage()) == (0.1, {"group": 0.02})
    model = copy.fit(table)
    model.save(str(tmp_path / "model"))
    read = SARLModel.load(str(tmp_path / "model"))
    same_fit(read.encoder, model.encoder, people.X)
    assert read.getInputCols() == NAMED["inputCols"]
    assert "the most leakage" in estimator.explainParam("maxLeakage")
    with pytest.raises(TypeError, match="SARL has no parameter 'leakage'"):
        SARL(leakage=1)


def test_arrays_and_erasure(spark, rows):
    table = pa.table({"v": rows.X.astype(np.float32).tolist(), "s": rows.s})
    df = spark.createDataFrame(table.to_pandas()).repartition(3)
    model = Eraser(featuresCol="v", sensitiveCol="s", maxTasks=4, outputCol="erased").fit(df)
    assert isinstance(model, EraserModel)
    one = sarl.Moments(fold_by="content", keep_features=True)
    X = rows.X.astype(np.float32).astype(np.float64)
    same_fit(model.encoder, sarl.Eraser().fit_moments(one.update(X, None, rows.s)), X)
    got = model.transform(df).toPandas()
    erased = np.stack(got["erased"])
    gap = erased[got["s"] == 1].mean(axis=0) - erased[got["s"] == 0].mean(axis=0)
    np.testing.assert_allclose(gap, 0, atol=1e-9)


def test_a_kernel(people, rows_of):
    fits = [
        KernelSARL(**NAMED, maxLeakage=0.05, landmarks=40).fit(rows_of(people.parts(count)))
        for count in (1, 5)
    ]
    assert fits[0].encoder.leakage_ == pytest.approx(0.05, abs=1e-9)
    same_fit(fits[1].encoder, fits[0].encoder, people.X, atol=1e-9)


def test_cells(people, rows_of, tmp_path, cli):
    frame = people.frame
    whole = sarl.CertifiedSARL(max_advantage=0.5).fit(
        people.X, frame["income"], sensitive_features=frame["group"], row_id=frame["person"]
    )
    rows = rows_of(people.parts(7))
    estimator = CertifiedSARL(**NAMED | {"weightCol": None}, idCol="person", maxAdvantage=0.5)
    model = estimator.fit(rows)
    same_cells(model.encoder, whole, people.X)
    done = model.transform(rows).toPandas()
    z = np.asarray(whole.transform(done[list(People.features)]))
    np.testing.assert_allclose(np.stack(done["z"]), z, atol=1e-10)
    model.save(str(tmp_path / "model"))
    read = CertifiedSARLModel.load(str(tmp_path / "model"))
    same_cells(read.encoder, whole, people.X)
    said = cli("info", tmp_path / "model" / "model.safetensors")["certificate"]
    assert said["cells"] == whole.cells_
    with pytest.raises(ValueError, match="row_id is missing"):
        CertifiedSARL(**NAMED | {"weightCol": None}).fit(rows)
    with pytest.raises(TypeError, match="CertifiedSARL has no parameter 'maxLeakage'"):
        CertifiedSARL(maxLeakage=0.1)


def test_empty_partitions(people, table):
    rows = table.repartition(6).filter("place = 'north'").repartition(20)
    only = SARL(**NAMED, maxLeakage=0.01).fit(rows).encoder
    part = People()
    part.table = people.table.filter(pa.compute.equal(people.table["place"], "north"))
    same_fit(only, sarl.SARL(max_leakage=0.01).fit_moments(part.moments()), part.X)
    with pytest.raises(ValueError, match="there are no rows"):
        SARL(**NAMED).fit(table.filter("age > 10000"))


def test_what_is_refused(table):
    holes = table.selectExpr("*", "if(age > 60, null, score) as gap")
    for change, sentence in (
        ({"inputCols": ["gap", "age"]}, "column 'gap' has no value in"),
        ({"sensitiveCol": "missing"}, "there is no column 'missing'; the columns are 'age'"),
        ({"sensitiveCol": "age"}, "age has more than 20 different whole numbers"),
        ({"targetCol": None}, "target is missing"),
        ({"sensitiveCol": None}, "sensitiveCol is missing"),
        ({"inputCols": None}, "one of featuresCol and inputCols is needed"),
        ({"maxTasks": 0}, "maxTasks is 0"),
    ):
        with pytest.raises(ValueError, match=sentence):
            SARL(**NAMED | change).fit(holes)


def parent(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("PPid:"))


def test_an_executor_that_is_killed(people, table, tmp_path):
    """The sums of a task that died are added up again, once."""
    mark = tmp_path / "task"

    def slow(batches):
        for batch in batches:
            if not mark.exists():
                mark.with_suffix(".part").write_text(str(os.getpid()))
                mark.with_suffix(".part").rename(mark)
                time.sleep(60)
            yield batch

    killed = []

    def kill():
        while not mark.exists():
            time.sleep(0.05)
        worker = int(mark.read_text())
        executor = parent(parent(worker))
        with open(f"/proc/{executor}/cmdline") as command:
            assert "CoarseGrainedExecutorBackend" in command.read()
        os.kill(executor, signal.SIGKILL)
        killed.append(executor)

    hunter = threading.Thread(target=kill, daemon=True)
    hunter.start()
    rows = table.mapInArrow(slow, table.schema)
    model = SARL(**NAMED, maxLeakage=0.01).fit(rows)
    hunter.join(5)
    assert killed
    same_fit(model.encoder, sarl.SARL(max_leakage=0.01).fit_moments(people.moments()), people.X)


def test_census(rows_of, acs):
    features, target, sensitive = ACS
    states = [acs.filter(pa.compute.equal(acs["ST"], s)) for s in acs["ST"].unique()[:12]]
    model = SARL(
        inputCols=features, targetCol=target, sensitiveCol=sensitive, maxLeakage=0.01, maxTasks=8
    ).fit(rows_of(states))
    frame = pa.concat_tables(states).to_pandas()
    one = sarl.Moments(fold_by="content")
    one.update(frame[features], frame[target], frame[sensitive])
    same_fit(model.encoder, sarl.SARL(max_leakage=0.01).fit_moments(one), frame[features])
