"""Spark Connect: a server of its own, whose client has no JVM at hand.

A process of its own, because a session of Spark in this one would be taken for it.
"""

import os
import subprocess
import sys
from pathlib import Path

from conftest import engine, needs_java

engine("pyspark")
engine("grpc")

WORK = """
import sys
import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
import sarl
from conftest import People, same_fit
from sarl.spark import SARL, SARLModel

folder = sys.argv[1]
people = People()
pq.write_table(people.table, folder + "/people.parquet")
spark = SparkSession.builder.remote("local[2]").getOrCreate()
assert "connect" in type(spark).__module__
rows = spark.read.parquet(folder + "/people.parquet").repartition(3)
model = SARL(
    inputCols=list(People.features),
    targetCol="income",
    sensitiveCol="group",
    weightCol="weight",
    maxLeakage=0.01,
    maxTasks=4,
).fit(rows)
whole = sarl.SARL(max_leakage=0.01).fit_moments(people.moments())
same_fit(model.encoder, whole, people.X)
done = model.transform(rows).toPandas()
z = np.asarray(whole.transform(done[list(People.features)]))
np.testing.assert_allclose(np.stack(done["z"]), z, atol=1e-10)
model.save(folder + "/model")
same_fit(SARLModel.load(folder + "/model").encoder, whole, people.X)
same_fit(sarl.load(folder + "/model/model.safetensors"), whole, people.X)
spark.stop()
"""


def test_a_client_without_a_jvm(tmp_path):
    needs_java()
    here = str(Path(__file__).parent)
    folders = os.pathsep.join([here, *filter(None, sys.path)])
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": folders}
    done = subprocess.run(
        [sys.executable, "-c", WORK, str(tmp_path)],
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
