"""A fit of many small files on disk and in an S3 server of this machine.

    SARL_BIN=target/release/sarl python python/benches/object_stores.py [PROGRAM …]

Writes 1,000 Parquet files with two million rows and ten columns in all, and fits them from disk and from
a server, three times each in turn. Prints seconds of wall time and of CPU, those of the server apart.
The server is moto's, or the program that is given, called as `PROGRAM … FOLDER PORT`: it must serve the
folders of FOLDER as buckets.
"""

from __future__ import annotations

import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FILES, ROWS = 1000, 2000
GOAL = ["-t", "income:class", "-s", "sex:class", "--max-leakage", "0.01"]


def write(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for i in range(FILES):
        sex = rng.integers(0, 2, ROWS)
        columns = {f"x{j}": rng.normal(size=ROWS) + (j < 2) * sex for j in range(8)}
        score = columns["x1"] + columns["x2"] + rng.normal(size=ROWS)
        columns |= {"income": (score > 0).astype(np.int64), "sex": sex}
        pq.write_table(pa.table(columns), folder / f"part-{i:04}.parquet")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def cpu_of(process: subprocess.Popen[bytes]) -> float:
    """Seconds of CPU that a process has used so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fit(data: str, output: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Wall time and CPU time of a fit."""
    command = os.environ.get("SARL_BIN", "target/release/sarl")
    words = [command, "fit", data, *GOAL, "-o", str(output), "--quiet"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def upload(folder: Path, environment: dict[str, str]) -> None:
    import boto3

    client = boto3.client("s3", endpoint_url=environment["AWS_ENDPOINT_URL"])
    client.create_bucket(Bucket="bucket")
    for path in sorted(folder.iterdir()):
        client.put_object(Bucket="bucket", Key=f"many/{path.name}", Body=path.read_bytes())


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root, port = Path(scratch), free_port()
        folder = root / "bucket" / "many"
        write(folder)
        own = [*sys.argv[1:], str(root), str(port)]
        moto = [sys.executable, "-m", "moto.server", "-p", str(port)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        server = subprocess.Popen(own if sys.argv[1:] else moto, **quiet)  # type: ignore[call-overload]
        settings = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        os.environ |= settings
        try:
            time.sleep(5)
            if not sys.argv[1:]:
                upload(folder, settings)
            places = {"disk": str(folder), "server": "s3://bucket/many/"}
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in places}
            used = cpu_of(server)
            for _ in range(3):
                for name, data in places.items():
                    times[name].append(fit(data, root / f"{name}.safetensors", dict(os.environ)))
            used = (cpu_of(server) - used) / 3
            same = (root / "disk.safetensors").read_bytes()
            assert same == (root / "server.safetensors").read_bytes(), "the models differ"
        finally:
            server.terminate()
            server.wait()
    for name, found in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"{name}: {wall:.2f} s, CPU {cpu:.2f} s")
    print(f"CPU of the server for each fit: {used:.2f} s")


if __name__ == "__main__":
    main()
