"""Threads, signals, forks: what a long fit does to the rest of the program."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from conftest import ROOT, Rows
from sarl import SARL, KernelSARL, _adding, audit


@pytest.fixture(scope="module")
def many():
    return Rows(600_000, 60)


def test_other_threads_run_during_a_fit(many):
    """A thread that counts gets on while the fit runs, so the interpreter was released."""
    ticks = 0
    done = threading.Event()

    def count():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    start = time.perf_counter()
    SARL().fit(many.X, many.y, sensitive_features=many.s)
    took = time.perf_counter() - start
    done.set()
    counter.join()
    assert ticks > 0.2 * took * 1000


def interrupted(code: str, after: float = 0.5) -> tuple[float, str]:
    """Sends Ctrl-C to a program some time after it says `go`: seconds until it ends, what it said."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "python" / "tests"), *sys.path]),
    }
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert child.stdout is not None and child.stdout.readline().strip() == "go"
    time.sleep(after)
    start = time.perf_counter()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    return time.perf_counter() - start, errors


LONG = {
    "moments": """
from conftest import Rows
from sarl import Moments
rows, moments = Rows(100_000, 100), Moments()
print("go", flush=True)
while True:
    moments.update(rows.X, rows.y, rows.s)
""",
    "landmarks": """
from conftest import Rows
from sarl import KernelSARL
rows = Rows(19_000, 60)
print("go", flush=True)
KernelSARL(approx="exact", n_jobs=1).fit(rows.X, rows.y, sensitive_features=rows.s)
raise SystemExit("it ended too soon")
""",
    "audit": """
from conftest import Rows
from sarl import SARL, audit
rows = Rows(40_000, 60)
encoder = SARL(min_utility=1).fit(rows.X, rows.y, sensitive_features=rows.s)
print("go", flush=True)
audit(encoder, rows.X, rows.y, sensitive_features=rows.s, seeds=50)
raise SystemExit("it ended too soon")
""",
}


@pytest.mark.parametrize("what", list(LONG))
def test_ctrl_c(what):
    took, errors = interrupted(LONG[what])
    assert "KeyboardInterrupt" in errors, errors
    assert took < 10


def test_an_interrupted_fit_leaves_what_was_there(rows):
    encoder = SARL(max_leakage=0.1).fit(rows.X, rows.y, sensitive_features=rows.s)
    z = encoder.transform(rows.X)

    class Stop(Exception):
        pass

    def stop(_rows):
        raise Stop

    part = _adding.read(encoder._moments, rows.X, rows.y, rows.s, None)
    with pytest.raises(Stop):
        _adding.add(encoder._moments, part, progress=stop)
    assert len(encoder.moments_) == 400
    np.testing.assert_array_equal(encoder.retune(max_leakage=0.1).transform(rows.X), z)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_threads_of_its_own(rows):
    SARL().fit(rows.X, rows.y, sensitive_features=rows.s)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            SARL().fit(rows.X, rows.y, sensitive_features=rows.s).transform(rows.X)
            KernelSARL(landmarks=20).fit(rows.X, rows.y, sensitive_features=rows.s)
            code = 0
        finally:
            os._exit(code)
    for _ in range(300):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert status == 0
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child waits for threads that it does not have")


def test_several_threads_at_once(rows):
    """One encoder used by many threads."""
    encoder = SARL(max_leakage=0.1).fit(rows.X, rows.y, sensitive_features=rows.s)
    expected = encoder.transform(rows.X)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(encoder.transform(rows.X))) for _ in range(8)
    ]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(results) == 8 and all((z == expected).all() for z in results)


def test_fits_in_several_threads(rows):
    """Encoders of their own, fitted at the same time, are what one thread fits."""

    def fitted(kind):
        return kind(max_leakage=0.1).fit(rows.X, rows.y, sensitive_features=rows.s)

    kinds = [SARL, KernelSARL] * 4
    expected = {kind: fitted(kind).transform(rows.X) for kind in set(kinds)}
    with ThreadPoolExecutor(8) as pool:
        encoders = list(pool.map(fitted, kinds))
    for kind, encoder in zip(kinds, encoders, strict=True):
        np.testing.assert_array_equal(encoder.transform(rows.X), expected[kind])


def _encoded(rows):
    encoder = SARL(max_leakage=0.1).fit(rows.X, rows.y, sensitive_features=rows.s)
    return encoder.transform(rows.X)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_pool_of_forked_processes(rows):
    """The parent has threads of its own before it forks, and fits again afterwards."""
    expected = _encoded(rows)
    with multiprocessing.get_context("fork").Pool(3) as pool:
        results = pool.map_async(_encoded, [rows] * 6).get(timeout=60)
    assert all((z == expected).all() for z in [*results, _encoded(rows)])


def test_the_bar_of_an_audit(rows, capsys):
    audit(None, rows.X, rows.y, sensitive_features=rows.s, probes=["linear"], seeds=1, verbose=1)
    assert "probing" in capsys.readouterr().err
