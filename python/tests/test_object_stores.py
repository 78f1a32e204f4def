"""The command with data, models and results in object stores: real servers on this machine.

moto comes with the test packages. s3rver and Azurite are programs of Node: they are used where they are
on the path or in the folder `SARL_NODE_BIN` (`npm install s3rver azurite`), and skipped otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT

BUCKET = "data"
# The key that every Azurite has.
AZURITE = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class Store:
    """A server with one bucket, and what the command needs to know of it."""

    def __init__(self, url: str, environment: dict[str, str], client: Any) -> None:
        self.url, self.environment, self.client = url, environment, client

    def put(self, name: str, content: bytes) -> None:
        self.client.put(name, content)

    def get(self, name: str) -> bytes:
        return self.client.get(name)

    def names(self) -> list[str]:
        return self.client.names()

    def run(self, *arguments: Any, **environment: str) -> subprocess.CompletedProcess[str]:
        words = [str(command()), *map(str, arguments)]
        env = {**bare(), **self.environment, **environment}
        return subprocess.run(words, capture_output=True, text=True, env=env, timeout=300)

    def json(self, *arguments: Any) -> Any:
        done = self.run(*arguments, "--json", "--quiet")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def command() -> Path:
    path = Path(os.environ.get("SARL_BIN") or ROOT / "target" / "release" / "sarl")
    if not path.exists():
        pytest.skip("the command `sarl` is not built: cargo build --release")
    return path


def bare() -> dict[str, str]:
    """The environment without the credentials of whoever runs the tests."""
    stores = ("AWS_", "AZURE_", "GOOGLE_")
    return {name: value for name, value in os.environ.items() if not name.startswith(stores)}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def program(name: str) -> str:
    places = os.pathsep.join([os.environ.get("SARL_NODE_BIN", ""), os.environ.get("PATH", "")])
    found = shutil.which(name, path=places)
    if not found:
        pytest.skip(f"{name} is not there: npm install {name.split('-')[0]}, and set SARL_NODE_BIN")
    return found


@contextlib.contextmanager
def listening(words: list[str], port: int) -> Iterator[None]:
    """Runs a server while it is needed."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(words, **quiet)  # type: ignore[call-overload]
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, f"{words[0]} ended with {server.returncode}"
            time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait()


class S3Client:
    def __init__(self, endpoint: str, key: str) -> None:
        boto3 = pytest.importorskip("boto3")
        self.s3 = boto3.client(
            "s3",
            endpoint_url=endpoint,
            aws_access_key_id=key,
            aws_secret_access_key=key,
            region_name="us-east-1",
            config=boto3.session.Config(s3={"addressing_style": "path"}),
        )
        self.s3.create_bucket(Bucket=BUCKET)

    def put(self, name: str, content: bytes) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=name, Body=content)

    def get(self, name: str) -> bytes:
        return self.s3.get_object(Bucket=BUCKET, Key=name)["Body"].read()

    def names(self) -> list[str]:
        found = self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return [entry["Key"] for entry in found]

    def uploads(self) -> list[Any]:
        """What is begun and not finished; s3rver does not tell."""
        try:
            return self.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
        except self.s3.exceptions.ClientError as error:
            assert error.response["Error"]["Code"] == "NotImplemented"
            return []


class AzureClient:
    def __init__(self, endpoint: str) -> None:
        blob = pytest.importorskip("azure.storage.blob")
        account = {"account_name": "devstoreaccount1", "account_key": AZURITE}
        service = blob.BlobServiceClient(endpoint, credential=account, api_version="2023-11-03")
        self.container = service.create_container(BUCKET)

    def put(self, name: str, content: bytes) -> None:
        self.container.upload_blob(name, content, overwrite=True)

    def get(self, name: str) -> bytes:
        return self.container.download_blob(name).readall()

    def names(self) -> list[str]:
        return [blob.name for blob in self.container.list_blobs()]

    def uploads(self) -> list[Any]:
        """Azure itself forgets parts that nobody has put together."""
        return []


def s3(port: int, key: str) -> Store:
    endpoint = f"http://127.0.0.1:{port}"
    environment = {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": key,
        "AWS_REGION": "us-east-1",
    }
    return Store(f"s3://{BUCKET}", environment, S3Client(endpoint, key))


