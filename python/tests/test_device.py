"""Devices: what can be said, what is used, and what it gives."""

from __future__ import annotations

import numpy as np
import pytest

from sarl import SARL, Eraser, KernelSARL, Moments


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
