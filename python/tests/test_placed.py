"""Arrays on a GPU, as their protocols describe them: with fake ones, whose numbers lie in host memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from sarl import SARL, Eraser, KernelSARL, Moments, _core, _placed


class Fake(np.ndarray):
    """An array that says that it lies on GPU 3."""

    streams: ClassVar[list[Any]] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 3

    def __dlpack__(self, *, stream: Any = None, **asked: Any) -> Any:
        capsule = np.ndarray.__dlpack__(self, **asked)
        _placed._tensor(capsule).device[:] = [2, 3]
        Fake.streams.append(stream)
        return capsule

    def __array_namespace__(self, **_: Any) -> Any:
        return SimpleNamespace(
            asarray=lambda z, dtype=None, device=None: np.asarray(z, dtype).view(Fake),
            concatenate=np.concatenate,
            isfinite=np.isfinite,
        )

    def get(self) -> np.ndarray:
        return np.array(self)


class Interface:
    """An array with the CUDA array interface alone."""

    def __init__(self, values: np.ndarray, **more: Any) -> None:
        self.values, self.more = values, more

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        about = dict(self.values.__array_interface__)
        return about | {"version": 3, "stream": None} | self.more

    def copy_to_host(self) -> np.ndarray:
        return self.values


def fake(values: Any) -> Any:
    return np.asarray(values).view(Fake)


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    return X, X[:, 0] + rng.normal(size=400) > 0, X[:, 1] + rng.normal(size=400) > 0


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "device_of", lambda address: 1)


def test_what_lies_on_a_gpu_is_known() -> None:
    X = np.zeros((4, 3))
    assert _placed.on_gpu(fake(X)) and _placed.on_gpu(Interface(X))
    for other in (X, X.tolist(), None, (X,), {"X": X}, "X", 3):
        assert not _placed.on_gpu(other)
    torch = pytest.importorskip("torch")
    assert not _placed.on_gpu(torch.zeros(4, 3))
    assert not _placed.on_gpu(torch.zeros(4, 3, device="meta"))


def test_dlpack_says_where_rows_lie() -> None:
    Fake.streams.clear()
    X = np.arange(60.0).reshape(10, 6)
    whole, some = _placed.read(fake(X)), _placed.read(fake(X[2:, :4]))
    assert whole.core == (3, X.ctypes.data, 10, 6, 6, False, 1)
    assert some.core == (3, X[2:].ctypes.data, 8, 4, 6, False, 1)
    assert _placed.read(fake(X.astype(np.float32))).core[5]
    # The default stream is asked for, so that it is the one to wait for.
    assert set(Fake.streams) == {1}
    np.testing.assert_array_equal(some.host(), X[2:, :4])


@pytest.mark.usefixtures("device")
def test_the_cuda_array_interface_says_where_rows_lie() -> None:
    X = np.arange(60.0).reshape(10, 6)
    assert _placed.read(Interface(X)).core == (1, X.ctypes.data, 10, 6, 6, False, None)
    assert _placed.read(Interface(X[2:, :4])).core == (1, X[2:].ctypes.data, 8, 4, 6, False, None)
    for stream, known in ((1, 1), (2, None), (77, 77), (None, None)):
        assert _placed.read(Interface(X, stream=stream)).stream == known


def test_other_numbers_and_rows_in_pieces_are_converted() -> None:
    X = np.arange(60.0).reshape(10, 6)
    for values, single in (
        (X.astype(np.float16), True),
        (X.astype(np.int32), False),
        (X.astype(np.uint8), False),
        (X > 7, False),
        (X.T.copy().T, False),
        (X[:, ::2], False),
        (X[::-1], False),
        (np.broadcast_to(X[0], (10, 6)), False),
    ):
        found = _placed.read(fake(values))
        device, _, n, width, stride, kind, _ = found.core
        assert (device, n, width, stride, kind) == (3, 10, values.shape[1], values.shape[1], single)
        np.testing.assert_array_equal(np.asarray(found.given), values)


@pytest.mark.usefixtures("device")
def test_what_cannot_be_read_is_refused_with_a_sentence() -> None:
    X = np.arange(60.0).reshape(10, 6)
    for values, said in (
        (fake(X.astype(complex)), "does not hold real numbers"),
        (fake(X[0]), "Expected 2D array, got 1D"),
        (fake(X[None]), "Expected 2D array, got 3D"),
        (Interface(X.astype(np.float16)), "convert it to float32 first"),
        (Interface(X.astype(np.int64)), "convert it to float64 first"),
        (Interface(X[:, ::2]), "make the array contiguous first"),
        (Interface(X, mask=X), "has a mask"),
        (Interface(X.astype(">f8")), "does not hold real numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            _placed.read(values)


@pytest.mark.parametrize("device", ["auto", "cpu"])
@pytest.mark.parametrize("make", [SARL, KernelSARL, Eraser])
def test_without_a_gpu_of_that_number_rows_are_copied(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], make: type, device: str
) -> None:
    X, y, s = rows
    target, far = ((), ()) if make is Eraser else ((y,), (fake(y),))
    here = make(device="cpu").fit(X, *target, sensitive_features=s)
    there = make(device=device).fit(fake(X), *far, sensitive_features=fake(s))
    assert there.device_ == "cpu"
    z = there.transform(fake(X))
    assert _placed.on_gpu(z), "what comes in on a GPU goes out on it"
    np.testing.assert_allclose(np.asarray(z), here.transform(X), atol=1e-12)
    with pytest.raises(ValueError, match="X has 5 features"):
        there.transform(fake(X[:, :5]))


def test_streams_of_rows_and_batches_of_any_leading_shape(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, s = rows
    weights = np.linspace(0.5, 2, 400)
    here = Moments()
    there = Moments()
    for i in range(0, 400, 100):
        at = slice(i, i + 100)
        here.update(X[at], y[at], s[at], weights[at])
        there.update(fake(X[at]), fake(y[at]), fake(s[at]), fake(weights[at]))
    assert there.to_bytes() == here.to_bytes()
    shaped = [(fake(X.reshape(4, 100, 6)), fake(y.reshape(4, 100)), s.reshape(4, 100))]
    batches = SARL(max_leakage=0.01).fit_batches(shaped)
    whole = SARL(max_leakage=0.01).fit(X, y, sensitive_features=s)
    assert batches.leakage_ == whole.leakage_ and batches.utility_ == whole.utility_


def test_a_value_that_is_not_finite_is_named(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, s = rows
    encoder = SARL().fit(X, y, sensitive_features=s)
    bad = fake(X.copy())
    bad[321, 4] = np.inf
    for work in (
        lambda: SARL().fit(bad, y, sensitive_features=s),
        lambda: Moments().update(bad, y, s),
        lambda: encoder.transform(bad),
    ):
        with pytest.raises(ValueError, match=r"X is inf in row 321, column 'x4'"):
            work()
