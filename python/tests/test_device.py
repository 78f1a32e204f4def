"""Devices: what can be said, what is used, and what it gives."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from sarl import SARL, Eraser, KernelSARL, Moments
from sarl._placed import host, on_gpu

# It would take most of the memory of the device.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 20))
    return X, X[:, 0] + rng.normal(size=4000) > 0, X[:, 1] + rng.normal(size=4000) > 0


def has_gpu(rows: tuple[np.ndarray, np.ndarray, np.ndarray]) -> bool:
    try:
        Moments(device="cuda").update(*rows)
    except RuntimeError:
        return False
    return True


def test_the_processor_does_little_work(rows: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, y, s = rows
    for device in ("auto", "cpu"):
        assert SARL(device=device).fit(X, y, sensitive_features=s).device_ == "cpu"


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cpu:0"])
def test_what_is_no_device_is_refused(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], device: str
) -> None:
    X, y, s = rows
    with pytest.raises(ValueError, match="is no device: expected auto, cpu, cuda"):
        SARL(device=device).fit(X, y, sensitive_features=s)


def test_fast_is_single_precision_without_a_gpu(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, s = rows
    fast = SARL(precision="fast", device="cpu").fit(X, y, sensitive_features=s)
    single = SARL(precision="single", device="cpu").fit(X, y, sensitive_features=s)
    assert fast.utility_ == single.utility_
    with pytest.raises(ValueError, match="precision is 'half'"):
        SARL(precision="half").fit(X, y, sensitive_features=s)


def test_a_gpu_that_is_not_there_is_an_error(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, s = rows
    if has_gpu(rows):
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match='device="cuda:0": '):
        SARL(device="cuda").fit(X, y, sensitive_features=s)


@pytest.mark.parametrize("make", [SARL, KernelSARL, Eraser])
def test_a_gpu_gives_what_the_processor_gives(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], make: type
) -> None:
    X, y, s = rows
    if not has_gpu(rows):
        pytest.skip("there is no GPU")
    target = () if make is Eraser else (y,)
    here = make(device="cpu").fit(X, *target, sensitive_features=s)
    there = make(device="cuda").fit(X, *target, sensitive_features=s)
    assert there.device_.startswith("cuda:0")
    np.testing.assert_allclose(there.transform(X), here.transform(X), atol=1e-8)


@pytest.fixture(params=["torch", "cupy", "jax"])
def put(request: pytest.FixtureRequest, rows: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Any:
    """What puts an array on the GPU, by each library."""
    if not has_gpu(rows):
        pytest.skip("there is no GPU")
    library = pytest.importorskip(request.param)
    if request.param == "torch":
        return lambda x: library.from_numpy(np.ascontiguousarray(x)).cuda()
    if request.param == "cupy":
        return library.asarray
    library.config.update("jax_enable_x64", True)
    return library.numpy.asarray


@pytest.fixture
def torch(rows: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Any:
    if not has_gpu(rows):
        pytest.skip("there is no GPU")
    return pytest.importorskip("torch")


@pytest.mark.parametrize("device", ["auto", "cuda"])
@pytest.mark.parametrize("make", [SARL, Eraser])
def test_arrays_on_the_gpu_stay_there(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], put: Any, make: type, device: str
) -> None:
    X, y, s = rows
    target, far = ((), ()) if make is Eraser else ((y,), (put(y),))
    for dtype, off in ((np.float64, 1e-8), (np.float32, 1e-4)):
        x = X.astype(dtype)
        here = make(device="cpu").fit(x, *target, sensitive_features=s)
        there = make(device=device).fit(put(x), *far, sensitive_features=put(s))
        assert there.device_.startswith("cuda:0")
        z = there.transform(put(x))
        assert on_gpu(z) and type(z) is type(put(x))
        assert host(z).dtype == dtype
        np.testing.assert_allclose(host(z), here.transform(x), atol=off)
        assert there.leakage_ == pytest.approx(here.leakage_, abs=off)


def test_streams_and_batches_on_the_gpu(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], put: Any
) -> None:
    X, y, s = rows
    weights = np.linspace(0.5, 2, len(X))
    here, there = Moments(device="cpu"), Moments(device="auto")
    partial = SARL(max_leakage=0.01)
    for i in range(0, len(X), 500):
        at = slice(i, i + 500)
        here.update(X[at], y[at], s[at], weights[at])
        there.update(put(X[at]), put(y[at]), put(s[at]), put(weights[at]))
        partial.partial_fit(
            put(X[at]), put(y[at]), sensitive_features=s[at], sample_weight=weights[at]
        )
    encoders = [SARL(max_leakage=0.01).fit_moments(m) for m in (here, there)]
    assert encoders[1].utility_ == pytest.approx(encoders[0].utility_, abs=1e-9)
    assert partial.utility_ == pytest.approx(encoders[0].utility_, abs=1e-9)
    assert partial.device_.startswith("cuda:0")
    shaped = [
        {
            "X": put(X.reshape(8, 500, 20)),
            "y": put(y.reshape(8, 500)),
            "sensitive_features": s.reshape(8, 500),
            "sample_weight": put(weights.reshape(8, 500)),
        }
    ]
    batches = SARL(max_leakage=0.01, device="cuda").fit_batches(shaped)
    assert batches.utility_ == pytest.approx(encoders[0].utility_, abs=1e-9)
    # What is on the device can be merged, copied and stored.
    both = there.copy().merge(here)
    assert len(both) == 2 * len(X)
    assert len(Moments.from_bytes(there.to_bytes())) == len(X)


def test_other_arrays_on_the_gpu(rows: tuple[np.ndarray, np.ndarray, np.ndarray], put: Any) -> None:
    X, y, s = rows
    for made in (
        lambda: put(X)[:, ::2],
        lambda: put(np.ascontiguousarray(X.T)).T,
        lambda: put(X)[100:3000, 3:9],
        lambda: put(np.round(8 * X).astype(np.int32)),
        lambda: put(X.astype(np.float16)),
    ):
        x = made()
        rows_here = host(x)
        labels = slice(100, 3000) if len(rows_here) < len(X) else slice(None)
        there = SARL(device="cuda").fit(x, y[labels], sensitive_features=s[labels])
        exact = rows_here.astype(np.float64)
        here = SARL(device="cpu").fit(exact, y[labels], sensitive_features=s[labels])
        assert there.device_.startswith("cuda:0")
        assert there.utility_ == pytest.approx(here.utility_, abs=1e-6)


def test_the_processor_gets_a_copy_where_it_is_asked_for(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], put: Any
) -> None:
    X, y, s = rows
    there = SARL(device="cpu").fit(put(X), put(y), sensitive_features=put(s))
    assert there.device_ == "cpu"
    kernel = KernelSARL(device="auto", landmarks=50).fit(put(X), y, sensitive_features=s)
    assert on_gpu(kernel.transform(put(X)))
    assert on_gpu(there.inverse_transform(there.transform(put(X))))


def test_a_value_on_the_gpu_that_is_not_finite_is_named(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], put: Any
) -> None:
    X, y, s = rows
    bad = X.copy()
    bad[3210, 7] = np.nan
    moments = Moments(device="cuda").update(put(X), y, s)
    encoder = SARL().fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="X is NaN in row 3210, column 'x7'"):
        SARL(device="cuda").fit(put(bad), y, sensitive_features=s)
    with pytest.raises(ValueError, match="X is NaN in row 3210, column 'x7'"):
        encoder.transform(put(bad))
    with pytest.raises(ValueError, match="X is NaN in row 7210, column 'x7'"):
        moments.update(put(bad), y, s)
    assert len(moments) == len(X)
    assert SARL().fit_moments(moments).utility_ == pytest.approx(encoder.utility_, abs=1e-9)


def test_rows_that_another_stream_still_writes_are_waited_for(torch: Any) -> None:
    stream = torch.cuda.Stream()
    a = torch.randn(4096, 4096, device="cuda", dtype=torch.float64)
    labels = torch.arange(4096) % 2
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        x = a
        for _ in range(20):
            x = torch.tanh(x @ a / 64)
        x = x[:, :300].clone()
        moments = Moments(device="cuda").update(x, labels, labels.flip(0))
    torch.cuda.synchronize()
    here = Moments(device="cpu").update(x.cpu(), labels, labels.flip(0))
    ridge = {"ridge": 1e-3, "max_leakage": 0.1}
    there, here = (SARL(**ridge).fit_moments(m) for m in (moments, here))
    assert there.utility_ == pytest.approx(here.utility_, abs=1e-9)


def test_tensors_keep_their_gradient_on_the_gpu(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], torch: Any
) -> None:
    X, _, s = rows
    x = torch.from_numpy(X).cuda().requires_grad_()
    eraser = Eraser(device="cuda").fit(x, sensitive_features=s)
    eraser.transform(x).sum().backward()
    expected = eraser.matrix_.sum(axis=1)
    np.testing.assert_allclose(x.grad[0].cpu().numpy(), expected, atol=1e-9)


def test_a_full_gpu_is_an_error_or_leaves_the_rows_to_the_processor(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], torch: Any
) -> None:
    X, y, s = rows
    x = torch.from_numpy(X).cuda()
    held = []
    torch.cuda.empty_cache()
    for size in (1 << 30, 1 << 26, 1 << 22):
        while torch.cuda.mem_get_info()[0] > (64 << 20) + size:
            held.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
    try:
        with pytest.raises(RuntimeError, match="out of memory"):
            SARL(device="cuda").fit(x, y, sensitive_features=s)
        auto = SARL(device="auto").fit(x, y, sensitive_features=s)
    finally:
        held.clear()
        torch.cuda.empty_cache()
    assert auto.device_ == "cpu"
    here = SARL(device="cpu").fit(X, y, sensitive_features=s)
    assert auto.utility_ == pytest.approx(here.utility_, abs=1e-12)
    assert SARL(device="cuda").fit(x, y, sensitive_features=s).device_.startswith("cuda:0")