@pytest.fixture(scope="module", params=["moto", "s3rver", "azurite"])
def store(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Store]:
    port, folder = free_port(), tmp_path_factory.mktemp(request.param)
    if request.param == "moto":
        pytest.importorskip("moto", reason="moto is not there: pip install 'moto[server]'")
        words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        make: Callable[[], Store] = lambda: s3(port, "testing")
    elif request.param == "s3rver":
        words = [program("s3rver"), "-d", str(folder), "-a", "127.0.0.1", "-p", str(port), "-s"]
        make = lambda: s3(port, "S3RVER")
    else:
        where = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder)]
        words = [program("azurite-blob"), *where, "--silent", "--skipApiVersionCheck"]
        make = lambda: azure(port)
    with listening(words, port):
        yield make()


def azure(port: int) -> Store:
    endpoint = f"http://127.0.0.1:{port}/devstoreaccount1"
    environment = {
        "AZURE_STORAGE_ACCOUNT_NAME": "devstoreaccount1",
        "AZURE_STORAGE_ACCOUNT_KEY": AZURITE,
        "AZURE_STORAGE_ENDPOINT": endpoint,
        "AZURE_ALLOW_HTTP": "true",
    }
    return Store(f"az://{BUCKET}", environment, AzureClient(endpoint))


