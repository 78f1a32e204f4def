"""A fit of many small files on disk and in S3 servers of this machine.

    SARL_BIN=target/release/sarl python python/benches/object_stores.py [SERVER …]

Writes 1,000 Parquet files with two million rows and ten columns in all, and fits them from disk and from
each server, three times each in turn. Stores seconds of wall time and of CPU, those of the server apart.
The servers are `sender` (crates/sarl-data/examples/s3_sender.rs, built, in `SARL_SENDER`), `s3rver` (a program of
Node, in the folder `SARL_NODE_BIN`) and `moto`.
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
from figures import store

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


#: For each server how it is called, its key, and whether it serves the folder as it is.
SERVERS = {
    "sender": ("a server in Rust that does nothing else than send", "testing", True),
    "s3rver": ("s3rver (Node)", "S3RVER", False),
    "moto": ("moto (Python)", "testing", False),
}


def words(name: str, root: Path, port: int) -> list[str]:
    """The command line of a server."""
    if name == "sender":
        return [os.environ["SARL_SENDER"], str(root), str(port)]
    if name == "moto":
        return [sys.executable, "-m", "moto.server", "-p", str(port)]
    program = Path(os.environ["SARL_NODE_BIN"]) / "s3rver"
    return [str(program), "-d", str(root / "objects"), "-a", "127.0.0.1", "-p", str(port), "-s"]


def upload(folder: Path, environment: dict[str, str]) -> None:
    import boto3

    path = boto3.session.Config(s3={"addressing_style": "path"})
    client = boto3.client("s3", endpoint_url=environment["AWS_ENDPOINT_URL"], config=path)
    client.create_bucket(Bucket="bucket")
    for file in sorted(folder.iterdir()):
        client.put_object(Bucket="bucket", Key=f"many/{file.name}", Body=file.read_bytes())


def measured(name: str, root: Path) -> list[str]:
    """The row of a server."""
    says, key, as_it_is = SERVERS[name]
    folder, port = root / "bucket" / "many", free_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": key,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    os.environ |= settings
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(words(name, root, port), **quiet)  # type: ignore[call-overload]
    try:
        time.sleep(4)
        if not as_it_is:
            upload(folder, settings)
        places = {"disk": str(folder), "server": "s3://bucket/many/"}
        times: dict[str, list[tuple[float, float]]] = {place: [] for place in places}
        used = cpu_of(server)
        for _ in range(3):
            for place, data in places.items():
                times[place].append(fit(data, root / f"{place}.safetensors", dict(os.environ)))
        used = (cpu_of(server) - used) / 3
        same = (root / "disk.safetensors").read_bytes()
        assert same == (root / "server.safetensors").read_bytes(), "the models differ"
    finally:
        server.terminate()
        server.wait()
    found = {p: [statistics.median(c) for c in zip(*of, strict=True)] for p, of in times.items()}
    (disk, disk_cpu), (wall, cpu) = found["disk"], found["server"]
    figures = [disk, disk_cpu, wall, cpu, used]
    return [says, *(f"{figure:.2f}" for figure in figures), f"{wall / disk:.2f}"]


def main() -> None:
    names = sys.argv[1:] or list(SERVERS)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        write(root / "bucket" / "many")
        for name in names:
            rows.append(measured(name, root))
            print(rows[-1], flush=True)
    how = (
        "`python python/benches/object_stores.py`: medians of 3, in turns, of `sarl fit` of 1,000 Parquet files with "
        "two million rows and ten columns in all (149 MB); the server is on the same machine of 2 cores; "
        "the models are equal, byte for byte"
    )
    columns = [
        "server",
        "disk, s",
        "CPU, s",
        "server, s",
        "CPU, s",
        "CPU of the server, s",
        "ratio",
    ]
    if len(rows) == len(SERVERS):
        store("object-stores", how, columns, rows)


if __name__ == "__main__":
    main()
