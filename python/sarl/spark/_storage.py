"""Model files where Spark keeps its files."""

from __future__ import annotations

from typing import Any

import pyarrow.fs
import pyspark


def metadata_by(spark: Any) -> Any:
    """What Spark's own readers and writers of metadata take: a session, before 4.0 its context."""
    return spark if int(pyspark.__version__.split(".")[0]) >= 4 else spark.sparkContext


def read(spark: Any, path: str) -> bytes:
    """The bytes of a file, on any file system that Spark reads."""
    found = spark.read.format("binaryFile").load(path).select("content").first()
    if found is None:
        raise FileNotFoundError(f"there is no file {path}")
    return bytes(found[0])


def write(spark: Any, path: str, data: bytes) -> None:
    """Writes a file where Spark writes its own: whole, or not at all."""
    if hasattr(spark, "_jsparkSession"):
        _by_hadoop(spark, path, data)
        return
    # With Spark Connect there is no JVM here: Arrow writes to local files and object stores.
    system, place = pyarrow.fs.FileSystem.from_uri(path) if "://" in path else (None, path)
    system = system or pyarrow.fs.LocalFileSystem()
    with system.open_output_stream(f"{place}.part") as file:
        file.write(data)
    system.move(f"{place}.part", place)


def _by_hadoop(spark: Any, path: str, data: bytes) -> None:
    jvm = spark._jvm
    where = jvm.org.apache.hadoop.fs.Path(path)
    part = jvm.org.apache.hadoop.fs.Path(f"{path}.part")
    system = where.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    stream = system.create(part, True)
    try:
        stream.write(bytearray(data))
    finally:
        stream.close()
    if not system.rename(part, where):
        raise OSError(f"{path} cannot be written")