def people(rows: int, seed: int) -> Any:
    """A table whose target and hidden attribute overlap."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, rows)
    columns = {f"x{j}": rng.normal(size=rows) + (j < 2) * sex for j in range(6)}
    work = rng.choice(["private", "public", "none"], rows)
    income = np.where(columns["x1"] + columns["x2"] + rng.normal(size=rows) > 0, "high", "low")
    return pd.DataFrame({**columns, "work": work, "income": income, "sex": sex})


def as_bytes(table: Any, name: str) -> bytes:
    import io

    buffer = io.BytesIO()
    if name.endswith("csv"):
        table.to_csv(buffer, index=False)
    else:
        table.to_parquet(buffer, index=False)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def folders(store: Store, tmp_path_factory: Any) -> Path:
    """The same files here and in the store."""
    here = tmp_path_factory.mktemp("people")
    tables = {
        f"people/year={year}/part-{part}.{ending}": people(300, 10 * year + part)
        for year in (2018, 2019)
        for part, ending in enumerate(["parquet", "csv"])
    }
    tables["large.csv"] = people(60_000, 1)
    tables["large.parquet"] = people(200_000, 2)
    tables["new.csv"] = people(200, 3)
    for name, table in tables.items():
        content = as_bytes(table, name)
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_bytes(content)
        store.put(name, content)
    return here


GOAL = ["-t", "income", "-s", "sex", "--max-leakage", "0.02"]
FIGURES = ["lambda", "dim", "jy", "js", "utility", "leakage", "gap", "bounds", "heldout"]


@pytest.mark.parametrize("name", ["people", "people/year=*/*.csv", "large.csv", "large.parquet"])
def test_a_fit_is_that_of_the_files(store: Store, folders: Path, name: str, tmp_path: Path) -> None:
    ours = store.json("fit", folders / name, *GOAL, "-o", tmp_path / "local.safetensors")
    there = f"{store.url}/models/remote.safetensors"
    theirs = store.json("fit", f"{store.url}/{name}", *GOAL, "-o", there)
    for figure in FIGURES:
        assert ours[figure] == theirs[figure], figure
    assert theirs["model"] == there
    stored = store.get("models/remote.safetensors")
    assert stored == (tmp_path / "local.safetensors").read_bytes()


def test_every_command(store: Store, folders: Path, tmp_path: Path) -> None:
    def at(name: str) -> str:
        return f"{store.url}/{name}"

    model = at("all/model.safetensors")
    store.json("fit", at("people/"), *GOAL, "-o", model, "--html", at("all/fit.html"))
    assert store.get("all/fit.html").lower().startswith(b"<!doctype html")
    assert store.json("info", model)["goal"] == {"max_leakage": 0.02}
    other = at("all/other.safetensors")
    store.json("retune", model, "--max-leakage", "0.1", "-o", other)
    store.json("front", at("people"), *GOAL[:4], "--points", "5", "--csv", at("all/front.csv"))
    assert store.get("all/front.csv").startswith(b"lambda,")
    inspected = store.json("inspect", at("people"))
    local = store.json("inspect", folders / "people")
    assert inspected == local
    assert "year" in [column["name"] for column in inspected["columns"]]
    # Models name the years, so the rows to encode need them too.
    rows = f"{store.url}/people/year=*/part-1.csv"
    for ending in ("csv", "parquet", "arrow", "npy"):
        here = tmp_path / f"z.{ending}"
        store.json("encode", other, rows, "-o", at(f"all/z.{ending}"))
        store.json("encode", other, folders / "people/year=*/part-1.csv", "-o", here)
        assert store.get(f"all/z.{ending}") == here.read_bytes(), ending


def test_rows_that_a_model_has_seen_are_known_wherever_they_are(
    store: Store, folders: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.safetensors"
    store.json("fit", folders / "large.csv", *GOAL, "-o", model)
    probes = ["--probes", "linear", "--seeds", "1", "--rows", "2000"]
    here = store.json("audit", model, folders / "large.csv", *probes)
    there = store.json("audit", model, f"{store.url}/large.csv", *probes)
    # The encoder is fitted again on rows of its own, as for a file that is seen again.
    for part in ("encoder", "probes", "test"):
        assert there["rows"][part]["files"] == [f"{store.url}/large.csv"]
        assert here["rows"][part]["rows"] == there["rows"][part]["rows"]
    for found in ("majority", "advantage"):
        assert here["sensitive"][found] == there["sensitive"][found]
    assert here["sensitive"]["best"]["accuracy"] == there["sensitive"]["best"]["accuracy"]


def test_errors(store: Store, folders: Path, tmp_path: Path) -> None:
    out = ["-o", tmp_path / "m.safetensors"]
    missing = store.run("fit", f"{store.url}/no.csv", *GOAL, *out)
    assert missing.returncode == 3, missing.stderr
    assert f"{store.url}/no.csv: no such file" in missing.stderr
    empty = store.run("inspect", f"{store.url}/nothing/")
    assert empty.returncode == 3, empty.stderr
    assert "no data file in this folder" in empty.stderr
    unmatched = store.run("inspect", f"{store.url}/people/*.npz")
    assert unmatched.returncode == 3, unmatched.stderr
    bucket = store.run("fit", folders / "new.csv", *GOAL, "-o", "s3:///x")
    assert bucket.returncode == 2, bucket.stderr
    folder = store.run("compare", folders / "new.csv", *GOAL[:4], "-o", f"{store.url}/folder")
    assert folder.returncode == 2 and "on this machine" in folder.stderr, folder.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_permission(store: Store, folders: Path) -> None:
    wrong = {"AZURE_STORAGE_ACCOUNT_KEY": "d3Jvbmc=", "AWS_SECRET_ACCESS_KEY": "wrong"}
    done = store.run("inspect", f"{store.url}/large.csv", **wrong)
    if done.returncode == 0:
        pytest.skip("this server does not check who asks")
    assert done.returncode == 4, done.stderr
    assert "large.csv: cannot" in done.stderr and "hint: check the credentials" in done.stderr


def test_a_server_that_is_not_there(store: Store, tmp_path: Path) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    away = {"AWS_ENDPOINT_URL": nowhere, "AZURE_STORAGE_ENDPOINT": f"{nowhere}/devstoreaccount1"}
    start = time.monotonic()
    done = store.run("inspect", f"{store.url}/large.csv", **away)
    assert done.returncode == 4, done.stderr
    assert f"{store.url}/large.csv: cannot read" in done.stderr
    assert time.monotonic() - start < 60


def test_large_outputs_go_in_parts(store: Store, folders: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.safetensors"
    store.json("fit", folders / "large.parquet", *GOAL, "-o", model)
    keep = ["--keep", "x0,x1,x2,x3,x4,x5,work"]
    rows = [folders / "large.parquet", *keep]
    store.json("encode", model, *rows, "-o", tmp_path / "z.csv")
    store.json("encode", model, *rows, "-o", f"{store.url}/parts/z.csv")
    content = (tmp_path / "z.csv").read_bytes()
    assert len(content) > 16 << 20
    assert store.get("parts/z.csv") == content


def test_ctrl_c_leaves_nothing(store: Store, folders: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.safetensors"
    store.json("fit", folders / "large.parquet", *GOAL, "-o", model)
    keep = ["--keep", "x0,x1,x2,x3,x4,x5,work"]
    output = f"{store.url}/stopped/z.csv"
    words = [command(), "encode", model, folders / "large.parquet", *keep, "-o", output]
    for pause in (0.3, 1.0, 2.0):
        env = {**bare(), **store.environment, "TMPDIR": str(tmp_path)}
        running = subprocess.Popen(list(map(str, words)), env=env, stderr=subprocess.DEVNULL)
        time.sleep(pause)
        start = time.monotonic()
        running.send_signal(signal.SIGINT)
        code = running.wait(timeout=30)
        assert code in (0, 130), code
        if code == 130:
            assert time.monotonic() - start < 4
            assert "stopped/z.csv" not in store.names()
        assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]
    assert store.client.uploads() == []
